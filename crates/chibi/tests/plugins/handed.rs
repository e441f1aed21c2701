//! Arguments and hook data of any size, in a variable, in a private file and on standard input.

use std::fs;

use chibi::hooks::Event;
use chibi::plugins::{Protocol, Setting};
use serde_json::{Value, json};
use testkit::hostile;

use super::bench::{Bench, done, failed, fire, schema};

const SEEN: &str = r#"
data="$CHIBI_TOOL_ARGS$CHIBI_HOOK_DATA"; file="$CHIBI_TOOL_ARGS_FILE$CHIBI_HOOK_DATA_FILE"
if [[ -n $file ]]; then echo "\"file $(stat -c %a "$file") $(wc -c < "$file") ${CHIBI_TOOL_ARGS-unset} ${CHIBI_HOOK_DATA-unset}\""
else echo "\"variable ${#data}\""; fi"#;

fn left_over(bench: &Bench) -> usize {
    let entries = fs::read_dir(bench.ground.home.join("cache")).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("handover")).count()
}

#[test]
fn above_100_kb_arguments_travel_in_a_private_file_and_are_gone_afterwards() {
    let bench = Bench::new();
    bench.bash("size", schema("size", json!({})), SEEN);
    let plugins = bench.load();
    let call = |bytes: usize| done(&plugins, "size", json!({"x": "a".repeat(bytes - 8)}));
    assert_eq!(call(100_000), "\"variable 100000\"\n");
    assert_eq!(call(100_001), "\"file 600 100001 unset unset\"\n");
    assert_eq!(call(20_000_000), "\"file 600 20000000 unset unset\"\n");
    assert_eq!(left_over(&bench), 0);
}

#[test]
fn above_100_kb_hook_data_travels_in_a_private_file_and_aborts_nothing() {
    let bench = Bench::new();
    bench.bash("size", schema("size", json!({"hooks": ["pre_message"]})), SEEN);
    let plugins = bench.load();
    let fired = |prompt: &str| {
        let fired = fire(&plugins, Event::PreMessage { prompt, context_name: "c", summary: "" });
        assert_eq!(fired.warnings, []);
        fired.answers[0].value.clone()
    };
    assert_eq!(fired("hi"), "variable 47");
    assert_eq!(fired(&"a".repeat(1_000_000)), "file 600 1000045 unset unset");
    assert_eq!(left_over(&bench), 0);
}

#[test]
fn what_a_killed_process_left_behind_is_swept_and_a_living_ones_is_not() {
    let bench = Bench::new();
    bench.bash("size", schema("size", json!({})), SEEN);
    let plugins = bench.load();
    bench.home.write(".chibi/cache/handover-999999999-0.json", "dead");
    let living = bench.home.write(".chibi/cache/handover-1-0.json", "alive");
    bench.home.write(".chibi/cache/handover-x", "not ours");
    done(&plugins, "size", json!({"x": "a".repeat(200_000)}));
    assert!(living.exists());
    assert_eq!(left_over(&bench), 2);
}

#[test]
fn a_file_that_cannot_be_written_is_a_tool_error_and_a_warning() {
    let bench = Bench::new();
    bench.bash("size", schema("size", json!({"hooks": ["pre_message"]})), SEEN);
    let plugins = bench.load();
    fs::remove_dir_all(bench.ground.home.join("cache")).unwrap();
    bench.home.write(".chibi/cache", "in the way");
    let big = "a".repeat(200_000);
    assert!(failed(&plugins, "size", json!({"x": big})).starts_with("`size` could not be started: "));
    let fired = fire(&plugins, Event::PreMessage { prompt: &big, context_name: "c", summary: "" });
    assert!(
        fired.warnings[0].to_string().starts_with("plugin `size`: pre_message: it could not be started: ")
    );
}

#[test]
fn on_a_full_disk_small_calls_work_and_large_ones_are_told() {
    hostile::small_disk(256 << 10, |disk| {
        let mut bench = Bench::new();
        bench.bash("size", schema("size", json!({})), SEEN);
        std::os::unix::fs::symlink(bench.ground.folder(), disk.join("plugins")).unwrap();
        bench.ground.home = disk.to_owned();
        let plugins = bench.load();
        let told = failed(&plugins, "size", json!({"x": "a".repeat(1_000_000)}));
        assert!(told.contains("No space left on device"), "{told}");
        assert_eq!(left_over(&bench), 0);
        assert_eq!(done(&plugins, "size", json!({})), "\"variable 2\"\n");
    });
}

#[test]
fn a_plugin_that_says_so_gets_everything_on_standard_input() {
    let bench = Bench::new();
    let body = "printf '{\"name\": \"%s\", \"args\": \"%s\", \"data\": ' \"$CHIBI_TOOL_NAME$CHIBI_HOOK\" \
        \"${CHIBI_TOOL_ARGS-unset}${CHIBI_HOOK_DATA-unset}\"; cat; echo '}'";
    bench.bash("new", schema("new", json!({"protocol": "stdin", "hooks": ["post_clear"]})), body);
    let plugins = bench.load();
    let told: Value = serde_json::from_str(&done(&plugins, "new", json!({"x": 1}))).unwrap();
    assert_eq!(told, json!({"name": "new", "args": "unsetunset", "data": {"x": 1}}));
    let fired = fire(&plugins, Event::PostClear { context_name: "c" });
    assert_eq!(fired.answers[0].value["name"], "post_clear");
    assert_eq!(fired.answers[0].value["data"], json!({"context_name": "c"}));
}

#[test]
fn a_plugin_that_does_not_say_so_can_be_set_to_it() {
    let mut bench = Bench::new();
    bench.bash("head.sh", schema("head", json!({})), "cat");
    let protocol = Some(Protocol::Stdin);
    bench.ground.settings.insert("head".to_owned(), Setting { protocol, ..Setting::default() });
    assert_eq!(done(&bench.load(), "head", json!({"x": 1})), "{\"x\":1}");
    assert_eq!(bench.report(), "head.sh: loaded, tools head, speaks over stdin\n");
}

#[test]
fn a_plugin_that_does_not_read_its_input_is_not_to_blame() {
    let bench = Bench::new();
    bench.bash("deaf", schema("deaf", json!({"protocol": "stdin"})), "echo ok");
    assert_eq!(done(&bench.load(), "deaf", json!({"x": "a".repeat(1_000_000)})), "ok\n");
}
