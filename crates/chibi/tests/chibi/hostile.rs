//! Files, arguments and homes that nobody should have.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::*;

#[test]
fn a_broken_state_is_told_and_does_not_stop_anybody() {
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    for broken in ["", "nonsense", "[]", "{\"contexts\": 3}", "{\"current_context\": \"../../x\"}"] {
        chibi.home.write(".chibi/state.json", broken);
        let output = chibi.run(&["-L"]).ok();
        assert_eq!(output.stdout, "No contexts yet.\n", "{broken}");
    }
    chibi.run(&["hello"]).ok();
    assert_eq!(chibi.told(&["-L"]), "* default\n");
    drop(server);
}

#[test]
fn arguments_and_input_that_are_no_text_are_read_as_well_as_can_be() {
    let server = Server::scripted([says("1"), says("2")]);
    let chibi = Chibi::asking(&server);
    let mut command = chibi.command(&[]);
    chibi.home.run(command.arg(OsString::from_vec(b"caf\xe9 au lait".to_vec()))).ok();
    chibi.home.run_with(&mut chibi.command(&["look at"]), b"\x00\xff\xfe binary \xc3").ok();
    let requests = server.finish();
    assert_eq!(spoken(&requests[0]), ["user: caf\u{fffd} au lait"]);
    assert!(spoken(&requests[1])[2].starts_with("user: look at\n\n\0\u{fffd}\u{fffd} binary"));
    let output = chibi.home.run_with(&mut chibi.command(&["--json-config"]), b"\xff\xfe");
    assert_eq!(output.code, 2, "{}", output.transcript());
}

#[test]
fn settings_that_are_no_file_are_named() {
    let chibi = Chibi::bare();
    fs::create_dir_all(chibi.path("config.toml")).unwrap();
    let output = chibi.run(&["hello"]);
    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("config.toml") && output.stderr.contains("directory"),
        "{}",
        output.stderr
    );
    fs::remove_dir(chibi.path("config.toml")).unwrap();
    chibi.home.write(".chibi/config.toml", b"model = \"\xff\xfe\"");
    let output = chibi.run(&["hello"]);
    assert_eq!(output.code, 1, "{}", output.transcript());
    assert_eq!(
        output.stderr.lines().filter(|line| line.starts_with("error: ")).count(),
        1,
        "{}",
        output.stderr
    );
}

#[test]
fn one_context_that_cannot_be_read_hides_no_other() {
    let server = Server::scripted([says("needle"), says("needle")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["hello"]);
    chibi.told(&["-C", "broken", "hello"]);
    chibi.home.write(".chibi/contexts/broken/local.toml", "this is no TOML");
    let output = chibi.run(&["--search", "needle"]).ok();
    assert!(output.stdout.contains("default") && !output.stdout.contains("broken"), "{}", output.stdout);
    assert!(output.stderr.starts_with("warning: `broken` was not searched: "), "{}", output.stderr);
    assert_eq!(chibi.run(&["-C", "broken", "--search", "needle"]).code, 1);
    assert_eq!(chibi.told(&["-L"]), "  broken\n* default\n");
    drop(server);
}

#[test]
fn a_home_that_is_a_file_is_named() {
    let chibi = Chibi::bare();
    chibi.home.write(".chibi", "");
    for args in [vec!["-L"], vec!["-c", "x"], vec!["--init"], vec!["-l"]] {
        let output = chibi.run(&args);
        assert!(
            output.code == 1 || output.stdout == "No contexts yet.\n",
            "{args:?}: {}",
            output.transcript()
        );
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    }
    let mut command = chibi.command(&["--version"]);
    let output = chibi.home.run(command.env_remove("HOME").env("HOME", "relative"));
    assert_eq!(output.code, 1, "{}", output.transcript());
}

#[test]
fn a_model_that_speaks_in_escapes_drives_no_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2Jtext \u{202e}reversed";
    let server = Server::scripted([says(hostile), says("x")]);
    let chibi = Chibi::asking(&server);
    let mut terminal = chibi.terminal(&["hello"]);
    terminal.wait_for("text", PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    assert!(terminal.screen().contains("]0;owned[2Jtext reversed"), "{}", terminal.screen());
    assert_eq!(chibi.transcript("default")[2].3, hostile, "the log has what was said");
    let shown = chibi.terminal(&["-g", "0"]).wait_for("reversed", PATIENCE);
    assert!(shown.contains("]0;owned[2Jtext reversed"), "{shown}");
    chibi.told(&["go on"]);
    drop(server);
}

#[test]
fn replies_of_every_shape_end_well() {
    let shapes = [
        Reply::raw("HTTP/1.1 200 OK\r\n\r\n"),
        Reply::raw(""),
        Reply::json(200, &json!({"choices": []})),
        Reply::json(200, &json!({"error": {"message": "no", "code": 400}})),
        Reply::sse_bytes("data: [DONE]\n\n"),
        Reply::sse_bytes("data: {\"choices\":[{\"delta\":{}}]}\n\ndata: [DONE]\n\n"),
        Reply::sse_bytes(": comment\n\nevent: x\ndata: nonsense\n\n"),
        Reply::json(302, &json!({})).header("location", "http://127.0.0.1:1/"),
        Reply::json(400, &json!("plain")),
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let server = Server::answering(move |_| shape.clone());
        let chibi = Chibi::asking(&server);
        let output = chibi.run(&["hello"]);
        assert!(matches!(output.code, 0 | 1 | 3), "{number}: {}", output.transcript());
        assert!(!output.stderr.contains("panicked"), "{number}: {}", output.stderr);
        assert!(chibi.run(&["-g", "0"]).code == 0);
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let server = Server::answering(|_| says("ok"));
    let files = [
        "config.toml",
        "state.json",
        "prompts/chibi.md",
        "cache/plugins.json",
        "contexts/default/local.toml",
        "contexts/default/context.jsonl",
        "contexts/default/context_meta.json",
        "contexts/default/todos.md",
        "contexts/default/inbox.jsonl",
        "contexts/default/transcript.md",
        "contexts/default/transcript/active.jsonl",
        "contexts/default/transcript/manifest.json",
    ];
    for file in files {
        let chibi = Chibi::asking(&server);
        chibi.told(&["hello"]);
        let path = chibi.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        assert!(chibi.home.command("mkfifo").arg(&path).status().unwrap().success());
        for args in [&["-l"][..], &["again"], &["--search", "hello"], &["--usage"]] {
            let output = chibi.run(args);
            assert!([0, 1].contains(&output.code), "{file} {args:?}: {}", output.transcript());
        }
    }
    drop(server);
}

#[test]
fn a_context_that_vanishes_within_a_turn_is_told() {
    let server = Server::scripted([says("one"), said(turn().call("vanish", &json!({}))), says("two")]);
    let chibi = Chibi::asking(&server);
    chibi.plugin("vanish", &bash_tool("vanish", "rm -rf \"$CHIBI_HOME/contexts/$CHIBI_CONTEXT\"; echo gone"));
    chibi.told(&["first"]);
    let output = chibi.run(&["second"]);
    assert_eq!(output.code, 1, "{}", output.transcript());
    assert!(output.stderr.contains("active.jsonl`: somebody removed it"), "{}", output.stderr);
    assert_eq!(chibi.told(&["third"]), "two\n", "and one can begin again");
    drop(server);
}
