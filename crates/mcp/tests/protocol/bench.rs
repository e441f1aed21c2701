//! What the tests stand on: a server with a few tools, and ways to talk to it.

use std::io::{BufRead, BufReader, Cursor, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use mcp::{Server, ServerInfo, Tool, ToolResult, serve};
use serde_json::{Value, json};
use wire::Deadline;

/// Generous: only a test that fails waits that long.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// Each connection counts its own calls.
pub(crate) fn server() -> Server<u64> {
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let none = json!({"type": "object", "additionalProperties": false});
    let tools = vec![
        Tool::new("echo", "says it again", text, |calls: &mut u64, call| {
            #[derive(serde::Deserialize)]
            struct Arguments {
                text: String,
            }
            let arguments: Arguments = call.parse()?;
            *calls += 1;
            Ok(ToolResult::text(arguments.text))
        })
        .title("Echo"),
        Tool::new("count", "how many calls this connection has made", none.clone(), |calls: &mut u64, _| {
            *calls += 1;
            let object = json!({"calls": *calls}).as_object().cloned().unwrap_or_default();
            Ok(ToolResult::structured(object))
        }),
        Tool::new("fail", "fails", none.clone(), |_, _| Ok(ToolResult::error("it broke"))),
        Tool::new("version", "what the client speaks", none, |_, call| {
            Ok(ToolResult::text(call.version.name()))
        }),
    ];
    let info = ServerInfo {
        name: "bench".into(),
        version: "1.2.3".into(),
        instructions: Some("Echo first.".into()),
    };
    Server::new(info, tools, || 0)
}

/// All replies to `bytes`, sent at once.
pub(crate) fn replies(bytes: impl Into<Vec<u8>>) -> Vec<Value> {
    let mut written = Vec::new();
    serve(Cursor::new(bytes.into()), &mut written, &server()).unwrap();
    let text = String::from_utf8(written).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

/// The replies to `lines` after a handshake, whose own reply is left out.
pub(crate) fn replies_after_hello(lines: &str) -> Vec<Value> {
    let mut replies = replies(format!("{HELLO}\n{lines}"));
    assert_eq!(replies.remove(0)["id"], 0);
    replies
}

/// Serves the other end of a socket until it is closed.
pub(crate) fn serve_socket<S: 'static>(server: Server<S>) -> (UnixStream, JoinHandle<()>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let reader = theirs.try_clone().unwrap();
    let serving = std::thread::spawn(move || serve(reader, theirs, &server).unwrap());
    (ours, serving)
}

/// Line by line over a real socket.
pub(crate) struct Lines(pub(crate) BufReader<UnixStream>);

impl Lines {
    pub(crate) fn over(stream: UnixStream) -> Lines {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Lines(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.0.get_mut(), "{line}").unwrap();
    }

    /// The next line as JSON; null at the end of the stream.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        match self.0.read_line(&mut line).unwrap() {
            0 => Value::Null,
            _ => serde_json::from_str(&line).unwrap(),
        }
    }
}
