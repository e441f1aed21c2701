//! Our own sources, which the compiler has already judged: it warns of code that cannot run, so there is none.

use std::path::{Path, PathBuf};

use code::flow::{BlockKind, Criterion, Direction, control_flows, data_flow, slice};
use code::language::Language;
use code::parse::parse;

#[test]
fn every_function_of_this_workspace_can_run_to_its_last_line() {
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/flow/lower")), &mut files);
    let mut count = 0;
    for path in files {
        let source = std::fs::read(&path).unwrap();
        let name = path.to_str().unwrap();
        let file = parse(Language::Rust, name, &source).unwrap();
        for (function, flow) in control_flows(&file).unwrap() {
            let asked = format!("{}:{}", function.name, function.line);
            let dead: Vec<_> = flow.blocks.iter().filter(|it| it.kind == BlockKind::Unreachable).collect();
            assert!(dead.is_empty(), "{name} {asked}: {dead:?}");
            assert!(flow.notes.is_empty(), "{name} {asked}: {:?}", flow.notes);
            let values = data_flow(&file, &asked).unwrap();
            assert!(values.edges.iter().all(|it| it.def_line >= function.line), "{name} {asked}");
            let last = flow.blocks.iter().map(|it| it.lines[1]).max().unwrap();
            let criterion = Criterion { line: last, direction: Direction::Backward, var: None };
            assert!(slice(&file, &asked, &criterion).unwrap().lines.contains(&last), "{name} {asked}");
            count += 1;
        }
    }
    assert!(count > 60, "only {count} functions");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}
