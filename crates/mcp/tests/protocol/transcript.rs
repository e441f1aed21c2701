//! Conversations as data: what is sent, and what is answered.

use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use mcp::{Server, ServerInfo, Tool, ToolResult};
use serde_json::{Value, json};

use super::bench::{HELLO, Lines, replies, serve_socket};

/// `->` lines are sent in order on one fresh connection; `<-` lines are all that comes back, in order.
#[track_caller]
fn check(transcript: &str) {
    let (mut sent, mut expected) = (String::new(), Vec::new());
    for line in transcript.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_at(3) {
            ("-> ", line) => sent.push_str(&format!("{line}\n")),
            ("<- ", line) => expected.push(serde_json::from_str::<Value>(line).unwrap()),
            other => panic!("{other:?}"),
        }
    }
    let answered = replies(sent);
    for (answered, expected) in answered.iter().zip(&expected) {
        assert_eq!(answered, expected);
    }
    assert_eq!(answered.len(), expected.len(), "{answered:#?}");
}

#[test]
fn a_handshake_then_a_list_and_calls() {
    check(
        r#"
        -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
        <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1.2.3"},"instructions":"Echo first."}}
        -> {"jsonrpc":"2.0","method":"notifications/initialized"}
        -> {"jsonrpc":"2.0","id":"two","method":"tools/list"}
        <- {"jsonrpc":"2.0","id":"two","result":{"tools":[{"name":"echo","title":"Echo","description":"says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},{"name":"count","description":"how many calls this connection has made","inputSchema":{"type":"object","additionalProperties":false}},{"name":"fail","description":"fails","inputSchema":{"type":"object","additionalProperties":false}},{"name":"version","description":"what the client speaks","inputSchema":{"type":"object","additionalProperties":false}}]}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"añ日"}}}
        <- {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"añ日"}],"isError":false}}
        -> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"count"}}
        <- {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"{\"calls\":2}"}],"structuredContent":{"calls":2},"isError":false}}
        -> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fail","arguments":null}}
        <- {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"it broke"}],"isError":true}}
        -> {"jsonrpc":"2.0","id":6,"method":"ping"}
        <- {"jsonrpc":"2.0","id":6,"result":{}}
        "#,
    );
}

#[test]
fn a_handshake_settles_on_a_version_that_has_one() {
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2026-07-28", "2025-11-25"),
        ("next year", "2025-11-25"),
    ] {
        let hello = HELLO.replace("2025-11-25", asked);
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"version"}}"#;
        let replies = replies(format!("{hello}\n{call}\n"));
        assert_eq!(replies[0]["result"]["protocolVersion"], answered);
        assert_eq!(replies[1]["result"]["content"][0]["text"], answered);
    }
}

#[test]
fn a_request_that_says_what_it_speaks_needs_no_handshake() {
    check(
        r#"
        -> {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}},"instructions":"Echo first.","ttlMs":300000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.2.3"}}}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"version","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"2026-07-28"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.2.3"}}}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"version","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"2025-11-25"}],"isError":false}}
        -> {"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"method not found"}}
        -> {"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}
        <- {"jsonrpc":"2.0","id":5,"error":{"code":-32022,"message":"unsupported protocol version","data":{"requested":"1900-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}}
        -> {"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
        <- {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"_meta is missing io.modelcontextprotocol/clientCapabilities, or it is malformed"}}
        -> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":20260728}}}
        <- {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"_meta is missing io.modelcontextprotocol/protocolVersion, or it is malformed"}}
        "#,
    );
}

#[test]
fn a_list_without_a_handshake_may_be_kept() {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#);
    let result = &replies(line)[0]["result"];
    assert_eq!(result["tools"].as_array().unwrap().len(), 4);
    let hints = (&result["resultType"], &result["ttlMs"], &result["cacheScope"]);
    assert_eq!(hints, (&json!("complete"), &json!(300_000), &json!("private")));
}

#[test]
fn before_a_handshake_only_a_ping_is_answered() {
    check(
        r#"
        -> {"jsonrpc":"2.0","id":1,"method":"ping"}
        <- {"jsonrpc":"2.0","id":1,"result":{}}
        -> {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        <- {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"send initialize first, or io.modelcontextprotocol/protocolVersion in _meta"}}
        -> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}
        <- {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"send initialize first, or io.modelcontextprotocol/protocolVersion in _meta"}}
        -> {"jsonrpc":"2.0","id":4,"method":"server/discover"}
        <- {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"_meta is missing io.modelcontextprotocol/protocolVersion, or it is malformed"}}
        -> {"jsonrpc":"2.0","id":5,"method":"no/such"}
        <- {"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"method not found"}}
        -> {"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":7}}
        <- {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"missing protocolVersion"}}
        "#,
    );
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let replies = super::bench::replies_after_hello(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rm"}}
        {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}
        {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":7}}}
        {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":["text"]}}
        {"jsonrpc":"2.0","id":6,"method":"tools/call","params":["echo"]}
        {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}
        {"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"info"}}
        {"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"count"}}"#,
    );
    let said: Vec<String> = replies
        .iter()
        .map(|reply| format!("{} {} {}", reply["id"], reply["error"]["code"], reply["error"]["message"]))
        .collect();
    assert_eq!(
        said,
        [
            r#"1 -32602 "missing tool name""#,
            r#"2 -32602 "unknown tool: rm""#,
            r#"3 -32602 "text required""#,
            r#"4 -32602 "invalid type: integer `7`, expected a string""#,
            r#"5 -32602 "arguments must be an object""#,
            r#"6 -32602 "params must be an object""#,
            r#"7 -32602 "unknown cursor""#,
            r#"8 -32601 "method not found""#,
            "9 null null",
        ]
    );
    assert_eq!(replies[8]["result"]["structuredContent"], json!({"calls": 1}));
}

#[test]
fn a_batch_is_answered_as_a_batch_without_its_notifications() {
    check(
        r#"
        -> []
        <- {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"empty batch"}}
        -> [{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","method":"what/ever"}]
        -> [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},1,{"jsonrpc":"2.0","id":"b","method":"no"}]
        <- [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is an object"}},{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"method not found"}}]
        "#,
    );
}

#[test]
fn each_connection_and_each_handshake_has_a_state_of_its_own() {
    let count = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"}}"#;
    let calls = |lines: &[&str]| -> Vec<Value> {
        let replies = replies(lines.join("\n"));
        replies.iter().filter_map(|reply| reply["result"].get("structuredContent")).cloned().collect()
    };
    let (one, two) = (json!({"calls": 1}), json!({"calls": 2}));
    assert_eq!(calls(&[HELLO, count, count, HELLO, count]), [one.clone(), two, one.clone()]);
    assert_eq!(calls(&[HELLO, count]), [one]);
}

/// A tool that tells when it runs and runs until it is cancelled.
fn patient() -> (Server<()>, mpsc::Receiver<&'static str>) {
    let (report, reports) = mpsc::channel();
    let wait =
        Tool::new("wait", "waits to be cancelled", json!({"type": "object"}), move |_: &mut (), call| {
            report.send("runs").unwrap();
            let deadline = super::bench::soon();
            while !call.cancel.is_cancelled() {
                assert!(!deadline.passed(), "nobody cancelled");
                std::thread::yield_now();
            }
            report.send("cancelled").unwrap();
            Ok(ToolResult::text("too late"))
        });
    (Server::new(ServerInfo::default(), vec![wait], || ()), reports)
}

#[test]
fn a_running_call_sees_that_it_is_cancelled_and_is_not_answered() {
    let (server, reports) = patient();
    let (stream, serving) = serve_socket(server);
    let mut peer = Lines::over(stream);
    peer.send(HELLO);
    assert_eq!(peer.next()["id"], 0);
    peer.send(r#"{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}"#);
    assert_eq!(reports.recv(), Ok("runs"));
    // Queued behind the running one, and taken back before it starts.
    peer.send(r#"{"jsonrpc":"2.0","id":"w2","method":"tools/call","params":{"name":"wait"}}"#);
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w2"}}"#);
    for nonsense in [r#"{"requestId":"unknown"}"#, r#"{"requestId":null}"#, "{}", "[]"] {
        peer.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{nonsense}}}"#));
    }
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w","reason":"enough"}}"#);
    peer.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(peer.next()["id"], "p", "the cancelled calls are not answered");
    assert_eq!(reports.recv(), Ok("cancelled"));
    assert!(reports.try_recv().is_err(), "the second never ran");
    drop(peer);
    serving.join().unwrap();
}

#[test]
fn a_client_that_stops_listening_has_hung_up() {
    let (server, _reports) = patient();
    let (reader, kept_open) = UnixStream::pair().unwrap();
    let (writer, gone) = UnixStream::pair().unwrap();
    drop(gone);
    let mut sender = Lines::over(kept_open);
    sender.send(HELLO);
    assert!(mcp::serve(reader, writer, &server).is_ok(), "though the other direction is still open");
}
