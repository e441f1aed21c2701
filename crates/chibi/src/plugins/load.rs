//! From a folder to plugins: found, asked if they changed, and freed of what is there twice.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::process::{Cancel, Ended, Keep, Outcome};
use kit::text;
use serde_json::Value;

use crate::hooks::Role;
use crate::{together, tools};

use super::cache::{Cache, Said};
use super::find::{self, Executable, Found};
use super::report::{Entry, Fault, Report};
use super::schema::{self, Declared};
use super::{Ground, Kept, Plugin, run};

/// The most that `--schema` may print, both streams together.
const SCHEMA: usize = 1 << 20;

/// A plugin that was looked at closely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub entry: Entry,
    /// What was run, if anything was.
    pub path: Option<PathBuf>,
    /// How long it took to say what it brings.
    pub elapsed: Duration,
    /// What it wrote to its error stream meanwhile.
    pub said: String,
}

/// Asks one plugin anew, whatever is known of it; none if there is no such file. Takes up to twice
/// [`super::Limits::schema`] if another plugin has changed, too.
pub fn check(ground: &Ground, name: &str) -> Option<Checked> {
    let found = find::find_one(&ground.folder(), name)?;
    let asked = found.what.ok().map(|executable| {
        let asked = ask(ground, name, &executable);
        let mut cache = Cache::open(&cache_path(ground));
        // What is wrong with it is told below.
        let _ = learn(&mut cache, &executable, asked.schema);
        cache.save(&cache_path(ground));
        (executable.path, asked.elapsed, asked.said)
    });
    // Whether all of it can be used depends on the others.
    let entry = load(ground).1.entries.into_iter().find(|entry| entry.name == name)?;
    let (path, elapsed, said) = match asked {
        Some((path, elapsed, said)) => (Some(path), elapsed, said),
        None => (None, Duration::ZERO, String::new()),
    };
    Some(Checked { entry, path, elapsed, said })
}

pub(super) fn load(ground: &Ground) -> (Vec<Plugin>, Report) {
    let folder = ground.folder();
    let found = match find::find(&folder) {
        Ok(found) => found,
        Err(error) => {
            let trouble = format!("the plugins in `{}` cannot be listed: {error}", folder.display());
            return (Vec::new(), Report { entries: Vec::new(), trouble: Some(trouble) });
        }
    };
    let old = Cache::open(&cache_path(ground));
    let mut cache = old.clone();
    let schemas = schemas(ground, &found, &mut cache);
    let executables = found.iter().filter_map(|found| found.what.as_ref().ok());
    let paths: Vec<&Path> = executables.map(|executable| executable.path.as_path()).collect();
    cache.forget_all_but(&paths);
    if cache != old {
        cache.save(&cache_path(ground));
    }
    settle(ground, found, schemas)
}

/// What each of the found ones says it brings, in their order; asked are those that changed.
fn schemas(ground: &Ground, found: &[Found], cache: &mut Cache) -> Vec<Result<Schema, Fault>> {
    let known = |found: &Found| {
        let kept = ground.setting(&found.name).is_none_or(|setting| setting.schema == Kept::UntilItChanges);
        found.what.as_ref().ok().filter(|_| kept).and_then(|executable| cache.fresh(executable))
    };
    let known: Vec<Option<Said>> = found.iter().map(known).collect();
    let unknown: Vec<&Found> =
        found.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(found, _)| found).collect();
    let ask =
        |found: &&Found| found.what.as_ref().ok().map(|executable| ask(ground, &found.name, executable));
    let mut asked = together::each(&unknown, ask).into_iter().flatten();
    let mut schema = |(found, known): (&Found, Option<Said>)| {
        let executable = found.what.as_ref().map_err(Clone::clone)?;
        let said = match known {
            Some(said) => said.schema(),
            None => asked.next().expect("each unknown one was asked").schema,
        };
        learn(cache, executable, said)
    };
    found.iter().zip(known).map(&mut schema).collect()
}

enum Schema {
    Current(Declared),
    /// Of a guard that can no longer say what it brings: to go without it would open what it guards.
    Old(Declared, Fault),
}

/// Makes sense of what a plugin said, and keeps it if there is sense in it.
fn learn(cache: &mut Cache, executable: &Executable, said: Result<Value, Fault>) -> Result<Schema, Fault> {
    let read = said.and_then(|schema| match schema::read(&schema) {
        Ok(declared) => Ok((schema, declared)),
        Err(what) => Err(Fault::Schema(what)),
    });
    match read {
        Ok((schema, declared)) => {
            cache.keep(executable, Said::Schema(schema));
            Ok(Schema::Current(declared))
        }
        Err(fault) => match old_guard(cache, executable) {
            Some(declared) => Ok(Schema::Old(declared, fault)),
            None => {
                Said::of(&fault).into_iter().for_each(|said| cache.keep(executable, said));
                Err(fault)
            }
        },
    }
}

fn old_guard(cache: &Cache, executable: &Executable) -> Option<Declared> {
    let declared = schema::read(cache.old(executable)?).ok()?;
    (declared.role == Role::Guard).then_some(declared)
}

/// Who keeps which tool. The first one does; our own are ours.
fn settle(ground: &Ground, found: Vec<Found>, schemas: Vec<Result<Schema, Fault>>) -> (Vec<Plugin>, Report) {
    let (mut plugins, mut entries) = (Vec::<Plugin>::new(), Vec::new());
    for (Found { name, what }, schema) in found.into_iter().zip(schemas) {
        let (executable, schema) = match (what, schema) {
            (Ok(executable), Ok(schema)) => (executable, schema),
            (Err(fault), _) | (_, Err(fault)) => {
                entries.push(Entry::skipped(&name, fault));
                continue;
            }
        };
        let (mut declared, note) = match schema {
            Schema::Current(declared) => (declared, None),
            Schema::Old(declared, fault) => {
                (declared, Some(format!("{}; it is a guard, so it counts as it was before", fault.cause())))
            }
        };
        declared.notes.extend(note);
        declared.tools.retain(|tool| {
            let taken = taken(&plugins, &tool.name);
            declared.notes.extend(taken.clone());
            taken.is_none()
        });
        let Declared { tools, hooks, role, protocol, notes } = declared;
        let protocol = ground.setting(&name).and_then(|setting| setting.protocol).unwrap_or(protocol);
        let plugin = Plugin { name, path: executable.path, tools, hooks, role, protocol };
        entries.push(Entry::loaded(&plugin, notes));
        plugins.push(plugin);
    }
    (plugins, Report { entries, trouble: None })
}

/// Whose a tool is already.
fn taken(plugins: &[Plugin], tool: &str) -> Option<String> {
    if tools::is_built_in(tool) {
        return Some(format!("`{tool}` is a tool of our own"));
    }
    let first = plugins.iter().find(|plugin| plugin.tools.iter().any(|own| own.name == tool))?;
    Some(format!("`{tool}` is a tool of `{}`", first.name))
}

/// What came of asking.
struct Asked {
    schema: Result<Value, Fault>,
    elapsed: Duration,
    said: String,
}

fn ask(ground: &Ground, name: &str, executable: &Executable) -> Asked {
    let (cancel, mut printed) = (Cancel::default(), 0);
    let job = run::job(ground, name, &executable.path)
        .arg("--schema")
        .deadline(ground.limits.schema)
        .keep(Keep { head: SCHEMA, tail: 0, spill: None })
        .cancel(&cancel);
    let ran = job.run_watched(&mut |bytes| {
        printed += bytes.len();
        if printed > SCHEMA {
            cancel.cancel();
        }
    });
    match ran {
        Ok(outcome) if printed > SCHEMA => answered(&outcome, Err(Fault::Flooded(SCHEMA))),
        Ok(outcome) => answered(&outcome, read(&outcome, ground.limits.schema)),
        Err(error) => {
            let schema = Err(Fault::Failed(format!("could not be started: {error}")));
            Asked { schema, elapsed: Duration::ZERO, said: String::new() }
        }
    }
}

fn answered(outcome: &Outcome, schema: Result<Value, Fault>) -> Asked {
    Asked { schema, elapsed: outcome.elapsed, said: outcome.stderr.text() }
}

fn read(outcome: &Outcome, patience: Duration) -> Result<Value, Fault> {
    if outcome.ended == Ended::DeadlinePassed {
        return Err(Fault::Hung(patience));
    }
    if let Some(trouble) = run::trouble(outcome) {
        let complaint = outcome.stderr.text();
        let why = complaint.lines().rev().find(|line| !line.trim().is_empty());
        let why = why.map(|line| format!(": {}", text::head(&text::plain(line), 200))).unwrap_or_default();
        return Err(Fault::Failed(format!("{trouble}{why}")));
    }
    match outcome.stdout.text().trim() {
        "" => Err(Fault::Schema("it is empty".to_owned())),
        printed => {
            serde_json::from_str(printed).map_err(|error| Fault::Schema(format!("it is no JSON: {error}")))
        }
    }
}

fn cache_path(ground: &Ground) -> PathBuf {
    ground.cache().join("plugins.json")
}
