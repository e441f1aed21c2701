//! What every source file looks like: a first line that says what it is, a size one can hold in the head, a name
//! that means something.

use std::fs;
use std::path::{Path, PathBuf};

use crate::graph::root;

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

/// Files that may be longer, with the reason. This list may only shrink.
const LONG_FILES: &[(&str, usize, &str)] = &[];

/// Functions that may be longer, with the reason. This list may only shrink.
const LONG_FUNCTIONS: &[(&str, &str)] = &[];

const MEANINGLESS: &[&str] = &[
    "core", "common", "util", "utils", "helper", "helpers", "manager", "misc", "types", "v2", "legacy",
    "archived", "mod",
];

#[test]
fn every_file_opens_with_what_it_is() {
    let silent: Vec<_> =
        sources().filter(|(_, text)| !text.starts_with("//! ")).map(|(path, _)| path).collect();
    assert!(silent.is_empty(), "no `//!` line: {silent:#?}");
}

#[test]
fn no_file_is_too_long_to_hold_in_the_head() {
    let mut wrong = Vec::new();
    for (path, text) in sources().filter(|(path, _)| !is_test(path)) {
        let lines = production(&text).lines().count();
        let excused = LONG_FILES.iter().find(|(name, _, _)| Path::new(name) == path);
        match excused {
            Some((_, limit, _)) if lines > *limit => {
                wrong.push(format!("{path:?}: {lines} of {limit} lines"));
            }
            Some(_) if lines <= FILE_LINES => wrong.push(format!("{path:?} no longer needs its excuse")),
            None if lines > FILE_LINES => wrong.push(format!("{path:?}: {lines} of {FILE_LINES} lines")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_function_is_too_long_to_see_at_once() {
    let mut long = Vec::new();
    for (path, text) in sources().filter(|(path, _)| !is_test(path)) {
        for (name, lines) in functions(production(&text)) {
            let id = format!("{}::{name}", path.display());
            let excused = LONG_FUNCTIONS.iter().any(|(known, _)| *known == id);
            if lines > FUNCTION_LINES && !excused {
                long.push(format!("{id}: {lines} lines"));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn a_long_function_is_found() {
    let body = "    x();\n".repeat(61);
    let text = format!(
        "impl A {{\n    fn short() {{}}\n}}\n\npub(crate) fn long(\n    a: u8,\n) -> u8 {{\n{body}}}\n"
    );
    let found: Vec<_> = functions(&text).collect();
    assert_eq!(found, [("short".to_owned(), 1), ("long".to_owned(), 65)]);
}

#[test]
fn names_mean_something() {
    let empty: Vec<PathBuf> = sources()
        .map(|(path, _)| path)
        .filter(|path| {
            path.iter().any(|part| MEANINGLESS.contains(&part.to_str().unwrap().trim_end_matches(".rs")))
        })
        .collect();
    assert!(empty.is_empty(), "{empty:#?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not find itself.
    let words = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[ig", "nore"),
    ];
    let mut found = Vec::new();
    for (path, text) in sources() {
        found
            .extend(words.iter().filter(|word| text.contains(*word)).map(|word| format!("{path:?}: {word}")));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Every source file of ours with its text, by its path from the root.
fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask"] {
        walk(&root().join(folder), &mut files);
    }
    assert!(files.len() > 20, "the sources were not found");
    files.into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(root()).unwrap().to_owned(), text)
    })
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "benches")
        || path.to_str().unwrap().ends_with("tests.rs")
}

/// The text before the tests at its end.
fn production(text: &str) -> &str {
    text.split("\n#[cfg(test)]").next().unwrap()
}

/// Names and lengths of functions, in formatted source: a body ends at the brace below its `fn`.
fn functions(text: &str) -> impl Iterator<Item = (String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = (0..lines.len()).filter_map({
        let lines = lines.clone();
        move |at| {
            let code = lines[at].trim_start();
            let words = code.split_whitespace().take_while(|word| !word.starts_with("//"));
            let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "extern", "async"];
            let mut words = words.skip_while(|word| qualifiers.contains(word));
            let name = (words.next() == Some("fn")).then(|| words.next()).flatten()?;
            let name = name.split(['(', '<']).next().unwrap().to_owned();
            Some((at, lines[at].len() - code.len(), name))
        }
    });
    starts.map(move |(at, indent, name)| {
        let close = format!("{}}}", " ".repeat(indent));
        let one_line = lines[at].trim_end().ends_with(['}', ';']);
        let end = if one_line { Some(at) } else { (at..lines.len()).find(|line| lines[*line] == close) };
        (name, end.map_or(1, |end| end - at + 1))
    })
}
