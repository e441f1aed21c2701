//! A subagent: one task in a conversation of its own, with an empty window, its own eyes and budget, and no subagents
//! below it. Its calls stand in the transcript of whoever sent it, its report is the answer; what it does to files is kept
//! for undo like everything else, and the same gate stands before its tools.

mod account;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use conversation::drive::{self, Host, Start, Work};
use conversation::tools::{Output, Task};
use conversation::turn::{Budget, End, Finale, Permit, Say, Settings, Turn};
use conversation::window::{Limits, Relief};
use conversation::{ExchangeId, History, Record};
use kit::invocation::Clock;
use kit::process::Cancel;
use llm::{CallId, Client, Message, Request};

use crate::desk::Asks;
use crate::eyes::Eyes;
use crate::gate::{Gate, Guard};
use crate::hooks::Hooks;
use crate::keep::{self, Keep, NotKept};
use crate::prompt;
use crate::purse::Purse;
use crate::toolbox::Toolbox;
use crate::tools::task::Subagent;
use crate::tools::{TASK, Workshop};
use crate::voice::summary;
use account::Account;

/// Half of what a turn of ours has.
const ROUNDS: u32 = 25;

/// Somebody waits for it.
const TIME: Duration = Duration::from_secs(600);

/// Runs errands. The conversation it belongs to is known once that is put together, and can become another.
pub(crate) struct Errands {
    client: Client,
    clock: Clock,
    opening: String,
    purse: Purse,
    place: Mutex<Option<Place>>,
}

/// Whose errands are run.
#[derive(Clone)]
pub(crate) struct Place {
    /// It owns us.
    pub(crate) workshop: Weak<Workshop>,
    pub(crate) hooks: Hooks,
    pub(crate) guard: Arc<Mutex<Guard>>,
    pub(crate) asks: Asks,
    pub(crate) keep: Keep,
}

impl Errands {
    pub(crate) fn new(client: Client, clock: Clock, opening: String, purse: Purse) -> Errands {
        Errands { client, clock, opening, purse, place: Mutex::new(None) }
    }

    /// The next helper works there.
    pub(crate) fn settle(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    fn place(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Subagent for Errands {
    fn run(&self, call: &CallId, task: &str, live: &mut dyn FnMut(&str), cancel: &Cancel) -> Output {
        let nobody = || Output::failed("there is no helper here");
        let Some(Place { workshop, hooks, guard, asks, keep }) = self.place() else { return nobody() };
        let Some(workshop) = workshop.upgrade() else { return nobody() };
        let tools = match Toolbox::new(Arc::clone(&workshop), None, Some(TASK)) {
            Ok(tools) => tools,
            Err(failure) => return Output::failed(failure.to_string()),
        };
        let asks = Asks { system: format!("{}{}", asks.system, prompt::SUBAGENT), ..asks };
        let settings = Settings {
            tools: tools.specs(),
            limits: Limits { relief: Relief::Exchanges, ..Limits::default() },
            budget: Budget { rounds: ROUNDS, time: Some(TIME), cost: self.purse.left(), ..Budget::default() },
            continuations: 0,
        };
        let mut errand = Errand {
            call: call.clone(),
            asks,
            tools,
            gate: Gate::new(hooks, workshop, guard),
            clock: self.clock.clone(),
            cancel: cancel.clone(),
            purse: self.purse.clone(),
            account: Account::new(keep, call),
            live,
        };
        let start = Start::Prompt { id: ExchangeId("task".to_owned()), text: task.to_owned() };
        let history = History::new(&self.opening);
        match drive::run(&self.client, &mut errand, history, settings, start, cancel) {
            Ok(finished) => report(&finished.history, &finished.end),
            Err(unsaved) => {
                let failure = keep::failure("what the helper does cannot be kept", &unsaved.error);
                Output::failed(failure.to_string())
            }
        }
    }
}

/// The last words, or why there are none.
fn report(history: &History, end: &End) -> Output {
    let words = history.exchanges().last().and_then(conversation::Exchange::answer).unwrap_or_default();
    match end {
        End::Done if !words.is_empty() => Output::done(words),
        End::Done => Output::failed("The helper ended without a report."),
        End::Failed(error) => Output::failed(format!("The helper could not go on: {error}\n{words}")),
        End::Interrupted => Output::failed(format!("The helper was interrupted.\n{words}")),
        End::Budget(limit) => Output::failed(format!("The helper was stopped: {limit}.\n{words}")),
        _ => Output::failed(format!("The helper did not finish.\n{words}")),
    }
}

struct Errand<'a> {
    /// Who sent us: what we do to files is taken back with it.
    call: CallId,
    asks: Asks,
    tools: Toolbox,
    gate: Gate,
    clock: Clock,
    cancel: Cancel,
    purse: Purse,
    account: Account,
    live: &'a mut dyn FnMut(&str),
}

impl Host for Errand<'_> {
    type Error = NotKept;

    fn compose(&mut self, messages: Vec<Message>, turn: &Turn) -> Request {
        self.purse.helper_asks();
        self.asks.request(messages, turn.settings().tools.tools())
    }

    fn start(&mut self, task: &Task, turn: &Turn) -> Work {
        self.told(summary(task).trim_start());
        self.tools.start(&Task { id: self.call.clone(), ..task.clone() }, turn)
    }

    fn append(&mut self, record: &Record) -> Result<(), NotKept> {
        self.account.enter(record)
    }

    fn say(&mut self, say: Say) {
        match say {
            Say::Replied { usage: Some(usage), .. } => self.purse.pay_for_helper(&usage),
            Say::Warning(warning) => self.told(&warning.to_string()),
            Say::Retrying { error, attempt, .. } => {
                self.told(&format!("{error}; trying again (attempt {attempt})"));
            }
            _ => {}
        }
    }

    fn now_ms(&self) -> i64 {
        self.clock.unix_ms()
    }

    fn before_tool(&mut self, task: &Task, turn: &Turn) -> Permit {
        let (permit, remarks) = self.gate.tool(task, &Eyes::of(turn), &self.cancel);
        remarks.user.iter().for_each(|words| self.told(words));
        permit
    }

    fn after_tool(&mut self, task: &Task, output: Output, _: &Turn) -> Output {
        let (output, remarks) = self.gate.output(task, output, &self.cancel);
        remarks.user.iter().for_each(|words| self.told(words));
        output
    }

    fn before_stop(&mut self, _: &str, _: &llm::Stop, _: &Turn) -> Finale {
        Finale::End
    }
}

impl Errand<'_> {
    /// A line for whoever watches.
    fn told(&mut self, words: &str) {
        (self.live)(&format!("{words}\n"));
    }
}
