//! A server fed with any bytes, in memory, and what must hold then.

use std::io::Cursor;

use mcp::{Server, ServerInfo, Tool, ToolResult, serve};
use serde_json::{Value, json};

/// Serves `bytes` as one connection and returns the replies, one JSON value per line.
///
/// # Panics
/// If a reply is not a line of JSON-RPC, or the connection ends other than by the end of the bytes.
pub(crate) fn served(bytes: &[u8]) -> Vec<Value> {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let echo = Tool::new("echo", "says it again", schema, |count: &mut u64, call| {
        *count += 1;
        Ok(ToolResult::structured(call.arguments.clone()))
    });
    let info = ServerInfo { name: "fuzz".into(), version: "0".into(), instructions: None };
    let mut written = Vec::new();
    serve(Cursor::new(bytes.to_vec()), &mut written, &Server::new(info, vec![echo], || 0))
        .expect("memory can be read and written");
    let text = String::from_utf8(written).expect("replies are UTF-8");
    let replies: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a reply is one line of JSON")).collect();
    for reply in
        replies.iter().flat_map(|reply| reply.as_array().map_or(std::slice::from_ref(reply), |all| all))
    {
        let outcomes = ["result", "error"].iter().filter(|key| reply.get(key).is_some()).count();
        assert_eq!((reply["jsonrpc"].as_str(), outcomes), (Some("2.0"), 1), "{reply}");
        assert!(reply.get("id").is_some(), "{reply}");
    }
    replies
}
