//! The part of a turn in which a reply comes in: what is shown of it, what its end means, and whether a failure is tried
//! again.

use kit::text;
use llm::retry::{self, Attempt, Progress};
use llm::{Block, Done, Error, Kind, StopKind, View};

use super::{Effect, End, Gate, Heard, Phase, Say, Turn, Warning, Words};
use crate::history::{Record, Reply};
use crate::window;

/// How often a window is halved before the provider is believed.
const SHRINKS: u32 = 3;

/// For a reply that was cut off.
const GO_ON: &str = "Your reply was cut off at the length limit. Go on where it stopped.";

/// For a model that ends without a word after tools ran. Sending the same again would get the same.
const NUDGE: &str = "You ended without an answer. Go on, or say what came of it.";

/// A reply that is coming in.
#[derive(Debug, Default)]
pub(super) struct Listening {
    /// Attempts that failed before.
    failed: u32,
    blocks: Vec<Block>,
    /// Of the text that is being said.
    said: String,
    /// Something of it was shown.
    shown: bool,
}

impl Listening {
    pub(super) fn after(failed: u32) -> Listening {
        Listening { failed, ..Listening::default() }
    }

    fn progress(&self, words: Words) -> Progress {
        let out_of_hand = words == Words::Gone && !self.said.is_empty();
        if out_of_hand || !self.blocks.is_empty() { Progress::Committed } else { Progress::Open }
    }

    /// What was said aloud so far.
    pub(super) fn take_said(&mut self) -> Vec<Block> {
        let mut said = std::mem::take(&mut self.blocks);
        said.retain(|block| matches!(block.view(), View::Text(_)));
        let rest = std::mem::take(&mut self.said);
        if !rest.trim().is_empty() {
            said.push(Block::text(&rest));
        }
        said
    }
}

impl Turn {
    pub(super) fn heard(&mut self, event: llm::Event, out: &mut Vec<Effect>) {
        let Phase::Listening(listening) = &mut self.phase else { return };
        let say = match event {
            llm::Event::Started { model, .. } => Say::Started { model },
            llm::Event::Text(text) => {
                listening.said.push_str(&text);
                listening.shown = true;
                Say::Text(text)
            }
            llm::Event::Thinking(text) => {
                listening.shown = true;
                Say::Thinking(text)
            }
            llm::Event::CallStarted { index, name, .. } => {
                listening.shown = true;
                Say::Calling { index, name }
            }
            llm::Event::CallArguments { index, json } => Say::Arguments { index, json },
            llm::Event::Note(note) => Say::Note(note),
            llm::Event::Block(block) => {
                if block.as_text().is_some() {
                    listening.said.clear();
                }
                return listening.blocks.push(block);
            }
            llm::Event::Done(Done { stop, usage }) => {
                let blocks = std::mem::take(&mut listening.blocks);
                return self.replied(Heard { blocks, stop, usage }, out);
            }
        };
        out.push(Effect::Say(say));
    }

    fn replied(&mut self, heard: Heard, out: &mut Vec<Effect>) {
        let Heard { blocks, stop, usage } = heard;
        let output: usize = blocks.iter().map(|block| block.raw().get().len()).sum();
        let guess = || (self.window().tokens(), text::tokens(output as u64));
        let guess = if usage.is_none() { guess() } else { (0, 0) };
        self.spent.pay(usage, guess);
        out.extend(usage.map(|usage| Effect::Append(Record::Usage(usage))));
        out.push(Effect::Say(Say::Replied { stop: stop.clone(), usage }));
        let reply = self.history.admit(blocks);
        match stop.kind {
            StopKind::Refusal => {
                out.push(Effect::Say(Say::Retract));
                self.end_open(End::Refused(stop), out);
            }
            StopKind::MaxTokens | StopKind::ContextFull => self.cut_off(reply, stop, out),
            _ if !reply.calls().is_empty() => self.work(reply, out),
            StopKind::PauseTurn | StopKind::Compaction => {
                self.append(|history| history.pause(reply), out);
                self.spent.rounds += 1;
                self.go_on(out);
            }
            _ => self.said(reply, stop, out),
        }
    }

    /// A paused reply that was empty is over; any other goes on.
    fn go_on(&mut self, out: &mut Vec<Effect>) {
        match self.history.open() {
            Some(_) => self.depart(out),
            None => self.over(End::Done, out),
        }
    }

    fn cut_off(&mut self, reply: Reply, stop: llm::Stop, out: &mut Vec<Effect>) {
        out.push(Effect::Say(Say::Warning(Warning::CutOff(stop.literal.clone()))));
        if self.continued >= self.settings.continuations {
            self.append(|history| history.say(reply.without_calls()), out);
            return self.over(End::Truncated(stop), out);
        }
        self.continued += 1;
        if stop.kind == StopKind::ContextFull {
            self.settings.limits.bytes = self.window().bytes / 2;
        }
        // Its calls are complete: their results are as good a reason to go on.
        if !reply.calls().is_empty() {
            return self.work(reply, out);
        }
        self.append(|history| history.say(reply), out);
        self.append(|history| history.note(GO_ON), out);
        self.depart(out);
    }

    /// A reply without calls.
    fn said(&mut self, reply: Reply, stop: llm::Stop, out: &mut Vec<Effect>) {
        let text = reply.text();
        self.append(|history| history.say(reply), out);
        if text.is_empty() && self.spent.rounds > 0 && !std::mem::replace(&mut self.nudged, true) {
            self.append(|history| history.note(NUDGE), out);
            return self.depart(out);
        }
        if text.is_empty() {
            out.push(Effect::Say(Say::Warning(Warning::NothingSaid)));
        }
        self.phase = Phase::Leaving;
        out.push(Effect::Ask(Gate::BeforeStop { text, stop }));
    }

    pub(super) fn failed(
        &mut self,
        error: Error,
        words: Words,
        now_ms: i64,
        jitter: f64,
        out: &mut Vec<Effect>,
    ) {
        let Phase::Listening(listening) = &self.phase else { return };
        let failed = listening.failed + 1;
        let progress = listening.progress(words);
        if listening.shown {
            out.push(Effect::Say(Say::Retract));
        }
        if let Some(time) = retry::next(&error, Attempt { failed, progress, now_ms, jitter }) {
            self.phase = Phase::Waiting(failed);
            return out.push(Effect::Wait { time, attempt: failed, error: error.to_string() });
        }
        let too_long = error.complaint().is_some_and(|complaint| complaint.kind == Kind::ContextTooLong);
        if too_long && progress == Progress::Open && self.shrink() {
            out.push(Effect::Say(Say::Warning(Warning::Shrunk(self.settings.limits.bytes))));
            return self.send(failed - 1, out);
        }
        self.end_open(End::Failed(error), out);
    }

    /// Halves the window, if that leaves anything out.
    fn shrink(&mut self) -> bool {
        let before = self.window().bytes;
        let limits = window::Limits { bytes: before / 2, ..self.settings.limits.clone() };
        let smaller = window::fit(&self.history, &limits).bytes < before;
        if smaller && self.shrunk < SHRINKS {
            self.shrunk += 1;
            self.settings.limits = limits;
            return true;
        }
        false
    }
}
