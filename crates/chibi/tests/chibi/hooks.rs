//! The 17 hooks: when they come, what they are told, and what their answers do.

use super::*;

const ALL: [&str; 17] = [
    "on_start",
    "on_end",
    "on_context_switch",
    "pre_message",
    "post_message",
    "pre_system_prompt",
    "post_system_prompt",
    "pre_tool",
    "post_tool",
    "pre_send_message",
    "post_send_message",
    "pre_clear",
    "post_clear",
    "pre_compact",
    "post_compact",
    "pre_rolling_compact",
    "post_rolling_compact",
];

/// A plugin that writes down every hook it hears, and answers with `answers` where it has one.
fn spy(answers: &[(&str, Value)]) -> String {
    let schema = json!({"name": "spy", "description": "d", "parameters": {"type": "object", "properties": {}}, "hooks": ALL});
    let cases: String = answers.iter().map(|(hook, answer)| format!("{hook}) echo '{answer}';;\n")).collect();
    format!(
        "#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n\
         if [[ -n $CHIBI_HOOK ]]; then echo \"$CHIBI_HOOK $CHIBI_HOOK_DATA\" >> \"$CHIBI_HOME/hooks.log\"\n\
         case $CHIBI_HOOK in\n{cases}*) echo '{{}}';;\nesac\nexit; fi\necho spied\n"
    )
}

impl Chibi {
    /// What was heard since the last time.
    fn heard(&self) -> Vec<(String, Value)> {
        let log = fs::read_to_string(self.path("hooks.log")).unwrap_or_default();
        let _ = fs::remove_file(self.path("hooks.log"));
        let heard = log.lines().map(|line| line.split_once(' ').unwrap());
        heard.map(|(hook, data)| (hook.to_owned(), serde_json::from_str(data).unwrap())).collect()
    }

    fn heard_names(&self) -> Vec<String> {
        self.heard().into_iter().map(|(hook, _)| hook).collect()
    }
}

#[test]
fn all_hooks_come_in_their_order_with_what_they_are_told() {
    let letter = json!({"to": "other", "content": "psst"});
    let server = Server::scripted([
        said(turn().call("send_message", &letter)),
        says("sent"),
        says("again"),
        says("a summary"),
        says("I have it."),
        says("between"),
        says("[]"),
        says("rolled"),
        says("answered"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("spy", &spy(&[]));
    chibi.told(&["-c", "work", "hello"]);
    let heard = chibi.heard();
    let names: Vec<&str> = heard.iter().map(|(hook, _)| hook.as_str()).collect();
    assert_eq!(
        names,
        [
            "on_start",
            "on_context_switch",
            "pre_message",
            "pre_system_prompt",
            "post_system_prompt",
            "pre_tool",
            "pre_send_message",
            "post_send_message",
            "post_tool",
            "post_message",
            "on_end"
        ]
    );
    assert_eq!(heard[0].1, json!({"current_context": "default", "verbose": false}));
    assert_eq!(heard[1].1, json!({"from_context": "default", "to_context": "work", "is_transient": false}));
    assert_eq!(heard[2].1, json!({"prompt": "hello", "context_name": "work", "summary": ""}));
    assert_eq!(heard[5].1, json!({"tool_name": "send_message", "arguments": letter}));
    assert_eq!(heard[9].1, json!({"prompt": "hello", "response": "sent", "context_name": "work"}));
    assert_eq!(heard[10].1, json!({"current_context": "work"}));

    chibi.told(&["more"]);
    chibi.heard();
    chibi.told(&["-z"]);
    assert_eq!(chibi.heard_names(), ["on_start", "pre_compact", "post_compact", "on_end"]);
    chibi.told(&["between"]);
    chibi.heard();
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
    chibi.told(&["now"]);
    let heard = chibi.heard();
    let archived = (&heard[3].1["messages_archived"], &heard[3].1["message_count"]);
    assert_eq!(archived, (&json!(4), &json!(1)), "two exchanges went, and the prompt is there");
    let names: Vec<&str> = heard.iter().map(|(hook, _)| hook.as_str()).collect();
    assert_eq!(
        names[1..6],
        [
            "pre_message",
            "pre_rolling_compact",
            "post_rolling_compact",
            "pre_system_prompt",
            "post_system_prompt"
        ]
    );
    chibi.told(&["-a"]);
    assert_eq!(chibi.heard_names(), ["on_start", "pre_clear", "post_clear", "on_end"]);
    let all: std::collections::BTreeSet<&str> = ALL.into_iter().collect();
    assert_eq!(all.len(), 17);
}

#[test]
fn answers_change_the_prompt_the_system_text_and_the_arguments() {
    let server =
        Server::scripted([said(turn().call("update_todos", &json!({"content": "theirs"}))), says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin(
        "spy",
        &spy(&[
            ("pre_message", json!({"prompt": "other words"})),
            ("pre_system_prompt", json!({"inject": "BEFORE"})),
            ("post_system_prompt", json!({"inject": "AFTER"})),
            ("pre_tool", json!({"arguments": {"content": "ours"}})),
        ]),
    );
    chibi.told(&["hello"]);
    assert_eq!(chibi.read("contexts/default/todos.md"), "ours");
    let heard = chibi.heard();
    let after = heard.iter().find(|(hook, _)| hook == "post_tool").unwrap();
    assert_eq!(after.1["arguments"], json!({"content": "ours"}));
    let requests = server.finish();
    assert_eq!(spoken(&requests[0]), ["user: other words", "system: BEFORE\n\nAFTER"]);
    let call = chibi.transcript("default").into_iter().find(|entry| entry.0 == "tool_call").unwrap();
    assert_eq!(call.3, r#"{"content":"theirs"}"#, "the log has the model's own words");
}

#[test]
fn a_hook_can_forbid_a_tool_and_deliver_a_message() {
    let calls = turn()
        .call("update_todos", &json!({"content": "x"}))
        .call("send_message", &json!({"to": "xmpp:bob@x.org", "content": "hi"}));
    let server = Server::scripted([said(calls), says("ok")]);
    let chibi = Chibi::asking(&server);
    let schema = json!({"name": "guard", "description": "d", "parameters": {}, "hooks": ["pre_tool", "pre_send_message"], "guard": true});
    chibi.plugin(
        "guard",
        &format!(
            "#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n\
             case $CHIBI_HOOK_DATA in *update_todos*) echo '{{\"block\": true, \"message\": \"not today\"}}';;\n\
             *xmpp*) [[ $CHIBI_HOOK == pre_send_message ]] && echo '{{\"delivered\": true, \"via\": \"xmpp\"}}';; esac\nexit 0\n"
        ),
    );
    chibi.run(&["hello"]).ok();
    assert!(!chibi.path("contexts/default/todos.md").exists());
    assert!(!chibi.path("contexts/xmpp:bob@x.org").exists(), "no ghost of a context");
    let log = chibi.transcript("default");
    let results: Vec<&str> =
        log.iter().filter(|entry| entry.0 == "tool_result").map(|entry| entry.3.as_str()).collect();
    assert!(results[0].contains("not today"), "{results:?}");
    assert!(results[1].contains("via xmpp"), "{results:?}");
}

#[test]
fn a_guard_that_crashes_blocks_and_another_hook_that_crashes_only_warns() {
    let crash = |name: &str, guard: bool| {
        let schema = json!({"name": name, "description": "d", "parameters": {}, "hooks": ["pre_message"], "guard": guard});
        format!("#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\nexit 3\n")
    };
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("helper", &crash("helper", false));
    let output = chibi.run(&["hello"]).ok();
    assert_eq!(output.stdout, "ok\n");
    assert!(output.stderr.starts_with("warning: plugin `helper`"), "{}", output.stderr);
    chibi.plugin("guard", &crash("guard", true));
    let output = chibi.run(&["hello"]);
    assert_eq!(output.code, 1, "{}", output.transcript());
    assert!(output.stderr.contains("error: nothing was sent"), "{}", output.stderr);
    assert_eq!(chibi.transcript("default").len(), 3, "and nothing was kept");
}

#[test]
fn on_end_comes_only_after_success() {
    let server = Server::scripted([Wire::OpenAi.failure(401, "error", "no")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("spy", &spy(&[]));
    assert_eq!(chibi.run(&["hello"]).code, 3);
    assert!(!chibi.heard_names().contains(&"on_end".to_owned()));
    drop(server);
}

/// A guard that listens to one hook, and answers so.
fn guard(hook: &str, body: &str) -> String {
    let schema = json!({"name": "guard", "description": "d", "hooks": [hook], "guard": true});
    format!("#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n{body}\n")
}

#[test]
fn a_guard_keeps_whatever_is_about_to_happen_from_happening() {
    let no = r#"echo '{"block": true, "message": "not now"}'"#;
    for (body, why) in [(no, "not now"), ("exit 3", "the guard `guard` could not be asked")] {
        let server = Server::answering(|_| says("said"));
        let chibi = Chibi::asking(&server);
        ["one", "two", "three"].iter().for_each(|word| drop(chibi.told(&[word])));
        let (before, asked) = (chibi.read("contexts/default/context.jsonl"), server.requests().len());
        let refused = |hook: &str, args: &[&str], what: &str| {
            chibi.plugin("guard", &guard(hook, body));
            let output = chibi.run(args);
            assert_eq!(output.code, 1, "{hook}: {}", output.transcript());
            let error = output.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
            assert!(error.starts_with(&format!("error: {what}: {why}")), "{hook}: {error}");
            assert_eq!(output.stdout, "", "{hook}");
        };
        refused("pre_clear", &["-a"], "the context was not archived");
        refused("pre_compact", &["-z"], "the conversation was not compacted");
        refused("pre_message", &["hello"], "nothing was sent");
        assert_eq!(chibi.read("contexts/default/context.jsonl"), before);
        refused("pre_system_prompt", &["hello"], "nothing was sent");
        assert_eq!(server.requests().len(), asked, "nobody was asked");
        // The prompt stays in the log, and the next turn has a window without it.
        chibi.plugin("guard", &guard("on_end", "exit 0"));
        chibi.told(&["again"]);
        let sent = server.requests();
        assert!(!spoken(&sent[asked]).contains(&"user: hello".to_owned()), "{:?}", spoken(&sent[asked]));

        chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
        chibi.plugin("guard", &guard("pre_rolling_compact", body));
        let output = chibi.run(&["now"]).ok();
        assert_eq!(output.stdout, "said\n", "the prompt is answered all the same");
        assert!(
            output.stderr.contains(&format!("the conversation was not compacted: {why}")),
            "{}",
            output.stderr
        );
        assert_eq!(server.requests().len(), asked + 2);
        let mut told = server.finish();
        assert!(spoken(&told.pop().unwrap()).contains(&"user: one".to_owned()), "the window is whole");
    }
}
