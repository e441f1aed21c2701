//! `drip refresh` and `drip reset`: what is forgotten is gone, to the last byte.

use crate::person::{Person, changed, holds, lines};

#[test]
fn a_file_that_is_ignored_from_now_on_is_forgotten() {
    let person = Person::new();
    person.file("conf.yml", format!("{}token of mine\n", lines(40)));
    person.file("large.yml", format!("{}token of mine\n", lines(2_000)));
    for file in ["conf.yml", "large.yml"] {
        person.says(&["read", file]);
    }
    assert!(holds(&person.store(), b"token of mine"));
    person.file(".dripignore", "*.yml\n");
    for file in ["conf.yml", "large.yml"] {
        assert!(person.says(&["read", file]).starts_with("[DRIP: matched .dripignore"));
    }
    person.says(&["cache", "fold"]);
    assert!(!holds(&person.store(), b"token of mine"));
}

#[test]
fn a_refresh_makes_the_next_read_whole_in_every_session() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    assert_eq!(person.says(&["refresh", "a.txt"]), "No baseline tracked for a.txt — nothing to clear.\n");
    person.says(&["read", "a.txt"]);
    assert_eq!(
        person.says(&["refresh", "a.txt"]),
        "Cleared baseline for a.txt\nNext read will return the full file.\n"
    );
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: full read | "));
    let _ = person.drip_with(&[("DRIP_SESSION_ID", "s2")], &["read", "a.txt"]).ok();
    assert_eq!(person.json(&["refresh", "a.txt", "--json"])["sessions"], 2);
    person.says(&["read", "a.txt"]);
    let _ = person.drip_with(&[("DRIP_SESSION_ID", "s2")], &["read", "a.txt"]).ok();
    assert!(person.says(&["refresh", "./a.txt"]).starts_with("Cleared baseline for ./a.txt in 2 sessions\n"));
}

#[test]
fn a_reset_clears_the_session_and_no_other() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    let other = [("DRIP_SESSION_ID", "s2")];
    let _ = person.drip_with(&other, &["read", "a.txt"]).ok();
    assert_eq!(person.says(&["reset"]), "Session s1 cleared.\n");
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: full read | "));
    assert!(person.drip_with(&other, &["read", "a.txt"]).stdout.starts_with("[DRIP: unchanged"));
}

#[test]
fn after_a_reset_no_byte_of_the_sessions_files_is_left() {
    let person = Person::new();
    let alone = [("DRIP_REGISTRY_DISABLE", "1")];
    person.file("small.txt", lines(40).replace("line 7 ", "NEEDLE-SMALL "));
    person.file("large.txt", lines(3_000).replace("line 7 ", "NEEDLE-LARGE "));
    for file in ["small.txt", "large.txt"] {
        let _ = person.drip_with(&alone, &["read", file]).ok();
    }
    let _ = person.drip_with(&[("DRIP_SESSION_ID", "s2"), alone[0]], &["read", "small.txt"]).ok();
    let kept = |needle: &str| holds(&person.home.data(), needle.as_bytes());
    assert!(kept("NEEDLE-SMALL") && kept("NEEDLE-LARGE"), "the test looks in the right place");
    let _ = person.drip_with(&alone, &["reset"]).ok();
    assert!(!kept("NEEDLE-LARGE"));
    assert!(kept("NEEDLE-SMALL"), "another session has it still");
    let _ = person.drip_with(&[("DRIP_SESSION_ID", "s2"), alone[0]], &["reset"]).ok();
    assert!(!kept("NEEDLE-SMALL") && !kept("somebody reads"));
    // What is remembered from one session to the next is not the session's.
    person.says(&["read", "small.txt"]);
    person.says(&["reset"]);
    assert!(kept("NEEDLE-SMALL"));
}

#[test]
fn a_reset_of_the_counters_keeps_what_was_shown() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    assert!(person.says(&["reset", "--stats"]).starts_with("Lifetime counters cleared."));
    let meter = person.json(&["meter", "--json"]);
    assert_eq!((&meter["total_reads"], &meter["tokens_full"]), (&0.into(), &0.into()));
    assert_eq!(meter["last_reset_at"], person.home.clock().now_ms() / 1000);
    assert!(person.says(&["meter"]).contains("DRIP Token Savings (Since Reset)"));
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged"));
}

#[test]
fn everything_is_forgotten_only_after_a_yes() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    for answer in ["", "no\n", "YES\n", "yes please\n"] {
        let said = person.home.run_with(&mut person.command(&["reset", "--all"]), answer);
        assert_eq!(said.code, 0, "{}", said.transcript());
        assert!(
            said.stderr.ends_with("Type 'yes' to confirm: Aborted — no data was deleted.\n"),
            "{}",
            said.stderr
        );
    }
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged"));
    let said = person.home.run_with(&mut person.command(&["reset", "--all"]), "yes\n");
    assert!(said.stdout.starts_with("All DRIP data cleared."), "{}", said.transcript());
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: full read | "));
}

#[test]
fn after_everything_was_forgotten_no_byte_of_any_file_is_left() {
    let person = Person::new();
    // Small ones live in the database, large ones beside it; both change, so that diffs are kept as well.
    person.file("small.txt", lines(40).replace("line 7 ", "NEEDLE-SMALL "));
    person.file("large.txt", lines(3_000).replace("line 7 ", "NEEDLE-LARGE "));
    for file in ["small.txt", "large.txt"] {
        person.says(&["read", file]);
    }
    let later = changed(40, &[20]).replace("line 21 ", "NEEDLE-LATER ");
    let path = person.file("small.txt", &later);
    person.edited(&path, &lines(40), &later, "-line 21\n+NEEDLE-PATCH\n");
    for file in ["small.txt", "large.txt"] {
        person.says(&["read", file]);
    }
    let needles: [&[u8]; 6] =
        [b"NEEDLE-SMALL", b"NEEDLE-LARGE", b"NEEDLE-LATER", b"NEEDLE-PATCH", b"somebody reads", b"small.txt"];
    for needle in needles {
        assert!(holds(&person.store(), needle), "the test looks in the right place");
    }
    person.says(&["reset", "--all", "--force"]);
    for needle in needles {
        assert!(!holds(&person.home.data(), needle), "{} is left", String::from_utf8_lossy(needle));
        assert!(!holds(&person.home.state(), needle), "{} is in a log", String::from_utf8_lossy(needle));
    }
    assert_eq!(person.json(&["meter", "--json"])["total_reads"], 0);
    assert!(person.says(&["read", "small.txt"]).starts_with("[DRIP: full read | "));
}

#[test]
fn where_nothing_was_kept_nothing_is_made() {
    let person = Person::new();
    person.file("a.txt", lines(3));
    for args in [&["refresh", "a.txt"][..], &["reset"], &["reset", "--stats"], &["reset", "--all", "--force"]]
    {
        person.says(args);
    }
    for args in [
        &["meter"][..],
        &["sessions"],
        &["replay"],
        &["doctor"],
        &["cache", "gc"],
        &["registry", "gc"],
        &["verify"],
    ] {
        person.says(args);
    }
    assert!(!person.store().exists());
}
