//! `drip cache` and `drip registry`: what is kept, and what goes when nobody needs it.

use std::fs;
use std::time::Duration;

use crate::person::{Person, changed, everything, holds, lines};

/// Files of contents in the store.
fn blobs(person: &Person) -> usize {
    everything(&person.store().join("cache")).iter().filter(|(path, _)| !path.ends_with("lock")).count()
}

#[test]
fn large_contents_are_kept_once_and_counted() {
    let person = Person::new();
    person.file("small.txt", lines(10));
    person.file("large.txt", lines(2_000));
    person.file("copy/large.txt", lines(2_000));
    for file in ["small.txt", "large.txt", "copy/large.txt"] {
        person.says(&["read", file]);
    }
    let stats = person.json(&["cache", "stats", "--json"]);
    let number = |key: &str| stats[key].as_u64().unwrap();
    assert_eq!((number("cache_files"), number("unique_hashes"), number("orphan_files")), (1, 1, 0));
    assert_eq!(number("cache_size_bytes"), lines(2_000).len() as u64);
    assert_eq!(number("file_rows"), number("linked_file_rows"));
    assert_eq!(number("dedup_savings"), (number("file_rows") - 1) * lines(2_000).len() as u64);
    assert!(number("inline_rows") > 0 && number("inline_bytes") > 0);
    let said = person.says(&["cache", "stats"]);
    assert!(said.contains("up to 32.8 KB in the database") && said.contains("Next:  drip "), "{said}");
}

#[test]
fn contents_that_nothing_refers_to_are_removed_and_no_others() {
    let person = Person::new();
    person.file("large.txt", lines(2_000));
    person.file("other.txt", lines(2_500));
    person.says(&["read", "large.txt"]);
    person.says(&["read", "other.txt"]);
    assert_eq!(blobs(&person), 2);
    assert_eq!(
        person.json(&["cache", "gc", "--json"])["removed_files"],
        0,
        "the registry and the session need them"
    );
    person.says(&["reset"]);
    assert_eq!(person.json(&["cache", "gc", "--json"])["removed_files"], 0, "the registry needs them");
    person.pass(3_600);
    person.says(&["read", "other.txt"]);
    let gc = person.says(&["registry", "gc", "--older-than", "1h"]);
    assert!(gc.starts_with("Removed rows   : 1\nRemoved blobs  : 1\n"), "{gc}");
    assert_eq!(blobs(&person), 1);
    assert!(person.says(&["read", "other.txt"]).starts_with("[DRIP: unchanged"), "what is needed stays");
    let planted = person.store().join("cache/ab").join("c".repeat(62));
    fs::create_dir_all(planted.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(person.project().join("large.txt"), &planted).unwrap();
    assert_eq!(person.json(&["cache", "gc", "--json"])["removed_files"], 1);
    assert!(planted.symlink_metadata().is_err() && person.project().join("large.txt").exists());
}

#[test]
fn the_registry_says_what_it_knows_and_forgets_on_demand() {
    let person = Person::new();
    person.file("a.txt", lines(10));
    person.file("b.txt", lines(10));
    person.says(&["read", "a.txt"]);
    person.pass(31 * 24 * 3600);
    person.says(&["read", "b.txt"]);
    assert!(person.says(&["registry", "stats"]).starts_with("Known files    : 2\n"));
    assert_eq!(person.json(&["registry", "stats", "--json"])["bytes"], 2 * lines(10).len());
    assert!(person.says(&["registry", "gc"]).starts_with("Removed rows   : 1\n"), "30 days without a word");
    assert_eq!(person.json(&["registry", "gc", "--older-than", "0s", "--json"])["removed_rows"], 1);
    assert!(person.says(&["registry", "stats"]).starts_with("Known files    : 0\n"));
}

#[test]
fn contents_that_grew_too_large_for_the_database_are_moved_out_of_it() {
    let person = Person::new();
    person.file("a.txt", lines(2_000));
    let inline = [("DRIP_INLINE_MAX_BYTES", "-1")];
    let _ = person.drip_with(&inline, &["read", "a.txt"]).ok();
    assert_eq!(blobs(&person), 0);
    let stats = person.json(&["cache", "stats", "--json"]);
    assert!(stats["compactable_rows"].as_u64() >= Some(2), "{stats}");
    assert!(person.says(&["cache", "stats"]).contains("Next:  drip cache compact"));
    let compacted = person.json(&["cache", "compact", "--json"]);
    assert!(compacted["moved_rows"].as_u64() >= Some(2), "{compacted}");
    assert!(compacted["db_bytes_after"].as_u64() < compacted["db_bytes_before"].as_u64(), "{compacted}");
    assert_eq!(blobs(&person), 1);
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged"));
    person.file("a.txt", changed(2_000, &[7]));
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: delta only"), "the base is still known");
    assert_eq!(person.json(&["verify", "--json"])["ok"], true);
}

#[test]
fn what_hooks_leave_to_others_ends_what_is_over_and_folds_the_log() {
    let person = Person::new();
    person.file("large.txt", lines(2_000).replace("line 7 ", "NEEDLE "));
    let off = [("DRIP_REGISTRY_DISABLE", "1")];
    let _ = person.drip_with(&off, &["read", "large.txt"]).ok();
    let log = person.store().join("sessions.db-wal");
    let before = fs::metadata(&log).unwrap().len();
    assert_eq!(person.says(&["cache", "fold"]), "");
    // Not empty: a hook that is the first to write into one waits for the disk.
    let page = 4096 + 24;
    assert!((1..=3 * page).contains(&fs::metadata(&log).unwrap().len()), "of {before}");
    assert_eq!(blobs(&person), 1, "the session still needs it");
    person.home.clock().advance(Duration::from_secs(7_201));
    assert_eq!(person.says(&["cache", "fold"]), "");
    assert_eq!(blobs(&person), 0);
    assert!(!holds(&person.store().join("cache"), b"NEEDLE"), "an expired session leaves no content");
    assert!(!person.says(&["cache", "--help"]).contains("fold"));
}

#[test]
fn collecting_while_others_read_loses_nothing() {
    let person = Person::new();
    let files: Vec<String> = (0..8).map(|n| format!("{n}.txt")).collect();
    for (n, file) in files.iter().enumerate() {
        person.file(file, lines(1_000 + n));
    }
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| person.drip_with(&[("DRIP_REGISTRY_DISABLE", "1")], &["read", file]).ok());
            scope.spawn(|| person.drip(&["cache", "gc"]).ok());
        }
    });
    let stats = person.json(&["cache", "stats", "--json"]);
    assert_eq!(stats["file_rows"], stats["linked_file_rows"], "{stats}");
    assert_eq!(person.json(&["verify", "--json"])["ok"], true);
}
