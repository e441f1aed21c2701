//! Conversations that go elsewhere or come from there: forks, exports, imports, the archive for people, and the records of
//! a turn.

use chibi::context::{Compaction, ContextError, Document, EntryId, EntryKind, Speaker, import};
use conversation::{Ending, ExchangeId, History, Record, Returned};
use llm::{Block, CallId, Outcome, ToolResult, Usage};
use serde_json::{Value, json};

use crate::desk::{Desk, contents, name, transcript};

#[test]
fn a_fork_goes_on_from_an_entry_and_leaves_the_other_as_it_is() {
    let desk = Desk::new();
    let mut context = desk.rotating("main", 3);
    let ids = ["one", "two", "three"].map(|text| desk.exchange(&mut context, text));
    context.set_document(Document::Goals, "win").unwrap();
    context.set_local(&["username"], "ada").unwrap();
    let keep = vec![ids[2].clone()];
    context.compact(&Compaction { keep, summary: "s".to_owned() }).unwrap();
    desk.exchange(&mut context, "four");
    let log = transcript(context.reader());
    desk.chibi.fork(context.reader(), &ids[1], &name("early")).unwrap();
    let last = context.window().last().unwrap().id.clone();
    desk.chibi.fork(context.reader(), &last, &name("late")).unwrap();
    assert_eq!(transcript(context.reader()), log);
    let mut early = desk.open("early");
    assert!(early.notes().is_empty(), "{:?}", early.notes());
    assert_eq!(contents(early.window()), ["Context created", "one", "answer to one", "two"]);
    assert_eq!(early.reader().document(Document::Goals).unwrap().as_deref(), Some("win"));
    assert_eq!(desk.read("contexts/early/local.toml"), "username = \"ada\"\n");
    let origin: Value = early.window()[0].metadata.get("forked").unwrap();
    assert_eq!(origin, json!({"context": "main", "entry": ids[1]}));
    desk.exchange(&mut early, "other");
    let late = desk.open("late");
    assert_eq!(
        contents(late.window()),
        ["Context compacted", "three", "answer to three", "four", "answer to four"]
    );
    assert_eq!(late.reader().document(Document::Summary).unwrap().as_deref(), Some("s"));
    let nowhere = desk.chibi.fork(context.reader(), &EntryId("x".into()), &name("y"));
    assert!(matches!(nowhere, Err(ContextError::NoEntry { .. })));
    assert!(matches!(
        desk.chibi.fork(context.reader(), &ids[0], &name("late")),
        Err(ContextError::Exists(_))
    ));
}

#[test]
fn a_fork_finds_its_entry_whatever_the_clock_did() {
    let desk = Desk::new();
    let mut context = desk.rotating("main", 4);
    let mut ids = Vec::new();
    for seconds in [0, 50, 100, 20, 70, 10, 120] {
        desk.clock.set(1_767_225_600_000 + seconds * 1000);
        ids.push((seconds, desk.exchange(&mut context, &seconds.to_string())));
    }
    for (number, (seconds, id)) in ids.iter().enumerate() {
        let fork = name(&format!("fork-{number}"));
        desk.chibi.fork(context.reader(), id, &fork).unwrap();
        let window = desk.reader(fork.as_str()).window().unwrap();
        assert_eq!(
            (window.len(), window.last().unwrap().content.clone()),
            (2 + 2 * number, seconds.to_string())
        );
    }
}

#[test]
fn the_archive_for_people_grows_with_each_turn() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    desk.exchange(&mut context, "one");
    context.end_turn().unwrap();
    context.end_turn().unwrap();
    desk.exchange(&mut context, "died before the end");
    drop(context);
    let mut context = desk.open("default");
    desk.exchange(&mut context, "two");
    context.end_turn().unwrap();
    assert_eq!(
        desk.read("contexts/default/transcript.md"),
        "[USER]: one\n\n[ASSISTANT]: answer to one\n\n[USER]: died before the end\n\n[ASSISTANT]: answer to died before the end\n\n[USER]: two\n\n[ASSISTANT]: answer to two\n\n"
    );
}

#[test]
fn an_archive_whose_mark_cannot_be_written_has_nothing_twice() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    let mark = desk.file("contexts/default/.transcript.md.last");
    desk.exchange(&mut context, "one");
    context.end_turn().unwrap();
    let kept = std::fs::read(&mark).unwrap();
    std::fs::remove_file(&mark).unwrap();
    std::fs::create_dir(&mark).unwrap();
    desk.exchange(&mut context, "two");
    context.end_turn().unwrap_err();
    std::fs::remove_dir(&mark).unwrap();
    std::fs::write(&mark, kept).unwrap();
    desk.exchange(&mut context, "three");
    context.end_turn().unwrap();
    let archive = desk.read("contexts/default/transcript.md");
    for text in ["one", "two", "three"] {
        assert_eq!(archive.matches(&format!("[USER]: {text}\n")).count(), 1, "{archive}");
    }
}

#[test]
fn an_export_has_every_entry_in_a_form_that_others_read() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    desk.exchange(&mut context, "one");
    let call = chibi::context::Entry::new(
        desk.chibi.fresh_id(),
        1,
        EntryKind::ToolResult,
        "sh",
        "default",
        "a\n```\nb",
    );
    context.append(vec![call]).unwrap();
    let mut out = Vec::new();
    context.reader().export_json(&mut out).unwrap();
    let whole: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(whole["context"], "default");
    let contents: Vec<&str> =
        whole["entries"].as_array().unwrap().iter().map(|entry| entry["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["Context created", "one", "answer to one", "a\n```\nb"]);
    let mut out = Vec::new();
    context.reader().export_markdown(&mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "# default\n\n## ada\n\none\n\n## default (assistant)\n\nanswer to one\n\n`sh` answered\n\n````\na\n```\nb\n````\n"
    );
}

const CLAUDE: &str = include_str!("../corpus/sessions/claude.jsonl");

#[test]
fn a_session_of_claude_code_becomes_a_context() {
    let desk = Desk::new();
    let session = import::read(&desk.home.write("s.jsonl", CLAUDE)).unwrap();
    assert_eq!((session.source, session.skipped), (import::Source::ClaudeCode, 1));
    assert_eq!(session.project.as_deref(), Some("/home/ada/project"));
    desk.chibi.import(&session, &name("imported")).unwrap();
    let context = desk.open("imported");
    assert!(context.notes().is_empty(), "{:?}", context.notes());
    assert_eq!(
        contents(context.window()),
        ["Context compacted", "list files", "{\"command\":\"ls\"}", "a.txt", "One file."]
    );
    assert_eq!(context.window()[3].from, "Bash");
    assert_eq!(context.window()[1].timestamp, 1_767_225_720);
    let blocks: Value = context.window()[2].metadata.get("blocks").unwrap();
    assert_eq!(blocks[0]["block"]["signature"], "sig==");
    assert_eq!(contents(&transcript(context.reader()))[1], "forget me");
    assert_eq!(context.reader().document(Document::Summary).unwrap().as_deref(), Some("They greeted."));
    assert_eq!(context.reader().meta().unwrap().unwrap().other["project"], "/home/ada/project");
    let loaded = context.history();
    assert!(loaded.repairs.is_empty(), "{:?}", loaded.repairs);
    assert_eq!(loaded.history.exchanges()[0].answer().as_deref(), Some("One file."));
}

const CODEX: &str = include_str!("../corpus/sessions/codex.jsonl");

#[test]
fn a_session_of_codex_becomes_a_context() {
    let desk = Desk::new();
    let session = import::read(&desk.home.write("rollout.jsonl", CODEX)).unwrap();
    assert_eq!(
        (session.source, session.id.as_deref(), session.skipped),
        (import::Source::Codex, Some("c-1"), 0)
    );
    desk.chibi.import(&session, &name("imported")).unwrap();
    let context = desk.open("imported");
    assert_eq!(
        contents(context.window()),
        ["Context created", "run tests", "Running.", "{\"command\":[\"make\"]}", "2 failed", "Two fail."]
    );
    let loaded = context.history();
    assert!(loaded.repairs.is_empty(), "{:?}", loaded.repairs);
    assert_eq!(context.window()[4].metadata.get::<Outcome>("outcome"), Some(Outcome::Failed));
}

#[test]
fn what_is_no_session_makes_no_context() {
    let desk = Desk::new();
    for text in [
        "",
        "{}",
        "hello\n",
        "{\"type\":\"user\",\"message\":{}}\n",
        "{\"type\":\"session_meta\",\"payload\":{}}",
    ] {
        let path = desk.home.write("x.jsonl", text);
        assert!(matches!(import::read(&path), Err(ContextError::Session { .. })), "{text}");
    }
}

/// A turn with a call, blocks of a provider and all else that can happen.
fn turn() -> Vec<Record> {
    let id = |text: &str| ExchangeId(text.to_owned());
    let raw = serde_json::value::RawValue::from_string(
        r#"{"type":"thinking","thinking":"…",  "signature":"s+/="}"#.to_owned(),
    );
    let call = Block::call(CallId("toolu_1".into()), "sh", json!({"b": 1, "a": 2}).as_object().unwrap());
    let result =
        ToolResult { id: CallId("toolu_1".into()), content: "done".into(), outcome: Outcome::Failed };
    vec![
        Record::Prompt { id: id("p1"), text: "hi".into() },
        Record::Usage(Usage { input: 3, ..Usage::default() }),
        Record::Reply {
            blocks: vec![
                Block::from_raw(llm::Wire::Anthropic, raw.unwrap()),
                Block::text("let me see"),
                call,
            ],
            ending: Ending::Complete,
        },
        Record::Result(Returned { result, rests_on: vec![] }),
        Record::Reply { blocks: vec![Block::text("it failed")], ending: Ending::Complete },
        Record::Note { text: "go on".into() },
        Record::Reply { blocks: vec![Block::text("fine")], ending: Ending::Complete },
        Record::Prompt { id: id("p2"), text: "lost".into() },
        Record::Dropped { reason: "no answer".into() },
        Record::Prompt { id: id("p3"), text: "again".into() },
        Record::Reply { blocks: vec![Block::text("yes")], ending: Ending::Complete },
        Record::Pinned { id: id("p1") },
    ]
}

#[test]
fn a_history_survives_being_kept_as_entries() {
    for context_name in ["default", "user"] {
        let desk = Desk::new();
        let mut context = desk.open(context_name);
        for record in turn() {
            context.record(&record, "user", "model").unwrap();
        }
        drop(context);
        let context = desk.open(context_name);
        let kept = context.history();
        let expected = History::load(turn());
        assert_eq!(kept.history, expected.history);
        assert_eq!(kept.repairs, expected.repairs);
        let spent = chibi::context::usage::all(&desk.chibi).unwrap();
        assert_eq!((spent.len(), spent[0].usage.input, spent[0].model.as_str()), (1, 3, "model"));
        let said: Vec<(&EntryKind, &str, &str)> = context.window()[1..5]
            .iter()
            .map(|entry| (&entry.kind, entry.to.as_str(), entry.content.as_str()))
            .collect();
        let expected = [
            (&EntryKind::Message, context_name, "hi"),
            (&EntryKind::Message, "user", "let me see"),
            (&EntryKind::ToolCall, "sh", "{\"a\":2,\"b\":1}"),
            (&EntryKind::ToolResult, context_name, "done"),
        ];
        assert_eq!(said, expected);
        assert_eq!(context.window()[4].from, "sh");
        assert_eq!(context.window()[1].speaker(), Speaker::User);
        assert!(
            desk.read(&format!("contexts/{context_name}/context.jsonl"))
                .contains(r#""thinking":"…",  "signature":"s+/=""#)
        );
    }
}

#[test]
fn a_compacted_history_is_the_same_on_disk_and_in_memory() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    for record in turn() {
        context.record(&record, "ada", "m").unwrap();
    }
    let mut history = context.history().history;
    let before = history.clone();
    let chosen = vec![ExchangeId("p3".into())];
    let staged = conversation::compact::stage(&history, chosen, "s").unwrap();
    let (cut, record) = history.compact(staged).unwrap();
    context.record(&record, "ada", "m").unwrap();
    assert_eq!(context.history().history, history);
    assert!(!contents(context.window()).contains(&"lost"));
    let record = history.restore(cut).unwrap();
    context.record(&record, "ada", "m").unwrap();
    assert_eq!(context.history().history, before);
}

#[test]
fn calls_of_the_original_are_replayed_by_their_order() {
    let desk = Desk::new();
    let entry = |kind, from: &str, to: &str, content: &str| {
        chibi::context::Entry::new(desk.chibi.fresh_id(), 1, kind, from, to, content)
    };
    let mut context = desk.open("default");
    let entries = vec![
        entry(EntryKind::Message, "ada", "default", "hi"),
        entry(EntryKind::ToolCall, "default", "sh", "{\"x\":1}"),
        entry(EntryKind::ToolResult, "sh", "default", "1"),
        entry(EntryKind::ToolCall, "default", "sh", "broken"),
        entry(EntryKind::ToolResult, "sh", "default", "2"),
        entry(EntryKind::Message, "default", "user", "done"),
    ];
    context.append(entries).unwrap();
    let loaded = context.history();
    assert!(loaded.repairs.is_empty(), "{:?}", loaded.repairs);
    assert_eq!(loaded.history.exchanges()[0].steps().len(), 3);
}
