//! What projects offer, kept ready for the ranking. The files are looked at when somebody asks; make itself is asked
//! only where the user has said so, and never while anybody waits. Knows no socket and no table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kit::invocation::Environment;
use kit::process::{Ended, find};

use crate::database::TaskRow;
use crate::normalise::normalise;
use crate::rank;
use crate::tasks::{self, Discovery, Found, Kind};

/// What a question may spend on reading a project's files. Giving up means fewer tasks in this answer.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long what was seen in the files is good for a suggestion: to look takes as long as to think of one.
const FRESH: Duration = Duration::from_secs(2);
/// What make may take to print its database.
const MAKE_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Projects {
    discovery: Discovery,
    ready: HashMap<PathBuf, Ready>,
}

#[derive(Debug, Clone)]
struct Ready {
    found: Arc<Found>,
    /// What make itself says; taken in place of what its file seems to say.
    by_make: Option<Arc<[tasks::Task]>>,
    offers: Arc<[rank::Task]>,
    looked: Instant,
}

/// How new the answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Now,
    /// At most [`FRESH`].
    Lately,
}

/// What a directory offers.
#[derive(Debug, Clone)]
pub(super) struct Offers {
    pub(super) tasks: Arc<[rank::Task]>,
    pub(super) change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// The files say something else than before.
    New,
}

impl Projects {
    pub(super) fn look(&mut self, directory: &Path, age: Age) -> Offers {
        let now = Instant::now();
        if age == Age::Lately
            && let Some(ready) = self.ready.get(directory)
            && now - ready.looked < FRESH
        {
            return Offers { tasks: Arc::clone(&ready.offers), change: Change::None };
        }
        let found = self.discovery.look(directory, now + PATIENCE);
        if let Some(ready) = self.ready.get_mut(directory)
            && Arc::ptr_eq(&ready.found, &found)
        {
            ready.looked = now;
            return Offers { tasks: Arc::clone(&ready.offers), change: Change::None };
        }
        // As many as the discovery itself remembers.
        if self.ready.len() >= 64 {
            self.ready.clear();
        }
        let ready = Ready::new(found, None, now);
        let tasks = Arc::clone(&ready.offers);
        self.ready.insert(directory.to_owned(), ready);
        Offers { tasks, change: Change::New }
    }

    /// As rows, with what was left out.
    pub(super) fn rows(&self, directory: &Path) -> (Vec<TaskRow>, Vec<String>) {
        let Some(ready) = self.ready.get(directory) else { return Default::default() };
        let rows = ready.tasks().map(|task| TaskRow {
            kind: task.kind.name().to_owned(),
            name: task.name.clone(),
            command: task.command.clone(),
            description: task.description.clone(),
        });
        (rows.collect(), ready.found.notes.iter().map(ToString::to_string).collect())
    }

    /// Takes what make said about `directory`.
    pub(super) fn put(&mut self, directory: &Path, by_make: Vec<tasks::Task>) {
        if let Some(ready) = self.ready.get_mut(directory) {
            *ready = Ready::new(Arc::clone(&ready.found), Some(by_make.into()), ready.looked);
        }
    }
}

impl Ready {
    fn new(found: Arc<Found>, by_make: Option<Arc<[tasks::Task]>>, looked: Instant) -> Ready {
        let mut ready = Ready { found, by_make, offers: Arc::new([]), looked };
        ready.offers = ready
            .tasks()
            .map(|task| rank::Task {
                command: task.command.clone(),
                template: normalise(&task.command).template,
            })
            .collect();
        ready
    }

    fn tasks(&self) -> impl Iterator<Item = &tasks::Task> {
        let guessed =
            self.found.tasks.iter().filter(|task| task.kind != Kind::Make || self.by_make.is_none());
        guessed.chain(self.by_make.iter().flat_map(|tasks| tasks.iter()))
    }
}

/// Asks make for its targets. `None` when there is no make, or it fails or takes too long.
pub(super) fn ask_make(directory: &Path, env: &Environment) -> Option<Vec<tasks::Task>> {
    let make = find("make", env)?;
    let outcome = tasks::database(&make, directory, env, MAKE_PATIENCE).run().ok()?;
    // It always says that there is no such goal; whether it came to its end is seen in what it printed.
    match outcome.ended {
        Ended::Exited(_) => tasks::from_database(&outcome.stdout.text()),
        _ => None,
    }
}
