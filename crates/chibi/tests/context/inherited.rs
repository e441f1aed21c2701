//! Homes that other versions and other programs left behind.

use std::time::Instant;

use chibi::context::{Document, EntryKind, Speaker};
use testkit::PATIENCE;

use crate::desk::{Desk, contents, transcript};

const LINE: &str =
    r#"{"id":"u1","timestamp":5,"from":"alice","to":"old","content":"Hello","entry_type":"message"}"#;

#[test]
fn a_transcript_of_one_file_becomes_the_active_partition() {
    let desk = Desk::new();
    desk.write("contexts/old/transcript.jsonl", format!("{LINE}\n"));
    let context = desk.open("old");
    assert_eq!(contents(context.window()), ["Hello"]);
    assert!(!desk.file("contexts/old/transcript.jsonl").exists());
    assert_eq!(desk.read("contexts/old/transcript/active.jsonl"), format!("{LINE}\n"));
    assert_eq!(context.notes().len(), 1);
    drop(context);
    assert_eq!(contents(desk.open("old").window()), ["Hello"]);
}

#[test]
fn whoever_only_looks_sees_what_older_versions_left() {
    let desk = Desk::new();
    desk.write("contexts/old/transcript.jsonl", format!("{LINE}\n"));
    assert_eq!(contents(&desk.reader("old").window().unwrap()), ["Hello"]);
    let whole = r#"{"messages":[{"role":"user","content":"hi"}],"created_at":9,"summary":""}"#;
    desk.write("contexts/older/context.json", whole);
    assert_eq!(contents(&desk.reader("older").window().unwrap()), ["Context created", "hi"]);
    let held = desk.open("old");
    desk.write("contexts/old/transcript.jsonl", format!("{LINE}\n"));
    assert_eq!(contents(&desk.reader("old").window().unwrap()), ["Hello"], "and does not wait for anybody");
    drop(held);
}

#[test]
fn a_window_of_one_object_is_taken_over_once() {
    let desk = Desk::new();
    let whole = r#"{"name":"user","messages":[{"role":"system","content":"x"},{"role":"user","content":"hi"},{"_id":"m2","role":"assistant","content":"ho"}],"created_at":9,"updated_at":10,"summary":"short"}"#;
    desk.write("contexts/user/context.json", whole);
    desk.write("contexts/user/prompt.md", "kept");
    let context = desk.open("user");
    assert_eq!(contents(context.window()), ["Context created", "hi", "ho"]);
    let speakers: Vec<Speaker> = context.window()[1..].iter().map(chibi::context::Entry::speaker).collect();
    assert_eq!(speakers, [Speaker::User, Speaker::Assistant]);
    assert_eq!(context.reader().document(Document::Summary).unwrap().as_deref(), Some("short"));
    drop(context);
    let context = desk.open("user");
    assert_eq!(transcript(context.reader()).len(), 3);
    assert_eq!(desk.read("contexts/user/context.json.migrated"), whole);
    assert_eq!(desk.read("contexts/user/prompt.md"), "kept");
}

#[test]
fn a_context_that_somebody_else_began_is_furnished_and_registered() {
    let desk = Desk::new();
    desk.write(
        "contexts/ghost/inbox.jsonl",
        r#"{"id":"m","timestamp":1,"from":"a","to":"ghost","content":"boo"}"#,
    );
    let mut context = desk.open("ghost");
    assert_eq!(context.window()[0].kind, EntryKind::ContextCreated);
    assert!(context.reader().meta().unwrap().is_some());
    assert_eq!(context.drain().unwrap()[0].content, "boo");
}

#[test]
fn a_compaction_of_the_original_is_followed() {
    let desk = Desk::new();
    let line = |id: &str, kind: &str, content: &str| {
        format!(
            r#"{{"id":"{id}","timestamp":5,"from":"a","to":"old","content":"{content}","entry_type":"{kind}"}}"#
        ) + "\n"
    };
    let log = [
        line("1", "context_created", "Context created"),
        line("2", "message", "gone"),
        line("3", "compaction", "Context compacted"),
        line("4", "system_prompt_changed", "System prompt updated"),
        line("5", "message", "stays"),
    ];
    desk.write("contexts/old/transcript/active.jsonl", log.concat());
    desk.write("contexts/old/context.jsonl", line("2", "message", "gone"));
    desk.write("contexts/old/.dirty", "");
    assert_eq!(contents(desk.open("old").window()), ["Context compacted", "stays"]);
}

#[test]
fn an_empty_a_broken_and_a_missing_manifest_are_made_again() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    for text in ["one", "two", "three"] {
        desk.exchange(&mut context, text);
    }
    let log = transcript(context.reader());
    drop(context);
    let path = "contexts/default/transcript/manifest.json";
    for damage in ["", "{", "null", "{\"version\":1}"] {
        desk.write(path, damage);
        assert_eq!(transcript(&desk.reader("default"))[..log.len()], log, "{damage}");
        let mut context = desk.rotating("default", 2);
        desk.exchange(&mut context, "more");
        drop(context);
        let mut now = transcript(&desk.reader("default"));
        assert_eq!(now.split_off(log.len()).len() % 2, 0);
        assert_eq!(now, log, "{damage}");
        std::fs::remove_file(desk.file(path)).unwrap();
        assert_eq!(transcript(&desk.reader("default"))[..log.len()], log);
    }
}

#[test]
fn a_rotation_that_was_interrupted_loses_nothing() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 3);
    for text in ["one", "two", "three"] {
        desk.exchange(&mut context, text);
    }
    let log = transcript(context.reader());
    drop(context);
    let folder = desk.file("contexts/default/transcript");
    // The rename happened, and nothing after it.
    std::fs::rename(folder.join("active.jsonl"), folder.join("partitions/1767225600-1767225600-9.jsonl"))
        .unwrap();
    assert_eq!(transcript(&desk.reader("default")), log);
    let mut context = desk.rotating("default", 3);
    assert_eq!(context.notes().len(), 1, "{:?}", context.notes());
    desk.exchange(&mut context, "four");
    assert_eq!(transcript(context.reader())[..log.len()], log);
    assert_eq!(transcript(context.reader()).len(), log.len() + 2);
}

#[test]
fn a_missing_partition_is_a_gap_and_not_the_end() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 3);
    for text in ["one", "two", "three"] {
        desk.exchange(&mut context, text);
    }
    let before = transcript(context.reader()).len();
    drop(context);
    std::fs::remove_file(desk.file("contexts/default/transcript/partitions/1767225600-1767225600.jsonl"))
        .unwrap();
    let mut context = desk.open("default");
    assert_eq!(transcript(context.reader()).len(), before - 3);
    let faults = context.reader().faults(Instant::now() + PATIENCE).unwrap();
    assert!(faults.len() == 1 && faults[0].contains("missing"), "{faults:?}");
    desk.exchange(&mut context, "four");
}

#[test]
fn lines_that_are_no_entries_are_passed_over() {
    let desk = Desk::new();
    desk.write(
        "contexts/old/transcript/active.jsonl",
        [LINE.as_bytes(), b"\n\xff\xfe\n\n{}\nnull\n", LINE.replace("u1", "u2").as_bytes(), b"\n"].concat(),
    );
    let context = desk.open("old");
    assert_eq!(contents(context.window()), ["Hello", "Hello"]);
    let faults = context.reader().faults(Instant::now() + PATIENCE).unwrap();
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults[0].ends_with("active.jsonl:2: skipping what is no entry"), "{faults:?}");
}
