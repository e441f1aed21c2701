//! Hooks, fired at real programs: who is told what, whose answer counts, and what a failure does.

use chibi::hooks::{Event, Hook, POINTS, Verdict};
use kit::process::Cancel;
use serde_json::{Map, Value, json};

use super::bench::{Bench, SCENE, fire, pre_tool, schema};

const TELL: &str = r#"echo "{\"hook\": \"$CHIBI_HOOK\", \"data\": $CHIBI_HOOK_DATA, \"args\": \"${CHIBI_TOOL_ARGS-unset}\",
\"context\": \"$CHIBI_CONTEXT\", \"stdin\": \"$(cat)\"}""#;

#[test]
fn a_listener_is_told_the_hook_and_its_data_and_nothing_else() {
    let bench = Bench::with_env(&[("CHIBI_TOOL_ARGS", "outer")]);
    let all: Vec<&str> = POINTS.iter().map(|point| point.name).collect();
    bench.bash("inspector", schema("inspector", json!({"hooks": all})), TELL);
    let plugins = bench.load();
    assert!(POINTS.iter().all(|point| plugins.listen_to(point.hook)));
    let fired =
        fire(&plugins, Event::OnContextSwitch { from_context: "a", to_context: "b", is_transient: true });
    let data = json!({"from_context": "a", "to_context": "b", "is_transient": true});
    let told =
        json!({"hook": "on_context_switch", "data": data, "args": "unset", "context": "work", "stdin": ""});
    assert_eq!(fired.answers[0].value, told);
    assert_eq!((fired.warnings, fired.blocked), (vec![], None));
}

#[test]
fn only_listeners_are_run_in_the_order_of_their_names_and_each_once() {
    let bench = Bench::new();
    let hooks = json!({"hooks": ["pre_message"]});
    let several = json!([schema("x", hooks.clone()), schema("y", hooks.clone()), schema("z", hooks.clone())]);
    bench.bash("b", several, "echo '{\"prompt\": \"b\"}'");
    bench.bash("a", schema("a", hooks), "echo '{\"prompt\": \"a\"}'");
    bench.bash("c", schema("c", json!({"hooks": ["on_end"]})), "echo '{\"prompt\": \"c\"}'");
    let plugins = bench.load();
    bench.log();
    let fired = fire(&plugins, Event::PreMessage { prompt: "p", context_name: "c", summary: "" });
    assert_eq!(fired.answers.iter().map(|answer| answer.plugin.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(fired.prompt(), Some("b"));
    assert_eq!(bench.log(), ["a pre_message", "b pre_message"]);
    assert!(!plugins.listen_to(Hook::OnStart));
    fire(&plugins, Event::OnStart { current_context: "c", verbose: false });
    assert_eq!(bench.log(), [] as [&str; 0]);
}

#[test]
fn a_failing_helper_is_a_warning_and_the_others_still_answer() {
    let mut bench = Bench::new();
    let hooks = json!({"hooks": ["pre_tool"]});
    bench.bash("a-crash", schema("a", hooks.clone()), "echo '{\"block\": true}'; echo bad >&2; exit 2");
    bench.bash("b-hang", schema("b", hooks.clone()), "sleep 600");
    bench.bash("c-chatty", schema("c", hooks.clone()), "echo hello");
    bench.bash("d-flood", schema("d", hooks.clone()), "head -c 2000000 /dev/zero");
    bench.bash("e-good", schema("e", hooks), "echo '{\"arguments\": {\"x\": 1}}'");
    bench.patience_with("b-hang", 100);
    let fired = pre_tool(&bench.load());
    let warned: Vec<String> = fired.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warned[0], "plugin `a-crash`: pre_tool: it failed (exit status 2)");
    assert!(
        warned[1].starts_with("plugin `b-hang`: pre_tool: it did not end in time and was killed"),
        "{warned:?}"
    );
    assert_eq!(warned[2], "plugin `d-flood`: pre_tool: it printed more than 1048576 bytes");
    assert_eq!(fired.said, "bad\n");
    assert_eq!(fired.answers[0].value, "hello");
    let Verdict::RunWith(arguments) = fired.verdict() else { panic!("the last one's arguments") };
    assert_eq!(Value::Object(arguments), json!({"x": 1}));
}

#[test]
fn a_guard_that_crashes_hangs_or_talks_nonsense_blocks() {
    let mut bench = Bench::new();
    let guard = json!({"hooks": ["pre_tool", "post_tool", "on_start"], "guard": true});
    for (body, why) in [
        ("exit 1", "failed (exit status 1)"),
        ("kill -9 $$", "was ended by signal 9"),
        ("sleep 600", "did not end in time"),
        ("echo fine", "its answer is no JSON object"),
        ("head -c 2000000 /dev/zero", "printed more than 1048576 bytes"),
    ] {
        bench.patience_with("guard", if body.starts_with("sleep") { 100 } else { 60_000 });
        bench.bash("guard", schema("guard", guard.clone()), body);
        let plugins = bench.load();
        let fired = pre_tool(&plugins);
        let Verdict::Block(blocked) = fired.verdict() else { panic!("{body} did not block") };
        assert!(blocked.message.contains(why), "{}", blocked.message);
        assert!(fired.warnings[0].what.contains(why), "{:?}", fired.warnings);
        let after = Event::PostTool { tool_name: "rm", arguments: &Map::new(), result: "" };
        assert_eq!(fire(&plugins, after).blocked, None, "what is over cannot be blocked");
    }
}

#[test]
fn an_attached_hook_can_talk_to_the_person_but_not_read_our_input() {
    let bench = Bench::new();
    let body = "echo \"{\\\"in\\\": \\\"$(cat)\\\", \\\"err\\\": \\\"$(readlink /proc/$$/fd/2)\\\"}\"";
    bench.bash("ask", schema("ask", json!({"hooks": ["on_end"]})), body);
    let fired = fire(&bench.load().attached(), Event::OnEnd { current_context: "c" });
    let ours = std::fs::read_link("/proc/self/fd/2").unwrap();
    assert_eq!(fired.answers[0].value, json!({"in": "", "err": ours.display().to_string()}));
}

#[test]
fn a_guard_that_is_content_lets_pass_and_one_that_is_not_says_why() {
    let bench = Bench::new();
    let guard = json!({"hooks": ["pre_tool"], "guard": true, "protocol": "stdin"});
    let body = "grep -q '\"rm\"' && echo '{\"block\": true, \"message\": \"never\"}'; exit 0";
    bench.bash("guard", schema("guard", guard), body);
    let plugins = bench.load();
    let Verdict::Block(blocked) = pre_tool(&plugins).verdict() else { panic!("blocked") };
    assert_eq!((blocked.plugin.as_str(), blocked.message.as_str()), ("guard", "never"));
    let harmless = Event::PreTool { tool_name: "ls", arguments: &Map::new() };
    assert_eq!(fire(&plugins, harmless).verdict(), Verdict::Run);
}

#[test]
fn a_guard_that_is_interrupted_blocks_without_a_warning() {
    let bench = Bench::new();
    bench.bash("guard", schema("guard", json!({"hooks": ["pre_tool"], "guard": true})), "sleep 600");
    let (plugins, cancel) = (bench.load(), Cancel::default());
    cancel.cancel();
    let fired = plugins.fire(&Event::PreTool { tool_name: "rm", arguments: &Map::new() }, &SCENE, &cancel);
    assert!(fired.blocked.is_some());
    assert_eq!(fired.warnings, []);
}

#[test]
fn a_guard_whose_file_is_gone_blocks() {
    let bench = Bench::new();
    let path =
        bench.bash("guard", schema("guard", json!({"hooks": ["pre_tool"], "guard": true})), "echo '{}'");
    let plugins = bench.load();
    std::fs::remove_file(path).unwrap();
    assert!(matches!(pre_tool(&plugins).verdict(), Verdict::Block(_)));
}
