//! Tools of other people's servers beside our own.

use serde_json::json;

use crate::rig::{Rig, calls, results, says};

/// A server that speaks just enough of the protocol, in a few lines of shell.
const SERVER: &str = r#"while IFS= read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"t\",\"version\":\"1\"}}}" ;;
    *'"tools/list"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"roll\",\"description\":\"Roll a die\",\"inputSchema\":{\"type\":\"object\"}}]}}" ;;
    *'"tools/call"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"four\"}]}}" ;;
  esac
done
"#;

fn rig(replies: impl IntoIterator<Item = testkit::model::Reply>) -> Rig {
    let rig = Rig::new(replies);
    let server = rig.home.write("server.sh", SERVER);
    let config = format!("[agent.mcp.dice]\ncommand = \"bash\"\nargs = [\"{}\"]\n", server.display());
    rig.home.write(".config/scrimp/config.toml", config);
    rig
}

#[test]
fn a_tool_of_a_server_is_offered_and_called() {
    let rig = rig([calls("dice__roll", &json!({})), says("Four.")]);
    assert_eq!(rig.run(&["--permission", "all", "roll"]).ok().stdout, "Four.\n");
    let requests = rig.requests();
    assert!(requests[0]["tools"].to_string().contains("Roll a die"));
    assert_eq!(results(&requests[1]), [("four".to_owned(), false)]);
}

#[test]
fn what_a_server_does_is_not_known_and_needs_a_yes() {
    let rig = rig([calls("dice__roll", &json!({})), says("No.")]);
    let _ = rig.run(&["roll"]).ok();
    assert!(results(&rig.requests()[1])[0].1);
}

#[test]
fn a_server_that_does_not_come_up_is_told_and_done_without() {
    let rig = Rig::new([says("Fine.")]);
    rig.home.write(".config/scrimp/config.toml", "[agent.mcp.gone]\ncommand = \"/nonexistent/server\"\n");
    let output = rig.run(&["hi"]).ok();
    assert!(output.stderr.contains("warning: the server `gone`: skipped: "), "{}", output.stderr);
    drop(rig.requests());
}
