//! Any bytes in the place of our files: what is whole is read, nothing is read twice, and one can go on.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Instant, SystemTime};

use chibi::context::{Entry, EntryId, Filters, Query};
use testkit::PATIENCE;

use crate::desk::{Desk, transcript};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");

/// Each input is several files that are synced: a disk does some ten a second when others want it too.
const COUNT: usize = 100;

fn ids(entries: &[Entry]) -> BTreeSet<&EntryId> {
    entries.iter().map(|entry| &entry.id).collect()
}

#[test]
fn whatever_an_old_manifest_says_every_entry_is_read_once_and_found() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    for text in ["one", "two", "three"] {
        desk.exchange(&mut context, text);
    }
    drop(context);
    let all = transcript(&desk.reader("default"));
    testkit::fuzz("chibi-manifest", format!("{CORPUS}/manifest"), COUNT, |bytes| {
        let path = "contexts/default/transcript/manifest.json";
        desk.write(path, bytes);
        // Older than its partitions: one that is newer is believed in what it does not list.
        File::options()
            .write(true)
            .open(desk.file(path))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        let reader = desk.reader("default");
        let now = transcript(&reader);
        assert_eq!((now.len(), ids(&now)), (all.len(), ids(&all)));
        let found = reader.search(&Query::new("answer"), 20, Filters::Consult).unwrap();
        assert_eq!(found.len(), 3);
    });
}

#[test]
fn a_partition_that_a_new_manifest_leaves_out_is_told() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    desk.exchange(&mut context, "one");
    drop(context);
    let path = "contexts/default/transcript/manifest.json";
    let manifest: serde_json::Value = serde_json::from_str(&desk.read(path)).unwrap();
    let listed = manifest["partitions"].to_string();
    let rest = manifest.to_string().replace(&listed, "[]");
    desk.write(path, rest);
    let faults = desk.reader("default").faults(Instant::now() + PATIENCE).unwrap();
    assert!(faults.iter().any(|fault| fault.contains("was in no manifest")), "{faults:?}");
}

#[test]
fn whatever_stands_in_a_transcript_its_whole_lines_stay_and_one_can_go_on() {
    testkit::fuzz("chibi-transcript", format!("{CORPUS}/transcript"), COUNT, |bytes| {
        let desk = Desk::new();
        desk.write("contexts/default/transcript/active.jsonl", bytes);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        let expected: Vec<Entry> = lines.filter_map(Entry::parse).collect();
        let mut context = desk.open("default");
        let id = desk.exchange(&mut context, "and on");
        assert!(context.window().iter().any(|entry| entry.id == id));
        drop(conversation::History::load(chibi::context::records::read(context.window())));
        drop(context);
        let now = transcript(&desk.reader("default"));
        assert_eq!(now[..expected.len()], expected);
        assert_eq!(now.last().unwrap().content, "answer to and on");
        let window = desk.reader("default").window().unwrap();
        assert_eq!(desk.open("default").window(), window);
    });
}
