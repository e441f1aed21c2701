//! Bytes that no honest client sends. Each is answered, and the connection goes on.

use std::io::Cursor;

use mcp::{Server, ServerInfo, Tool, ToolResult, serve};
use serde_json::{Value, json};

use super::bench::{HELLO, replies, replies_after_hello};

const PING: &str = r#"{"jsonrpc":"2.0","id":"after","method":"ping"}"#;

/// The code and id that `bytes` are answered with; a ping behind them must be answered too.
#[track_caller]
fn refused(bytes: &[u8]) -> (i64, Value) {
    let replies = replies([bytes, b"\n", PING.as_bytes()].concat());
    assert_eq!(replies.len(), 2, "{replies:#?}");
    assert_eq!(replies[1]["id"], "after");
    (replies[0]["error"]["code"].as_i64().unwrap(), replies[0]["id"].clone())
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    for bytes in [
        &b"{"[..],
        b"nonsense",
        b"{\"jsonrpc\":\"2.0\",}",
        b"\xff\xfe{}",
        b"{\"id\":1}{\"id\":2}",
        b"\"\\ud800\"",
    ] {
        assert_eq!(refused(bytes), (-32700, Value::Null), "{}", bytes.escape_ascii());
    }
}

#[test]
fn json_without_end_in_its_depth_is_a_parse_error() {
    for open in ["[", "{\"a\":"] {
        let deep = open.repeat(100_000);
        assert_eq!(refused(deep.as_bytes()), (-32700, Value::Null));
    }
    let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(refused(closed.as_bytes()), (-32700, Value::Null));
}

#[test]
fn a_line_above_the_cap_is_refused_and_one_of_exactly_the_cap_is_not() {
    let cap = mcp::LINE_CAP.0;
    let padded = |length: usize| {
        let frame = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":""}}"#;
        frame.replace("\"\"}", &format!("\"{}\"}}", "x".repeat(length - frame.len())))
    };
    assert_eq!(padded(cap).len(), cap);
    assert_eq!(replies(padded(cap))[0]["result"], json!({}));
    assert_eq!(refused(padded(cap + 1).as_bytes()), (-32600, Value::Null));
    assert_eq!(refused(&vec![b'x'; 3 * cap]), (-32600, Value::Null));
}

#[test]
fn a_batch_of_a_million_is_refused_as_one() {
    assert_eq!(refused(format!("[{}1]", "1,".repeat(1_000_000)).as_bytes()), (-32600, Value::Null));
    let nested = format!("[[{PING}]]");
    assert_eq!(replies(nested)[0][0]["error"]["code"], -32600, "a batch in a batch is no message");
}

#[test]
fn ids_that_cannot_be_echoed_exactly_are_refused() {
    for id in ["null", "true", "1.5", "1.0", "1e2", "18446744073709551616", "[1]", "{}"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(refused(line.as_bytes()), (-32600, Value::Null), "{id}");
    }
    for id in [r#""""#, r#""a\"\\日""#, "0", "-7", "18446744073709551615", "-9223372036854775808"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let value: Value = serde_json::from_str(id).unwrap();
        assert_eq!(replies(line)[0]["id"], value, "{id}");
    }
}

#[test]
fn what_is_no_request_is_refused_with_its_id_where_it_has_one() {
    for (line, id) in [
        ("7", Value::Null),
        (r#""ping""#, Value::Null),
        ("null", Value::Null),
        ("{}", Value::Null),
        (r#"{"id":5,"method":"ping"}"#, json!(5)),
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":2.0,"id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":"2.0","id":6,"method":["ping"]}"#, json!(6)),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, Value::Null),
    ] {
        assert_eq!(refused(line.as_bytes()), (-32600, id), "{line}");
    }
}

#[test]
fn what_needs_no_answer_gets_none() {
    let silent = [
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":[7]}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"?"}}"#,
        "  \t ",
        "\r",
    ];
    assert_eq!(replies(silent.join("\n")), [] as [Value; 0]);
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    let line = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"no","method":"ping","params":{"a":1,"a":2}}"#;
    assert_eq!(replies(line), [json!({"jsonrpc": "2.0", "id": 2, "result": {}})]);
}

#[test]
fn a_client_that_dies_in_the_middle_of_a_line_is_answered_up_to_there() {
    let replies = replies(format!("{PING}\n{}", &PING[..20]));
    assert_eq!(replies.len(), 2);
    assert_eq!((&replies[0]["id"], &replies[1]["error"]["code"]), (&json!("after"), &json!(-32700)));
}

#[test]
fn a_client_that_leaves_out_the_last_newline_or_writes_windows_ones_is_answered() {
    assert_eq!(replies(PING).len(), 1);
    assert_eq!(replies(format!("{PING}\r\n\r\n{PING}\r\n")).len(), 2);
}

#[test]
fn ten_thousand_requests_at_once_are_answered_in_order() {
    let lines: String = (1..=10_000)
        .map(|id| {
            let call = r#""tools/call","params":{"name":"count"}"#;
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{call}}}\n")
        })
        .collect();
    let replies = replies_after_hello(&lines);
    assert_eq!(replies.len(), 10_000);
    for (index, reply) in replies.iter().enumerate() {
        let number = json!(index + 1);
        assert_eq!((&reply["id"], &reply["result"]["structuredContent"]["calls"]), (&number, &number));
    }
}

#[test]
fn a_hello_in_a_batch_opens_the_connection_for_the_rest_of_it() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let replies = replies(format!("[{HELLO},{list}]"));
    assert_eq!(replies[0][1]["result"]["tools"].as_array().unwrap().len(), 4);
}

/// The lines that come back where the tool `grow` answers with as many bytes as it is told.
fn grown(requests: &str) -> Vec<String> {
    let grow = Tool::new("grow", "as long as you like", json!({"type": "object"}), |(): &mut (), call| {
        let bytes = call.arguments["bytes"].as_u64().unwrap();
        Ok(ToolResult::text("x".repeat(bytes.try_into().unwrap())))
    });
    let server = Server::new(ServerInfo::default(), vec![grow], || ());
    let mut written = Vec::new();
    serve(Cursor::new(format!("{HELLO}\n{requests}\n{PING}\n")), &mut written, &server).unwrap();
    let lines = String::from_utf8(written).unwrap();
    let lines: Vec<String> = lines.lines().skip(1).map(str::to_owned).collect();
    assert!(lines.last().unwrap().contains("after"), "the connection goes on");
    lines
}

fn grow(id: u8, bytes: usize) -> String {
    let params = json!({"name": "grow", "arguments": {"bytes": bytes}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn a_reply_above_the_cap_is_an_error_that_names_its_size() {
    let cap = mcp::LINE_CAP.0;
    let around = grown(&grow(1, 0))[0].len();
    assert_eq!(grown(&grow(1, cap - around))[0].len(), cap, "exactly the cap is sent");
    let reply: Value = serde_json::from_str(&grown(&grow(1, cap - around + 1))[0]).unwrap();
    let words = "the reply has 4194305 bytes, and a line takes 4194304";
    assert_eq!(reply, json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": words}}));
}

#[test]
fn in_a_batch_that_grew_too_long_only_the_long_replies_are_replaced() {
    let half = mcp::LINE_CAP.0 / 2;
    let calls = [grow(1, 10), grow(2, half), grow(3, half)].join(",");
    let replies: Value = serde_json::from_str(&grown(&format!("[{calls}]"))[0]).unwrap();
    assert_eq!(replies[0]["result"]["content"][0]["text"], "x".repeat(10));
    for (reply, id) in [(&replies[1], 2), (&replies[2], 3)] {
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(id), &json!(-32603)));
    }
}

#[test]
fn an_id_that_leaves_no_room_for_its_reply_is_not_echoed() {
    let id = format!("\"{}\"", "i".repeat(mcp::LINE_CAP.0 - 50));
    let replies = replies(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"no"}}"#));
    assert_eq!((&replies[0]["id"], &replies[0]["error"]["code"]), (&Value::Null, &json!(-32603)));
}
