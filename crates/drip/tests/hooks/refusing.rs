//! The seed's mechanism: the read is refused, and the answer is the reason. Never more than that, and never a word that
//! permits something.

use std::fs;

use serde_json::json;

use crate::claude::{Claude, Mechanism, Part, lines};

fn deny() -> Claude {
    Claude::with(Mechanism::Deny)
}

#[test]
fn a_second_read_of_an_unchanged_file_is_refused_with_one_line() {
    let claude = deny();
    claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    let seen = claude.read("a.txt", Part::All);
    assert_eq!(seen.is_ours("[DRIP: unchanged since last read | 0 tokens sent (").lines().count(), 1);
    claude.read("a.txt", Part::From(20, 40)).is_ours("[DRIP: unchanged (lines 20-59)");
}

/// Scenario A, item 1.
#[test]
fn a_read_that_was_only_attempted_shows_nothing() {
    let claude = deny();
    let path = claude.home.write("a.txt", lines(3000));
    // The person said no, or the client failed: no word came after it.
    for _ in 0..3 {
        let payload = claude.call("PreToolUse", "Read", json!({"file_path": path}));
        assert_eq!(claude.hook("claude", &payload).ok().stdout, "{}\n");
    }
    claude.read("a.txt", Part::CutAfter(2000)).is_native();
    claude.read("a.txt", Part::From(2001, 1000)).is_native();
    claude.read("a.txt", Part::From(2001, 1000)).is_ours("[DRIP: unchanged (lines 2001-3000)");
}

/// Scenario B, item 2.
#[test]
fn an_edit_after_a_partial_read_does_not_show_the_rest() {
    let claude = deny();
    claude.home.write("a.txt", lines(400));
    claude.read("a.txt", Part::From(1, 10)).is_native();
    assert_eq!(claude.edit("a.txt", "line 5 holds some text", "line 5 holds NEW text"), None);
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("[DRIP: unchanged since last read");
}

/// Scenario C, item 3.
#[test]
fn sub_agents_start_blind() {
    let mut claude = deny();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.become_agent(Some("a7"));
    claude.read("a.txt", Part::All).is_native();
}

#[test]
fn an_edit_is_certified() {
    let claude = deny();
    claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    assert_eq!(claude.edit("a.txt", "line 50 holds", "line 50 Holds"), None);
    assert!(
        claude
            .read("a.txt", Part::All)
            .is_ours("[DRIP: edit verified")
            .contains("Edit applied successfully.")
    );
    claude.read("a.txt", Part::All).is_ours("[DRIP: unchanged since last read");
}

#[test]
fn a_file_that_changed_is_read_by_the_client_so_that_edits_work() {
    let claude = deny();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    fs::write(&path, lines(200).replace("line 50 ", "LINE 50 ")).unwrap();
    let payload = claude.call("PreToolUse", "Read", json!({"file_path": path}));
    let said: serde_json::Value = serde_json::from_str(&claude.hook("claude", &payload).ok().stdout).unwrap();
    assert!(said["hookSpecificOutput"].get("permissionDecision").is_none());
    let note = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(note.starts_with("[DRIP: native refresh"), "{note}");
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("[DRIP: unchanged");
    fs::remove_file(&path).unwrap();
    let said = claude.hook("claude", &payload).ok().stdout;
    assert!(said.contains("\"deny\"") && said.contains("[DRIP: file deleted since last read | "), "{said}");
    assert_eq!(claude.hook("claude", &payload).ok().stdout, "{}\n");
}

/// A source file of more than 52 KB, most of it in bodies that may be left out.
fn long_source() -> String {
    let body = |name: usize| -> String {
        (0..20).map(|step| format!("    value_{name}_{step} = compute({name}, {step})\n")).collect()
    };
    (0..78)
        .map(|name| format!("def function_{name}(argument):\n{}    return {name}\n\n\n", body(name)))
        .collect()
}

/// Scenario F, items 6 and 9.
#[test]
fn the_guard_is_satisfied_once_the_lines_were_shown() {
    let claude = deny();
    let source = long_source();
    assert!(source.len() > 52_000, "{}", source.len());
    claude.home.write("big.py", &source);
    let seen = claude.read("big.py", Part::All);
    seen.is_ours("[DRIP: full read (semantic-compressed) | ");
    assert!(seen.text.contains("def function_69(argument):") && seen.text.contains("[DRIP-elided"));
    let edit = |line: usize| {
        let old = format!("    value_1_{line} = compute(1, {line})\n");
        claude.edit("big.py", &old, &old.replace("compute", "count"))
    };
    let stop = edit(4).unwrap();
    assert!(stop.starts_with("[DRIP: ⚠ STOP | Edit ") && stop.contains("function_1 (L"), "{stop}");
    // The advice that it gives works.
    let number = |key: &str| -> usize {
        let rest = stop.split_once(key).unwrap().1;
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap()
    };
    let (offset, limit) = (number("offset="), number("limit="));
    claude.read("big.py", Part::From(offset, limit)).is_native();
    assert_eq!(edit(4), None);
    assert_eq!(edit(5), None);
    // Others are hidden still, at the places that they have now.
    let other = "    value_9_3 = compute(9, 3)\n";
    assert!(claude.edit("big.py", other, "").unwrap().contains("function_9 (L"));
    // And a second look at all of it shows all of it.
    claude.read("big.py", Part::All).is_native();
    assert_eq!(claude.edit("big.py", other, ""), None);
}

#[test]
fn an_answer_that_nobody_took_was_not_shown() {
    let claude = deny();
    let path = claude.home.write("big.py", long_source());
    let payload = claude.call("PreToolUse", "Read", json!({"file_path": path}));
    let mut full = claude.home.command("sh");
    full.args(["-c", "\"$0\" hook claude > /dev/full"]).arg(testkit::bin("drip"));
    assert_eq!(claude.home.run_with(&mut full, payload.to_string()).code, 0);
    claude.read("big.py", Part::All).is_ours("[DRIP: full read (semantic-compressed)");
    claude.read("big.py", Part::All).is_native();
}

#[test]
fn an_edit_of_hidden_lines_that_went_through_is_warned_of() {
    let mut claude = deny();
    claude.home.write("big.py", long_source());
    claude.read("big.py", Part::All).is_ours("[DRIP: full read (semantic-compressed)");
    claude.env.push(("DRIP_PRE_EDIT_WARN", "0"));
    let note = claude.edit("big.py", "    value_2_3 = compute(2, 3)\n", "    pass\n").unwrap();
    assert!(note.starts_with("[DRIP: ⚠ edited elided function(s): function_2 (L"), "{note}");
    let path = claude.path("big.py");
    let write = claude.call("PreToolUse", "Write", json!({"file_path": path, "content": "x"}));
    assert_eq!(claude.hook("claude-pre-edit", &write).ok().stdout, "{}\n");
    claude.env.clear();
    assert!(claude.hook("claude-pre-edit", &write).ok().stdout.contains("[DRIP: ⚠ STOP | Write "));
}

/// Scenario I, item 14.
#[test]
fn no_opinion_is_an_empty_object() {
    let claude = deny();
    let path = claude.home.write("a.txt", lines(100));
    for (hook, tool, input) in [
        ("claude-pre-edit", "Edit", json!({"file_path": path, "old_string": "line 5 ", "new_string": "x"})),
        ("claude-pre-edit", "Write", json!({"file_path": path, "content": "x"})),
        ("claude-pre-edit", "NotebookEdit", json!({"notebook_path": path, "new_source": "x"})),
        ("claude-pre-edit", "Bash", json!({"command": "ls"})),
        ("claude", "Read", json!({"file_path": path})),
        ("claude", "Read", json!({"file_path": "/etc/hostname"})),
        ("claude", "Read", json!({})),
        ("claude", "Write", json!({"file_path": path})),
        ("claude-glob", "Glob", json!({"pattern": "*.nothing"})),
        ("claude-grep", "Grep", json!({"pattern": "nowhere to be found"})),
    ] {
        let payload = claude.call("PreToolUse", tool, input);
        assert_eq!(claude.hook(hook, &payload).ok().stdout, "{}\n", "{hook} {tool}");
    }
}

/// Scenario J, item 15.
#[test]
fn pictures_other_encodings_and_lock_files_are_left_to_the_client() {
    let claude = deny();
    claude.home.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    claude.home.write("latin1.txt", b"caf\xe9\n".repeat(100));
    claude.home.write("utf16.txt", b"\xff\xfea\0\n\0".repeat(100));
    claude.home.write("Cargo.lock", lines(100));
    claude.home.write("package-lock.json", lines(100));
    claude.home.write("paper.pdf", b"%PDF-1.7 and so on\n".repeat(100));
    claude.home.write("server.crt", lines(100));
    claude.home.write(".env.example", lines(100));
    for name in
        ["logo.png", "latin1.txt", "utf16.txt", "Cargo.lock", "package-lock.json", "paper.pdf", "server.crt"]
    {
        for _ in 0..2 {
            claude.read(name, Part::All).is_native();
        }
    }
    claude.read(".env.example", Part::All).is_native();
    claude.read(".env.example", Part::All).is_ours("[DRIP: unchanged");
}

/// Scenario K, item 16.
#[test]
fn ignored_directories_are_ignored_by_absolute_paths_too() {
    let claude = deny();
    let repo = claude.home.git_repo("project");
    claude.home.write("project/target/x", lines(100));
    claude.home.write("project/.dripignore", "secrets/*.txt\n");
    claude.home.write("project/secrets/a.txt", lines(100));
    for name in ["project/target/x", "project/secrets/a.txt"] {
        claude.read(name, Part::All).is_ours("[DRIP: matched .dripignore | ");
        let mut read = claude.home.command(testkit::bin("drip"));
        let read =
            claude.home.run(read.current_dir(&repo).args(["read", name.trim_start_matches("project/")])).ok();
        assert!(read.stdout.starts_with("[DRIP: matched .dripignore | "), "{}", read.stdout);
    }
}

#[test]
fn a_compaction_forgets_here_too() {
    let claude = deny();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.session_starts("compact");
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("[DRIP: unchanged");
}
