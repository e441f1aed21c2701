//! A subagent: one task in a conversation of its own, with an empty window, its own eyes and budget, and no subagents
//! below it. Nothing of it is kept but its report and a line about each of its deeds; what it does to files is kept for
//! undo like everything else, and the same gate stands before its tools.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use conversation::drive::{self, Host, Start, Work};
use conversation::tools::{Output, Task};
use conversation::turn::{Budget, End, Finale, Permit, Say, Settings, Turn};
use conversation::window::{Limits, Relief};
use conversation::{ExchangeId, History, Record};
use kit::invocation::Clock;
use kit::process::Cancel;
use kit::text;
use llm::{CallId, Client, Message, Request};

use crate::desk::Asks;
use crate::eyes::Eyes;
use crate::gate::{Gate, Guard};
use crate::hooks::Hooks;
use crate::permission::Access;
use crate::prompt;
use crate::purse::Purse;
use crate::toolbox::Toolbox;
use crate::tools::task::Subagent;
use crate::tools::{TASK, Workshop};
use crate::voice::summary;

/// Half of what a turn of ours has.
const ROUNDS: u32 = 25;

/// Somebody waits for it.
const TIME: Duration = Duration::from_secs(600);

/// Runs errands. The workshop it belongs to is known once it is built.
pub(crate) struct Errands {
    client: Client,
    asks: Asks,
    clock: Clock,
    opening: String,
    purse: Purse,
    place: OnceLock<Place>,
}

/// Where errands are run.
struct Place {
    /// It owns us.
    workshop: Weak<Workshop>,
    hooks: Hooks,
    guard: Arc<Mutex<Guard>>,
}

impl Errands {
    pub(crate) fn new(client: Client, asks: Asks, clock: Clock, opening: String, purse: Purse) -> Errands {
        Errands { client, asks, clock, opening, purse, place: OnceLock::new() }
    }

    pub(crate) fn settle(&self, workshop: &Arc<Workshop>, hooks: &Hooks, guard: &Arc<Mutex<Guard>>) {
        let place =
            Place { workshop: Arc::downgrade(workshop), hooks: hooks.clone(), guard: Arc::clone(guard) };
        // It is settled once, when the workshop is built.
        let _ = self.place.set(place);
    }

    fn gate(&self) -> Option<Gate> {
        let Place { workshop, hooks, guard } = self.place.get()?;
        Some(Gate::new(hooks.clone(), workshop.upgrade()?, Arc::clone(guard)))
    }
}

impl Subagent for Errands {
    fn run(&self, call: &CallId, task: &str, live: &mut dyn FnMut(&str), cancel: &Cancel) -> Output {
        let Some(gate) = self.gate() else { return Output::failed("there is no helper here") };
        let tools = match Toolbox::new(Arc::clone(&gate.workshop), None, Some(TASK)) {
            Ok(tools) => tools,
            Err(failure) => return Output::failed(failure.to_string()),
        };
        let asks = Asks { system: format!("{}{}", self.asks.system, prompt::SUBAGENT), ..self.asks.clone() };
        let settings = Settings {
            tools: tools.specs(),
            limits: Limits { relief: Relief::Exchanges, ..Limits::default() },
            budget: Budget { rounds: ROUNDS, time: Some(TIME), cost: self.purse.left(), ..Budget::default() },
            continuations: 0,
        };
        let (call, clock, cancel) = (call.clone(), self.clock.clone(), cancel.clone());
        let purse = self.purse.clone();
        let mut errand =
            Errand { call, asks, tools, gate, clock, cancel: cancel.clone(), purse, deeds: Vec::new(), live };
        let start = Start::Prompt { id: ExchangeId("task".to_owned()), text: task.to_owned() };
        let finished =
            drive::run(&self.client, &mut errand, History::new(&self.opening), settings, start, &cancel);
        let finished = finished.unwrap_or_else(|unsaved| match unsaved.error {});
        let mut output = report(&finished.history, &finished.end);
        output.content.push_str(&accounted(&errand.deeds));
        output
    }
}

/// For whoever reads the transcript, which has nothing else of the helper: what it changed and ran.
fn accounted(deeds: &[String]) -> String {
    const ENOUGH: usize = 4000;
    match deeds.is_empty() {
        true => String::new(),
        false => format!("\n\n[the helper did: {}]", text::clip(&deeds.join("; "), ENOUGH, "")),
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
    /// Calls that did more than look, each in a line.
    deeds: Vec<String>,
    live: &'a mut dyn FnMut(&str),
}

impl Host for Errand<'_> {
    type Error = std::convert::Infallible;

    fn compose(&mut self, messages: Vec<Message>, turn: &Turn) -> Request {
        self.asks.request(messages, turn.settings().tools.tools())
    }

    fn start(&mut self, task: &Task, turn: &Turn) -> Work {
        let line = summary(task).trim_start().to_owned();
        self.told(&line);
        if let Access::Write(_) | Access::Run(_) | Access::Unknown = self.gate.workshop.access(task) {
            self.deeds.push(line);
        }
        self.tools.start(&Task { id: self.call.clone(), ..task.clone() }, turn)
    }

    fn append(&mut self, _: &Record) -> Result<(), Self::Error> {
        Ok(())
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
