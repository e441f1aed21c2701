//! Where a reader's question meets the ledger: looks up what its eyes hold, and writes down what they were given. Every
//! way of reading (the command, the MCP server, the clients' hooks) passes here; what to send is the plan's business.

use std::path::Path;

use crate::caller::Caller;
use crate::database::{Database, Delivery, Form, Head, Meeting, Numbers, Result};
use crate::diff::Change;
use crate::ledger::{Extent, View};
use crate::lines::{Hash, Text};
use crate::plan::{Plan, Policy};
use crate::render::Answer;
use crate::settings::Settings;

/// Tokens that fill a context window: what was shown before so much else is probably out of sight.
const WINDOW: i64 = 150_000;

/// One reader at an open store.
pub struct Desk<'a> {
    pub database: &'a mut Database,
    pub settings: &'a Settings,
    pub caller: &'a Caller,
}

/// What the store knows about a file and a reader, before anything is sent.
pub struct Look {
    pub meeting: Meeting,
    pub hash: Hash,
    head: Option<Head>,
    /// What the reader holds, where a new answer may build on it.
    pub view: Option<View>,
    /// What changed since then, if a watcher compared them already.
    pub foreseen: Option<Vec<Change>>,
}

impl Desk<'_> {
    /// What these eyes were shown of a file that now has this text.
    pub fn look(&self, path: &str, now: &Text) -> Result<Look> {
        let hash = now.hash();
        let meeting = self.database.meet(&self.caller.eyes())?;
        let head = match meeting.remembers {
            true => self.database.head(&self.caller.eyes(), path, meeting.epoch)?,
            false => None,
        };
        let view =
            match head.as_ref().filter(|head| !same_round(meeting, head) && !self.is_faded(meeting, head)) {
                Some(head) => self.database.view(head, now, &hash)?,
                None => None,
            };
        let foreseen = match &head {
            Some(head) if head.hash != hash && view.is_some() => {
                self.database.foreseen(&self.caller.eyes(), path, &head.hash, &hash)?
            }
            _ => None,
        };
        Ok(Look { meeting, hash, head, view, foreseen })
    }

    /// Clients clear old results out of their windows, and tell nobody. What was shown long ago, or much else ago, is not
    /// built upon; nor is what was shown in a future that a clock came back from, since nobody knows how long ago that is.
    fn is_faded(&self, meeting: Meeting, head: &Head) -> bool {
        let age = self.database.now().abs_diff(head.read_at);
        age > self.settings.session.ttl.as_secs() || meeting.sent - head.sent_until > WINDOW
    }

    /// A name under which these eyes hold all of the same text, while no file has that name any more.
    pub fn renamed_from(&self, look: &Look, now: &Text) -> Result<Option<String>> {
        if !look.meeting.remembers || look.head.is_some() {
            return Ok(None);
        }
        let heads = self.database.heads_with_content(&self.caller.eyes(), &look.hash, look.meeting.epoch)?;
        let is_old_name = |(path, head): &(String, Head)| {
            let holds_all =
                head.extent != Extent::Lines && now.span().is_some_and(|span| head.shown.covers(span));
            holds_all
                && !same_round(look.meeting, head)
                && !self.is_faded(look.meeting, head)
                && Path::new(path).symlink_metadata().is_err()
        };
        Ok(heads.into_iter().find(is_old_name).map(|(path, _)| path))
    }

    /// Writes down what the reader was given.
    pub fn deliver(
        &mut self,
        path: &str,
        look: &Look,
        answer: &Answer,
        form: Form,
        after: View,
        plan: Option<&Plan>,
    ) -> Result<()> {
        let after = look.settled(after);
        self.database.record(&Delivery {
            caller: self.caller,
            path,
            meeting: look.meeting,
            base: look.head.as_ref(),
            in_doubt: look.in_doubt(),
            answer,
            form,
            after: Some(&after),
            numbers: self.numbers(plan),
        })
    }

    /// Writes down that the reader was told that a file is gone.
    pub fn deliver_deleted(&mut self, path: &str, answer: &Answer) -> Result<bool> {
        let meeting = self.database.meet(&self.caller.eyes())?;
        let Some(head) =
            self.database.head(&self.caller.eyes(), path, meeting.epoch)?.filter(|_| meeting.remembers)
        else {
            return Ok(false);
        };
        self.database.record(&Delivery {
            caller: self.caller,
            path,
            meeting,
            base: Some(&head),
            in_doubt: false,
            answer,
            form: Form::Nothing,
            after: None,
            numbers: Numbers::default(),
        })?;
        Ok(true)
    }

    fn numbers(&self, plan: Option<&Plan>) -> Numbers {
        Numbers {
            hunks: match plan {
                Some(Plan::Delta(delta)) => Some(delta.hunks.len()),
                _ => None,
            },
            policy: Some(match self.settings.limits.policy {
                Policy::Gated => "gated",
                Policy::Cheapest => "cheapest",
            }),
        }
    }
}

impl Look {
    /// What the store remembered, usable or not.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// Whether this very call was answered already: a hook that is registered twice hears of it twice.
    pub fn is_repeated(&self, caller: &Caller) -> bool {
        caller.call.is_some() && self.head.as_ref().is_some_and(|head| head.call == caller.call)
    }

    /// Calls of one round are seen together, in no order that we know: of the same version they add up.
    fn settled(&self, mut after: View) -> View {
        if let Some(peer) = self.peer().filter(|peer| peer.hash == self.hash) {
            after.shown.extend(peer.shown.iter());
        }
        after
    }

    /// Calls of one round that saw different versions leave nothing that can be built upon.
    fn in_doubt(&self) -> bool {
        self.peer().is_some_and(|peer| peer.hash != self.hash)
    }

    fn peer(&self) -> Option<&Head> {
        self.head.as_ref().filter(|head| same_round(self.meeting, head))
    }
}

fn same_round(meeting: Meeting, head: &Head) -> bool {
    meeting.batch > 0 && head.batch >= meeting.batch
}

/// What the reader was given, by what was planned.
pub fn form<'a>(plan: &'a Plan, now: &'a Text) -> Form<'a> {
    match plan {
        Plan::Whole(_) => Form::Whole,
        Plan::Elided(elided) => Form::Elided { text: &elided.text, stubs: &elided.stubs },
        Plan::Part(span) => match now.clip(*span) {
            Some(span) => Form::Lines { first: span.first, text: now.slice(span) },
            None => Form::Nothing,
        },
        Plan::Unchanged(_) => Form::Nothing,
        Plan::Delta(delta) => Form::Delta(&delta.body),
    }
}
