//! Contexts as a whole, their documents and their messages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use chibi::context::{ContextError, Document, EntryKind, Reader, State, Status, Wait, inbox, usage};
use llm::{Cost, Usage};

use crate::desk::{Desk, contents, name, transcript};

#[test]
fn a_context_is_made_whole_private_and_registered() {
    let desk = Desk::new();
    drop(desk.open("work"));
    assert_eq!(State::load(&desk.chibi).unwrap().0.contexts, [name("work")]);
    let mode = |path: &str| fs::metadata(desk.file(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for file in ["context.jsonl", "context_meta.json", "transcript/active.jsonl"] {
        assert_eq!(mode(&format!("contexts/work/{file}")), 0o600, "{file}");
    }
    let listed = desk.chibi.list().unwrap();
    assert_eq!((listed[0].name.as_str(), listed[0].status, listed.len()), ("work", Status::Free, 1));
}

#[test]
fn a_message_to_nobody_yet_makes_a_proper_context() {
    let desk = Desk::new();
    inbox::send(&desk.chibi, &name("new-one"), "ada", "hello").unwrap();
    assert_eq!(State::load(&desk.chibi).unwrap().0.contexts, [name("new-one")]);
    let reader = desk.reader("new-one");
    assert_eq!(transcript(&reader)[0].kind, EntryKind::ContextCreated);
    assert!(reader.meta().unwrap().is_some());
    assert_eq!(desk.open("new-one").drain().unwrap()[0].content, "hello");
}

#[test]
fn messages_wait_until_a_prompt_has_them_and_come_once() {
    let desk = Desk::new();
    for text in ["one", "two"] {
        inbox::send(&desk.chibi, &name("default"), "ada", text).unwrap();
    }
    let mut context = desk.open("default");
    assert_eq!(context.drain().unwrap().len(), 2);
    drop(context);
    inbox::send(&desk.chibi, &name("default"), "ada", "three").unwrap();
    let mut context = desk.open("default");
    let waiting = context.drain().unwrap();
    assert_eq!(
        waiting.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(),
        ["one", "two", "three"]
    );
    let kept = fs::read(desk.file("contexts/default/inbox.taken.jsonl")).unwrap();
    let ids: Vec<_> = waiting.iter().map(|message| &message.id).collect();
    context.append(vec![desk.said("default", "with inbox").with("inbox", &ids)]).unwrap();
    assert_eq!(context.drain().unwrap(), []);
    drop(context);
    // Died after the prompt was written and before the messages were forgotten.
    desk.write("contexts/default/inbox.taken.jsonl", kept);
    assert_eq!(desk.open("default").drain().unwrap(), []);
    assert!(!desk.file("contexts/default/inbox.taken.jsonl").exists());
}

#[test]
fn a_torn_message_takes_no_other_with_it() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    inbox::send(&desk.chibi, &name("default"), "ada", "one").unwrap();
    let torn = desk.read("contexts/default/inbox.jsonl") + "{\"id\":\"x\",\"times";
    desk.write("contexts/default/inbox.jsonl", torn);
    assert_eq!(context.drain().unwrap().len(), 1);
    inbox::send(&desk.chibi, &name("default"), "ada", "two").unwrap();
    assert_eq!(context.drain().unwrap().len(), 2);
}

#[test]
fn many_senders_at_once_lose_nothing() {
    let desk = Desk::new();
    std::thread::scope(|scope| {
        for sender in 0..4 {
            let chibi = &desk.chibi;
            scope.spawn(move || {
                for number in 0..10 {
                    inbox::send(chibi, &name("default"), &sender.to_string(), &number.to_string()).unwrap();
                }
            });
        }
    });
    assert_eq!(desk.open("default").drain().unwrap().len(), 40);
}

#[test]
fn a_renamed_context_keeps_everything_and_its_costs() {
    let desk = Desk::new();
    let mut context = desk.open("old");
    desk.exchange(&mut context, "one");
    drop(context);
    State::update(&desk.chibi, |state| state.switch(&name("old"))).unwrap();
    State::update(&desk.chibi, |state| state.switch(&name("other"))).unwrap();
    let spent = Usage { input: 5, cost: Some(Cost { nanodollars: 7 }), ..Usage::default() };
    usage::record(&desk.chibi, &name("old"), "m", &spent).unwrap();
    desk.chibi.rename(&name("old"), &name("new"), Wait::No).unwrap();
    let state = State::load(&desk.chibi).unwrap().0;
    assert_eq!(state.previous_context, Some(name("new")));
    assert!(!state.contexts.contains(&name("old")));
    assert_eq!(contents(desk.open("new").window()).len(), 3);
    assert_eq!(usage::all(&desk.chibi).unwrap()[0].context, name("new"));
    assert_eq!(desk.reader("new").status().unwrap(), Status::Free);
    drop(desk.open("third"));
    let taken = desk.chibi.rename(&name("new"), &name("third"), Wait::No);
    assert!(matches!(taken, Err(ContextError::Exists(_))));
    assert!(matches!(desk.chibi.rename(&name("gone"), &name("x"), Wait::No), Err(ContextError::Missing(_))));
}

#[test]
fn a_context_in_use_is_neither_renamed_nor_destroyed() {
    let desk = Desk::new();
    let _held = desk.open("busy");
    assert!(matches!(desk.chibi.destroy(&name("busy"), Wait::No), Err(ContextError::Locked { .. })));
    assert!(matches!(
        desk.chibi.rename(&name("busy"), &name("x"), Wait::No),
        Err(ContextError::Locked { .. })
    ));
    assert_eq!(desk.chibi.list().unwrap()[0].status, Status::Active);
}

#[test]
fn destroying_takes_the_folder_and_nothing_that_it_links_to() {
    let desk = Desk::new();
    let victim = desk.home.write("victim/file", "precious");
    fs::create_dir_all(desk.file("contexts")).unwrap();
    drop(desk.open("a"));
    std::os::unix::fs::symlink(victim.parent().unwrap(), desk.file("contexts/a/link")).unwrap();
    desk.chibi.destroy(&name("a"), Wait::No).unwrap();
    assert!(victim.exists());
    assert_eq!(fs::read_dir(desk.file("contexts")).unwrap().count(), 0);
    assert!(matches!(Reader::open(&desk.chibi, &name("a")), Err(ContextError::Missing(_))));
    std::os::unix::fs::symlink(victim.parent().unwrap(), desk.file("contexts/linked")).unwrap();
    desk.chibi.destroy(&name("linked"), Wait::No).unwrap();
    assert!(victim.exists());
}

#[test]
fn whoever_waits_for_a_destroyed_context_gets_a_new_one() {
    let desk = Desk::new();
    let mut context = desk.open("a");
    desk.exchange(&mut context, "one");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let context =
                chibi::context::Context::open(&desk.chibi, &name("a"), Wait::Until(Duration::from_secs(20)));
            context.map(|context| context.window().len())
        });
        context.destroy().unwrap();
        let length = waiting.join().unwrap().unwrap();
        assert!(length == 1 || length == 3, "{length}");
    });
}

#[test]
fn what_was_left_half_made_or_half_destroyed_is_swept_away() {
    let desk = Desk::new();
    desk.write("contexts/.new-1/context.jsonl", "");
    desk.write("contexts/.gone-2/context.jsonl", "");
    drop(desk.open("a"));
    assert_eq!(desk.chibi.list().unwrap().len(), 1);
    assert_eq!(fs::read_dir(desk.file("contexts")).unwrap().count(), 1);
}

#[test]
fn documents_are_replaced_whole_and_an_empty_one_is_none() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    for document in [Document::Todos, Document::Goals, Document::Summary, Document::SystemPrompt] {
        context.set_document(document, "text").unwrap();
        assert_eq!(context.reader().document(document).unwrap().as_deref(), Some("text"));
        context.set_document(document, "").unwrap();
        assert_eq!(context.reader().document(document).unwrap(), None);
    }
}

#[test]
fn a_new_system_prompt_is_in_window_and_log_with_its_hash() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    desk.exchange(&mut context, "one");
    context.set_document(Document::SystemPrompt, "be brief").unwrap();
    context.set_document(Document::SystemPrompt, "be long").unwrap();
    let window = context.window().to_vec();
    assert_eq!(contents(&window), ["Context created", "be long", "one", "answer to one"]);
    let hash = window[1].metadata.get::<String>("hash").unwrap();
    let log = transcript(context.reader());
    let changed = log.last().unwrap();
    assert_eq!(changed.kind, EntryKind::SystemPromptChanged);
    assert_eq!(changed.metadata.get::<String>("hash"), Some(hash));
    assert_eq!(window[1].metadata.get::<String>("transcript_anchor_id"), Some(changed.id.0.clone()));
    drop(context);
    let context = desk.open("default");
    assert_eq!((context.window(), context.notes().len()), (window.as_slice(), 0));
}

#[test]
fn comments_and_unknown_keys_in_local_toml_survive_our_edits() {
    let desk = Desk::new();
    let mut context = desk.open("default");
    context.set_local(&["username"], "ada").unwrap();
    assert_eq!(desk.read("contexts/default/local.toml"), "username = \"ada\"\n");
    desk.write(
        "contexts/default/local.toml",
        "# mine\nusername = \"ada\" # me\nodd   = 1\n\n[storage] # s\npartition_max_entries = 5\n",
    );
    context.set_local(&["username"], "bob").unwrap();
    context.set_local(&["storage", "enable_bloom_filters"], false).unwrap();
    context.set_local(&["api", "reasoning", "effort"], "low").unwrap();
    assert_eq!(
        desk.read("contexts/default/local.toml"),
        "# mine\nusername = \"bob\" # me\nodd   = 1\n\n[storage] # s\npartition_max_entries = 5\nenable_bloom_filters = false\n\n[api]\n\n[api.reasoning]\neffort = \"low\"\n"
    );
    context.unset_local(&["username"]).unwrap();
    assert!(!desk.read("contexts/default/local.toml").contains("username"));
    desk.write("contexts/default/local.toml", "broken = ");
    let error = context.set_local(&["username"], "eve").unwrap_err();
    assert!(matches!(error, ContextError::Toml { .. }), "{error}");
    assert_eq!(desk.read("contexts/default/local.toml"), "broken = ");
}

#[test]
fn costs_are_counted_by_context_and_day() {
    let desk = Desk::new();
    let spent = |input, cost| Usage { input, cost, ..Usage::default() };
    let day = Duration::from_secs(86_400);
    usage::record(&desk.chibi, &name("a"), "m", &spent(1, Some(Cost { nanodollars: 10 }))).unwrap_err();
    drop(desk.open("a"));
    usage::record(&desk.chibi, &name("a"), "m", &spent(1, Some(Cost { nanodollars: 10 }))).unwrap();
    desk.clock.advance(day);
    usage::record(&desk.chibi, &name("a"), "m", &spent(2, None)).unwrap();
    usage::record(&desk.chibi, &name("b"), "n", &spent(4, Some(Cost { nanodollars: 5 }))).unwrap();
    let all = usage::all(&desk.chibi).unwrap();
    let by_context = usage::totals(&all, |spending| spending.context.to_string());
    let a = by_context["a"];
    assert_eq!(
        (a.replies, a.usage.input, a.usage.cost, a.unpriced),
        (2, 3, Some(Cost { nanodollars: 10 }), 1)
    );
    let by_day = usage::totals(&all, |spending| spending.timestamp / 86_400);
    assert_eq!(by_day.values().map(|total| total.usage.input).collect::<Vec<_>>(), [1, 6]);
}

#[test]
fn a_file_or_a_dangling_link_in_a_context_s_place_is_an_error_and_not_a_hang() {
    let desk = Desk::new();
    desk.write("contexts/file", "x");
    std::os::unix::fs::symlink("/nowhere/at/all", desk.file("contexts/link")).unwrap();
    for odd in ["file", "link"] {
        assert!(chibi::context::Context::open(&desk.chibi, &name(odd), Wait::No).is_err());
        assert!(Reader::open(&desk.chibi, &name(odd)).is_err());
    }
    assert_eq!(desk.read("contexts/file"), "x");
}

#[test]
fn documents_that_are_no_text_are_shown_as_far_as_they_are() {
    let desk = Desk::new();
    drop(desk.open("default"));
    desk.write("contexts/default/goals.md", b"g\xffoals");
    assert_eq!(desk.reader("default").document(Document::Goals).unwrap().unwrap(), "g\u{fffd}oals");
    desk.write("contexts/default/context_meta.json", b"\xff");
    assert_eq!(desk.reader("default").meta().unwrap(), None);
    assert!(desk.open("default").reader().meta().unwrap().is_some());
}

#[test]
fn an_unreadable_home_is_an_error_that_names_the_place() {
    let desk = Desk::new();
    drop(desk.open("default"));
    fs::remove_file(desk.file("contexts/default/transcript/active.jsonl")).unwrap();
    fs::create_dir(desk.file("contexts/default/transcript/active.jsonl")).unwrap();
    let error = chibi::context::Context::open(&desk.chibi, &name("default"), Wait::No).unwrap_err();
    assert!(error.to_string().contains("active.jsonl"), "{error}");
}
