//! `drip sessions`, `replay`, `why`, `source-map`, `verify` and `completions`: looking at what was done.

use serde_json::json;

use crate::person::{Person, changed, everything, lines};

/// A first read, one that found nothing new, and a delta.
fn three_reads() -> Person {
    let person = Person::new();
    person.file("src/a.txt", lines(40));
    person.says(&["read", "src/a.txt"]);
    person.pass(60);
    person.says(&["read", "src/a.txt"]);
    person.pass(60);
    person.file("src/a.txt", changed(40, &[20]));
    person.says(&["read", "src/a.txt"]);
    person
}

#[test]
fn sessions_are_listed_newest_first_and_ones_own_is_marked() {
    let person = three_reads();
    person.pass(60);
    let other = [("DRIP_SESSION_ID", "s2"), ("DRIP_AGENT", "codex-cli")];
    let _ = person.drip_with(&other, &["read", "src/a.txt"]).ok();
    let said = person.says(&["sessions"]);
    let head: Vec<&str> = said.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["SESSION", "AGENT", "STRATEGY", "CONTEXT", "AGE", "FILES", "SAVED", "CWD"]);
    let rows: Vec<Vec<&str>> =
        said.lines().skip(1).take(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..6], ["s2", "codex", "env", "(env)", "0s", "1"]);
    assert_eq!(rows[1][..7], ["*", "s1", "-", "env", "(env)", "1m", "1"]);
    assert!(rows[1].last().unwrap().ends_with("~/project"), "{said}");
    assert_eq!(person.says(&["sessions", "list"]), said);
    assert_eq!(person.says(&["sessions", "ls"]), said);
    let json = person.json(&["sessions", "--json"]);
    assert_eq!(
        (&json[1]["session_id"], &json[1]["current"], &json[1]["files"]),
        (&"s1".into(), &true.into(), &1.into())
    );
    person.pass(7_201);
    assert!(person.says(&["sessions"]).starts_with("no session reads here"), "idle ones are over");
}

#[test]
fn a_replay_has_every_answer_word_for_word() {
    let person = three_reads();
    let replay = person.json(&["replay", "--json"]);
    assert_eq!((&replay["session_id"], &replay["event_count"]), (&"s1".into(), &3.into()));
    let kinds: Vec<&str> = replay["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["outcome_kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["first", "unchanged", "delta"], "oldest first");
    let first = &replay["events"][0];
    assert_eq!((&first["n"], &first["age_secs"]), (&1.into(), &120.into()));
    assert!(first["rendered"].as_str().unwrap().ends_with(&lines(40)));
    for key in ["occurred_at", "file_path", "fallback_reason", "tokens_full", "tokens_sent", "tokens_saved"] {
        assert!(first.get(key).is_some(), "no {key} in {first}");
    }
    for key in ["tokens_full", "tokens_sent", "tokens_saved", "reduction_pct"] {
        assert!(replay["summary"].get(key).is_some(), "no {key} in {}", replay["summary"]);
    }
    assert!(replay["session_started_at"].is_i64());
    let count = |args: &[&str]| person.json(&[&["replay", "--json"], args].concat())["event_count"].clone();
    assert_eq!(count(&["--limit", "1"]), 1);
    assert_eq!(person.json(&["replay", "--json", "--limit", "1"])["events"][0]["outcome_kind"], "delta");
    assert_eq!([count(&["--since", "61s"]), count(&["--since", "1m"]), count(&["--since", "2d"])], [2, 2, 3]);
    assert_eq!([count(&["--file", "a.txt"]), count(&["--file", "b%"])], [3, 0]);
}

#[test]
fn people_see_a_table_and_on_demand_the_very_words() {
    let person = three_reads();
    let said = person.says(&["replay"]);
    let head: Vec<&str> = said.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["#", "AGE", "FILE", "OUTCOME", "FULL", "SENT"]);
    assert!(said.lines().nth(3).unwrap().contains("src/a.txt  delta"), "{said}");
    let full = person.says(&["replay", "--full"]);
    assert!(full.contains("── Replay (rendered output per event) ──"), "{full}");
    assert!(full.contains("[DRIP: delta only | ") && full.contains("+line 20 of"), "{full}");
}

#[test]
fn a_hostile_file_cannot_drive_the_terminal_of_who_replays_it() {
    let person = Person::new();
    person.file("a\u{1b}[31m.txt", format!("\u{1b}[2J\u{202e}{}", lines(20)));
    let _ = person.drip(&["read", "a\u{1b}[31m.txt"]).ok();
    for args in [&["replay", "--full"][..], &["meter"], &["why", "a\u{1b}[31m.txt"]] {
        let said = person.says(args);
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{args:?}: {said:?}");
    }
}

#[test]
fn why_is_one_line_with_the_numbers_and_what_would_have_tipped_it() {
    let person = three_reads();
    let said = person.says(&["why", "src/a.txt"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("delta: 1 hunk, "), "{said}");
    assert!(said.contains("Shown before: lines 1-40 2m ago (this session). Policy: gated. "), "{said}");
    assert!(said.contains("Full would have been sent above 6 hunks"), "{said}");
    let json = person.json(&["why", "src/a.txt", "--json"]);
    assert_eq!(
        (&json["outcome_kind"], &json["hunks"], &json["policy"]),
        (&"delta".into(), &1.into(), &"gated".into())
    );
    assert_eq!(json["shown_before"], json!([[1, 40]]));
    let stranger = person.drip_with(&[("DRIP_SESSION_ID", "s9")], &["why", "src/a.txt"]).ok().stdout;
    assert!(stranger.contains("(session s1)") || stranger.contains("(this session)"), "{stranger}");
    let said = person.drip(&["why", "src/b.txt"]);
    assert!(said.code == 1 && said.stderr.contains("nothing was sent about"), "{}", said.transcript());
    person.file("src/a.txt", lines(10));
    person.says(&["read", "src/a.txt"]);
    let said = person.says(&["why", "src/a.txt"]);
    assert!(said.starts_with("truncated: ") && said.contains("Less than half of it is left"), "{said}");
}

#[test]
fn a_source_map_leads_from_a_stub_to_the_lines_it_hides() {
    let person = Person::new();
    let body: String = (0..60).map(|line| format!("    let value_{line} = compute({line});\n")).collect();
    person.file("a.rs", format!("fn short() {{}}\n\nfn long() {{\n{body}}}\n\nconst AFTER: u32 = 1;\n"));
    let none = person.says(&["source-map", "a.rs"]);
    assert_eq!(none, "No source map for a.rs\nno read tracked in this session\n");
    let read = person.says(&["read", "a.rs"]);
    let stub = read.lines().position(|line| line.contains("[DRIP-elided")).unwrap();
    let entries = person.json(&["source-map", "a.rs", "--json"]);
    let elided: Vec<_> = entries.as_array().unwrap().iter().filter(|entry| entry["elided"] == true).collect();
    assert_eq!(elided.len(), 1, "{entries}");
    assert_eq!(
        *elided[0],
        json!({"compressed_line": stub, "original_start": 4, "original_end": 63, "symbol_name": "long", "elided": true})
    );
    let line = person.says(&["source-map", "a.rs", "--line", &format!("L{stub}")]);
    assert_eq!(line, format!("compressed L{stub} → original L4-L63 (long) [elided] (a.rs)\n"));
    let after = person.json(&["source-map", "a.rs", "--line", &(stub + 3).to_string(), "--json"]);
    assert_eq!(after["original_start"], 66, "{after}");
    let miss = person.json(&["source-map", "a.rs", "--line", "999", "--json"]);
    assert_eq!(miss, json!({"compressed_line": 999, "unmapped": true}));
    person.file("b.txt", lines(9));
    person.says(&["read", "b.txt"]);
    assert!(person.says(&["source-map", "b.txt"]).contains("\nno compression fired "));
}

#[test]
fn everything_that_was_sent_can_be_proven() {
    let person = three_reads();
    let verdict = person.json(&["verify", "--json"]);
    assert_eq!(
        (&verdict["ok"], &verdict["proven"], &verdict["deliveries"]),
        (&true.into(), &3.into(), &3.into())
    );
    let said = person.says(&["verify", "--session", "s1"]);
    let consistent = "3 of 3 answers about 1 file are consistent with what was recorded: a reader that applied them \
                      holds the recorded bytes\n";
    assert!(said.starts_with(consistent), "{said}");
    assert_eq!(person.drip(&["verify", "--session", "s9"]).code, 1);
    let _ = person.drip_with(&[("DRIP_SESSION_ID", "s2")], &["read", "src/a.txt"]).ok();
    assert_eq!(person.json(&["verify", "--json"])["files"], 1, "however many read it");
    let store = person.store().join("sessions.db");
    let connection = store::sqlite::rusqlite::Connection::open(store).unwrap();
    let altered =
        connection.execute("UPDATE deliveries SET payload = replace(payload, 'changed', 'forged')", []);
    assert!(altered.unwrap() > 0);
    let said = person.drip(&["verify"]);
    assert!(said.code == 1 && said.stdout.contains("wrong: delta of "), "{}", said.transcript());
}

#[test]
fn looking_changes_nothing() {
    let person = three_reads();
    let before = everything(&person.store());
    for args in [
        &["meter"][..],
        &["meter", "--session", "--graph"],
        &["sessions"],
        &["replay", "--full"],
        &["why", "src/a.txt"],
        &["source-map", "src/a.txt"],
        &["verify"],
        &["doctor"],
        &["cache", "stats"],
        &["registry", "stats"],
    ] {
        let _ = person.drip(args).ok();
    }
    let contents = |all: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
        all.into_iter().filter(|(path, _)| !path.to_string_lossy().ends_with("-shm")).collect()
    };
    assert_eq!(contents(everything(&person.store())), contents(before));
}

#[test]
fn every_shell_gets_its_script() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish", "powershell", "pwsh", "elvish"] {
        let script = person.says(&["completions", shell]);
        assert!(script.contains("source-map") && script.contains("dry-run"), "{shell}");
    }
    let bash = person.says(&["completions", "bash"]);
    let file = person.home.write("drip.bash", bash);
    let _ = person.home.run(person.home.command("bash").args(["-n"]).arg(file)).ok();
}
