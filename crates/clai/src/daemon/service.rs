//! What the daemon knows and does, whoever asks and in whichever dialect. Knows the model, the rules and the queue;
//! never a stream, never SQL.
//!
//! *Locks:* at most one of them is held at a time, but for the engine's, under which a record is pushed: so the order
//! in the journal is the order in which the model learned.

mod manage;
mod next;
mod recent;
mod suggest;

use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use kit::Failure;
use kit::invocation::{Clock, Environment};
use serde::Serialize;
use serde_json::Value;
use wire::clai::{Event, Refusal};

use super::ingest::{self, Kept, Memory, NotKept, Rules};
use super::journal::Journal;
use super::projects::Projects;
use super::request::{Done, Request, Status};
use crate::command::Place;
use crate::config::{Config, Loaded};
use crate::database::{Database, DatabaseError, Reader, Reason};
use crate::rank::{Engine, Weights};
use crate::repo::{self, Repo, Resolver, Since};
use manage::{NOT_PAUSED, PAUSED_UNTIL};

/// How long an event may wait for room in the queue before it is given up. The writer may be folding the log of a burst:
/// on two processors with fifteen others at work that took more than five seconds, and of 900,000 events two were lost.
const ROOM_PATIENCE: Duration = Duration::from_secs(30);

pub(super) struct Service {
    pub(super) journal: Arc<Journal>,
    config: RwLock<Config>,
    engine: Mutex<Engine>,
    resolver: Mutex<Resolver>,
    projects: Mutex<Projects>,
    paused_until: AtomicI64,
    /// The latest time that any command bore.
    latest_ms: AtomicI64,
    sessions: AtomicU64,
    pub(super) connections: AtomicUsize,
    pub(super) world: World,
    started: Instant,
}

/// What the daemon may know of its surroundings.
pub(super) struct World {
    pub(super) clock: Clock,
    pub(super) env: Environment,
    pub(super) home: PathBuf,
    pub(super) database_dir: PathBuf,
    /// Where shells leave files to be answered in.
    pub(super) runtime: PathBuf,
    pub(super) reload: Box<dyn Fn() -> Result<Loaded, Failure> + Send + Sync>,
    pub(super) stop: Box<dyn Fn() + Send + Sync>,
}

/// What a question was answered with.
pub(super) enum Reply {
    /// Nobody waits for one.
    None,
    Json(Value),
    /// The last one: when it is said, the daemon is to [`Service::stop`].
    Farewell(Value),
}

impl Service {
    /// Learns what the database holds.
    pub(super) fn start(
        database: &Database,
        journal: Arc<Journal>,
        config: Config,
        world: World,
    ) -> Result<Service, DatabaseError> {
        next::sweep(&world.runtime);
        let paused = database.state(PAUSED_UNTIL)?.unwrap_or(NOT_PAUSED);
        let (engine, latest) = learn(database, &config, kept_weights(database)?)?;
        Ok(Service {
            journal,
            config: RwLock::new(config),
            engine: Mutex::new(engine),
            resolver: Mutex::default(),
            projects: Mutex::default(),
            paused_until: AtomicI64::new(paused),
            latest_ms: AtomicI64::new(latest),
            sessions: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            world,
            started: Instant::now(),
        })
    }

    pub(super) fn answer(self: &Arc<Self>, request: Request) -> Reply {
        let answered = match request {
            Request::CommandEnd(event) => {
                self.ingest(event);
                return Reply::None;
            }
            Request::SessionStart(start) => to_json(&self.start_session(start)),
            Request::Suggest(ask) => to_json(&self.suggest(&ask)),
            Request::Recent(ask) => self.recent(&ask),
            Request::Health => to_json(&self.status()),
            Request::Why(ask) => to_json(&self.why(&ask)),
            Request::WhyNot => self.why_not(),
            Request::Forget(forget) => self.forget(&forget),
            Request::Pause { for_ms } => self.pause(for_ms),
            Request::Resume => self.set_pause(NOT_PAUSED),
            Request::Reload => self.reload(),
            Request::RebuildAggregates => {
                self.ordered(|database| database.rebuild_aggregates().map(|()| DONE))
            }
            // Orders come after all that was said before.
            Request::Flush => self.ordered(|_| Ok(DONE)),
            Request::Feedback { line, action } => self.feedback(line, action),
            Request::Tasks { cwd } => to_json(&self.tasks(&cwd)),
            Request::Import { shell, commands } => self.import(shell, commands),
            Request::Relearn => self.relearn(),
            Request::Stop => return Reply::Farewell(to_json(&DONE)),
        };
        Reply::Json(answered)
    }

    /// Takes an event. Nobody is told what became of it, except by [`Service::why_not`].
    pub(super) fn ingest(self: &Arc<Self>, event: Event) {
        let now = self.world.clock.unix_ms();
        if self.paused(now).is_some() {
            return self.journal.leave_out(Reason::Paused, "", now);
        }
        let config = self.config();
        let rules = self.rules(&config, now);
        let screened = match ingest::screen(&event, &rules) {
            Ok(screened) => screened,
            Err(NotKept::LeftOut(reason, detail)) => return self.journal.leave_out(reason, &detail, now),
            Err(_) => return,
        };
        let since = if repo::touches_git(screened.line()) { Since::GitCommand } else { Since::Nothing };
        let place = self.place_of(&event, since, now);
        let (session, cwd, ts) = (event.session_id.clone(), event.cwd.clone(), event.ts);
        let kept = ingest::keep(event, screened, place, &rules);
        drop(config);
        self.remember(kept, now);
        self.leave_next(session, cwd, ts);
    }

    /// An event that could not be read, or that was too long.
    pub(super) fn refuse(&self, reason: Reason, detail: &str) {
        self.journal.leave_out(reason, detail, self.world.clock.unix_ms());
    }

    pub(super) fn status(&self) -> Status {
        let counters = self.journal.counters();
        Status {
            status: if counters.trouble.is_some() { "degraded" } else { "ok" }.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: process::id(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            learned: self.engine().model().commands(),
            written: counters.written,
            queued: counters.queued,
            dropped: counters.dropped,
            connections: self.connections.load(Ordering::Relaxed),
            paused_until: self.paused(self.world.clock.unix_ms()),
            trouble: counters.trouble,
        }
    }

    pub(super) fn stop(&self) {
        (self.world.stop)();
    }

    /// A reader of the tables, for who wants to see them as they are, everything counted.
    pub(super) fn reader(&self) -> Result<Option<Reader>, DatabaseError> {
        self.journal.order(Database::count).transpose()?;
        Reader::open(&self.world.database_dir, self.world.clock.unix_ms())
    }

    pub(super) fn is_debug(&self) -> bool {
        self.config().debug
    }

    fn remember(&self, kept: Kept, now: i64) {
        for kind in &kept.redacted {
            self.journal.leave_out(Reason::SecretRedacted, kind, now);
        }
        let Kept { record, memory, .. } = kept;
        if memory != Memory::ModelOnly && !self.journal.wait_for_room(ROOM_PATIENCE) {
            self.journal.count_drop();
            return self.journal.leave_out(Reason::Overflow, "", now);
        }
        self.latest_ms.fetch_max(record.ran.ts, Ordering::Relaxed);
        let mut engine = self.engine();
        match memory {
            Memory::Both if ingest::is_worth_learning(&record.ran) => engine.learn(&record.ran),
            // Weights are kept, and of this nothing may be.
            Memory::ModelOnly if ingest::is_worth_learning(&record.ran) => engine.take_in(&record.ran),
            _ => {}
        }
        if memory != Memory::ModelOnly {
            self.journal.push(record);
        }
    }

    /// What was learned about weighing from all that was pushed so far, and perhaps a little more.
    pub(super) fn weights(&self) -> Option<Weights> {
        self.engine().learned_weights().cloned()
    }

    fn rules<'a>(&'a self, config: &'a Config, now_ms: i64) -> Rules<'a> {
        Rules { config, home: &self.world.home, now_ms, latest_ms: self.latest_ms.load(Ordering::Relaxed) }
    }

    /// Where an event happened: as it says itself, else as the files say.
    fn place_of(&self, event: &Event, since: Since, now: i64) -> Place {
        if let Some(root) = &event.repo_root {
            let root = Path::new(root).canonicalize().unwrap_or_else(|_| root.into());
            let key = repo::key(&root, event.remote_url.as_deref());
            return Place { cwd: event.cwd.clone(), repo: Some(key), branch: event.branch.clone() };
        }
        let repo = self.repo(&event.cwd, since, now);
        let branch = event.branch.clone().or_else(|| repo.as_ref()?.branch().map(str::to_owned));
        Place { cwd: event.cwd.clone(), repo: repo.map(|repo| repo.key), branch }
    }

    fn repo(&self, cwd: &str, since: Since, now: i64) -> Option<Repo> {
        lock(&self.resolver).resolve(Path::new(cwd), since, now)
    }

    pub(super) fn config(&self) -> RwLockReadGuard<'_, Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.engine)
    }
}

const DONE: Done = Done { done: true };

/// How the weights of the blend are called in the table of what was learned.
const WEIGHTS: &str = "blend";

pub(super) fn keep_weights(database: &Database, weights: &Weights) -> Result<(), DatabaseError> {
    database.keep_learned(WEIGHTS, &weights.to_bytes())
}

/// `None` also for those of another version, whose signals were others.
fn kept_weights(database: &Database) -> Result<Option<Weights>, DatabaseError> {
    Ok(database.learned(WEIGHTS)?.and_then(|bytes| Weights::from_bytes(&bytes)))
}

/// An engine that knows what the database holds, and the latest time in it. Weights that have seen it all are taken as
/// they are: to learn them anew takes longer than all the rest.
fn learn(
    database: &Database,
    config: &Config,
    weights: Option<Weights>,
) -> Result<(Engine, i64), DatabaseError> {
    let take_in = if weights.is_some() { Engine::take_in } else { Engine::learn };
    let mut engine = Engine::with_weights(config.scorer, weights.unwrap_or_default());
    let mut latest = i64::MIN;
    let mut dismissed = database.dismissed()?.into_iter().peekable();
    database.replay(|ran| {
        latest = latest.max(ran.ts);
        while let Some((_, line)) = dismissed.next_if(|(ts, _)| *ts < ran.ts) {
            engine.dismiss(&line);
        }
        if ingest::is_worth_learning(ran) {
            take_in(&mut engine, ran);
        }
    })?;
    dismissed.for_each(|(_, line)| engine.dismiss(&line));
    Ok((engine, latest))
}

fn to_json(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("our answers have text for keys")
}

/// The answer to what cannot be served.
pub(super) fn refusal(error: &str, hint: Option<String>) -> Value {
    to_json(&Refusal { error: error.to_owned(), hint })
}

/// Whoever panicked with a lock left a model that is whole: it is changed by one command at a time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
