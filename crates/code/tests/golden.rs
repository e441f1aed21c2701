//! Every language by example: a small program in `fixtures/<language>`, and what every question must answer about it.
//! A change of what we say shows up as a change of that text; `CODE_GOLDEN=write` writes it anew, to be read and
//! committed.
#![allow(
    clippy::disallowed_methods,
    reason = "fixtures are plain files, and the switch is read by the test alone"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::facts::Facts;
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::project::Place;
use code::query::{
    Answer as _, Part, arch, calls, context, dead, extract, impact, imports, semantic, structure,
};
use code::resolve::Edge;

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(language)
}

fn sources(root: &Path, below: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> =
        fs::read_dir(below).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(root, &path, out);
        } else if path.extension().is_some_and(|extension| extension != "txt") {
            let name = path.strip_prefix(root).expect("below").to_str().expect("text").to_owned();
            out.push((name, fs::read(&path).expect("a file")));
        }
    }
}

fn load(language: &str) -> Snapshot {
    let root = folder(language);
    let mut files = Vec::new();
    sources(&root, &root, &mut files);
    let mut memo = Memo::default();
    let facts = files.into_iter().map(|(path, bytes)| {
        let language = Language::of_path(&path).expect("a language");
        let facts = code::facts::extract(language, &path, &bytes).expect("facts");
        let again = Facts::unpack(&facts.pack()).expect("packed facts unpack");
        assert_eq!(facts, again, "{path}");
        (Arc::from(path.as_str()), Some(facts.into()))
    });
    memo.update(facts.collect());
    memo.snapshot()
}

/// What every question answers about the example. Those about one function are asked about the one that most others use,
/// and about the one that uses most.
fn render(snapshot: &Snapshot) -> String {
    let (part, files) = (Part::default(), &snapshot.files);
    let mut out = String::new();
    let mut section = |title: &str, text: &str| write!(out, "== {title}\n{text}\n").expect("a string");
    section("structure", &structure::structure(snapshot, &part).text());
    for (_, entry) in files.each() {
        section(&format!("extract {}", entry.path), &extract::extract(&entry.path, &entry.facts).text());
        section(&format!("imports {}", entry.path), &imports::imports(&entry.path, &entry.facts).text());
    }
    for module in imported(snapshot) {
        section(&format!("importers {module}"), &imports::importers(snapshot, &module, &part).text());
    }
    section("calls", &calls::calls(snapshot, &part).text());
    let (used, user) = (most(snapshot, |edge| edge.to), most(snapshot, |edge| edge.from));
    section(&format!("impact {used}"), &impact::impact(snapshot, &used, 3, &part).expect("it exists").text());
    section(&format!("context {user}"), &context::context(snapshot, &user, 2).expect("it exists").text());
    section("dead", &dead::dead(snapshot, &part, &[]).text());
    section("arch", &arch::arch(snapshot, &part).text());
    let words = semantic::Index::build(snapshot);
    section("semantic price of an item", &words.search(snapshot, "price of an item", 3, &part).text());
    out
}

/// The files that others import, by their paths, as `importers` takes them.
fn imported(snapshot: &Snapshot) -> Vec<String> {
    let paths = snapshot.files.each().map(|(_, entry)| entry.path.to_string());
    let is_imported =
        |path: &String| !imports::importers(snapshot, path, &Part::default()).importers.is_empty();
    paths.filter(is_imported).collect()
}

/// The function at one end of most edges to or from others, by its full name; the first of several.
fn most(snapshot: &Snapshot, end: impl Fn(&Edge) -> Place) -> String {
    let mut counts: BTreeMap<String, BTreeSet<(Place, Place)>> = BTreeMap::new();
    for edge in snapshot.graph.edges().filter(|edge| edge.from != edge.to) {
        let (place, files) = (end(edge), &snapshot.files);
        let facts = files.facts(place.file);
        let name = facts.qualified(place.def);
        if facts.def(place.def).kind.runs() && name != code::facts::MODULE {
            let name = format!("{}:{name}", files.path(place.file));
            counts.entry(name).or_default().insert((edge.from, edge.to));
        }
    }
    let fewest_last = |(name, ends): &(String, BTreeSet<_>)| (Reverse(ends.len()), name.clone());
    counts.into_iter().min_by_key(fewest_last).expect("an example has calls").0
}

fn check(language: &str) {
    let seen = render(&load(language));
    let path = folder(language).join("expected.txt");
    if std::env::var_os("CODE_GOLDEN").is_some() {
        fs::write(&path, &seen).expect("written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(seen == expected, "{} differs; now it is:\n{seen}", path.display());
}

macro_rules! languages {
    ($($name:ident => $folder:literal),* $(,)?) => {$(
        #[test]
        fn $name() {
            check($folder);
        }
    )*

    #[test]
    fn every_language_has_an_example() {
        let known: Vec<&str> = vec![$($folder),*];
        for language in Language::ALL {
            assert!(known.contains(&language.name()), "{} has none", language.name());
        }
    }};
}

languages! {
    python_by_example => "python",
    typescript_by_example => "typescript",
    javascript_by_example => "javascript",
    go_by_example => "go",
    rust_by_example => "rust",
    java_by_example => "java",
    c_by_example => "c",
    cpp_by_example => "cpp",
    csharp_by_example => "csharp",
    ruby_by_example => "ruby",
    php_by_example => "php",
    kotlin_by_example => "kotlin",
    swift_by_example => "swift",
    scala_by_example => "scala",
    lua_by_example => "lua",
    luau_by_example => "luau",
    elixir_by_example => "elixir",
}
