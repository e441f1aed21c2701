//! A prompt, an answer, and what is left of them.

use super::*;

#[test]
fn a_prompt_is_answered_stored_and_replayed() {
    let server = Server::scripted([says("Hello there."), says("You said hello.")]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["hello"]), "Hello there.\n");
    assert_eq!(chibi.told(&["what", "did", "I", "say?"]), "You said hello.\n");
    let requests = server.finish();
    assert_eq!(spoken(&requests[0]), ["user: hello"]);
    assert_eq!(spoken(&requests[1]), ["user: hello", "assistant: Hello there.", "user: what did I say?"]);
    let log = chibi.transcript("default");
    assert_eq!(log[0].0, "context_created");
    let row = |kind: &str, from: &str, to: &str, content: &str| {
        (kind.to_owned(), from.to_owned(), to.to_owned(), content.to_owned())
    };
    assert_eq!(log[1], row("message", "user", "default", "hello"));
    assert_eq!(log[2], row("message", "default", "user", "Hello there."));
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 4\n");
    assert_eq!(chibi.told(&["-g", "2"]), "[USER]: what did I say?\n\n[DEFAULT]: You said hello.\n\n");
    assert_eq!(chibi.told(&["-g", "-1"]), "[USER]: hello\n\n", "what is not shown does not count");
    assert_eq!(chibi.told(&["--last"]), "You said hello.\n");
    let markdown = chibi.read("contexts/default/transcript.md");
    assert_eq!(
        markdown,
        "[USER]: hello\n\n[ASSISTANT]: Hello there.\n\n[USER]: what did I say?\n\n[ASSISTANT]: You said hello.\n\n"
    );
}

#[test]
fn the_request_is_what_it_has_always_been() {
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "api_key = \"sk-test\"");
    fs::set_permissions(chibi.path("config.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    chibi.told(&["hello"]);
    let request = server.finish().remove(0);
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer sk-test"));
    let body = request.json();
    assert_eq!(body["model"], "test-model");
    assert_eq!(body["stream"], true);
    assert_eq!(body["parallel_tool_calls"], true);
    let tools = body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["search_transcript", "send_message", "update_goals", "update_reflection", "update_todos"],
        "sorted, so that they never move"
    );
}

#[test]
fn text_from_a_pipe_stands_below_the_words() {
    let server = Server::scripted([says("1"), says("2")]);
    let chibi = Chibi::asking(&server);
    chibi.piped(&["explain", "this"], "line one\nline two\n").ok();
    chibi.piped(&[], "first\nsecond\n\nthird\n").ok();
    let requests = server.finish();
    assert_eq!(spoken(&requests[0]), ["user: explain this\n\nline one\nline two"]);
    assert_eq!(spoken(&requests[1])[2], "user: first\nsecond\n\nthird", "no line break is doubled");
}

#[test]
fn nothing_to_say_is_wrong_usage() {
    let chibi = Chibi::bare();
    let output = chibi.run(&[]);
    assert_eq!(output.code, 2);
    assert_eq!(output.stderr, "error: the prompt is empty\nhint: `chibi hello`, or `chibi --help`\n");
    let output = chibi.run(&["-x"]);
    assert_eq!((output.code, output.stderr.lines().next()), (2, Some("error: there is nothing to do")));
}

#[test]
fn a_reply_cut_into_single_bytes_is_the_same_reply() {
    let text = "Ünïcödé, 日本語 and a \u{1f980}";
    let reply = says(text).chunks(testkit::model::Cut::Bytes(1));
    let server = Server::scripted([reply]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["hello"]), format!("{text}\n"));
    assert_eq!(chibi.transcript("default")[2].3, text);
}

#[test]
fn a_leading_line_break_is_left_out_and_a_last_one_put_there() {
    let server = Server::scripted([said(turn().say_in(["\nHello", "\n\nthere"])), says("x\n")]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["hi"]), "Hello\n\nthere\n");
    assert_eq!(chibi.told(&["hi"]), "x\n");
}

#[test]
fn a_reader_who_goes_away_is_no_failure_and_the_answer_is_kept() {
    let server = Server::scripted([said(turn().say(&"word ".repeat(100_000)))]);
    let chibi = Chibi::asking(&server);
    let line = format!("{} hello | head -c 10; exit ${{PIPESTATUS[0]}}", testkit::bin("chibi").display());
    let output = chibi.home.run(chibi.home.command("bash").args(["-c", &line]));
    assert_eq!((output.stdout.as_str(), output.code), ("word word ", 0), "{}", output.stderr);
    assert_eq!(chibi.transcript("default")[2].3.len(), 500_000);
}

#[test]
fn anthropic_is_spoken_to_in_its_own_language() {
    let server = Server::scripted([
        turn().think("hm", "sig").call("update_todos", &json!({"content": "one"})).stream(Wire::Anthropic),
        turn().say("done").usage(10, 5).stream(Wire::Anthropic),
        turn().say("again").stream(Wire::Anthropic),
    ]);
    let chibi = Chibi::bare();
    let text = format!("model = \"claude-opus-5-5\"\nbase_url = \"{}/v1/messages\"\n", server.url());
    chibi.home.write(".chibi/config.toml", text);
    assert_eq!(chibi.told(&["hi"]), "done\n");
    assert_eq!(chibi.told(&["more"]), "again\n");
    let requests = server.finish();
    assert_eq!(requests[0].path, "/v1/messages");
    let last = requests[2].json();
    let thought = &last["messages"][1]["content"][0];
    assert_eq!((&thought["type"], &thought["signature"]), (&json!("thinking"), &json!("sig")), "{last}");
    assert!(last["messages"].to_string().contains("--- CURRENT TODOS ---\\none"), "{last}");
}

#[test]
fn structured_answers_follow_a_schema() {
    let server = Server::scripted([says("{}"), says("{}")]);
    let chibi = Chibi::asking(&server);
    chibi.home.write("person.json", r#"{"type":"object","properties":{"name":{"type":"string"}}}"#);
    chibi.told(&["--schema", "person.json", "who?"]);
    chibi.told(&["--schema", r#"{"type":"object"}"#, "who?"]);
    let requests = server.finish();
    let format = &requests[0].json()["response_format"];
    assert_eq!(format["json_schema"]["name"], "person");
    assert_eq!(format["json_schema"]["schema"]["properties"]["name"]["type"], "string");
    assert_eq!(requests[1].json()["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
    let output = chibi.run(&["--schema", "missing.json", "who?"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.starts_with("error: cannot read the schema `missing.json`"), "{}", output.stderr);
}

#[test]
fn a_script_needs_neither_key_nor_settings() {
    let chibi = Chibi::bare();
    chibi.home.write("play.txt", "data: {\"say\": \"from a file\"}\n\ndata: [DONE]\n\n");
    assert_eq!(chibi.told(&["--model", "script:play.txt", "hi"]), "from a file\n");
}

#[test]
fn usage_is_counted_by_context_and_day() {
    let server = Server::scripted([
        said(turn().say("a").usage(1000, 50)),
        said(turn().say("b").usage(2000, 70).cached(500, 0)),
    ]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["--usage"]), "Nothing was spent yet.\n");
    chibi.told(&["hi"]);
    chibi.home.clock().set(1_767_225_600_000 + 86_400_000);
    chibi.told(&["-C", "other", "hi"]);
    let shown = chibi.told(&["--usage"]);
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows[0].contains("replies") && rows[0].contains("cost"), "{shown}");
    for start in ["default", "other", "2026-01-01", "2026-01-02", "total"] {
        assert!(rows.iter().any(|row| row.starts_with(start)), "{start}: {shown}");
    }
    let total = rows.last().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(total[1], "2", "{shown}");
    assert_eq!(total[4], "120", "{shown}");
}
