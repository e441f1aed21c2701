//! Whose eyes, and for how long: compaction, clear, resume and sub-agents.

use crate::claude::{Claude, Part, lines};

#[test]
fn after_a_compaction_everything_is_shown_again() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 50 holds", "line 50 Holds");
    let mut payload = claude.event("PreCompact");
    payload["trigger"] = "auto".into();
    // What is printed there is quoted to the model.
    assert_eq!(claude.hook("claude-compact", &payload).ok().stdout, "");
    let note = claude.session_starts("compact").unwrap();
    assert!(note.starts_with("DRIP: ↺ context was compacted"), "{note}");
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
}

#[test]
fn either_sign_of_a_compaction_is_enough_and_it_is_counted_once() {
    for signs in [&["claude-compact"][..], &["claude-session-start"]] {
        let claude = Claude::new();
        claude.home.write("a.txt", lines(100));
        claude.read("a.txt", Part::All).is_native();
        for sign in signs {
            let mut payload = claude.event("PreCompact");
            payload["source"] = "compact".into();
            let _ = claude.hook(sign, &payload).ok();
        }
        claude.read("a.txt", Part::All).is_native();
    }
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let _ = claude.hook("claude-compact", &claude.event("PreCompact")).ok();
    claude.session_starts("compact");
    let meter = claude.drip(&["meter", "--session", "3f1c9a52-main", "--json"]).ok();
    let meter: serde_json::Value = serde_json::from_str(&meter.stdout).unwrap();
    assert_eq!(meter["compaction"]["total_compactions"], 1, "{meter}");
}

/// Item 8.
#[test]
fn a_window_that_was_cleared_or_resumed_holds_nothing() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    for source in ["resume", "clear", "startup", "something new"] {
        claude.read("a.txt", Part::All).is_native();
        claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
        let note = claude.session_starts(source);
        assert_eq!(note.is_some(), ["resume", "clear"].contains(&source), "{source}");
    }
}

#[test]
fn a_start_that_is_not_understood_is_a_start() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    let mut payload = claude.event("SessionStart");
    payload["source"] = serde_json::json!({"kind": "compact"});
    assert_eq!(claude.hook("claude-session-start", &payload).ok().stdout, "{}\n");
    claude.read("a.txt", Part::All).is_native();
}

#[test]
fn a_new_session_costs_nothing() {
    let claude = Claude::new();
    assert_eq!(claude.session_starts("startup"), None);
    assert_eq!(claude.drip(&["sessions"]).ok().stdout.matches("3f1c9a52").count(), 0);
}

/// Scenario C, item 3.
#[test]
fn sub_agents_start_blind_and_keep_what_they_saw() {
    let mut claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.become_agent(Some("a7"));
    claude.read("a.txt", Part::All).is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    claude.edit("a.txt", "line 50 holds", "line 50 Holds");
    claude.become_agent(Some("a8"));
    claude.read("a.txt", Part::All).is_native();
    claude.become_agent(None);
    assert!(claude.read("a.txt", Part::All).is_ours("46\t[DRIP: delta only").contains("Holds"));
}

#[test]
fn a_compaction_takes_the_sub_agents_knowledge_too() {
    let mut claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.become_agent(Some("a7"));
    claude.read("a.txt", Part::All).is_native();
    claude.become_agent(None);
    claude.session_starts("compact");
    claude.become_agent(Some("a7"));
    claude.read("a.txt", Part::All).is_native();
}
