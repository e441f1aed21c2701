//! Several servers as one: each part keeps its tools and the state that it has on a connection, and knows nothing of the
//! others.

use std::sync::Arc;

use crate::tool::Declared;
use crate::{BadArguments, Call, Server, ServerInfo, ToolResult};

/// A server of whatever state, ready to be put together with others.
pub struct Part {
    instructions: Option<String>,
    tools: Vec<Declared>,
    open: Box<dyn Fn() -> Box<dyn Opened> + Send + Sync>,
}

/// One part on one connection.
pub trait Opened {
    /// Calls a tool by its place in the part.
    fn call(&mut self, tool: usize, call: &Call) -> Result<ToolResult, BadArguments>;
}

struct Stateful<S> {
    server: Arc<Server<S>>,
    state: S,
}

impl<S> Opened for Stateful<S> {
    fn call(&mut self, tool: usize, call: &Call) -> Result<ToolResult, BadArguments> {
        self.server.tools[tool].call(&mut self.state, call)
    }
}

impl<S: 'static> From<Server<S>> for Part {
    fn from(server: Server<S>) -> Part {
        let server = Arc::new(server);
        Part {
            instructions: server.info.instructions.clone(),
            tools: server.tools.iter().map(|tool| tool.declared.clone()).collect(),
            open: Box::new(move || {
                Box::new(Stateful { state: (server.fresh_state)(), server: Arc::clone(&server) })
            }),
        }
    }
}

impl Server<Vec<Box<dyn Opened>>> {
    /// All tools of all parts. Their instructions come one after the other.
    pub fn of_parts(name: &str, version: &str, parts: Vec<Part>) -> Server<Vec<Box<dyn Opened>>> {
        let mut instructions = Vec::new();
        let mut tools = Vec::new();
        let mut opens = Vec::new();
        for (part, Part { instructions: own, tools: declared, open }) in parts.into_iter().enumerate() {
            instructions.extend(own);
            opens.push(open);
            for (number, tool) in declared.into_iter().enumerate() {
                tools.push(tool.handled_by(move |opened: &mut Vec<Box<dyn Opened>>, call| {
                    opened[part].call(number, call)
                }));
            }
        }
        let info = ServerInfo {
            name: name.to_owned(),
            version: version.to_owned(),
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
        };
        Server::new(info, tools, move || opens.iter().map(|open| open()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::{Value, json};

    use super::*;
    use crate::{Tool, serve};

    /// A server that counts its calls from `first` on.
    fn counting(name: &'static str, first: u64) -> Server<u64> {
        let count = |count: &mut u64, _: &Call| {
            *count += 1;
            Ok(ToolResult::text((*count - 1).to_string()))
        };
        let schema = json!({"type": "object", "required": ["why"]});
        let info = ServerInfo { instructions: Some(format!("Call {name}.")), ..ServerInfo::default() };
        Server::new(info, vec![Tool::new(name, "counts", schema, count)], move || first)
    }

    fn hello() -> Value {
        let client = json!({"name": "t", "version": "0"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    }

    fn replies(lines: &[Value]) -> Vec<Value> {
        let server =
            Server::of_parts("both", "1", vec![counting("one", 10).into(), counting("two", 20).into()]);
        let sent: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut written = Vec::new();
        serve(Cursor::new(sent), &mut written, &server).unwrap();
        written.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    #[test]
    fn each_part_has_its_own_state_and_a_new_handshake_begins_all_of_them_anew() {
        let call = |name| {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": {"why": "to count"}}})
        };
        let sent = [hello(), call("one"), call("two"), call("one"), hello(), call("one"), call("two")];
        let said = replies(&sent);
        assert_eq!(said[0]["result"]["instructions"], "Call one.\n\nCall two.");
        let counts: Vec<&Value> = said.iter().map(|reply| &reply["result"]["content"][0]["text"]).collect();
        assert_eq!(
            counts,
            [
                &Value::Null,
                &json!("10"),
                &json!("20"),
                &json!("11"),
                &Value::Null,
                &json!("10"),
                &json!("20")
            ]
        );
    }

    #[test]
    fn what_a_tool_requires_it_requires_here() {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "two"}});
        let said = replies(&[hello(), list, call]);
        let names: Vec<&str> = said[1]["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(said[2]["error"]["message"], "why required");
    }
}
