//! Which lines can run: ours against the lines that CPython compiled, over its own standard library.

use std::collections::{BTreeSet, HashMap};
use std::process::Command;

use code::flow::{BlockKind, ControlFlow, control_flows};
use code::language::Language;
use code::parse::parse;
use testkit::crash;

/// Enough files for every statement of the language, in seconds.
const FILES: usize = 20;

#[derive(Default, Debug)]
struct Count {
    files: usize,
    functions: usize,
    statements: usize,
    /// Statements that CPython found unreachable.
    dead: usize,
    /// We say it runs, CPython dropped it.
    we_say_live: usize,
    /// We say it cannot run, CPython has code for it.
    we_say_dead: usize,
    in_no_block: usize,
    not_found: usize,
    /// Files that the grammar does not read: left out.
    not_parsed: usize,
    /// Pairs of statements of which the second can follow the first, in CPython's code.
    pairs: usize,
    /// Such pairs that we do not have: what a slice could miss.
    missing_pairs: usize,
    /// Pairs that only we have: what makes a slice too large.
    extra_pairs: usize,
}

#[test]
fn the_lines_that_can_run_are_those_that_cpython_has_code_for() {
    let limit = if crash::points(50) > 50 { 0 } else { FILES };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flow/reachable.py");
    let output = Command::new("python3").args([script, &limit.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut count = Count::default();
    let mut faults = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        compare(&serde_json::from_str(line).unwrap(), &mut count, &mut faults);
    }
    eprintln!("{count:?}");
    assert!(count.statements > 5_000, "too little was compared: {count:?}");
    assert!(count.dead > 0, "nothing unreachable was among it: {count:?}");
    // In all of the library the compiler folds a few constants more than we do.
    assert!(faults.len() * 15_000 <= count.statements, "{count:?}\n{}", faults.join("\n"));
    // What is missing: CPython lets every `with` end an exception, we only those made for it. What is extra: in a block
    // that may raise, the constant `return` at its end.
    assert!(count.missing_pairs * 60 < count.pairs, "{count:?}");
    assert!(count.extra_pairs * 1_000 < count.pairs, "{count:?}");
}

fn compare(file: &serde_json::Value, count: &mut Count, faults: &mut Vec<String>) {
    let path = file["file"].as_str().unwrap();
    let source = std::fs::read(path).unwrap();
    let Some(parsed) = parse(Language::Python, path, &source) else { return };
    if parsed.root().has_error() {
        count.not_parsed += 1;
        return;
    }
    count.files += 1;
    let flows: HashMap<(String, u64), ControlFlow> = control_flows(&parsed)
        .unwrap()
        .into_iter()
        .map(|(it, flow)| ((it.name, u64::try_from(it.line).unwrap()), flow))
        .collect();
    for function in file["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap();
        let Some(flow) = flows.get(&(name.to_owned(), function["line"].as_u64().unwrap())) else {
            count.not_found += 1;
            faults.push(format!("{path} {name}: not found"));
            continue;
        };
        count.functions += 1;
        let numbers = |key: &str| -> Vec<usize> {
            function[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| usize::try_from(it.as_u64().unwrap()).unwrap())
                .collect()
        };
        let live = numbers("live");
        for line in numbers("starts") {
            let holds = |dead: bool| {
                let on = |lines: [usize; 2]| lines[0] <= line && line <= lines[1];
                flow.blocks.iter().any(|it| (it.kind == BlockKind::Unreachable) == dead && on(it.lines))
            };
            let (ours, dead, theirs) = (holds(false), holds(true), live.contains(&line));
            count.statements += 1;
            count.dead += usize::from(!theirs);
            let (counter, word) = match (ours, theirs) {
                (true, false) if !dead => (&mut count.we_say_live, "we say it runs"),
                (false, true) if dead => (&mut count.we_say_dead, "we say it cannot run"),
                (false, _) if !dead => (&mut count.in_no_block, "in no block"),
                _ => continue,
            };
            *counter += 1;
            faults.push(format!("{path}:{line} {name}: {word}"));
        }
        pairs(function, flow, count);
    }
}

/// Compares which statement can follow which.
fn pairs(function: &serde_json::Value, flow: &ControlFlow, count: &mut Count) {
    let mut after: Vec<BTreeSet<usize>> = flow.blocks.iter().map(|_| BTreeSet::new()).collect();
    for (start, reached) in after.iter_mut().enumerate() {
        let mut todo = vec![start];
        while let Some(at) = todo.pop() {
            for edge in flow.edges.iter().filter(|edge| edge.from == at) {
                if reached.insert(edge.to) {
                    todo.push(edge.to);
                }
            }
        }
    }
    let on = |line: usize| {
        flow.blocks
            .iter()
            .filter(move |it| it.lines[0] <= line && line <= it.lines[1] && it.kind != BlockKind::Unreachable)
    };
    let number = |it: &serde_json::Value| usize::try_from(it.as_u64().unwrap()).unwrap();
    let rows = function["reaches"].as_array().unwrap();
    for row in rows {
        let from = number(&row[0]);
        let theirs: BTreeSet<usize> = row[1].as_array().unwrap().iter().map(number).collect();
        count.pairs += theirs.len();
        for to in rows.iter().map(|row| number(&row[0])) {
            let ours =
                on(from).any(|a| on(to).any(|b| after[a.id].contains(&b.id) || (a.id == b.id && from < to)));
            if ours != theirs.contains(&to) {
                *(if ours { &mut count.extra_pairs } else { &mut count.missing_pairs }) += 1;
            }
        }
    }
}
