//! A home with contexts in it, and short words for what tests do with them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use chibi::context::{ChibiHome, Context, ContextName, Entry, EntryId, EntryKind, Ids, Policy, Reader, Wait};
use kit::invocation::Clock;
use testkit::{FixedClock, Home};

pub(crate) struct Desk {
    pub(crate) home: Home,
    pub(crate) chibi: ChibiHome,
    pub(crate) clock: FixedClock,
}

impl Desk {
    pub(crate) fn new() -> Desk {
        let home = Home::new();
        let clock = FixedClock::new();
        let time = clock.clone();
        let next = AtomicU64::new(1);
        let ids = Ids::from_fn(move || u128::from(next.fetch_add(1, Ordering::SeqCst)));
        let chibi = ChibiHome::new(home.path().join(".chibi"), Clock::from_fn(move || time.now_ms()), ids);
        Desk { home, chibi, clock }
    }

    pub(crate) fn open(&self, context: &str) -> Context {
        Context::open(&self.chibi, &name(context), Wait::No).unwrap()
    }

    pub(crate) fn rotating(&self, context: &str, max_entries: u64) -> Context {
        self.open(context).with_policy(Policy { max_entries, ..Policy::default() })
    }

    pub(crate) fn reader(&self, context: &str) -> Reader {
        Reader::open(&self.chibi, &name(context)).unwrap()
    }

    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.chibi.root().join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        self.home.read(format!(".chibi/{relative}"))
    }

    pub(crate) fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) {
        self.home.write(format!(".chibi/{relative}"), bytes);
    }

    pub(crate) fn said(&self, context: &str, text: &str) -> Entry {
        Entry::new(self.chibi.fresh_id(), self.chibi.now(), EntryKind::Message, "ada", context, text)
    }

    pub(crate) fn answered(&self, context: &str, text: &str) -> Entry {
        Entry::new(self.chibi.fresh_id(), self.chibi.now(), EntryKind::Message, context, "user", text)
    }

    /// Appends a prompt and its answer; gives the id of the prompt.
    pub(crate) fn exchange(&self, context: &mut Context, text: &str) -> EntryId {
        let name = context.name().to_string();
        let prompt = self.said(&name, text);
        let id = prompt.id.clone();
        context.append(vec![prompt]).unwrap();
        context.append(vec![self.answered(&name, &format!("answer to {text}"))]).unwrap();
        id
    }
}

pub(crate) fn name(text: &str) -> ContextName {
    ContextName::new(text).unwrap()
}

pub(crate) fn contents<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<&'a str> {
    entries.into_iter().map(|entry| entry.content.as_str()).collect()
}

pub(crate) fn transcript(reader: &Reader) -> Vec<Entry> {
    reader.entries().unwrap().map(Result::unwrap).collect()
}
