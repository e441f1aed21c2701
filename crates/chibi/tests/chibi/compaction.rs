//! Making room: by itself, by hand, by name; and taking it back.

use super::*;

/// Says its number until it is asked to choose or to sum up.
fn talker() -> Server {
    Server::answering(|request| {
        let body = request.json();
        let system = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        match () {
            () if system.contains("may be archived") => says("I would archive nothing at all."),
            () if system.contains("new summary") => says("SUMMARY of what was said."),
            () if system.contains("Sum up") => says("WHOLE SUMMARY."),
            () => says(&format!("answer {}", "long ".repeat(60))),
        }
    })
}

#[test]
fn a_prompt_that_does_not_fit_is_answered_after_room_was_made() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    for number in 1..=4 {
        chibi.told(&[&format!("question {number}")]);
    }
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.5");
    assert!(chibi.told(&["question 5"]).starts_with("answer "), "the prompt is not swallowed");
    let requests = server.finish();
    assert_eq!(requests.len(), 4 + 3, "which ids, the summary, the answer");
    let last = spoken(requests.last().unwrap());
    assert!(last[0].starts_with("user: question 4"), "{last:?}");
    assert_eq!(last.last().unwrap(), "system: --- CONVERSATION SUMMARY ---\nSUMMARY of what was said.");
    assert_eq!(chibi.read("contexts/default/summary.md"), "SUMMARY of what was said.");
    let log = chibi.transcript("default");
    assert_eq!(log.iter().filter(|entry| entry.0 == "context_created").count(), 1);
    assert_eq!(log.iter().filter(|entry| entry.0 == "compaction").count(), 1);
    assert_eq!(log.iter().filter(|entry| entry.3 == "question 4").count(), 1, "nothing is written twice");
}

#[test]
fn a_window_with_little_in_it_is_answered_and_not_compacted_again_and_again() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
    chibi.told(&["one"]);
    chibi.told(&["two"]);
    assert_eq!(server.finish().len(), 2);
}

#[test]
fn the_model_chooses_what_may_go() {
    let server = Server::answering(|request| {
        let text = request.json()["messages"].to_string();
        let body = request.json();
        let system = body["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        if system.contains("may be archived") {
            let user = body["messages"][1]["content"].as_str().unwrap();
            let list = &user[user.find("Exchanges:\n").unwrap() + 11..];
            let rows: Vec<Value> = serde_json::from_str(list).unwrap();
            let second = rows.iter().find(|row| row["user"] == "question 2").unwrap();
            return says(&format!("Sure: [{}, \"made-up\"]", second["id"]));
        }
        if text.contains("new summary") {
            return says("Two was asked.");
        }
        says("answer")
    });
    let chibi = Chibi::asking(&server);
    for number in 1..=3 {
        chibi.told(&[&format!("question {number}")]);
    }
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
    chibi.told(&["question 4"]);
    let last = spoken(server.finish().last().unwrap());
    let users: Vec<&String> = last.iter().filter(|said| said.starts_with("user: ")).collect();
    assert_eq!(users, ["user: question 1", "user: question 3", "user: question 4"]);
}

#[test]
fn long_texts_of_any_script_do_not_wedge_a_compaction() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
    for _ in 0..3 {
        chibi.told(&[&"日本語".repeat(400)]);
    }
    chibi.told(&["-g", "0"]);
    drop(server);
}

#[test]
fn when_the_summary_fails_the_prompt_is_answered_all_the_same() {
    let server = Server::answering(|request| match request.json()["messages"].to_string() {
        text if text.contains("may be archived") || text.contains("new summary") => {
            Wire::OpenAi.failure(401, "error", "not now")
        }
        _ => says("answer"),
    });
    let chibi = Chibi::asking(&server);
    chibi.told(&["one"]);
    chibi.told(&["two"]);
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
    let output = chibi.run(&["three"]).ok();
    assert_eq!(output.stdout, "answer\n");
    assert!(output.stderr.starts_with("warning: "), "{}", output.stderr);
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 6\n");
    drop(server);
}

/// Answers that are no summary, and what is said of them.
fn no_summaries() -> [(Reply, &'static str); 5] {
    [
        (says(" \n"), "the model gave no summary"),
        (said(turn().say("I cannot help with that.").stop("content_filter")), "refused (content_filter)"),
        (said(turn().say("First of all, the user").stop("length")), "did not finish its answer (length)"),
        (
            said(turn().say("Let me see.").call("update_todos", &json!({"content": ""}))),
            "called `update_todos`",
        ),
        (says(&"much longer than what was said ".repeat(100)), "and what it replaces"),
    ]
}

#[test]
fn an_answer_that_is_no_summary_takes_the_place_of_nothing() {
    for (reply, why) in no_summaries() {
        let server = Server::scripted([says("answer one"), says("answer two"), reply, says("answer three")]);
        let chibi = Chibi::asking(&server);
        chibi.told(&["one"]);
        chibi.told(&["two"]);
        let folder = "contexts/default";
        let files = ["context.jsonl", "transcript/active.jsonl"].map(|file| format!("{folder}/{file}"));
        let before = files.each_ref().map(|file| chibi.read(file));
        let output = chibi.run(&["-z"]);
        assert_eq!(output.code, 3, "{}", output.transcript());
        assert_eq!(output.stdout, "");
        assert!(
            output.stderr.starts_with("error: the conversation was not compacted: "),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains(why), "{}", output.stderr);
        assert!(output.stderr.contains("nothing was lost"), "{}", output.stderr);
        assert_eq!(files.each_ref().map(|file| chibi.read(file)), before, "{why}");
        assert!(!chibi.path("contexts/default/summary.md").exists());
        assert_eq!(chibi.told(&["three"]), "answer three\n");
        let last = spoken(&server.finish()[3]);
        assert_eq!(last[..2], ["user: one", "assistant: answer one"]);
    }
}

#[test]
fn when_the_window_is_full_and_there_is_no_summary_everything_stays_and_the_prompt_is_answered() {
    for (reply, why) in no_summaries() {
        let choice = says("none");
        let replies = [says("answer one"), says("answer two"), choice, reply, says("answer three")];
        let server = Server::scripted(replies);
        let chibi = Chibi::asking(&server);
        chibi.told(&["one"]);
        chibi.told(&["two"]);
        chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 0.0");
        let output = chibi.run(&["three"]).ok();
        assert_eq!(output.stdout, "answer three\n");
        let warned = output.stderr.starts_with("warning: the conversation was not compacted: ");
        assert!(warned && output.stderr.lines().count() == 1, "{}", output.transcript());
        assert!(output.stderr.contains(why), "{}", output.stderr);
        let last = spoken(&server.finish()[4]);
        assert_eq!(last.len(), 5, "{last:?}");
        assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 6\n");
    }
}

#[test]
fn a_conversation_that_no_model_could_read_at_once_is_summed_up_part_by_part() {
    let server = Server::answering(|request| {
        let body = request.json();
        let [system, user] =
            [0, 1].map(|at| body["messages"][at]["content"].as_str().unwrap_or_default().to_owned());
        assert!(body.to_string().len() < 5000 * 4, "more than its window");
        match system.contains("Sum up") {
            true => {
                let so_far = user.split("[SUMMARY SO FAR]: ").nth(1).and_then(|text| text.lines().next());
                let seen: Vec<&str> =
                    user.match_indices("question ").map(|(at, _)| &user[at..at + 10]).collect();
                says(format!("{} {}", so_far.unwrap_or_default(), seen.join(", ")).trim())
            }
            false => says("answer"),
        }
    });
    let chibi = Chibi::asking(&server);
    let text = chibi.read("config.toml").replace("100000", "5000");
    chibi.home.write(".chibi/config.toml", text);
    for number in 1..=8 {
        chibi.run(&[&format!("question {number} {}", "x".repeat(3500))]).ok();
    }
    let output = chibi.run(&["-z"]).ok();
    assert!(output.stdout.starts_with("Compacted 8 exchanges into a summary"), "{}", output.transcript());
    assert!(output.stderr.contains("the model is asked 4 times for a summary"), "{}", output.stderr);
    let summary = chibi.read("contexts/default/summary.md");
    for number in 1..=8 {
        assert!(summary.contains(&format!("question {number}")), "{summary}");
    }
    drop(server);
}

#[test]
fn a_whole_compaction_leaves_a_summary_that_is_sent_once() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.told(&["-z"]), "There is nothing to compact.\n");
    chibi.told(&["one"]);
    assert_eq!(chibi.told(&["-z"]), "One exchange is too little to compact.\n");
    chibi.told(&["two"]);
    assert_eq!(chibi.told(&["-z"]), "Compacted 2 exchanges into a summary of 14 bytes.\n");
    chibi.told(&["three"]);
    let requests = server.finish();
    let last = spoken(requests.last().unwrap());
    let summaries = last.iter().filter(|said| said.contains("WHOLE SUMMARY.")).count();
    assert_eq!(summaries, 1, "{last:?}");
    assert!(last[0].starts_with("user: What we said so far was summed up"), "{last:?}");
    assert!(!last.iter().any(|said| said.starts_with("user: one")), "{last:?}");
}

#[test]
fn a_compaction_and_then_the_prompt() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.told(&["one"]);
    chibi.told(&["two"]);
    let output = chibi.told(&["-z", "three"]);
    assert!(output.starts_with("Compacted 2 exchanges") && output.contains("\nanswer "), "{output}");
    drop(server);
}

#[test]
fn what_is_pinned_survives_and_an_undone_compaction_gives_the_window_back() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    for number in 1..=4 {
        chibi.told(&[&format!("question {number}")]);
    }
    let pinned = chibi.lines("contexts/default/context.jsonl")[1]["id"].as_str().unwrap().to_owned();
    chibi.told(&["--pin", &pinned]);
    assert!(chibi.told(&["--pins"]).contains("question 1"));
    let before = chibi.read("contexts/default/context.jsonl");
    chibi.told(&["-Z", "default"]);
    let window = chibi.read("contexts/default/context.jsonl");
    assert!(window.contains("question 1") && !window.contains("question 2"), "{window}");
    chibi.told(&["--undo-compaction"]);
    assert_eq!(chibi.read("contexts/default/context.jsonl"), before, "to the byte");
    assert_eq!(chibi.run(&["--undo-compaction"]).code, 1);
    chibi.told(&["-z"]);
    assert_ne!(chibi.read("contexts/default/context.jsonl"), before);
    chibi.told(&["--undo-compaction"]);
    assert_eq!(
        chibi.read("contexts/default/context.jsonl"),
        before,
        "without what was said about the summary"
    );
    chibi.told(&["--unpin", &pinned]);
    assert_eq!(chibi.told(&["--pins"]), "Nothing is pinned.\n");
    assert_eq!(chibi.run(&["--pin", "nothing"]).code, 1);
    drop(server);
}

#[test]
fn an_archived_history_stays_in_the_transcript() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.told(&["one"]);
    assert_eq!(chibi.told(&["-a"]), "Context 'default' archived (history saved to transcript)\n");
    assert_eq!(chibi.told(&["-a"]), "Context 'default' is already empty\n");
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 0\n");
    assert_eq!(chibi.told(&["-g", "0"]), "");
    assert!(chibi.told(&["--search", "one"]).contains("one"), "and can be found");
    let output = chibi.told(&["-a", "two"]);
    assert!(output.ends_with(&format!("answer {}\n", "long ".repeat(60))), "{output}");
    let requests = server.finish();
    assert_eq!(spoken(requests.last().unwrap()), ["user: two"]);
}

#[test]
fn a_window_that_is_too_small_is_trimmed_and_told_about() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    for number in 1..=3 {
        chibi.told(&[&format!("question {number} {}", "x".repeat(8000))]);
    }
    let text = chibi.read("config.toml").replace("100000", "6000");
    chibi.home.write(".chibi/config.toml", text);
    let output = chibi.run(&["question 4"]).ok();
    assert!(output.stderr.contains("do not fit the window"), "{}", output.stderr);
    let last = spoken(server.finish().last().unwrap());
    assert!(last.len() < 7, "{}", last.len());
}

#[test]
fn a_prompt_that_does_not_fit_by_itself_is_sent_in_part_and_that_is_told() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    let text = chibi.read("config.toml").replace("100000", "6000");
    chibi.home.write(".chibi/config.toml", text);
    let output = chibi.piped(&["explain"], &"words and words ".repeat(20_000)).ok();
    let told = "warning: the prompt has 320,008 bytes and does not fit the window";
    assert!(output.stderr.starts_with(told), "{}", output.stderr);
    assert!(spoken(&server.requests()[0])[0].len() < 24_000);
    assert_eq!(chibi.run(&["and now?"]).ok().stderr.matches("the prompt has").count(), 0);
    drop(server);
}

#[test]
fn todos_that_fill_the_window_are_told_about() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.home.write(".chibi/contexts/default/todos.md", "- more\n".repeat(100_000));
    let output = chibi.run(&["go on"]).ok();
    assert!(output.stderr.starts_with("warning: system prompt, todos, goals,"), "{}", output.stderr);
    drop(server);
}

#[test]
fn everything_that_is_sent_counts_when_the_window_is_measured() {
    let server = talker();
    let chibi = Chibi::asking(&server);
    chibi.told(&["one"]);
    chibi.told(&["two"]);
    // The system prompt alone is half of the window.
    chibi.home.write(".chibi/prompts/chibi.md", "word ".repeat(40_000));
    chibi.configure(&server, "auto_compact = true\nauto_compact_threshold = 45.0");
    chibi.told(&["three"]);
    assert!(chibi.path("contexts/default/summary.md").exists());
    drop(server);
}
