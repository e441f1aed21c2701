//! `drip meter`: the sums, honest in both directions.

use std::fs;

use serde_json::Value;

use crate::person::{Person, changed, lines};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn two_reads() -> Person {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    person.says(&["read", "a.txt"]);
    person
}

#[test]
fn the_report_has_the_keys_that_programs_look_for() {
    let person = two_reads();
    let meter = person.json(&["meter", "--json"]);
    for key in [
        "scope",
        "session_id",
        "started_at",
        "elapsed_secs",
        "files_tracked",
        "total_reads",
        "files_edited",
        "total_edits",
        "tokens_full",
        "tokens_sent",
        "overhead_tokens",
        "tokens_saved",
        "reduction_pct",
        "dollars_saved",
        "price_per_mtok",
        "co2_g_saved",
        "co2_g_per_ktok",
        "top",
        "history",
        "storage",
    ] {
        assert!(keys(&meter).contains(&key), "no {key} in {meter}");
    }
    assert_eq!(meter["scope"], "lifetime");
    assert_eq!(meter["history"], Value::Null);
    for key in ["file", "reads", "tokens_full", "tokens_sent", "tokens_saved", "reduction_pct"] {
        assert!(keys(&meter["top"][0]).contains(&key), "no {key} in {}", meter["top"]);
    }
    let mut storage = [
        "inline_max_bytes",
        "inline_rows",
        "inline_bytes",
        "file_rows",
        "linked_file_rows",
        "unique_hashes",
        "cache_files",
        "cache_size_bytes",
        "db_size_bytes",
        "orphan_files",
        "orphan_bytes",
        "dedup_savings",
        "compactable_rows",
        "compactable_bytes",
    ];
    storage.sort_unstable();
    assert_eq!(keys(&meter["storage"]), storage);
}

#[test]
fn payload_and_our_own_words_are_counted_apart_and_saving_is_what_is_left() {
    let person = two_reads();
    let full = lines(40).len().div_ceil(4) as i64;
    let meter = person.json(&["meter", "--json"]);
    let number = |key: &str| meter[key].as_i64().unwrap();
    assert_eq!((number("total_reads"), number("files_tracked")), (2, 1));
    assert_eq!((number("tokens_full"), number("tokens_sent")), (2 * full, full));
    assert!(number("overhead_tokens") > 0);
    assert_eq!(number("tokens_saved"), full - number("overhead_tokens"));
    let dollars = number("tokens_saved") as f64 / 1e6 * 3.0;
    assert!((meter["dollars_saved"].as_f64().unwrap() - dollars).abs() < 1e-9, "{meter}");
    let replay = person.json(&["replay", "--json"]);
    assert_eq!(replay["summary"]["tokens_saved"], meter["tokens_saved"], "two ways to count agree");
}

#[test]
fn a_loss_is_said() {
    let person = Person::new();
    person.file("tiny.txt", "x\n");
    person.says(&["read", "tiny.txt"]);
    let said = person.says(&["meter"]);
    assert!(said.contains("(loss)") && said.contains("% more"), "{said}");
    assert!(person.json(&["meter", "--json"])["tokens_saved"].as_i64() < Some(0));
    let front = person.says(&[]);
    assert!(front.contains("-") && front.contains("tokens saved in 1 reads of 1 files"), "{front}");
}

#[test]
fn people_see_the_rows_and_what_to_do_next() {
    let person = two_reads();
    let said = person.says(&["meter"]);
    for label in [
        "DRIP Token Savings (Since Install)",
        "Files tracked:",
        "Total reads:",
        "Files edited:",
        "Tokens full:",
        "Tokens sent:",
        "Tokens saved:",
        "$ saved:",
        "CO₂ avoided:",
        "Since install:",
        "Efficiency meter:",
        "Top Files",
        "\nNext:  drip replay",
    ] {
        assert!(said.contains(label), "no {label} in\n{said}");
    }
    assert!(person.says(&["meter", "--session"]).contains("DRIP Token Savings (Current Session)"));
    assert!(person.says(&["meter", "--session"]).contains("Session age:"));
    assert!(!said.contains('\u{1b}'), "no colour where nobody looks");
}

#[test]
fn days_are_told_as_numbers_and_as_bars() {
    let person = two_reads();
    person.pass(24 * 3600);
    person.file("b.txt", lines(30));
    person.says(&["read", "b.txt"]);
    let days = person.json(&["meter", "--history", "--json"])["history"].clone();
    let days: Vec<(&str, i64)> = days
        .as_array()
        .unwrap()
        .iter()
        .map(|day| (day["day"].as_str().unwrap(), day["reads"].as_i64().unwrap()))
        .collect();
    assert_eq!(days, [("2026-01-01", 2), ("2026-01-02", 1)]);
    assert!(person.says(&["meter", "--graph"]).contains("███"));
    let plain = person.drip_with(&[("LANG", "C")], &["meter", "--graph"]).ok().stdout;
    assert!(plain.contains("###") && !plain.contains('█'), "{plain}");
    person.pass(40 * 24 * 3600);
    assert_eq!(person.json(&["meter", "--history", "--json"])["history"], serde_json::json!([]));
}

#[test]
fn a_session_is_counted_for_itself_and_found_by_the_beginning_of_its_id() {
    let person = two_reads();
    let other = [("DRIP_SESSION_ID", "s2-long-id")];
    let _ = person.drip_with(&other, &["read", "a.txt"]).ok();
    let own = person.json(&["meter", "--session", "--json"]);
    assert_eq!((&own["scope"], &own["session_id"]), (&"session".into(), &"s1".into()));
    assert_eq!((&own["total_reads"], &own["session_strategy"]), (&2.into(), &"env".into()));
    let named = person.json(&["meter", "--session", "s2", "--json"]);
    assert_eq!((&named["session_id"], &named["total_reads"]), (&"s2-long-id".into(), &1.into()));
    let said = person.drip(&["meter", "--session", "nobody"]);
    assert!(
        said.code == 1 && said.stderr.contains("there is no session `nobody`\nhint: `drip sessions`"),
        "{}",
        said.stderr
    );
    let said = person.drip(&["meter", "--session", "s"]);
    assert!(said.code == 1 && said.stderr.contains("2 sessions begin with `s`"), "{}", said.stderr);
}

#[test]
fn somebody_who_has_read_nothing_sees_the_session_of_the_client_here() {
    let person = two_reads();
    let meter =
        person.home.run(person.command(&["meter", "--session", "--json"]).env_remove("DRIP_SESSION_ID"));
    let meter: Value = serde_json::from_str(&meter.ok().stdout).unwrap();
    assert_eq!(meter["auto_picked_session"]["session_id"], "s1");
    assert_eq!(meter["auto_picked_session"]["strategy"], "env");
    assert_eq!(meter["total_reads"], 2);
}

#[test]
fn files_that_are_gone_can_be_taken_out_of_the_sums() {
    let person = two_reads();
    let gone = person.file("gone.txt", lines(30));
    person.says(&["read", "gone.txt"]);
    let path = gone.canonicalize().unwrap();
    fs::remove_file(gone).unwrap();
    let meter = person.json(&["meter", "--json"]);
    assert_eq!(
        (&meter["ghost_pollution"]["files"], &meter["ghost_pollution"]["pct_of_files"]),
        (&1.into(), &50.0.into())
    );
    assert!(person.says(&["meter"]).contains("Next:  drip meter --prune"));
    let both = person.json(&["meter", "--prune", "--json"]);
    assert_eq!(both["prune"]["files_pruned"], 1);
    assert_eq!(both["prune"]["reads_reclaimed"], 1);
    assert_eq!(both["prune"]["paths"], serde_json::json!([path]));
    assert_eq!(both["report"]["total_reads"], 2);
    assert_eq!(both["report"]["files_tracked"], 1);
    assert_eq!(person.json(&["meter", "--prune", "--json"])["prune"]["files_pruned"], 0);
}

#[test]
fn changes_from_outside_are_counted() {
    let person = two_reads();
    person.file("a.txt", changed(40, &[3]));
    person.says(&["read", "a.txt"]);
    let meter = person.json(&["meter", "--json"]);
    assert_eq!(meter["external_edit_refreshes"]["count"], 1);
    assert_eq!(meter["external_edit_refreshes"]["pct_of_reads"], 33.3);
    assert!(person.says(&["meter"]).contains("Native refresh:"));
}

#[test]
fn drip_alone_says_what_it_has_done_and_where_to_go() {
    let person = Person::new();
    assert!(person.says(&[]).contains("nothing was read through it yet"));
    let person = two_reads();
    let said = person.says(&[]);
    assert!(said.contains("tokens saved in 2 reads of 1 files") && said.contains("drip init -g"), "{said}");
    assert_eq!(person.json(&["--json"])["total_reads"], 2);
    assert_eq!(person.says(&["--version"]), format!("drip {}\n", env!("CARGO_PKG_VERSION")));
}
