//! Runs a turn against a real provider: does the effects, brings the events. The only module with threads. A front says
//! through [`Host`] how a request is composed, what a tool does, where records are kept and what is shown.

mod incoming;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use kit::process::Cancel;
use llm::{Client, Message, Request};

use crate::check;
use crate::history::{ExchangeId, History, Record};
use crate::tools::{Output, Task};
use crate::turn::{
    self, Departure, Effect, Entry, Event, Finale, Finished, Gate, Passed, Permit, Say, Settings, Turn, Words,
};

use incoming::{Heard, Incoming};
pub use incoming::{Live, Work};

/// How long tools may take to end when they are told to. What they give after that is lost, and the model is told so.
const GRACE: Duration = Duration::from_secs(5);

/// A countdown is said this often.
const SECOND: Duration = Duration::from_secs(1);

/// What a front brings. Everything is called on the thread that called [`run`]; while a method works, the turn waits.
pub trait Host {
    /// Why something could not be kept.
    type Error;

    /// Why the request that is about to be composed may not be sent, if so. After whatever came of
    /// [`Host::before_request`].
    fn withhold(&mut self, _turn: &Turn) -> Option<String> {
        None
    }

    /// The whole request around these messages: model, system, tools, options, and a last system message if there is
    /// something that changes from turn to turn.
    fn compose(&mut self, messages: Vec<Message>, turn: &Turn) -> Request;

    /// What runs the tool. `turn` tells what the model sees now.
    fn start(&mut self, task: &Task, turn: &Turn) -> Work;

    /// Keeps a record before anything that comes after it is done.
    fn append(&mut self, record: &Record) -> Result<(), Self::Error>;

    fn say(&mut self, say: Say);

    /// Whether a reply that breaks off can be asked for again although the first words of it were shown.
    fn words(&self) -> Words {
        Words::Retractable
    }

    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;

    fn before_prompt(&mut self, text: String, _turn: &Turn) -> Entry {
        Entry::Send(text)
    }

    fn before_request(&mut self, _round: u32, _turn: &Turn) -> Departure {
        Departure::Send
    }

    fn before_tool(&mut self, _task: &Task, _turn: &Turn) -> Permit {
        Permit::Run
    }

    fn after_tool(&mut self, _task: &Task, output: Output, _turn: &Turn) -> Output {
        output
    }

    fn before_stop(&mut self, _text: &str, _stop: &llm::Stop, _turn: &Turn) -> Finale {
        Finale::End
    }
}

/// How a turn starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Prompt {
        id: ExchangeId,
        text: String,
    },
    /// With the exchange that is open.
    Resume,
}

/// Something could not be kept. The turn was ended there; its history is valid, and more than what was kept.
#[derive(Debug)]
pub struct Unsaved<E> {
    pub error: E,
    pub finished: Finished,
}

/// Runs one turn to its end. When `cancel` is set it ends soon, whatever it waits for: a stream is hung up, tools are told
/// to end and waited for a few seconds at the most.
pub fn run<H: Host>(
    client: &Client,
    host: &mut H,
    history: History,
    settings: Settings,
    start: Start,
    cancel: &Cancel,
) -> Result<Finished, Box<Unsaved<H::Error>>> {
    let deadline = settings.budget.time.and_then(|time| Instant::now().checked_add(time));
    let mut driver = Driver {
        client,
        host,
        cancel,
        deadline,
        incoming: Incoming::new(),
        inner: Cancel::default(),
        waiting: None,
        grace: None,
        told: Told::default(),
    };
    let mut turn = Turn::new(history, settings);
    let mut events = VecDeque::from([match start {
        Start::Prompt { id, text } => Event::Begin { id, prompt: text },
        Start::Resume => Event::Resume,
    }]);
    let done = loop {
        if turn.is_over() {
            break Ok(());
        }
        let event = driver.urgent().or_else(|| events.pop_front()).unwrap_or_else(|| driver.wait());
        let (next, effects) = turn::step(turn, event);
        turn = next;
        if let Err(error) = driver.perform(effects, &turn, &mut events) {
            break Err(error);
        }
    };
    driver.inner.cancel();
    let finished = turn.finish();
    match done {
        Ok(()) => Ok(finished),
        Err(error) => Err(Box::new(Unsaved { error, finished })),
    }
}

struct Driver<'a, H> {
    client: &'a Client,
    host: &'a mut H,
    cancel: &'a Cancel,
    deadline: Option<Instant>,
    incoming: Incoming,
    /// Ends the stream and the tools of this turn.
    inner: Cancel,
    waiting: Option<Waiting>,
    /// Until when tools that were told to end are waited for.
    grace: Option<Instant>,
    told: Told,
}

/// Before another attempt.
struct Waiting {
    until: Instant,
    /// When the countdown is said again.
    next: Instant,
    attempt: u32,
    error: String,
}

/// What is said once.
#[derive(Default)]
struct Told {
    interrupt: bool,
    expired: bool,
}

impl<H: Host> Driver<'_, H> {
    fn perform(
        &mut self,
        effects: Vec<Effect>,
        turn: &Turn,
        events: &mut VecDeque<Event>,
    ) -> Result<(), H::Error> {
        for effect in effects {
            match effect {
                Effect::Append(record) => self.host.append(&record)?,
                Effect::Ask(gate) => events.push_back(Event::Passed(self.ask(gate, turn))),
                Effect::Request => events.extend(self.request(turn)),
                Effect::Wait { time, attempt, error } => self.count_down(time, attempt, error),
                Effect::Run { place, task } => {
                    let work = self.host.start(&task, turn);
                    self.incoming.work(place, work, &self.inner);
                }
                Effect::Cancel => {
                    self.inner.cancel();
                    self.grace = Instant::now().checked_add(GRACE);
                }
                Effect::Say(say) => self.host.say(say),
                Effect::Stop => {}
            }
        }
        Ok(())
    }

    fn ask(&mut self, gate: Gate, turn: &Turn) -> Passed {
        let host = &mut *self.host;
        match gate {
            Gate::BeforePrompt { text } => Passed::Prompt(host.before_prompt(text, turn)),
            Gate::BeforeRequest { round } => Passed::Request(host.before_request(round, turn)),
            Gate::BeforeTool { place, task } => Passed::Tool { place, permit: host.before_tool(&task, turn) },
            Gate::AfterTool { place, task, output } => {
                Passed::Output { place, output: host.after_tool(&task, output, turn) }
            }
            Gate::BeforeStop { text, stop } => Passed::Stop(host.before_stop(&text, &stop, turn)),
        }
    }

    /// Sends a request, if it is one that a provider takes.
    fn request(&mut self, turn: &Turn) -> Option<Event> {
        if let Some(why) = self.host.withhold(turn) {
            return Some(Event::Withheld(why));
        }
        let messages = turn.window().messages(turn.history());
        let request = self.host.compose(messages, turn);
        if let Err(fault) = check::messages(&request.messages) {
            return Some(Event::Unsendable(fault));
        }
        self.incoming.listen(self.client.start(&request, &self.inner));
        None
    }

    fn count_down(&mut self, time: Duration, attempt: u32, error: String) {
        let now = Instant::now();
        let until = now.checked_add(time).unwrap_or(now);
        self.waiting = Some(Waiting { until, next: now, attempt, error });
    }

    /// What does not wait for its turn.
    fn urgent(&mut self) -> Option<Event> {
        let expired = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if self.cancel.is_cancelled() && !std::mem::replace(&mut self.told.interrupt, true) {
            return Some(Event::Interrupt);
        }
        if expired && !std::mem::replace(&mut self.told.expired, true) {
            return Some(Event::Expired);
        }
        None
    }

    /// The next thing that happens.
    fn wait(&mut self) -> Event {
        loop {
            if let Some(event) = self.urgent() {
                return event;
            }
            let now = Instant::now();
            if self.grace.is_some_and(|grace| now >= grace) {
                self.grace = None;
                return Event::Abandoned;
            }
            if let Some(event) = self.counted(now) {
                return event;
            }
            match self.incoming.next() {
                None => {}
                Some(Heard::Live { place, text }) => self.host.say(Say::Live { place, text }),
                Some(Heard::Tool { place, output }) => return Event::Returned { place, output },
                Some(Heard::Stream(Ok(event))) => return Event::Stream(event),
                Some(Heard::Stream(Err(error))) => {
                    let now_ms = self.host.now_ms();
                    // The milliseconds of the moment differ between clients as well as any number.
                    let jitter = now_ms.rem_euclid(1000) as f64 / 1000.0;
                    return Event::Failed { error, words: self.host.words(), now_ms, jitter };
                }
            }
        }
    }

    /// Says the countdown each second, and its end.
    fn counted(&mut self, now: Instant) -> Option<Event> {
        let waiting = self.waiting.as_mut()?;
        if now >= waiting.until {
            self.waiting = None;
            return Some(Event::Waited);
        }
        if now >= waiting.next {
            waiting.next = now.checked_add(SECOND).unwrap_or(waiting.until);
            let (error, left) = (waiting.error.clone(), waiting.until.saturating_duration_since(now));
            self.host.say(Say::Retrying { error, attempt: waiting.attempt, left });
        }
        None
    }
}
