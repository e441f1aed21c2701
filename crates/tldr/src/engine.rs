//! One answer for three doors: a request in, a line of JSON out, for the files as they are at that moment. The command line,
//! the socket and MCP all end here. Questions are worked on outside of every lock, so that a slow one holds up nobody.

mod answers;
mod flows;
mod outside;
mod search;
mod telling;
mod understand;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use code::memo::{Asked, Basis, Memo};
use kit::Failure;
use kit::invocation::Environment;
use serde_json::{Map, Value};
use wire::tldr::{DaemonCommand, DaemonResponse, DedupStats, Refusal, Request, SalsaCacheStats};

use crate::cache;
use crate::index::{Digests, Index, Kept, Lifetime};
use crate::root::Root;
use crate::settings::Settings;
use telling::{Telling, Told};

pub struct Engine {
    root: Root,
    env: Environment,
    semantic: bool,
    index: Mutex<Index>,
    memo: Mutex<Memo>,
    /// What the memo tables of earlier processes did.
    before: SalsaCacheStats,
    lifetime: Lifetime,
    hits: search::Hits,
    words: search::Words,
    touched: Mutex<std::collections::BTreeSet<String>>,
}

/// A line of JSON without its newline, and how many bytes the files behind it have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub line: String,
    pub raw_bytes: u64,
}

impl Answered {
    pub(crate) fn of(response: &DaemonResponse) -> Answered {
        let line = serde_json::to_string(response).expect("answers have text for keys");
        Answered { line, raw_bytes: 0 }
    }
}

impl Engine {
    pub fn open(root: Root, settings: &Settings, env: Environment, lifetime: Lifetime) -> Engine {
        let kept = Kept::read(&root.cache().join(cache::FACTS));
        Engine {
            memo: Mutex::new(kept.memo(&root.cache().join(cache::MEANING))),
            index: Mutex::new(Index::new(root.path(), kept, lifetime)),
            before: cache::statistics(&root).unwrap_or_default(),
            semantic: settings.semantic_enabled,
            hits: search::Hits::default(),
            words: search::Words::default(),
            touched: Mutex::default(),
            root,
            env,
            lifetime,
        }
    }

    /// The answer for the files as they are now.
    pub fn answer(&self, request: &Request) -> Answered {
        match self.told(request) {
            Ok(answered) => answered,
            Err(refusal) => Answered::of(&DaemonResponse::Error(*refusal)),
        }
    }

    fn told(&self, request: &Request) -> Result<Answered, Box<Refusal>> {
        let asks = self.understand(request)?;
        let digests = self.refresh_for(request);
        let key = serde_json::to_string(&Request { session: None, ..request.clone() })
            .expect("requests have text for keys");
        let basis = self.basis(&asks, digests);
        let asked = match basis {
            Some(basis) => lock(&self.memo).ask(&key, basis),
            None => Asked::Make(lock(&self.memo).ticket(&key)),
        };
        let kept = match asked {
            Asked::Kept(text) => text,
            Asked::Make(ticket) => {
                let told = self.make(&asks, &Telling::of(request), &ticket.snapshot)?;
                let mut text = self.raw_bytes(&told).to_string();
                text.reserve_exact(told.json.len() + 1);
                text.push('\n');
                text.push_str(&told.json);
                drop(told);
                let text: Arc<str> = text.into();
                if basis.is_some() && self.lifetime == Lifetime::Long {
                    lock(&self.memo).keep(ticket, Arc::clone(&text));
                }
                text
            }
        };
        let (raw, json) = kept.split_once('\n').expect("it was put together so");
        let as_of = format!("{:032x}", digests.contents);
        let rest = json.strip_prefix('{').expect("an answer is an object");
        let comma = if rest == "}" { "" } else { "," };
        let head = format!("{{\"status\":\"ok\",\"as_of\":\"{as_of}\"{comma}");
        Ok(Answered {
            line: [head.as_str(), rest].concat(),
            raw_bytes: raw.parse().expect("it was put together so"),
        })
    }

    /// Brings files and facts up to date; gives what tells this state from others.
    pub fn refresh(&self) -> Digests {
        self.refreshed(Index::refresh)
    }

    /// Looks at every entry, whatever was told.
    pub fn reindex(&self) {
        self.refreshed(Index::look_at_everything);
    }

    fn refreshed(&self, look: impl FnOnce(&mut Index) -> crate::index::Refreshed) -> Digests {
        let mut index = lock(&self.index);
        let mut memo = lock(&self.memo);
        let first = !index.has_looked();
        let changed = look(&mut index).changed;
        let paths: Vec<&String> =
            if memo.is_new() { index.files().keys().collect() } else { changed.iter().collect() };
        let facts = |path: &str| index.files().get(path).and_then(|file| file.facts.clone());
        let changes = paths.into_iter().map(|path| (Arc::from(path.as_str()), facts(path))).collect();
        memo.update(changes);
        if index.has_looked() {
            let all = first.then(|| index.files().keys());
            memo.update_manifests(index.manifests(changed.iter().chain(all.into_iter().flatten())));
        }
        if !first && self.lifetime == Lifetime::Long {
            lock(&self.touched).extend(changed);
        }
        index.digests()
    }

    /// Somebody says that a file changed: it is looked at with the next question anyway, so only what the kernel cannot
    /// tell needs a hint.
    pub fn changed(&self, file: &Path) {
        if let Some(path) = self.root.relative(self.root.path(), file) {
            lock(&self.index).distrust(&path);
            lock(&self.touched).insert(path);
        }
    }

    pub fn files(&self) -> usize {
        lock(&self.index).files().len()
    }

    pub fn memo(&self) -> SalsaCacheStats {
        let now = lock(&self.memo).counters();
        SalsaCacheStats {
            hits: self.before.hits + now.hits,
            misses: self.before.misses + now.misses,
            invalidations: self.before.invalidations + now.invalidations,
            recomputations: self.before.recomputations + now.recomputations,
        }
    }

    pub fn dedup(&self) -> DedupStats {
        lock(&self.index).dedup()
    }

    /// Keeps what the next process would have to find out again.
    pub fn persist(&self) -> Result<(), Failure> {
        let (facts, meaning) = lock(&self.index).to_kept(&lock(&self.memo));
        cache::write(&self.root, cache::FACTS, &facts)?;
        cache::write(&self.root, cache::MEANING, &meaning)
    }

    /// Forgets everything that can be found out again.
    pub fn forget(&self) {
        lock(&self.index).forget();
        *lock(&self.memo) = Memo::default();
    }

    fn raw_bytes(&self, told: &Told) -> u64 {
        let index = lock(&self.index);
        let bytes = told.files.iter().filter_map(|path| index.files().get(path)).map(|file| file.bytes);
        bytes.sum::<u64>().max(if told.files.is_empty() { told.json.len() as u64 } else { 0 })
    }

    /// Commands that look at one file need no walk where nothing is watched.
    fn refresh_for(&self, request: &Request) -> Digests {
        let one = match &request.command {
            DaemonCommand::Extract { file }
            | DaemonCommand::Imports { file }
            | DaemonCommand::Cfg { file, .. }
            | DaemonCommand::Dfg { file, .. }
            | DaemonCommand::Slice { file, .. } => self.root.relative(self.root.path(), file),
            _ => None,
        };
        match one {
            Some(path) if self.lifetime == Lifetime::OneLook => self.refreshed(|index| index.look_at(&path)),
            _ => self.refresh(),
        }
    }

    /// What an answer stands on; nothing for one that is never kept, since it stands on more than files.
    fn basis<'a>(&self, asks: &'a answers::Asks, digests: Digests) -> Option<Basis<'a>> {
        use answers::Asks;
        match asks {
            Asks::Tree { .. } => Some(Basis::Given(digests.paths)),
            Asks::Search { .. } | Asks::Structure { .. } | Asks::Importers { .. } => {
                Some(Basis::Given(digests.contents))
            }
            Asks::Extract { file } | Asks::Imports { file } | Asks::Flow { file, .. } => {
                let hash = lock(&self.index).files().get(file).map_or([0; 16], |file| file.hash.0);
                Some(Basis::Given(u128::from_le_bytes(hash)))
            }
            Asks::Semantic { .. }
            | Asks::Calls { .. }
            | Asks::Impact { .. }
            | Asks::Context { .. }
            | Asks::Dead { .. }
            | Asks::Arch { .. } => Some(Basis::Facts),
            Asks::ChangeImpact { .. } | Asks::Diagnostics { .. } | Asks::Warm { .. } => None,
        }
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
