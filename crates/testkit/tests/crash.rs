//! The crash harness, with a child that keeps its promise and one that does not.

use std::fs;

use testkit::{Crash, Home, panic_of};

/// Appends acknowledged lines, whole ones or in two halves.
fn writer(home: &Home, write: &str) -> std::process::Command {
    let mut command = home.command("sh");
    command.args(["-c", &format!("i=0; while [ $i -lt 300 ]; do i=$((i+1)); {write}; echo $i; done")]);
    command
}

fn lines_are_whole(home: &Home) {
    let log = fs::read_to_string(home.path().join("log")).unwrap_or_default();
    let torn = log.lines().find(|line| *line != "whole");
    assert!(torn.is_none(), "found {torn:?}");
}

#[test]
fn whole_lines_survive_every_crash_and_acknowledged_ones_are_there() {
    let home = Home::new();
    let mut acknowledged = 0;
    let report = Crash::new(7).points(20).run(
        |_| writer(&home, "echo whole >> log"),
        |attempt| {
            acknowledged += attempt.output.stdout.lines().count();
            lines_are_whole(&home);
            assert!(home.path().join("log").exists() || acknowledged == 0);
            assert!(
                fs::read_to_string(home.path().join("log")).unwrap_or_default().lines().count()
                    >= acknowledged
            );
        },
    );
    assert!(report.points >= 20 && report.hits * 5 >= report.points, "{report:?}");
}

#[test]
fn a_broken_invariant_is_told_with_its_seed_and_its_moment() {
    let home = Home::new();
    let message = panic_of(|| {
        Crash::new(7)
            .points(200)
            .run(|_| writer(&home, "printf who >> log; echo le >> log"), |_| lines_are_whole(&home))
    });
    assert!(
        message.contains("with seed 7, killed after ") && message.contains("found Some(\"who"),
        "{message}"
    );
}

#[test]
fn an_invariant_that_fails_without_a_crash_says_so() {
    let home = Home::new();
    let message = panic_of(|| Crash::new(1).run(|_| home.command("true"), |_| panic!("never good")));
    assert!(message.contains("attempt 0 with seed 1, not killed at all:\nnever good"), "{message}");
}

#[test]
fn the_whole_group_is_killed() {
    let home = Home::new();
    // The leader waits for a child of its own, which writes for as long as it lives.
    let script = "sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo x >> log; done'; true";
    Crash::new(3).points(10).run(
        |_| {
            let mut command = home.command("sh");
            command.args(["-c", script]);
            command
        },
        |_| {
            let size = || fs::metadata(home.path().join("log")).map_or(0, |metadata| metadata.len());
            let before = size();
            let grew = testkit::until(std::time::Duration::from_millis(20), || size() > before);
            assert!(!grew, "somebody still writes");
        },
    );
}

#[test]
fn a_child_that_is_gone_before_every_kill_shows_nothing_and_fails() {
    let home = Home::new();
    let message = panic_of(|| {
        Crash::new(1).points(10).run(
            // Slow while it is measured, gone at once when it is to be killed.
            |attempt| {
                let mut command = home.command("sh");
                command
                    .args(["-c", if attempt < 3 { "seq 200000 | while read x; do :; done" } else { "exit" }]);
                command
            },
            |_| {},
        )
    });
    assert!(message.contains("kills found the child running"), "{message}");
}

/// Takes its time to start, says so, and works only a little.
fn slow_starter(home: &Home, say: &str) -> std::process::Command {
    let mut command = home.command("sh");
    let script = format!("sleep 0.2; {say}; i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo x >> log; done");
    command.args(["-c", &script]);
    command
}

#[test]
fn a_child_that_is_slow_to_start_is_killed_at_its_work() {
    let home = Home::new();
    let mut idle = 0;
    let report = Crash::new(5).points(20).from_first_output().run(
        |_| slow_starter(&home, "echo ready"),
        |attempt| idle += usize::from(attempt.killed_after.is_some() && attempt.output.stdout.is_empty()),
    );
    assert_eq!(idle, 0, "nobody is killed before the work begins");
    assert!(report.hits >= 4, "{report:?}");
}

#[test]
fn a_child_that_never_says_when_its_work_begins_is_told() {
    let home = Home::new();
    let message =
        panic_of(|| Crash::new(5).points(5).from_first_output().run(|_| slow_starter(&home, ":"), |_| {}));
    assert!(message.contains("never said that its work began"), "{message}");
}
