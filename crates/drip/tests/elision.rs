//! Elision against a parser: fixtures that try to mislead a scanner, each of which says what may be hidden in it, and
//! any list of real code.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: reads fixtures and asks for a directory"
)]

#[path = "elision/oracle.rs"]
mod oracle;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use drip::elide::{Hides, Language, Limits, Stub};

/// Small enough that fixtures can be short.
const SMALL: Limits = Limits { min_bytes: 0, min_body: Limits::FLOOR, doc_comments: true };

/// Runs every fixture of a language. The name before `.txt` says which language it is; a line with `expect:` lists what
/// is hidden, in order, with `doc:` before a name for its comment. Without such a line nothing may be hidden.
#[track_caller]
fn check_fixtures(folder: &str) {
    let paths = fixtures(folder);
    let errors = paths.iter().filter_map(|path| {
        let error = check_fixture(path).err()?;
        Some(format!("{}: {error}", path.display()))
    });
    let errors: Vec<String> = errors.collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(paths.len() >= 20, "only {} fixtures for {folder}", paths.len());
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/elision").join(folder);
    fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn check_fixture(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let language = language(&path.with_extension("")).ok_or("no language has this extension")?;
    let (report, elided) = oracle::check(language, &text, &SMALL)?;
    if report.unconfirmed > 0 && !text.contains("the witness is blind") {
        return Err(format!("{} stubs are unconfirmed", report.unconfirmed));
    }
    let shown = |stub: &Stub| match stub.hides {
        Hides::Body => stub.symbol.clone(),
        Hides::DocComment => format!("doc:{}", stub.symbol),
    };
    let hidden: Vec<String> = elided.iter().flat_map(|elided| &elided.stubs).map(shown).collect();
    let hidden = if hidden.is_empty() { "nothing".to_owned() } else { hidden.join(" ") };
    let wanted =
        text.lines().find_map(|line| line.split_once("expect:")).map_or("nothing", |(_, names)| names);
    let wanted = wanted.trim_end_matches(['*', '/', '-', '>', ' ']).trim_start();
    if hidden == wanted { Ok(()) } else { Err(format!("hidden: {hidden}; expected: {wanted}")) }
}

fn language(path: &Path) -> Option<Language> {
    Language::from_extension(path.extension()?.to_str()?)
}

#[test]
fn c_fixtures_keep_every_signature() {
    check_fixtures("c");
}

#[test]
fn cpp_fixtures_keep_every_signature() {
    check_fixtures("cpp");
}

#[test]
fn csharp_fixtures_keep_every_signature() {
    check_fixtures("csharp");
}

#[test]
fn go_fixtures_keep_every_signature() {
    check_fixtures("go");
}

#[test]
fn java_fixtures_keep_every_signature() {
    check_fixtures("java");
}

#[test]
fn javascript_fixtures_keep_every_signature() {
    check_fixtures("javascript");
}

#[test]
fn kotlin_fixtures_keep_every_signature() {
    check_fixtures("kotlin");
}

#[test]
fn php_fixtures_keep_every_signature() {
    check_fixtures("php");
}

#[test]
fn python_fixtures_keep_every_signature() {
    check_fixtures("python");
}

#[test]
fn rust_fixtures_keep_every_signature() {
    check_fixtures("rust");
}

#[test]
fn scala_fixtures_keep_every_signature() {
    check_fixtures("scala");
}

#[test]
fn swift_fixtures_keep_every_signature() {
    check_fixtures("swift");
}

#[test]
fn typescript_fixtures_keep_every_signature() {
    check_fixtures("typescript");
}

/// So many files of every language make a list of real code worth reading.
const LEAST: usize = 300;

/// Every file on the list that `DRIP_ELISION_FILES` names; by default our own sources.
#[test]
fn real_code_keeps_every_signature() {
    let list = std::env::var("DRIP_ELISION_FILES").map(|list| fs::read_to_string(list).unwrap());
    let files = match &list {
        Ok(list) => list.lines().map(PathBuf::from).collect(),
        Err(_) => below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")),
    };
    let (mut rows, mut wrong) = (BTreeMap::<Language, Row>::new(), Vec::new());
    for path in files {
        let (Some(language), Ok(text)) = (language(&path), fs::read_to_string(&path)) else { continue };
        let row = rows.entry(if language == Language::Tsx { Language::TypeScript } else { language });
        let row = row.or_default();
        match oracle::check(language, &text, &Limits::default()) {
            Ok((report, _)) => row.report += report,
            Err(error) => {
                row.report.files += 1;
                row.wrong += 1;
                wrong.push(format!("{}: {error}", path.display()));
            }
        }
    }
    println!("{}", table(&rows));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let hidden: usize = rows.values().map(|row| row.report.bodies_hidden).sum();
    assert!(hidden > 0, "nothing was hidden");
    if list.is_ok() {
        let few = rows.iter().find(|(_, row)| row.report.files < LEAST);
        assert!(rows.len() == 13 && few.is_none(), "too few languages, or too few files of {few:?}");
    }
}

#[derive(Debug, Default)]
struct Row {
    report: oracle::Report,
    wrong: usize,
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut left, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = left.pop() {
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files
}

fn table(rows: &BTreeMap<Language, Row>) -> String {
    let mut lines = vec![format!(
        "{:<11}{:>7}{:>9}{:>9}{:>9}{:>11}{:>11}{:>6}{:>9}{:>13}{:>7}",
        "language",
        "files",
        "long",
        "hidden",
        "lines",
        "tokens",
        "after",
        "%",
        "doubted",
        "unconfirmed",
        "wrong"
    )];
    lines.extend(rows.iter().map(|(language, Row { report, wrong })| {
        let (before, after) = (report.bytes.div_ceil(4), report.bytes_after.div_ceil(4));
        format!(
            "{:<11}{:>7}{:>9}{:>9}{:>9}{before:>11}{after:>11}{:>6}{:>9}{:>13}{wrong:>7}",
            format!("{language:?}"),
            report.files,
            report.long_bodies,
            report.bodies_hidden,
            report.lines_hidden,
            100 * after / before.max(1),
            report.doubted,
            report.unconfirmed,
        )
    }));
    lines.join("\n")
}
