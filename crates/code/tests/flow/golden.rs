//! One sample per language against answers that were read line by line before they were kept. After a change that is
//! meant, `FLOW_GOLDEN=write` keeps the new ones, to be read in the diff.

use std::fmt::Write as _;
use std::path::PathBuf;

use code::flow::{Criterion, Direction, control_flow, data_flow, functions, slice};
use code::language::Language;
use code::parse::parse;

fn check(name: &str) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/flow/fixtures"));
    let source = std::fs::read(folder.join(name)).unwrap();
    let file = parse(Language::of_path(name).unwrap(), name, &source).unwrap();
    let mut text = String::new();
    for function in functions(&file) {
        let name = format!("{}:{}", function.name, function.line);
        let control = control_flow(&file, &name).unwrap();
        assert!(control.notes.is_empty(), "{name}: {:?}", control.notes);
        // The line that a reader would ask about first: the last one of the function that leaves it.
        let line = control
            .blocks
            .iter()
            .filter(|it| control.exit_blocks.contains(&it.id))
            .map(|it| it.lines[1])
            .max();
        let criterion = Criterion { line: line.unwrap(), direction: Direction::Backward, var: None };
        write!(text, "{control}\n{}\n", data_flow(&file, &name).unwrap()).unwrap();
        writeln!(text, "{}", slice(&file, &name, &criterion).unwrap()).unwrap();
    }
    let golden = folder.join(format!("{name}.flow"));
    if std::env::var_os("FLOW_GOLDEN").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    similar(&std::fs::read_to_string(&golden).unwrap(), &text);
}

#[track_caller]
fn similar(kept: &str, now: &str) {
    let differs = kept.lines().zip(now.lines()).position(|(a, b)| a != b);
    if let Some(at) = differs {
        let around =
            |text: &str| text.lines().skip(at.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
        panic!("line {} differs\nkept:\n{}\nnow:\n{}", at + 1, around(kept), around(now));
    }
    assert_eq!(kept.lines().count(), now.lines().count());
}

#[test]
fn python_flows_as_it_reads() {
    check("sample.py");
}

#[test]
fn typescript_flows_as_it_reads() {
    check("sample.ts");
}

#[test]
fn jsx_flows_as_it_reads() {
    check("sample.jsx");
}

#[test]
fn go_flows_as_it_reads() {
    check("sample.go");
}

#[test]
fn rust_flows_as_it_reads() {
    check("sample.rs");
}

#[test]
fn java_flows_as_it_reads() {
    check("Sample.java");
}

#[test]
fn c_flows_as_it_reads() {
    check("sample.c");
}

#[test]
fn cpp_flows_as_it_reads() {
    check("sample.cpp");
}

#[test]
fn csharp_flows_as_it_reads() {
    check("Sample.cs");
}

#[test]
fn ruby_flows_as_it_reads() {
    check("sample.rb");
}

#[test]
fn php_flows_as_it_reads() {
    check("sample.php");
}

#[test]
fn lua_and_luau_flow_as_they_read() {
    check("sample.lua");
    check("sample.luau");
}
