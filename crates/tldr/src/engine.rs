//! One answer for three doors: a request in, a line of JSON out, for the files as they are at that moment. The command line,
//! the socket and MCP all end here. Questions are worked on outside of every lock, so that a slow one holds up nobody.

mod answers;
mod flows;
mod look;
mod outside;
mod search;
mod telling;
mod understand;
mod vectors;
mod workers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use code::memo::{Asked, Memo, Snapshot, Text};
use code::query::whole::Shelf;
use kit::Failure;
use kit::invocation::Environment;
use serde_json::{Map, Value};
use wire::tldr::{DaemonCommand, DaemonResponse, DedupStats, Refusal, Request, SalsaCacheStats};

use crate::cache;
use crate::index::{self, Digests, File, Files, Index, Kept, Lifetime};
use crate::line::Line;
use crate::progress::Progress;
use crate::root::Root;
use crate::settings::Settings;
use telling::{Telling, Told};
use workers::Workers;

pub struct Engine {
    root: Root,
    env: Environment,
    semantic: bool,
    index: Mutex<Index>,
    memo: Mutex<Memo>,
    /// Whether what was kept on disk was read.
    remembers: AtomicBool,
    /// Whether all files were looked at, and nobody looks at all of them again.
    has_looked: AtomicBool,
    /// What can be told without waiting for anybody who works.
    summary: Mutex<Summary>,
    /// What the memo tables of earlier processes did.
    before: Mutex<SalsaCacheStats>,
    lifetime: Lifetime,
    hits: search::Hits,
    words: search::Words,
    shelf: Shelf,
    vectors: Option<vectors::Vectors>,
    touched: Mutex<BTreeSet<String>>,
    /// Files that somebody says have changed, since the last look.
    told: Mutex<BTreeSet<String>>,
    workers: Workers,
}

/// The project in numbers, as of the last question.
#[derive(Debug, Clone, Copy, Default)]
pub struct Summary {
    pub files: usize,
    pub memo: SalsaCacheStats,
    pub dedup: DedupStats,
}

/// The state of the files that one question is answered for, from beginning to end.
pub(crate) struct View {
    pub(crate) files: Arc<Files>,
    pub(crate) snapshot: Snapshot,
    trust: Trust,
}

/// What becomes of a file that is not any more what the view says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The question is asked again.
    Strict,
    /// It is taken as it is, since it will not stand still; such an answer is not kept.
    Lenient,
}

/// Why there is no answer.
pub(crate) enum Unable {
    Refused(Box<Refusal>),
    /// A file is not any more what the view says: ask again.
    Moved,
}

impl From<Box<Refusal>> for Unable {
    fn from(refusal: Box<Refusal>) -> Unable {
        Unable::Refused(refusal)
    }
}

/// So often a question is asked again when files change under it.
const TRIES: usize = 3;

/// A line of JSON, and how many bytes the files behind it have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub line: Line,
    pub raw_bytes: u64,
}

impl Answered {
    pub(crate) fn of(response: &DaemonResponse) -> Answered {
        let line = serde_json::to_string(response).expect("answers have text for keys");
        Answered { line: line.into(), raw_bytes: 0 }
    }
}

/// An answer without its opening brace, behind the number of bytes that its files have.
fn to_keep(told: Told, raw_bytes: u64) -> Text {
    let mut pieces = told.json.into_iter();
    let first = pieces.next().expect("an answer is an object");
    let first = Arc::from(first.strip_prefix('{').expect("an answer is an object"));
    [Arc::from(raw_bytes.to_string()), first].into_iter().chain(pieces).collect()
}

impl Engine {
    pub fn open(root: Root, settings: &Settings, env: Environment, lifetime: Lifetime) -> Engine {
        let engine = Engine {
            index: Mutex::new(Index::new(root.path(), lifetime)),
            memo: Mutex::default(),
            remembers: AtomicBool::new(false),
            has_looked: AtomicBool::new(false),
            summary: Mutex::default(),
            before: Mutex::new(cache::statistics(&root).unwrap_or_default()),
            semantic: settings.semantic_enabled,
            hits: search::Hits::default(),
            words: search::Words::default(),
            shelf: Shelf::default(),
            vectors: None,
            touched: Mutex::default(),
            told: Mutex::default(),
            workers: Workers::default(),
            root,
            env,
            lifetime,
        };
        lock(&engine.summary).memo = *lock(&engine.before);
        engine
    }

    /// Begins with what an earlier process kept, and gives what tells that state from others.
    pub fn recall(&self) -> Digests {
        let (mut index, mut memo) = (lock(&self.index), lock(&self.memo));
        self.remember(&mut index, &mut memo);
        self.sum_up(&index, &memo);
        index.digests()
    }

    /// The same for who holds everything. A question about one file that nobody holds in memory does without: to read
    /// what is known of all files would take longer than to look at that one.
    fn remember(&self, index: &mut Index, memo: &mut Memo) {
        if !self.remembers.swap(true, Ordering::SeqCst) {
            let (kept, known) = index.ahead(|| {
                let kept = Kept::read(&self.root.cache().join(cache::FACTS));
                let known = kept.memo(&self.root.cache().join(cache::MEANING));
                (kept, known)
            });
            *memo = known;
            index.remember(kept);
        }
    }

    /// Brings back what an earlier process worked out, while nobody waits for it.
    pub fn wake(&self) {
        let asleep = lock(&self.memo).asleep();
        if let Some(asleep) = asleep {
            let awake = self.workers.run(|| asleep.wake());
            lock(&self.memo).rise(awake);
        }
    }

    /// Says from now on how far the reading of files has come.
    pub(crate) fn report_to(&self, progress: &Arc<Progress>) {
        lock(&self.index).report_to(Arc::clone(progress));
    }

    /// The answer for the files as they are now.
    pub fn answer(&self, request: &Request) -> Answered {
        for trust in [Trust::Strict; TRIES].into_iter().chain([Trust::Lenient]) {
            match self.told(request, trust) {
                Ok(answered) => return answered,
                Err(Unable::Refused(refusal)) => {
                    let refusal = telling::within(*refusal, request.max_tokens);
                    return Answered::of(&DaemonResponse::Error(refusal));
                }
                Err(Unable::Moved) => {}
            }
        }
        unreachable!("the last try takes every file as it is")
    }

    fn told(&self, request: &Request, trust: Trust) -> Result<Answered, Unable> {
        // What changed in a session is known once everything was looked at.
        if matches!(request.command, DaemonCommand::ChangeImpact { .. }) {
            self.refresh();
        }
        let asks = self.understand(request)?;
        let key = serde_json::to_string(&Request { session: None, ..request.clone() })
            .expect("requests have text for keys");
        let make = |files, snapshot| -> Result<Text, Unable> {
            let view = View { files, snapshot, trust };
            let told = self.make(&asks, &Telling::of(request), &view)?;
            let raw_bytes = view.raw_bytes(&told);
            Ok(to_keep(told, raw_bytes))
        };
        let (kept, as_of) = match self.past_the_crowd(request) {
            Some(files) => {
                let as_of = files.values().next().map_or(0, |file| file.digests.contents);
                (make(files, Snapshot::default())?, as_of)
            }
            None => match self.look_up(&key, &asks, request) {
                (Asked::Kept(text), _, as_of) => (text, as_of),
                (Asked::Make(ticket), files, as_of) => {
                    let text = make(files, ticket.snapshot.clone())?;
                    if self.is_kept(&asks) && trust == Trust::Strict && self.lifetime == Lifetime::Long {
                        lock(&self.memo).keep(ticket, Arc::clone(&text));
                    }
                    (text, as_of)
                }
            },
        };
        let raw_bytes = kept[0].parse().expect("it was put together so");
        let comma = if *kept[1] == *"}" { "" } else { "," };
        let head = format!("{{\"status\":\"ok\",\"as_of\":\"{as_of:032x}\"{comma}");
        let line = Line::new(head, kept, 1);
        let needed = kit::text::tokens(line.len() as u64);
        // What cannot be cut any further is refused: half of it would be wrong.
        if request.max_tokens.is_some_and(|most| needed > most) {
            let message = format!("the answer needs {needed} tokens");
            return Err(refuse_with(message, "needed_tokens", needed.into()).into());
        }
        Ok(Answered { line, raw_bytes })
    }

    /// Somebody says that a file changed: it is looked at with the next question anyway, so only what the kernel cannot
    /// tell needs a hint. Gives its name in answers; nothing for one that is not in the project.
    pub fn changed(&self, file: &Path) -> Option<String> {
        let path = self.root.relative(self.root.path(), file)?;
        lock(&self.told).insert(path.clone());
        lock(&self.touched).insert(path.clone());
        Some(path)
    }

    /// As somebody who looks at all files holds it.
    #[cfg(test)]
    pub(crate) fn hold(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    /// Never waits for a question that is being worked on.
    pub fn summary(&self) -> Summary {
        *lock(&self.summary)
    }

    fn counted(&self, memo: &Memo) -> SalsaCacheStats {
        let (before, now) = (*lock(&self.before), memo.counters());
        SalsaCacheStats {
            hits: before.hits + now.hits,
            misses: before.misses + now.misses,
            invalidations: before.invalidations + now.invalidations,
            recomputations: before.recomputations + now.recomputations,
        }
    }

    /// Keeps what the next process would have to find out again.
    pub fn persist(&self) -> Result<(), Failure> {
        let (files, worked_out) = {
            let (index, mut memo) = (lock(&self.index), lock(&self.memo));
            (Arc::clone(index.files()), memo.pack())
        };
        let (facts, meaning) = index::to_kept(&files, &worked_out);
        cache::write(&self.root, cache::FACTS, &facts)?;
        cache::write(&self.root, cache::MEANING, &meaning)
    }

    /// Forgets everything that can be found out again.
    pub fn forget(&self) {
        let mut index = lock(&self.index);
        let mut memo = lock(&self.memo);
        index.forget();
        memo.forget();
        self.let_go();
        *lock(&self.before) = SalsaCacheStats::default();
        *lock(&self.summary) = Summary::default();
    }
}

impl View {
    /// The content of a file of this view.
    fn text(&self, root: &Root, path: &str, file: &File) -> Result<Vec<u8>, Unable> {
        let full = || index::content(&root.path().join(path)).map(|(_, text)| text).unwrap_or_default();
        let text = file.text(root.path(), path).or_else(|| (self.trust == Trust::Lenient).then(full));
        text.ok_or(Unable::Moved)
    }

    fn raw_bytes(&self, told: &Told) -> u64 {
        let bytes = told.files.iter().filter_map(|path| self.files.get(path)).map(|file| file.bytes);
        let length = || told.json.iter().map(|piece| piece.len() as u64).sum();
        bytes.sum::<u64>().max(if told.files.is_empty() { length() } else { 0 })
    }
}

pub(crate) fn refuse(message: impl Into<String>) -> Box<Refusal> {
    Box::new(Refusal { message: message.into(), data: Map::new() })
}

pub(crate) fn refuse_with(message: impl Into<String>, key: &str, value: Value) -> Box<Refusal> {
    let mut refusal = refuse(message);
    refusal.data.insert(key.to_owned(), value);
    refusal
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
