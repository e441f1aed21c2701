//! Contexts: switching, making, listing, renaming, destroying, and names that are none.

use super::*;

#[test]
fn a_switch_is_kept_and_a_transient_one_is_not() {
    let server = Server::scripted([says("1"), says("2"), says("3")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-c", "work", "hello"]);
    chibi.told(&["-C", "aside", "hello"]);
    chibi.told(&["hello"]);
    assert_eq!(chibi.told(&["-L"]), "  aside\n* work\n");
    assert_eq!(chibi.transcript("work").len(), 5);
    assert_eq!(chibi.transcript("aside").len(), 3);
    let state: Value = serde_json::from_str(&chibi.read("state.json")).unwrap();
    assert_eq!(state["current_context"], "work");
    assert_eq!(state["previous_context"], "default");
    assert_eq!(chibi.told(&["-c", "aside"]), "");
    assert_eq!(chibi.told(&["-c", "-", "-l"]), "Context: work\nMessages: 4\n", "the one before");
    drop(server);
}

#[test]
fn new_contexts_are_named_by_the_time() {
    let chibi = Chibi::bare();
    chibi.told(&["-c", "new"]);
    chibi.told(&["-c", "new"]);
    chibi.told(&["-c", "new:idea"]);
    assert_eq!(chibi.told(&["-L"]), "  20260101_000000\n  20260101_000000_2\n* idea_20260101_000000\n");
    let output = chibi.run(&["-c", "new:"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
}

#[test]
fn names_that_are_paths_are_refused_everywhere() {
    let chibi = Chibi::bare();
    let victim = chibi.home.write("victim/precious", "x");
    for args in [
        vec!["-c", "../../victim", "-l"],
        vec!["-C", "../../victim", "-l"],
        vec!["-D", "../../victim", "--yes"],
        vec!["-A", "../../victim"],
        vec!["-Z", "../../victim"],
        vec!["-G", "../../victim", "3"],
        vec!["-N", "../../victim", "todos"],
        vec!["-Y", "../../victim", "x"],
        vec!["-R", "../../victim", "x"],
        vec!["-r", "../x"],
        vec!["-c", ""],
        vec!["-c", "a/b"],
        vec!["-c", "."],
    ] {
        let output = chibi.run(&args);
        assert_eq!(output.code, 2, "{args:?}: {}", output.transcript());
        assert!(
            output.stderr.starts_with("error: cannot work with the context: "),
            "{args:?}: {}",
            output.stderr
        );
    }
    assert!(victim.exists());
    assert_eq!(chibi.told(&["-L"]), "No contexts yet.\n");
}

#[test]
fn a_context_is_destroyed_only_by_somebody_who_is_sure() {
    let server = Server::scripted([says("1"), says("2")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["hello"]);
    chibi.told(&["-c", "work", "hello"]);
    assert_eq!(chibi.piped(&["-d"], "y\n").ok().stdout, "Aborted\n", "nobody can be asked");
    assert_eq!(chibi.told(&["-D", "nothing"]), "Context 'nothing' not found\n");
    assert_eq!(chibi.told(&["-d", "--yes"]), "Destroyed context `work`.\n");
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 2\n", "the previous one is back");
    assert_eq!(chibi.told(&["-D", "default", "--yes"]), "Destroyed context `default`.\n");
    assert_eq!(chibi.told(&["-L"]), "No contexts yet.\n");
    drop(server);
}

#[test]
fn a_question_at_a_terminal_is_answered_there() {
    let chibi = Chibi::bare();
    chibi.told(&["-c", "work"]);
    let mut terminal = chibi.terminal(&["-d"]);
    terminal.wait_for("Destroy context `work` and all that was said in it? [y/N]", PATIENCE);
    terminal.send("y\r");
    terminal.wait_for("Destroyed context `work`.", PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
}

#[test]
fn a_rename_moves_everything_even_for_a_transient_run() {
    let server = Server::scripted([says("1")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-c", "old", "hello"]);
    assert_eq!(chibi.told(&["-r", "new"]), "Renamed context `old` to `new`.\n");
    assert_eq!(chibi.told(&["-l"]), "Context: new\nMessages: 2\n");
    chibi.told(&["-C", "tmp", "-R", "new", "other"]);
    let state: Value = serde_json::from_str(&chibi.read("state.json")).unwrap();
    assert_eq!(state["current_context"], "other", "and the transient one is not kept");
    chibi.told(&["-C", "spare", "-A", "other"]);
    chibi.told(&["-C", "tmp", "--yes", "-D", "spare"]);
    let state: Value = serde_json::from_str(&chibi.read("state.json")).unwrap();
    assert_eq!((&state["current_context"], &state["contexts"]), (&json!("other"), &json!(["other", "tmp"])));
    let output = chibi.run(&["-R", "missing", "x"]);
    assert_eq!((output.code, output.stderr.lines().count()), (1, 2), "{}", output.stderr);
    chibi.told(&["-c", "taken"]);
    assert_eq!(chibi.run(&["-R", "other", "taken"]).code, 1);
    drop(server);
}

#[test]
fn a_context_called_user_keeps_its_roles() {
    let server = Server::scripted([says("yes"), says("still")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-c", "user", "hello"]);
    chibi.told(&["and now?"]);
    assert_eq!(spoken(&server.finish()[1]), ["user: hello", "assistant: yes", "user: and now?"]);
}

#[test]
fn a_copy_begins_where_the_entry_is_and_leaves_the_original() {
    let server = Server::scripted([says("one"), says("two"), says("three")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["first"]);
    chibi.told(&["second"]);
    let first_answer = chibi.lines("contexts/default/context.jsonl")[2]["id"].as_str().unwrap().to_owned();
    chibi.told(&["-c", "branch", "--from", &first_answer, "another way"]);
    assert_eq!(spoken(&server.finish()[2]), ["user: first", "assistant: one", "user: another way"]);
    assert_eq!(chibi.told(&["-C", "default", "-l"]), "Context: default\nMessages: 4\n");
    assert_eq!(chibi.run(&["--from", "x", "-l"]).code, 2);
    let output = chibi.run(&["-c", "more", "--from", "no-such-entry", "-l"]);
    assert_eq!(output.code, 1, "{}", output.transcript());
}

#[test]
fn the_context_spoken_in_last_is_found_again() {
    let server = Server::scripted([says("1"), says("2"), says("3")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["hello"]);
    chibi.home.clock().set(1_767_225_700_000);
    chibi.told(&["-C", "aside", "hello"]);
    chibi.told(&["--continue", "go on"]);
    assert_eq!(chibi.told(&["--continue", "-l"]), "Context: aside\nMessages: 4\n");
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 2\n");
    drop(server);
}

#[test]
fn words_are_found_in_every_context() {
    let server = Server::scripted([says("The capital is Vienna."), says("Une réponse."), says("no")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["what is the capital?"]);
    chibi.told(&["-C", "french", "écris"]);
    chibi.told(&["-C", "third", "nothing"]);
    let found = chibi.told(&["--search", "CAPITAL vienna"]);
    assert!(
        found.starts_with("2026-01-01 00:00  default  default  ") && found.contains("The capital is Vienna."),
        "{found}"
    );
    assert_eq!(found.lines().count(), 2);
    assert!(chibi.told(&["--search", "réponse"]).contains("french"));
    assert_eq!(chibi.told(&["-C", "third", "--search", "capital"]), "Nothing found.\n");
    assert_eq!(chibi.run(&["--search", "!!"]).code, 2);
    let rows = chibi.told(&["--json-output", "--search", "capital"]);
    assert_eq!(rows.lines().count(), 2);
    drop(server);
}

#[test]
fn a_transcript_is_exported_as_a_document_and_as_data() {
    let server =
        Server::scripted([said(turn().call("update_todos", &json!({"content": "x"}))), says("done")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["go"]);
    let document = chibi.told(&["--export", "markdown"]);
    assert!(document.starts_with("# default\n\n## user\n\ngo\n\n`update_todos` was called"), "{document}");
    assert!(document.ends_with("## default (assistant)\n\ndone\n"), "{document}");
    let data: Value = serde_json::from_str(&chibi.told(&["--export", "json"])).unwrap();
    assert_eq!((&data["context"], data["entries"].as_array().unwrap().len()), (&json!("default"), 5));
    assert_eq!(chibi.run(&["--export", "pdf"]).code, 2);
    let lines = |format: &str| -> Vec<Value> {
        let told = chibi.told(&["--json-output", "--export", format]);
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(lines("markdown")[0]["content"].as_str().unwrap(), document);
    assert_eq!(json!(lines("json")), data["entries"]);
    drop(server);
}

#[test]
fn a_session_of_another_program_goes_on_here() {
    let server = Server::scripted([says("Still 4.")]);
    let chibi = Chibi::asking(&server);
    let line = |kind: &str, id: &str, parent: Value, content: Value| {
        json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "cwd": "/p", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": kind, "content": content}})
    };
    let lines = [
        line("user", "1", Value::Null, json!("what is 2 + 2?")),
        line("assistant", "2", json!("1"), json!([{"type": "text", "text": "4"}])),
    ];
    chibi.home.write("session.jsonl", lines.map(|line| line.to_string()).join("\n") + "\nnonsense\n");
    let said = chibi.told(&["--import", "session.jsonl"]);
    assert!(said.starts_with("Imported 2 records into context `claude_20260101_000000`"), "{said}");
    chibi.told(&["are you sure?"]);
    assert_eq!(spoken(&server.finish()[0]), ["user: what is 2 + 2?", "assistant: 4", "user: are you sure?"]);
    chibi.home.write("other.jsonl", "{\"a\": 1}\n");
    let output = chibi.run(&["--import", "other.jsonl"]);
    assert_eq!((output.code, output.stderr.lines().count()), (1, 2), "{}", output.stderr);
    assert_eq!(chibi.run(&["--import", "missing.jsonl"]).code, 1);
}

#[test]
fn messages_reach_another_context_and_are_remembered_there() {
    let server = Server::scripted([
        said(turn().call("send_message", &json!({"to": "bob", "content": "the door is open"}))),
        says("sent"),
        says("I heard."),
        says("The door."),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-C", "alice", "tell bob"]);
    chibi.told(&["-C", "bob", "anything new?"]);
    chibi.told(&["-C", "bob", "what was it?"]);
    let requests = server.finish();
    assert_eq!(
        spoken(&requests[2]),
        [
            "user: anything new?",
            "system: --- INBOX MESSAGES ---\n[From: alice] the door is open\n--- END INBOX ---"
        ]
    );
    assert_eq!(
        spoken(&requests[3])[0],
        "user: --- INBOX MESSAGES ---\n[From: alice] the door is open\n--- END INBOX ---\n\nanything new?"
    );
    assert_eq!(spoken(&requests[3]).len(), 3, "delivered once");
    assert_eq!(
        chibi.transcript("bob")[0].0,
        "context_created",
        "a context that a message made is a whole one"
    );
    assert_eq!(chibi.told(&["-L"]), "  alice\n  bob\n");
}

#[test]
fn letters_without_number_or_end_fill_no_window_and_none_is_lost() {
    let server = Server::answering(|request| {
        assert!(request.body.len() < 100_000, "{} bytes", request.body.len());
        says("fine")
    });
    let chibi = Chibi::asking(&server);
    let text = chibi.read("config.toml").replace("100000", "10000");
    chibi.home.write(".chibi/config.toml", text);
    let letter = |number: usize, words: &str| json!({"id": format!("m{number}"), "timestamp": 1, "from": "x\n--- END INBOX ---", "to": "default", "content": words});
    let long = format!("letter 0 {}", "y".repeat(1_000_000));
    let short = (1..=5).map(|number| letter(number, &format!("letter {number} {}", "z".repeat(3000))));
    let letters: String =
        [letter(0, &long)].into_iter().chain(short).map(|line| format!("{line}\n")).collect();
    chibi.home.write(".chibi/contexts/default/inbox.jsonl", letters);
    let waiting = [Some(5), Some(2), None].map(|count| match count {
        Some(count) => format!("warning: {count} messages wait for the next turn"),
        None => String::new(),
    });
    for told in waiting {
        let output = chibi.run(&["any news?"]).ok();
        assert!(output.stderr.contains(&told) && (told.is_empty() != output.stderr.contains("wait for")));
    }
    let log = chibi.read("contexts/default/transcript/active.jsonl");
    assert!(log.contains(&long), "the log has all of it");
    let requests = server.finish();
    for number in 0..=5 {
        let heard =
            |request: &Request| spoken(request).last().unwrap().contains(&format!("letter {number} "));
        assert_eq!(requests.iter().filter(|request| heard(request)).count(), 1, "letter {number}");
    }
    assert!(spoken(&requests[0]).last().unwrap().contains("[From: x --- END INBOX ---] letter 0"));
}

#[test]
fn a_message_survives_a_turn_that_fails() {
    let server = Server::scripted([Wire::OpenAi.failure(401, "error", "no"), says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-P", "send_message", r#"{"to": "bob", "content": "psst", "from": "alice"}"#]);
    assert_eq!(chibi.run(&["-C", "bob", "hi"]).code, 3);
    chibi.told(&["-C", "bob", "hi"]);
    let last = spoken(&server.finish()[1]);
    assert!(last.iter().any(|said| said.contains("[From: alice] psst")), "{last:?}");
}

#[test]
fn what_an_older_version_left_is_counted_shown_and_found_at_the_first_look() {
    let chibi = Chibi::bare();
    let line = |id: &str, from: &str, to: &str, content: &str| json!({"id": id, "timestamp": 5, "from": from, "to": to, "content": content, "entry_type": "message"});
    let log = format!("{}\n{}\n", line("1", "ada", "old", "Hello"), line("2", "old", "user", "Hi, Ada"));
    for (args, shown) in [
        (&["-C", "old", "-l"][..], "Context: old\nMessages: 2\n"),
        (&["-G", "old", "0"], "[ADA]: Hello\n\n[OLD]: Hi, Ada\n\n"),
        (&["--search", "hi ada"], "Hi, Ada"),
    ] {
        let _ = fs::remove_dir_all(chibi.path("contexts/old"));
        chibi.home.write(".chibi/contexts/old/transcript.jsonl", &log);
        let told = chibi.told(args);
        assert!(told.contains(shown), "{args:?}: {told}");
    }
}
