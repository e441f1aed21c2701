//! fish: the hint stands at the right.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Key, PATIENCE, Shell, until};

use crate::ground::{Ground, Kind};

/// Runs a line and lets fish draw its right prompt again, once the daemon has answered.
fn answered(ground: &Ground, shell: &Shell) {
    let before = ground.daemon.events().len();
    shell.run_line("true");
    assert!(until(PATIENCE, || ground.daemon.events().len() > before));
    shell.run_line("");
}

#[test]
fn the_next_command_stands_dim_at_the_right_and_keys_take_it() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push", "git status"]);
    let shell = ground.shell(Kind::Fish);
    answered(&ground, &shell);
    shell.wait_for("git push", PATIENCE);
    assert!(shell.style_of("git push").is_faint());
    assert_eq!(shell.cursor().1, 2);
    shell.key(Key::Alt('i'));
    shell.wait_for("clai: git push: freq_repo of 8\n$", PATIENCE);
    shell.key(Key::Alt('j'));
    shell.wait_for("$ git push", PATIENCE);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ git status", PATIENCE);
}

#[test]
fn an_answer_that_comes_after_the_prompt_is_drawn_then() {
    let ground = Ground::without_daemon();
    let shell = ground.shell(Kind::Fish);
    let answer = shell.run_line("echo $__clai_answer");
    // Until then the file says who waits for it.
    let pid = fs::read_to_string(&answer).unwrap().trim().parse().ok().and_then(Pid::from_raw).unwrap();
    shell.send("echo ty");
    shell.wait_for("echo ty", PATIENCE);
    fs::write(&answer, "git push\0why\0\0").unwrap();
    kill_process(pid, Signal::URG).unwrap();
    shell.wait_for("git push", PATIENCE);
    // What was being typed stays.
    shell.send("ped");
    shell.key(Key::Enter);
    shell.wait_for("\ntyped\n", PATIENCE);
}

#[test]
fn a_wake_up_at_the_wrong_time_does_nothing() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.shell(Kind::Fish);
    answered(&ground, &shell);
    assert_eq!(shell.run_line("kill -URG $fish_pid; kill -URG $fish_pid; echo alive"), "alive");
}

#[test]
fn a_right_prompt_that_is_defined_after_us_stays_too() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.bare(Kind::Fish);
    let script = ground.script(Kind::Fish);
    shell.run_line(&format!(" source {}; function fish_right_prompt; echo mine; end", script.display()));
    answered(&ground, &shell);
    shell.wait_for("git push mine", PATIENCE);
}

#[test]
fn what_drives_terminals_is_taken_out_of_the_hint() {
    let ground = Ground::new();
    let shell = ground.shell(Kind::Fish);
    ground.daemon.suggest(&["git status \u{1b}[31m\u{202e}x\ny"]);
    answered(&ground, &shell);
    shell.wait_for("git status [31mx⏎y", PATIENCE);
}

#[test]
fn the_right_prompt_of_the_user_stays_behind_the_hint() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.bare(Kind::Fish);
    shell.run_line("function fish_right_prompt; echo mine; end");
    ground.load(&shell, Kind::Fish);
    ground.load(&shell, Kind::Fish);
    answered(&ground, &shell);
    let rows = shell.wait_for("git push", PATIENCE);
    assert!(rows.lines().last().unwrap().trim_end().ends_with("git push mine"), "{rows}");
    // Defined anew and read again, the new one is kept.
    shell.run_line("function fish_right_prompt; echo newer; end");
    ground.load(&shell, Kind::Fish);
    answered(&ground, &shell);
    shell.wait_for("git push newer", PATIENCE);
}

#[test]
fn without_an_answer_the_key_asks_with_what_is_typed() {
    let ground = Ground::new();
    ground.scripted("clai", r#"printf '%s and %s\0why\0other\0\0\0' "$*" "$CLAI_PREFIX""#);
    let shell = ground.shell(Kind::Fish);
    shell.send("git");
    shell.key(Key::Alt('j'));
    shell.wait_for("$ suggest --shell fish and git", PATIENCE);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ other", PATIENCE);
}

#[test]
fn a_private_fish_is_private() {
    let ground = Ground::new();
    let shell = ground.shell(Kind::Fish);
    shell.run_line("set -g fish_private_mode 1");
    shell.run_line("echo secret");
    shell.run_line(" set -e fish_private_mode");
    shell.run_line("function fish_should_add_to_history; not string match -q '*token*' $argv; end");
    shell.run_line("echo token");
    shell.run_line("echo end");
    let lines: Vec<String> = ground.settled("echo end").into_iter().map(|event| event.cmd_raw).collect();
    assert!(!lines.iter().any(|line| line.contains("secret") || line == "echo token"), "{lines:?}");
}

#[test]
fn hooks_and_traps_of_the_user_stay() {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Fish);
    for line in [
        "function before --on-event fish_preexec; echo before $argv; end",
        "function after --on-event fish_postexec; echo after $status; end",
        "trap 'echo urgent' URG",
    ] {
        shell.run_line(line);
    }
    ground.load(&shell, Kind::Fish);
    assert_eq!(shell.run_line("false"), "before false\nafter 1");
    assert!(shell.run_line("kill -URG $fish_pid").contains("urgent"));
    let events = ground.settled("kill -URG $fish_pid");
    let failed = events.iter().find(|event| event.cmd_raw == "false");
    assert_eq!(failed.map(|event| event.exit_code), Some(1));
}

#[test]
fn a_key_that_somebody_has_bound_stays() {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Fish);
    shell.run_line("bind \\ej 'commandline -i mine'");
    ground.load(&shell, Kind::Fish);
    shell.key(Key::Alt('j'));
    shell.wait_for("$ mine", PATIENCE);
}
