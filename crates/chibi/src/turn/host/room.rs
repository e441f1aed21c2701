//! Whether a request fits its window, and what is done and said when it does not.

use conversation::turn::{Departure, Turn};
use kit::text;
use llm::Message;

use super::Host;
use crate::compaction;
use crate::failure;
use crate::hooks::Event;

impl Host<'_> {
    /// Room is made before the first request of a turn, so that the prompt that did not fit is answered all the same.
    pub(super) fn make_room(&mut self, turn: &Turn) -> Departure {
        let window = turn.window();
        let limit = self.stage.config.window;
        let fixed = text::tokens(self.overhead() as u64);
        if fixed >= limit {
            self.run.out.warn(&format!(
                "system prompt, todos, goals, messages and tools alone have about {} tokens, and the window {}",
                text::thousands(fixed),
                text::thousands(limit)
            ));
        }
        let tokens = text::tokens((self.overhead() + window.bytes) as u64);
        let percent = tokens as f64 / limit.max(1) as f64 * 100.0;
        if percent >= self.stage.config.warn_percent {
            self.run
                .out
                .diagnostic(&format!("the window is {percent:.0} % full: {tokens} of {limit} tokens"));
        }
        let prompt = turn.history().open().map_or("", |exchange| exchange.prompt());
        let sent = window.messages(turn.history());
        if !matches!(sent.last(), Some(Message::User(text)) if text.ends_with(prompt)) {
            let size = text::thousands(prompt.len() as u64);
            self.run.out.warn(&format!(
                "the prompt has {size} bytes and does not fit the window: only its beginning and its end are sent"
            ));
        }
        let config = &self.stage.config;
        if config.auto_compact && (percent >= config.auto_compact_percent || !window.dropped.is_empty()) {
            match compaction::rolling(self.run, self.context, self.stage, turn.history()) {
                Ok(Some(staged)) => return Departure::Compact(staged),
                Ok(None) => {}
                Err(failure) if self.run.cancel.is_cancelled() => {
                    self.run.out.diagnostic(&failure::words(&failure).0);
                }
                Err(failure) => self.run.out.warn(&failure::words(&failure).0),
            }
        }
        if !window.dropped.is_empty() {
            let count = window.dropped.len();
            self.run.out.warn(&format!(
                "{count} old exchanges do not fit the window and are not sent; `chibi -z` sums them up"
            ));
        }
        Departure::Send
    }

    /// There were `before` messages.
    pub(super) fn compacted(&mut self, before: usize, summary: &str) {
        self.parts.summary = summary.to_owned();
        let name = self.context.name().as_str().to_owned();
        let message_count = compaction::messages(self.context);
        let archived = before.saturating_sub(message_count);
        self.run.out.diagnostic(&format!("{archived} messages were summed up"));
        self.fire(&Event::PostRollingCompact {
            context_name: &name,
            message_count,
            messages_archived: archived,
            summary,
        });
    }
}
