//! Edits by the agent itself: its knowledge moves on by the edit and by nothing else.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::claude::{Claude, Part, lines};

#[test]
fn a_read_after_an_edit_verifies_the_edit() {
    let claude = Claude::new();
    let mut source = String::from("fn first() {\n    one();\n}\n\nfn second() {\n    two();\n}\n");
    source += &lines(60).replace("line", "// line");
    claude.home.write("a.rs", &source);
    claude.read("a.rs", Part::All).is_native();
    assert_eq!(claude.edit("a.rs", "    two();\n", "    two();\n    three();\n"), None);
    let seen = claude.read("a.rs", Part::All);
    seen.is_ours("0\t[DRIP: edit verified | 100% reduction (0/");
    assert!(seen.text.contains(" | changed: second (L7-L7); the rest is as you read it | "), "{}", seen.text);
    assert_eq!(seen.text.lines().count(), 1);
    claude.read("a.rs", Part::All).is_ours("0\t[DRIP: unchanged since last read");
    let verified = claude.drip(&["verify"]).ok();
    assert!(!verified.stdout.contains("wrong"), "{}", verified.transcript());
}

/// Scenario B, item 2.
#[test]
fn an_edit_after_a_partial_read_does_not_show_the_rest() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(400));
    claude.read("a.txt", Part::From(1, 10)).is_native();
    claude.edit("a.txt", "line 5 holds some text", "line 5 holds NEW text");
    assert!(claude.read("a.txt", Part::All).is_native().contains("400\tline 400"));
    claude.read("a.txt", Part::From(300, 50)).is_ours("0\t[DRIP: unchanged (lines 300-349)");
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn after_an_edit_lines_that_were_never_shown_are_not_unchanged() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(400));
    claude.read("a.txt", Part::From(1, 40)).is_native();
    claude.edit("a.txt", "line 5 holds some text", "line 5 holds NEW text");
    // A word in a line that it never saw: it does not know the line by that.
    claude.edit("a.txt", "ine 300 holds", "ine 300 HOLDS");
    claude.read("a.txt", Part::From(300, 50)).is_native();
    claude.read("a.txt", Part::From(1, 40)).is_ours("0\t[DRIP: unchanged (lines 1-40) | 0 tokens sent (");
}

#[test]
fn a_part_that_the_agent_edited_is_not_called_unchanged_without_a_word_about_it() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(400));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 5 holds some text", "line 5 holds NEW text");
    let seen = claude.read("a.txt", Part::From(1, 40));
    assert!(seen.is_ours("0\t[DRIP: unchanged (lines 1-40)").contains(" | as your edit left it | "));
}

#[test]
fn what_others_do_to_an_edit_is_a_delta_from_the_edit_on() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 100 holds", "line 100 Holds");
    // A formatter comes after it.
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("line 120 holds", "line 120  holds"))
        .unwrap();
    let seen = claude.read("a.txt", Part::All);
    seen.is_ours("116\t[DRIP: delta only");
    assert!(!seen.text.contains("Holds"));
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn an_edit_of_a_text_that_others_changed_is_not_told_again_and_their_change_is() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    fs::write(&path, lines(200).replace("line 20 holds", "line 20 HOLDS")).unwrap();
    claude.edit("a.txt", "line 100 holds", "line 100 Holds");
    let seen = claude.read("a.txt", Part::All);
    seen.is_ours("16\t[DRIP: delta only");
    assert!(seen.text.contains("line 20 HOLDS") && !seen.text.contains("line 100"));
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn an_edit_of_what_the_agent_was_never_shown_ends_what_is_known() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(200));
    claude.read("a.txt", Part::All).is_native();
    fs::write(&path, lines(200).replace("line 100 holds", "line 100 HOLDS")).unwrap();
    claude.edit("a.txt", "line 100 HOLDS", "line 100 Holds");
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn several_edits_in_one_round_add_up() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(200));
    claude.read_in_round("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 10 holds", "line 10 Holds");
    claude.edit("a.txt", "line 20 holds", "line 20 Holds");
    claude.edit("a.txt", "line 30 holds", "line 30 Holds\nand more");
    // No one of them speaks for all.
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged since last read");
}

#[test]
fn a_file_that_the_agent_wrote_is_known_to_it() {
    let claude = Claude::new();
    claude.write("new.txt", &lines(100));
    claude.read("new.txt", Part::All).is_ours("0\t[DRIP: edit verified");
    claude.write("new.txt", &lines(100).replace("line 50 ", "LINE 50 "));
    claude.read("new.txt", Part::From(40, 30)).is_ours("0\t[DRIP: unchanged (lines 40-69)");
    claude.write(".env", &lines(100));
    claude.read(".env", Part::All).is_native();
    let verified = claude.drip(&["verify"]).ok();
    assert!(!verified.stdout.contains("wrong"), "{}", verified.transcript());
}

#[test]
fn deleting_a_line_may_take_its_end_along() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let line = "line 50 holds some text of its own";
    let mut payload =
        claude.call("PostToolUse", "Edit", json!({"file_path": path, "old_string": line, "new_string": ""}));
    payload["tool_response"] =
        json!({"filePath": path, "oldString": line, "newString": "", "originalFile": lines(100)});
    fs::write(&path, lines(100).replace(&format!("{line}\n"), "")).unwrap();
    assert_eq!(claude.hook("claude-post-edit", &payload).ok().stdout, "{}\n");
    claude.end_round();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: edit verified");
}

#[test]
fn a_client_that_does_not_tell_the_old_text_needs_not() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    let edit = |old: &str, new: &str| {
        let payload = claude.call(
            "PostToolUse",
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
        );
        assert_eq!(claude.hook("claude-post-edit", &payload).ok().stdout, "{}\n");
        claude.end_round();
    };
    claude.read("a.txt", Part::All).is_native();
    fs::write(&path, lines(100).replace("line 50 holds", "line 50 Holds")).unwrap();
    edit("line 50 holds", "line 50 Holds");
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: edit verified");
    // Somebody else was there as well.
    fs::write(&path, lines(100).replace("line 50 holds", "line 50 HOLDS").replace("line 60 ", "LINE 60 "))
        .unwrap();
    edit("line 50 Holds", "line 50 HOLDS");
    let seen = claude.read("a.txt", Part::All);
    assert!(seen.is_ours("56\t[DRIP: delta only").contains("LINE 60"));
}

#[test]
fn several_replacements_in_one_call_and_everywhere() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let edits = json!([
        {"old_string": "holds", "new_string": "keeps", "replace_all": true},
        {"old_string": "line 7 keeps", "new_string": "line 7 has"},
    ]);
    let mut payload = claude.call("PostToolUse", "MultiEdit", json!({"file_path": path, "edits": edits}));
    payload["tool_response"] = json!({"filePath": path, "originalFile": lines(100), "edits": edits});
    fs::write(&path, lines(100).replace("holds", "keeps").replace("line 7 keeps", "line 7 has")).unwrap();
    assert_eq!(claude.hook("claude-post-edit", &payload).ok().stdout, "{}\n");
    claude.end_round();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: edit verified");
}

#[test]
fn what_a_person_changed_on_the_way_is_shown() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let mut payload = claude.call(
        "PostToolUse",
        "Edit",
        json!({"file_path": path, "old_string": "line 50 holds", "new_string": "line 50 Holds"}),
    );
    payload["tool_response"] = json!({
        "filePath": path, "oldString": "line 50 holds", "newString": "line 50 is the person's", "userModified": true,
        "originalFile": lines(100),
    });
    fs::write(&path, lines(100).replace("line 50 holds", "line 50 is the person's")).unwrap();
    assert_eq!(claude.hook("claude-post-edit", &payload).ok().stdout, "{}\n");
    claude.end_round();
    assert!(claude.read("a.txt", Part::All).is_native().contains("the person's"));
}

#[test]
fn without_certificates_the_first_read_after_an_edit_is_the_clients() {
    let mut claude = Claude::new();
    claude.env.push(("DRIP_CERT_DISABLE", "1"));
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 50 holds", "line 50 Holds");
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    claude.env.clear();
    claude.edit("a.txt", "line 50 Holds", "line 50 HOLDS");
    claude.home.clock().advance(Duration::from_secs(301));
    claude.read("a.txt", Part::All).is_native();
}
