//! Every language by example: a small program in `fixtures/<language>`, and the text that its facts and edges must give.
//! A change of what we say shows up as a change of that text; `CODE_GOLDEN=write` writes it anew, to be read and
//! committed.
#![allow(
    clippy::disallowed_methods,
    reason = "fixtures are plain files, and the switch is read by the test alone"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::facts::{Facts, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Answer as _, Part};

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
        let facts = extract(language, &path, &bytes).expect("facts");
        let again = Facts::unpack(&facts.pack()).expect("packed facts unpack");
        assert_eq!(facts, again, "{path}");
        (Arc::from(path.as_str()), Some(Arc::new(facts)))
    });
    memo.update(facts.collect());
    memo.snapshot()
}

fn render(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for (_, entry) in snapshot.files.each() {
        write!(out, "{}", code::query::extract::extract(&entry.path, &entry.facts).text()).expect("a string");
    }
    out.push('\n');
    out.push_str(&code::query::calls::calls(snapshot, &Part::default()).text());
    out.push('\n');
    out.push_str(&code::query::dead::dead(snapshot, &Part::default(), &[]).text());
    out
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
