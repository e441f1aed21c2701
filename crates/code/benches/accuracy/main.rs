//! How right the call graph and `dead` are, on packages that are fetched for it, beside witnesses that know better: for
//! Python jedi and the package's own tests while they run, for TypeScript, Go and Rust their compilers.
//!
//! Edges are compared by file and name of both ends, each pair once. *Precision* is the share of our calls that some
//! witness knows; a call that no witness can follow counts against us, so it is a lower bound. *All* is the same for
//! references, decorators and properties as well, *sure* for calls without those of low confidence. *Recall* is the
//! share of jedi's calls that we have, *executed* of the calls inside the package that its tests made; *silent* are
//! functions with a caller of which we say that there is none and that no call of that name is left open. What is wrong
//! or missing is listed in a file beside the figures. A name among the arguments chooses the packages that have it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark runs plain programs, keeps plain files and prints"
)]

mod checked;
mod edges;
mod ours;
mod python;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use code::language::Language;
use code::memo::Snapshot;
use edges::{Edge, share};
use ours::{Ours, SEEDS};
use python::{Executed, PACKAGES, Part, Truth};
use serde_json::json;

fn main() {
    let corpus = env::var_os("SCRIMP_CORPUS").map(PathBuf::from);
    let corpus = corpus.expect("SCRIMP_CORPUS: where the packages are; `cargo xtask bench accuracy` says it");
    let kept = corpus.join("accuracy");
    fs::create_dir_all(&kept).expect("a folder of ours");
    let figures = env::var_os("SCRIMP_BENCH_JSON").map(PathBuf::from);
    let mut all = serde_json::Map::new();
    println!(
        "{:<20} {:>6} {:>6} {:>9} {:>7} {:>7} {:>7} {:>9} {:>7}   {:>5} {:>6} {:>6} {:>9}",
        "package",
        "files",
        "calls",
        "precision",
        "all",
        "sure",
        "recall",
        "executed",
        "silent",
        "dead",
        "wrong",
        "inside",
        "seeds"
    );
    for package in PACKAGES.iter().filter(|package| is_wanted(package.name)) {
        let root = corpus.join(package.name);
        let truth = python::truth(package, &root, &kept);
        let sources = ours::read(&root, package.folder, &[Language::Python]);
        let snapshot = ours::understand(&sources);
        let found = ours::edges(&snapshot);
        let counts = Counts::of(&found, &truth, &snapshot);
        let dead = Dead::of(&root, package.folder, &sources, truth.executed.as_ref());
        let is_held_out = package.part == Part::HeldOut;
        let mark = if is_held_out { "  held out" } else { "" };
        println!("{:<20} {:>6} {counts}   {dead}{mark}", package.name, sources.len());
        let figures_of = json!({"edges": counts.to_json(), "dead": dead.to_json(), "held_out": is_held_out});
        all.insert(package.name.to_owned(), figures_of);
        if let Some(file) = &figures {
            list(file, package.name, &found, &truth, &counts.silent, Some(&dead));
        }
    }
    for tree in checked::TREES.iter().filter(|tree| is_wanted(tree.name)) {
        let truth = checked::truth(tree, &corpus, &kept);
        let mut sources = ours::read(&corpus.join(tree.root), tree.folder, &[tree.language]);
        // What the checker left out, tests and files for other systems, it says nothing about.
        let checked: BTreeSet<&String> = truth.anything.iter().flat_map(|edge| [&edge.0, &edge.2]).collect();
        // Elsewhere than in Go a file that only gives names on has no edges of its own, and is read all the same.
        let reads_all = tree.language != Language::Go;
        sources.retain(|path, _| reads_all || checked.contains(path));
        let files = sources.len();
        sources.extend(ours::manifests(&corpus.join(tree.root), tree.folder));
        let snapshot = ours::understand(&sources);
        let mut found = ours::edges(&snapshot);
        let is_known =
            |known: &BTreeSet<_>, one: &Ours| known.contains(&(one.edge.0.clone(), one.edge.1.clone()));
        let is_unseen = |one: &Ours| {
            let to = (one.edge.2.clone(), one.edge.3.clone());
            truth.unseen.as_ref().is_some_and(|unseen: &BTreeSet<_>| unseen.contains(&to))
        };
        found.retain(|one| !is_unseen(one));
        found.retain(|one| truth.compiled.as_ref().is_none_or(|known| is_known(known, one)));
        let counts = Counts::of(&found, &truth, &snapshot);
        let is_held_out = tree.part == Part::HeldOut;
        let mark = if is_held_out { "  held out" } else { "" };
        println!("{:<20} {files:>6} {counts}{mark}", tree.name);
        all.insert(tree.name.to_owned(), json!({"edges": counts.to_json(), "held_out": is_held_out}));
        if let Some(file) = &figures {
            list(file, tree.name, &found, &truth, &counts.silent, None);
        }
    }
    println!(
        "\ndead: first tier; wrong: of those, run under the tests, which are in the project; inside: without the tests in\n\
         the project, of those run by the package itself; seeds: found of {SEEDS} functions put in that nobody uses, without\n\
         the tests and with them"
    );
    if let Some(file) = figures {
        fs::write(file, serde_json::Value::from(all).to_string()).expect("its folder was made before");
    }
}

/// Whether a package was asked for: all are, unless arguments name some.
fn is_wanted(name: &str) -> bool {
    let mut named = env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|wanted| name.contains(&wanted))
}

/// What of ours is right, and what of theirs we have.
struct Counts {
    calls: usize,
    /// Right and all: of calls, of edges of any kind, of calls that we are sure of.
    precision: [(usize, usize); 3],
    recall: (usize, usize),
    executed: (usize, usize),
    silent: Vec<edges::Function>,
}

impl Counts {
    fn of(found: &[Ours], truth: &Truth, snapshot: &Snapshot) -> Counts {
        let right = |wanted: &dyn Fn(&Ours) -> bool| {
            let ours: BTreeSet<&Edge> = found.iter().filter(|one| wanted(one)).map(|one| &one.edge).collect();
            (ours.iter().filter(|edge| truth.anything.contains(**edge)).count(), ours.len())
        };
        let all: BTreeSet<&Edge> = found.iter().map(|one| &one.edge).collect();
        let had =
            |edges: &BTreeSet<Edge>| (edges.iter().filter(|edge| all.contains(edge)).count(), edges.len());
        let precision =
            [right(&|one| one.is_call), right(&|_| true), right(&|one| one.is_call && !one.is_low)];
        let executed = truth.executed.as_ref().map_or((0, 0), |ran| had(&ran.edges));
        let silent = ours::silent(snapshot, &truth.called());
        Counts { calls: precision[0].1, precision, recall: had(&truth.calls), executed, silent }
    }

    fn shares(&self) -> [String; 5] {
        let [calls, all, sure] = self.precision;
        [calls, all, sure, self.recall, self.executed].map(|(part, whole)| share(part, whole))
    }

    fn to_json(&self) -> serde_json::Value {
        let [precision, all, sure, recall, executed] = self.shares();
        json!({"calls": self.calls, "precision": precision, "all": all, "sure": sure, "recall": recall, "executed": executed, "silent": self.silent.len()})
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [precision, all, sure, recall, executed] = self.shares();
        let (calls, silent) = (self.calls, self.silent.len());
        write!(out, "{calls:>6} {precision:>9} {all:>7} {sure:>7} {recall:>7} {executed:>9} {silent:>7}")
    }
}

/// What `dead` says, and what of it is wrong.
struct Dead {
    count: usize,
    wrong: Option<Vec<edges::Function>>,
    inside: Option<Vec<edges::Function>>,
    /// Without the tests in the project, and with them.
    seeds_found: [usize; 2],
    seeds_missed: Vec<edges::Function>,
}

impl Dead {
    fn of(root: &Path, folder: &str, sources: &ours::Sources, ran: Option<&Executed>) -> Dead {
        let mut whole = ours::read(root, "", &[Language::Python]);
        let tested = ours::surely_dead(&ours::understand(&whole), folder);
        let alone = ours::surely_dead(&ours::understand(sources), folder);
        let (seeded, names) = ours::seeded(sources);
        let seen = ours::surely_dead(&ours::understand(&seeded), folder);
        whole.extend(seeded);
        let seen_tested = ours::surely_dead(&ours::understand(&whole), folder);
        Dead {
            count: tested.len(),
            wrong: ran.map(|ran| tested.intersection(&ran.functions).cloned().collect()),
            inside: ran.map(|ran| alone.intersection(&ran.inside).cloned().collect()),
            seeds_found: [&seen, &seen_tested].map(|seen| names.intersection(seen).count()),
            seeds_missed: names.difference(&seen).cloned().collect(),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let count = |list: &Option<Vec<_>>| list.as_ref().map(Vec::len);
        json!({"dead": self.count, "wrong": count(&self.wrong), "inside": count(&self.inside), "seeds": self.seeds_found})
    }
}

impl std::fmt::Display for Dead {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count =
            |list: &Option<Vec<_>>| list.as_ref().map_or("-".to_owned(), |list| list.len().to_string());
        let [alone, tested] = self.seeds_found;
        let seeds = format!("{alone}, {tested}");
        write!(out, "{:>5} {:>6} {:>6} {seeds:>9}", self.count, count(&self.wrong), count(&self.inside))
    }
}

/// Everything that is wrong or missing, for whoever mends it, in a file beside the figures.
fn list(
    figures: &Path,
    name: &str,
    found: &[Ours],
    truth: &Truth,
    silent: &[edges::Function],
    dead: Option<&Dead>,
) {
    let mut out = String::new();
    let all: BTreeSet<&Edge> = found.iter().map(|one| &one.edge).collect();
    for one in found.iter().filter(|one| !truth.anything.contains(&one.edge)) {
        let (file, from, to_file, to) = &one.edge;
        let what = if one.is_call { "unknown call" } else { "unknown use" };
        let low = if one.is_low { " (low)" } else { "" };
        writeln!(out, "{what}{low} {file}:{} {from} -> {to_file}:{to}", one.line).expect("a string");
    }
    let ran = truth.executed.iter().flat_map(|ran| &ran.edges).map(|edge| ("missed executed", edge));
    for (what, edge) in truth.calls.iter().map(|edge| ("missed", edge)).chain(ran) {
        let (file, from, to_file, to) = edge;
        if !all.contains(edge) {
            writeln!(out, "{what} {file} {from} -> {to_file}:{to}").expect("a string");
        }
    }
    for (file, name) in silent {
        writeln!(out, "silent {file} {name}").expect("a string");
    }
    if let Some(dead) = dead {
        let lists = [("dead but run", &dead.wrong), ("dead but used", &dead.inside)];
        let found = lists.iter().flat_map(|(what, list)| list.iter().flatten().map(move |one| (*what, one)));
        for (what, (file, name)) in found.chain(dead.seeds_missed.iter().map(|one| ("seed missed", one))) {
            writeln!(out, "{what} {file} {name}").expect("a string");
        }
    }
    let file = figures.with_file_name(format!("accuracy-{}.txt", name.replace(' ', "-")));
    fs::write(file, out).expect("its folder was made before");
}
