//! Death at any moment of turns, rotations and compactions: what was reported is there, once, and the context opens.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use chibi::context::{
    ChibiHome, Compaction, Context, ContextName, Document, Entry, EntryId, EntryKind, Filters, Ids, Policy,
    Query, Reader, Status, Wait, inbox,
};
use kit::invocation::Clock;
use rustix::time::{ClockId, clock_gettime};
use testkit::hostile::small_disk;
use testkit::{Crash, Home, Random};

use crate::again;

/// A child says this before each id of an entry that it was told is kept.
const KEPT: &str = "kept ";
const STEPS: usize = 14;

fn chibi(folder: &Path) -> ChibiHome {
    ChibiHome::new(folder, Clock::system(), Ids::random())
}

fn open(home: &ChibiHome) -> Context {
    let context = Context::open(home, &ContextName::default(), Wait::No).unwrap();
    context.with_policy(Policy { max_entries: 5, ..Policy::default() })
}

pub(crate) fn child_lives(folder: &Path, seed: u64) {
    let mut random = Random::new(seed);
    let home = chibi(folder);
    let mut context = open(&home);
    for _ in 0..STEPS {
        step(&home, &mut context, &mut random);
        assert!(context.notes().is_empty(), "{:?}", context.notes());
    }
}

fn step(home: &ChibiHome, context: &mut Context, random: &mut Random) {
    match random.below(9) {
        0 => {
            let prompts =
                context.window().iter().filter(|entry| entry.is_prompt()).map(|entry| entry.id.clone());
            let keep = prompts.skip(random.below(4)).collect();
            context.compact(&Compaction { keep, summary: format!("summary {}", random.below(100)) }).unwrap();
        }
        1 => drop(context.undo_compaction()),
        2 => drop(context.archive().unwrap()),
        3 => {
            let ids: Vec<EntryId> = context.window().iter().map(|entry| entry.id.clone()).collect();
            let _ = context.pin(random.pick(&ids));
        }
        4 => context.set_document(Document::SystemPrompt, &"x".repeat(random.below(50))).unwrap(),
        5 => context.set_document(Document::Todos, &"todo\n".repeat(1 + random.below(50))).unwrap(),
        6 => {
            let sent = inbox::send(home, context.name(), "ada", "a message").unwrap();
            say(&sent.id);
        }
        _ => turn(home, context, random),
    }
}

/// A prompt with what was in the inbox, some tool results, an answer.
fn turn(home: &ChibiHome, context: &mut Context, random: &mut Random) {
    let entry = |kind, from: &str, to: &str, text: &str| {
        Entry::new(home.fresh_id(), home.now(), kind, from, to, text)
    };
    let messages = context.drain().unwrap();
    let ids: Vec<EntryId> = messages.iter().map(|message| message.id.clone()).collect();
    let prompt = entry(EntryKind::Message, "ada", "default", "a prompt").with("inbox", &ids);
    keep(context, vec![prompt]);
    let results = (0..random.below(4))
        .map(|_| entry(EntryKind::ToolResult, "tool", "default", &"r".repeat(random.below(9000))));
    let results = results.collect();
    keep(context, results);
    keep(context, vec![entry(EntryKind::Message, "default", "user", "an answer")]);
    context.end_turn().unwrap();
}

fn keep(context: &mut Context, entries: Vec<Entry>) {
    let ids: Vec<EntryId> = entries.iter().map(|entry| entry.id.clone()).collect();
    context.append(entries).unwrap();
    ids.iter().for_each(say);
}

fn say(id: &EntryId) {
    let mut out = std::io::stdout();
    out.write_all(format!("\n{KEPT}{id}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

#[test]
fn no_death_loses_what_was_reported_or_leaves_a_context_that_does_not_open() {
    let home = Home::new();
    let folder = home.path().join("chibi");
    let mut reported: HashSet<EntryId> = HashSet::new();
    let report = Crash::new(0xc41b).from_first_output().run(
        |number| again::command("live", &folder, number),
        |attempt| {
            if attempt.killed_after.is_none() {
                assert_eq!(attempt.output.code, 0, "{}", attempt.output.transcript());
            }
            assert!(!attempt.output.stderr.contains("panicked"), "{}", attempt.output.transcript());
            let lines = attempt.output.stdout.lines();
            reported
                .extend(lines.filter_map(|line| line.strip_prefix(KEPT)).map(|id| EntryId(id.to_owned())));
            check(&folder, &reported);
            if reported.len() > 300 {
                fs::remove_dir_all(&folder).unwrap();
                reported.clear();
            }
        },
    );
    assert!(report.hits > 0);
}

fn check(folder: &Path, reported: &HashSet<EntryId>) {
    let home = chibi(folder);
    let before = cpu_ms();
    let mut context = open(&home);
    let took = cpu_ms() - before;
    assert!(took <= 50.0, "it took {took} ms to open");
    let log: Vec<Entry> = context.reader().entries().unwrap().map(Result::unwrap).collect();
    let mut ids: HashMap<&EntryId, &Entry> = HashMap::new();
    for entry in &log {
        assert!(ids.insert(&entry.id, entry).is_none(), "{} is there twice", entry.id);
    }
    let mut received: HashMap<EntryId, usize> = HashMap::new();
    let taken = log.iter().filter_map(|entry| entry.metadata.get::<Vec<EntryId>>("inbox")).flatten();
    for id in taken.chain(context.drain().unwrap().into_iter().map(|message| message.id)) {
        *received.entry(id).or_default() += 1;
    }
    assert!(received.values().all(|times| *times == 1), "a message came twice: {received:?}");
    for id in reported {
        assert!(ids.contains_key(id) || received.contains_key(id), "{id} was reported and is lost");
    }
    let is_logged = |entry: &&Entry| entry.kind != EntryKind::SystemPrompt;
    let window: Vec<&Entry> = context.window().iter().filter(is_logged).collect();
    assert!(window.iter().all(|entry| ids.get(&entry.id) == Some(entry)));
    let kept = context.window().len();
    drop(context);
    let context = open(&home);
    assert_eq!(context.window().len(), kept);
    assert!(context.notes().is_empty(), "what was mended stays mended: {:?}", context.notes());
    same_when_made_again(context, &home);
    let reader = Reader::open(&home, &ContextName::default()).unwrap();
    let query = Query::new("prompt");
    let expected = log.iter().rev().filter(|entry| query.matches(&entry.content)).take(20);
    let found = reader.search(&query, 20, Filters::Consult).unwrap();
    assert!(found.iter().eq(expected), "a search does not find what is there");
}

/// The window is what the transcript tells.
fn same_when_made_again(context: Context, home: &ChibiHome) {
    let logged = |context: &Context| -> Vec<Entry> {
        let window = context.window().iter();
        window.filter(|entry| entry.kind != EntryKind::SystemPrompt).cloned().collect()
    };
    let window = logged(&context);
    let file = context.reader().folder().join("context.jsonl");
    drop(context);
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(logged(&open(home)), window);
    fs::write(&file, bytes).unwrap();
}

#[test]
fn on_a_full_disk_an_append_fails_whole_and_works_again_when_there_is_room() {
    small_disk(1 << 20, |disk| {
        let home = chibi(&disk.join("chibi"));
        let mut context = open(&home);
        let message = |text: &str| Entry::new(home.fresh_id(), 1, EntryKind::Message, "ada", "default", text);
        context.append(vec![message("first")]).unwrap();
        let ballast = disk.join("ballast");
        let mut size = 1 << 20;
        while size > 100 {
            let before = fs::read(&ballast).unwrap_or_default();
            if fs::write(&ballast, [before.clone(), vec![0; size]].concat()).is_err() {
                size /= 2;
            }
        }
        let mut kept = vec!["Context created".to_owned(), "first".to_owned()];
        for number in 0..20 {
            let text = format!("{number} {}", "x".repeat(3000));
            if context.append(vec![message(&text)]).is_ok() {
                kept.push(text);
            }
        }
        assert!(kept.len() < 22, "the disk was not full");
        fs::remove_file(&ballast).unwrap();
        context.append(vec![message("last")]).unwrap();
        kept.push("last".to_owned());
        drop(context);
        let context = open(&home);
        let log: Vec<String> =
            context.reader().entries().unwrap().map(|entry| entry.unwrap().content).collect();
        assert_eq!(log, kept);
        let window: Vec<&str> = context.window().iter().map(|entry| entry.content.as_str()).collect();
        assert_eq!(window, kept);
    });
}

#[test]
fn on_a_disk_that_cannot_be_written_one_can_still_look() {
    small_disk(1 << 20, |disk| {
        let home = chibi(&disk.join("chibi"));
        let mut context = open(&home);
        for text in ["first", "second", "third"] {
            let message = Entry::new(home.fresh_id(), 1, EntryKind::Message, "ada", "default", text);
            context.append(vec![message]).unwrap();
        }
        drop(context);
        let sealed = Command::new("mount").args(["-o", "remount,ro"]).arg(disk).status().unwrap();
        assert!(sealed.success());
        let reader = Reader::open(&home, &ContextName::default()).unwrap();
        assert_eq!(reader.status().unwrap(), Status::Free);
        assert_eq!(reader.window().unwrap().len(), 4);
        assert_eq!(reader.search(&Query::new("second"), 9, Filters::Consult).unwrap().len(), 1);
        assert!(Context::open(&home, &ContextName::default(), Wait::No).is_err());
    });
}

fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
