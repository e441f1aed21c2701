//! Reads that the client did and we rewrote: the model is told what changed, and never that something is unchanged which
//! it was not shown.

use std::fs;

use testkit::Home;

use crate::claude::{By, Claude, Part, lines};

#[test]
fn a_second_read_of_an_unchanged_file_sends_one_line() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    let seen = claude.read("a.txt", Part::All);
    seen.is_ours("0\t[DRIP: unchanged since last read | 0 tokens sent (");
    assert_eq!(seen.text.lines().count(), 1);
    assert!(seen.text.trim_end().ends_with(&format!(" saved) | {}]", claude.path("a.txt").display())));
}

#[test]
fn a_change_by_others_is_shown_as_its_lines_with_their_own_numbers() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    fs::write(&path, lines(200).replace("line 150 holds", "line 150 HOLDS")).unwrap();
    let seen = claude.read("a.txt", Part::All);
    assert_eq!(
        seen.text.lines().skip(1).collect::<Vec<_>>(),
        (147..=153)
            .map(|line| match line {
                150 => "150\tline 150 HOLDS some text of its own".to_owned(),
                line => format!("{line}\tline {line} holds some text of its own"),
            })
            .collect::<Vec<_>>()
    );
    seen.is_ours("146\t[DRIP: delta only | 9");
    assert!(seen.text.lines().next().unwrap().contains(" | @@ -147,7 +147,7 @@ | "));
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged since last read");
}

#[test]
fn several_changes_carry_their_own_numbers_and_what_was_sent_can_be_verified() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    let changed =
        lines(200).replace("line 20 holds", "LINE 20").replace("line 180 holds some text of its own\n", "");
    fs::write(&path, changed).unwrap();
    let seen = claude.read("a.txt", Part::All);
    seen.is_ours("0\t[DRIP: delta only | ");
    assert!(
        seen.text.contains("| 2 hunks: ln 20, ln 180 |") && seen.text.contains("\t20\tLINE 20 some text")
    );
    let verified = claude.drip(&["verify"]).ok();
    assert!(!verified.stdout.contains("wrong"), "{}", verified.transcript());
}

/// Scenario A, item 1.
#[test]
fn lines_that_the_client_never_showed_are_not_unchanged() {
    let claude = Claude::new();
    claude.home.write("big.txt", lines(3000));
    claude.read("big.txt", Part::CutAfter(2000)).is_native();
    let tail = claude.read("big.txt", Part::From(2001, 1000));
    assert!(tail.is_native().contains("3000\tline 3000 "));
    claude
        .read("big.txt", Part::From(2001, 1000))
        .is_ours("0\t[DRIP: unchanged (lines 2001-3000) | 0 tokens sent");
    claude.read("big.txt", Part::From(10, 500)).is_ours("0\t[DRIP: unchanged (lines 10-509)");
    claude.read("big.txt", Part::From(1990, 20)).is_ours("0\t[DRIP: unchanged (lines 1990-2009)");
}

#[test]
fn a_page_that_the_client_cut_keeps_its_banner() {
    let claude = Claude::new();
    claude.home.write("big.txt", lines(3000));
    claude.read("big.txt", Part::CutAfter(2000)).is_native();
    claude.read("big.txt", Part::CutAfter(2000)).is_native();
}

#[test]
fn a_part_that_grows_is_whole_only_when_all_of_it_was_shown() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::From(1, 60)).is_native();
    claude.read("a.txt", Part::From(61, 20)).is_native();
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn a_change_outside_of_the_part_that_was_shown_is_no_delta() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::From(40, 40)).is_native();
    fs::write(&path, format!("new first line\n{}", lines(100))).unwrap();
    let seen = claude.read("a.txt", Part::From(40, 40));
    assert!(seen.is_native().starts_with("40\tline 39 "));
}

/// Item 15, scenario J.
#[test]
fn what_is_no_text_is_left_to_the_client() {
    let claude = Claude::new();
    claude
        .home
        .write("latin1.txt", b"caf\xe9 au lait, and a lot more of it, so that it would pay\n".repeat(20));
    claude.home.write("nul.txt", b"a\0b and a lot more of it, so that it would pay to say less\n".repeat(20));
    claude.home.write("Cargo.lock", lines(200));
    claude.home.write(".env", lines(200));
    claude.home.write("empty.txt", "");
    for name in ["latin1.txt", "nul.txt", "Cargo.lock", ".env", "empty.txt"] {
        for _ in 0..3 {
            claude.read(name, Part::All).is_native();
        }
    }
    // What must not be kept is not kept.
    assert_store_lacks(&claude.home, "line 77 holds");
}

#[test]
fn line_ends_and_marks_do_not_disturb() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", format!("\u{feff}{}", lines(100).replace('\n', "\r\n")));
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    claude.read("a.txt", Part::From(20, 40)).is_ours("0\t[DRIP: unchanged (lines 20-59)");
    // The client shows no difference, so there is none.
    fs::write(&path, lines(100)).unwrap();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    // A line end at the end it does show.
    fs::write(&path, lines(100).trim_end()).unwrap();
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn a_file_that_moved_is_known_by_its_content() {
    let claude = Claude::new();
    let path = claude.home.write("old.txt", lines(100));
    claude.read("old.txt", Part::All).is_native();
    fs::rename(path, claude.path("new.txt")).unwrap();
    let seen = claude.read("new.txt", Part::All);
    seen.is_ours("0\t[DRIP: renamed from ");
    claude.read("new.txt", Part::All).is_ours("0\t[DRIP: unchanged since last read");
    fs::write(claude.path("new.txt"), lines(100).replace("line 5 ", "LINE 5 ")).unwrap();
    claude.read("new.txt", Part::All).is_ours("1\t[DRIP: delta only");
}

#[test]
fn a_copy_of_a_known_file_is_shown() {
    let claude = Claude::new();
    claude.home.write("one.txt", lines(100));
    claude.home.write("two.txt", lines(100));
    claude.read("one.txt", Part::All).is_native();
    claude.read("two.txt", Part::All).is_native();
}

#[test]
fn a_read_that_shows_another_text_than_the_disk_proves_nothing_and_is_believed_nothing_after() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    // The client reads, then somebody writes, then our hook looks.
    let mut payload =
        claude.call("PostToolUse", "Read", serde_json::json!({"file_path": path, "offset": 10, "limit": 50}));
    payload["tool_response"] = crate::claude::shown(&path, Part::From(10, 50));
    fs::write(&path, lines(100).replace("line 30 ", "LINE 30 ")).unwrap();
    assert_eq!(claude.hook("claude-post-read", &payload).ok().stdout, "");
    claude.end_round();
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn small_files_are_never_made_longer() {
    let claude = Claude::new();
    claude.home.write("a.txt", "one\ntwo\n");
    for _ in 0..3 {
        assert_eq!(claude.read("a.txt", Part::All).by, By::Client);
    }
}

#[test]
fn the_gates_hold_and_so_does_their_alternative() {
    let mut claude = Claude::new();
    let path = claude.home.write("a.txt", lines(2000));
    claude.read("a.txt", Part::All).is_native();
    let scattered = (1..=9).fold(lines(2000), |text, hundred| {
        text.replace(&format!("line {hundred}00 holds"), &format!("LINE {hundred}00"))
    });
    fs::write(&path, &scattered).unwrap();
    claude.read("a.txt", Part::All).is_native();
    claude.env.push(("DRIP_DIFF_POLICY", "cheapest"));
    fs::write(&path, lines(2000)).unwrap();
    let seen = claude.read("a.txt", Part::All);
    seen.is_ours("0\t[DRIP: delta only | 99%");
    assert!(seen.text.contains("\t900\tline 900 holds"));
}

#[test]
fn a_session_that_rested_too_long_starts_again() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.home.clock().advance(std::time::Duration::from_secs(7_300));
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn a_session_from_a_future_that_the_clock_came_back_from_starts_again() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let back = |seconds: i64| claude.home.clock().set(claude.home.clock().now_ms() - seconds * 1000);
    back(60);
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    back(7_300);
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn the_books_count_what_the_client_would_have_shown() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(200));
    let native = claude.read("a.txt", Part::All).text.len() as u64;
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    let replay = claude.drip(&["replay", "--session", "3f1c9a52-main", "--json"]).ok();
    let replay: serde_json::Value = serde_json::from_str(&replay.stdout).unwrap();
    let events = replay["events"].as_array().unwrap();
    assert_eq!(events.len(), 2);
    for event in events {
        assert_eq!(event["tokens_full"], native.div_ceil(4));
    }
    assert_eq!(events[0]["outcome_kind"], "native");
    assert_eq!(events[0]["tokens_sent"], native.div_ceil(4));
    assert_eq!((&events[1]["outcome_kind"], &events[1]["tokens_sent"]), (&"unchanged".into(), &0.into()));
}

#[track_caller]
fn assert_store_lacks(home: &Home, text: &str) {
    let mut folders = vec![home.data()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = fs::read(entry.path()).unwrap();
            let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!found, "{text:?} is in {}", entry.path().display());
        }
    }
}
