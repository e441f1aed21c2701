//! Answers that are no, late, broken or not meant for us.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use kit::process::Cancel;
use llm::retry::{self, Attempt, Progress, Wait};
use llm::{Again, Error, Event, Kind, Note, Wire};
use serde_json::json;
use testkit::model::{Cut, Event as Frame, Reply, Server, anthropic, openai, turn};

use crate::{WIRES, all, ask, hasty, hello, theirs, told};

fn failure(wire: Wire, reply: Reply) -> (Vec<Event>, Error) {
    let server = Server::scripted([reply]);
    let (events, failure) = all(ask(wire, &server.url()));
    server.finish();
    (events, failure.expect("it fails"))
}

fn complaint(wire: Wire, reply: Reply) -> llm::Complaint {
    let (_, error) = failure(wire, reply);
    error.complaint().unwrap_or_else(|| panic!("{error}")).clone()
}

fn first(error: &Error) -> Option<Duration> {
    retry::next(error, Attempt { failed: 1, progress: Progress::Open, now_ms: 0, jitter: 0.0 })
}

#[test]
fn an_answer_that_is_no_says_why_on_both_wires() {
    for wire in WIRES {
        for (status, kind) in [
            (400, Kind::BadRequest),
            (401, Kind::Auth),
            (402, Kind::Billing),
            (404, Kind::NotFound),
            (413, Kind::ContextTooLong),
            (429, Kind::RateLimited),
            (500, Kind::Server),
            (503, Kind::Overloaded),
            (529, Kind::Overloaded),
        ] {
            let told = complaint(wire, theirs(wire).failure(status, "some_error", "because"));
            assert_eq!((told.kind, told.status), (kind, Some(status)));
            assert_eq!(told.message, "because");
            assert_eq!(told.request_id.as_deref(), Some("req_1"));
        }
    }
}

#[test]
fn the_headers_say_when_to_come_back() {
    let reply = || theirs(Wire::Anthropic).failure(429, "rate_limit_error", "slow down");
    let advice = |reply| complaint(Wire::Anthropic, reply).advice;
    let seconds = |seconds| Some(Wait::For(Duration::from_secs(seconds)));
    assert_eq!(advice(reply().header("retry-after", "7")).wait, seconds(7));
    assert_eq!(advice(reply().header("retry-after-ms", "2000").header("retry-after", "7")).wait, seconds(2));
    assert_eq!(advice(reply().header("x-should-retry", "true")).again, Some(Again::Yes));
    assert_eq!(advice(reply()).again, Some(Again::No), "without a time the month's budget is gone");
}

#[test]
fn a_key_that_is_repeated_in_an_answer_is_not_passed_on() {
    for wire in WIRES {
        let (_, error) = failure(wire, theirs(wire).failure(401, "x", "bad key sk-secret!"));
        assert!(error.to_string().ends_with("bad key [key]!"), "{error}");
        assert!(!format!("{error:?}").contains("sk-secret"));
        let (_, error) =
            failure(wire, turn().say("x").fail("overloaded_error", "sk-secret").stream(theirs(wire)));
        assert!(!format!("{error:?}").contains("sk-secret"));
        // What cannot be read may be quoted.
        let odd = Reply::sse_bytes("data: \"Bearer sk-secret\"\n\n");
        let (events, error) = failure(wire, odd);
        assert!(format!("{events:?}{error:?}").contains("Bearer [key]"), "{events:?} {error:?}");
        assert!(!format!("{events:?}{error:?}").contains("sk-secret"), "{events:?} {error:?}");
    }
}

#[test]
fn an_error_in_the_middle_keeps_what_was_complete() {
    let reply = turn().say("whole").fail("overloaded_error", "Overloaded").stream(theirs(Wire::Anthropic));
    let (events, error) = failure(Wire::Anthropic, reply);
    assert_eq!(told(&events)[1..], ["text whole", r#"block {"text":"whole","type":"text"}"#]);
    assert_eq!(error.complaint().unwrap().kind, Kind::Overloaded);
    assert_eq!(error.complaint().unwrap().status, None);
    let reply = turn().say("half").fail("server_error", "crashed").stream(theirs(Wire::OpenAi));
    let (events, error) = failure(Wire::OpenAi, reply);
    assert_eq!(told(&events)[1..], ["text half"]);
    assert_eq!(error.to_string(), "the provider broke off: crashed");
}

#[test]
fn an_error_in_the_body_of_a_success_is_an_error() {
    for wire in WIRES {
        let body =
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow", "code": 429}});
        assert_eq!(complaint(wire, Reply::json(200, &body)).kind, Kind::RateLimited);
        assert_eq!(complaint(wire, Reply::sse([Frame::data(&body)])).kind, Kind::RateLimited);
    }
    assert_eq!(
        complaint(Wire::OpenAi, Reply::json(200, &json!({"error": "no such model"}))).message,
        "no such model"
    );
    let llama =
        Frame::raw("error: {\"code\":500,\"message\":\"out of memory\",\"type\":\"server_error\"}\n\n");
    assert_eq!(complaint(Wire::OpenAi, Reply::sse([llama])).message, "out of memory");
    let vllm = json!({"object": "error", "message": "too long: maximum context", "code": 400});
    assert_eq!(complaint(Wire::OpenAi, Reply::sse([Frame::data(&vllm)])).kind, Kind::ContextTooLong);
    let bare = openai::chunk("c", &json!({}), Some("error"));
    assert_eq!(complaint(Wire::OpenAi, Reply::sse([bare])).kind, Kind::Server);
}

#[test]
fn a_connection_that_is_lost_is_told_and_may_be_tried_again() {
    for wire in WIRES {
        let reply = || turn().say("one two three").stream(theirs(wire));
        for lost in [reply().drop_at("two "), reply().reset_at("two "), reply().until_close().drop_at("two ")]
        {
            let (events, error) = failure(wire, lost);
            assert!(matches!(error, Error::Dropped), "{error:?}");
            assert!(told(&events).contains(&"text one ".to_owned()));
            assert!(first(&error).is_some());
        }
    }
}

#[test]
fn a_stream_that_was_complete_does_not_mind_how_the_connection_ends() {
    for (wire, end) in [(Wire::Anthropic, "message_stop\"}\n\n"), (Wire::OpenAi, "[DONE]\n\n")] {
        let server = Server::scripted([turn().say("x").stream(theirs(wire)).reset_at(end)]);
        assert_eq!(ask(wire, &server.url()).reply().unwrap().text(), "x");
        // Nor whether it ends at all.
        let server =
            Server::scripted([turn().say("x").stream(theirs(wire)).pause_at(end, Duration::from_secs(600))]);
        assert_eq!(ask(wire, &server.url()).reply().unwrap().text(), "x");
    }
}

#[test]
fn who_follows_the_advice_gets_an_answer_in_the_end() {
    let wire = theirs(Wire::Anthropic);
    let server = Server::scripted([
        wire.failure(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
        wire.failure(429, "rate_limit_error", "slow down").header("retry-after-ms", "1"),
        turn().say("never mind").stream(wire).drop_at("never"),
        turn().say("done").stream(wire),
    ]);
    let client = crate::client(Wire::Anthropic, &server.url());
    let mut waits = Vec::new();
    let reply = loop {
        match client.start(&hello(), &Cancel::default()).reply() {
            Ok(reply) => break reply,
            Err(error) => {
                let failed = waits.len() as u32 + 1;
                let attempt = Attempt { failed, progress: Progress::Open, now_ms: 0, jitter: 1.0 };
                waits.push(retry::next(&error, attempt).expect("it may pass"));
            }
        }
    };
    assert_eq!(reply.text(), "done");
    assert_eq!(waits, [0, 1, 1500].map(Duration::from_millis));
    assert_eq!(server.finish().len(), 4);
}

/// Longer than a busy machine keeps anybody from the processor, so that what is silent for so long means it.
const IDLE: Duration = Duration::from_secs(3);

#[test]
fn silence_in_the_middle_is_ended_and_what_came_before_is_told() {
    let reply = turn().say("one two").stream(theirs(Wire::Anthropic)).pause_at("two", 100 * IDLE);
    let server = Server::scripted([reply]);
    let (events, error) =
        all(hasty(Wire::Anthropic, &server.url(), IDLE).start(&hello(), &Cancel::default()));
    assert!(matches!(error, Some(Error::Idle(limit)) if limit == IDLE), "{error:?}");
    assert!(told(&events).contains(&"text one ".to_owned()));
}

#[test]
fn silence_before_the_first_byte_is_ended() {
    let server = Server::scripted([turn().say("x").stream(theirs(Wire::Anthropic)).delay_before(100 * IDLE)]);
    let (_, error) = all(hasty(Wire::Anthropic, &server.url(), IDLE).start(&hello(), &Cancel::default()));
    assert!(matches!(error, Some(Error::Idle(_))), "{error:?}");
}

#[test]
fn slowness_is_no_silence() {
    // Longer than the limit in the whole, but never silent for so long.
    let slow = turn().say("slow").stream(theirs(Wire::OpenAi)).chunks(Cut::Bytes(50)).every(IDLE / 6);
    let server = Server::scripted([slow]);
    let start = Instant::now();
    let stream = hasty(Wire::OpenAi, &server.url(), IDLE).start(&hello(), &Cancel::default());
    assert_eq!(stream.reply().unwrap().text(), "slow");
    assert!(start.elapsed() > IDLE, "the reply is too short to show anything");
}

#[test]
fn a_host_that_nobody_is_at_is_told_by_name_and_may_be_tried_again() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_, error) = all(ask(Wire::Anthropic, &format!("http://127.0.0.1:{port}")));
    let error = error.unwrap();
    assert!(error.to_string().starts_with("cannot reach 127.0.0.1: "), "{error}");
    assert!(first(&error).is_some());
    let (_, error) = all(ask(Wire::Anthropic, "http://no-such-host.invalid"));
    assert!(matches!(error, Some(Error::Network { .. })), "{error:?}");
}

#[test]
fn frames_that_cannot_be_read_are_left_out_and_told() {
    for wire in WIRES {
        let turn =
            turn().say("a ").event(Frame::raw("data: {broken\n\n")).event(Frame::raw("data: 5\n\n")).say("b");
        let server = Server::scripted([turn.stream(theirs(wire))]);
        let reply = ask(wire, &server.url()).reply().unwrap();
        assert_eq!(reply.text(), "a b");
        assert_eq!(reply.notes.len(), 2);
        assert!(reply.notes.iter().all(|note| matches!(note, Note::BadFrame(_))));
    }
}

#[test]
fn deltas_for_blocks_that_nobody_started_are_left_out() {
    let frames = [
        anthropic::message_start("m", &json!({})),
        anthropic::block_delta(5, &json!({"type": "text_delta", "text": "lost"})),
        Frame::data(&json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "lost"}})),
        Frame::data(&json!({"type": "content_block_stop"})),
        anthropic::block_start(0, &json!({"type": "text", "text": "from the start"})),
        anthropic::message_delta("end_turn", &json!({})),
        anthropic::message_stop(),
    ];
    let server = Server::scripted([Reply::sse(frames)]);
    let reply = ask(Wire::Anthropic, &server.url()).reply().unwrap();
    assert_eq!(reply.text(), "from the start", "a text that was not closed is still a text");
    assert_eq!(reply.notes.len(), 3);
}

#[test]
fn what_is_no_answer_at_all_is_called_so() {
    for wire in WIRES {
        let malformed = |reply| {
            let (_, error) = failure(wire, reply);
            assert!(matches!(error, Error::Malformed(_)), "{error:?}");
            assert_eq!(first(&error), None);
            error.to_string()
        };
        let page =
            Reply::raw("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<!doctype html><title>Login");
        assert!(malformed(page).ends_with("a web page"));
        malformed(Reply::json(200, &json!({"hello": "world"})));
        malformed(Reply::json(200, &json!([])));
        malformed(Reply::sse_bytes("data: nonsense\n\n"));
        malformed(Reply::raw("SSH-2.0-OpenSSH_9.2\r\n"));
        let packed = turn().say("x").stream(theirs(wire)).header("content-encoding", "gzip");
        assert!(malformed(packed).contains("gzip"));
        let refusal = theirs(wire).failure(503, "x", "busy").header("content-encoding", "gzip");
        assert_eq!(complaint(wire, refusal).kind, Kind::Overloaded, "a no is a no, however it is packed");
    }
}

#[test]
fn bytes_that_are_no_text_do_not_stop_a_stream() {
    let mut bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\xc3b\"}}]}\n\n".to_vec();
    bytes.extend(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    let server = Server::scripted([Reply::sse_bytes(bytes)]);
    assert_eq!(ask(Wire::OpenAi, &server.url()).reply().unwrap().text(), "a\u{fffd}\u{fffd}b");
}

#[test]
fn an_event_of_20_megabytes_is_refused_and_one_of_8_is_not() {
    let chunk =
        |megabytes: usize| openai::chunk("c", &json!({"content": "x".repeat(megabytes << 20)}), Some("stop"));
    let reply = |megabytes| Reply::sse([chunk(megabytes), openai::done()]).chunks(Cut::Bytes(1 << 16));
    let (_, error) = failure_of_large(reply(20));
    assert_eq!(
        error.to_string(),
        "the answer is not what this kind of provider sends: an event of the stream is larger than 16777216 bytes"
    );
    let server = Server::scripted([reply(8)]);
    assert_eq!(ask(Wire::OpenAi, &server.url()).reply().unwrap().text().len(), 8 << 20);
}

/// The client leaves before everything was sent.
fn failure_of_large(reply: Reply) -> (Vec<Event>, Error) {
    let server = Server::scripted([reply]);
    let (events, failure) = all(ask(Wire::OpenAi, &server.url()));
    (events, failure.expect("it fails"))
}

#[test]
fn nobody_is_followed_to_another_address() {
    let elsewhere = Server::scripted([]);
    let reply = Reply::json(307, &json!({})).header("location", &format!("{}/v1/messages", elsewhere.url()));
    let told = complaint(Wire::Anthropic, reply);
    assert_eq!(told.status, Some(307));
    assert!(told.message.contains(&elsewhere.url()), "{}", told.message);
    assert_eq!(elsewhere.finish().len(), 0);
}

#[test]
fn a_head_without_end_is_refused() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let server = Server::scripted([Reply::raw(endless)]);
    let (_, error) = all(ask(Wire::Anthropic, &server.url()));
    assert!(matches!(error, Some(Error::Malformed(_) | Error::Network { .. })), "{error:?}");
}
