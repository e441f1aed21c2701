//! Compaction, its undoing and archiving: the old window or the new one, and every entry exactly once in the log.

use std::collections::HashSet;
use std::fs;

use chibi::context::{Compaction, ContextError, Document, Entry, EntryKind};
use proptest::prelude::*;
use testkit::crash;

use crate::desk::{Desk, contents, transcript};

fn compaction(keep: &[&chibi::context::EntryId], summary: &str) -> Compaction {
    Compaction { keep: keep.iter().map(|id| (*id).clone()).collect(), summary: summary.to_owned() }
}

#[test]
fn what_is_kept_is_kept_to_the_byte_and_nothing_is_logged_twice() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    let ids = ["one", "two", "three"].map(|text| desk.exchange(&mut context, text));
    let before: Vec<String> =
        desk.read("contexts/default/context.jsonl").lines().map(str::to_owned).collect();
    let receipt = context.compact(&compaction(&[&ids[1]], "they talked")).unwrap();
    assert_eq!((receipt.replaced.first, receipt.replaced.entries), (Some(ids[0].clone()), 4));
    assert_eq!(contents(context.window()), ["Context compacted", "two", "answer to two"]);
    let after: Vec<String> = desk.read("contexts/default/context.jsonl").lines().map(str::to_owned).collect();
    assert_eq!(after[1..], before[3..5]);
    assert_eq!(context.reader().document(Document::Summary).unwrap().as_deref(), Some("they talked"));
    let log = transcript(context.reader());
    assert_eq!(log.iter().map(|entry| &entry.id).collect::<HashSet<_>>().len(), log.len());
    assert_eq!(log.iter().filter(|entry| entry.kind == EntryKind::ContextCreated).count(), 1);
    assert_eq!(log.len(), 8);
}

#[test]
fn an_undone_compaction_leaves_the_window_as_it_was_to_the_byte() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    for text in ["one", "two", "three"] {
        desk.exchange(&mut context, text);
    }
    context.set_document(Document::Summary, "before").unwrap();
    let before = desk.read("contexts/default/context.jsonl");
    context.compact(&compaction(&[], "after")).unwrap();
    assert_eq!(context.window().len(), 1);
    context.undo_compaction().unwrap();
    assert_eq!(desk.read("contexts/default/context.jsonl"), before);
    assert_eq!(context.reader().document(Document::Summary).unwrap().as_deref(), Some("before"));
    drop(context);
    let mut context = desk.open("default");
    assert!(context.notes().is_empty(), "{:?}", context.notes());
    assert_eq!(desk.read("contexts/default/context.jsonl"), before);
    assert!(matches!(context.undo_compaction(), Err(ContextError::NothingToUndo(_))));
}

#[test]
fn what_was_said_since_a_compaction_survives_its_undoing() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    let first = desk.read("contexts/default/context.jsonl");
    context.compact(&compaction(&[], "s1")).unwrap();
    desk.exchange(&mut context, "two");
    let second = desk.read("contexts/default/context.jsonl");
    context.compact(&compaction(&[], "s2")).unwrap();
    desk.exchange(&mut context, "three");
    context.undo_compaction().unwrap();
    assert!(desk.read("contexts/default/context.jsonl").starts_with(&second));
    context.undo_compaction().unwrap();
    assert!(desk.read("contexts/default/context.jsonl").starts_with(&first));
    let said =
        ["Context created", "one", "answer to one", "two", "answer to two", "three", "answer to three"];
    assert_eq!(contents(context.window()), said);
    assert_eq!(context.reader().document(Document::Summary).unwrap(), None);
}

#[test]
fn pinned_exchanges_survive_any_number_of_compactions() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "noise");
    let pinned = desk.exchange(&mut context, "the key is under the mat");
    let loose = desk.exchange(&mut context, "for now");
    let answer = context.window().last().unwrap().id.clone();
    assert_eq!(context.pin(&pinned).unwrap(), pinned);
    assert_eq!(context.pin(&answer).unwrap(), loose);
    context.unpin(&loose).unwrap();
    let line = |desk: &Desk| {
        let window = desk.read("contexts/default/context.jsonl");
        window.lines().find(|line| line.contains("under the mat")).unwrap().to_owned()
    };
    let before = line(&desk);
    for number in 0..20 {
        desk.exchange(&mut context, &number.to_string());
        context.compact(&compaction(&[], "summary")).unwrap();
    }
    assert_eq!(line(&desk), before);
    assert_eq!(context.pins(), [pinned]);
    let messages = context.window().iter().filter(|entry| entry.kind == EntryKind::Message).count();
    assert_eq!(messages, 2);
}

#[test]
fn archiving_empties_the_window_and_keeps_the_rest() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    assert!(!context.archive().unwrap());
    desk.exchange(&mut context, "one");
    context.set_document(Document::Summary, "s").unwrap();
    context.set_document(Document::Goals, "g").unwrap();
    assert!(context.archive().unwrap());
    assert_eq!(contents(context.window()), ["Context archived/cleared"]);
    assert_eq!(context.reader().document(Document::Summary).unwrap(), None);
    assert_eq!(context.reader().document(Document::Goals).unwrap().as_deref(), Some("g"));
    assert_eq!(transcript(context.reader()).len(), 4);
    assert!(matches!(context.undo_compaction(), Err(ContextError::NothingToUndo(_))));
}

/// Every state of the disk in which a compaction can be interrupted.
#[test]
fn an_interrupted_compaction_leaves_the_old_window_or_the_new_one() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    drop(context);
    let folder = desk.file("contexts/default");
    let read = |file: &str| fs::read(folder.join(file)).unwrap();
    let (old, log) = (read("context.jsonl"), read("transcript/active.jsonl"));
    let mut context = desk.open("default");
    context.compact(&compaction(&[], "new summary")).unwrap();
    drop(context);
    let (new, longer, kept) =
        (read("context.jsonl"), read("transcript/active.jsonl"), read("compactions/1.jsonl"));
    let receipt: serde_json::Value = serde_json::from_slice(&read("compactions/1.json")).unwrap();
    assert_eq!(kept, old);
    let staged = serde_json::json!({"anchor": receipt["anchor"], "summary": "new summary", "receipts": {"push": receipt}});
    let reset = |log: &[u8]| {
        fs::remove_dir_all(folder.join("compactions")).unwrap();
        let _ = fs::remove_file(folder.join("summary.md"));
        desk.write("contexts/default/context.jsonl", &old);
        desk.write("contexts/default/transcript/active.jsonl", log);
        desk.write("contexts/default/compactions/1.jsonl", &kept);
        desk.write("contexts/default/compactions/staged.jsonl", &new);
    };
    reset(&log);
    drop(desk.open("default"));
    assert_eq!(read("context.jsonl"), old, "the window was staged, and no more");
    reset(&log);
    desk.write("contexts/default/compactions/staged.json", staged.to_string());
    drop(desk.open("default"));
    assert_eq!(read("context.jsonl"), old, "everything was staged");
    assert!(!folder.join("compactions/staged.json").exists() && !folder.join("summary.md").exists());
    reset(&longer[..longer.len() - 20]);
    desk.write("contexts/default/compactions/staged.json", staged.to_string());
    drop(desk.open("default"));
    assert_eq!(read("context.jsonl"), old, "the line in the log was torn");
    for renamed in [false, true] {
        reset(&longer);
        desk.write("contexts/default/compactions/staged.json", staged.to_string());
        if renamed {
            fs::rename(folder.join("compactions/staged.jsonl"), folder.join("context.jsonl")).unwrap();
        }
        let mut context = desk.open("default");
        assert_eq!(read("context.jsonl"), new, "the line is in the log");
        assert_eq!(context.reader().document(Document::Summary).unwrap().as_deref(), Some("new summary"));
        context.undo_compaction().unwrap();
        assert_eq!(read("context.jsonl"), old);
    }
}

/// The line is in the log, and then the disk refuses: what follows must not be written as if nothing had happened.
#[test]
fn a_compaction_that_failed_half_way_is_ended_before_anything_else_is_written() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    std::os::unix::fs::symlink("/nowhere/at/all", desk.file("contexts/default/summary.md")).unwrap();
    context.compact(&compaction(&[], "s")).unwrap_err();
    context.append(vec![desk.said("default", "two")]).unwrap_err();
    fs::remove_file(desk.file("contexts/default/summary.md")).unwrap();
    context.append(vec![desk.said("default", "three")]).unwrap();
    assert_eq!(contents(context.window()), ["Context compacted", "three"]);
    assert_eq!(desk.read("contexts/default/summary.md"), "s");
    let window = context.window().to_vec();
    drop(context);
    assert_eq!(desk.open("default").window(), window);
}

#[test]
fn a_window_that_is_lost_is_made_again_from_the_log() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 3);
    let ids = ["one", "two", "three", "four"].map(|text| desk.exchange(&mut context, text));
    context.pin(&ids[0]).unwrap();
    context.compact(&compaction(&[&ids[2]], "s")).unwrap();
    desk.exchange(&mut context, "five");
    let window = context.window().to_vec();
    drop(context);
    let path = desk.file("contexts/default/context.jsonl");
    let damages: [&dyn Fn(); 4] = [
        &|| fs::remove_file(&path).unwrap(),
        &|| desk.write("contexts/default/context.jsonl", "garbage\n"),
        &|| desk.write("contexts/default/context.jsonl", ""),
        &|| desk.write("contexts/default/.dirty", ""),
    ];
    for damage in damages {
        damage();
        let context = desk.rotating("default", 3);
        assert_eq!(context.window(), window);
        assert!(!desk.file("contexts/default/.dirty").exists());
    }
    let mut context = desk.open("default");
    context.undo_compaction().unwrap();
    let restored = context.window().to_vec();
    drop(context);
    fs::remove_file(&path).unwrap();
    assert_eq!(desk.open("default").window(), restored);
}

#[test]
fn a_window_with_a_system_prompt_is_made_again_once_and_with_it() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    context.set_document(Document::SystemPrompt, "be brief").unwrap();
    context.compact(&compaction(&[], "s")).unwrap();
    context.undo_compaction().unwrap();
    drop(context);
    for _ in 0..2 {
        let context = desk.open("default");
        assert_eq!(contents(context.window()), ["Context created", "be brief"]);
        assert!(context.notes().is_empty(), "{:?}", context.notes());
        drop(context);
        fs::remove_file(desk.file("contexts/default/context.jsonl")).unwrap();
        drop(desk.open("default"));
    }
}

#[test]
fn a_window_that_missed_the_last_entries_gets_them() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    let early = desk.read("contexts/default/context.jsonl");
    desk.exchange(&mut context, "two");
    let late = desk.read("contexts/default/context.jsonl");
    let log = desk.read("contexts/default/transcript/active.jsonl");
    drop(context);
    desk.write("contexts/default/context.jsonl", &early);
    drop(desk.open("default"));
    assert_eq!(desk.read("contexts/default/context.jsonl"), late);
    // A power loss may take the end of the log and leave the window.
    desk.write("contexts/default/transcript/active.jsonl", &log[..log.find("\"two\"").unwrap() - 20]);
    let context = desk.open("default");
    assert!(context.notes().iter().any(|note| note.contains("2 entries")), "{:?}", context.notes());
    assert_eq!(desk.read("contexts/default/transcript/active.jsonl"), log);
}

/// What is done to a context, by a number.
fn act(desk: &Desk, context: &mut chibi::context::Context, number: u8, undoable: &mut Vec<Vec<u8>>) {
    let file = desk.file("contexts/default/context.jsonl");
    let window = || fs::read(&file).unwrap();
    match number % 8 {
        0 => {
            let prompts =
                context.window().iter().filter(|entry| entry.is_prompt()).map(|entry| entry.id.clone());
            let keep = prompts.skip(usize::from(number / 8) % 4).collect();
            undoable.push(window());
            context.compact(&Compaction { keep, summary: number.to_string() }).unwrap();
        }
        1 => match undoable.pop() {
            Some(before) => {
                context.undo_compaction().unwrap();
                assert!(window().starts_with(&before), "the window is not what it was");
            }
            None => assert!(context.undo_compaction().is_err()),
        },
        2 => {
            if context.archive().unwrap() {
                undoable.clear();
            }
        }
        3 => {
            let ids: Vec<_> = context.window().iter().map(|entry| entry.id.clone()).collect();
            let _ = context.pin(&ids[usize::from(number / 8) % ids.len()]);
        }
        4 => {
            context.set_document(Document::SystemPrompt, &"x".repeat(usize::from(number / 8))).unwrap();
            // The window was written anew: what is restored is the same by its entries.
            undoable.iter_mut().for_each(Vec::clear);
        }
        _ => drop(desk.exchange(context, &number.to_string())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crash::points(16) as u32))]
    #[test]
    fn whatever_is_done_to_a_window_is_what_the_log_tells(acts in proptest::collection::vec(any::<u8>(), 0..24), rotate in 1_u64..9) {
        let desk = Desk::new();
        let mut context = desk.rotating("default", rotate);
        let mut undoable = Vec::new();
        for number in acts {
            act(&desk, &mut context, number, &mut undoable);
            if number % 5 == 0 {
                let window = context.window().to_vec();
                drop(context);
                context = desk.rotating("default", rotate);
                prop_assert_eq!(context.window(), window);
            }
            prop_assert!(context.notes().is_empty(), "{:?}", context.notes());
        }
        let window = context.window().to_vec();
        let log = transcript(context.reader());
        prop_assert_eq!(log.iter().map(|entry| &entry.id).collect::<HashSet<_>>().len(), log.len());
        drop(context);
        fs::remove_file(desk.file("contexts/default/context.jsonl")).unwrap();
        let again = desk.open("default");
        let logged = |entries: &[Entry]| -> Vec<Entry> {
            entries.iter().filter(|entry| entry.kind != EntryKind::SystemPrompt).cloned().collect()
        };
        prop_assert_eq!(logged(again.window()), logged(&window));
    }
}
