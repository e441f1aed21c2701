//! What we say about the same code: edges, and what is dead, also with functions put in that nobody uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::project::Manifest;
use code::query::{Part, calls, dead, impact};
use code::resolve::{Confidence, EdgeKind};
use rayon::prelude::*;

use crate::edges::{Edge, Function};

/// Texts by their path in the project.
pub(crate) type Sources = BTreeMap<String, String>;

/// So many functions that nobody uses are put into a package.
pub(crate) const SEEDS: usize = 200;

/// An edge of ours: where, what kind, how sure.
pub(crate) struct Ours {
    pub(crate) edge: Edge,
    pub(crate) line: u32,
    pub(crate) is_call: bool,
    pub(crate) is_low: bool,
}

/// The files of some languages below a folder, by their path from the root.
pub(crate) fn read(root: &Path, folder: &str, wanted: &[Language]) -> Sources {
    let mut sources = Sources::new();
    let mut left = vec![root.join(folder)];
    while let Some(folder) = left.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| !path.is_symlink()) {
            let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            if path.is_dir() {
                left.push(path);
            } else if Language::of_path(&name).is_some_and(|language| wanted.contains(&language))
                && let Ok(text) = fs::read_to_string(&path)
            {
                sources.insert(name, text);
            }
        }
    }
    sources
}

/// The build files of a folder and of those above it.
pub(crate) fn manifests(root: &Path, folder: &str) -> Sources {
    let mut sources = Sources::new();
    for above in Path::new(folder).ancestors() {
        for name in ["go.mod", "Cargo.toml", "package.json", "tsconfig.json"] {
            let path = above.join(name);
            if let Ok(text) = fs::read_to_string(root.join(&path)) {
                sources.insert(path.to_string_lossy().into_owned(), text);
            }
        }
    }
    sources
}

pub(crate) fn understand(sources: &Sources) -> Snapshot {
    let mut memo = Memo::default();
    let facts = sources.par_iter().filter_map(|(path, text)| {
        let language = Language::of_path(path)?;
        Some((Arc::from(path.as_str()), extract(language, path, text.as_bytes()).map(Held::from)))
    });
    memo.update(facts.collect());
    let said = sources
        .iter()
        .map(|(path, text)| (Arc::from(path.as_str()), Manifest::read(path, text).map(Arc::new)));
    memo.update_manifests(said.filter(|(_, said)| said.is_some()).collect());
    memo.snapshot()
}

pub(crate) fn edges(snapshot: &Snapshot) -> Vec<Ours> {
    let all = calls::calls(snapshot, &Part::default()).edges;
    all.iter()
        .map(calls::Link::call)
        .map(|call| Ours {
            line: call.line,
            is_call: matches!(call.kind, EdgeKind::Call | EdgeKind::Constructor | EdgeKind::Super),
            is_low: call.confidence == Confidence::Low,
            edge: (
                call.from_file.to_string(),
                made(&call.from_func),
                call.to_file.to_string(),
                made(&call.to_func),
            ),
        })
        .collect()
}

/// Which of some functions nobody seems to call, with no call of their name left open either.
pub(crate) fn silent(snapshot: &Snapshot, called: &BTreeSet<Function>) -> Vec<Function> {
    let is_silent = |(file, name): &&Function| {
        let told = impact::impact(snapshot, &format!("{file}:{name}"), 1, &Part::default());
        told.is_ok_and(|told| told.callers.is_empty() && told.unresolved == 0)
    };
    called.iter().filter(is_silent).cloned().collect()
}

/// What we are sure that nobody uses, in one folder.
pub(crate) fn surely_dead(snapshot: &Snapshot, folder: &str) -> BTreeSet<Function> {
    let part = Part { path: folder.to_owned(), language: None };
    dead::dead(snapshot, &part, &[]).dead.into_iter().map(|one| (one.file, one.name)).collect()
}

/// The same sources with [`SEEDS`] functions that nobody uses, and their names. Every fourth is a method, every fourth
/// calls itself, every fourth is spoken of in a text; in the file of a package itself all are private, since what is public there is meant for others.
pub(crate) fn seeded(sources: &Sources) -> (Sources, BTreeSet<Function>) {
    let (mut sources, mut names) = (sources.clone(), BTreeSet::new());
    // What is in a test may be called by its runner.
    let is_test = |path: &&String| path.rsplit('/').next().is_some_and(|name| name.starts_with("test"));
    let files: Vec<String> = sources.keys().filter(|path| !is_test(path)).cloned().collect();
    for seed in 0..SEEDS {
        let file = &files[seed % files.len()];
        let text = sources.get_mut(file).expect("one of them");
        let private = if file.ends_with("__init__.py") || seed % 2 == 0 { "_" } else { "" };
        let name = format!("{private}seeded_{seed}");
        let call = if seed % 4 == 1 { format!("{name}(value)") } else { "value".to_owned() };
        if seed % 4 == 3 {
            text.push_str(&format!("\n\n_SPOKEN_OF_{seed} = 'Once there was {name}, which nobody calls.'\n"));
        }
        let class = (seed % 4 == 2).then(|| plain_class(text)).flatten();
        let named = match class {
            Some((class, end)) => {
                text.insert_str(end, &format!("\n    def {name}(self, value):\n        return value\n"));
                format!("{class}.{name}")
            }
            None => {
                text.push_str(&format!("\n\ndef {name}(value):\n    return {call}\n"));
                name
            }
        };
        names.insert((file.clone(), named));
    }
    (sources, names)
}

/// A class without parents, and where its header ends: parents may call what we do not see.
fn plain_class(text: &str) -> Option<(String, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let class = line.strip_prefix("class ").and_then(|rest| rest.trim_end().strip_suffix(':'));
        if let Some(name) = class.filter(|name| !name.contains('(')) {
            return Some((name.to_owned(), at));
        }
    }
    None
}

/// A constructor is its class.
fn made(name: &str) -> String {
    let class = [".__init__", ".__new__", ".constructor"].iter().find_map(|ending| name.strip_suffix(ending));
    class.unwrap_or(name).to_owned()
}
