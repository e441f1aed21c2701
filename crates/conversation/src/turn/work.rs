//! The part of a turn in which tools run: in the order of the calls, side by side where the tools allow it, and each call
//! with exactly one result in the end.

use llm::{Call, Input};
use serde_json::Value;

use super::{Effect, End, Gate, Permit, Phase, Say, Turn, Warning};
use crate::history::{Ending, Record, Reply, Returned};
use crate::tools::{Beside, Output, Task};

/// The same call so many times in a row is not run again.
const REPEATS: u32 = 3;

const NOT_RUN: &str = "Not run: the turn ended before it.";
const ABANDONED: &str = "It was told to end and did not. What it did is not known.";

/// The calls of one reply.
#[derive(Debug)]
pub(super) struct Work {
    reply: Reply,
    slots: Vec<Slot>,
    /// Why the turn ends when the tools that are running have come back.
    halting: Option<End>,
}

#[derive(Debug)]
enum Slot {
    Queued,
    /// A gate looks at it.
    Asked(Task),
    Running(Task),
    /// A gate looks at what it gave.
    Judged(Task, Output),
    Done(Returned),
}

/// What was called last, and how often in a row.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Option<(String, String)>,
    times: u32,
}

impl Repeats {
    fn count(&mut self, call: &Call) -> u32 {
        let arguments = match &call.input {
            // Two spellings of the same are the same.
            Input::Object(_) => call.input.object().map(Value::Object).unwrap_or_default().to_string(),
            Input::Broken(text) => text.clone(),
        };
        let this = Some((call.name.clone(), arguments));
        self.times = if self.last == this { self.times + 1 } else { 1 };
        self.last = this;
        self.times
    }
}

impl Turn {
    /// What the calls of the current reply have given so far. The model has not seen it yet, but will with the rest.
    pub fn given(&self) -> impl Iterator<Item = (&Call, &Returned)> {
        let work = if let Phase::Working(work) = &self.phase { Some(work) } else { None };
        let all = work.into_iter().flat_map(|work| work.reply.calls().iter().zip(&work.slots));
        all.filter_map(
            |(call, slot)| if let Slot::Done(returned) = slot { Some((call, returned)) } else { None },
        )
    }

    /// Starts with the calls of a reply.
    pub(super) fn work(&mut self, reply: Reply, out: &mut Vec<Effect>) {
        // Before anything runs, so that a crash leaves a trace of what was about to happen.
        out.push(Effect::Append(Record::Reply { blocks: reply.blocks().to_vec(), ending: Ending::Complete }));
        let slots = reply.calls().iter().map(|_| Slot::Queued).collect();
        self.phase = Phase::Working(Work { reply, slots, halting: None });
        self.advance(out);
    }

    /// Looks at the next calls, as far as their turn has come; ends the round when all are done.
    fn advance(&mut self, out: &mut Vec<Effect>) {
        while let Phase::Working(work) = &mut self.phase {
            let Some(place) = work.slots.iter().position(|slot| matches!(slot, Slot::Queued)) else { break };
            let call = &work.reply.calls()[place];
            let tools = &self.settings.tools;
            if !work.may_start(place, |name| tools.get(name).map_or(Beside::Others, |spec| spec.beside)) {
                break;
            }
            let refused = if self.repeats.count(call) >= REPEATS {
                out.push(Effect::Say(Say::Warning(Warning::Repeating(call.name.clone()))));
                Err(repeated(call))
            } else {
                tools.check(call)
            };
            match refused {
                Ok(task) => {
                    out.push(Effect::Ask(Gate::BeforeTool { place, task: task.clone() }));
                    work.slots[place] = Slot::Asked(task);
                }
                Err(output) => work.done(place, output, out),
            }
        }
        self.conclude(out);
    }

    pub(super) fn permitted(&mut self, place: usize, permit: Permit, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        let Some(Slot::Asked(task)) = work.slots.get(place) else { return };
        let permitted = match permit {
            Permit::Run => Ok(task.clone()),
            Permit::RunWith(arguments) => self.settings.tools.recheck(task, arguments),
            Permit::Deny(why) => Err(Output::failed(why)),
        };
        match permitted {
            Ok(task) => {
                out.push(Effect::Run { place, task: task.clone() });
                work.slots[place] = Slot::Running(task);
            }
            Err(output) => work.done(place, output, out),
        }
        self.advance(out);
    }

    pub(super) fn returned(&mut self, place: usize, output: Output, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        let Some(Slot::Running(task)) = work.slots.get(place) else { return };
        let output = self.settings.tools.capped(&task.name, output);
        if work.halting.is_some() {
            work.done(place, output, out);
            return self.conclude(out);
        }
        let task = task.clone();
        out.push(Effect::Ask(Gate::AfterTool { place, task: task.clone(), output: output.clone() }));
        work.slots[place] = Slot::Judged(task, output);
    }

    pub(super) fn judged(&mut self, place: usize, output: Output, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        let Some(Slot::Judged(task, _)) = work.slots.get(place) else { return };
        let output = self.settings.tools.capped(&task.name, output);
        work.done(place, output, out);
        self.advance(out);
    }

    /// Ends the round: what has not started never does, and what is running is told to end. The second time nobody is
    /// waited for.
    pub(super) fn stop_work(&mut self, end: End, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        if work.halting.is_some() {
            return self.abandon(out);
        }
        work.halting = Some(end);
        let mut running = false;
        for place in 0..work.slots.len() {
            match &work.slots[place] {
                Slot::Queued | Slot::Asked(_) => work.done(place, Output::failed(NOT_RUN), out),
                Slot::Judged(_, output) => work.done(place, output.clone(), out),
                Slot::Running(_) => running = true,
                Slot::Done(_) => {}
            }
        }
        if running {
            out.push(Effect::Cancel);
        }
        self.conclude(out);
    }

    /// Does not wait for tools that were told to end.
    pub(super) fn abandon(&mut self, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        if work.halting.is_none() {
            return;
        }
        for place in 0..work.slots.len() {
            if matches!(work.slots[place], Slot::Running(_)) {
                work.done(place, Output::failed(ABANDONED), out);
            }
        }
        self.conclude(out);
    }

    /// Goes on when each call has its result.
    fn conclude(&mut self, out: &mut Vec<Effect>) {
        let Phase::Working(work) = &mut self.phase else { return };
        if !work.slots.iter().all(|slot| matches!(slot, Slot::Done(_))) {
            return;
        }
        let Phase::Working(work) = std::mem::replace(&mut self.phase, Phase::Departing) else { return };
        let results = work.slots.into_iter().filter_map(|slot| match slot {
            Slot::Done(returned) => Some(returned),
            _ => None,
        });
        let taken = self.history.round(work.reply, results.collect());
        taken.expect("an exchange is open while its calls are worked on, and each has a result");
        self.spent.rounds += 1;
        match work.halting {
            Some(end) => self.end_open(end, out),
            None => self.depart(out),
        }
    }
}

impl Work {
    /// Whether all that must be done before this call is done. One question at a time.
    fn may_start(&self, place: usize, beside: impl Fn(&str) -> Beside) -> bool {
        let alone = |place: usize| beside(&self.reply.calls()[place].name) == Beside::Nobody;
        let busy = |place: &usize| !matches!(self.slots[*place], Slot::Done(_));
        let asked = self.slots.iter().any(|slot| matches!(slot, Slot::Asked(_)));
        let mut before = (0..place).filter(busy);
        !asked && if alone(place) { before.next().is_none() } else { !before.any(alone) }
    }

    fn done(&mut self, place: usize, output: Output, out: &mut Vec<Effect>) {
        let Output { content, outcome, rests_on } = output;
        let id = self.reply.calls()[place].id.clone();
        let returned = Returned { result: llm::ToolResult { id, content, outcome }, rests_on };
        out.push(Effect::Append(Record::Result(returned.clone())));
        self.slots[place] = Slot::Done(returned);
    }
}

fn repeated(call: &Call) -> Output {
    Output::failed(format!(
        "Not run: this is the same call of `{}` for the third time in a row, and you did nothing in between. \
         Look at the results you have, or try something else.",
        call.name
    ))
}
