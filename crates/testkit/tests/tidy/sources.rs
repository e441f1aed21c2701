//! What every source file looks like: a first line that says what it is, a size one can hold in the head, a name
//! that means something.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Home;

use crate::code::{code, functions, production};
use crate::graph::root;

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

/// Files and functions (`path::name`) that may be longer, how long, and the reason. These lists may only shrink.
const LONG_FILES: &[Excuse] = &[];
const LONG_FUNCTIONS: &[Excuse] =
    &[("crates/code/src/flow/shape.rs::usual", 91, "one flat table of node kinds for all languages")];

type Excuse = (&'static str, usize, &'static str);

const MEANINGLESS: &[&str] = &[
    "core", "common", "util", "utils", "helper", "helpers", "manager", "misc", "types", "v2", "legacy",
    "archived", "mod",
];

struct Source {
    /// From the root.
    path: String,
    text: String,
}

#[test]
fn every_file_opens_with_what_it_is() {
    assert_eq!(silent(&sources()), [] as [&str; 0]);
}

#[test]
fn no_file_is_too_long_to_hold_in_the_head() {
    assert_eq!(beyond(FILE_LINES, LONG_FILES, &lengths(&sources())), [] as [&str; 0]);
}

#[test]
fn no_function_is_too_long_to_see_at_once() {
    assert_eq!(beyond(FUNCTION_LINES, LONG_FUNCTIONS, &function_lengths(&sources())), [] as [&str; 0]);
}

#[test]
fn names_mean_something() {
    assert_eq!(meaningless(&sources()), [] as [&str; 0]);
}

#[test]
fn nothing_is_left_for_later() {
    assert_eq!(left_for_later(&sources()), [] as [&str; 0]);
}

#[test]
fn a_file_that_does_not_say_what_it_is_is_found() {
    let files =
        [source("a.rs", "//! Says.\n"), source("b.rs", "use a;\n//! Late.\n"), source("c.rs", "//!\n")];
    assert_eq!(silent(&files), ["b.rs", "c.rs"]);
}

#[test]
fn a_long_file_is_found_whatever_its_name_and_its_tests() {
    let long = "x();\n".repeat(FILE_LINES + 1);
    let files = [
        source("src/a.rs", &format!("#[cfg(test)]\nuse a;\n{long}")),
        source("src/contests.rs", &long),
        source("src/tests.rs", &long),
        source("src/a_tests.rs", &long),
        source("tests/b.rs", &long),
        source("src/c.rs", &format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")),
    ];
    let found = ["src/a.rs: 403 of 400 lines", "src/contests.rs: 401 of 400 lines"];
    assert_eq!(beyond(FILE_LINES, &[], &lengths(&files)), found);
}

#[test]
fn an_excuse_has_an_end_and_is_given_back() {
    let excuses: &[Excuse] = &[("a", 450, "a table"), ("b", 450, "a table"), ("c", 450, "gone")];
    let lengths = [("a".to_owned(), 451), ("b".to_owned(), 400)];
    let expected = ["a: 451 of 450 lines", "b needs no excuse", "c needs no excuse"];
    assert_eq!(beyond(400, excuses, &lengths), expected);
    assert_eq!(beyond(400, &excuses[..1], &[("a".to_owned(), 450)]), [] as [&str; 0]);
}

#[test]
fn a_long_function_is_found() {
    let text = format!("extern \"C\" fn long() {{\n{}}}\nfn short() {{}}\n", "    x();\n".repeat(60));
    let found =
        beyond(FUNCTION_LINES, &[], &function_lengths(&[source("a.rs", &text), source("tests/a.rs", &text)]));
    assert_eq!(found, ["a.rs::long: 62 of 60 lines"]);
}

#[test]
fn a_name_that_means_nothing_is_found() {
    let files = ["fuzz/src/utils.rs", "a/common/b.rs", "a/mod.rs", "a/model.rs"].map(|path| source(path, ""));
    assert_eq!(meaningless(&files), ["fuzz/src/utils.rs", "a/common/b.rs", "a/mod.rs"]);
}

#[test]
fn what_is_left_for_later_is_found() {
    let files =
        [source("a.rs", concat!("// TO", "DO: more")), source("b.rs", concat!("// TO", "DOS are a list"))];
    assert_eq!(left_for_later(&files), [concat!("a.rs: TO", "DO")]);
}

#[test]
fn every_folder_is_walked_with_git_and_without() {
    let home = Home::new();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for path in ["fuzz/src/utils.rs", "crates/a/src/lib.rs", "built/debug/out.rs", ".hidden/a.rs", "a.txt"] {
        write(path, "");
    }
    write("built/CACHEDIR.TAG", "");
    let expected = ["crates/a/src/lib.rs", "fuzz/src/utils.rs"];
    assert_eq!(listed(home.path()), expected);
    write(".gitignore", "/built\n.hidden\n");
    home.command("git").args(["init", "--quiet"]).status().unwrap();
    assert_eq!(listed(home.path()), expected);
    write("build.rs", "");
    home.command("git").args(["add", "build.rs"]).status().unwrap();
    assert_eq!(listed(home.path()), ["build.rs", expected[0], expected[1]]);
    fs::remove_file(home.path().join("build.rs")).unwrap();
    assert_eq!(listed(home.path()), expected);
}

fn silent(sources: &[Source]) -> Vec<&str> {
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    silent.map(|source| source.path.as_str()).collect()
}

fn lengths(sources: &[Source]) -> Vec<(String, usize)> {
    let files = sources.iter().filter(|source| !is_test(&source.path));
    files.map(|source| (source.path.clone(), production(&source.text).lines().count())).collect()
}

fn function_lengths(sources: &[Source]) -> Vec<(String, usize)> {
    let files = sources.iter().filter(|source| !is_test(&source.path));
    let all = files.flat_map(|Source { path, text }| {
        let functions = functions(&code(production(text)));
        functions.into_iter().map(move |(name, lines)| (format!("{path}::{name}"), lines))
    });
    all.collect()
}

/// Who is longer than `limit`, or than an excuse says, and which excuses nobody needs.
fn beyond(limit: usize, excuses: &[Excuse], lengths: &[(String, usize)]) -> Vec<String> {
    let allowed =
        |id: &str| excuses.iter().find(|(known, _, _)| *known == id).map_or(limit, |excuse| excuse.1);
    let long = lengths.iter().filter(|(id, lines)| *lines > allowed(id));
    let long = long.map(|(id, lines)| format!("{id}: {lines} of {} lines", allowed(id)));
    let idle = excuses
        .iter()
        .filter(|(known, _, _)| !lengths.iter().any(|(id, lines)| id == known && *lines > limit));
    long.chain(idle.map(|(known, _, _)| format!("{known} needs no excuse"))).collect()
}

fn meaningless(sources: &[Source]) -> Vec<&str> {
    let parts = |path: &str| path.split('/').any(|part| MEANINGLESS.contains(&part.trim_end_matches(".rs")));
    sources.iter().map(|source| source.path.as_str()).filter(|path| parts(path)).collect()
}

fn left_for_later(sources: &[Source]) -> Vec<String> {
    // Put together here, so that this file does not find itself.
    let words = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[ig", "nore"),
    ];
    let found = sources.iter().flat_map(|Source { path, text }| {
        words.iter().filter(|word| says(text, word)).map(move |word| format!("{path}: {word}"))
    });
    found.collect()
}

/// Whether a word stands somewhere, and not only as the beginning of another one.
fn says(text: &str, word: &str) -> bool {
    let ends = text.match_indices(word).map(|(at, _)| &text[at + word.len()..]);
    let mut ends =
        ends.filter(|rest| !word.ends_with(char::is_alphabetic) || !rest.starts_with(char::is_alphabetic));
    ends.next().is_some()
}

fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|part| part == "tests" || part == "benches")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

fn sources() -> Vec<Source> {
    let paths = listed(&root());
    assert!(paths.len() > 20, "the sources were not found");
    paths.iter().map(|path| source(path, &fs::read_to_string(root().join(path)).unwrap())).collect()
}

/// Every Rust file that is or may become a part of the repository, by its path from the root; all that are not in a
/// folder which cargo made, where there is no repository.
fn listed(root: &Path) -> Vec<String> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "*.rs"];
    let git = Command::new("git").args(list).current_dir(root).output();
    let known = git.ok().filter(|git| git.status.success()).map(|git| String::from_utf8(git.stdout).unwrap());
    let mut paths: Vec<String> =
        known.unwrap_or_default().split_terminator('\0').map(str::to_owned).collect();
    // A file that was deleted and not yet committed is still known.
    paths.retain(|path| root.join(path).is_file());
    // What tests read as somebody else's code.
    paths.retain(|path| !path.split('/').any(|part| part == "fixtures"));
    if paths.is_empty() {
        let mut files = Vec::new();
        walk(root, &mut files);
        let relative = |path: &PathBuf| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        paths = files.iter().map(relative).collect();
    }
    paths.sort();
    paths.dedup();
    paths
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && !name.as_encoded_bytes().starts_with(b".") && !path.join("CACHEDIR.TAG").exists()
        {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}
