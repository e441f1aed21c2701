//! Calls of one round: nobody knows in which order the model sees them.

use std::fs;
use std::thread;

use testkit::{PATIENCE, until};

use crate::claude::{By, Claude, Part, lines};

#[test]
fn what_was_shown_in_a_round_is_not_built_upon_in_it() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.end_round();
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.end_round();
    fs::write(&path, lines(100).replace("line 50 ", "LINE 50 ")).unwrap();
    claude.read_in_round("a.txt", Part::All).is_ours("46\t[DRIP: delta only");
    claude.end_round();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn two_versions_in_one_round_leave_nothing_to_build_upon() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.end_round();
    claude.read_in_round("a.txt", Part::All).is_native();
    fs::write(&path, lines(100).replace("line 50 ", "LINE 50 ")).unwrap();
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.end_round();
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn a_round_of_a_sub_agent_does_not_end_the_round_of_another() {
    let mut claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.end_round();
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.become_agent(Some("a7"));
    claude.end_round();
    claude.become_agent(None);
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.end_round();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn many_hooks_at_once_lose_nothing_and_say_nothing_false() {
    let claude = Claude::new();
    for file in 0..8 {
        claude.home.write(format!("{file}.txt"), lines(100));
    }
    let all_at_once = || {
        let each = |file: usize| claude.read_in_round(&format!("{}.txt", file % 8), Part::All);
        thread::scope(|scope| {
            let running: Vec<_> = (0..16).map(|file| scope.spawn(move || each(file).by)).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        })
    };
    claude.end_round();
    assert!(all_at_once().iter().all(|by| *by == By::Client), "nothing was shown before this round");
    claude.end_round();
    // Of two at once, each may have found the other in its way: then both were shown, and nothing is known.
    let _ = all_at_once();
    claude.end_round();
    // Who waited too long for the others left the read to the client.
    assert!(claude.log().lines().all(|line| line.contains("locked")), "{}", claude.log());
    for file in 0..8 {
        claude.read(&format!("{file}.txt"), Part::All);
        claude.read(&format!("{file}.txt"), Part::All).is_ours("0\t[DRIP: unchanged");
    }
    let verified = claude.drip(&["verify"]).ok();
    assert!(!verified.stdout.contains("wrong"), "{}", verified.transcript());
}

#[test]
fn a_log_that_grew_long_is_folded_by_another_process() {
    let mut claude = Claude::new();
    claude.env.push(("DRIP_INLINE_MAX_BYTES", "-1"));
    for file in 0..3 {
        claude.write(&format!("{file}.txt"), &lines(20_000));
    }
    let log = claude.home.data().join("drip/sessions.db-wal");
    let folded = until(PATIENCE, || fs::metadata(&log).is_ok_and(|log| log.len() < 1 << 20));
    assert!(folded, "{} bytes are in the log", fs::metadata(&log).unwrap().len());
    claude.read("1.txt", Part::All).is_ours("0\t[DRIP: edit verified");
}
