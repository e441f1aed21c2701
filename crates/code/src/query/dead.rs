//! Functions that nobody uses, with what speaks for and against it. A use in the function itself does not count.

use rayon::prelude::*;
use serde::Serialize;

use super::budget::{self, counted};
use super::{Answer, Cut, Part};
use crate::facts::{Def, DefId, DefKind, Facts, Flags, Sym};
use crate::language::Language;
use crate::memo::Snapshot;
use crate::project::{Entry, FileId, Mentions, Place, used};
use crate::quick::QuickSet;
use crate::resolve;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dead {
    /// Nothing uses or mentions them, and nothing outside is meant to.
    pub dead: Vec<Unused>,
    /// Nothing uses them that we can see, but something may.
    pub possibly_dead: Vec<Unused>,
    pub total_functions: usize,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unused {
    pub file: String,
    pub name: String,
    pub line: u32,
    pub kind: &'static str,
    /// What was found out about it.
    pub evidence: &'static str,
}

/// The unused functions of a part. What `entries` names is used by somebody outside.
pub fn dead(snapshot: &Snapshot, part: &Part, entries: &[String]) -> Dead {
    let files: Vec<_> = part.files(snapshot).collect();
    let total = files.iter().flat_map(|(_, entry)| &entry.facts.defs).filter(|def| def.kind.runs()).count();
    let candidates: Vec<Place> =
        files.par_iter().flat_map_iter(|(id, entry)| unused(snapshot, *id, entry, entries)).collect();
    let mut answer =
        Dead { dead: Vec::new(), possibly_dead: Vec::new(), total_functions: total, cut: Cut::default() };
    let verdicts: Vec<_> = candidates.par_iter().map(|place| verdict(snapshot, *place)).collect();
    for (place, (sure, evidence)) in candidates.into_iter().zip(verdicts) {
        let facts = snapshot.files.facts(place.file);
        let def = facts.def(place.def);
        let unused = Unused {
            file: snapshot.files.path(place.file).to_owned(),
            name: facts.qualified(place.def).into_owned(),
            line: def.line,
            kind: def.kind.word(),
            evidence,
        };
        if sure { answer.dead.push(unused) } else { answer.possibly_dead.push(unused) }
    }
    answer.cut.total = answer.count();
    answer
}

/// The functions of a file that nothing leads to. Overloads, and the reading and the writing of a property, are one: used
/// together, and told once.
fn unused(snapshot: &Snapshot, id: FileId, entry: &Entry, entries: &[String]) -> Vec<Place> {
    let facts = &entry.facts;
    let in_test = is_test_file(&entry.path, facts.language);
    let mut told: QuickSet<(DefId, Option<Sym>, Sym)> = QuickSet::default();
    let functions = facts.each_def().filter(|(_, one)| one.kind.runs());
    let (mut alone, used): (Vec<_>, Vec<_>) = functions.partition(|(def, one)| {
        let place = Place { file: id, def: *def };
        let used = snapshot.graph.users(place).iter().any(|edge| edge.from != place);
        !used && !is_entry(facts, *def, one, entries, in_test)
    });
    told.extend(used.iter().map(|(_, one)| (one.parent, one.owner, one.name)));
    alone.retain(|(_, one)| told.insert((one.parent, one.owner, one.name)));
    alone.into_iter().map(|(def, _)| Place { file: id, def }).collect()
}

/// Whether it is surely dead, and why we think so.
fn verdict(snapshot: &Snapshot, place: Place) -> (bool, &'static str) {
    let mentions = snapshot.files.mentions();
    let facts = snapshot.files.facts(place.file);
    let def = facts.def(place.def);
    let name = facts.text(def.name);
    let registers = |mark: &Sym| facts.language != Language::Rust || !PLAIN.contains(&facts.text(*mark));
    if def.decorator_texts.iter().any(registers) {
        return (false, "a decorator may register it");
    }
    if is_exported(facts, snapshot.files.path(place.file), place.def, def)
        || is_given_on(mentions, facts, def)
    {
        return (false, "exported: others may use it");
    }
    if def.flags.has(Flags::OVERRIDE) || may_override(snapshot, place) {
        return (false, "its class has parents that may call it");
    }
    if is_met(snapshot, facts, place) {
        return (false, "the name is used on objects of unknown type, or imported");
    }
    if beginnings(name).any(|beginning| mentions.get(beginning).written > 0) {
        return (false, "its name begins like one that is put together from text");
    }
    if def.flags.has(Flags::ABSTRACT) && def.kind != DefKind::Function {
        return (false, "declared for others to fill in");
    }
    (true, "nothing uses or mentions it")
}

/// Whether somebody else may mean it: the name is used or written outside of the function itself.
fn is_met(snapshot: &Snapshot, facts: &Facts, place: Place) -> bool {
    let name = facts.def(place.def).name;
    let count = snapshot.files.mentions().get(facts.text(name));
    let here = || used(facts).filter(|(sym, _)| *sym == name).map(|(_, scope)| facts.charged(scope));
    match count.used {
        _ if count.written > 0 => true,
        0 => false,
        // By its own file or by another one.
        1 => here().next().is_none() || here().any(|user| user != place.def),
        _ => true,
    }
}

/// Whether a package gives on the function, or the class it is a public member of.
fn is_given_on(mentions: &Mentions, facts: &Facts, def: &Def) -> bool {
    let class = facts.def(def.parent);
    let outer = if class.kind == DefKind::Class { class.name } else { def.name };
    !facts.text(def.name).starts_with('_') && mentions.get(facts.text(outer)).given > 0
}

/// The parts of a name that end with `_`, from which names are put together.
fn beginnings(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('_').filter(|(at, _)| *at > 0).map(|(at, _)| &name[..=at])
}

/// What is called from outside the program's own text.
fn is_entry(facts: &Facts, id: DefId, def: &Def, entries: &[String], in_test: bool) -> bool {
    let name = facts.text(def.name);
    let table = facts.language.table();
    let marked = def.decorator_texts.iter().map(|mark| facts.text(*mark)).any(|mark| {
        let last = mark.rsplit(['.', ':']).next().unwrap_or(mark);
        table.tests.marks.contains(&mark) || table.tests.marks.contains(&last) || FRAMEWORK.contains(&last)
    });
    let dunder = name.starts_with("__") && name.ends_with("__");
    marked
        || dunder
        || in_test
        || def.flags.has(Flags::CONSTRUCTOR)
        || table.entry_points.contains(&name)
        || entries.iter().any(|entry| *entry == *name || **entry == *facts.qualified(id))
}

/// Attributes of Rust that only say something to the compiler.
const PLAIN: &[&str] = &[
    "allow",
    "cfg",
    "cold",
    "deprecated",
    "doc",
    "expect",
    "inline",
    "must_use",
    "rustfmt::skip",
    "track_caller",
    "warn",
];

/// Decorators with which frameworks call a function themselves.
const FRAMEWORK: &[&str] = &[
    "route",
    "get",
    "post",
    "put",
    "delete",
    "patch",
    "command",
    "group",
    "task",
    "shared_task",
    "receiver",
    "register",
    "fixture",
    "hookimpl",
    "validator",
    "field_validator",
    "model_validator",
    "root_validator",
    "listens_for",
    "event",
    "on_event",
    "middleware",
    "exception_handler",
    "errorhandler",
    "before_request",
    "after_request",
    "app_errorhandler",
    "context_processor",
    "template_filter",
    "filter",
    "simple_tag",
    "inclusion_tag",
    "callback",
    "overload",
    "singledispatch",
    "Bean",
    "GetMapping",
    "PostMapping",
    "RequestMapping",
    "PutMapping",
    "DeleteMapping",
    "Scheduled",
    "EventListener",
    "PostConstruct",
    "PreDestroy",
    "Override",
    "no_mangle",
    "wasm_bindgen",
    "HttpGet",
    "HttpPost",
    "Get",
    "Post",
    "Put",
    "Delete",
    "Injectable",
    "Input",
    "Output",
    "HostListener",
    "objc",
    "IBAction",
    "JvmStatic",
    "proc_macro",
    "panic_handler",
];

fn is_exported(facts: &Facts, path: &str, id: DefId, def: &Def) -> bool {
    let class = facts.def(def.parent);
    let outer = if class.kind.has_members() { class.name } else { def.name };
    let listed = facts.exports.as_ref().is_some_and(|all| all.contains(&outer));
    match facts.language {
        Language::Python => {
            let public = !facts.text(def.name).starts_with('_');
            let of_package = path.ends_with("__init__.py") && public;
            // What a class keeps to itself is not given to others with it.
            (listed && (public || outer == def.name))
                || (of_package && (def.parent == DefId::FILE || class.parent == DefId::FILE))
                || is_special(facts, id)
        }
        Language::Ruby | Language::Lua | Language::Luau | Language::Php => {
            class.kind == DefKind::Class && def.flags.has(Flags::EXPORTED)
        }
        _ => {
            def.flags.has(Flags::EXPORTED)
                || (class.kind == DefKind::Class
                    && class.flags.has(Flags::EXPORTED)
                    && is_script(facts.language))
        }
    }
}

/// `_missing_` and the like, which the language's library calls.
fn is_special(facts: &Facts, id: DefId) -> bool {
    let name = facts.text(facts.def(id).name);
    name.starts_with('_') && name.ends_with('_') && name.len() > 2
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript)
}

fn may_override(snapshot: &Snapshot, place: Place) -> bool {
    let facts = snapshot.files.facts(place.file);
    let def = facts.def(place.def);
    let parent = facts.def(def.parent);
    let private = facts.text(def.signature).split_whitespace().any(|word| word == "private");
    if private || !parent.kind.has_members() || parent.bases.is_empty() {
        return false;
    }
    let class = Place { file: place.file, def: def.parent };
    resolve::may_override(&snapshot.files, class, facts.text(def.name))
}

/// Whether a file holds tests, by its name or by the folder it is in.
pub(crate) fn is_test_file(path: &str, language: Language) -> bool {
    let tests = &language.table().tests;
    let (folder, file) = crate::project::split(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let folders = folder.split('/').any(|part| {
        matches!(part, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing" | "testdata")
    });
    folders
        || tests.file_starts.iter().any(|start| stem.starts_with(start))
        || tests.file_ends.iter().any(|end| stem.ends_with(end))
}

/// Whether a function is a test by itself.
pub(crate) fn is_test(facts: &Facts, path: &str, id: DefId) -> bool {
    let def = facts.def(id);
    let tests = &facts.language.table().tests;
    let name = facts.text(def.name);
    let marked = def.decorator_texts.iter().any(|mark| tests.marks.contains(&facts.text(*mark)));
    marked
        || (is_test_file(path, facts.language)
            && tests.function_starts.iter().any(|start| name.starts_with(start)))
}

impl Answer for Dead {
    fn count(&self) -> usize {
        self.dead.len() + self.possibly_dead.len()
    }

    fn weight(&self, item: usize) -> usize {
        budget::size(self.dead.get(item).unwrap_or_else(|| &self.possibly_dead[item - self.dead.len()]))
    }

    fn envelope(&mut self) -> usize {
        let lists = (std::mem::take(&mut self.dead), std::mem::take(&mut self.possibly_dead));
        let size = budget::size(self);
        (self.dead, self.possibly_dead) = lists;
        size
    }

    fn keep(&mut self, from: usize, count: usize, cut: Cut) {
        let sure = self.dead.len();
        let end = from + count;
        self.possibly_dead.truncate(end.saturating_sub(sure));
        self.possibly_dead.drain(..from.saturating_sub(sure).min(self.possibly_dead.len()));
        self.dead.truncate(end);
        self.dead.drain(..from.min(self.dead.len()));
        self.cut = cut;
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (title, list) in [("Dead", &self.dead), ("Possibly dead", &self.possibly_dead)] {
            out.push_str(&format!("{title}: {}\n", list.len()));
            for one in list {
                out.push_str(&format!("  {}:{} {} ({})\n", one.file, one.line, one.name, one.evidence));
            }
        }
        out.push_str(&format!("of {}\n", counted(self.total_functions, "function")));
        out + &budget::tail(&self.cut)
    }
}
