//! What the daemon does with a line: reads the request, has it answered, counts it. Knows no socket.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kit::invocation::{Clock, Environment};
use kit::log::Log;
use kit::{Failure, Places, text};
use wire::tldr::{
    DaemonCommand, DaemonResponse, DaemonStatus, FullStatus, Notified, Request, SessionId, SimpleStatus,
    Tracked,
};

use super::serve::Answering;
use super::statistics::{Statistics, Tokens};
use crate::cache;
use crate::engine::{Answered, Engine};
use crate::index::Lifetime;
use crate::line::Line;
use crate::model;
use crate::root::Root;
use crate::settings::Settings;
use crate::usage::{self, Increment};

/// How often the daemon looks whether it is still needed.
const LOOK: Duration = Duration::from_millis(500);

pub(super) struct Service {
    root: Root,
    places: Places,
    settings: Settings,
    clock: Clock,
    log: Log,
    engine: Arc<Engine>,
    began: Instant,
    asked: Mutex<Instant>,
    statistics: Mutex<Statistics>,
    dirty: Mutex<Dirty>,
    /// How many threads look at everything just now.
    indexing: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
}

/// Files that we were told about since the last look at everything.
#[derive(Debug, Default)]
struct Dirty {
    files: BTreeSet<String>,
}

impl Service {
    pub(super) fn new(
        root: Root,
        places: Places,
        settings: Settings,
        env: Environment,
        clock: Clock,
        stopping: Arc<AtomicBool>,
    ) -> Service {
        let log = Log::of("tldr", &places);
        let model = model::chosen(&places, &settings.semantic_model);
        for warning in &settings.warnings {
            let _ = log.record(clock.unix_ms(), "settings", &[("warning", warning)]);
        }
        Service {
            engine: Arc::new(Engine::open(root.clone(), &settings, env, Lifetime::Long).with_model(model)),
            root,
            places,
            settings,
            clock,
            log,
            began: Instant::now(),
            asked: Mutex::new(Instant::now()),
            statistics: Mutex::default(),
            dirty: Mutex::default(),
            indexing: Arc::new(AtomicUsize::new(1)),
            stopping,
        }
    }

    /// Indexes what there is, and from then on looks now and then whether anybody still needs us.
    pub(super) fn work_in_background(self: &Arc<Service>) {
        let service = Arc::clone(self);
        // Without it the first question does the work.
        let _ = thread::Builder::new().name("index".to_owned()).spawn(move || {
            let before = service.engine.recall();
            if service.engine.refresh() != before {
                // Whatever ends us, the next one need not begin from nothing.
                service.noted(service.engine.persist());
            }
            service.indexing.fetch_sub(1, Ordering::SeqCst);
            if service.engine.embedded().is_some() {
                service.embed_in_background();
            }
            while !service.stopping.load(Ordering::SeqCst) {
                if service.is_alone() {
                    service.stopping.store(true, Ordering::SeqCst);
                }
                pause(LOOK.min(service.settings.idle_timeout));
                // Not before: whoever started us has a question, and most need nothing of it.
                service.engine.wake();
            }
        });
    }

    /// Learns what functions are about, as far as files are known, and what changes later. On one thread: half of a small
    /// machine is left to whoever asks.
    fn embed_in_background(self: &Arc<Service>) {
        let service = Arc::clone(self);
        let _ = thread::Builder::new().name("embed".to_owned()).spawn(move || {
            while !service.stopping.load(Ordering::SeqCst) {
                if let Err(failure) = service.engine.embed(&service.stopping) {
                    return service.noted(Err(failure));
                }
                pause(LOOK);
            }
        });
    }

    /// Nobody asks any more, or there is nothing left to ask about.
    fn is_alone(&self) -> bool {
        lock(&self.asked).elapsed() >= self.settings.idle_timeout || !self.root.path().is_dir()
    }

    /// Writes down what was counted and learned, as far as there is room and leave to: answers did not need it. A project
    /// that is gone keeps nothing, nor one that is just being looked at for the first time: nobody wants to wait for that.
    pub(super) fn end(&self) {
        let increments = lock(&self.statistics).flush(self.clock.unix_ms());
        self.write_down(increments);
        if self.root.path().is_dir() {
            self.noted(cache::write_statistics(&self.root, &self.engine.summary().memo));
            if self.indexing.load(Ordering::SeqCst) == 0 {
                self.noted(self.engine.persist());
            }
        }
    }

    fn respond(self: &Service, request: &Request) -> Answered {
        let said = |response: DaemonResponse| Answered::of(&response);
        match &request.command {
            DaemonCommand::Ping => said(DaemonResponse::Status(SimpleStatus {
                status: "ok".to_owned(),
                message: None,
                project: Some(self.root.path().to_owned()),
            })),
            DaemonCommand::Status => said(self.status(request.session.as_ref())),
            DaemonCommand::Shutdown => {
                self.stopping.store(true, Ordering::SeqCst);
                said(DaemonResponse::status("shutting_down"))
            }
            DaemonCommand::Clear => {
                self.engine.forget();
                said(DaemonResponse::status("ok"))
            }
            DaemonCommand::Notify { file } => said(self.notify(file)),
            DaemonCommand::Track { hook, success, metrics } => {
                let now = self.clock.unix_ms();
                let (total, flushed) = lock(&self.statistics).tracked(hook, *success, metrics, now);
                let is_flushed = flushed.is_some();
                self.write_down(flushed.unwrap_or_default());
                let tracked = Tracked { hook: hook.clone(), total_invocations: total, flushed: is_flushed };
                said(DaemonResponse::Track(tracked))
            }
            _ => self.engine.answer(request),
        }
    }

    fn status(&self, session: Option<&SessionId>) -> DaemonResponse {
        let uptime = self.began.elapsed();
        let summary = self.engine.summary();
        let statistics = lock(&self.statistics);
        let status = match (self.stopping.load(Ordering::SeqCst), self.indexing.load(Ordering::SeqCst)) {
            (true, _) => DaemonStatus::ShuttingDown,
            (false, 0) => DaemonStatus::Ready,
            (false, _) => DaemonStatus::Indexing,
        };
        DaemonResponse::FullStatus(Box::new(FullStatus {
            status,
            uptime: (uptime.as_secs_f64() * 1000.0).round() / 1000.0,
            uptime_human: human(uptime),
            files: summary.files,
            project: self.root.path().to_owned(),
            salsa_stats: summary.memo,
            dedup_stats: Some(summary.dedup),
            session_stats: session.and_then(|id| statistics.session(id).cloned()),
            all_sessions: statistics.all(),
            hook_stats: statistics.hooks().clone(),
            embedded: self.engine.embedded(),
        }))
    }

    fn notify(&self, file: &Path) -> DaemonResponse {
        let threshold = self.settings.auto_reindex_threshold;
        let mut dirty = lock(&self.dirty);
        // An editor tells of every file that it saves, and some are of other projects.
        dirty.files.extend(self.engine.changed(file));
        let dirty_count = dirty.files.len();
        let reindex_triggered = dirty_count >= threshold;
        if reindex_triggered {
            dirty.files.clear();
            self.reindex();
        }
        DaemonResponse::Notify(Notified { dirty_count, threshold, reindex_triggered })
    }

    /// Looks at everything on a thread of its own; questions go on meanwhile and are right either way.
    fn reindex(&self) {
        let (engine, indexing) = (Arc::clone(&self.engine), Arc::clone(&self.indexing));
        self.indexing.fetch_add(1, Ordering::SeqCst);
        let look = move || {
            engine.reindex();
            indexing.fetch_sub(1, Ordering::SeqCst);
        };
        if thread::Builder::new().name("reindex".to_owned()).spawn(look).is_err() {
            self.indexing.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Adds to what all projects asked, and keeps how the memo table did. What cannot be written is kept for the next time.
    fn write_down(&self, increments: Vec<Increment>) {
        if increments.is_empty() {
            return;
        }
        let project = self.root.path().to_string_lossy();
        let increments: Vec<Increment> = increments
            .into_iter()
            .map(|line| Increment { project: project.clone().into_owned(), ..line })
            .collect();
        let recorded = usage::record(&self.places, &increments);
        if recorded.is_err() {
            lock(&self.statistics).put_back(increments);
        }
        self.noted(recorded);
        if self.root.path().is_dir() {
            self.noted(cache::write_statistics(&self.root, &self.engine.summary().memo));
        }
    }

    fn noted(&self, done: Result<(), Failure>) {
        if let Err(failure) = done {
            let _ = self.log.record(self.clock.unix_ms(), "not_written", &[("error", &failure.to_string())]);
        }
    }

    fn count(&self, request: &Request, raw_bytes: u64, reply_bytes: usize) {
        let is_question = !matches!(
            request.command,
            DaemonCommand::Ping
                | DaemonCommand::Status
                | DaemonCommand::Shutdown
                | DaemonCommand::Clear
                | DaemonCommand::Notify { .. }
                | DaemonCommand::Track { .. }
        );
        if is_question {
            let tokens = Tokens { raw: text::tokens(raw_bytes), ours: text::tokens(reply_bytes as u64) };
            let now = self.clock.unix_ms();
            let increments = lock(&self.statistics).asked(request.session.as_ref(), tokens, now);
            self.write_down(increments);
        }
    }
}

impl Answering for Service {
    fn answer(&self, line: &str) -> Line {
        *lock(&self.asked) = Instant::now();
        let request = match Request::parse(line) {
            Ok(request) => request,
            Err(error) => return Answered::of(&DaemonResponse::error(error.to_string())).line,
        };
        let answered = self.respond(&request);
        // With its newline.
        self.count(&request, answered.raw_bytes, answered.line.len() + 1);
        answered.line
    }
}

/// As `1h 0m 0s`.
pub(super) fn human(uptime: Duration) -> String {
    let seconds = uptime.as_secs();
    format!("{}h {}m {}s", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
fn pause(time: Duration) {
    thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use testkit::{Home, PATIENCE, until};

    use super::*;

    #[test]
    fn while_it_looks_at_everything_it_says_so_and_takes_calls() {
        let home = Home::new();
        home.write("p/lib.py", "def helper():\n    return 1\n");
        let env = Environment::of(home.environment());
        let root = Root::find(&home.path().join("p")).unwrap();
        let settings = Settings { auto_reindex_threshold: 1, ..Settings::default() };
        let stopping = Arc::new(AtomicBool::new(false));
        let service =
            Service::new(root, env.places().unwrap(), settings, env, Clock::system(), Arc::clone(&stopping));
        let service = Arc::new(service);
        let said =
            |line: &str| -> Value { serde_json::from_str(&String::from(service.answer(line))).unwrap() };
        let status = || said(r#"{"cmd":"status"}"#)["status"].clone();
        // Whoever looks, for the first time or again, waits for us; and nobody else does.
        let held = service.engine.hold();
        assert_eq!(status(), "indexing");
        service.work_in_background();
        assert_eq!((status(), said(r#"{"cmd":"ping"}"#)["status"].clone()), ("indexing".into(), "ok".into()));
        drop(held);
        assert!(until(PATIENCE, || status() == "ready"));
        let held = service.engine.hold();
        assert_eq!(said(r#"{"cmd":"notify","file":"lib.py"}"#)["reindex_triggered"], true);
        assert_eq!(status(), "indexing");
        assert_eq!(said(r#"{"cmd":"track","hook":"save"}"#)["total_invocations"], 1);
        drop(held);
        assert!(until(PATIENCE, || status() == "ready"));
        assert_eq!(said(r#"{"cmd":"shutdown"}"#)["status"], "shutting_down");
        assert_eq!(status(), "shutting_down");
    }
}
