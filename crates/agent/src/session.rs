//! One conversation from its first prompt to its last: what lives longer than a turn. Runs turns, and does what people
//! do to a conversation between them. Knows no flag and no key.

use std::collections::BTreeSet;
use std::path::PathBuf;

use conversation::drive::{self, Start};
use conversation::turn::{Budget, End, Finished, Limit, Settings, Spent};
use conversation::window::Limits;
use conversation::{Exchange, History};
use kit::{Exit, Failure};
use llm::{Block, CallId};

use crate::desk::{Desk, exchanges};
use crate::interrupt::Interrupt;
use crate::keep::{self, Keep, NotKept, Which};
use crate::undo::Restored;
use crate::voice::Shown;
use crate::{meter, prompt, provider, setup};

pub(crate) struct Session {
    pub(crate) desk: Desk,
    pub(crate) history: History,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) interrupt: Interrupt,
    /// By all turns so far.
    pub(crate) total: Spent,
    /// What is kept beside conversations.
    pub(crate) data: PathBuf,
    /// How this program is called, for hints.
    pub(crate) spoken: String,
}

impl Session {
    /// Says what is at hand, and what is not as it should be.
    pub(crate) fn introduce(&mut self, warnings: &[String]) {
        let Desk { voice, keep, asks, .. } = &mut self.desk;
        voice.show(&Shown::Opened { context: keep.name(), model: &asks.model });
        warnings.iter().for_each(|warning| voice.warn(warning));
    }

    /// Runs a turn from a prompt to its end. The error is what the user should be told; the conversation can go on.
    pub(crate) fn prompt(&mut self, text: String) -> Result<(), Failure> {
        let id = self.desk.keep.fresh_id();
        self.run(Start::Prompt { id, text })
    }

    /// Goes on with a turn that was cut off by a crash. Does nothing if there is none.
    pub(crate) fn resume(&mut self) -> Result<(), Failure> {
        match self.history.open() {
            Some(_) => self.run(Start::Resume),
            None => Ok(()),
        }
    }

    fn run(&mut self, start: Start) -> Result<(), Failure> {
        if let Some(limit) = self.exhausted() {
            let (told, end) = (limit.to_string(), End::Budget(limit));
            self.desk.voice.show(&Shown::Ended { end: &end, spent: &Spent::default() });
            return Err(Failure::new(told).exit_with(Exit::Budget));
        }
        self.desk.cancel = self.interrupt.turn();
        self.desk.purse.fill(self.remaining().cost);
        let history = std::mem::take(&mut self.history);
        let settings = Settings {
            tools: self.desk.tools.specs(),
            limits: self.limits.clone(),
            budget: self.remaining(),
            continuations: 0,
        };
        let (client, cancel) = (self.desk.client.clone(), self.desk.cancel.clone());
        let (mut finished, unkept) =
            match drive::run(&client, &mut self.desk, history, settings, start, &cancel) {
                Ok(finished) => (finished, None),
                Err(unsaved) => (unsaved.finished, Some(unsaved.error)),
            };
        self.interrupt.rest();
        self.settle_purse(&mut finished);
        finished.spent.add(&self.desk.take_summaries());
        self.history = finished.history;
        self.limits = finished.limits;
        self.total.add(&finished.spent);
        meter::keep(&meter::path(&self.data), self.desk.gate.workshop.meter.take());
        if self.budget.cost.is_some() && self.total.usage.total() > 0 && self.total.usage.cost.is_none() {
            self.desk.voice.warn("nobody says what this model costs: `--max-usd` cannot hold it");
        }
        self.desk.voice.show(&Shown::Ended { end: &finished.end, spent: &finished.spent });
        if let Some(error) = unkept {
            return Err(not_kept(&error));
        }
        if let Some(error) = self.desk.voice.lost() {
            return Err(Failure::output(error));
        }
        ended(&finished.end, &self.spoken)
    }

    /// Sums up all but the last exchange. Gives what there is to say about it.
    pub(crate) fn compact(&mut self) -> Result<String, Failure> {
        let all = self.history.exchanges();
        let ids: Vec<_> = all
            .iter()
            .rev()
            .skip(1)
            .rev()
            .filter(|exchange| !exchange.is_pinned())
            .map(|exchange| exchange.id().clone())
            .collect();
        let failed = |why: String| Failure::new("the conversation was not compacted").because(&Said(why));
        if ids.is_empty() {
            return Ok("there is nothing to compact".to_owned());
        }
        self.desk.cancel = self.interrupt.turn();
        let count = ids.len();
        let staged = self.desk.summarise(&self.history, ids);
        self.interrupt.rest();
        self.total.add(&self.desk.take_summaries());
        let staged = staged.map_err(failed)?;
        let size = staged.summary().len();
        let (_, record) = self.history.compact(staged).map_err(|error| failed(error.to_string()))?;
        self.desk.keep.append(&record).map_err(|error| not_kept(&error))?;
        Ok(format!("{} became a summary of {size} bytes", exchanges(count)))
    }

    /// Takes the last `count` exchanges out of the conversation, and what they did to files. Gives their prompts.
    pub(crate) fn undo(&mut self, count: usize) -> Result<(Vec<String>, Restored), Failure> {
        let all = self.history.exchanges();
        let Some(gone) =
            all.len().checked_sub(count).and_then(|place| all.get(place..)).filter(|it| !it.is_empty())
        else {
            return Err(Failure::new(format!("there are only {} exchanges to take back", all.len())));
        };
        let calls = gone.iter().flat_map(Exchange::blocks).filter_map(Block::as_call);
        let calls: BTreeSet<CallId> = calls.map(|call| call.id.clone()).collect();
        let from = gone[0].id().clone();
        let nothing = |error: &dyn std::error::Error| Failure::new("nothing was taken back").because(error);
        // Files first: whoever dies between the two still has the exchanges, and can take them back again.
        let restored = match self.desk.gate.workshop.undo() {
            Some(mut undo) => undo.restore(&calls).map_err(|error| nothing(&error))?,
            None => Restored::default(),
        };
        let (gone, record) = self.history.rewind(&from).map_err(|error| nothing(&error))?;
        self.desk.keep.append(&record).map_err(|error| not_kept(&error))?;
        Ok((gone.iter().map(|exchange| exchange.prompt().to_owned()).collect(), restored))
    }

    /// Begins a new conversation at the same place.
    pub(crate) fn clear(&mut self) -> Result<(), Failure> {
        let project = self.desk.gate.hooks.project.clone();
        let opening = prompt::opening(&project);
        let home = self.desk.keep.home().clone();
        let (keep, loaded) =
            Keep::open(&home, &self.data, &Which::New, &project, &self.desk.asks.model, &opening)?;
        if let Some(mut undo) = self.desk.gate.workshop.undo() {
            *undo = setup::undo(&self.data, keep.name(), &project)?;
        }
        keep.name().clone_into(&mut self.desk.gate.hooks.session);
        self.desk.gate.hooks.transcript = keep.transcript();
        self.desk.keep = keep;
        self.desk.brief_helpers();
        self.history = loaded.history;
        self.desk.began("clear");
        Ok(())
    }

    /// What helpers spent is the turn's, too; and a turn that they left nothing for has reached its limit.
    fn settle_purse(&self, finished: &mut Finished) {
        let purse = &self.desk.purse;
        finished.spent.add(&purse.take_helpers());
        if let (End::Blocked(_), true, Some(whole)) = (&finished.end, purse.is_empty(), self.budget.cost) {
            finished.end = End::Budget(Limit::Cost(whole));
        }
    }

    /// What of the money is left.
    fn remaining(&self) -> Budget {
        let spent = self.total.usage.cost.unwrap_or_default().nanodollars;
        let mut budget = self.budget.clone();
        if let Some(cost) = &mut budget.cost {
            cost.nanodollars = cost.nanodollars.saturating_sub(spent);
        }
        budget
    }

    fn exhausted(&self) -> Option<Limit> {
        let whole = self.budget.cost?;
        (self.remaining().cost?.nanodollars == 0).then_some(Limit::Cost(whole))
    }
}

fn ended(end: &End, spoken: &str) -> Result<(), Failure> {
    let told = |what: &str| Err(Failure::new(what).exit_with(end.exit()));
    match end {
        End::Done => Ok(()),
        End::Failed(error) => Err(provider::unanswered(error, spoken)),
        End::Interrupted => told("interrupted"),
        End::Truncated(stop) => told(&format!("the reply was cut off ({})", stop.literal)),
        End::Refused(stop) => told(&format!("the model refused to answer ({})", stop.literal)),
        End::Budget(limit) => told(&limit.to_string()),
        End::Blocked(why) => told(why),
        End::Invalid(fault) => Err(Failure::new("the request was not valid and was not sent").because(fault)),
    }
}

fn not_kept(error: &NotKept) -> Failure {
    keep::failure("the conversation cannot be kept", error)
}

/// Words that are a cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(String);
