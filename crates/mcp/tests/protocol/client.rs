//! Our client against servers that are scripted line by line: the odd, the old, the noisy and the dead.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp::client::{CallError, ClientInfo, ConnectError, Opening};
use mcp::{Client, Content, ToolResult, Version};
use serde_json::{Map, Value, json};
use wire::Deadline;

use super::bench::{Lines, serve_socket, server, soon};

fn connect(stream: &UnixStream, opening: Opening) -> Result<Client, ConnectError> {
    let info = ClientInfo { name: "t".into(), version: "0".into() };
    Client::connect(stream.try_clone().unwrap(), stream.try_clone().unwrap(), info, opening, soon())
}

/// A server that does what `script` says and then is gone.
fn scripted<T: Send + 'static>(
    script: impl FnOnce(&mut Lines) -> T + Send + 'static,
) -> (UnixStream, JoinHandle<T>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (ours, thread::spawn(move || script(&mut Lines::over(theirs))))
}

impl Lines {
    /// Reads a request of this method and answers it.
    #[track_caller]
    fn answer(&mut self, method: &str, result: &Value) -> Value {
        let request = self.expect(method);
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
        request
    }

    #[track_caller]
    fn refuse(&mut self, method: &str, code: i64, data: &Value) -> Value {
        let request = self.expect(method);
        let error = json!({"code": code, "message": "no", "data": data});
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string());
        request
    }

    #[track_caller]
    fn expect(&mut self, method: &str) -> Value {
        let request = self.next();
        assert_eq!(request["method"], method);
        request
    }

    /// The usual opening of a server of 2025-11-25.
    fn open(&mut self) {
        self.answer("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
        self.expect("notifications/initialized");
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn call(client: &Client) -> Result<ToolResult, CallError> {
    client.call_tool("t", Map::new(), soon())
}

#[test]
fn our_client_and_our_server_understand_each_other_in_both_generations() {
    for (opening, version) in
        [(Opening::Handshake, Version::V2025_11_25), (Opening::Discover, Version::V2026_07_28)]
    {
        let (stream, serving) = serve_socket(server());
        let client = connect(&stream, opening).unwrap();
        assert_eq!((client.version(), client.server().name.as_str()), (version, "bench"));
        assert_eq!(client.server().instructions.as_deref(), Some("Echo first."));
        let tools = client.list_tools(soon()).unwrap();
        assert_eq!(
            tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["echo", "count", "fail", "version"]
        );
        assert_eq!(
            (tools[0].title.as_deref(), &tools[0].schema["required"]),
            (Some("Echo"), &json!(["text"]))
        );
        let spoken = client.call_tool("version", Map::new(), soon()).unwrap();
        assert_eq!(spoken, ToolResult::text(version.name()));
        assert!(client.call_tool("fail", Map::new(), soon()).unwrap().is_error);
        let refused = client.call_tool("echo", Map::new(), soon()).unwrap_err();
        assert_eq!(refused.to_string(), "the server refused: text required (-32602)");
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        serving.join().unwrap();
        assert!(matches!(call(&client), Err(CallError::Closed(_))));
    }
}

#[test]
fn dropping_the_client_tells_a_server_on_a_pipe_to_end() {
    let (their_in, our_out) = std::io::pipe().unwrap();
    let (our_in, their_out) = std::io::pipe().unwrap();
    let (end, ended) = mpsc::channel();
    thread::spawn(move || end.send(mcp::serve(their_in, their_out, &server())).unwrap());
    let info = ClientInfo { name: "t".into(), version: "0".into() };
    let client = Client::connect(our_in, our_out, info, Opening::Handshake, soon()).unwrap();
    drop(client);
    ended.recv_timeout(soon().remaining()).unwrap().unwrap();
}

#[test]
fn an_older_server_is_met_where_it_stands() {
    let (stream, script) = scripted(|peer| {
        peer.answer("initialize", &json!({"protocolVersion": "2024-11-05", "serverInfo": {"name": "old"}}))
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert_eq!((client.version(), client.server().name.as_str()), (Version::V2024_11_05, "old"));
    let hello = script.join().unwrap();
    assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["params"]["clientInfo"], json!({"name": "t", "version": "0"}));
}

#[test]
fn a_server_that_refuses_our_version_but_names_its_own_is_asked_again() {
    let (stream, script) = scripted(|peer| {
        peer.refuse("initialize", -32602, &json!({"supported": ["2024-11-05"], "requested": "2025-11-25"}));
        peer.answer("initialize", &json!({"protocolVersion": "2024-11-05"}))
    });
    assert_eq!(connect(&stream, Opening::Handshake).unwrap().version(), Version::V2024_11_05);
    assert_eq!(script.join().unwrap()["params"]["protocolVersion"], "2024-11-05");
}

#[test]
fn a_server_without_a_handshake_is_discovered_and_told_on_each_request() {
    let (stream, script) = scripted(|peer| {
        peer.refuse("initialize", -32601, &Value::Null);
        peer.answer(
            "server/discover",
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"]}),
        );
        peer.answer("tools/call", &json!({"resultType": "complete", "content": []}))
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert_eq!(client.version(), Version::V2026_07_28);
    assert_eq!(call(&client).unwrap(), ToolResult::default());
    let meta = &script.join().unwrap()["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "t");
}

#[test]
fn a_server_that_hangs_up_after_refusing_says_how_to_come_back() {
    let refuse = |data: Value| {
        let (stream, script) = scripted(move |peer| peer.refuse("initialize", -32022, &data));
        let error = connect(&stream, Opening::Handshake).unwrap_err();
        script.join().unwrap();
        error
    };
    assert!(matches!(refuse(json!({"supported": ["2026-07-28"]})), ConnectError::WantsDiscover));
    assert!(matches!(refuse(Value::Null), ConnectError::Call(CallError::Refused(_))));
}

#[test]
fn a_probe_that_is_refused_or_not_answered_falls_back_to_the_handshake() {
    let (stream, script) = scripted(|peer| {
        peer.refuse("server/discover", -32602, &Value::Null);
        peer.open();
    });
    assert_eq!(connect(&stream, Opening::Discover).unwrap().version(), Version::V2025_11_25);
    script.join().unwrap();

    let (stream, script) = scripted(|peer| {
        peer.expect("server/discover");
        peer.open();
    });
    let info = ClientInfo { name: "t".into(), version: "0".into() };
    let (reader, writer) = (stream.try_clone().unwrap(), stream.try_clone().unwrap());
    let patience = Deadline::after(Duration::from_secs(4));
    let client = Client::connect(reader, writer, info, Opening::Discover, patience).unwrap();
    assert_eq!(client.version(), Version::V2025_11_25);
    script.join().unwrap();
}

#[test]
fn a_server_from_the_future_is_named() {
    let (stream, script) = scripted(|peer| {
        peer.answer("initialize", &json!({"protocolVersion": "2031-01-01"}));
    });
    let error = connect(&stream, Opening::Handshake).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server speaks no version of the protocol that we do, but [\"2031-01-01\"]"
    );
    script.join().unwrap();
}

#[test]
fn a_server_that_refuses_everything_is_not_asked_for_ever() {
    let (stream, script) = scripted(|peer| {
        let mut asked = 0;
        loop {
            let request = peer.next();
            if request.is_null() {
                return asked;
            }
            asked += 1;
            let error = json!({"code": -32000, "message": "go away"});
            peer.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string());
        }
    });
    let error = connect(&stream, Opening::Handshake).unwrap_err();
    assert_eq!(error.to_string(), "the server refused: go away (-32000)");
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    assert!(script.join().unwrap() <= 5);
}

#[test]
fn noise_between_messages_is_skipped_counted_and_shown() {
    let (stream, script) = scripted(|peer| {
        peer.send("\u{1b}[32mnpm\u{1b}[0m warn deprecated everything");
        peer.open();
        peer.0.get_mut().write_all(b"\xff\xfe\n{\"level\":\"info\"}\n[]\n42\n\n").unwrap();
        peer.answer("tools/call", &text("fine"));
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert_eq!(call(&client).unwrap().to_text(), "fine");
    let noise = client.noise();
    assert_eq!((noise.lines, noise.first.as_deref()), (4, Some("[32mnpm[0m warn deprecated everything")));
    script.join().unwrap();
}

#[test]
fn a_program_that_is_no_server_is_quoted() {
    let (stream, script) = scripted(|peer| {
        peer.expect("initialize");
        peer.send("usage: server [options]");
    });
    let error = connect(&stream, Opening::Handshake).unwrap_err();
    let said = "the server closed the connection after it printed `usage: server [options]`";
    assert_eq!(error.to_string(), said);
    script.join().unwrap();
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_call_is_an_error_at_once() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        peer.expect("tools/call");
        peer.0.get_mut().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":").unwrap();
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert!(matches!(call(&client), Err(CallError::Closed(_))));
    assert!(matches!(call(&client), Err(CallError::Closed(_))), "and for every call after it");
    script.join().unwrap();
}

#[test]
fn a_call_that_is_given_up_is_cancelled_and_its_late_answer_ignored() {
    let (give_up, given_up) = mpsc::channel::<()>();
    let (stream, script) = scripted(move |peer| {
        peer.open();
        let slow = peer.expect("tools/call");
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], slow["id"]);
        given_up.recv().unwrap();
        peer.send(&json!({"jsonrpc": "2.0", "id": slow["id"], "result": text("late")}).to_string());
        peer.answer("tools/call", &text("next"));
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    let patience = Deadline::after(Duration::from_millis(20));
    assert!(matches!(client.call_tool("t", Map::new(), patience), Err(CallError::DeadlinePassed)));
    give_up.send(()).unwrap();
    assert_eq!(call(&client).unwrap().to_text(), "next");
    script.join().unwrap();
}

#[test]
fn a_server_that_reads_nothing_does_not_hold_a_large_call_past_its_deadline() {
    let (finish, finished) = mpsc::channel::<()>();
    let (stream, script) = scripted(move |peer| {
        peer.open();
        finished.recv().unwrap();
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    let arguments = Map::from_iter([("text".to_owned(), json!("x".repeat(2 << 20)))]);
    let patience = Deadline::after(Duration::from_millis(20));
    assert!(matches!(client.call_tool("t", arguments, patience), Err(CallError::DeadlinePassed)));
    finish.send(()).unwrap();
    script.join().unwrap();
}

#[test]
fn an_answer_above_the_cap_fails_its_call_and_no_other() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        peer.answer("tools/call", &text(&"x".repeat(5 << 20)));
        peer.answer("tools/call", &text("small"));
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    let error = call(&client).unwrap_err();
    assert_eq!(error.to_string(), "the server sent a line longer than 4194304 bytes");
    assert_eq!(call(&client).unwrap().to_text(), "small");
    script.join().unwrap();
}

#[test]
fn answers_find_their_callers_in_any_order_and_under_odd_ids() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        let requests = [peer.expect("tools/call"), peer.expect("tools/call"), peer.expect("tools/call")];
        peer.send(&json!({"jsonrpc": "2.0", "id": 999, "result": text("stray")}).to_string());
        let mut batch = Vec::new();
        for request in requests.iter().rev() {
            let id = request["id"].to_string();
            let name = request["params"]["name"].as_str().unwrap();
            batch.push(json!({"jsonrpc": "2.0", "id": id, "result": text(name)}));
        }
        peer.send(&Value::Array(batch).to_string());
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let client = &client;
            scope.spawn(move || {
                assert_eq!(client.call_tool(name, Map::new(), soon()).unwrap().to_text(), name);
            });
        }
    });
    script.join().unwrap();
}

#[test]
fn an_error_about_a_request_that_could_not_be_read_reaches_the_only_caller() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        peer.expect("tools/call");
        peer.send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#);
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert!(matches!(call(&client), Err(CallError::Refused(error)) if error.code == -32700));
    script.join().unwrap();
}

#[test]
fn requests_of_the_server_are_answered_and_its_notifications_dropped() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        let call = peer.expect("tools/call");
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}"#);
        peer.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        assert_eq!(peer.next(), json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
        for method in ["roots/list", "sampling/createMessage"] {
            peer.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string());
            assert_eq!(peer.next()["error"]["code"], -32601);
        }
        peer.send(&json!({"jsonrpc": "2.0", "id": call["id"], "result": text("done")}).to_string());
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    assert_eq!(call(&client).unwrap().to_text(), "done");
    script.join().unwrap();
}

#[test]
fn tools_come_in_pages_and_not_for_ever() {
    let (stream, script) = scripted(|peer| {
        peer.open();
        peer.answer(
            "tools/list",
            &json!({"tools": [{"name": "a"}, {"title": "nameless"}], "nextCursor": "2"}),
        );
        let second = peer.answer("tools/list", &json!({"tools": [{"name": "b", "inputSchema": 7}]}));
        assert_eq!(second["params"]["cursor"], "2");
        for _ in 0..64 {
            peer.answer("tools/list", &json!({"tools": [], "nextCursor": "again"}));
        }
        peer.answer("tools/list", &json!({"tools": "none"}));
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    let tools = client.list_tools(soon()).unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(tools[1].schema, json!({"type": "object"}));
    assert!(matches!(client.list_tools(soon()), Err(CallError::Malformed(_))));
    assert!(matches!(client.list_tools(soon()), Err(CallError::Malformed(_))));
    script.join().unwrap();
}

#[test]
fn results_are_taken_as_far_as_they_make_sense() {
    let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
    let mixed =
        json!({"content": [image, {"type": "text", "text": "x"}], "isError": true, "structuredContent": [1]});
    let (stream, script) = scripted(move |peer| {
        peer.open();
        for result in [
            mixed,
            json!({"structuredContent": {}}),
            json!({}),
            json!([]),
            json!({"resultType": "input_required"}),
        ] {
            peer.answer("tools/call", &result);
        }
    });
    let client = connect(&stream, Opening::Handshake).unwrap();
    let mixed = call(&client).unwrap();
    assert!(matches!(&mixed.content[0], Content::Other(value) if value["type"] == "image"));
    assert_eq!((mixed.to_text().as_str(), mixed.is_error, mixed.structured), ("x", true, Some(json!([1]))));
    assert!(call(&client).unwrap().content.is_empty());
    for _ in 0..3 {
        assert!(matches!(call(&client), Err(CallError::Malformed(_))));
    }
    script.join().unwrap();
}
