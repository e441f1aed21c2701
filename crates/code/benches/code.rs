//! What it costs to understand a project, beside what parsing it alone costs: a cold index, the same after an edit of
//! one file, and the questions. The project is the folder given, or the corpus's Django.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads plain files and prints"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use code::facts::{Facts, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Part, arch, calls, dead, impact, semantic, structure};
use code::{parse, resolve};
use rayon::prelude::*;
use testkit::measure::{Table, cost};

type Change = (Arc<str>, Option<Arc<Facts>>);

fn main() {
    let given = env::args().skip(1).find(|arg| arg != "--bench").map(PathBuf::from);
    let root = given
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/corpus/Django-5.1.4"));
    let mut sources = Vec::new();
    read(&root, &root, &mut sources);
    assert!(!sources.is_empty(), "{}: no program (`cargo xtask corpus Django` fetches one)", root.display());
    let mut table = Table::default();
    table.note("files", sources.len());
    table.note("bytes", sources.iter().map(|(_, bytes)| bytes.len()).sum::<usize>());
    cold(&sources, &mut table);
    sizes(&sources, &mut table);
    warm(&sources, &mut table);
    table.note("peak memory, kB", peak());
    table.print();
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
    (Arc::from(path), extract(language, path, bytes).map(Arc::new))
}

fn index(sources: &[(String, Vec<u8>)]) -> Memo {
    let mut memo = Memo::default();
    memo.update(facts(sources));
    memo.snapshot();
    memo
}

fn cold(sources: &[(String, Vec<u8>)], table: &mut Table) {
    let parsing = cost(1, || {
        sources.par_iter().for_each(|(path, bytes)| {
            parse::parse(Language::of_path(path).expect("chosen by it"), path, bytes);
        });
    });
    table.row("facts of all files, beside parsing", cost(1, || drop(facts(sources))), parsing);
    table.row("cold index, beside parsing", cost(1, || drop(index(sources))), parsing);
    let packed: Vec<Vec<u8>> =
        facts(sources).iter().filter_map(|(_, facts)| Some(facts.as_ref()?.pack())).collect();
    table.note("packed facts, bytes", packed.iter().map(Vec::len).sum::<usize>());
    let unpacking =
        cost(1, || packed.par_iter().for_each(|bytes| drop(Facts::unpack(bytes).expect("just packed"))));
    table.alone("unpack all facts", unpacking);
}

/// Cost against size.
fn sizes(sources: &[(String, Vec<u8>)], table: &mut Table) {
    for size in [100, 1000, 3000] {
        let step = (sources.len() / size).max(1);
        let some: Vec<_> = sources.iter().step_by(step).take(size).cloned().collect();
        table.alone(format!("cold index of {} files", some.len()), cost(1, || drop(index(&some))));
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
