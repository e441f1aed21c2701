//! The turn machine without any driver: every event at every moment, and the way each kind of turn ends.

use std::collections::VecDeque;
use std::time::Duration;

use conversation::tools::{Beside, Output, Registry, Spec};
use conversation::turn::{
    self, Budget, Departure, Effect, End, Entry, Event, Finale, Finished, Gate, Limit, Passed, Permit, Say,
    Settings, Turn, Warning, Words,
};
use conversation::{History, Record, Step, compact, window};
use llm::{
    Advice, Block, CallId, Complaint, Cost, Decoder, Done, Error, Input, Kind, Message, Outcome, Stop,
    StopKind, Usage, Wire,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};
use testkit::Random;

use crate::{assert_sendable, assert_valid, id, making};

/// Conversations of up to three turns each, a part of more than 100,000 turns in all. There are parts so that each ends in
/// time on a machine with much else to do.
const CONVERSATIONS: u32 = 6_300;

/// For each turn its settings, and what happens in it one by one.
fn turns() -> impl Strategy<Value = Vec<(u64, Vec<u64>)>> {
    vec((any::<u64>(), vec(any::<u64>(), 0..40)), 1..=3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CONVERSATIONS, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_first_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_second_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_third_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_fourth_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_fifth_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_sixth_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_seventh_part(turns in turns()) {
        live(turns);
    }

    #[test]
    fn no_sequence_of_events_makes_a_request_that_a_provider_refuses_eighth_part(turns in turns()) {
        live(turns);
    }
}

fn settings() -> Settings {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let read = Spec::new("read", "reads", schema.clone()).beside(Beside::Others).cap(1000, "use offset");
    let tools = Registry::new([(read, ()), (Spec::new("write", "writes", schema), ())]).unwrap();
    Settings { tools: tools.specs().clone(), ..Settings::default() }
}

/// A few turns of one conversation. What was kept of each tells the whole history.
fn live(turns: Vec<(u64, Vec<u64>)>) {
    let mut life = Life { log: Vec::new(), waiting: Waiting::default(), random: Random::new(0) };
    let (mut history, mut repairs) = (History::default(), Vec::new());
    for (number, (seed, events)) in turns.into_iter().enumerate() {
        life.random = Random::new(seed);
        let mut settings = settings();
        settings.limits.bytes = 200 + life.random.below(4000);
        settings.budget.rounds = 1 + life.random.below(4) as u32;
        settings.continuations = life.random.below(3) as u32;
        let (finished, over) = life.turn(number, history, settings, events);
        let loaded = History::load(life.log.clone());
        if over {
            assert_eq!(loaded.repairs, repairs);
            assert_eq!(loaded.history, finished.history);
            assert!(finished.history.open().is_none(), "a turn that is over leaves nothing open");
        }
        // As after a crash, if it is not over: the log has a hole there for ever, which is mended each time.
        (history, repairs) = (loaded.history, loaded.repairs);
    }
    assert_valid(&history);
}

struct Life {
    log: Vec<Record>,
    waiting: Waiting,
    random: Random,
}

/// What the machine waits for.
#[derive(Default)]
struct Waiting {
    gates: VecDeque<Gate>,
    running: Vec<usize>,
    listening: bool,
    timer: bool,
}

impl Life {
    fn turn(
        &mut self,
        number: usize,
        history: History,
        settings: Settings,
        events: Vec<u64>,
    ) -> (Finished, bool) {
        self.waiting = Waiting::default();
        let resume = history.open().is_some() && self.random.below(2) == 0;
        let prompt = || Event::Begin { id: id(number), prompt: format!("prompt {number}") };
        let mut turn = Turn::new(history, settings);
        let mut event = if resume { Event::Resume } else { prompt() };
        for seed in events {
            self.random = Random::new(seed);
            let (next, effects) = turn::step(turn, event);
            turn = next;
            effects.into_iter().for_each(|effect| self.perform(effect, &turn));
            event = self.event(&turn);
        }
        let over = turn.is_over();
        (turn.finish(), over)
    }

    fn perform(&mut self, effect: Effect, turn: &Turn) {
        match effect {
            Effect::Append(record) => self.log.push(record),
            Effect::Ask(gate) => self.waiting.gates.push_back(gate),
            Effect::Run { place, .. } => self.waiting.running.push(place),
            Effect::Wait { .. } => self.waiting.timer = true,
            Effect::Request => {
                self.waiting.listening = true;
                let mut messages = turn.window().messages(turn.history());
                if self.random.below(2) == 0 {
                    messages.push(Message::System("todo: nothing".to_owned()));
                }
                assert_sendable(&messages);
            }
            Effect::Cancel | Effect::Say(_) | Effect::Stop => {}
        }
    }

    fn event(&mut self, turn: &Turn) -> Event {
        match self.random.below(24) {
            0 => Event::Interrupt,
            1 => self.odd(),
            _ => self.fitting(turn),
        }
    }

    fn fitting(&mut self, turn: &Turn) -> Event {
        if let Some(gate) = self.waiting.gates.pop_front() {
            return Event::Passed(self.answer(gate, turn));
        }
        if !self.waiting.running.is_empty() {
            let next = self.random.below(self.waiting.running.len());
            let place = self.waiting.running.swap_remove(next);
            return Event::Returned { place, output: making::output(&mut self.random) };
        }
        if std::mem::take(&mut self.waiting.timer) {
            return Event::Waited;
        }
        match self.waiting.listening {
            true => self.stream(),
            false => self.odd(),
        }
    }

    fn stream(&mut self) -> Event {
        match self.random.below(8) {
            0 => Event::Stream(llm::Event::Text(making::words(&mut self.random))),
            1 => Event::Stream(llm::Event::Thinking(making::words(&mut self.random))),
            2..5 => Event::Stream(llm::Event::Block(making::block(&mut self.random))),
            5 => {
                self.waiting.listening = false;
                let error = match self.random.below(4) {
                    0 => Error::Dropped,
                    1 => Error::Cancelled,
                    2 => complaint(Kind::ContextTooLong),
                    _ => complaint(Kind::Overloaded),
                };
                let words = *self.random.pick(&[Words::Retractable, Words::Gone]);
                Event::Failed { error, words, now_ms: 0, jitter: 0.5 }
            }
            _ => {
                self.waiting.listening = false;
                Event::Stream(llm::Event::Done(done(*self.random.pick(&[
                    StopKind::EndTurn,
                    StopKind::ToolUse,
                    StopKind::ToolUse,
                    StopKind::MaxTokens,
                    StopKind::PauseTurn,
                    StopKind::Refusal,
                    StopKind::ContextFull,
                    StopKind::Unknown,
                ]))))
            }
        }
    }

    /// Something that nobody waits for.
    fn odd(&mut self) -> Event {
        let place = self.random.below(3);
        match self.random.below(10) {
            0 => Event::Waited,
            1 => Event::Abandoned,
            2 => Event::Expired,
            3 => Event::Resume,
            4 => Event::Begin { id: id("odd"), prompt: "odd".to_owned() },
            5 => Event::Returned { place, output: making::output(&mut self.random) },
            6 => Event::Passed(Passed::Tool { place, permit: Permit::Run }),
            7 => Event::Passed(Passed::Output { place, output: making::output(&mut self.random) }),
            8 => Event::Passed(Passed::Stop(Finale::GoOn("more".to_owned()))),
            _ => self.stream(),
        }
    }

    fn answer(&mut self, gate: Gate, turn: &Turn) -> Passed {
        let random = &mut self.random;
        let no = random.below(8) == 0;
        match gate {
            Gate::BeforePrompt { .. } if no => Passed::Prompt(Entry::Refuse("no".to_owned())),
            Gate::BeforePrompt { text } => Passed::Prompt(Entry::Send(text)),
            Gate::BeforeRequest { .. } if no => Passed::Request(Departure::Refuse("no".to_owned())),
            Gate::BeforeRequest { .. } => {
                let oldest = compact::oldest(turn.history(), 50.0);
                let staged = compact::stage(turn.history(), oldest, "in short").ok();
                let staged = staged.filter(|_| random.below(6) == 0);
                Passed::Request(staged.map_or(Departure::Send, Departure::Compact))
            }
            Gate::BeforeTool { place, .. } => {
                let permit = match random.below(6) {
                    0 => Permit::Deny("no".to_owned()),
                    1 => Permit::RunWith(Map::from_iter([("path".to_owned(), json!(making::words(random)))])),
                    2 => Permit::RunWith(Map::from_iter([("path".to_owned(), json!(1))])),
                    _ => Permit::Run,
                };
                Passed::Tool { place, permit }
            }
            Gate::AfterTool { place, output, .. } => {
                Passed::Output { place, output: if no { making::output(random) } else { output } }
            }
            Gate::BeforeStop { .. } if no => Passed::Stop(Finale::GoOn(making::words(random))),
            Gate::BeforeStop { .. } => Passed::Stop(Finale::End),
        }
    }
}

fn complaint(kind: Kind) -> Error {
    let advice = Advice::default();
    Error::Provider(Box::new(Complaint {
        kind,
        status: Some(500),
        message: "no".to_owned(),
        request_id: None,
        advice,
    }))
}

fn done(kind: StopKind) -> Done {
    Done { stop: Stop { kind, literal: format!("{kind:?}"), detail: None }, usage: None }
}

/// A turn that is led by the hand: gates let everything pass unless a test says otherwise.
struct Led {
    turn: Turn,
    asked: VecDeque<Gate>,
    log: Vec<Record>,
    said: Vec<Say>,
    ran: Vec<usize>,
    requests: Vec<Vec<Message>>,
    waits: Vec<Duration>,
    cancelled: bool,
}

impl Led {
    fn new(settings: Settings) -> Led {
        Led {
            turn: Turn::new(History::default(), settings),
            asked: VecDeque::new(),
            log: Vec::new(),
            said: Vec::new(),
            ran: Vec::new(),
            requests: Vec::new(),
            waits: Vec::new(),
            cancelled: false,
        }
    }

    fn begun() -> Led {
        Led::with(settings())
    }

    fn with(settings: Settings) -> Led {
        let mut led = Led::new(settings);
        led.step(Event::Begin { id: id(1), prompt: "hello".to_owned() });
        led.pass();
        led
    }

    fn step(&mut self, event: Event) {
        let turn = std::mem::replace(&mut self.turn, Turn::new(History::default(), Settings::default()));
        let (turn, effects) = turn::step(turn, event);
        self.turn = turn;
        for effect in effects {
            match effect {
                Effect::Append(record) => self.log.push(record),
                Effect::Ask(gate) => self.asked.push_back(gate),
                Effect::Request => {
                    let messages = self.turn.window().messages(self.turn.history());
                    assert_sendable(&messages);
                    self.requests.push(messages);
                }
                Effect::Wait { time, .. } => self.waits.push(time),
                Effect::Run { place, .. } => self.ran.push(place),
                Effect::Cancel => self.cancelled = true,
                Effect::Say(say) => self.said.push(say),
                Effect::Stop => {}
            }
        }
    }

    /// Lets everything pass that is asked.
    fn pass(&mut self) {
        while let Some(gate) = self.asked.pop_front() {
            self.step(Event::Passed(match gate {
                Gate::BeforePrompt { text } => Passed::Prompt(Entry::Send(text)),
                Gate::BeforeRequest { .. } => Passed::Request(Departure::Send),
                Gate::BeforeTool { place, .. } => Passed::Tool { place, permit: Permit::Run },
                Gate::AfterTool { place, output, .. } => Passed::Output { place, output },
                Gate::BeforeStop { .. } => Passed::Stop(Finale::End),
            }));
        }
    }

    fn reply(&mut self, blocks: Vec<Block>, kind: StopKind) {
        blocks.into_iter().for_each(|block| self.step(Event::Stream(llm::Event::Block(block))));
        self.step(Event::Stream(llm::Event::Done(done(kind))));
        self.pass();
    }

    fn fail(&mut self, error: Error) {
        self.step(Event::Failed { error, words: Words::Retractable, now_ms: 0, jitter: 0.0 });
    }

    fn give(&mut self, place: usize, content: &str) {
        self.step(Event::Returned { place, output: Output::done(content) });
        self.pass();
    }

    /// The end, after all promises were checked.
    fn end(self) -> (Finished, Vec<Record>) {
        assert!(self.turn.is_over(), "{:?}", self.turn);
        let finished = self.turn.finish();
        assert_valid(&finished.history);
        assert_eq!(History::load(self.log.clone()).history, finished.history);
        (finished, self.log)
    }
}

fn call(id: &str, name: &str, path: &str) -> Block {
    Block::call(CallId(id.to_owned()), name, &Map::from_iter([("path".to_owned(), json!(path))]))
}

fn results(step: &Step) -> Vec<(&str, Outcome)> {
    let Step::Round(round) = step else { panic!("a round, not {step:?}") };
    round
        .results()
        .iter()
        .map(|returned| (returned.result.content.as_str(), returned.result.outcome))
        .collect()
}

#[test]
fn a_prompt_is_answered() {
    let mut led = Led::begun();
    led.step(Event::Stream(llm::Event::Text("hi".to_owned())));
    led.reply(vec![Block::text("hi")], StopKind::EndTurn);
    assert!(led.said.contains(&Say::Text("hi".to_owned())));
    let (finished, log) = led.end();
    assert!(matches!(finished.end, End::Done));
    assert_eq!(log.len(), 2);
    assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "hi");
    assert_eq!((finished.spent.requests, finished.spent.rounds, finished.spent.estimated), (1, 0, true));
}

#[test]
fn calls_run_side_by_side_where_their_tools_allow_it_and_in_order_where_not() {
    let mut led = Led::begun();
    let calls = [("a", "read"), ("b", "read"), ("c", "write"), ("d", "read"), ("e", "read")];
    calls.into_iter().for_each(|(id, name)| led.step(Event::Stream(llm::Event::Block(call(id, name, id)))));
    led.step(Event::Stream(llm::Event::Done(done(StopKind::ToolUse))));
    assert_eq!(led.asked.len(), 1, "one question at a time");
    led.pass();
    assert_eq!(led.ran, [0, 1], "the write waits for both");
    led.give(1, "B");
    assert_eq!(led.ran, [0, 1]);
    let given: Vec<_> =
        led.turn.given().map(|(call, returned)| (&*call.id.0, &*returned.result.content)).collect();
    assert_eq!(given, [("b", "B")], "those that are still to run can know");
    led.give(0, "A");
    assert_eq!(led.ran, [0, 1, 2], "and what is behind it waits for the write");
    led.give(2, "C");
    assert_eq!(led.ran, [0, 1, 2, 3, 4]);
    led.give(4, "E");
    led.give(3, "D");
    let Some(Message::Results(sent)) = led.requests[1].last() else { panic!("results are sent") };
    assert_eq!(sent.iter().map(|result| result.content.as_str()).collect::<String>(), "ABCDE");
    led.reply(vec![Block::text("done")], StopKind::EndTurn);
    let (_, log) = led.end();
    assert!(matches!(log[1], Record::Reply { .. }), "the reply is kept before any of its tools runs");
}

#[test]
fn what_cannot_run_is_answered_without_asking_anybody() {
    let mut led = Led::begun();
    let broken = serde_json::value::to_raw_value(
        &json!({"type": "tool_use", "id": "c", "name": "read", "input": "x"}),
    );
    let broken = Block::from_raw(Wire::Anthropic, broken.unwrap());
    assert!(matches!(broken.as_call().unwrap().input, Input::Broken(_)));
    let wrong = Block::call(CallId("b".to_owned()), "read", &Map::from_iter([("path".to_owned(), json!(1))]));
    led.reply(vec![call("a", "raed", "x"), wrong, broken], StopKind::ToolUse);
    assert_eq!(led.ran, [0; 0]);
    led.reply(vec![Block::text("sorry")], StopKind::EndTurn);
    let (finished, _) = led.end();
    let told = results(&finished.history.exchanges()[0].steps()[0]);
    assert!(told.iter().all(|(_, outcome)| *outcome == Outcome::Failed));
    assert_eq!(told[0].0, "there is no tool `raed`; did you mean `read`?");
    assert_eq!(told[1].0, "`read` was not run, its arguments are wrong: `path` must be a string, not 1");
    assert!(told[2].0.contains("its arguments are no JSON object: \"x\""), "{}", told[2].0);
}

#[test]
fn a_gate_may_refuse_or_change_a_call_and_what_it_gave() {
    let mut led = Led::begun();
    let calls = ["a", "b", "c"].map(|id| call(id, "write", id));
    calls.into_iter().for_each(|block| led.step(Event::Stream(llm::Event::Block(block))));
    led.step(Event::Stream(llm::Event::Done(done(StopKind::ToolUse))));
    let permit = |led: &mut Led, place, permit| led.step(Event::Passed(Passed::Tool { place, permit }));
    permit(&mut led, 0, Permit::Deny("not here".to_owned()));
    permit(&mut led, 1, Permit::RunWith(Map::from_iter([("path".to_owned(), json!(7))])));
    led.asked.clear();
    permit(&mut led, 2, Permit::RunWith(Map::from_iter([("path".to_owned(), json!("z"))])));
    assert_eq!(led.ran, [2]);
    led.step(Event::Returned { place: 2, output: Output::done("raw") });
    let Some(Gate::AfterTool { task, .. }) = led.asked.pop_front() else { panic!("asked") };
    assert_eq!(task.arguments["path"], "z");
    led.step(Event::Passed(Passed::Output { place: 2, output: Output::done("polished") }));
    led.pass();
    led.reply(vec![Block::text("ok")], StopKind::EndTurn);
    let (finished, _) = led.end();
    let exchange = &finished.history.exchanges()[0];
    let told: Vec<_> = results(&exchange.steps()[0]).into_iter().map(|(content, _)| content).collect();
    let wrong = "`write` was not run, its arguments are wrong: `path` must be a string, not 7";
    assert_eq!(told, ["not here", wrong, "polished"]);
    let kept = exchange.blocks().nth(2).unwrap().as_call().unwrap();
    assert_eq!(kept.input.json(), r#"{"path":"c"}"#, "the history has what the model said");
}

#[test]
fn the_same_call_a_third_time_in_a_row_is_not_run_and_the_model_is_told() {
    let mut led = Led::begun();
    let spelled = |text: &str| {
        let raw = json!({"type": "tool_use", "id": "", "name": "read", "input": serde_json::from_str::<serde_json::Value>(text).unwrap()});
        Block::from_raw(Wire::Anthropic, serde_json::value::to_raw_value(&raw).unwrap())
    };
    for arguments in ["{\"path\": \"a\", \"x\": 1}", "{\"x\":1,\"path\":\"a\"}", "{\"path\":\"a\",\"x\":1}"] {
        led.reply(vec![spelled(arguments)], StopKind::ToolUse);
        led.give(0, "same");
    }
    assert_eq!(led.ran.len(), 2);
    assert!(led.said.contains(&Say::Warning(Warning::Repeating("read".to_owned()))));
    led.reply(vec![spelled("{\"path\": \"b\"}")], StopKind::ToolUse);
    assert_eq!(led.ran.len(), 3, "something else runs");
    led.give(0, "other");
    led.reply(vec![Block::text("ok")], StopKind::EndTurn);
    let (finished, _) = led.end();
    let told = results(&finished.history.exchanges()[0].steps()[2]);
    assert!(told[0].0.contains("third time in a row") && told[0].1 == Outcome::Failed);
}

#[test]
fn an_interrupt_between_two_words_keeps_what_was_read() {
    let mut led = Led::begun();
    led.step(Event::Stream(llm::Event::Text("Sure. ".to_owned())));
    led.step(Event::Stream(llm::Event::Block(Block::text("Sure. "))));
    led.step(Event::Stream(llm::Event::Text("I will delete ".to_owned())));
    led.step(Event::Interrupt);
    let (finished, _) = led.end();
    assert_eq!(finished.end.exit(), kit::Exit::Interrupted);
    let answer = finished.history.exchanges()[0].answer().unwrap();
    assert_eq!(answer, "Sure. I will delete [cut off here: the user interrupted it]");
}

#[test]
fn an_interrupt_before_any_word_leaves_no_trace_but_in_the_log() {
    let mut led = Led::begun();
    led.step(Event::Stream(llm::Event::Thinking("hm".to_owned())));
    led.step(Event::Stream(llm::Event::Block(call("a", "write", "x"))));
    led.step(Event::Interrupt);
    let (finished, log) = led.end();
    assert_eq!((finished.history.exchanges().len(), finished.spent.requests), (0, 1));
    assert_eq!(log.last(), Some(&Record::Dropped { reason: "the user interrupted it".to_owned() }));
}

#[test]
fn an_interrupt_during_tools_ends_them_and_each_call_has_its_result() {
    let mut led = Led::begun();
    let calls = [("a", "read"), ("b", "read"), ("c", "write")];
    led.reply(calls.map(|(id, name)| call(id, name, id)).into(), StopKind::ToolUse);
    led.step(Event::Interrupt);
    assert!(led.cancelled && !led.turn.is_over(), "those that run may say how far they came");
    led.give(1, "half of it");
    led.step(Event::Abandoned);
    let (finished, _) = led.end();
    let exchange = &finished.history.exchanges()[0];
    let told: Vec<_> = results(&exchange.steps()[0]).into_iter().map(|(content, _)| content).collect();
    let abandoned = "It was told to end and did not. What it did is not known.";
    assert_eq!(told, [abandoned, "half of it", "Not run: the turn ended before it."]);
    assert_eq!(exchange.answer().unwrap(), "[This turn ended here: the user interrupted it]");
}

#[test]
fn whoever_interrupts_twice_is_not_kept_waiting() {
    let mut led = Led::begun();
    led.reply(vec![call("a", "write", "x")], StopKind::ToolUse);
    led.step(Event::Interrupt);
    led.step(Event::Interrupt);
    let (finished, _) = led.end();
    assert!(matches!(finished.end, End::Interrupted));
}

#[test]
fn failures_are_tried_again_until_a_block_is_complete() {
    let mut led = Led::begun();
    for _ in 0..3 {
        led.step(Event::Stream(llm::Event::Text("ha".to_owned())));
        led.fail(Error::Dropped);
        led.step(Event::Waited);
    }
    assert_eq!(led.waits, [500, 1000, 2000].map(Duration::from_millis));
    assert_eq!(led.said.iter().filter(|say| **say == Say::Retract).count(), 3);
    led.reply(vec![call("a", "write", "x")], StopKind::ToolUse);
    led.give(0, "ok");
    led.fail(complaint(Kind::Overloaded));
    led.step(Event::Waited);
    assert_eq!(led.waits[3], Duration::from_secs(2), "each request begins to count anew");
    led.step(Event::Stream(llm::Event::Block(Block::text("half"))));
    led.fail(Error::Dropped);
    let (finished, _) = led.end();
    assert_eq!(finished.end.exit(), kit::Exit::Provider);
    let answer = finished.history.exchanges()[0].answer().unwrap();
    assert_eq!(answer, "[This turn ended here: the connection was lost before the answer was complete]");
}

#[test]
fn words_that_are_gone_are_not_said_twice() {
    let gone = || Event::Failed { error: Error::Dropped, words: Words::Gone, now_ms: 0, jitter: 0.0 };
    let mut led = Led::begun();
    led.step(Event::Stream(llm::Event::Thinking("hm".to_owned())));
    led.step(gone());
    led.step(Event::Waited);
    assert_eq!(led.waits.len(), 1, "nobody has a word of it yet");
    led.step(Event::Stream(llm::Event::Text("ha".to_owned())));
    led.step(gone());
    assert_eq!(led.waits.len(), 1);
    let (finished, _) = led.end();
    assert!(matches!(finished.end, End::Failed(Error::Dropped)), "{:?}", finished.end);
}

#[test]
fn a_failure_before_any_effect_takes_the_prompt_back() {
    let mut led = Led::begun();
    led.fail(complaint(Kind::Auth));
    let (finished, log) = led.end();
    assert!(matches!(finished.end, End::Failed(_)));
    assert_eq!(finished.history, History::default());
    assert!(matches!(&log[..], [Record::Prompt { .. }, Record::Dropped { .. }]));
}

#[test]
fn a_request_that_is_too_long_is_sent_again_with_less() {
    let mut settings = settings();
    settings.limits.relief = window::Relief::Exchanges;
    let mut history = History::default();
    for number in 10..20 {
        history.prompt(id(number), &"x".repeat(1000)).unwrap();
        history.say(history.admit(vec![Block::text("ok")])).unwrap();
    }
    let mut led = Led::new(settings);
    led.log = history.records();
    led.turn = Turn::new(history, led.turn.settings().clone());
    led.step(Event::Begin { id: id(1), prompt: "hello".to_owned() });
    led.pass();
    led.fail(complaint(Kind::ContextTooLong));
    assert!(led.requests[1].len() < led.requests[0].len());
    led.fail(complaint(Kind::ContextTooLong));
    led.reply(vec![Block::text("ok")], StopKind::EndTurn);
    let (finished, _) = led.end();
    assert!(matches!(finished.end, End::Done));
    assert!(finished.limits.bytes < 5000, "the next turn begins with that");
    let mut led = Led::begun();
    led.fail(complaint(Kind::ContextTooLong));
    assert!(matches!(led.end().0.end, End::Failed(_)), "there is nothing to leave out");
}

#[test]
fn a_reply_that_was_cut_off_ends_the_turn_without_its_calls() {
    let mut led = Led::begun();
    led.reply(vec![Block::text("first"), call("a", "write", "x")], StopKind::MaxTokens);
    assert_eq!(led.ran, [0; 0]);
    assert!(led.said.contains(&Say::Warning(Warning::CutOff("MaxTokens".to_owned()))));
    let (finished, _) = led.end();
    assert!(matches!(finished.end, End::Truncated(_)) && finished.end.exit() == kit::Exit::Budget);
    assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "first");
    let mut led = Led::begun();
    led.reply(vec![], StopKind::MaxTokens);
    assert_eq!(led.end().0.history.exchanges()[0].answer().unwrap(), "[nothing was said]");
}

#[test]
fn a_reply_that_was_cut_off_goes_on_if_that_was_wanted() {
    let mut led = Led::with(Settings { continuations: 2, ..settings() });
    led.reply(vec![Block::text("one")], StopKind::MaxTokens);
    let Some(Message::User(note)) = led.requests[1].last() else { panic!("a note") };
    assert_eq!(note, "Your reply was cut off at the length limit. Go on where it stopped.");
    led.reply(vec![call("a", "write", "x")], StopKind::MaxTokens);
    led.give(0, "ok");
    led.reply(vec![Block::text("three")], StopKind::MaxTokens);
    let (finished, _) = led.end();
    assert!(matches!(finished.end, End::Truncated(_)), "not for ever");
}

#[test]
fn a_refusal_is_discarded() {
    let mut led = Led::begun();
    led.reply(vec![Block::text("I start, but")], StopKind::Refusal);
    let (finished, _) = led.end();
    assert!(matches!(&finished.end, End::Refused(stop) if stop.literal == "Refusal"));
    assert_eq!(finished.history.exchanges().len(), 0);
}

#[test]
fn a_paused_reply_is_sent_back_unchanged_and_goes_on() {
    let mut led = Led::begun();
    led.reply(vec![Block::text("I search")], StopKind::PauseTurn);
    assert_eq!(led.requests[1].last(), Some(&Message::Assistant(vec![Block::text("I search")])));
    led.reply(vec![Block::text(" and find")], StopKind::EndTurn);
    assert_eq!(led.end().0.history.exchanges()[0].answer().unwrap(), "I search and find");
}

#[test]
fn a_model_that_says_nothing_after_its_tools_is_asked_once() {
    let mut led = Led::begun();
    led.reply(vec![call("a", "write", "x")], StopKind::ToolUse);
    led.give(0, "ok");
    led.reply(vec![], StopKind::EndTurn);
    assert_eq!(led.requests.len(), 3, "asked again, with other words");
    led.reply(vec![], StopKind::EndTurn);
    assert!(led.said.contains(&Say::Warning(Warning::NothingSaid)));
    assert!(matches!(led.end().0.end, End::Done));
}

#[test]
fn the_rounds_of_a_turn_are_counted_and_the_history_is_good_when_they_are_used_up() {
    let budget = Budget { rounds: 2, ..Budget::default() };
    let mut led = Led::with(Settings { budget, ..settings() });
    for path in ["a", "b"] {
        led.reply(vec![call(path, "write", path)], StopKind::ToolUse);
        led.give(0, "ok");
    }
    let (finished, _) = led.end();
    assert!(
        matches!(finished.end, End::Budget(Limit::Rounds(2))) && finished.end.exit() == kit::Exit::Budget
    );
    let answer = finished.history.exchanges()[0].answer().unwrap();
    assert_eq!(answer, "[This turn ended here: the limit of 2 rounds of tools is reached]");
}

#[test]
fn tokens_money_and_time_end_a_turn_before_its_next_request() {
    let usage = Usage { input: 100, output: 20, cost: Some(Cost { nanodollars: 5 }), ..Usage::default() };
    let ends = |budget: Budget| {
        let mut led = Led::with(Settings { budget, ..settings() });
        led.step(Event::Stream(llm::Event::Block(call("a", "write", "x"))));
        led.step(Event::Stream(llm::Event::Done(Done { usage: Some(usage), ..done(StopKind::ToolUse) })));
        led.pass();
        led.give(0, "ok");
        led.turn.is_over()
    };
    assert!(!ends(Budget { tokens: Some(121), ..Budget::default() }));
    assert!(ends(Budget { tokens: Some(120), ..Budget::default() }));
    assert!(!ends(Budget { cost: Some(Cost { nanodollars: 6 }), ..Budget::default() }));
    assert!(ends(Budget { cost: Some(Cost { nanodollars: 5 }), ..Budget::default() }));
    let led = Led::with(Settings { budget: Budget { tokens: Some(0), ..Budget::default() }, ..settings() });
    assert!(led.requests.is_empty() && matches!(led.end().0.end, End::Budget(Limit::Tokens(0))));
    let mut led = Led::begun();
    led.step(Event::Expired);
    assert!(matches!(led.end().0.end, End::Budget(Limit::Time)));
}

#[test]
fn a_front_may_want_to_go_on_but_not_for_ever() {
    let mut led = Led::with(Settings { budget: Budget { rounds: 3, ..Budget::default() }, ..settings() });
    for _ in 0..3 {
        led.step(Event::Stream(llm::Event::Block(Block::text("done"))));
        led.step(Event::Stream(llm::Event::Done(done(StopKind::EndTurn))));
        assert!(matches!(led.asked.pop_front(), Some(Gate::BeforeStop { .. })));
        led.step(Event::Passed(Passed::Stop(Finale::GoOn("the tests are red".to_owned()))));
        led.pass();
    }
    assert!(matches!(led.end().0.end, End::Budget(Limit::Rounds(3))));
}

#[test]
fn what_a_reply_cost_is_kept_whatever_becomes_of_it() {
    let usage = Usage { input: 1, ..Usage::default() };
    for kind in [StopKind::EndTurn, StopKind::MaxTokens, StopKind::PauseTurn, StopKind::Refusal] {
        let mut led = Led::begun();
        led.step(Event::Stream(llm::Event::Block(Block::text("x"))));
        led.step(Event::Stream(llm::Event::Done(Done { usage: Some(usage), ..done(kind) })));
        assert_eq!(led.log[1], Record::Usage(usage), "{kind:?}");
    }
}

#[test]
fn an_open_exchange_is_gone_on_with_or_given_up() {
    let mut history = History::default();
    history.prompt(id(1), "first").unwrap();
    let reply = history.admit(vec![call("a", "read", "x")]);
    let results = making::results(&mut Random::new(1), &reply);
    history.round(reply, results).unwrap();
    let start = |event: Event| {
        let mut led = Led::new(settings());
        led.log = history.records();
        led.turn = Turn::new(history.clone(), settings());
        led.step(event);
        led.pass();
        led.reply(vec![Block::text("ok")], StopKind::EndTurn);
        led.end().0.history
    };
    assert_eq!(start(Event::Resume).exchanges().len(), 1);
    let history = start(Event::Begin { id: id(2), prompt: "second".to_owned() });
    assert_eq!(history.exchanges()[0].answer().unwrap(), "[This turn ended here: it was interrupted]");
    assert_eq!(history.exchanges()[1].answer().unwrap(), "ok");
}

/// The same bytes as the answer to each request, until the turn is over or somebody has enough of it.
fn play(wire: Wire, bytes: &[u8]) {
    let mut led = Led::begun();
    for _ in 0..4 {
        let mut decoder = Decoder::new(wire, "m", led.requests.len());
        let mut events = Vec::new();
        let ended = decoder.feed(bytes, &mut events).and_then(|()| decoder.finish(&mut events));
        events.into_iter().for_each(|event| led.step(Event::Stream(event)));
        if let Err(error) = ended {
            led.fail(error);
            led.step(Event::Waited);
        }
        led.pass();
        while let Some(place) = led.ran.pop() {
            led.give(place, "done");
        }
    }
    led.step(Event::Interrupt);
    led.step(Event::Interrupt);
    led.end();
}

#[test]
fn whatever_bytes_a_provider_sends_every_request_can_be_sent() {
    for (wire, name) in [(Wire::Anthropic, "anthropic"), (Wire::OpenAi, "openai")] {
        let corpus = format!("{}/../llm/tests/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
        testkit::fuzz(&format!("conversation-{name}"), corpus, 200, |bytes| play(wire, bytes));
    }
}
