//! What the eyes saw and nobody can place: nothing that was known before is the last word then.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::claude::{Claude, Part, lines, shown};

#[test]
fn a_file_that_was_seen_empty_or_as_no_text_is_not_unchanged_when_it_is_back() {
    for between in ["".as_bytes(), b"caf\xe9 latin\n", b"a\0b\n"] {
        let claude = Claude::new();
        claude.home.write("a.txt", lines(200));
        claude.read("a.txt", Part::All).is_native();
        claude.home.write("a.txt", between);
        let lossy = String::from_utf8_lossy(between);
        let mut payload = claude.call("PostToolUse", "Read", json!({"file_path": claude.path("a.txt")}));
        payload["tool_response"] = json!({"type": "text", "file": {
            "filePath": claude.path("a.txt"), "content": lossy, "numLines": 1, "startLine": 1, "totalLines": 1}});
        assert_eq!(claude.hook("claude-post-read", &payload).ok().stdout, "");
        claude.end_round();
        claude.home.write("a.txt", lines(200));
        claude.read("a.txt", Part::All).is_native();
    }
}

#[test]
fn a_placeholder_of_drip_read_is_the_last_word_about_a_file() {
    let claude = Claude::new();
    let read = || {
        let mut command = claude.home.command(testkit::bin("drip"));
        command.args(["read", "a.txt"]).env("DRIP_SESSION_ID", "s").current_dir(claude.home.path());
        claude.home.run(&mut command).ok().stdout
    };
    claude.home.write("a.txt", lines(100));
    read();
    claude.home.write("a.txt", b"\0binary");
    assert!(read().starts_with("[DRIP: binary file"));
    claude.home.write("a.txt", lines(100));
    assert!(read().starts_with("[DRIP: full read"));
}

#[test]
fn a_hook_that_hears_of_a_call_twice_answers_it_once() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    let mut payload = claude.call("PostToolUse", "Read", json!({"file_path": path}));
    payload["tool_response"] = shown(&path, Part::All);
    for _ in 0..2 {
        assert_eq!(
            claude.hook("claude-post-read", &payload).ok().stdout,
            "",
            "the model would see no file at all"
        );
    }
    claude.end_round();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged since last read");
    let original = lines(200);
    let (old, new) = ("line 50 ", "inserted\nline 50 ");
    fs::write(&path, original.replacen(old, new, 1)).unwrap();
    let mut payload =
        claude.call("PostToolUse", "Edit", json!({"file_path": path, "old_string": old, "new_string": new}));
    payload["tool_response"] =
        json!({"filePath": path, "oldString": old, "newString": new, "originalFile": original});
    for _ in 0..2 {
        claude.hook("claude-post-edit", &payload).ok();
    }
    claude.end_round();
    let seen = claude.read("a.txt", Part::All);
    let said = seen.is_ours("0\t[DRIP: ");
    assert!(!said.contains("delta"), "nothing but the edit changed the file: {said}");
}

#[test]
fn of_two_edits_no_certificate_speaks_for_one() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 5 ", "LINE 5 ");
    claude.edit("a.txt", "line 150 ", "LINE 150 ");
    let seen = claude.read("a.txt", Part::All);
    assert!(!seen.text.contains("the rest is as you read it"), "{}", seen.text);
}

#[test]
fn whoever_asks_beyond_the_end_of_a_file_that_shrank_is_shown_its_end() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.home.write("a.txt", lines(50));
    claude.read("a.txt", Part::From(40, 20)).is_native();
}

#[test]
fn the_end_of_a_file_shown_without_numbers_proves_no_line() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(300));
    claude.bash("tail -n 100 a.txt").is_native();
    claude.read("a.txt", Part::From(201, 50)).is_native();
}

#[test]
fn lines_that_were_written_where_nothing_was_shown_are_not_known() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(300));
    claude.read("a.txt", Part::From(1, 50)).is_native();
    claude.edit("a.txt", "line 120 ", "LINE 120 ");
    claude.read("a.txt", Part::From(120, 1)).is_native();
}

#[test]
fn a_file_that_is_ignored_from_now_on_is_neither_sent_nor_kept() {
    let claude = Claude::new();
    claude.home.write("conf.yml", format!("{}first secret\n", lines(100)));
    claude.read("conf.yml", Part::All).is_native();
    claude.home.write("conf.yml", format!("{}second secret\n", lines(100)));
    claude.read("conf.yml", Part::All).is_ours("97\t[DRIP: delta only");
    claude.home.write(".dripignore", "conf.yml\n");
    claude.home.write("conf.yml", format!("{}third secret\n", lines(100)));
    claude.read("conf.yml", Part::All).is_native();
    let _ = claude.drip(&["cache", "fold"]).ok();
    let store = claude.home.data().join("drip");
    for file in ["sessions.db", "sessions.db-wal"] {
        let bytes = fs::read(store.join(file)).unwrap_or_default();
        for needle in [&b" secret\n"[..], b"line 77 holds "] {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle), "{file} has it");
        }
    }
}

#[test]
fn a_compaction_that_could_not_be_written_down_is_made_up_for() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let store =
        store::sqlite::rusqlite::Connection::open(claude.home.data().join("drip/sessions.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    claude.hook("claude-compact", &claude.event("PreCompact")).ok();
    store.execute_batch("ROLLBACK").unwrap();
    claude.read("a.txt", Part::All).is_native();
}

#[test]
fn what_was_shown_long_ago_is_not_built_upon() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.home.write("b.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    for _ in 0..3 {
        claude.home.clock().advance(Duration::from_secs(3_000));
        claude.read("b.txt", Part::All);
    }
    claude.read("a.txt", Part::All).is_native();
}
