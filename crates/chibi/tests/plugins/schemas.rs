//! What plugins say about themselves: asked once, at the same time, with an end, and kept until they change.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::SystemTime;

use chibi::hooks::Verdict;
use chibi::plugins::{Kept, Setting, check};
use serde_json::json;
use testkit::{PATIENCE, hostile, until};

use super::bench::{Bench, done, failed, pre_tool, schema, sleeps};

#[test]
fn a_plugin_is_asked_once_until_its_file_changes() {
    let bench = Bench::new();
    let one = bench.bash("one", schema("one", json!({})), "echo 1");
    bench.bash("two", schema("two", json!({})), "");
    bench.load();
    assert_eq!(bench.log(), ["one --schema", "two --schema"]);
    bench.load();
    assert_eq!(bench.log(), [] as [&str; 0]);
    bench.bash("one", schema("uno", json!({})), "echo one");
    assert_eq!(done(&bench.load(), "uno", json!({})), "one\n");
    assert_eq!(bench.log(), ["one --schema", "one call"]);
    // The same size, another time.
    File::options().append(true).open(&one).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    bench.load();
    assert_eq!(bench.log(), ["one --schema"]);
}

#[test]
fn the_cache_is_private_and_whatever_is_wrong_with_it_is_mended() {
    let bench = Bench::new();
    bench.bash("one", schema("one", json!({})), "");
    let loaded = bench.report();
    let path = bench.ground.home.join("cache/plugins.json");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let good = fs::read(&path).unwrap();
    for bad in hostile::nasty_bytes().into_iter().chain([Vec::new(), good[..good.len() / 2].to_vec()]) {
        bench.log();
        fs::write(&path, &bad).unwrap();
        assert_eq!(bench.report(), loaded);
        assert_eq!(bench.log(), ["one --schema"], "after {bad:?}");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(bench.report(), loaded, "a cache that cannot be written costs time, nothing else");
}

#[test]
fn several_that_start_at_the_same_time_agree_and_leave_a_whole_cache() {
    let bench = Bench::new();
    for i in 0..5 {
        bench.bash(&format!("p{i}"), schema(&format!("t{i}"), json!({})), "");
    }
    let reports = thread::scope(|scope| {
        let loads: Vec<_> = (0..6).map(|_| scope.spawn(|| bench.report())).collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(reports.iter().all(|report| *report == reports[0] && report.lines().count() == 5), "{reports:?}");
    bench.log();
    bench.load();
    assert_eq!(bench.log(), [] as [&str; 0]);
}

#[test]
fn what_is_gone_is_forgotten() {
    let bench = Bench::new();
    let path = bench.bash("one", schema("one", json!({})), "");
    bench.load();
    fs::remove_file(path).unwrap();
    bench.load();
    let cache = fs::read_to_string(bench.ground.home.join("cache/plugins.json")).unwrap();
    assert!(!cache.contains("one"), "{cache}");
}

#[test]
fn all_are_asked_at_the_same_time() {
    let bench = Bench::new();
    // Each waits until all have started: one after the other, the first would wait for ever.
    for name in ["a", "b", "c", "d"] {
        let text = format!(
            "#!/usr/bin/env bash\ntouch $CHIBI_HOME/{name}.up\n\
             until [[ -e $CHIBI_HOME/a.up && -e $CHIBI_HOME/b.up && -e $CHIBI_HOME/c.up && -e $CHIBI_HOME/d.up ]]\n\
             do sleep 0.01; done\necho '{}'\n",
            schema(name, json!({}))
        );
        bench.program(name, text);
    }
    assert_eq!(bench.load().specs().len(), 4);
}

#[test]
fn a_plugin_that_hangs_costs_its_time_once_and_dies_with_all_it_started() {
    let mut bench = Bench::new();
    let mark = (8_600_000_000 + u64::from(std::process::id())).to_string();
    bench.bash("good", schema("good", json!({})), "");
    bench.load();
    bench.patience(300);
    let stuck = bench.program(
        "stuck",
        format!("#!/usr/bin/env bash\nsleep {mark} &\nsetsid sleep {mark} &\nsleep {mark}\n"),
    );
    let expected = "good: loaded, tools good\n\
        stuck: skipped: `--schema` did not end within 300ms; not tried again until the file changes\n";
    assert_eq!(bench.report(), expected);
    assert!(until(PATIENCE, || !sleeps(&mark)));
    bench.log();
    // Longer than any test may take.
    bench.patience(600_000);
    assert_eq!(bench.report(), expected, "it is remembered");
    fs::write(&stuck, format!("#!/usr/bin/env bash\necho '{}'\n", schema("free", json!({})))).unwrap();
    assert!(bench.report().ends_with("stuck: loaded, tools free\n"), "until it changes");
}

#[test]
fn broken_schemas_are_told_and_tried_again() {
    let bench = Bench::new();
    let garbage: Vec<u8> = b"\x7fELF".iter().copied().chain((0..2000).map(|i| (i * 7 % 251) as u8)).collect();
    bench.program("binary", garbage);
    bench.program("crash", "#!/bin/sh\necho 'jq: command not found' >&2\nexit 127\n");
    bench.program("empty", "#!/bin/sh\n");
    bench.program("killed", "#!/bin/sh\nkill -9 $$\n");
    bench.program("list", "#!/bin/sh\necho '[]'\n");
    bench.program("nameless", "#!/bin/sh\necho '{\"description\": \"x\"}'\n");
    bench.program("no-interpreter", "#!/no/such/interpreter\n");
    bench.program("utf8", "#!/bin/sh\nprintf '\\377\\376'\n");
    bench.program("words", "#!/bin/sh\necho hello\n");
    bench.program("deep", "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' '['\n");
    let report = bench.report();
    let about = |name: &str| report.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    assert!(about("binary: ").starts_with("skipped: `--schema` "), "{report}");
    assert_eq!(about("crash: "), "skipped: `--schema` failed (exit status 127): jq: command not found");
    assert_eq!(about("empty: "), "skipped: its schema cannot be used: it is empty");
    assert_eq!(about("killed: "), "skipped: `--schema` was ended by signal 9");
    let neither = "skipped: its schema cannot be used: neither an object nor a list of objects";
    assert_eq!(about("list: "), neither);
    assert_eq!(about("nameless: "), "skipped: its schema cannot be used: a tool without a `name`");
    assert!(
        about("no-interpreter: ").contains("could not be started: No such file or directory"),
        "{report}"
    );
    assert!(about("utf8: ").contains("it is no JSON"), "{report}");
    assert!(about("words: ").contains("it is no JSON"), "{report}");
    assert!(about("deep: ").contains("it is no JSON: recursion limit"), "{report}");
    assert!(bench.load().specs().is_empty());
    bench.program("crash", "#!/bin/sh\nexit 3\n");
    assert!(bench.report().contains("crash: skipped: `--schema` failed (exit status 3)\n"));
}

#[test]
fn a_schema_without_end_is_cut_off_and_not_asked_for_again() {
    let bench = Bench::new();
    bench.program("yes", "#!/bin/sh\nexec yes '{\"name\": \"x\"}'\n");
    let expected = "yes: skipped: `--schema` printed more than 1,048,576 bytes; not tried again until the file changes\n";
    assert_eq!(bench.report(), expected);
    let big = schema("big", json!({"parameters": {"type": "object", "description": "x".repeat(500_000)}}));
    bench.bash("big", big, "");
    assert_eq!(bench.report(), format!("big: loaded, tools big\n{expected}"), "half a megabyte is fine");
}

#[test]
fn tools_that_are_there_twice_belong_to_the_first_and_ours_to_us() {
    let bench = Bench::new();
    bench.bash("a", schema("same", json!({})), "echo a");
    bench.bash("b", json!([schema("same", json!({})), schema("other", json!({}))]), "echo b");
    bench.bash("c", schema("update_todos", json!({})), "echo c");
    assert_eq!(
        bench.report(),
        "a: loaded, tools same\n\
         b: loaded, tools other\n  note: `same` is a tool of `a`\n\
         c: loaded\n  note: `update_todos` is a tool of our own\n"
    );
    let plugins = bench.load();
    assert_eq!(done(&plugins, "same", json!({})), "a\n");
    assert!(!plugins.has_tool("update_todos"));
    assert_eq!(failed(&plugins, "update_todos", json!({})), "no plugin has a tool `update_todos`");
}

#[test]
fn an_unknown_hook_is_noted_and_the_tool_still_loads() {
    let bench = Bench::new();
    bench.bash("later", schema("later", json!({"hooks": ["pre_file_write", "on_end"]})), "");
    let expected =
        "later: loaded, tools later, hooks on_end\n  note: there is no hook `\"pre_file_write\"`\n";
    assert_eq!(bench.report(), expected);
}

#[test]
fn a_check_asks_anew_and_says_what_it_saw() {
    let bench = Bench::new();
    bench.program(
        "flaky",
        format!(
            "#!/usr/bin/env bash\n[[ -e $CHIBI_HOME/jq ]] || {{ echo 'no jq' >&2; exit 1; }}\necho '{}'\n",
            schema("flaky", json!({}))
        ),
    );
    bench.bash("off.disabled", schema("off", json!({})), "");
    let checked = check(&bench.ground, "flaky").unwrap();
    assert_eq!(checked.entry.to_string(), "flaky: skipped: `--schema` failed (exit status 1): no jq\n");
    assert_eq!(
        (checked.said.as_str(), checked.path.unwrap()),
        ("no jq\n", bench.ground.folder().join("flaky"))
    );
    bench.home.write(".chibi/jq", "");
    let checked = check(&bench.ground, "flaky").unwrap();
    assert_eq!(checked.entry.to_string(), "flaky: loaded, tools flaky\n");
    let off = check(&bench.ground, "off.disabled").unwrap();
    assert_eq!(
        (off.entry.to_string().as_str(), off.path),
        ("off.disabled: skipped: disabled by its name\n", None)
    );
    for nobody in ["nobody", "../flaky", ""] {
        assert_eq!(check(&bench.ground, nobody), None);
    }
}

#[test]
fn a_check_gives_a_plugin_that_hung_another_chance() {
    let mut bench = Bench::new();
    let slow = format!(
        "#!/usr/bin/env bash\nuntil [[ -e $CHIBI_HOME/ready ]]; do sleep 0.01; done\necho '{}'\n",
        schema("slow", json!({}))
    );
    bench.program("slow", slow);
    bench.patience(200);
    assert!(bench.report().starts_with("slow: skipped"));
    bench.home.write(".chibi/ready", "");
    bench.patience(60_000);
    assert!(bench.report().starts_with("slow: skipped"), "nobody asked again");
    assert_eq!(check(&bench.ground, "slow").unwrap().entry.to_string(), "slow: loaded, tools slow\n");
    assert_eq!(bench.report(), "slow: loaded, tools slow\n");
}

#[test]
fn a_plugin_whose_tools_depend_on_more_than_its_file_can_be_asked_each_time() {
    let mut bench = Bench::new();
    bench.bash("skills.py", schema("skills", json!({})), "");
    bench.ground.settings.insert("skills".to_owned(), Setting { schema: Kept::Never, ..Setting::default() });
    bench.load();
    bench.load();
    assert_eq!(bench.log().len(), 2);
}

#[test]
fn a_guard_that_can_no_longer_say_what_it_brings_stays_a_guard() {
    let mut bench = Bench::new();
    for (broken, why) in [
        ("echo oops >&2; exit 1", "`--schema` failed (exit status 1): oops"),
        ("echo '{}'", "its schema cannot be used: a tool without a `name`"),
        ("[ \"$1\" ] && sleep 600; exit 1", "`--schema` did not end within 200ms"),
    ] {
        bench.patience(60_000);
        bench.bash("guard", schema("guard", json!({"guard": true, "hooks": ["pre_tool"]})), "echo '{}'");
        assert_eq!(pre_tool(&bench.load()).verdict(), Verdict::Run);
        bench.program("guard", format!("#!/bin/sh\n[ \"$CHIBI_HOOK\" ] && exit 1\n{broken}\n"));
        if broken.contains("sleep") {
            bench.patience(200);
        }
        check(&bench.ground, "guard");
        let plugins = bench.load();
        let note = plugins.warnings().first().unwrap().to_string();
        assert_eq!(note, format!("plugin `guard`: {why}; it is a guard, so it counts as it was before"));
        assert!(matches!(pre_tool(&plugins).verdict(), Verdict::Block(_)), "and it cannot answer");
    }
}
