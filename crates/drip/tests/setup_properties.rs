//! Whatever a person's settings look like: what `init` adds, `uninstall` takes out without a trace, and what the person
//! wrote before, between and after stays byte for byte.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: writes the files that it sets up"
)]

#[path = "setup/any_json.rs"]
mod any_json;
#[path = "setup/any_toml.rs"]
mod any_toml;
#[allow(dead_code, reason = "shared with the other tests of set-up")]
#[path = "setup/ground.rs"]
mod ground;

use std::path::Path;

use drip::setup::{Action, Agent, Mode};
use ground::{Place, put};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

const CASES: u32 = 1000;
const REWRITE: Action = Action::Init(Mode::Rewrite);

/// The settings after `action`, which is made in the settings alone.
fn after(place: &Place, agent: Agent, action: Action, text: &str) -> Option<String> {
    after_in(place, agent, &place.settings(agent), action, text)
}

/// The text that `path` has after `action` if it has `text` before.
fn after_in(place: &Place, agent: Agent, path: &Path, action: Action, text: &str) -> Option<String> {
    put(path, Some(text));
    let edit = place.plan(agent, action).unwrap().into_iter().find(|edit| edit.path == path);
    edit.map_or(Some(text.to_owned()), |edit| edit.after)
}

/// One file of settings and what a person does to it later: texts that change, and something at the end.
struct Story<'a> {
    before: &'a str,
    edits: &'a [(String, String)],
    suffix: &'a str,
}

/// Checks every promise with one story.
fn check(place: &Place, agent: Agent, mode: Mode, story: &Story) -> TestCaseResult {
    let Story { before, edits, suffix } = *story;
    let init = |text: &str| after(place, agent, Action::Init(mode), text).unwrap();
    let uninstall = |text: &str| after(place, agent, Action::Uninstall, text);
    let with = init(before);
    prop_assert_ne!(&with, before);
    prop_assert_eq!(&init(&with), &with, "twice is not once");
    prop_assert_eq!(uninstall(&with), Some(before.to_owned()), "not restored from:\n{}", with);

    let (mut edited, mut expected) = (with, before.to_owned());
    for (old, new) in edits {
        edited = edited.replacen(old, new, 1);
        expected = expected.replacen(old, new, 1);
    }
    edited.push_str(suffix);
    expected.push_str(suffix);
    prop_assert_eq!(&init(&edited), &edited, "complete, and changed again");
    prop_assert_eq!(
        uninstall(&edited),
        Some(expected),
        "the person's edit is not what is left of:\n{}",
        edited
    );
    Ok(())
}

/// The other way of answering replaces ours and only ours.
fn check_switch(place: &Place, agent: Agent, before: &str) -> TestCaseResult {
    let init = |mode: Mode, text: &str| after(place, agent, Action::Init(mode), text).unwrap();
    let denying = init(Mode::Deny, before);
    let switched = init(Mode::Deny, &init(Mode::Rewrite, before));
    let hooks = |text: &str| text.matches(" hook ").count();
    prop_assert_eq!(hooks(&switched), hooks(&denying), "{}", switched);
    let restored = after(place, agent, Action::Uninstall, &switched);
    prop_assert_eq!(restored, Some(before.to_owned()), "not restored from:\n{}", switched);
    Ok(())
}

/// What the settings mean, if they are JSON without extras.
fn values(text: &str) -> Option<serde_json::Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> TestCaseResult) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(strategy, test).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn any_claude_settings_are_edited_without_a_trace() {
    let place = Place::new();
    run(&(any_json::document(&any_json::CLAUDE), any::<bool>()), |(json, denies)| {
        let mode = if denies { Mode::Deny } else { Mode::Rewrite };
        check(
            &place,
            Agent::Claude,
            mode,
            &Story { before: &json.text, edits: &json.edits, suffix: json.suffix },
        )?;
        check_switch(&place, Agent::Claude, &json.text)
    });
}

#[test]
fn any_gemini_settings_are_edited_without_a_trace() {
    let place = Place::new();
    run(&any_json::document(&any_json::GEMINI), |json| {
        check(
            &place,
            Agent::Gemini,
            Mode::Rewrite,
            &Story { before: &json.text, edits: &json.edits, suffix: json.suffix },
        )?;
        check_switch(&place, Agent::Gemini, &json.text)
    });
}

#[test]
fn any_codex_settings_are_edited_without_a_trace() {
    let place = Place::new();
    run(&any_toml::document(), |toml| {
        check(
            &place,
            Agent::Codex,
            Mode::Rewrite,
            &Story { before: &toml.text, edits: &toml.edits, suffix: toml.suffix },
        )?;
        check_switch(&place, Agent::Codex, &toml.text)
    });
}

/// Texts with any line ends, begun and unfinished lines, and what looks almost like ours.
fn any_words() -> impl Strategy<Value = String> {
    let pieces = &[
        "",
        "a",
        "é ",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "# x\n",
        "@drip.mdx",
        " @drip.md",
        "<!-- drip -->",
        "```",
    ];
    vec(select(&pieces[..]), 0..12)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("ours", |text| !text.split(['\n', '\r']).any(|line| line == "@drip.md"))
}

#[test]
fn our_words_come_and_go_in_any_text() {
    let place = Place::new();
    let files = [
        (Agent::Claude, place.ground.project.join("CLAUDE.md")),
        (Agent::Claude, place.ground.project.join("drip.md")),
        (Agent::Codex, place.ground.home.join(".codex/AGENTS.md")),
        (Agent::Gemini, place.ground.project.join("GEMINI.md")),
    ];
    let edits = (select(&["", "before\n", "\r\n"][..]), select(&["", "\nlater", "\r\n\r\n"][..]));
    run(&(any_words(), edits), |(before, (prefix, suffix))| {
        for (agent, path) in &files {
            let after = |action, text: &str| after_in(&place, *agent, path, action, text);
            let with = after(REWRITE, &before).unwrap();
            prop_assert_eq!(&after(REWRITE, &with).unwrap(), &with, "twice is not once");
            prop_assert_eq!(after(Action::Uninstall, &with), Some(before.clone()), "{:?}", with);
            let edited = format!("{prefix}{with}{suffix}");
            let expected = format!("{prefix}{before}{suffix}");
            prop_assert_eq!(after(Action::Uninstall, &edited), Some(expected), "{:?}", edited);
            put(path, None);
        }
        Ok(())
    });
}

#[test]
fn what_was_json_without_extras_stays_that_and_keeps_its_values() {
    let place = Place::new();
    run(&any_json::plain_document(&any_json::CLAUDE), |json| {
        let before = values(&json.text).unwrap_or_else(|| panic!("not plain: {}", json.text));
        let text = after(&place, Agent::Claude, REWRITE, &json.text).unwrap();
        let with = values(&text).unwrap_or_else(|| panic!("no longer plain: {text}"));
        for (key, value) in before.as_object().unwrap().iter().filter(|(key, _)| *key != "hooks") {
            prop_assert_eq!(with.get(key), Some(value));
        }
        prop_assert_eq!(text.matches("/drip hook ").count(), 6);
        Ok(())
    });
}

#[test]
fn a_hook_that_a_person_adds_beside_ours_survives_in_any_settings() {
    const MINE: &str = r#", {"type": "command", "command": "mine"}"#;
    let place = Place::new();
    run(&any_json::document(&any_json::CLAUDE), |json| {
        let with = after(&place, Agent::Claude, REWRITE, &json.text).unwrap();
        let ours = with.find("drip hook claude-post-read").unwrap();
        let end = ours + with[ours..].find('}').unwrap() + 1;
        let edited = format!("{}{MINE}{}", &with[..end], &with[end..]);
        prop_assert_eq!(&after(&place, Agent::Claude, REWRITE, &edited).unwrap(), &edited);
        let left = after(&place, Agent::Claude, Action::Uninstall, &edited).unwrap();
        prop_assert!(left.contains(r#""command": "mine""#) && !left.contains("drip hook"), "{}", left);
        prop_assert!(left.contains(r#""Read""#), "the group keeps its matcher: {}", left);
        // What is left can still be read and edited.
        after(&place, Agent::Claude, REWRITE, &left);
        Ok(())
    });
}
