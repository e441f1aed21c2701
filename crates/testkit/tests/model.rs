//! The scripted model, asked over real sockets.
#![allow(clippy::unwrap_used, reason = "test code outside of test functions")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model::{Cut, Event, LineEnd, Reply, Server, Wire, anthropic, openai, turn};
use testkit::{PATIENCE, panic_of, until};

/// Sends raw bytes on a new connection.
fn connect(server: &Server, bytes: impl AsRef<[u8]>) -> TcpStream {
    let mut stream = TcpStream::connect(server.url().strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes.as_ref()).unwrap();
    stream
}

fn post(body: &str) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The whole answer as it came over the wire.
fn ask(server: &Server) -> String {
    let mut answer = String::new();
    connect(server, post("{}")).read_to_string(&mut answer).unwrap();
    answer
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

/// The pieces of a chunked body.
fn chunks(answer: &str) -> Vec<String> {
    let mut rest = body(answer);
    let mut chunks = Vec::new();
    loop {
        let (size, after) = rest.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return chunks;
        }
        chunks.push(after[..size].to_owned());
        rest = after[size..].strip_prefix("\r\n").unwrap();
    }
}

/// The JSON of each event.
fn events(reply: Reply) -> Vec<Value> {
    let server = Server::scripted([reply]);
    let text = chunks(&ask(&server)).concat();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap_or(json!(data))).collect()
}

fn whole(reply: Reply) -> Value {
    let server = Server::scripted([reply]);
    serde_json::from_str(body(&ask(&server))).unwrap()
}

#[test]
fn an_anthropic_turn_has_every_event_in_its_place() {
    let script = turn()
        .think("hm", "c2ln")
        .say("Hello you")
        .event(anthropic::ping())
        .call("read_file", &json!({"path": "a"}))
        .cached(7, 8);
    let seen = events(script.clone().stream(Wire::Anthropic));
    let kinds: Vec<&str> = seen.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let (start, delta, stop) = ("content_block_start", "content_block_delta", "content_block_stop");
    assert_eq!(
        kinds,
        [
            "message_start",
            start,
            delta,
            delta,
            stop,
            start,
            delta,
            delta,
            stop,
            "ping",
            start,
            delta,
            delta,
            delta,
            stop,
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(seen[0]["message"]["id"], "msg_1");
    assert_eq!(seen[0]["message"]["usage"]["cache_read_input_tokens"], 7);
    assert_eq!(seen[3]["delta"], json!({"type": "signature_delta", "signature": "c2ln"}));
    assert_eq!(
        seen[10]["content_block"],
        json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}})
    );
    let input: String =
        seen[11..14].iter().map(|event| event["delta"]["partial_json"].as_str().unwrap()).collect();
    assert_eq!(input, "{\"path\":\"a\"}");
    assert_eq!(seen[15]["delta"]["stop_reason"], "tool_use");
    let seen = whole(script.whole(Wire::Anthropic));
    assert_eq!(seen["content"][1], json!({"type": "text", "text": "Hello you"}));
    assert_eq!(seen["content"][2]["input"], json!({"path": "a"}));
    assert_eq!(seen["stop_reason"], "tool_use");
}

#[test]
fn an_openai_turn_has_every_chunk_in_its_place() {
    let script = turn()
        .think("hm", "c2ln")
        .say("Hello")
        .call("a", &json!({}))
        .call("b", &json!([1]))
        .usage(3, 4)
        .cached(5, 6);
    let seen = events(script.clone().stream(Wire::OpenAi));
    let delta = |index: usize| &seen[index]["choices"][0]["delta"];
    assert_eq!(delta(0)["role"], "assistant");
    assert_eq!(delta(1)["reasoning_details"][0]["signature"], "c2ln");
    assert_eq!(delta(2)["content"], "Hello");
    assert_eq!(
        delta(3)["tool_calls"][0],
        json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "a", "arguments": ""}})
    );
    assert_eq!(delta(4)["tool_calls"][0], json!({"index": 0, "function": {"arguments": "{}"}}));
    assert_eq!(delta(5)["tool_calls"][0]["id"], "call_2");
    assert_eq!(seen[7]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!((&seen[8]["choices"], &seen[8]["usage"]["prompt_tokens"]), (&json!([]), &json!(14)));
    assert_eq!((seen[9].as_str(), seen.len()), (Some("[DONE]"), 10));
    let seen = whole(script.whole(Wire::OpenAi));
    assert_eq!(seen["choices"][0]["message"]["tool_calls"][1]["function"]["arguments"], "[1]");
}

#[test]
fn a_turn_can_stop_for_any_reason_and_break_off_with_an_error() {
    let stopped = events(turn().say("x").stop("refusal").stream(Wire::Anthropic));
    assert_eq!(stopped[4]["delta"]["stop_reason"], "refusal");
    let failed = turn().say("x").fail("overloaded_error", "Overloaded").say("never");
    let seen = events(failed.clone().stream(Wire::Anthropic));
    assert_eq!(
        seen.last().unwrap(),
        &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    );
    assert_eq!(events(failed.clone().stream(Wire::OpenAi)).last().unwrap()["error"]["message"], "Overloaded");
    assert!(panic_of(|| failed.whole(Wire::OpenAi)).contains("Wire::failure"));
}

#[test]
fn a_failure_has_its_status_its_headers_and_the_error_of_its_wire() {
    let server = Server::scripted([
        Wire::Anthropic.failure(529, "overloaded_error", "Overloaded").header("retry-after", "1"),
        Wire::OpenAi.failure(402, "billing", "no money"),
    ]);
    let answer = ask(&server);
    assert!(answer.starts_with("HTTP/1.1 529 ") && answer.contains("\r\nretry-after: 1\r\n"), "{answer}");
    assert!(answer.contains("\r\nrequest-id: req_1\r\n"), "{answer}");
    assert!(ask(&server).contains("\"message\":\"no money\""));
    let _ = server.finish();
}

#[test]
fn ids_are_unique_within_a_server_and_the_same_in_every_run() {
    let reply = || turn().call("a", &json!({})).call("b", &json!({})).stream(Wire::Anthropic);
    let server = Server::scripted([reply(), reply()]);
    let text = ask(&server) + &ask(&server);
    for id in ["msg_1", "msg_2", "toolu_1", "toolu_2", "toolu_3", "toolu_4"] {
        assert_eq!(text.matches(&format!("\"{id}\"")).count(), 1, "{id}");
    }
}

#[test]
fn the_body_is_cut_where_the_script_says() {
    let reply = || Reply::sse([Event::comment("warm"), Event::data(&json!({"a": "é"})), openai::done()]);
    let cut = |reply: Reply| chunks(&ask(&Server::scripted([reply])));
    assert_eq!(cut(reply()), [": warm\n\n", "data: {\"a\":\"é\"}\n\n", "data: [DONE]\n\n"]);
    assert_eq!(cut(reply().chunks(Cut::Whole)).len(), 1);
    assert_eq!(cut(reply().chunks(Cut::At(vec![3, 8, 10_000])))[..2], [": w", "arm\n\n"]);
    assert_eq!(cut(Reply::sse_bytes("abc").chunks(Cut::Bytes(1))), ["a", "b", "c"]);
    let returns =
        cut(Reply::sse([Event::raw("event:x\n\n"), Event::raw("data:y\ndata:z")]).line_ends(LineEnd::Cr));
    assert_eq!(returns, ["event:x\r\r", "data:y\rdata:z"]);
    let both = cut(reply().line_ends(LineEnd::CrLf));
    assert_eq!(both[2], "data: [DONE]\r\n\r\n");
}

#[test]
fn a_body_may_end_with_the_connection_and_a_raw_reply_is_sent_as_it_is() {
    let server =
        Server::scripted([Reply::sse_bytes("abc").until_close(), Reply::raw("HTTP/1.1 teapot\r\n\n")]);
    let answer = ask(&server);
    assert!(answer.contains("\r\nconnection: close\r\n") && answer.ends_with("\r\n\r\nabc"), "{answer}");
    assert_eq!(ask(&server), "HTTP/1.1 teapot\r\n\n");
}

#[test]
fn a_connection_is_dropped_or_reset_in_the_middle() {
    let server = Server::scripted([
        turn().say("one two").stream(Wire::Anthropic).drop_at("one "),
        Reply::sse_bytes("abcdef").chunks(Cut::Whole).drop_at(3),
        Reply::sse_bytes("abcdef").chunks(Cut::Whole).reset_at(3),
    ]);
    assert!(ask(&server).ends_with("one \r\n"));
    assert!(ask(&server).ends_with("\r\n\r\n3\r\nabc\r\n"));
    let error = connect(&server, post("")).read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(server.finish().iter().all(|request| !request.closed_early), "it was us who closed");
}

#[test]
fn delays_are_kept() {
    let pause = Duration::from_millis(30);
    for reply in [
        Reply::sse_bytes("abcd").delay_before(pause),
        Reply::sse_bytes("abcd").pause_at(2, pause),
        Reply::sse_bytes("abcd").one_byte_per(pause / 3),
    ] {
        let server = Server::scripted([reply]);
        let start = Instant::now();
        assert_eq!(chunks(&ask(&server)).concat(), "abcd");
        assert!(start.elapsed() >= pause, "{:?}", start.elapsed());
    }
}

#[test]
fn a_client_that_closes_early_is_noticed_while_the_server_pauses() {
    let server = Server::scripted([Reply::sse_bytes("abcdef").pause_at(3, PATIENCE * 2)]);
    let mut stream = connect(&server, post(""));
    until_read(&mut stream, "abc");
    assert!(!server.requests()[0].closed_early);
    drop(stream);
    assert!(until(PATIENCE, || server.requests()[0].closed_early));
}

fn until_read(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.trim_end().ends_with(end) {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    text
}

#[test]
fn every_request_is_logged_whole_whichever_way_its_body_came() {
    let server = Server::answering(|request| Reply::json(200, &json!({"path": request.path})));
    let mut stream = connect(&server, "POST /a HTTP/1.1\r\nX-Key: v\r\nContent-Length: 7\r\n\r\n{\"n\":1}");
    until_read(&mut stream, "{\"path\":\"/a\"}");
    stream.write_all(b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"n\r\n4;x=y\r\n\":2}\r\n0\r\nT: t\r\n\r\n").unwrap();
    until_read(&mut stream, "{\"path\":\"/b\"}");
    stream.write_all(b"POST /c HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").unwrap();
    until_read(&mut stream, "HTTP/1.1 100 Continue");
    stream.write_all(b"{}").unwrap();
    until_read(&mut stream, "{\"path\":\"/c\"}");
    until_read(&mut connect(&server, "GET /d HTTP/1.0\r\n\r\n"), "{\"path\":\"/d\"}");
    let log = server.finish();
    let seen: Vec<_> =
        log.iter().map(|request| (request.number, request.connection, request.path.as_str())).collect();
    assert_eq!(seen, [(0, 0, "/a"), (1, 0, "/b"), (2, 0, "/c"), (3, 1, "/d")]);
    assert_eq!((log[0].header("x-key"), log[0].json()), (Some("v"), json!({"n": 1})));
    assert_eq!((log[1].method.as_str(), log[1].json()), ("POST", json!({"n": 2})));
    assert!(panic_of(|| log[3].json()).contains("request 4 is not JSON"));
}

#[test]
fn replies_left_over_are_a_complaint() {
    let server = Server::scripted([Reply::json(200, &json!(1)), Reply::json(200, &json!(2))]);
    ask(&server);
    assert!(panic_of(|| server.finish()).contains("1 replies were left over"));
    let forgotten = Server::scripted([Reply::json(200, &json!(1))]);
    assert!(panic_of(|| drop(forgotten)).contains("1 replies were left over"), "also without finish()");
}

#[test]
fn a_request_too_many_is_answered_500_and_is_a_complaint() {
    let server = Server::scripted([]);
    let answer = ask(&server);
    assert!(answer.starts_with("HTTP/1.1 500 ") && answer.contains("the script ran out"), "{answer}");
    assert!(panic_of(|| server.finish()).contains("ran out before request 1 (POST /v1/messages)"));
}

#[test]
fn a_place_that_is_not_in_the_body_and_a_closure_that_panics_are_complaints() {
    let server = Server::scripted([
        Reply::sse_bytes("abc").drop_at("x"),
        Reply::sse_bytes("abc").pause_at(4, PATIENCE),
    ]);
    assert!(ask(&server).starts_with("HTTP/1.1 500 "));
    ask(&server);
    let message = panic_of(|| server.finish());
    assert!(message.contains("reply 1: no \"x\" in the body") && message.contains("no byte 4"), "{message}");
    let server = Server::answering(|_| panic!("undecided"));
    assert!(ask(&server).starts_with("HTTP/1.1 500 "));
    assert!(panic_of(|| server.finish()).contains("the closure panicked at request 1"));
}

#[test]
fn what_is_not_http_is_a_complaint_and_a_request_cut_short_is_not() {
    for nonsense in [
        "hello\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        "\u{ff}\r\n\r\n",
    ] {
        let server = Server::scripted([]);
        let mut answer = String::new();
        connect(&server, nonsense).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{nonsense:?}: {answer}");
        assert!(panic_of(|| server.finish()).contains("sent no HTTP"));
    }
    let server = Server::scripted([]);
    for start in ["", "POST /", "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc"] {
        let mut stream = connect(&server, start);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
    assert_eq!(server.finish(), []);
}

#[test]
fn a_server_stops_at_once_with_a_reply_in_the_middle_of_a_pause() {
    let server = Server::scripted([Reply::sse_bytes("abc").pause_at(1, PATIENCE * 10)]);
    let mut stream = connect(&server, post(""));
    until_read(&mut stream, "1\r\na");
    let start = Instant::now();
    assert!(!server.finish()[0].closed_early);
    assert!(start.elapsed() < PATIENCE);
}
