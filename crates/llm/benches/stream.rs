//! What it costs to hear a stream and to start one, beside the least that could be done in the same run.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a benchmark: baselines are plain calls")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use kit::process::Cancel;
use llm::provider::{Auth, Endpoint, Target};
use llm::sse::Splitter;
use llm::{Client, Decoder, Event, Message, Provider, Request, Setup, Wire};
use serde_json::{Value, json};
use testkit::measure::{Cost, Table, cost};

/// As the network gives it.
const PIECE: usize = 16 << 10;
const SIZE: usize = 10 << 20;

fn main() {
    let mut table = Table::default();
    // First, while the process is still small.
    hearing(&mut table);
    starting(&mut table);
    splitting(&mut table);
    reading(&mut table);
    table.print();
}

/// The baseline only looks for line feeds.
fn splitting(table: &mut Table) {
    for (name, delta) in [("small deltas", 5), ("deltas of 4 KB", 4096)] {
        let stream = anthropic(delta);
        let ours = cost(1, || {
            let (mut splitter, mut events) = (Splitter::default(), 0_usize);
            for piece in stream.chunks(PIECE) {
                splitter.feed(piece, &mut |data| events += data.len()).unwrap();
            }
            assert!(events > 0);
        });
        let plain = cost(1, || assert!(memchr::memchr_iter(b'\n', &stream).count() > 0));
        table.row(format!("split 10 MB, {name}"), ours, plain);
        table.note(format!("splitter, {name}"), rate(ours));
    }
}

/// The baseline parses each frame as JSON and throws it away.
fn reading(table: &mut Table) {
    for (name, wire, stream) in
        [("Anthropic", Wire::Anthropic, anthropic(5)), ("chat completions", Wire::OpenAi, openai(5))]
    {
        let ours = cost(1, || {
            let (mut decoder, mut events) = (Decoder::new(wire, "m", 1), Vec::new());
            for piece in stream.chunks(PIECE) {
                decoder.feed(piece, &mut events).unwrap();
                events.clear();
            }
            decoder.finish(&mut events).unwrap();
            assert!(matches!(events.last(), Some(Event::Done(_))));
        });
        let plain = cost(1, || {
            let mut frames = 0;
            for line in stream.split(|byte| *byte == b'\n') {
                let data = line.strip_prefix(b"data: ").unwrap_or_default();
                frames += usize::from(serde_json::from_slice::<Value>(data).is_ok());
            }
            assert!(frames > 0);
        });
        table.row(format!("read 10 MB of {name}, small deltas"), ours, plain);
        table.note(format!("reader, {name}"), rate(ours));
    }
}

/// From a client that is made to the first byte that the server sees; the baseline is a bare connection.
fn starting(table: &mut Table) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let first_byte = |start: &dyn Fn() -> Box<dyn std::any::Any>| {
        cost(20, || {
            let kept = start();
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0]).unwrap();
            drop(kept);
        })
    };
    let ours = first_byte(&|| {
        let client = Client::new(provider(&format!("http://{address}")), Setup::default());
        Box::new(client.start(&request(), &Cancel::default()))
    });
    let plain = first_byte(&|| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"POST").unwrap();
        Box::new(stream)
    });
    table.row("from a new client to the first byte", ours, plain);
}

/// 10 MB in small deltas over a socket, and what the process weighs before and after. The server keeps none of it.
fn hearing(table: &mut Table) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (start, delta, end) = parts(5);
        let (mut client, _) = listener.accept().unwrap();
        assert!(client.read(&mut [0; 4096]).unwrap() > 0);
        client.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").unwrap();
        client.write_all(&start).unwrap();
        let some = delta.repeat(PIECE / delta.len());
        (0..SIZE / some.len()).for_each(|_| client.write_all(&some).unwrap());
        client.write_all(&end).unwrap();
    });
    let before = resident_kb();
    let (started, client) =
        (Instant::now(), Client::new(provider(&format!("http://{address}")), Setup::default()));
    let events = client.start(&request(), &Cancel::default()).map(Result::unwrap).count();
    table.note("10 MB over a socket, ms", started.elapsed().as_millis() as u64);
    table.note("10 MB over a socket, events", events as u64);
    server.join().unwrap();
    table.note("10 MB over a socket, resident KB before and after", format!("{before} {}", resident_kb()));
}

fn rate(cost: Cost) -> String {
    format!("{:.0} MB/s", SIZE as f64 / cost.cpu * 1e3)
}

fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn provider(base: &str) -> Provider {
    Provider {
        wire: Wire::Anthropic,
        target: Target::Http(Endpoint::new(&format!("{base}/v1/messages")).unwrap()),
        key: None,
        auth: Auth::XApiKey,
        anthropic_version: llm::anthropic::VERSION.to_owned(),
    }
}

fn request() -> Request {
    Request { model: "m".to_owned(), messages: vec![Message::User("hello".to_owned())], ..Request::default() }
}

fn framed(frames: &[Value]) -> Vec<u8> {
    frames.iter().flat_map(|frame| format!("data: {frame}\n\n").into_bytes()).collect()
}

/// About ten megabytes of one text.
fn anthropic(delta: usize) -> Vec<u8> {
    let (start, delta, end) = parts(delta);
    [start, delta.repeat(SIZE / delta.len()), end].concat()
}

/// Its beginning, what is repeated, and its end.
fn parts(delta: usize) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let text = json!({"type": "text_delta", "text": "x".repeat(delta)});
    let delta = framed(&[json!({"type": "content_block_delta", "index": 0, "delta": text})]);
    let block = json!({"type": "text", "text": ""});
    let start = framed(&[
        json!({"type": "message_start", "message": {"id": "m"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ]);
    let end = framed(&[
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]);
    (start, delta, end)
}

fn openai(delta: usize) -> Vec<u8> {
    let choice = |delta: Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let text = choice(json!({"content": "x".repeat(delta)}), Value::Null);
    let chunk = framed(&[json!({"id": "c", "model": "m", "choices": text})]);
    let end = framed(&[json!({"choices": choice(json!({}), json!("stop"))})]);
    [chunk.repeat(SIZE / chunk.len()), end].concat()
}
