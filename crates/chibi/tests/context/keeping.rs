//! Transcript and window: what is written stays, whatever happens in between.

use std::collections::HashSet;
use std::fs;

use chibi::context::{ContextError, Wait};
use serde_json::Value;
use testkit::crash;

use crate::desk::{Desk, contents, name, transcript};

#[test]
fn what_was_said_is_there_the_next_time() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    drop(context);
    let context = desk.open("default");
    assert_eq!(contents(context.window()), ["Context created", "one", "answer to one"]);
    assert!(context.notes().is_empty(), "{:?}", context.notes());
    assert_eq!(contents(&transcript(context.reader())), contents(context.window()));
    let line: Value =
        serde_json::from_str(desk.read("contexts/default/context.jsonl").lines().nth(1).unwrap()).unwrap();
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["content", "entry_type", "from", "id", "timestamp", "to"]);
    assert_eq!(
        desk.read("contexts/default/context_meta.json").replace([' ', '\n'], ""),
        r#"{"created_at":1767225600}"#
    );
}

#[test]
fn a_torn_line_costs_only_itself_and_never_the_next() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    drop(context);
    for file in ["transcript/active.jsonl", "context.jsonl"] {
        let path = format!("contexts/default/{file}");
        let torn = desk.read(&path) + "{\"id\":\"x\",\"timestamp\":1,\"from\":\"ada\",\"to\":\"def";
        desk.write(&path, torn);
    }
    let mut context = desk.open("default");
    assert_eq!(context.notes().len(), 1, "{:?}", context.notes());
    desk.exchange(&mut context, "two");
    drop(context);
    let context = desk.open("default");
    let expected = ["Context created", "one", "answer to one", "two", "answer to two"];
    assert_eq!(contents(context.window()), expected);
    assert_eq!(contents(&transcript(context.reader())), expected);
}

#[test]
fn a_hundred_rotations_in_one_second_lose_and_repeat_nothing() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    for number in 0..100 {
        context.append(vec![desk.said("default", &number.to_string()), desk.said("default", "x")]).unwrap();
    }
    assert!(context.notes().is_empty(), "{:?}", context.notes());
    let entries = transcript(context.reader());
    let ids: HashSet<_> = entries.iter().map(|entry| &entry.id).collect();
    assert_eq!((entries.len(), ids.len()), (201, 201));
    let numbers: Vec<usize> = entries.iter().filter_map(|entry| entry.content.parse().ok()).collect();
    assert!(numbers.is_sorted());
    let manifest: Value =
        serde_json::from_str(&desk.read("contexts/default/transcript/manifest.json")).unwrap();
    let files: HashSet<&str> =
        manifest["partitions"].as_array().unwrap().iter().map(|row| row["file"].as_str().unwrap()).collect();
    assert!(files.len() >= 100);
    assert!(files.iter().all(|file| desk.file("contexts/default/transcript").join(file).exists()));
}

#[test]
fn a_new_policy_holds_at_once_whatever_the_manifest_says() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    desk.exchange(&mut context, "one");
    let mut context = context.with_policy(chibi::context::Policy { max_entries: 100, ..Default::default() });
    for number in 0..20 {
        desk.exchange(&mut context, &number.to_string());
    }
    let partitions = fs::read_dir(desk.file("contexts/default/transcript/partitions")).unwrap();
    let jsonl = partitions.flatten().filter(|file| file.path().extension().is_some_and(|end| end == "jsonl"));
    assert_eq!(jsonl.count(), 1);
}

#[test]
fn a_partition_is_closed_when_it_is_old() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    desk.clock.advance(std::time::Duration::from_secs(2_592_000));
    desk.exchange(&mut context, "two");
    assert!(desk.file("contexts/default/transcript/partitions/1767225600-1769817600.jsonl").exists());
    assert_eq!(transcript(context.reader()).len(), 5);
}

#[test]
fn a_second_writer_is_refused_and_a_reader_is_not() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    let second = chibi::context::Context::open(&desk.chibi, &name("default"), Wait::No);
    assert!(matches!(second, Err(ContextError::Locked { .. })));
    assert_eq!(desk.reader("default").window().unwrap().len(), 3);
}

/// The transcript is what counts: a window that cannot be written is no reason to refuse an entry, and has no gap later.
#[test]
fn a_window_that_could_not_be_written_has_no_gap_when_it_can() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    let file = desk.file("contexts/default/context.jsonl");
    let kept = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    desk.exchange(&mut context, "two");
    assert!(!context.notes().is_empty());
    fs::remove_dir(&file).unwrap();
    fs::write(&file, kept).unwrap();
    desk.exchange(&mut context, "three");
    let window = context.window().to_vec();
    assert_eq!(window.len(), 7);
    drop(context);
    assert_eq!(desk.open("default").window(), window);
}

#[test]
fn an_entry_costs_the_same_however_long_the_transcript_is() {
    // What this thread read, in any way.
    let read = || {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        line.parse::<u64>().unwrap()
    };
    // A soak has the time for a million.
    let much = if crash::points(50) > 50 { 1_000_000 } else { 20_000 };
    let desk = Desk::new();
    let mut context = desk.rotating("default", u64::MAX);
    let cost = |context: &mut chibi::context::Context, entries: usize| {
        let more = (0..entries).map(|i| desk.answered("default", &format!("entry {i} of many")));
        context.append(more.collect()).unwrap();
        let before = read();
        desk.exchange(context, "one more");
        read() - before
    };
    let few = cost(&mut context, 10);
    let many = cost(&mut context, much);
    assert!(many < few + 10_000, "{few} bytes were read for an entry behind 10, {many} behind {much}");
    drop(context);
    let before = read();
    let mut context = desk.rotating("default", u64::MAX);
    desk.exchange(&mut context, "after a new start");
    let reopened = read() - before;
    let window = fs::metadata(desk.file("contexts/default/context.jsonl")).unwrap().len();
    assert!(reopened < 2 * window + 100_000, "{reopened} bytes to open a window of {window}");
}
