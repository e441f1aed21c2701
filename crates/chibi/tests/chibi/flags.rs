//! The command line as a whole: help, versions, order, and what becomes of flags that nobody knows.

use super::*;

#[test]
fn help_and_version_need_nothing() {
    let chibi = Chibi::bare();
    let help = chibi.told(&["--help"]);
    assert!(
        help.starts_with("Conversations that persist") && help.contains("-Z, --compact-context CTX"),
        "{help}"
    );
    assert_eq!(chibi.told(&["-h"]), help);
    assert_eq!(chibi.told(&["--version"]), concat!("chibi ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(!chibi.path("").exists(), "and leave nothing");
    for shell in ["bash", "zsh", "fish"] {
        assert!(chibi.told(&["--completions", shell]).contains("transient-context"), "{shell}");
    }
    assert_eq!(chibi.run(&["--completions", "cmd"]).code, 2);
}

#[test]
fn an_unknown_long_flag_is_refused_and_an_unknown_short_one_is_prose() {
    let server = Server::scripted([says("ok"), says("ok"), says("ok")]);
    let chibi = Chibi::asking(&server);
    let output = chibi.run(&["--frobnicate", "hello"]);
    assert_eq!(output.code, 2);
    assert_eq!(
        output.stderr,
        "error: there is no flag `--frobnicate`\nhint: as a part of the prompt: `-- --frobnicate`\n"
    );
    chibi.told(&["--", "--frobnicate", "hello"]);
    chibi.told(&["-V"]);
    chibi.told(&["hello", "--frobnicate", "-L"]);
    let requests = server.finish();
    let said: Vec<String> = requests.iter().map(|request| spoken(request).pop().unwrap()).collect();
    assert_eq!(said, ["user: --frobnicate hello", "user: -V", "user: hello --frobnicate -L"]);
}

#[test]
fn actions_run_in_order_and_then_the_prompt_is_sent() {
    let server = Server::scripted([says("1"), says("2"), says("3")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["before"]);
    let output = chibi.told(&["-y", "Be brief.", "-a", "hello"]);
    assert_eq!(
        output,
        "Context 'default' archived (history saved to transcript)\n\
         System prompt of context 'default' set (9 bytes)\n2\n"
    );
    assert_eq!(chibi.told(&["-X", "-L", "hi"]), "* default\n3\n");
    assert_eq!(chibi.told(&["-L", "-l", "ignored"]), "Context: default\nMessages: 4\n* default\n");
    let requests = server.finish();
    assert_eq!(spoken(&requests[1]), ["system: Be brief.", "user: hello"]);
}

#[test]
fn who_speaks_is_told_and_kept() {
    let server = Server::scripted([says("1"), says("2"), says("3")]);
    let chibi = Chibi::asking(&server);
    chibi.home.write(".chibi/contexts/default/local.toml", "# mine\nauto_compact = false # why not\n");
    chibi.told(&["-u", "ada", "hello"]);
    chibi.told(&["-U", "bob", "hello"]);
    chibi.told(&["hello"]);
    assert_eq!(
        chibi.read("contexts/default/local.toml"),
        "# mine\nauto_compact = false # why not\nusername = \"ada\"\n"
    );
    let names: Vec<String> = chibi
        .transcript("default")
        .into_iter()
        .filter(|entry| entry.2 == "default" && entry.0 == "message")
        .map(|entry| entry.1)
        .collect();
    assert_eq!(names, ["ada", "bob", "ada"]);
    let requests = server.finish();
    assert_eq!(spoken(&requests[1])[0], "system: The user speaking to you is called: bob");
}

#[test]
fn a_system_prompt_is_a_file_or_the_words_themselves() {
    let chibi = Chibi::bare();
    chibi.home.write("pirate.md", "Talk like a pirate.");
    chibi.told(&["-y", "pirate.md"]);
    assert_eq!(chibi.told(&["-n", "prompt"]), "Talk like a pirate.\n");
    chibi.told(&["-c", "other"]);
    chibi.told(&["-Y", "default", "Be kind."]);
    assert_eq!(chibi.told(&["-N", "default", "system_prompt"]), "Be kind.\n");
    assert_eq!(chibi.told(&["-n", "system_prompt"]), "(not set)\n");
    chibi.home.write(".chibi/prompts/chibi.md", "For all.");
    chibi.home.write(".chibi/prompts/reflection.md", "I remember.");
    chibi.home.write(".chibi/contexts/other/goals.md", "Win.");
    assert_eq!(
        chibi.told(&["-n", "system_prompt"]),
        "For all.\n\n--- CURRENT GOALS ---\nWin.\n\nI remember.\n",
        "the whole text in the order that has always been shown"
    );
    assert_eq!(chibi.told(&["-n", "reflection"]), "I remember.\n");
    assert_eq!(chibi.run(&["-N", "missing", "todos"]).code, 1);
}

#[test]
fn logs_show_what_was_said_whatever_the_script() {
    let server = Server::scripted([
        said(turn().call("update_todos", &json!({"content": "日本語".repeat(40)}))),
        says("ok"),
    ]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["go"]);
    let short = chibi.told(&["-g", "0"]);
    assert!(
        short.contains("[TOOL: update_todos] {\"content\":\"日本語") && short.contains("...\n  → "),
        "{short}"
    );
    let full = chibi.run(&["-v", "-G", "default", "-2"]).ok().stdout;
    assert!(full.starts_with("[USER]: go\n\n[TOOL CALL: update_todos]\n{\"content\":\"日本語"), "{full}");
    assert!(!full.contains("[TOOL RESULT"), "the first two: {full}");
    drop(server);
}

#[test]
fn debug_logs_hold_what_was_sent_and_told() {
    let server = Server::scripted([said(turn().say("ok").usage(3, 4))]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["--debug", "all", "hello"]);
    let request = &chibi.lines("contexts/default/requests.jsonl")[0];
    assert_eq!(request["request"]["messages"][0]["content"], "hello");
    let response = &chibi.lines("contexts/default/response_meta.jsonl")[0];
    assert_eq!(response["response"]["usage"]["output"], 4);
    drop(server);
}
