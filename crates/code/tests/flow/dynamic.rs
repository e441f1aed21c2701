//! Slices against what really happened: random functions, traced while they run.

use std::process::Command;

use code::flow::{Criterion, Direction, slice};
use code::language::Language;
use code::parse::parse;
use testkit::crash;

/// Random functions in the ordinary run, and in the soak.
const FUNCTIONS: usize = 30;
const SOAK: usize = 1_000;

#[test]
fn a_slice_holds_every_line_of_a_traced_slice_and_few_others() {
    let count = if crash::points(50) > 50 { SOAK } else { FUNCTIONS };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flow/dynamic.py");
    let output = Command::new("python3").args([script, "1", &count.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut slices, mut runs, mut traced, mut ours, mut whole) = (0, 0, 0, 0, 0);
    let mut faults = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let source = case["source"].as_str().unwrap();
        let file = parse(Language::Python, "f.py", source.as_bytes()).unwrap();
        for row in case["slices"].as_array().unwrap() {
            let line = number(&row[0]);
            let criterion = Criterion { line, direction: Direction::Backward, var: None };
            let mine = slice(&file, "f", &criterion).unwrap();
            for run in row[1].as_array().unwrap() {
                let theirs: Vec<usize> = run.as_array().unwrap().iter().map(number).collect();
                let missed: Vec<usize> =
                    theirs.iter().copied().filter(|it| !mine.lines.contains(it)).collect();
                if !missed.is_empty() {
                    let text = if faults.is_empty() { numbered(source) } else { String::new() };
                    faults.push(format!("{text}function {} line {line}: missed {missed:?}", case["seed"]));
                }
                runs += 1;
                traced += theirs.len();
            }
            slices += 1;
            ours += mine.count;
            whole += source.lines().count();
        }
    }
    eprintln!("{runs} traced slices of {traced} lines; {slices} of ours with {ours} lines out of {whole}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(ours * 2 < whole, "slices of {ours} lines out of {whole} say little");
}

fn number(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbered(source: &str) -> String {
    source.lines().enumerate().map(|(at, line)| format!("{:>4} {line}\n", at + 1)).collect()
}
