//! What a change touches: lines to functions, functions to those that use them, and to the tests among those.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use serde::Serialize;

use super::Cut;
use super::budget::{self, counted, list_answer};
use super::dead::{is_test, is_test_file};
use crate::language::Language;
use crate::memo::Snapshot;
use crate::project::{FileId, Place};

/// A file and the lines that changed in it, as they are now; no lines means all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub file: String,
    pub lines: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeImpact {
    pub changed_files: Vec<String>,
    pub changed_functions: Vec<Affected>,
    /// Functions that use a changed one, directly or not.
    pub affected_functions: Vec<Affected>,
    pub affected_tests: Vec<Affected>,
    /// What runs those tests; nothing if there are none.
    pub test_command: Vec<String>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Affected {
    pub file: String,
    pub function: String,
    pub line: u32,
}

/// The changes in a unified diff.
pub fn parse_diff(diff: &str) -> Vec<Changed> {
    let mut out: Vec<Changed> = Vec::new();
    let mut old = "";
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            old = clean(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            // A file that is gone still has its name in the old half.
            let path = clean(path);
            let file = if path == "/dev/null" { old } else { path };
            out.push(Changed { file: file.to_owned(), lines: Vec::new() });
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some(range) = hunk.split_whitespace().find_map(|part| part.strip_prefix('+'))
            && let Some(file) = out.last_mut()
        {
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            if let (Ok(start), Ok(count)) = (start.parse::<u32>(), count.parse::<u32>()) {
                // Lines that are gone leave a place between two lines.
                file.lines.push((start.max(1), start.max(1).saturating_add(count.saturating_sub(1))));
            }
        }
    }
    out
}

fn clean(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or(path).trim_matches('"');
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// What `changes` touch, following callers up to `depth` calls.
pub fn change_impact(snapshot: &Snapshot, changes: &[Changed], depth: usize) -> ChangeImpact {
    let mut changed: BTreeSet<Place> = BTreeSet::new();
    for change in changes {
        if let Some(file) = snapshot.files.find(&change.file) {
            changed.extend(touched(snapshot, file, &change.lines));
        }
    }
    let reached = users(snapshot, &changed, depth);
    let mut tests: Vec<Place> =
        reached.iter().chain(&changed).copied().filter(|place| is_test_place(snapshot, *place)).collect();
    tests.sort_unstable();
    tests.dedup();
    let list = |places: &mut dyn Iterator<Item = Place>| {
        let mut all: Vec<_> = places.map(|place| affected(snapshot, place)).collect();
        all.sort();
        all.dedup();
        all
    };
    let affected_tests = list(&mut tests.iter().copied());
    let mut changed_files: Vec<String> = changes.iter().map(|change| change.file.clone()).collect();
    changed_files.sort();
    changed_files.dedup();
    let cut = Cut { total: affected_tests.len(), ..Cut::default() };
    ChangeImpact {
        test_command: command(snapshot, &affected_tests, &changed_files),
        changed_files,
        changed_functions: list(&mut changed.iter().copied()),
        affected_functions: list(&mut reached.into_iter().filter(|place| !is_test_place(snapshot, *place))),
        affected_tests,
        cut,
    }
}

/// The innermost functions that the lines are in; code outside functions is the file's own.
fn touched(snapshot: &Snapshot, file: FileId, lines: &[(u32, u32)]) -> Vec<Place> {
    let facts = snapshot.files.facts(file);
    let functions: Vec<_> = facts.each_def().filter(|(_, def)| def.kind.runs()).collect();
    if lines.is_empty() {
        return functions.into_iter().map(|(def, _)| Place { file, def }).collect();
    }
    let mut out = BTreeSet::new();
    for (first, last) in lines {
        let over: Vec<_> =
            functions.iter().filter(|(_, def)| def.line <= *last && *first <= def.end_line).collect();
        for (id, def) in &over {
            let inner = over.iter().any(|(other, one)| {
                other != id
                    && def.line <= one.line
                    && one.line <= *first
                    && *last <= one.end_line
                    && one.end_line <= def.end_line
            });
            if !inner {
                out.insert(Place { file, def: *id });
            }
        }
    }
    out.into_iter().collect()
}

/// All that use one of the places.
fn users(snapshot: &Snapshot, places: &BTreeSet<Place>, depth: usize) -> BTreeSet<Place> {
    let mut seen: HashSet<Place> = places.iter().copied().collect();
    let mut left: VecDeque<(Place, usize)> = places.iter().map(|place| (*place, 0)).collect();
    let mut out = BTreeSet::new();
    while let Some((place, distance)) = left.pop_front() {
        if distance == depth {
            continue;
        }
        let facts = snapshot.files.facts(place.file);
        let def = facts.def(place.def);
        // Whoever makes an object runs its constructor.
        let class = def
            .flags
            .has(crate::facts::Flags::CONSTRUCTOR)
            .then_some(Place { file: place.file, def: def.parent });
        for edge in [Some(place), class].into_iter().flatten().flat_map(|place| snapshot.graph.users(place)) {
            let user = edge.from;
            if seen.insert(user) {
                out.insert(user);
                left.push_back((user, distance + 1));
            }
        }
    }
    out
}

fn is_test_place(snapshot: &Snapshot, place: Place) -> bool {
    is_test(snapshot.files.facts(place.file), snapshot.files.path(place.file), place.def)
}

fn affected(snapshot: &Snapshot, place: Place) -> Affected {
    let facts = snapshot.files.facts(place.file);
    Affected {
        file: snapshot.files.path(place.file).to_owned(),
        function: facts.qualified(place.def).into_owned(),
        line: facts.def(place.def).line,
    }
}

/// The command for the language that most of the tests are in.
fn command(snapshot: &Snapshot, tests: &[Affected], changed: &[String]) -> Vec<String> {
    let mut files: BTreeMap<Language, BTreeSet<&str>> = BTreeMap::new();
    let also = changed
        .iter()
        .map(String::as_str)
        .filter(|path| Language::of_path(path).is_some_and(|language| is_test_file(path, language)));
    for path in tests.iter().map(|test| test.file.as_str()).chain(also) {
        if let Some(id) = snapshot.files.find(path) {
            files.entry(snapshot.files.facts(id).language).or_default().insert(path);
        }
    }
    let Some((language, paths)) = files.into_iter().max_by_key(|(_, paths)| paths.len()) else {
        return Vec::new();
    };
    let mut command: Vec<String> =
        language.table().tests.runner.iter().map(|word| (*word).to_owned()).collect();
    match language {
        Language::Go => {
            let folders: BTreeSet<String> =
                paths.iter().map(|path| format!("./{}", crate::project::split(path).0)).collect();
            command.extend(folders);
        }
        Language::Rust => {
            let names: BTreeSet<&str> = tests.iter().map(|test| test.function.as_str()).collect();
            command.push("--".to_owned());
            command.extend(names.into_iter().map(str::to_owned));
        }
        Language::Java
        | Language::Kotlin
        | Language::CSharp
        | Language::Scala
        | Language::Swift
        | Language::C
        | Language::Cpp => {
            let stem = |path: &&str| {
                path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default().to_owned()
            };
            command.extend(paths.iter().map(stem));
        }
        _ => command.extend(paths.into_iter().map(str::to_owned)),
    }
    command
}

list_answer!(ChangeImpact, affected_tests, |answer| {
    let mut out = format!(
        "{}, {} changed; reached by {} and {}\n",
        counted(answer.changed_files.len(), "file"),
        counted(answer.changed_functions.len(), "function"),
        counted(answer.affected_functions.len(), "other function"),
        counted(answer.cut.total, "test")
    );
    for test in &answer.affected_tests {
        out.push_str(&format!("  {}:{} {}\n", test.file, test.line, test.function));
    }
    if !answer.test_command.is_empty() {
        out.push_str(&format!("{}\n", answer.test_command.join(" ")));
    }
    out + &budget::tail(&answer.cut)
});
