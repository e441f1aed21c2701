//! Several processes with one context: each turn is whole, and whoever waits gets its turn.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chibi::context::{ChibiHome, Context, ContextName, Entry, EntryKind, Ids, Policy, Reader, Wait, inbox};
use kit::invocation::Clock;
use testkit::{Home, PATIENCE};

use crate::again;

const PROCESSES: usize = 6;
const TURNS: usize = 5;

pub(crate) fn child_takes_its_turns(folder: &Path, number: u64) {
    let home = ChibiHome::new(folder, Clock::system(), Ids::random());
    let me = number.to_string();
    let name = ContextName::default();
    for _ in 0..TURNS {
        inbox::send(&home, &name, &me, "hello").unwrap();
        let context = Context::open(&home, &name, Wait::Until(Duration::from_secs(60))).unwrap();
        let mut context = context.with_policy(Policy { max_entries: 4, ..Policy::default() });
        let ids: Vec<_> = context.drain().unwrap().into_iter().map(|message| message.id).collect();
        for (kind, metadata) in
            [(EntryKind::Message, ids), (EntryKind::ToolResult, vec![]), (EntryKind::Message, vec![])]
        {
            let entry = Entry::new(home.fresh_id(), home.now(), kind, &me, "default", &me);
            context.append(vec![entry.with("inbox", &metadata)]).unwrap();
        }
        assert!(context.notes().is_empty(), "{:?}", context.notes());
    }
}

#[test]
fn processes_that_wait_for_each_other_mix_no_turns_and_lose_no_message() {
    let home = Home::new();
    let folder = home.path().join("chibi");
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut child = again::command("take turns", &folder, number);
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let chibi = ChibiHome::new(folder, Clock::system(), Ids::random());
    let reader = Reader::open(&chibi, &ContextName::default()).unwrap();
    let log: Vec<Entry> = reader.entries().unwrap().map(Result::unwrap).skip(1).collect();
    assert_eq!(log.len(), PROCESSES * TURNS * 3);
    assert!(log.chunks(3).all(|turn| turn.iter().all(|entry| entry.from == turn[0].from)), "turns are mixed");
    let taken: usize =
        log.iter().map(|entry| entry.metadata.get::<Vec<String>>("inbox").unwrap_or_default().len()).sum();
    assert_eq!(taken, PROCESSES * TURNS, "each message came once");
    assert_eq!(reader.faults(Instant::now() + PATIENCE).unwrap(), Vec::<String>::new());
    assert_eq!(reader.window().unwrap().len(), log.len() + 1);
}
