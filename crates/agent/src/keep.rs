//! Conversations on disk: contexts of chibi whose names begin with `agent-`, so that chibi can list, search and compact
//! them too. A conversation in which nothing was said is not kept. Nothing is written into a project.

mod begun;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chibi::context::{ChibiHome, Context, ContextError, ContextName, Entry, Ids, Reader, Wait};
use conversation::{ExchangeId, History, Loaded, Record};
use kit::calendar::Moment;
use kit::invocation::{Clock, Environment};
use kit::{Exit, Failure, Places};

use begun::{Begun, PROJECT};
use writer::{Order, Patience, Writer};

pub(crate) type NotKept = ContextError;

const PREFIX: &str = "agent-";

/// A process that was killed while it started a command leaves a child that lets go of the lock when it becomes the
/// command: a moment later, or more on a busy machine.
const HANDOVER: Duration = Duration::from_secs(3);

/// One conversation. Made when there is something to keep. A clone is the same one, for whoever works on its behalf.
#[derive(Clone)]
pub(crate) struct Keep {
    home: ChibiHome,
    name: ContextName,
    notes: PathBuf,
    pen: Arc<Mutex<Pen>>,
}

struct Pen {
    model: String,
    hand: Hand,
}

/// Who writes.
enum Hand {
    /// Nobody yet.
    Unmade(Box<Begun>),
    /// A thread, which makes the context first.
    Behind(Writer),
    /// We ourselves.
    Direct(Box<Context>),
}

/// A conversation that can be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) project: String,
    /// When something was said last, in milliseconds since 1970.
    pub(crate) last_ms: i64,
}

/// Which conversation is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which<'a> {
    New,
    /// The last one of the project.
    Last,
    Named(&'a str),
}

/// chibi's home.
pub(crate) fn home(env: &Environment, places: &Places, clock: &Clock) -> ChibiHome {
    let named = env.get("CHIBI_HOME").filter(|root| !root.is_empty());
    let root = named.map_or_else(|| places.home.join(".chibi"), PathBuf::from);
    ChibiHome::new(root, clock.clone(), Ids::random()).used_by("agent")
}

/// The agent's conversations, the latest first.
pub(crate) fn list(home: &ChibiHome) -> Result<Vec<Listed>, Failure> {
    let failed = |error: ContextError| failure("cannot list the conversations", &error);
    let mut listed = Vec::new();
    for context in home.list().map_err(failed)? {
        if !context.name.as_str().starts_with(PREFIX) {
            continue;
        }
        let reader = Reader::open(home, &context.name).map_err(failed)?;
        let last = reader.latest().next().and_then(Result::ok).map_or(0, |entry| entry.timestamp);
        let project = project(&reader).map_err(failed)?;
        listed.push(Listed {
            name: context.name.to_string(),
            project: project.unwrap_or_default(),
            last_ms: i64::try_from(last).unwrap_or(0).saturating_mul(1000),
        });
    }
    listed.sort_by(|left, right| (right.last_ms, &right.name).cmp(&(left.last_ms, &left.name)));
    Ok(listed)
}

/// Where a conversation takes place, if that was noted.
pub(crate) fn project(reader: &Reader) -> Result<Option<String>, ContextError> {
    Ok(reader.meta()?.and_then(|meta| meta.other.get(PROJECT)?.as_str().map(str::to_owned)))
}

/// A conversation that is there. In `notes` stands what was begun.
pub(crate) fn find(
    home: &ChibiHome,
    notes: &Path,
    which: &Which<'_>,
    project: &Path,
) -> Result<ContextName, Failure> {
    match which {
        Which::New => Ok(fresh_name(home, project)),
        Which::Last => {
            begun::adopt(notes, home);
            last(home, project)
        }
        Which::Named(name) => known(home, name),
    }
}

impl Keep {
    /// Finds the conversation, or begins one with `opening`. Gives its history, and what had to be mended. In `notes`
    /// stands what was begun and is not yet there.
    pub(crate) fn open(
        home: &ChibiHome,
        notes: &Path,
        which: &Which<'_>,
        project: &Path,
        model: &str,
        opening: &str,
    ) -> Result<(Keep, Loaded), Failure> {
        let keep = |name: ContextName, hand: Hand| Keep {
            home: home.clone(),
            name,
            notes: notes.to_owned(),
            pen: Arc::new(Mutex::new(Pen { model: model.to_owned(), hand })),
        };
        let name = find(home, notes, which, project)?;
        if *which == Which::New {
            let loaded = Loaded { history: History::new(opening), repairs: Vec::new(), cuts: Vec::new() };
            let begun = Begun::new(&name, project, opening);
            return Ok((keep(name, Hand::Unmade(Box::new(begun))), loaded));
        }
        let context = Context::open(home, &name, Wait::Until(HANDOVER))
            .map_err(|error| failure("cannot go on with the conversation", &error))?;
        let loaded = context.history();
        Ok((keep(name, Hand::Direct(Box::new(context))), loaded))
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    pub(crate) fn home(&self) -> &ChibiHome {
        &self.home
    }

    /// Where hooks may read what was said.
    pub(crate) fn transcript(&self) -> PathBuf {
        self.home.context(&self.name)
    }

    pub(crate) fn fresh_id(&self) -> ExchangeId {
        ExchangeId(self.home.fresh_id().0)
    }

    pub(crate) fn set_model(&self, model: &str) {
        model.clone_into(&mut self.pen().model);
    }

    /// Keeps a record. Only the first prompt of a conversation may still be on its way when this returns; what failed
    /// then is told by the next.
    pub(crate) fn append(&self, record: &Record) -> Result<(), NotKept> {
        let mut pen = self.pen();
        let order = Order::Record { record: record.clone(), model: pen.model.clone() };
        self.write(&mut pen, order)
    }

    /// Keeps what is for whoever reads the transcript, and for no model.
    pub(crate) fn note(&self, entries: Vec<Entry>) -> Result<(), NotKept> {
        self.write(&mut self.pen(), Order::Aside(entries))
    }

    fn write(&self, pen: &mut Pen, order: Order) -> Result<(), NotKept> {
        match &mut pen.hand {
            Hand::Direct(context) => order.carry_out(context),
            Hand::Behind(writer) => writer.write(order, Patience::Wait),
            Hand::Unmade(begun) => {
                let mut begun = begun.clone();
                let patience = match begun.note(&self.notes, &order) {
                    true => Patience::Later,
                    false => Patience::Wait,
                };
                let home = self.home.clone();
                let mut writer = Writer::start(move || begun.make(&home), &self.notes, &self.name)?;
                let written = writer.write(order, patience);
                pen.hand = Hand::Behind(writer);
                written
            }
        }
    }

    fn pen(&self) -> MutexGuard<'_, Pen> {
        // Whoever panicked while it wrote left whole lines.
        self.pen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the user is told.
pub(crate) fn failure(what: &str, error: &ContextError) -> Failure {
    let failure = Failure::new(what).because(error);
    match error {
        ContextError::Locked { .. } => {
            failure.exit_with(Exit::Locked).hint("without `--continue` a new one begins")
        }
        ContextError::Missing(_) => failure.hint("`agent contexts` lists them"),
        error => match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        },
    }
}

fn last(home: &ChibiHome, project: &Path) -> Result<ContextName, Failure> {
    let here = project.display().to_string();
    let found = list(home)?.into_iter().find(|listed| listed.project == here);
    let none = || {
        Failure::new("there is no conversation of this directory to go on with")
            .hint("`agent contexts` lists all of them")
    };
    let found = found.ok_or_else(none)?;
    ContextName::new(&found.name).map_err(|error| Failure::new("cannot go on").because(&error))
}

fn known(home: &ChibiHome, name: &str) -> Result<ContextName, Failure> {
    let context = ContextName::new(name).map_err(|error| Failure::usage("cannot go on").because(&error))?;
    if home.exists(&context) {
        return Ok(context);
    }
    let names: Vec<String> = list(home)?.into_iter().map(|listed| listed.name).collect();
    let near = kit::text::nearest(name, names.iter().map(String::as_str));
    let hint =
        near.map_or("`agent contexts` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
    Err(Failure::new(format!("there is no conversation `{context}`")).hint(hint))
}

/// `agent-PROJECT-20261115-135800`, with a number behind it if that is taken.
fn fresh_name(home: &ChibiHome, project: &Path) -> ContextName {
    let folder = project.file_name().unwrap_or_default().to_string_lossy();
    let folder: String = folder.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(24).collect();
    let base = format!("{PREFIX}{folder}-{}", stamp(home.now()));
    let mut names = (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}-{number}") });
    let name = names.find_map(|name| ContextName::new(&name).ok().filter(|name| !home.exists(name)));
    name.expect("the names are plain, and there is no end of them")
}

/// The time in UTC, as `YYYYMMDD-HHMMSS`.
fn stamp(seconds: u64) -> String {
    let Moment { year, month, day, hour, minute, second } = Moment::at(seconds as i64);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_as_a_calendar_has_it() {
        assert_eq!(stamp(0), "19700101-000000");
        assert_eq!(stamp(1_794_739_059), "20261115-103739");
    }
}
