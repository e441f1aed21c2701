//! One turn, from a prompt to the end of all that comes of it, as a pure machine: [`step`] takes an event and gives
//! effects. It keeps the history valid whatever comes and whenever it is interrupted. Knows no clock, no thread, no
//! connection and no hook; events that do not fit the moment change nothing.

mod budget;
mod gate;
mod listen;
mod say;
mod work;

use std::sync::Arc;
use std::time::Duration;

use llm::{Block, Stop};

use crate::check::Fault;
use crate::history::{ExchangeId, History, Record};
use crate::tools::{Output, Specs, Task};
use crate::window::{self, Fitted, Limits};

pub use budget::{Budget, End, Limit, Spent};
pub use gate::{Departure, Entry, Finale, Gate, Passed, Permit};
pub use say::{Say, Warning, Words};

use listen::Listening;
use work::Work;

/// What does not change during a turn.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub tools: Arc<Specs>,
    pub limits: Limits,
    pub budget: Budget,
    /// How often a reply that was cut off at a limit may be continued. None: the turn ends with a warning.
    pub continuations: u32,
}

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A new exchange. One that is still open is given up first.
    Begin {
        id: ExchangeId,
        prompt: String,
    },
    /// Goes on with the exchange that is open, as after a crash.
    Resume,
    /// What a gate decided.
    Passed(Passed),
    Stream(llm::Event),
    /// The request failed. `now_ms` is the time since 1970; `jitter` any number from 0 to 1.
    Failed {
        error: llm::Error,
        words: Words,
        now_ms: i64,
        jitter: f64,
    },
    /// The request was not sent: the front made something of it that no provider takes.
    Unsendable(Fault),
    /// The request was not sent: the front would not have it.
    Withheld(String),
    /// The time to wait is over.
    Waited,
    /// The tool that was started at this place gave something.
    Returned {
        place: usize,
        output: Output,
    },
    /// The user wants it to end.
    Interrupt,
    /// The time for the whole turn is over.
    Expired,
    /// Tools that were cancelled did not come back in time.
    Abandoned,
}

/// What shall be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Keep this, before anything that comes after it.
    Append(Record),
    Ask(Gate),
    /// Send what [`Turn::window`] shows.
    Request,
    /// Then say [`Event::Waited`].
    Wait {
        time: Duration,
        attempt: u32,
        error: String,
    },
    /// Start a tool; those that are running go on.
    Run {
        place: usize,
        task: Task,
    },
    /// End the tools that are running.
    Cancel,
    Say(Say),
    /// The turn is over.
    Stop,
}

/// The state of a turn.
#[derive(Debug)]
pub struct Turn {
    history: History,
    settings: Settings,
    phase: Phase,
    spent: Spent,
    repeats: work::Repeats,
    /// Replies that were continued after a limit.
    continued: u32,
    /// The window was made smaller because the provider refused it.
    shrunk: u32,
    /// A reply without words was asked about once.
    nudged: bool,
    end: Option<End>,
}

#[derive(Debug)]
enum Phase {
    New,
    /// A gate looks at the prompt.
    Entering(ExchangeId),
    /// A gate looks at the request.
    Departing,
    Listening(Listening),
    /// Before another attempt; so many have failed.
    Waiting(u32),
    Working(Work),
    /// A gate looks at the end.
    Leaving,
    Over,
}

/// What came of a turn.
#[derive(Debug)]
pub struct Finished {
    pub history: History,
    pub end: End,
    pub spent: Spent,
    /// Smaller than they were if the provider refused a window of that size.
    pub limits: Limits,
}

/// Takes an event.
pub fn step(mut turn: Turn, event: Event) -> (Turn, Vec<Effect>) {
    let mut effects = Vec::new();
    turn.take(event, &mut effects);
    (turn, effects)
}

impl Turn {
    pub fn new(history: History, settings: Settings) -> Turn {
        Turn {
            history,
            settings,
            phase: Phase::New,
            spent: Spent::default(),
            repeats: work::Repeats::default(),
            continued: 0,
            shrunk: 0,
            nudged: false,
            end: None,
        }
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the model sees of the history now. While tools are running: what it saw when it called them.
    pub fn window(&self) -> Fitted {
        window::fit(&self.history, &self.settings.limits)
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// A turn that is not over is interrupted here, and nobody is told.
    pub fn finish(mut self) -> Finished {
        let mut untold = Vec::new();
        self.take(Event::Interrupt, &mut untold);
        self.take(Event::Abandoned, &mut untold);
        let end = self.end.unwrap_or(End::Interrupted);
        Finished { history: self.history, end, spent: self.spent, limits: self.settings.limits }
    }

    fn take(&mut self, event: Event, out: &mut Vec<Effect>) {
        match event {
            Event::Begin { id, prompt } => self.begin(id, prompt, out),
            Event::Resume => self.resume(out),
            Event::Passed(passed) => self.passed(passed, out),
            Event::Stream(event) => self.heard(event, out),
            Event::Failed { error: llm::Error::Cancelled, .. } => self.halt(End::Interrupted, out),
            Event::Failed { error, words, now_ms, jitter } => self.failed(error, words, now_ms, jitter, out),
            Event::Unsendable(fault) => self.unsent("its request was not valid", End::Invalid(fault), out),
            Event::Withheld(why) => self.unsent(&why.clone(), End::Blocked(why), out),
            Event::Waited => {
                if let Phase::Waiting(failed) = self.phase {
                    self.send(failed, out);
                }
            }
            Event::Returned { place, output } => self.returned(place, output, out),
            Event::Interrupt => self.halt(End::Interrupted, out),
            Event::Expired => self.halt(End::Budget(Limit::Time), out),
            Event::Abandoned => self.abandon(out),
        }
    }

    fn begin(&mut self, id: ExchangeId, prompt: String, out: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::New) {
            return;
        }
        self.give_up("it was interrupted", out);
        self.phase = Phase::Entering(id);
        out.push(Effect::Ask(Gate::BeforePrompt { text: prompt }));
    }

    fn resume(&mut self, out: &mut Vec<Effect>) {
        match (&self.phase, self.history.open()) {
            (Phase::New, Some(_)) => self.depart(out),
            (Phase::New, None) => self.over(End::Blocked("there is nothing to go on with".to_owned()), out),
            _ => {}
        }
    }

    fn passed(&mut self, passed: Passed, out: &mut Vec<Effect>) {
        match passed {
            Passed::Prompt(entry) => self.entered(entry, out),
            Passed::Request(departure) => self.departed(departure, out),
            Passed::Tool { place, permit } => self.permitted(place, permit, out),
            Passed::Output { place, output } => self.judged(place, output, out),
            Passed::Stop(finale) => self.left(finale, out),
        }
    }

    fn entered(&mut self, entry: Entry, out: &mut Vec<Effect>) {
        let Phase::Entering(id) = &self.phase else { return };
        let text = match entry {
            Entry::Send(text) => text,
            Entry::Refuse(why) => return self.over(End::Blocked(why), out),
        };
        match self.history.prompt(id.clone(), &text) {
            Ok(record) => {
                out.push(Effect::Append(record));
                self.depart(out);
            }
            Err(refused) => self.over(End::Blocked(format!("the prompt cannot be sent: {refused}")), out),
        }
    }

    /// Asks whether the next request may go, if there is still something to spend.
    fn depart(&mut self, out: &mut Vec<Effect>) {
        if let Some(limit) = self.settings.budget.reached(&self.spent) {
            self.give_up(&limit.to_string(), out);
            return self.over(End::Budget(limit), out);
        }
        self.phase = Phase::Departing;
        out.push(Effect::Ask(Gate::BeforeRequest { round: self.spent.rounds }));
    }

    fn departed(&mut self, departure: Departure, out: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Departing) {
            return;
        }
        match departure {
            Departure::Send => {}
            Departure::Compact(staged) => match self.history.compact(staged) {
                Ok((_, record)) => out.push(Effect::Append(record)),
                Err(refused) => out.push(Effect::Say(Say::Warning(Warning::NotCompacted(refused)))),
            },
            Departure::Refuse(why) => {
                self.give_up(&why, out);
                return self.over(End::Blocked(why), out);
            }
        }
        self.send(0, out);
    }

    /// `failed` attempts came before this one.
    fn send(&mut self, failed: u32, out: &mut Vec<Effect>) {
        self.phase = Phase::Listening(Listening::after(failed));
        self.spent.requests += 1;
        out.push(Effect::Request);
    }

    fn unsent(&mut self, why: &str, end: End, out: &mut Vec<Effect>) {
        if matches!(self.phase, Phase::Listening(_)) {
            self.spent.requests -= 1;
            self.give_up(why, out);
            self.over(end, out);
        }
    }

    fn left(&mut self, finale: Finale, out: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Leaving) {
            return;
        }
        let Finale::GoOn(why) = finale else { return self.over(End::Done, out) };
        match self.history.note(&why) {
            Ok(record) => {
                out.push(Effect::Append(record));
                // It counts, so that somebody who always wants to go on does not do so for ever.
                self.spent.rounds += 1;
                self.depart(out);
            }
            Err(_) => self.over(End::Done, out),
        }
    }

    /// Ends the turn where it stands.
    fn halt(&mut self, end: End, out: &mut Vec<Effect>) {
        match &mut self.phase {
            Phase::Over => {}
            Phase::New | Phase::Entering(_) | Phase::Leaving => self.over(end, out),
            Phase::Departing | Phase::Waiting(_) => self.end_open(end, out),
            Phase::Listening(listening) => {
                let said = listening.take_said();
                if said.is_empty() {
                    return self.end_open(end, out);
                }
                // What the user has read is part of what they will speak about next.
                let mark = Block::text(&format!("[cut off here: {}]", end.reason()));
                let reply = self.history.admit(said.into_iter().chain([mark]).collect());
                self.append(|history| history.say(reply), out);
                self.over(end, out);
            }
            Phase::Working(_) => self.stop_work(end, out),
        }
    }

    fn end_open(&mut self, end: End, out: &mut Vec<Effect>) {
        self.give_up(&end.reason(), out);
        self.over(end, out);
    }

    fn give_up(&mut self, reason: &str, out: &mut Vec<Effect>) {
        out.extend(self.history.give_up(reason).map(Effect::Append));
    }

    /// For what the history takes because of where the turn stands.
    fn append(
        &mut self,
        change: impl FnOnce(&mut History) -> Result<Record, crate::history::Refused>,
        out: &mut Vec<Effect>,
    ) {
        let record = change(&mut self.history).expect("an exchange is open while a turn waits for its reply");
        out.push(Effect::Append(record));
    }

    fn over(&mut self, end: End, out: &mut Vec<Effect>) {
        self.phase = Phase::Over;
        self.end = Some(end);
        out.push(Effect::Stop);
    }
}

/// A reply that the model gave, and why it stopped.
#[derive(Debug)]
struct Heard {
    blocks: Vec<Block>,
    stop: Stop,
    usage: Option<llm::Usage>,
}
