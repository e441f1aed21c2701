//! Making a valid history of records that nobody vouches for: a log that was cut in the middle, written by another
//! version, or edited by hand. Whatever cannot stand is left out or completed, and each such thing is told.

use std::fmt;

use llm::{CallId, Outcome, ToolResult};

use super::{Cut, Ending, ExchangeId, History, Record, Refused, Reply, Returned, exchange};
use crate::compact::{self, Staged};

/// Why there is no result: what became of the call is not known.
const INTERRUPTED: &str = "Interrupted before it gave a result. What it did until then is not known.";

/// A history, and what was done to make it one.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub history: History,
    pub repairs: Vec<Repair>,
    /// Compactions that can still be undone, the last one last.
    pub cuts: Vec<Cut>,
}

/// Where a log was no valid history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// The calls have no result in the log; they got one that says so.
    Interrupted(Vec<CallId>),
    /// A prompt without any reply before the next one. It is not part of the history.
    Unanswered(ExchangeId),
    /// A turn that did not end before the next prompt; it was closed by a note.
    Unfinished(ExchangeId),
    /// The summary at this place is of more exchanges than were there to be replaced: so many more.
    Missing(usize, usize),
    /// The record at this place cannot stand where it stands; it was left out.
    LeftOut(usize, &'static str),
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Interrupted(ids) => {
                let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
                write!(f, "no result was kept of {}: marked as interrupted", ids.join(", "))
            }
            Repair::Unanswered(id) => write!(f, "the prompt `{id}` was never answered: left out"),
            Repair::Unfinished(id) => write!(f, "the turn of `{id}` did not end: closed by a note"),
            Repair::Missing(place, count) => {
                write!(
                    f,
                    "record {}: a summary of {count} exchanges that were not there to be replaced",
                    place + 1
                )
            }
            Repair::LeftOut(place, why) => write!(f, "record {}: {why}: left out", place + 1),
        }
    }
}

impl History {
    /// Any records make a valid history. If the last exchange was still waiting for a reply, it still is: a turn can go
    /// on with it.
    pub fn load(records: impl IntoIterator<Item = Record>) -> Loaded {
        let mut loading = Loading::default();
        for (place, record) in records.into_iter().enumerate() {
            loading.take(place, record);
        }
        loading.settle();
        Loaded { history: loading.history, repairs: loading.repairs, cuts: loading.cuts }
    }
}

#[derive(Default)]
struct Loading {
    history: History,
    repairs: Vec<Repair>,
    cuts: Vec<Cut>,
    pending: Option<Pending>,
}

/// Calls that wait for their results.
struct Pending {
    /// As the log names them; they may have got another name here.
    ids: Vec<CallId>,
    reply: Reply,
    results: Vec<Returned>,
}

impl Loading {
    fn take(&mut self, place: usize, record: Record) {
        if let Record::Result(returned) = record {
            return self.result(place, returned);
        }
        // Pins and costs say nothing about the moment.
        if !matches!(record, Record::Pinned { .. } | Record::Unpinned { .. } | Record::Usage(_)) {
            self.settle();
        }
        let taken = match record {
            Record::Result(_) | Record::Usage(_) => Ok(()),
            Record::Opening { text } => self.opening(&text),
            Record::Prompt { id, text } => self.prompt(id, &text),
            Record::Reply { blocks, ending: Ending::Closing } => self.closing(&blocks),
            Record::Reply { blocks, ending } => self.reply(blocks, ending),
            Record::Note { text } => self.history.note(&text).map(drop),
            Record::Dropped { reason } => self.dropped(&reason),
            Record::Pinned { id } => self.history.pin(&id).map(drop),
            Record::Unpinned { id } => self.history.unpin(&id).map(drop),
            Record::Compacted { archived, summary } => self.compacted(place, archived, summary),
            Record::Restored => self.restored(),
            Record::Rewound { from } => self.history.rewind(&from).map(drop),
        };
        if let Err(refused) = taken {
            self.repairs.push(Repair::LeftOut(place, why(&refused)));
        }
    }

    fn opening(&mut self, text: &str) -> Result<(), Refused> {
        if !self.history.exchanges().is_empty() {
            return Err(Refused::NotNow);
        }
        self.history.opening = text.trim().to_owned();
        Ok(())
    }

    fn prompt(&mut self, id: ExchangeId, text: &str) -> Result<(), Refused> {
        if exchange::is_blank(text) {
            return Err(Refused::Blank);
        }
        if let Some(open) = self.history.open() {
            let before = open.id().clone();
            let record = self.history.give_up("it was interrupted");
            self.repairs.push(match record {
                Some(Record::Dropped { .. }) => Repair::Unanswered(before),
                _ => Repair::Unfinished(before),
            });
        }
        self.history.prompt(id, text).map(drop)
    }

    fn reply(&mut self, blocks: Vec<llm::Block>, ending: Ending) -> Result<(), Refused> {
        if self.history.open().is_none() {
            return Err(Refused::NotNow);
        }
        let called = |block: &llm::Block| block.as_call().map(|call| call.id.clone());
        let ids: Vec<CallId> = blocks.iter().filter_map(called).collect();
        let reply = self.history.admit(blocks);
        if !ids.is_empty() {
            self.pending = Some(Pending { ids, reply, results: Vec::new() });
            return Ok(());
        }
        self.history.speak(reply, ending).map(drop)
    }

    fn closing(&mut self, blocks: &[llm::Block]) -> Result<(), Refused> {
        let note: String = blocks.iter().filter_map(llm::Block::as_text).collect();
        match self.history.exchanges.last_mut() {
            Some(open) if open.is_open() && !open.steps().is_empty() => {
                open.close(&note);
                Ok(())
            }
            _ => Err(Refused::NotNow),
        }
    }

    fn dropped(&mut self, reason: &str) -> Result<(), Refused> {
        match self.history.open() {
            Some(open) if open.steps().is_empty() => {
                self.history.give_up(reason);
                Ok(())
            }
            _ => Err(Refused::NotNow),
        }
    }

    /// The summary counts even if what it replaced is not in this log.
    fn compacted(
        &mut self,
        place: usize,
        mut archived: Vec<ExchangeId>,
        summary: String,
    ) -> Result<(), Refused> {
        let named = archived.len();
        archived.retain(|id| compact::archivable(&self.history, std::slice::from_ref(id)).is_ok());
        if archived.len() < named {
            self.repairs.push(Repair::Missing(place, named - archived.len()));
        }
        let (cut, _) = self.history.compact(Staged::trusted(archived, summary))?;
        self.cuts.push(cut);
        Ok(())
    }

    fn restored(&mut self) -> Result<(), Refused> {
        let cut = self.cuts.pop().ok_or(Refused::NotNow)?;
        self.history.restore(cut).map(drop)
    }

    fn result(&mut self, place: usize, mut returned: Returned) {
        let Some(pending) = &mut self.pending else {
            return self.repairs.push(Repair::LeftOut(place, "a result of no call"));
        };
        let calls = pending.ids.iter().zip(pending.reply.calls());
        let waits = |id: &CallId| !pending.results.iter().any(|known| known.result.id == *id);
        let call = calls
            .filter(|(id, call)| **id == returned.result.id && waits(&call.id))
            .map(|(_, call)| call)
            .next();
        let Some(call) = call else {
            return self.repairs.push(Repair::LeftOut(place, "a result of no call"));
        };
        returned.result.id = call.id.clone();
        pending.results.push(returned);
        if pending.results.len() == pending.ids.len() {
            self.settle();
        }
    }

    /// Completes a round whose results did not all come.
    fn settle(&mut self) {
        let Some(Pending { reply, mut results, .. }) = self.pending.take() else { return };
        let known = |id: &CallId| results.iter().any(|returned| returned.result.id == *id);
        let missing: Vec<CallId> =
            reply.calls().iter().map(|call| call.id.clone()).filter(|id| !known(id)).collect();
        results.extend(missing.iter().map(|id| Returned {
            result: ToolResult { id: id.clone(), content: INTERRUPTED.to_owned(), outcome: Outcome::Failed },
            rests_on: Vec::new(),
        }));
        if !missing.is_empty() {
            self.repairs.push(Repair::Interrupted(missing));
        }
        let done = self.history.round(reply, results);
        debug_assert_eq!(done, Ok(()), "the exchange was open when its reply was taken");
    }
}

fn why(refused: &Refused) -> &'static str {
    match refused {
        Refused::Blank => "it has no words",
        Refused::NotNow => "it stands where it cannot stand",
        Refused::Mismatch => "it does not belong to what is before it",
        Refused::Taken(_) => "its name is already there",
        Refused::Unknown(_) => "it speaks of what is not there",
        Refused::Pinned(_) => "it speaks of what is pinned",
        Refused::Open(_) => "it speaks of what is not over",
    }
}
