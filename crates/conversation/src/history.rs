//! What was said, as a value that is a valid request at every moment: exchanges that begin with a prompt, calls that
//! never stand without their results, nothing empty, no name twice. Append operations are the only way in. Knows no
//! file: what happens to a history is told as [`Record`]s, and [`History::load`] makes a valid history of any records.

mod exchange;
mod load;
mod record;
mod reply;

use std::collections::{BTreeMap, BTreeSet};

use llm::{Block, CallId};
use thiserror::Error;

use crate::compact::Staged;

pub use exchange::{Exchange, ExchangeId, Returned, Round, Step};
pub use load::{Loaded, Repair};
pub use record::{Ending, Record};
pub use reply::Reply;

/// Exchanges, oldest first. Only the last may be open: its prompt, its last results or a note wait for a reply.
#[derive(Debug, Clone, Default)]
pub struct History {
    opening: String,
    summary: String,
    exchanges: Vec<Exchange>,
    /// Names of the exchanges, so that a long history is not searched at every prompt.
    ids: BTreeSet<ExchangeId>,
    /// Names of calls that were ever given, so that what was compacted can come back.
    taken: BTreeSet<String>,
}

/// Why a history does not take something. It is unchanged then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("it has no words")]
    Blank,
    #[error("this is not the moment for it")]
    NotNow,
    #[error("the results are not those of the calls")]
    Mismatch,
    #[error("`{0}` is already there")]
    Taken(String),
    #[error("there is no exchange `{0}`")]
    Unknown(ExchangeId),
    #[error("the exchange `{0}` is pinned")]
    Pinned(ExchangeId),
    #[error("the exchange `{0}` is not over")]
    Open(ExchangeId),
}

/// What a compaction took away, by which it can be undone.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// With the places where they stood.
    exchanges: BTreeMap<usize, Exchange>,
    summary: String,
}

impl History {
    /// `opening` stands before the first prompt of every window: what the model must know from the start. May be empty.
    pub fn new(opening: &str) -> History {
        History { opening: opening.trim().to_owned(), ..History::default() }
    }

    pub fn opening(&self) -> &str {
        &self.opening
    }

    /// What is left of the exchanges that were compacted.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    pub fn exchange(&self, id: &ExchangeId) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| exchange.id() == id)
    }

    /// The exchange that waits for a reply.
    pub fn open(&self) -> Option<&Exchange> {
        self.exchanges.last().filter(|exchange| exchange.is_open())
    }

    /// A prompt; the last exchange must be over.
    pub fn prompt(&mut self, id: ExchangeId, text: &str) -> Result<Record, Refused> {
        if self.open().is_some() {
            return Err(Refused::NotNow);
        }
        let text = exchange::words(text).ok_or(Refused::Blank)?;
        if !self.ids.insert(id.clone()) {
            return Err(Refused::Taken(id.0));
        }
        self.exchanges.push(Exchange::new(id.clone(), text.clone()));
        Ok(Record::Prompt { id, text })
    }

    /// Blocks of a model, made fit to be part of this history; see [`Reply`].
    pub fn admit(&self, blocks: Vec<Block>) -> Reply {
        Reply::admit(blocks, &self.taken)
    }

    /// A reply without calls ends the exchange.
    pub fn say(&mut self, reply: Reply) -> Result<Record, Refused> {
        self.speak(reply, Ending::Complete)
    }

    /// A reply without calls that the provider wants to go on with: the next one is joined to it.
    pub fn pause(&mut self, reply: Reply) -> Result<Record, Refused> {
        self.speak(reply, Ending::Paused)
    }

    /// A reply with calls and the results of all of them, in any order. Its records are written as they come, before
    /// this: the reply before any tool starts, each result when it is there.
    pub fn round(&mut self, reply: Reply, results: Vec<Returned>) -> Result<(), Refused> {
        let ids: BTreeSet<&CallId> = results.iter().map(|returned| &returned.result.id).collect();
        let asked: BTreeSet<&CallId> = reply.calls().iter().map(|call| &call.id).collect();
        if asked.is_empty() || ids != asked || results.len() != asked.len() {
            return Err(Refused::Mismatch);
        }
        let names: Vec<String> = asked.iter().map(|id| reply::spelled(&id.0)).collect();
        let (open, reply) = self.waiting_for(reply)?;
        open.round(reply, results);
        self.taken.extend(names);
        Ok(())
    }

    /// Words of ours, in the user's place, after a reply without calls: the exchange goes on.
    pub fn note(&mut self, text: &str) -> Result<Record, Refused> {
        let text = exchange::words(text).ok_or(Refused::Blank)?;
        match self.exchanges.last_mut() {
            Some(last) if !last.is_open() => {
                last.note(text.clone());
                Ok(Record::Note { text })
            }
            _ => Err(Refused::NotNow),
        }
    }

    /// Ends the open exchange without a reply. What has had no effect yet is taken out: only the prompt was there. What
    /// had effects stays, closed by a note in the model's place that says why. None if nothing is open.
    pub fn give_up(&mut self, reason: &str) -> Option<Record> {
        let open = self.exchanges.last_mut().filter(|exchange| exchange.is_open())?;
        if open.steps().is_empty() {
            self.ids.remove(open.id());
            self.exchanges.pop();
            return Some(Record::Dropped { reason: reason.to_owned() });
        }
        let note = format!("[This turn ended here: {reason}]");
        open.close(&note);
        Some(Record::Reply { blocks: vec![Block::text(&note)], ending: Ending::Closing })
    }

    /// From now on neither a compaction nor a window takes the exchange away.
    pub fn pin(&mut self, id: &ExchangeId) -> Result<Record, Refused> {
        self.find(id)?.set_pinned(true);
        Ok(Record::Pinned { id: id.clone() })
    }

    pub fn unpin(&mut self, id: &ExchangeId) -> Result<Record, Refused> {
        self.find(id)?.set_pinned(false);
        Ok(Record::Unpinned { id: id.clone() })
    }

    /// Puts a summary in the place of exchanges, all at once. What is staged was checked, but the history may have
    /// changed since.
    pub fn compact(&mut self, staged: Staged) -> Result<(Cut, Record), Refused> {
        let (archived, summary) = staged.into_parts();
        crate::compact::archivable(self, &archived)?;
        for id in &archived {
            self.ids.remove(id);
        }
        let all = std::mem::take(&mut self.exchanges).into_iter().enumerate();
        let (kept, exchanges): (BTreeMap<_, _>, _) =
            all.partition(|(_, exchange)| self.ids.contains(exchange.id()));
        self.exchanges = kept.into_values().collect();
        let previous = std::mem::replace(&mut self.summary, summary.clone());
        Ok((Cut { exchanges, summary: previous }, Record::Compacted { archived, summary }))
    }

    /// Undoes a compaction: what it took away stands where it stood, and the summary is the one before.
    pub fn restore(&mut self, cut: Cut) -> Result<Record, Refused> {
        if let Some(twice) = cut.exchanges.values().find(|exchange| self.ids.contains(exchange.id())) {
            return Err(Refused::Taken(twice.id().0.clone()));
        }
        let here: BTreeSet<String> = self.exchanges.iter().flat_map(Exchange::call_names).collect();
        let back: Vec<String> = cut.exchanges.values().flat_map(Exchange::call_names).collect();
        if let Some(twice) = back.iter().find(|name| here.contains(*name)) {
            return Err(Refused::Taken(twice.clone()));
        }
        self.taken.extend(back);
        for (place, exchange) in cut.exchanges {
            let end = self.exchanges.len() - usize::from(self.open().is_some());
            self.ids.insert(exchange.id().clone());
            self.exchanges.insert(place.min(end), exchange);
        }
        self.summary = cut.summary;
        Ok(Record::Restored)
    }

    /// Takes this exchange and all later ones away.
    pub fn rewind(&mut self, from: &ExchangeId) -> Result<(Vec<Exchange>, Record), Refused> {
        let place = self.exchanges.iter().position(|exchange| exchange.id() == from);
        let place = place.ok_or_else(|| Refused::Unknown(from.clone()))?;
        let gone = self.exchanges.split_off(place);
        for exchange in &gone {
            self.ids.remove(exchange.id());
        }
        Ok((gone, Record::Rewound { from: from.clone() }))
    }

    /// Records that [`History::load`] makes the same history of.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        if !self.opening.is_empty() {
            records.push(Record::Opening { text: self.opening.clone() });
        }
        if !self.summary.is_empty() {
            records.push(Record::Compacted { archived: Vec::new(), summary: self.summary.clone() });
        }
        self.exchanges.iter().for_each(|exchange| exchange.record(&mut records));
        records
    }

    fn find(&mut self, id: &ExchangeId) -> Result<&mut Exchange, Refused> {
        let exchange = self.exchanges.iter_mut().find(|exchange| exchange.id() == id);
        exchange.ok_or_else(|| Refused::Unknown(id.clone()))
    }

    fn speak(&mut self, reply: Reply, ending: Ending) -> Result<Record, Refused> {
        if !reply.calls().is_empty() {
            return Err(Refused::Mismatch);
        }
        let (open, reply) = self.waiting_for(reply)?;
        let record = Record::Reply { blocks: reply.blocks().to_vec(), ending };
        match ending {
            Ending::Paused => open.pause(reply),
            Ending::Complete | Ending::Closing => open.say(reply),
        }
        Ok(record)
    }

    /// The open exchange, if the reply can be part of it.
    fn waiting_for(&mut self, reply: Reply) -> Result<(&mut Exchange, Reply), Refused> {
        let twice = reply.calls().iter().find(|call| self.taken.contains(&reply::spelled(&call.id.0)));
        if let Some(call) = twice {
            return Err(Refused::Taken(call.id.0.clone()));
        }
        let open = self.exchanges.last_mut().filter(|exchange| exchange.is_open());
        Ok((open.ok_or(Refused::NotNow)?, reply))
    }
}

/// What has gone does not count.
impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.opening == other.opening && self.summary == other.summary && self.exchanges == other.exchanges
    }
}
