//! Tools of plugins, called: what they see, what comes back, and what becomes of those that do not end.

use std::thread;
use std::time::Duration;

use chibi::plugins::{Scene, Secrets, Setting};
use kit::process::Cancel;
use llm::{Key, Outcome};
use serde_json::{Map, json};
use testkit::{PATIENCE, until};

use super::bench::{Bench, SCENE, call, done, failed, schema, sleeps};

#[test]
fn a_bash_plugin_sees_the_call_in_its_environment() {
    let bench = Bench::new();
    let seen = r#"echo "$CHIBI_TOOL_NAME|$CHIBI_TOOL_ARGS|$CHIBI_CONTEXT|$CHIBI_HOME|${CHIBI_VERBOSE-unset}|${CHIBI_HOOK-unset}|$#|$PWD""#;
    bench.bash("tool", json!([schema("one", json!({})), schema("two", json!({}))]), seen);
    let plugins = bench.load();
    let home = bench.home.path().display();
    let told = done(&plugins, "two", json!({"x": "ä\n\u{0}"}));
    assert_eq!(told, format!("two|{{\"x\":\"ä\\n\\u0000\"}}|work|{home}/.chibi|unset|unset|0|{home}\n"));
    let loud = Scene { context: "other", verbose: true };
    let told = plugins.call("one", &Map::new(), &loud, &Cancel::default()).output.content;
    assert_eq!(told, format!("one|{{}}|other|{home}/.chibi|1|unset|0|{home}\n"));
}

#[test]
fn a_python_plugin_in_the_seeds_form_works() {
    let bench = Bench::new();
    bench.program(
        "hello.py",
        r#"#!/usr/bin/env python3
import json, os, sys

if len(sys.argv) > 1 and sys.argv[1] == "--schema":
    print(json.dumps({
        "name": "hello",
        "description": "greets",
        "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
        "hooks": ["on_start"]
    }))
    sys.exit(0)

hook = os.environ.get("CHIBI_HOOK", "")
if hook:
    print("{}")
    sys.exit(0)

params = json.loads(os.environ["CHIBI_TOOL_ARGS"])
print("hello " + params["who"])
"#,
    );
    let plugins = bench.load();
    assert_eq!(plugins.specs()[0].schema["required"], json!(["who"]));
    assert_eq!(done(&plugins, "hello", json!({"who": "wörld"})), "hello wörld\n");
}

#[test]
fn a_plugin_sees_little_of_our_environment_and_never_the_key() {
    let mut bench = Bench::with_env(&[
        ("OPENROUTER_API_KEY", "sk-secret"),
        ("CHIBI_KEY", "sk-secret"),
        ("GITHUB_TOKEN", "gh"),
        ("AWS_SECRET_ACCESS_KEY", "aws"),
        ("HTTPS_PROXY", "http://proxy"),
        ("UV_OFFLINE", "1"),
        ("CHIBI_HOOK", "on_start"),
        ("CHIBI_TOOL_ARGS_FILE", "/outer"),
    ]);
    bench.ground.secrets =
        Secrets { variables: vec!["CHIBI_KEY".to_owned()], keys: vec![Key::new("sk-secret").unwrap()] };
    let env = vec!["GITHUB_TOKEN".to_owned(), "OPENROUTER_API_KEY".to_owned()];
    bench.ground.settings.insert("github".to_owned(), Setting { env, ..Setting::default() });
    let print = "env | cut -d= -f1 | grep -vE '^(_|SHLVL|PWD|OLDPWD)$' | sort | tr '\\n' ' '";
    bench.bash("github", schema("github", json!({})), print);
    bench.bash("plain", schema("plain", json!({})), print);
    let plugins = bench.load();
    let seen = |more: &str| {
        format!(
            "CHIBI_CONTEXT CHIBI_HOME CHIBI_TOOL_ARGS CHIBI_TOOL_NAME {more}HOME HTTPS_PROXY LANG PATH SCRIMP_JOB \
             TERM TMPDIR UV_OFFLINE XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME "
        )
    };
    assert_eq!(done(&plugins, "plain", json!({})), seen(""));
    assert_eq!(done(&plugins, "github", json!({})), seen("GITHUB_TOKEN "));
}

#[test]
fn a_failure_is_told_with_what_was_printed_on_both_streams() {
    let bench = Bench::new();
    bench.bash("sad", schema("sad", json!({})), "echo partly; echo 'disk full' >&2; exit 3");
    bench.bash("mute", schema("mute", json!({})), "exit 1");
    bench.bash("dead", schema("dead", json!({})), "kill -SEGV $$");
    bench.bash("quiet", schema("quiet", json!({})), "");
    let plugins = bench.load();
    assert_eq!(failed(&plugins, "sad", json!({})), "`sad` failed (exit status 3):\npartly\ndisk full");
    assert_eq!(call(&plugins, "sad", json!({})).said, "disk full\n");
    assert_eq!(failed(&plugins, "mute", json!({})), "`mute` failed (exit status 1)");
    assert_eq!(failed(&plugins, "dead", json!({})), "`dead` was ended by signal 11");
    assert_eq!(done(&plugins, "quiet", json!({})), "(no output)");
}

#[test]
fn an_attached_tool_can_ask_the_person() {
    let bench = Bench::new();
    bench.bash("ask", schema("ask", json!({})), "readlink /proc/$$/fd/0 /proc/$$/fd/2; echo talk >&2");
    bench.bash("new", schema("new", json!({"protocol": "stdin"})), "cat; readlink /proc/$$/fd/2");
    let ours = |fd: u8| std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap().display().to_string();
    let plugins = bench.load().attached();
    let called = call(&plugins, "ask", json!({}));
    assert_eq!(called.output.content, format!("{}\n{}\n", ours(0), ours(2)));
    assert_eq!(called.said, "");
    assert_eq!(done(&plugins, "new", json!({"x": 1})), format!("{{\"x\":1}}{}\n", ours(2)));
    assert_eq!(call(&bench.load(), "ask", json!({})).said, "talk\n", "unless nobody is there");
}

#[test]
fn a_plugin_that_vanished_since_it_was_asked_is_a_tool_error() {
    let bench = Bench::new();
    let path = bench.bash("gone", schema("gone", json!({})), "");
    let plugins = bench.load();
    std::fs::remove_file(path).unwrap();
    assert!(failed(&plugins, "gone", json!({})).starts_with("`gone` could not be started: No such file"));
}

#[test]
fn output_that_is_no_text_is_shown_as_far_as_it_is() {
    let bench = Bench::new();
    bench.bash("raw", schema("raw", json!({})), r"printf 'a\377\0b'");
    assert_eq!(done(&bench.load(), "raw", json!({})), "a\u{fffd}\0b");
}

#[test]
fn of_a_gigabyte_the_beginning_is_kept() {
    let bench = Bench::new();
    bench.bash("big", schema("big", json!({})), "echo begin; head -c 1000000000 /dev/zero");
    let plugins = bench.load();
    let told = done(&plugins, "big", json!({}));
    assert!(told.starts_with("begin\n") && told.len() < 101_000, "{} bytes", told.len());
    assert!(told.ends_with("\n[… 999,900,006 bytes left out …]\n"));
    let spec = &plugins.specs()[0];
    assert!(spec.cap.bytes >= told.len(), "and is not cut again");
}

#[test]
fn a_tool_that_does_not_end_is_killed_with_all_it_started() {
    let mut bench = Bench::new();
    bench.patience_with("hang", 5_000);
    let mark = (8_700_000_000 + u64::from(std::process::id())).to_string();
    let hang = format!("echo begun; setsid sleep {mark} & trap '' TERM; while :; do sleep {mark}; done");
    bench.bash("hang", schema("hang", json!({})), &hang);
    let told = failed(&bench.load(), "hang", json!({}));
    let killed = told.starts_with("`hang` did not end in time and was killed after ");
    assert!(killed && told.ends_with(" s:\nbegun"), "{told}");
    assert!(until(PATIENCE, || !sleeps(&mark)));
}

#[test]
fn a_plugin_can_be_given_more_time() {
    let mut bench = Bench::new();
    bench.bash("slow", schema("slow", json!({"hooks": ["on_end"]})), "sleep 0.4; echo '\"done\"'");
    bench.ground.limits.tool = Duration::from_millis(100);
    bench.patience_with("slow", 60_000);
    assert_eq!(done(&bench.load(), "slow", json!({})), "\"done\"\n");
}

#[test]
fn a_cancelled_tool_ends_at_once() {
    let bench = Bench::new();
    bench.bash("wait", schema("wait", json!({})), "touch $CHIBI_HOME/begun; sleep 600");
    let (plugins, cancel) = (bench.load(), Cancel::default());
    let running = {
        let (plugins, cancel) = (plugins.clone(), cancel.clone());
        thread::spawn(move || plugins.call("wait", &Map::new(), &SCENE, &cancel).output)
    };
    assert!(until(PATIENCE, || bench.ground.home.join("begun").exists()));
    cancel.cancel();
    let output = running.join().unwrap();
    assert_eq!((output.content.as_str(), output.outcome), ("`wait` was cancelled", Outcome::Failed));
}

#[test]
fn two_calls_at_the_same_time_do_not_disturb_each_other() {
    let bench = Bench::new();
    bench.bash("echo", schema("echo", json!({})), r#"echo "$CHIBI_TOOL_ARGS""#);
    let plugins = bench.load();
    let calls: Vec<_> = (0..8)
        .map(|i| {
            let plugins = plugins.clone();
            thread::spawn(move || (i, done(&plugins, "echo", json!({"i": i}))))
        })
        .collect();
    for call in calls {
        let (i, told) = call.join().unwrap();
        assert_eq!(told, format!("{{\"i\":{i}}}\n"));
    }
}
