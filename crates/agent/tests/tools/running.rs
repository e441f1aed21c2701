//! `bash`: commands that behave, and commands that do not.

use std::fs;
use std::time::Duration;

use kit::invocation::Environment;
use llm::Outcome;
use serde_json::json;

use super::shop::Shop;

fn run(shop: &mut Shop, command: &str) -> (Outcome, String) {
    let output = shop.call("bash", json!({"command": command}));
    (output.outcome, output.content)
}

fn alive(mark: &str) -> usize {
    let commands = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let own = entry.file_name().to_str()?.parse::<u32>().ok()? == std::process::id();
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        (!own).then_some(line)
    });
    commands.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[test]
fn output_comes_back_with_how_it_ended() {
    let mut shop = Shop::new();
    let cases = [
        ("echo hi", Outcome::Done, "hi\n"),
        ("true", Outcome::Done, ""),
        ("echo out; echo err >&2", Outcome::Done, "out\n--- stderr ---\nerr\n"),
        ("printf out; echo err >&2", Outcome::Done, "out\n--- stderr ---\nerr\n"),
        ("echo err >&2", Outcome::Done, "--- stderr ---\nerr\n"),
        ("echo why; exit 3", Outcome::Failed, "why\n[exit status 3]"),
        ("exit 7", Outcome::Failed, "exit status 7"),
        ("kill -9 $$", Outcome::Failed, "killed by signal 9"),
        ("printf 'caf\\xe9'", Outcome::Done, "caf\u{fffd}"),
        ("cat; echo read", Outcome::Done, "read\n"),
        ("[ -t 0 ] || [ -t 1 ] || echo none", Outcome::Done, "none\n"),
        ("cd /; echo $TERM $NO_COLOR", Outcome::Done, "dumb 1\n"),
    ];
    for (command, outcome, told) in cases {
        assert_eq!(run(&mut shop, command), (outcome, told.to_owned()), "{command}");
    }
    assert_eq!(
        shop.ok("bash", json!({"command": "pwd"})),
        format!("{}\n", shop.workshop.project.root().display())
    );
    shop.write("sub/x", "");
    assert!(shop.ok("bash", json!({"command": "pwd", "cwd": "sub"})).ends_with("/p/sub\n"));
    assert_eq!(shop.failed("bash", json!({"command": "pwd", "cwd": "gone"})), "gone is no directory");
    assert_eq!(shop.failed("bash", json!({"command": "a\0b"})), "a command cannot hold a NUL");
}

#[test]
fn keys_are_not_shown_to_commands() {
    let env = Environment::of([
        ("ANTHROPIC_API_KEY", "secret"),
        ("OPENAI_API_KEY", "secret"),
        ("X", "y"),
        ("TERM", "z"),
    ]);
    let seen = agent::tools::bash::environment(&env);
    let names: Vec<&str> = seen.iter().filter_map(|(name, _)| name.to_str()).collect();
    assert!(names.contains(&"X") && !names.iter().any(|name| name.ends_with("_KEY")));
    assert_eq!(names.iter().filter(|name| **name == "TERM").count(), 1);
}

#[test]
fn more_than_fits_goes_to_a_file_that_can_be_paged() {
    let mut shop = Shop::new();
    let told = shop.ok("bash", json!({"command": "seq 1 100000"}));
    assert!(told.starts_with("1\n2\n") && told.ends_with("99999\n100000\n") && told.len() < 101_000);
    let path = told.split(" are in ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let page = shop.ok("read_file", json!({"path": path, "offset": 50_000, "limit": 2}));
    assert!(page.starts_with("50000: 50000\n50001: 50001\n"), "{page}");
    let told = shop.ok("bash", json!({"command": "seq 1 15000; seq 1 15000 >&2"}));
    assert!(told.len() < 102_000 && told.matches(" are in ").count() == 2, "{} bytes", told.len());
    for path in told.split(" are in ").skip(1).map(|rest| rest.split(' ').next().unwrap()) {
        assert!(fs::read_to_string(path).unwrap().ends_with("14999\n15000\n"));
    }
    let told = shop.ok("bash", json!({"command": "seq 1 15000; echo err >&2"}));
    assert!(
        told.contains("7500\n7501\n") && told.ends_with("15000\n--- stderr ---\nerr\n"),
        "all of it fits"
    );
}

#[test]
fn output_is_shown_while_it_comes_and_characters_are_not_cut() {
    let mut shop = Shop::new();
    let command = "for i in 1 2 3; do printf '\\xf0\\x9f'; printf '\\xa6\\x80'; done; echo err >&2";
    shop.ok("bash", json!({"command": command}));
    assert!(shop.live.contains("🦀🦀🦀") && shop.live.contains("err"), "{}", shop.live);
}

#[test]
fn a_command_that_does_not_end_is_ended_with_all_that_it_started() {
    let cases = [
        "sleep HOUR",
        "trap '' TERM INT HUP; while :; do sleep HOUR; done",
        "sleep HOUR & sleep HOUR & wait",
        "setsid sleep HOUR & nohup setsid bash -c 'sleep HOUR; true' & sleep HOUR",
        "(trap '' TERM; exec setsid sleep HOUR) & disown; sleep HOUR",
        "yes",
        "env -i setsid sleep HOUR & sleep HOUR",
    ];
    for (number, command) in cases.into_iter().enumerate() {
        // A number of seconds that nobody else on this machine sleeps.
        let mark = format!("3601.{}{number}", std::process::id());
        let mut shop = Shop::new().patience(Duration::from_millis(300));
        let (outcome, content) = run(&mut shop, &command.replace("HOUR", &mark));
        assert_eq!(outcome, Outcome::Failed);
        assert!(content.contains("timed out after 0.3 s"), "{command}: {content}");
        assert_eq!(alive(&mark), 0, "{command}");
    }
}

#[test]
fn what_a_command_said_before_its_time_was_over_is_told() {
    let mut shop = Shop::new().patience(Duration::from_secs(4));
    let told = shop.failed("bash", json!({"command": "echo before; sleep 3600"}));
    assert_eq!(told, "before\n[timed out after 4 s; it and everything it started was killed]");
}

#[test]
fn children_in_the_background_neither_hold_the_answer_nor_stay() {
    let mark = format!("3602.{}", std::process::id());
    let mut shop = Shop::new();
    let told =
        shop.ok("bash", json!({"command": format!("sleep {mark} & setsid sleep {mark} & echo started")}));
    assert_eq!(told, "started\n");
    assert_eq!(alive(&mark), 0);
}

#[test]
fn a_person_who_interrupts_does_not_wait() {
    let mut shop = Shop::new();
    let cancel = shop.cancel.clone();
    let mark = format!("3603.{}", std::process::id());
    let started = shop.file("started");
    let stop = std::thread::spawn(move || {
        assert!(testkit::until(testkit::PATIENCE, || started.exists()));
        cancel.cancel();
    });
    let told = shop.failed("bash", json!({"command": format!("echo here; touch started; sleep {mark}")}));
    stop.join().unwrap();
    assert_eq!(told, "here\n[interrupted; it and everything it started was killed]");
    assert_eq!(alive(&mark), 0);
}
