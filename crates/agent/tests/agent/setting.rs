//! Settings, findings, and command lines that are not understood.

use serde_json::json;
use testkit::bin;
use testkit::hostile::{as_other_uid, give_away};
use testkit::model::{Event, Reply, anthropic};

use crate::rig::{Rig, calls, results, says};

fn rig() -> Rig {
    Rig::new([])
}

fn run(rig: &Rig, args: &[&str]) -> testkit::Output {
    rig.home.run(rig.home.command(bin("agent")).args(args).current_dir(rig.project()))
}

#[test]
fn the_settings_file_is_written_once_and_changes_nothing() {
    let rig = rig();
    let output = run(&rig, &["config", "init"]).ok();
    assert!(output.stdout.starts_with("wrote ~/.config/scrimp/config.toml\n"), "{}", output.stdout);
    let output = run(&rig, &["config", "init"]);
    assert!(output.code == 1 && output.stderr.contains("already there"), "{}", output.transcript());
    let output = run(&rig, &["config", "show"]).ok();
    assert!(
        output.stdout.contains("provider    anthropic  (") && !output.stdout.contains("warning"),
        "{}",
        output.stdout
    );
}

#[test]
fn settings_that_are_broken_are_named_and_those_that_are_unknown_are_told() {
    let rig = Rig::new([says("Ok.")]);
    rig.home.write(".config/scrimp/config.toml", "[agent]\nsandbx = false\n");
    let output = rig.run(&["hi"]).ok();
    assert!(
        output.stderr.contains("warning: unknown key `agent.sandbx`; did you mean `sandbox`?"),
        "{}",
        output.stderr
    );
    rig.home.write(".config/scrimp/config.toml", "[agent]\nmax_tokens = = 3\n");
    let output = rig.run(&["hi"]);
    assert!(
        output.code != 0 && output.stderr.contains("config.toml") && output.stderr.contains("line 2"),
        "{}",
        output.transcript()
    );
    drop(rig.requests());
}

#[test]
fn rules_hold_in_both_directions() {
    let bash = |command: &str| calls("bash", &json!({"command": command}));
    let rig = Rig::new([bash("touch one"), bash("touch two"), says("Ok.")]);
    rig.home.write(
        ".config/scrimp/config.toml",
        "[[agent.rules]]\ntool = \"bash\"\ncommand = \"touch one\"\nverdict = \"allow\"\n\
         [[agent.rules]]\ntool = \"bash\"\ncommand = \"touch two\"\nverdict = \"deny\"\n",
    );
    let _ = rig.run(&["--permission", "ask", "go"]).ok();
    assert!(rig.project().join("one").exists() && !rig.project().join("two").exists());
    let requests = rig.requests();
    assert!(results(&requests[2])[0].0.contains("a rule of the user forbids it"));
}

#[test]
fn a_command_behind_the_wall_writes_only_where_it_may() {
    let command = "touch here && touch \"$HOME/there\"; echo > /dev/tcp/127.0.0.1/9";
    let bash = || calls("bash", &json!({"command": command}));
    let rig = Rig::new([bash(), says("Ok."), bash(), says("Ok.")]);
    let _ = rig.run(&["--permission", "all", "go"]).ok();
    assert!(rig.project().join("here").exists() && !rig.home.path().join("there").exists());
    let _ = rig.run(&["--permission", "all", "--no-sandbox", "go"]).ok();
    assert!(rig.home.path().join("there").exists());
    drop(rig.requests());
}

#[test]
fn the_doctor_says_what_is_missing_and_what_holds() {
    let rig = rig();
    let output = run(&rig, &["doctor"]).ok();
    assert!(output.stdout.contains("ok    provider    none named yet"), "{}", output.stdout);
    let mut command = rig.home.command(bin("agent"));
    let told = rig.home.run(command.arg("doctor").env("ANTHROPIC_BASE_URL", "https://models.example")).ok();
    assert!(told.stdout.contains("warn  provider    anthropic, claude-opus-5-5: no key"), "{}", told.stdout);
    assert!(
        output
            .stdout
            .contains("sandbox     writing outside of the project and the temporary directory: refused"),
        "{}",
        output.stdout
    );
    let output = run(&rig, &["doctor", "--json"]).ok();
    assert!(serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap()["checks"].is_array());
}

#[test]
fn wrong_usage_is_two_and_says_what_was_meant() {
    let rig = rig();
    for (args, said) in [
        (&["--modle", "x"][..], "did you mean `--model`?"),
        (&["--permission", "yolo", "x"], "possible values: read-only, ask, edits, all"),
        (&["--provider", "antropic", "x"], "did you mean `anthropic`?"),
        (&["--provider", "openai", "x"], "name one with `--model`"),
        (&["--api-url", "ftp://x", "x"], "error: "),
    ] {
        let output = run(&rig, args);
        assert!(output.code != 0 && output.stderr.contains(said), "{args:?}: {}", output.transcript());
    }
    assert_eq!(run(&rig, &["--modle", "x"]).code, 2);
}

#[test]
fn a_key_is_sent_and_never_shown() {
    let key = "sk-ant-secret-123";
    let rig =
        Rig::new([testkit::model::Wire::Anthropic.failure(400, "invalid_request_error", key), says("Ok.")]);
    let mut command = rig.command(&["-v", "hi"]);
    let output = rig.home.run(command.env("ANTHROPIC_API_KEY", key));
    assert!(!output.transcript().contains(key), "{}", output.transcript());
    let mut command = rig.command(&["hi"]);
    let _ = rig.home.run(command.env("ANTHROPIC_API_KEY", key)).ok();
    let requests = rig.server.finish();
    assert_eq!(requests[1].header("x-api-key"), Some(key));
    let kept = rig.home.run(rig.home.command("grep").args(["-r", key, "."]));
    assert_eq!(kept.stdout, "", "no file holds it");
}

/// A call by a model whose price is known, for so many tokens.
fn priced_call(id: &str, name: &str, arguments: &str, tokens: u64) -> Reply {
    let message = json!({"id": "m", "role": "assistant", "model": "claude-opus-5-5", "content": [], "usage": {"input_tokens": tokens}});
    let input = json!({"type": "input_json_delta", "partial_json": arguments});
    Reply::sse([
        Event::named("message_start", &json!({"type": "message_start", "message": message})),
        anthropic::block_start(0, &json!({"type": "tool_use", "id": id, "name": name, "input": {}})),
        anthropic::block_delta(0, &input),
        anthropic::block_stop(0),
        anthropic::message_delta("tool_use", &json!({"output_tokens": 1000})),
        anthropic::message_stop(),
    ])
}

#[test]
fn money_has_an_end() {
    let rig = Rig::new([priced_call("t", "list_files", "{}", 1_000_000)]);
    let output = rig.run(&["--max-usd", "0.5", "go"]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    assert!(output.stderr.contains("the limit of $0.5000 is reached"), "{}", output.stderr);
    drop(rig.requests());
}

#[test]
fn every_story_that_is_begun_is_ended_for_programs_too() {
    let rig = rig();
    let output = rig.run(&["--json", "--max-usd", "0", "go"]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    let types: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.split("\"type\":\"").nth(1)?.split('"').next())
        .collect();
    assert_eq!(types, ["session", "end"]);
}

#[test]
fn money_that_a_helper_spends_is_ours() {
    let rig = Rig::new([
        priced_call("t", "task", r#"{"prompt": "look"}"#, 1000),
        priced_call("u", "list_files", "{}", 1_000_000),
    ]);
    let output = rig.run(&["--max-usd", "0.5", "go"]);
    assert_eq!(output.code, 4, "{}", output.transcript());
    assert!(output.stderr.contains("the limit of $0.5000 is reached"), "{}", output.stderr);
    assert_eq!(rig.requests().len(), 2, "nobody is asked for what cannot be paid");
}

#[test]
fn a_command_does_not_read_our_key_from_our_own_process() {
    let look =
        "tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/$PPID/maps | head -1; echo made > a; echo looked";
    let rig = Rig::new([calls("bash", &json!({"command": look})), says("Nothing.")]);
    give_away(rig.home.path());
    let mut command = rig.command(&["--permission", "all", "--no-sandbox", "look"]);
    let output = rig.home.run(as_other_uid(command.env("ANTHROPIC_API_KEY", "sk-secret"))).ok();
    assert_eq!(output.stdout, "Nothing.\n");
    let (told, failed) = results(&rig.requests()[1]).remove(0);
    assert!(!failed && told.contains("looked") && told.contains("Permission denied"), "{told}");
    assert!(!told.contains("sk-secret"), "{told}");
}
