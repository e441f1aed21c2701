//! What a turn of the agent needs from the world: requests made whole, tools started, records kept, questions put to
//! hooks and people, and everything shown. The turn itself is `conversation`'s.

mod compaction;

pub(crate) use compaction::exchanges;

use std::collections::BTreeMap;
use std::sync::Arc;

use conversation::Record;
use conversation::drive::{Host, Work};
use conversation::tools::{Output, Task};
use conversation::turn::{Departure, Entry, Finale, Permit, Say, Spent, Turn};
use kit::invocation::Clock;
use kit::process::Cancel;
use llm::{Block, Cache, CallId, Client, Message, Options, Request};

use crate::errand::{Errands, Place};
use crate::eyes::Eyes;
use crate::gate::{Gate, Remarks};
use crate::keep::{Keep, NotKept};
use crate::purse::Purse;
use crate::toolbox::Toolbox;
use crate::voice::{Shown, Voice};

pub(crate) struct Desk {
    pub(crate) client: Client,
    pub(crate) asks: Asks,
    pub(crate) tools: Toolbox,
    pub(crate) gate: Gate,
    pub(crate) keep: Keep,
    pub(crate) errands: Arc<Errands>,
    pub(crate) voice: Voice,
    pub(crate) clock: Clock,
    /// Ends the turn that is running.
    pub(crate) cancel: Cancel,
    /// What hooks want the model to know with the next prompt.
    pub(crate) aside: Vec<String>,
    /// The calls of the reply that is worked on.
    pub(crate) calls: BTreeMap<CallId, Task>,
    /// Whether what no longer fits is summed up.
    pub(crate) compact: bool,
    /// What summaries took that nobody has counted yet.
    pub(crate) summaries: Spent,
    /// What the turn may still cost.
    pub(crate) purse: Purse,
    /// A Stop hook has already made this turn go on.
    pub(crate) went_on: bool,
}

/// What is the same in every request of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Asks {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) max_tokens: u32,
}

impl Asks {
    pub(crate) fn request(&self, messages: Vec<Message>, tools: Vec<llm::Tool>) -> Request {
        Request {
            model: self.model.clone(),
            system: self.system.clone(),
            messages,
            tools,
            cache: Cache::Whole,
            options: Options { max_tokens: Some(self.max_tokens), ..Options::default() },
        }
    }
}

impl Host for Desk {
    type Error = NotKept;

    fn compose(&mut self, messages: Vec<Message>, turn: &Turn) -> Request {
        self.voice.show(&Shown::Asked);
        self.asks.request(messages, turn.settings().tools.tools())
    }

    fn start(&mut self, task: &Task, turn: &Turn) -> Work {
        self.voice.show(&Shown::Started { task });
        self.tools.start(task, turn)
    }

    fn append(&mut self, record: &Record) -> Result<(), NotKept> {
        self.keep.append(record)?;
        match record {
            Record::Reply { blocks, .. } => self.calls = blocks.iter().filter_map(called).collect(),
            // Here and not after the tool ran: calls that never ran have results, too.
            Record::Result(returned) => {
                if let Some(task) = self.calls.get(&returned.result.id) {
                    self.voice.show(&Shown::Returned { task, result: &returned.result });
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn say(&mut self, say: Say) {
        match &say {
            Say::Started { .. } | Say::Calling { .. } | Say::Arguments { .. } => {}
            Say::Text(text) => self.voice.show(&Shown::Text(text)),
            Say::Thinking(text) => self.voice.show(&Shown::Thinking(text)),
            Say::Replied { stop, usage } => {
                usage.iter().for_each(|usage| self.purse.pay(usage));
                self.voice.show(&Shown::Replied { stop, usage: usage.as_ref() });
            }
            Say::Retract => self.voice.show(&Shown::Retract),
            Say::Retrying { error, attempt, left } => {
                self.voice.show(&Shown::Retrying { error, attempt: *attempt, left: *left });
            }
            Say::Live { text, .. } => self.voice.show(&Shown::Live(text)),
            Say::Note(note) => self.voice.warn(&note.to_string()),
            Say::Warning(warning) => self.voice.warn(&warning.to_string()),
        }
        // Nobody reads us any more: there is no reason to go on asking.
        if self.voice.lost().is_some() {
            self.cancel.cancel();
        }
    }

    fn now_ms(&self) -> i64 {
        self.clock.unix_ms()
    }

    fn before_prompt(&mut self, text: String, _: &Turn) -> Entry {
        self.went_on = false;
        let aside = std::mem::take(&mut self.aside);
        let (entry, remarks) = self.gate.prompt(text, aside, &self.cancel);
        self.heed(remarks);
        entry
    }

    fn before_request(&mut self, _: u32, turn: &Turn) -> Departure {
        if self.purse.is_empty() {
            return Departure::Refuse("all that may be spent is spent".to_owned());
        }
        match self.summed_up(turn) {
            Some(staged) => Departure::Compact(staged),
            None => Departure::Send,
        }
    }

    fn before_tool(&mut self, task: &Task, turn: &Turn) -> Permit {
        self.voice.talk("");
        let (permit, remarks) = self.gate.tool(task, &Eyes::of(turn), &self.cancel);
        self.heed(remarks);
        permit
    }

    fn after_tool(&mut self, task: &Task, output: Output, _: &Turn) -> Output {
        let (output, remarks) = self.gate.output(task, output, &self.cancel);
        self.heed(remarks);
        output
    }

    fn before_stop(&mut self, text: &str, _: &llm::Stop, _: &Turn) -> Finale {
        let (finale, remarks) = self.gate.stop(text, self.went_on, &self.cancel);
        self.went_on |= finale != Finale::End;
        self.heed(remarks);
        finale
    }
}

impl Desk {
    /// When a conversation begins or is taken up again.
    pub(crate) fn began(&mut self, source: &str) {
        let remarks = self.gate.began(source, &self.cancel);
        self.heed(remarks);
    }

    /// Helpers work for the conversation as it is now: who is asked, who is told, where it is kept.
    pub(crate) fn brief_helpers(&self) {
        self.errands.settle(Place {
            workshop: Arc::downgrade(&self.gate.workshop),
            hooks: self.gate.hooks.clone(),
            guard: Arc::clone(&self.gate.guard),
            asks: self.asks.clone(),
            keep: self.keep.clone(),
        });
    }

    fn heed(&mut self, remarks: Remarks) {
        for words in &remarks.user {
            self.voice.warn(words);
        }
        self.aside.extend(remarks.model);
        if let Some(why) = remarks.halt {
            self.voice.warn(&why);
            self.cancel.cancel();
        }
    }
}

fn called(block: &Block) -> Option<(CallId, Task)> {
    let call = block.as_call()?;
    let arguments = call.input.object().unwrap_or_default();
    Some((call.id.clone(), Task { id: call.id.clone(), name: call.name.clone(), arguments }))
}
