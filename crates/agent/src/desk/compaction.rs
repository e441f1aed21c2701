//! Summing up what no longer fits a window, so that it is not simply gone. If that fails, it is left out: a turn never
//! fails because of it.

use conversation::compact::{self, Staged};
use conversation::turn::{Spent, Turn};
use conversation::{ExchangeId, History, Record};
use kit::text;
use llm::Message;

use super::Desk;
use crate::prompt::SUMMARISE;

/// The most of a conversation that a summary is made of, in bytes: a quarter of the smallest usual window.
const MATERIAL: usize = 200_000;

/// As long as a summary may be.
const WORDS: u32 = 4000;

impl Desk {
    /// A summary of what the next request would leave out; none if it leaves out nothing, or nobody wants one.
    pub(super) fn summed_up(&mut self, turn: &Turn) -> Option<Staged> {
        let dropped = turn.window().dropped;
        if dropped.is_empty() || !self.compact {
            return None;
        }
        match self.summarise(turn.history(), dropped) {
            Ok(staged) => Some(staged),
            // Nobody failed: the next turn may sum up what this one could not.
            Err(_) if self.cancel.is_cancelled() => None,
            Err(why) => {
                // Trying again at every request would cost more than it is worth.
                self.compact = false;
                self.voice
                    .warn(&format!("what no longer fits is left out from now on, not summed up: {why}"));
                None
            }
        }
    }

    /// What summaries took since this was asked last.
    pub(crate) fn take_summaries(&mut self) -> Spent {
        std::mem::take(&mut self.summaries)
    }

    /// Asks the model to sum up these exchanges.
    pub(crate) fn summarise(&mut self, history: &History, ids: Vec<ExchangeId>) -> Result<Staged, String> {
        self.voice.note(&format!("summing up {} …", exchanges(ids.len())));
        let material = compact::transcript(history, &ids);
        let material = text::clip(&material, MATERIAL, "");
        let mut request =
            self.asks.request(vec![Message::User(format!("{SUMMARISE}\n\n{material}"))], Vec::new());
        request.options.max_tokens = Some(WORDS);
        request.cache = llm::Cache::Off;
        self.summaries.requests += 1;
        let reply = self.client.start(&request, &self.cancel).reply().map_err(|error| error.to_string())?;
        if let Some(usage) = reply.done.usage {
            self.summaries.usage.add(&usage);
            self.purse.pay(&usage);
            self.keep.append(&Record::Usage(usage)).map_err(|error| error.to_string())?;
        }
        // A refusal or half of a summary would stand in the place of what was said for good.
        let summary = compact::answer(&reply).map_err(|error| error.to_string())?;
        compact::stage(history, ids, &summary).map_err(|error| error.to_string())
    }
}

/// `1 earlier exchange`.
pub(crate) fn exchanges(count: usize) -> String {
    format!("{count} earlier exchange{}", if count == 1 { "" } else { "s" })
}
