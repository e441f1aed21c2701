//! Providers that say no, break off or are not there: one line, a hint, a stable exit, and a history that can be used.

use super::*;

fn failing(replies: impl IntoIterator<Item = Reply>) -> (Chibi, Output, Vec<Request>) {
    let server = Server::scripted(replies);
    let chibi = Chibi::asking(&server);
    let output = chibi.run(&["hello"]);
    (chibi, output, server.finish())
}

#[track_caller]
fn check(reply: Reply, words: &str, hint: &str) {
    let (chibi, output, _) = failing([reply]);
    assert_eq!(output.code, 3, "{}", output.transcript());
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.stderr);
    assert!(lines[0].starts_with("error: no answer: ") && lines[0].contains(words), "{}", lines[0]);
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{}", lines[1]);
    assert_eq!(chibi.told(&["-g", "0"]), "[USER]: hello\n\n");
}

#[test]
fn a_wrong_key_no_credit_and_a_missing_model_are_told_in_a_line_with_a_hint() {
    let failure = |status, words| Wire::OpenAi.failure(status, "error", words);
    check(failure(401, "No auth credentials found"), "answered 401: No auth credentials found", "api_key");
    check(failure(402, "Insufficient credits"), "answered 402: Insufficient credits", "no credit");
    check(failure(404, "no such model"), "answered 404: no such model", "`model`");
}

#[test]
fn a_failed_turn_leaves_no_dangling_message_for_the_next_one() {
    let server = Server::scripted([
        Wire::OpenAi.failure(401, "error", "no"),
        Wire::OpenAi.failure(402, "error", "no"),
        says("at last"),
    ]);
    let chibi = Chibi::asking(&server);
    assert_eq!(chibi.run(&["one"]).code, 3);
    assert_eq!(chibi.run(&["two"]).code, 3);
    assert_eq!(chibi.told(&["-l"]), "Context: default\nMessages: 0\n");
    assert_eq!(chibi.told(&["three"]), "at last\n");
    assert_eq!(spoken(&server.finish()[2]), ["user: three"]);
}

#[test]
fn a_provider_that_asks_to_wait_is_asked_again() {
    let busy = Wire::OpenAi.failure(429, "rate_limit", "slow down").header("retry-after", "2");
    let server = Server::scripted([busy, says("now")]);
    let chibi = Chibi::asking(&server);
    let output = chibi.run(&["hello"]).ok();
    assert_eq!(output.stdout, "now\n");
    let told = "warning: the provider answered 429: slow down; trying again in ";
    assert!(output.stderr.starts_with(told) && output.stderr.lines().count() == 1, "{}", output.stderr);
    assert_eq!(server.finish().len(), 2);
}

#[test]
fn a_server_in_trouble_is_asked_again_and_then_believed() {
    let broken = || Wire::OpenAi.failure(500, "server_error", "oops").header("retry-after", "0");
    let (_, output, requests) = failing([broken(), broken(), broken(), broken()]);
    assert_eq!((output.code, requests.len()), (3, 4), "{}", output.transcript());
    let last =
        "error: no answer: the provider answered 500: oops\nhint: say it again: nothing of it was kept\n";
    assert!(output.stderr.ends_with(last), "{}", output.stderr);
}

#[test]
fn half_an_answer_in_a_pipe_is_neither_kept_nor_followed_by_a_second_beginning() {
    let broke = || said(turn().say("Half an answer").fail("server_error", "it broke"));
    for (broken, why) in [
        (broke(), "the provider broke off: it broke"),
        (says("Half an answer").drop_at("answer"), "the connection was lost before the answer was complete"),
    ] {
        let server = Server::scripted([broken, says("fine")]);
        let chibi = Chibi::asking(&server);
        let output = chibi.run(&["hello"]);
        assert_eq!(output.code, 3, "{}", output.transcript());
        assert!("Half an answer\n".starts_with(output.stdout.trim_end()), "{}", output.stdout);
        assert!(output.stderr.contains(&format!("error: no answer: {why}")), "{}", output.stderr);
        assert_eq!(chibi.told(&["again"]), "fine\n");
        assert_eq!(spoken(&server.finish()[1]), ["user: again"]);
    }
}

#[test]
fn what_breaks_before_its_first_word_is_asked_for_again_in_a_pipe_too() {
    let server = Server::scripted([
        says("never heard").drop_at("never"),
        said(turn().think("hm", "").fail("server_error", "it broke")),
        says("whole"),
    ]);
    let chibi = Chibi::asking(&server);
    let output = chibi.run(&["hello"]).ok();
    assert_eq!(output.stdout, "whole\n");
    assert!(!output.stderr.contains("does not count"), "{}", output.stderr);
    assert_eq!(server.finish().len(), 3);
}

#[test]
fn a_program_that_reads_entries_gets_only_the_answer_that_counts() {
    let broken = said(turn().say("Half an ans").fail("server_error", "it broke"));
    let server = Server::scripted([broken, says("whole")]);
    let chibi = Chibi::asking(&server);
    let output = chibi.run(&["--json-output", "hello"]).ok();
    let entries: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<&str> = entries.iter().map(|entry| entry["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["hello", "whole"]);
    let warning: Value = serde_json::from_str(output.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(warning["entry_type"], "warning");
    assert!(warning["content"].as_str().unwrap().contains("it broke; trying again in"), "{warning}");
    assert_eq!(server.finish().len(), 2);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let chibi = Chibi::bare();
    chibi
        .home
        .write(".chibi/config.toml", "model = 'm'\nbase_url = 'http://127.0.0.1:1/v1/chat/completions'\n");
    let output = chibi.run(&["hello"]);
    assert_eq!(output.code, 3);
    let last: Vec<&str> = output.stderr.lines().rev().take(2).collect();
    assert!(last[1].starts_with("error: no answer: cannot reach 127.0.0.1"), "{}", output.stderr);
    assert_eq!(last[0], "hint: is the server running, and `base_url` right?");
}

#[test]
fn in_json_mode_an_error_is_an_entry() {
    let (_, output, _) = {
        let server = Server::scripted([Wire::OpenAi.failure(401, "error", "no")]);
        let chibi = Chibi::asking(&server);
        let output = chibi.run(&["--json-output", "hello"]);
        (chibi, output, server.finish())
    };
    assert_eq!(output.code, 3);
    let entry: Value = serde_json::from_str(output.stderr.lines().last().unwrap()).unwrap();
    assert_eq!((&entry["entry_type"], &entry["from"]), (&json!("error"), &json!("system")));
    assert_eq!(entry["content"], "no answer: the provider answered 401: no");
    assert_eq!(entry["metadata"]["exit"], 3);
    assert!(entry["metadata"]["hint"].as_str().unwrap().contains("api_key"));
    let output = Chibi::bare().run(&["--json-output", "-g", "many"]);
    assert_eq!(output.code, 2, "wrong usage is told before the form is known: {}", output.stderr);
}

#[test]
fn a_key_is_never_said() {
    let server = Server::scripted([Wire::OpenAi.failure(401, "error", "bad key sk-secret-1")]);
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "api_key = \"sk-secret-1\"");
    let output = chibi.run(&["-v", "--debug", "all", "hello"]);
    assert_eq!(output.code, 3);
    assert!(output.stderr.contains("open to other users"), "{}", output.stderr);
    assert!(!output.transcript().contains("sk-secret-1"), "{}", output.transcript());
    for file in walk(&chibi.path("contexts")) {
        assert!(!String::from_utf8_lossy(&fs::read(&file).unwrap()).contains("sk-secret-1"), "{file:?}");
    }
    drop(server);
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn an_answer_that_reached_its_limit_is_kept_and_told() {
    let (chibi, output, _) = failing([said(turn().say("so far").stop("length"))]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    assert_eq!(output.stdout, "so far\n");
    assert!(output.stderr.contains("reached its length limit"), "{}", output.stderr);
    assert_eq!(chibi.told(&["--last"]), "so far\n");
}
