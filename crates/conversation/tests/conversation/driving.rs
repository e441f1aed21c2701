//! Whole turns against a scripted server over real sockets: both wires, and everything that goes wrong on the way.

use std::sync::{Arc, Barrier, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use conversation::drive::{self, Host, Start, Work};
use conversation::tools::{Beside, Output, Registry, Spec, Task};
use conversation::turn::{Budget, Departure, End, Finale, Finished, Limit, Permit, Say, Settings, Turn};
use conversation::{History, Record, Step, compact};
use kit::Exit;
use kit::process::Cancel;
use llm::{Block, Cache, Client, Key, Message, Outcome, Provider, Request, Setup, Timeouts, Wire, provider};
use serde_json::{Value, json};
use testkit::model::{Reply, Request as Sent, Server, turn};
use testkit::{PATIENCE, until};

use crate::{WIRES, assert_valid, id, rules};

const LONG: Duration = Duration::from_secs(600);

type Handler = Arc<dyn Fn(&Task) -> Work + Send + Sync>;

/// A front that keeps everything in memory.
struct Front {
    tools: Registry<Handler>,
    log: Vec<Record>,
    /// Seen by other threads too, so that a test can wait for something.
    said: Arc<Mutex<Vec<Say>>>,
    gates: Vec<String>,
    deny: Vec<&'static str>,
    go_on: Option<&'static str>,
    compact: bool,
    withheld: Option<&'static str>,
    /// So many records are kept, and then the disk is full.
    room: usize,
}

impl Front {
    fn new(tools: Vec<(Spec, Handler)>) -> Front {
        Front {
            tools: Registry::new(tools).unwrap(),
            log: Vec::new(),
            said: Arc::default(),
            gates: Vec::new(),
            deny: Vec::new(),
            go_on: None,
            compact: false,
            withheld: None,
            room: usize::MAX,
        }
    }

    fn settings(&self) -> Settings {
        Settings { tools: self.tools.specs().clone(), ..Settings::default() }
    }

    fn said(&self) -> MutexGuard<'_, Vec<Say>> {
        self.said.lock().unwrap()
    }

    fn text(&self) -> String {
        let said = self.said();
        said.iter()
            .filter_map(|say| if let Say::Text(text) = say { Some(text.as_str()) } else { None })
            .collect()
    }
}

impl Host for Front {
    type Error = &'static str;

    fn withhold(&mut self, _: &Turn) -> Option<String> {
        self.withheld.map(str::to_owned)
    }

    fn compose(&mut self, mut messages: Vec<Message>, _: &Turn) -> Request {
        let last = messages.len() - 1;
        messages.push(Message::System("todo: nothing".to_owned()));
        let tools = self.tools.specs().tools();
        let system = "be brief".to_owned();
        Request {
            model: "m".to_owned(),
            system,
            messages,
            tools,
            cache: Cache::Through(last),
            ..Request::default()
        }
    }

    fn start(&mut self, task: &Task, _: &Turn) -> Work {
        self.tools.handler(&task.name).unwrap()(task)
    }

    fn append(&mut self, record: &Record) -> Result<(), &'static str> {
        if self.log.len() >= self.room {
            return Err("the disk is full");
        }
        self.log.push(record.clone());
        Ok(())
    }

    fn say(&mut self, say: Say) {
        self.said().push(say);
    }

    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }

    fn before_request(&mut self, round: u32, turn: &Turn) -> Departure {
        self.gates.push(format!("request {round}"));
        let oldest = compact::oldest(turn.history(), 100.0);
        match compact::stage(turn.history(), oldest, "in short") {
            Ok(staged) if self.compact => Departure::Compact(staged),
            _ => Departure::Send,
        }
    }

    fn before_tool(&mut self, task: &Task, _: &Turn) -> Permit {
        self.gates.push(format!("before {}", task.name));
        let denied = self.deny.contains(&task.name.as_str());
        if denied { Permit::Deny("the user said no".to_owned()) } else { Permit::Run }
    }

    fn after_tool(&mut self, task: &Task, output: Output, _: &Turn) -> Output {
        self.gates.push(format!("after {}", task.name));
        output
    }

    fn before_stop(&mut self, text: &str, _: &llm::Stop, _: &Turn) -> Finale {
        self.gates.push(format!("stop {text}"));
        self.go_on.take().map_or(Finale::End, |why| Finale::GoOn(why.to_owned()))
    }
}

fn tool(
    name: &str,
    beside: Beside,
    handler: impl Fn(&Task) -> Work + Send + Sync + 'static,
) -> (Spec, Handler) {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    (Spec::new(name, "a tool", schema).beside(beside), Arc::new(handler))
}

fn echo() -> (Spec, Handler) {
    tool("echo", Beside::Others, |task| Work::Done(Output::done(format!("echo {}", task.arguments["path"]))))
}

fn theirs(wire: Wire) -> testkit::model::Wire {
    match wire {
        Wire::Anthropic => testkit::model::Wire::Anthropic,
        Wire::OpenAi => testkit::model::Wire::OpenAi,
    }
}

fn client(wire: Wire, base: &str) -> Client {
    let path = if wire == Wire::Anthropic { "v1/messages" } else { "v1/chat/completions" };
    let provider = Provider {
        wire,
        target: provider::Target::Http(provider::Endpoint::new(&format!("{base}/{path}")).unwrap()),
        key: Some(Key::new("sk-secret").unwrap()),
        auth: provider::Auth::Bearer,
        anthropic_version: llm::anthropic::VERSION.to_owned(),
    };
    let timeouts = Timeouts { idle: Duration::from_secs(30), connect: Duration::from_secs(5) };
    Client::new(provider, Setup { timeouts, ..Setup::default() })
}

fn prompt(number: usize) -> Start {
    Start::Prompt { id: id(number), text: format!("prompt {number}") }
}

/// Runs a turn and checks what must hold of every one: a valid history that the log tells too.
#[track_caller]
fn run_with(
    front: &mut Front,
    client: &Client,
    history: History,
    settings: Settings,
    start: Start,
    cancel: &Cancel,
) -> Finished {
    let before = History::load(front.log.clone()).history;
    assert_eq!(before, history, "the log is complete before");
    let finished = drive::run(client, front, history, settings, start, cancel).unwrap();
    assert_valid(&finished.history);
    assert_eq!(History::load(front.log.clone()).history, finished.history);
    finished
}

#[track_caller]
fn run(front: &mut Front, client: &Client, start: Start) -> Finished {
    let (history, settings) = (History::load(front.log.clone()).history, front.settings());
    run_with(front, client, history, settings, start, &Cancel::default())
}

/// The requests, each of which its provider would have taken.
#[track_caller]
fn taken(wire: Wire, server: Server) -> Vec<Value> {
    let bodies: Vec<Value> =
        server.finish().iter().map(|sent: &Sent| serde_json::from_slice(&sent.body).unwrap()).collect();
    for body in &bodies {
        assert_eq!(rules::broken(wire, body), None, "{body:#}");
    }
    bodies
}

fn scripted(wire: Wire, replies: impl IntoIterator<Item = testkit::model::Turn>) -> Server {
    Server::scripted(replies.into_iter().map(|reply| reply.stream(theirs(wire))))
}

fn steps(finished: &Finished) -> &[Step] {
    finished.history.exchanges().last().unwrap().steps()
}

fn outputs(finished: &Finished) -> Vec<(String, Outcome)> {
    let Step::Round(round) = &steps(finished)[0] else { panic!("a round") };
    let told = |returned: &conversation::Returned| (returned.result.content.clone(), returned.result.outcome);
    round.results().iter().map(told).collect()
}

#[test]
fn a_conversation_with_tools_goes_round_on_both_wires() {
    for wire in WIRES {
        let server = scripted(
            wire,
            [
                turn()
                    .say("Let me look.")
                    .call("echo", &json!({"path": "a"}))
                    .call("echo", &json!({"path": "b"})),
                turn().say("Two echoes."),
                turn().say("You are welcome."),
            ],
        );
        let client = client(wire, &server.url());
        let mut front = Front::new(vec![echo()]);
        let finished = run(&mut front, &client, prompt(1));
        assert!(matches!(finished.end, End::Done) && finished.end.exit() == Exit::Done);
        assert_eq!(front.text(), "Let me look.Two echoes.");
        assert_eq!(
            outputs(&finished).into_iter().map(|(text, _)| text).collect::<Vec<_>>(),
            ["echo \"a\"", "echo \"b\""]
        );
        assert_eq!((finished.spent.requests, finished.spent.rounds), (2, 1));
        assert_eq!(finished.spent.usage.total(), 30, "as the provider counted");
        let gates = [
            "request 0",
            "before echo",
            "before echo",
            "after echo",
            "after echo",
            "request 1",
            "stop Two echoes.",
        ];
        let mut told = front.gates.clone();
        told[1..5].sort_by_key(|gate| !gate.starts_with("before"));
        assert_eq!(told, gates);
        run(&mut front, &client, prompt(2));
        let bodies = taken(wire, server);
        let sent = bodies[2]["messages"].to_string();
        assert!(
            sent.contains("echo \\\"a\\\"") && sent.contains("Let me look."),
            "tools are replayed: {sent}"
        );
    }
}

#[test]
fn a_request_begins_with_all_of_the_request_before_it() {
    for wire in WIRES {
        let server = Server::answering(move |sent| {
            let reply = turn().say(&format!("reply {}", sent.number));
            let reply = if sent.number % 2 == 0 {
                reply.call("echo", &json!({"path": sent.number.to_string()}))
            } else {
                reply
            };
            reply.stream(theirs(wire))
        });
        let client = client(wire, &server.url());
        let mut front = Front::new(vec![echo()]);
        (0..10).for_each(|number| drop(run(&mut front, &client, prompt(number))));
        let bodies = taken(wire, server);
        assert_eq!(bodies.len(), 20);
        for pair in bodies.windows(2) {
            let messages = |body: &Value| {
                let mut messages = body["messages"].as_array().unwrap().clone();
                let volatile = messages.pop().unwrap();
                assert_eq!(volatile["role"], "system", "what changes stands last");
                let text = serde_json::to_string(&messages).unwrap();
                text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
                    .replace("\"cache_control\":{\"type\":\"ephemeral\"},", "")
                    .trim_end_matches(']')
                    .to_owned()
            };
            assert!(messages(&pair[1]).starts_with(&messages(&pair[0])));
            assert_eq!((&pair[0]["tools"], &pair[0]["system"]), (&pair[1]["tools"], &pair[1]["system"]));
        }
    }
}

#[test]
fn tools_that_allow_it_run_at_the_same_time() {
    let met = Arc::new(Barrier::new(3));
    // Alone each of them would wait for ever.
    let meet = tool("meet", Beside::Others, move |_| {
        let met = Arc::clone(&met);
        Work::thread(move |_, _| {
            met.wait();
            Output::done("met")
        })
    });
    let paths = ["a", "b", "c"].map(|path| json!({"path": path}));
    let all = paths.iter().fold(turn(), |turn, path| turn.call("meet", path));
    let server = scripted(Wire::Anthropic, [all, turn().say("ok")]);
    let mut front = Front::new(vec![meet]);
    let finished = run(&mut front, &client(Wire::Anthropic, &server.url()), prompt(1));
    assert_eq!(outputs(&finished), vec![("met".to_owned(), Outcome::Done); 3]);
    taken(Wire::Anthropic, server);
}

#[test]
fn an_overloaded_provider_is_asked_again_with_a_countdown() {
    for wire in WIRES {
        let replies: Vec<Reply> = vec![
            theirs(wire).failure(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
            theirs(wire).failure(429, "rate_limit_error", "slow down").header("retry-after-ms", "30"),
            turn().call("echo", &json!({"path": "a"})).stream(theirs(wire)),
            theirs(wire).failure(500, "api_error", "oops").header("retry-after-ms", "1"),
            turn().say("done").stream(theirs(wire)),
        ];
        let server = Server::scripted(replies);
        let mut front = Front::new(vec![echo()]);
        let finished = run(&mut front, &client(wire, &server.url()), prompt(1));
        assert!(matches!(finished.end, End::Done), "{:?}", finished.end);
        let waits = front.said().iter().filter(|say| matches!(say, Say::Retrying { .. })).count();
        assert!(waits >= 1, "at least the one that takes a while is told");
        assert_eq!(taken(wire, server).len(), 5);
    }
}

#[test]
fn a_stream_that_breaks_before_a_block_is_complete_is_asked_for_again() {
    for wire in WIRES {
        let server = Server::scripted([
            turn().say("one two three").stream(theirs(wire)).drop_at("two"),
            turn().say("one two three").stream(theirs(wire)),
        ]);
        let mut front = Front::new(vec![]);
        let finished = run(&mut front, &client(wire, &server.url()), prompt(1));
        assert!(matches!(finished.end, End::Done));
        assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "one two three");
        assert!(front.said().contains(&Say::Retract));
        taken(wire, server);
    }
}

#[test]
fn a_stream_that_breaks_after_a_block_fails_the_turn_and_the_next_one_is_fine() {
    let wire = Wire::Anthropic;
    let server = Server::scripted([
        turn().say("first").call("echo", &json!({"path": "a"})).stream(theirs(wire)).drop_at("partial_json"),
        turn().call("echo", &json!({"path": "b"})).stream(theirs(wire)),
        turn().say("half").say("way").fail("overloaded_error", "Overloaded").stream(theirs(wire)),
        turn().say("fine").stream(theirs(wire)),
    ]);
    let client = client(wire, &server.url());
    let mut front = Front::new(vec![echo()]);
    let finished = run(&mut front, &client, prompt(1));
    assert!(matches!(finished.end, End::Failed(_)) && finished.end.exit() == Exit::Provider);
    assert_eq!(finished.history.exchanges().len(), 0, "nothing was done, so nothing is kept");
    let finished = run(&mut front, &client, prompt(2));
    assert!(matches!(finished.end, End::Failed(_)));
    let answer = finished.history.exchanges()[0].answer().unwrap();
    assert_eq!(answer, "[This turn ended here: the provider broke off: Overloaded]");
    run(&mut front, &client, prompt(3));
    let sent = taken(wire, server)[3]["messages"].to_string();
    assert!(
        sent.contains("echo \\\"b\\\"") && !sent.contains("half") && !sent.contains("prompt 1"),
        "{sent}"
    );
}

#[test]
fn an_interrupt_between_two_words_hangs_up_and_keeps_what_was_said() {
    for wire in WIRES {
        let server = Server::scripted([
            turn().say("one two").stream(theirs(wire)).pause_at("two", LONG),
            turn().say("again").stream(theirs(wire)),
        ]);
        let client = client(wire, &server.url());
        let mut front = Front::new(vec![]);
        let cancel = Cancel::default();
        let interrupt = when(&front, &cancel, |say| matches!(say, Say::Text(_)));
        let settings = front.settings();
        let finished = run_with(&mut front, &client, History::default(), settings, prompt(1), &cancel);
        interrupt.join().unwrap();
        assert!(matches!(finished.end, End::Interrupted) && finished.end.exit() == Exit::Interrupted);
        let answer = finished.history.exchanges()[0].answer().unwrap();
        assert_eq!(answer, "one [cut off here: the user interrupted it]");
        assert!(until(PATIENCE, || server.requests()[0].closed_early), "nothing is left running");
        run(&mut front, &client, prompt(2));
        taken(wire, server);
    }
}

/// Interrupts as soon as this was said.
fn when(
    front: &Front,
    cancel: &Cancel,
    moment: impl Fn(&Say) -> bool + Send + 'static,
) -> thread::JoinHandle<()> {
    let (said, cancel) = (Arc::clone(&front.said), cancel.clone());
    thread::spawn(move || {
        assert!(until(PATIENCE, || said.lock().unwrap().iter().any(&moment)));
        cancel.cancel();
    })
}

#[test]
fn an_interrupt_during_a_tool_ends_it_and_the_model_hears_how_far_it_came() {
    let slow = tool("slow", Beside::Nobody, |_| {
        Work::thread(|cancel, live| {
            live.show("working");
            assert!(until(PATIENCE, || cancel.is_cancelled()));
            Output::failed("stopped half way")
        })
    });
    let wire = Wire::Anthropic;
    let server = scripted(
        wire,
        [
            turn().call("slow", &json!({"path": "a"})).call("echo", &json!({"path": "b"})),
            turn().say("I see."),
        ],
    );
    let client = client(wire, &server.url());
    let mut front = Front::new(vec![slow, echo()]);
    let cancel = Cancel::default();
    let interrupt = when(&front, &cancel, |say| matches!(say, Say::Live { text, .. } if text == "working"));
    let settings = front.settings();
    let finished = run_with(&mut front, &client, History::default(), settings, prompt(1), &cancel);
    interrupt.join().unwrap();
    assert!(matches!(finished.end, End::Interrupted));
    let told: Vec<String> = outputs(&finished).into_iter().map(|(text, _)| text).collect();
    assert_eq!(told, ["stopped half way", "Not run: the turn ended before it."]);
    run(&mut front, &client, prompt(2));
    let sent = taken(wire, server)[1]["messages"].to_string();
    assert!(sent.contains("stopped half way") && sent.contains("the user interrupted it"), "{sent}");
}

#[test]
fn an_interrupt_while_waiting_to_try_again_is_heard() {
    let wire = Wire::OpenAi;
    let server = Server::scripted([theirs(wire).failure(503, "x", "later").header("retry-after", "50")]);
    let mut front = Front::new(vec![]);
    let cancel = Cancel::default();
    let interrupt = when(&front, &cancel, |say| matches!(say, Say::Retrying { .. }));
    let settings = front.settings();
    let finished =
        run_with(&mut front, &client(wire, &server.url()), History::default(), settings, prompt(1), &cancel);
    interrupt.join().unwrap();
    assert!(matches!(finished.end, End::Interrupted), "{:?}", finished.end);
    assert_eq!(finished.history.exchanges().len(), 0);
    assert_eq!(taken(wire, server).len(), 1, "nobody was asked again");
}

#[test]
fn a_turn_has_a_time_and_it_ends_there_even_if_nothing_comes() {
    let wire = Wire::Anthropic;
    let server = Server::scripted([turn().say("one two").stream(theirs(wire)).pause_at("two", LONG)]);
    let mut front = Front::new(vec![]);
    let budget = Budget { time: Some(Duration::from_secs(3)), ..Budget::default() };
    let settings = Settings { budget, ..front.settings() };
    let finished = run_with(
        &mut front,
        &client(wire, &server.url()),
        History::default(),
        settings,
        prompt(1),
        &Cancel::default(),
    );
    assert!(matches!(finished.end, End::Budget(Limit::Time)) && finished.end.exit() == Exit::Budget);
    assert!(until(PATIENCE, || server.requests()[0].closed_early));
    server.finish();
}

#[test]
fn what_the_model_gets_wrong_is_told_to_it() {
    for wire in WIRES {
        let server = scripted(
            wire,
            [
                turn()
                    .call("ecko", &json!({}))
                    .call_in("echo", ["{\"path\": ", "\"a"])
                    .call("echo", &json!({"path": 1})),
                turn().say("I see."),
            ],
        );
        let mut front = Front::new(vec![echo()]);
        let finished = run(&mut front, &client(wire, &server.url()), prompt(1));
        assert!(matches!(finished.end, End::Done));
        let told: Vec<(String, Outcome)> = outputs(&finished);
        assert!(told.iter().all(|(_, outcome)| *outcome == Outcome::Failed));
        assert_eq!(told[0].0, "there is no tool `ecko`; did you mean `echo`?");
        assert!(told[1].0.contains("its arguments are no JSON object: {\"path\": \"a"), "{}", told[1].0);
        assert!(told[2].0.contains("`path` must be a string, not 1"));
        taken(wire, server);
    }
}

#[test]
fn a_tool_that_crashes_or_is_denied_has_a_result_all_the_same() {
    let crash =
        tool("crash", Beside::Others, |_| Work::thread(|_, _| panic!("a tool that panics, on purpose")));
    let wire = Wire::Anthropic;
    let server = scripted(
        wire,
        [turn().call("crash", &json!({})).call("echo", &json!({"path": "x"})), turn().say("oh")],
    );
    let mut front = Front::new(vec![crash, echo()]);
    front.deny = vec!["echo"];
    let finished = run(&mut front, &client(wire, &server.url()), prompt(1));
    let told: Vec<String> = outputs(&finished).into_iter().map(|(text, _)| text).collect();
    assert_eq!(told, ["The tool crashed. What it did until then is not known.", "the user said no"]);
    taken(wire, server);
}

#[test]
fn stops_that_are_no_end_are_handled_by_name() {
    let wire = Wire::Anthropic;
    let server = scripted(
        wire,
        [
            turn().say("I search").stop("pause_turn"),
            turn().say(" and find.").stop("end_turn"),
            turn().say("I would").stop("refusal"),
            turn().say("a long st").stop("max_tokens"),
            turn().say("hm").stop("from_the_future"),
        ],
    );
    let client = client(wire, &server.url());
    let mut front = Front::new(vec![]);
    let finished = run(&mut front, &client, prompt(1));
    assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "I search and find.");
    assert!(
        matches!(run(&mut front, &client, prompt(2)).end, End::Refused(stop) if stop.literal == "refusal")
    );
    assert!(
        matches!(run(&mut front, &client, prompt(3)).end, End::Truncated(stop) if stop.literal == "max_tokens")
    );
    assert!(matches!(run(&mut front, &client, prompt(4)).end, End::Done));
    let bodies = taken(wire, server);
    let paused = bodies[1]["messages"].as_array().unwrap();
    assert_eq!(paused[1]["content"], json!([{"type": "text", "text": "I search"}]), "sent back unchanged");
    assert!(!bodies[3]["messages"].to_string().contains("I would"), "a refusal is no part of the history");
}

#[test]
fn a_front_that_is_not_content_makes_the_model_go_on() {
    let wire = Wire::Anthropic;
    let server = scripted(wire, [turn().say("done"), turn().say("now really")]);
    let mut front = Front::new(vec![]);
    front.go_on = Some("the tests are red");
    let finished = run(&mut front, &client(wire, &server.url()), prompt(1));
    assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "now really");
    assert!(taken(wire, server)[1]["messages"].to_string().contains("the tests are red"));
}

#[test]
fn a_compaction_before_a_request_does_not_swallow_the_prompt() {
    let wire = Wire::Anthropic;
    let server = scripted(wire, [turn().say(&"one ".repeat(50)), turn().say("two")]);
    let client = client(wire, &server.url());
    let mut front = Front::new(vec![]);
    run(&mut front, &client, prompt(1));
    front.compact = true;
    let finished = run(&mut front, &client, prompt(2));
    assert_eq!((finished.history.summary(), finished.history.exchanges().len()), ("in short", 1));
    assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "two");
    let first = taken(wire, server)[1]["messages"][0].to_string();
    assert!(first.contains("in short") && first.contains("prompt 2"), "{first}");
}

#[test]
fn a_front_may_withhold_a_request_and_the_turn_is_as_if_it_never_was() {
    let server = scripted(Wire::OpenAi, [turn().say("hello")]);
    let client = client(Wire::OpenAi, &server.url());
    let mut front = Front::new(Vec::new());
    front.withheld = Some("the guard is out");
    let finished = run(&mut front, &client, prompt(1));
    assert!(matches!(&finished.end, End::Blocked(why) if why == "the guard is out"), "{:?}", finished.end);
    assert!(finished.history.exchanges().is_empty());
    front.withheld = None;
    assert!(matches!(run(&mut front, &client, prompt(2)).end, End::Done));
    assert_eq!(taken(Wire::OpenAi, server).len(), 1);
}

#[test]
fn a_request_that_is_too_long_is_sent_again_with_less() {
    let wire = Wire::Anthropic;
    let server = Server::answering(move |sent| match sent.body.len() {
        0..6000 => turn().say(&"word ".repeat(200)).stream(theirs(wire)),
        _ => theirs(wire).failure(413, "request_too_large", "Request exceeds the maximum size"),
    });
    let client = client(wire, &server.url());
    let mut front = Front::new(vec![]);
    for number in 0..12 {
        let finished = run(&mut front, &client, prompt(number));
        assert!(matches!(finished.end, End::Done), "{number}: {:?}", finished.end);
    }
    taken(wire, server);
}

#[test]
fn what_cannot_be_kept_ends_the_turn_with_a_good_history() {
    let wire = Wire::Anthropic;
    for room in 0..4 {
        let replies = [turn().call("echo", &json!({"path": "a"})), turn().say("ok")];
        let server = Server::answering(move |sent| replies[sent.number].clone().stream(theirs(wire)));
        let mut front = Front::new(vec![echo()]);
        front.room = room;
        let settings = front.settings();
        let unsaved = drive::run(
            &client(wire, &server.url()),
            &mut front,
            History::default(),
            settings,
            prompt(1),
            &Cancel::default(),
        );
        let unsaved = unsaved.unwrap_err();
        assert_eq!(unsaved.error, "the disk is full");
        assert_valid(&unsaved.finished.history);
        assert_eq!(front.log.len(), room);
        assert_valid(&History::load(front.log).history);
    }
}

#[test]
fn after_a_crash_at_any_record_the_turn_can_go_on() {
    let wire = Wire::OpenAi;
    let replies = || {
        [
            turn().say("First.").call("echo", &json!({"path": "a"})).call("echo", &json!({"path": "b"})),
            turn().call("echo", &json!({"path": "c"})),
            turn().say("Done."),
        ]
    };
    let server = scripted(wire, replies());
    let mut front = Front::new(vec![echo()]);
    run(&mut front, &client(wire, &server.url()), prompt(1));
    taken(wire, server);
    let log = front.log.clone();
    assert_eq!(log.len(), 10, "a prompt, three replies with what they cost, three results");
    for kept in 1..log.len() {
        let server = scripted(wire, [turn().say("Done.")]);
        let mut front = Front::new(vec![echo()]);
        front.log = log[..kept].to_vec();
        let finished = run(&mut front, &client(wire, &server.url()), Start::Resume);
        assert!(matches!(finished.end, End::Done), "after {kept} records");
        assert_eq!(finished.history.exchanges()[0].answer().unwrap(), "Done.");
        taken(wire, server);
    }
    let server = Server::scripted([]);
    let finished = run(&mut front, &client(wire, &server.url()), Start::Resume);
    assert!(matches!(finished.end, End::Blocked(_)), "there is nothing to go on with");
}

#[test]
fn a_front_that_composes_what_no_provider_takes_is_told_and_nothing_is_sent() {
    struct Careless(Front);
    impl Host for Careless {
        type Error = &'static str;
        fn compose(&mut self, _: Vec<Message>, _: &Turn) -> Request {
            let messages = vec![Message::Assistant(vec![Block::text("me first")])];
            Request { model: "m".to_owned(), messages, ..Request::default() }
        }
        fn start(&mut self, task: &Task, turn: &Turn) -> Work {
            self.0.start(task, turn)
        }
        fn append(&mut self, record: &Record) -> Result<(), &'static str> {
            self.0.append(record)
        }
        fn say(&mut self, say: Say) {
            self.0.say(say);
        }
        fn now_ms(&self) -> i64 {
            self.0.now_ms()
        }
    }
    let server = Server::scripted([]);
    let mut front = Careless(Front::new(vec![]));
    let client = client(Wire::Anthropic, &server.url());
    let settings = front.0.settings();
    let finished =
        drive::run(&client, &mut front, History::default(), settings, prompt(1), &Cancel::default());
    let finished = finished.unwrap();
    assert!(matches!(&finished.end, End::Invalid(fault) if fault.what == "the model speaks out of turn"));
    assert_eq!(finished.history, History::default());
    server.finish();
}
