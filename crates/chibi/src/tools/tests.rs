//! The built-in tools against a desk that remembers.

use std::collections::BTreeSet;

use conversation::tools::Registry;
use llm::Outcome;
use serde_json::json;

use super::*;
use crate::hooks::{Answer, Blocked, Hook, Role};

#[derive(Default)]
struct Memory {
    written: Vec<(Document, String)>,
    delivered: Vec<(String, String, String)>,
    hits: Vec<Hit>,
    events: Vec<(Hook, Value)>,
    /// What plugins answer before a message is sent.
    answer: Value,
    blocked: Option<Blocked>,
}

impl Desk for Memory {
    fn context(&self) -> String {
        "here".to_owned()
    }

    fn write(&mut self, document: Document, text: &str) -> Result<(), Refused> {
        self.written.push((document, text.to_owned()));
        Ok(())
    }

    fn deliver(&mut self, letter: &Letter<'_>) -> Result<(), Refused> {
        self.delivered.push((letter.from.to_owned(), letter.to.to_string(), letter.content.to_owned()));
        Ok(())
    }

    fn search(&mut self, _query: &str, most: usize) -> Result<Vec<Hit>, Refused> {
        Ok(self.hits.iter().take(most).cloned().collect())
    }

    fn fire(&mut self, event: &Event<'_>) -> Fired {
        self.events.push((event.hook(), serde_json::from_str(&event.json()).unwrap()));
        let mut fired = Fired::silent(event.hook());
        if event.hook() == Hook::PreSendMessage {
            let plugin = "post".to_owned();
            fired.answers.push(Answer { plugin, role: Role::Helper, value: self.answer.clone() });
            fired.blocked = self.blocked.clone();
        }
        fired
    }
}

fn run(desk: &mut Memory, name: &str, arguments: Value) -> Output {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    BuiltIn::named(name).unwrap().run(&arguments, Reflection::UpTo { characters: 5 }, desk)
}

fn done(desk: &mut Memory, name: &str, arguments: Value) -> String {
    let output = run(desk, name, arguments);
    assert_eq!(output.outcome, Outcome::Done, "{}", output.content);
    output.content
}

fn refused(desk: &mut Memory, name: &str, arguments: Value) -> String {
    let output = run(desk, name, arguments);
    assert_eq!(output.outcome, Outcome::Failed, "{}", output.content);
    output.content
}

#[test]
fn all_tools_can_be_declared_together_and_the_memory_only_if_it_is_on() {
    let registry =
        Registry::new(specs(Reflection::UpTo { characters: 1 }).into_iter().map(|spec| (spec, ())));
    assert_eq!(registry.unwrap().specs().tools().len(), BuiltIn::ALL.len());
    let without: BTreeSet<String> = specs(Reflection::Off).into_iter().map(|spec| spec.name).collect();
    assert!(without.len() == BuiltIn::ALL.len() - 1 && !without.contains("update_reflection"));
}

#[test]
fn a_document_is_replaced_as_a_whole() {
    let mut desk = Memory::default();
    assert_eq!(done(&mut desk, "update_todos", json!({"content": "äö"})), "Todos replaced: 2 characters.");
    assert_eq!(done(&mut desk, "update_goals", json!({"content": ""})), "Goals replaced: 0 characters.");
    assert_eq!(desk.written, [(Document::Todos, "äö".to_owned()), (Document::Goals, String::new())]);
}

#[test]
fn a_call_without_content_says_what_is_missing() {
    let mut desk = Memory::default();
    for name in ["update_todos", "update_goals", "update_reflection"] {
        assert_eq!(refused(&mut desk, name, json!({})), "`content` is missing");
        assert_eq!(refused(&mut desk, name, json!({"content": 3})), "`content` must be a string");
    }
    assert_eq!(desk.written, []);
}

#[test]
fn a_memory_that_is_too_long_or_switched_off_is_not_kept() {
    let mut desk = Memory::default();
    assert_eq!(
        done(&mut desk, "update_reflection", json!({"content": "äöüßé"})),
        "Memory replaced: 5 characters."
    );
    let told = refused(&mut desk, "update_reflection", json!({"content": "123456"}));
    assert_eq!(told, "not kept: it has 6 characters and may have 5; the memory is as it was");
    let content = Map::from_iter([("content".to_owned(), json!("x"))]);
    let off = BuiltIn::UpdateReflection.run(&content, Reflection::Off, &mut desk);
    assert_eq!(off.content, "the memory is switched off (`reflection_enabled`)");
    assert_eq!(desk.written.len(), 1);
}

#[test]
fn a_message_goes_to_the_inbox_with_both_hooks_around_it() {
    let mut desk = Memory::default();
    let told = done(&mut desk, "send_message", json!({"to": "there", "content": "hi", "from": "boss"}));
    assert_eq!(told, "Put into the inbox of `there`.");
    assert_eq!(desk.delivered, [("boss".to_owned(), "there".to_owned(), "hi".to_owned())]);
    let said = json!({"from": "boss", "to": "there", "content": "hi", "context_name": "here"});
    let mut after = said.clone();
    after["delivery_result"] = json!(told);
    assert_eq!(desk.events, [(Hook::PreSendMessage, said), (Hook::PostSendMessage, after)]);
    done(&mut desk, "send_message", json!({"to": "there", "content": "hi", "from": " "}));
    assert_eq!(desk.delivered[1].0, "here", "without a sender it comes from here");
}

#[test]
fn a_plugin_that_delivers_wins_over_the_inbox_whatever_the_address() {
    let mut desk = Memory { answer: json!({"delivered": true, "via": "xmpp"}), ..Memory::default() };
    let told = done(&mut desk, "send_message", json!({"to": "xmpp:bob@x.org", "content": "hi"}));
    assert_eq!(told, "Delivered to `xmpp:bob@x.org` via xmpp.");
    assert_eq!(desk.delivered, []);
    assert_eq!(desk.events[1].1["delivery_result"], told);
}

#[test]
fn a_recipient_that_is_no_context_is_refused_and_told_to_plugins() {
    for to in ["../../../escaped", "xmpp:bob@x.org", "/etc", "a/b", "", ".", "a\0", &"x".repeat(300)] {
        let mut desk = Memory::default();
        let told = refused(&mut desk, "send_message", json!({"to": to, "content": "hi"}));
        assert!(told.starts_with("not sent: ") && told.ends_with("; and no plugin delivers to it"), "{told}");
        assert_eq!(desk.delivered, []);
        assert_eq!(desk.events[1].1["delivery_result"], told);
    }
}

#[test]
fn a_guard_that_cannot_answer_keeps_a_message_back() {
    let blocked = Blocked { plugin: "g".to_owned(), message: "no guard".to_owned() };
    let mut desk = Memory { blocked: Some(blocked), answer: json!({"delivered": true}), ..Memory::default() };
    assert_eq!(refused(&mut desk, "send_message", json!({"to": "there", "content": "hi"})), "no guard");
    assert_eq!(desk.delivered, []);
}

#[test]
fn what_was_found_is_shown_newest_first_and_cut() {
    let hit = |id: &str, content: &str| Hit {
        id: id.to_owned(),
        when: "2026-01-02 03:04".to_owned(),
        from: "alice".to_owned(),
        content: content.to_owned(),
    };
    let mut desk = Memory { hits: vec![hit("2", "two"), hit("1", &"x".repeat(3000))], ..Memory::default() };
    let told = done(&mut desk, "search_transcript", json!({"query": "two"}));
    assert!(told.starts_with("[2026-01-02 03:04, alice, id 2]\ntwo\n\n[2026-01-02 03:04, alice, id 1]\nxxx"));
    assert!(told.contains("2,000 bytes left out") && told.len() < 1500);
    assert_eq!(done(&mut Memory::default(), "search_transcript", json!({"query": "two"})), "Nothing found.");
    assert_eq!(refused(&mut desk, "search_transcript", json!({"query": "!?"})), "`query` has no word in it");
}
