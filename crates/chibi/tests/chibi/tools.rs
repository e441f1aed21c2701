//! Tools: our own, those of plugins in bash and Python, recursion, limits, and tools run by hand.

use super::*;

#[test]
fn calls_and_results_are_replayed_with_their_ids_and_the_text_beside_them() {
    let server = Server::scripted([
        said(turn().say("Let me note it.").call("update_todos", &json!({"content": "- buy milk"}))),
        says("Noted."),
        says("Milk."),
    ]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["remember milk"]), "Let me note it.\nNoted.\n");
    assert_eq!(chibi.told(&["-n", "todos"]), "- buy milk\n");
    assert_eq!(chibi.told(&["what was it?"]), "Milk.\n");
    let requests = server.finish();
    let last = requests[2].json();
    let messages = last["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|said| said["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "system"]);
    assert_eq!(messages[1]["content"], "Let me note it.");
    assert_eq!(messages[1]["tool_calls"][0]["id"], messages[2]["tool_call_id"]);
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], r#"{"content":"- buy milk"}"#);
    assert_eq!(messages[5]["content"], "--- CURRENT TODOS ---\n- buy milk");
    let log = chibi.transcript("default");
    let kinds: Vec<&str> = log.iter().map(|entry| entry.0.as_str()).collect();
    assert_eq!(kinds[..6], ["context_created", "message", "message", "tool_call", "tool_result", "message"]);
    assert_eq!((log[3].1.as_str(), log[3].2.as_str()), ("default", "update_todos"));
    assert_eq!((log[4].1.as_str(), log[4].2.as_str()), ("update_todos", "default"));
}

#[test]
fn plugins_in_bash_and_python_are_called_in_the_same_turn() {
    let python = r#"#!/usr/bin/env python3
import json, os, sys
if len(sys.argv) > 1 and sys.argv[1] == "--schema":
    print(json.dumps({"name": "add", "description": "adds", "parameters": {"type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}}))
    sys.exit(0)
args = json.loads(os.environ["CHIBI_TOOL_ARGS"])
print(args["a"] + args["b"], end="")
"#;
    let server = Server::scripted([
        said(turn().call("add", &json!({"a": 2, "b": 3})).call("shout", &json!({}))),
        says("5, LOUD"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("add.py", python);
    chibi.plugin("shout", &bash_tool("shout", "echo \"LOUD in $CHIBI_CONTEXT\"; echo talk >&2"));
    let output = chibi.run(&["go"]).ok();
    assert_eq!(output.stdout, "5, LOUD\n");
    assert!(output.stderr.contains("talk"), "{}", output.stderr);
    let results: Vec<String> = chibi
        .transcript("default")
        .into_iter()
        .filter(|entry| entry.0 == "tool_result")
        .map(|entry| entry.3)
        .collect();
    assert_eq!(results, ["5", "LOUD in default\n"]);
}

#[test]
fn a_plugin_asks_the_person_before_it_acts() {
    let server = Server::scripted([said(turn().call("sure", &json!({}))), says("fine")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("sure", &bash_tool("sure", "read -r -p 'Really? ' answer; echo \"$answer\""));
    let mut terminal = chibi.terminal(&["go"]);
    terminal.wait_for("Really?", PATIENCE);
    terminal.send("yes\r");
    terminal.wait_for("fine", PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    let results = chibi.transcript("default").into_iter().filter(|entry| entry.0 == "tool_result");
    assert_eq!(results.map(|entry| entry.3).collect::<Vec<_>>(), ["yes\n"]);
    assert_eq!(chibi.piped(&["-p", "sure"], "no\n").ok().stdout, "no\n", "a pipe can answer, too");
    drop(server);
}

#[test]
fn a_model_that_wants_another_round_gets_it_and_a_blocked_call_does_not() {
    let recurse = |note: &str| said(turn().call("recurse", &json!({"note": note})));
    let server = Server::scripted([recurse("look again"), says("first"), says("second")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["--init"]);
    assert_eq!(chibi.told(&["go"]), "first\nsecond\n");
    let requests = server.finish();
    let last = spoken(&requests[2]);
    assert_eq!(last.last().unwrap(), "user: [Continuing from previous round]\n\nNote to self: look again");

    let server = Server::scripted([recurse("x"), says("only")]);
    chibi.configure(&server, "");
    fs::remove_file(chibi.path("plugins/recurse")).unwrap();
    assert_eq!(chibi.told(&["go"]), "only\n", "without the plugin there is no such tool");
    drop(server);
}

#[test]
fn recursion_ends_at_its_depth() {
    let server = Server::answering(|request| match request.number % 2 {
        0 => said(turn().call("recurse", &json!({"note": "on"}))),
        _ => says("round"),
    });
    let chibi = Chibi::asking(&server);
    chibi.told(&["--init"]);
    chibi.configure(&server, "max_recursion_depth = 3");
    let output = chibi.run(&["go"]).ok();
    assert_eq!(output.stdout, "round\nround\nround\n");
    assert_eq!(output.stderr, "[Max recursion depth (3) reached, stopping]\n");
    assert_eq!(server.finish().len(), 6);
}

#[test]
fn a_model_that_never_stops_calling_is_stopped_and_told_so() {
    let server = Server::answering(|request| {
        said(turn().call("update_todos", &json!({"content": request.number.to_string()})))
    });
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "max_tool_rounds = 4");
    let output = chibi.run(&["go"]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    assert!(output.stderr.contains("the limit of 4 rounds of tools is reached"), "{}", output.stderr);
    assert_eq!(server.finish().len(), 4);
    let server = Server::scripted([says("fine")]);
    chibi.configure(&server, "");
    assert_eq!(chibi.told(&["still there?"]), "fine\n", "the history can be used");
    drop(server);
}

#[test]
fn what_cannot_be_called_is_told_to_the_model() {
    let server = Server::scripted([
        said(turn().call("update_todo", &json!({})).call("update_goals", &json!({}))),
        says("sorry"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["go"]);
    let results: Vec<String> = chibi
        .transcript("default")
        .into_iter()
        .filter(|entry| entry.0 == "tool_result")
        .map(|entry| entry.3)
        .collect();
    assert!(results[0].contains("did you mean `update_todos`?"), "{results:?}");
    assert!(results[1].contains("`content` (string) is missing"), "{results:?}");
    drop(server);
}

#[test]
fn a_recipient_that_is_a_path_goes_nowhere() {
    let server = Server::scripted([
        said(turn().call("send_message", &json!({"to": "../../../escaped", "content": "x"}))),
        says("ok"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["go"]);
    assert!(!chibi.home.path().join("escaped").exists() && !chibi.path("escaped").exists());
    drop(server);
}

#[test]
fn tools_can_be_run_by_hand() {
    let chibi = Chibi::bare();
    chibi.plugin("echo_args", &bash_tool("echo_args", "echo \"$CHIBI_TOOL_ARGS\""));
    assert_eq!(chibi.told(&["-p", "echo_args", "-x", "two words"]), "{\"args\":[\"-x\",\"two words\"]}\n");
    assert_eq!(chibi.told(&["-P", "echo_args", "{\"a\":", "1}"]), "{\"a\":1}\n");
    chibi.told(&["-P", "update_goals", "{\"content\": \"win\"}"]);
    assert_eq!(chibi.told(&["-n", "goals"]), "win\n");
    let output = chibi.run(&["-P", "echo_arg"]);
    assert_eq!(output.stderr, "error: there is no tool `echo_arg`\nhint: did you mean `echo_args`?\n");
    let output = chibi.run(&["-P", "echo_args", "not json"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
    chibi.plugin("failing", &bash_tool("failing", "echo half; exit 3"));
    let output = chibi.run(&["-p", "failing"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.starts_with("error: `failing` failed: "), "{}", output.stderr);
}

#[test]
fn plugins_and_what_became_of_them_are_listed() {
    let chibi = Chibi::bare();
    assert!(chibi.told(&["--list-plugins"]).starts_with("No plugins in "));
    chibi.plugin("good", &bash_tool("good_tool", "echo x"));
    chibi.plugin("bad", "#!/bin/bash\necho garbage\n");
    chibi.plugin("off.disabled", "#!/bin/bash\n");
    let output = chibi.run(&["--list-plugins"]).ok();
    assert!(output.stdout.contains("good: loaded, tools good_tool"), "{}", output.stdout);
    assert!(output.stdout.contains("bad: skipped: its schema cannot be used"), "{}", output.stdout);
    assert!(output.stdout.contains("off.disabled: skipped: disabled by its name"), "{}", output.stdout);
    assert_eq!(output.stderr, "", "the list says it");
    let checked = chibi.run(&["--plugin-check", "good"]).ok().stdout;
    assert!(
        checked.contains("good: loaded, tools good_tool") && checked.contains("answered in"),
        "{checked}"
    );
    assert_eq!(chibi.run(&["--plugin-check", "bad"]).code, 1);
    assert_eq!(chibi.run(&["--plugin-check", "none"]).code, 1);
}

#[test]
fn plugins_that_cannot_be_looked_for_are_not_said_to_be_none() {
    let chibi = Chibi::bare();
    chibi.home.write(".chibi/plugins", "a file in the place of the folder");
    let output = chibi.run(&["--list-plugins"]).ok();
    assert!(
        output.stdout.contains("cannot be listed") && !output.stdout.contains("No plugins"),
        "{}",
        output.stdout
    );
    let listed: Value =
        serde_json::from_str(&chibi.run(&["--json-output", "--list-plugins"]).ok().stdout).unwrap();
    assert!(
        listed["metadata"]["data"][0]["reason"].as_str().unwrap().contains("cannot be listed"),
        "{listed}"
    );
}

#[test]
fn how_a_plugin_is_spoken_to_can_be_set_in_the_words_of_its_schema() {
    let chibi = Chibi::bare();
    let schema = json!({"name": "how", "description": "d", "protocol": "stdin"});
    let body = "[[ -n $CHIBI_TOOL_ARGS ]] && echo env || echo stdin";
    chibi.plugin(
        "how",
        &format!("#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n{body}\n"),
    );
    assert_eq!(chibi.told(&["-p", "how"]), "stdin\n");
    chibi.home.write(".chibi/config.toml", "[plugins.how]\nprotocol = 'env'\n");
    assert_eq!(chibi.told(&["-p", "how"]), "env\n");
    chibi.home.write(".chibi/config.toml", "[plugins.how]\nprotocol = 'environment'\n");
    let output = chibi.run(&["-p", "how"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("`plugins.how.protocol` must be one of env, stdin"), "{}", output.stderr);
}

#[test]
fn a_model_that_searches_makes_no_filters_where_none_are_wanted() {
    let server = Server::scripted([
        says("the axolotl"),
        says("two"),
        said(turn().call("search_transcript", &json!({"query": "axolotl"}))),
        says("found"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "[storage]\npartition_max_entries = 2\nenable_bloom_filters = false\n");
    chibi.told(&["one"]);
    chibi.told(&["two"]);
    let partitions = chibi.path("contexts/default/transcript/partitions");
    let endings = |ending: &str| {
        let files = fs::read_dir(&partitions).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|own| own == ending)).collect::<Vec<_>>()
    };
    let indexes = endings("index");
    assert!(!indexes.is_empty());
    indexes.iter().for_each(|path| fs::remove_file(path).unwrap());
    chibi.told(&["where was it?"]);
    let partitions = endings("jsonl").len();
    assert_eq!((endings("index").len(), endings("bloom").len()), (partitions, 0));
    let sent = server.finish();
    assert!(spoken(&sent[3]).iter().any(|said| said.starts_with("tool: ") && said.contains("the axolotl")));
}

#[test]
fn what_a_plugin_may_see_can_be_set_for_a_context_alone() {
    let chibi = Chibi::bare();
    chibi.plugin("show", &bash_tool("show", "echo \"[$TOKEN]\""));
    chibi.told(&["-C", "work", "-l"]);
    chibi.home.write(".chibi/contexts/work/local.toml", "[plugins.show]\nenv = ['TOKEN']\n");
    let shown = |args: &[&str]| chibi.home.run(chibi.command(args).env("TOKEN", "t")).ok().stdout;
    assert_eq!(shown(&["-p", "show"]), "[]\n");
    assert_eq!(shown(&["-C", "work", "-p", "show"]), "[t]\n");
}

#[test]
fn no_plugin_sees_a_key() {
    let chibi = Chibi::bare();
    chibi
        .home
        .write(".chibi/config.toml", "api_key_env = 'MY_KEY'\n[plugins.show]\nenv = ['MY_KEY', 'SEEN']\n");
    chibi.plugin("show", &bash_tool("show", "env"));
    let mut command = chibi.command(&["-p", "show"]);
    let (ours, other) = ("sk-the-key-of-a-file", "sk-the-key-of-openrouter");
    command.env("MY_KEY", ours).env("OPENROUTER_API_KEY", other).env("SEEN", "yes").env("UNSEEN", "no");
    let output = chibi.home.run(&mut command).ok();
    let seen = |line: &str| output.stdout.lines().any(|told| told == line);
    assert!(seen("SEEN=yes") && !seen("UNSEEN=no"), "{}", output.stdout);
    assert!(!output.stdout.contains(ours) && !output.stdout.contains(other), "{}", output.stdout);
}

#[test]
fn arguments_of_any_size_reach_a_tool_and_its_hooks() {
    let schema = json!({"name": "measure", "description": "d", "parameters": {"type": "object"}, "hooks": ["pre_tool", "pre_message"]});
    let server =
        Server::scripted([said(turn().call("measure", &json!({"text": "x".repeat(140_000)}))), says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin(
        "measure",
        &format!(
            "#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n\
             if [[ -n $CHIBI_HOOK ]]; then echo '{{}}'; exit; fi\n\
             wc -c < \"${{CHIBI_TOOL_ARGS_FILE:-/dev/null}}\"\n"
        ),
    );
    chibi.told(&[&"y".repeat(120_000)]);
    let log = chibi.transcript("default");
    let result = log.iter().find(|entry| entry.0 == "tool_result").unwrap();
    assert_eq!(result.3.trim(), "140011");
    drop(server);
}

/// A server of the Model Context Protocol with one tool.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "calc", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "double", "description": "doubles", "inputSchema": {
            "type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": str(params["arguments"]["n"] * 2)}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn tools_of_an_mcp_server_stand_beside_those_of_plugins() {
    let server = Server::answering(|request| {
        let body = request.json();
        let tools = body["tools"].as_array().unwrap();
        let names = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
        let double = names.into_iter().find(|name| name.contains("double")).unwrap();
        match body["messages"].to_string().contains("tool_call_id") {
            true => says("42"),
            false => said(turn().call(&double, &json!({"n": 21}))),
        }
    });
    let chibi = Chibi::asking(&server);
    let script = chibi.home.write("server.py", SERVER);
    let setting = format!("[servers.calc]\ncommand = 'python3'\nargs = ['{}']\n", script.display());
    chibi.configure(&server, &setting);
    assert_eq!(chibi.told(&["what is twice 21?"]), "42\n");
    let log = chibi.transcript("default");
    let result = log.iter().find(|entry| entry.0 == "tool_result").unwrap();
    assert_eq!(result.3, "42");
    assert!(chibi.told(&["--list-plugins"]).contains("calc: server, tools "));
    assert!(chibi.told(&["--plugin-check", "calc"]).contains("answered in"));
    drop(server);
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_told_about_where_tools_matter() {
    let server = Server::scripted([says("fine")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("broken", "#!/bin/sh\necho nonsense; exit 3\n");
    for quiet in [&["-L"][..], &["-n", "todos"], &["--usage"]] {
        chibi.told(quiet);
    }
    let listed = chibi.told(&["--list-plugins"]);
    assert!(listed.starts_with("broken: skipped: "), "{listed}");
    for told in [&["hello"][..], &["-P", "broken"], &["-v", "-L"]] {
        let output = chibi.run(told);
        let warnings = output.stderr.matches("warning: plugin `broken`: skipped: ").count();
        assert_eq!(warnings, 1, "{told:?}: {}", output.transcript());
    }
    drop(server);
}
