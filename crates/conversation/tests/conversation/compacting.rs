//! A summary in the place of exchanges: staged, checked, done at once, undone bit for bit.

use conversation::compact::{self, Unusable};
use conversation::{History, Refused};
use llm::{Block, CallId, Done, Reply, Stop, StopKind};
use serde_json::Map;
use testkit::Random;

use crate::{assert_valid, id, making};

fn talked(count: usize) -> History {
    let mut history = History::new("");
    for number in 1..=count {
        history.prompt(id(number), &format!("question {number} {}", "?".repeat(100))).unwrap();
        let call = Block::call(CallId(format!("c{number}")), "read", &Map::new());
        let reply = history.admit(vec![Block::text("I look."), call]);
        let results = making::results(&mut Random::new(number as u64), &reply);
        history.round(reply, results).unwrap();
        history.say(history.admit(vec![Block::text(&format!("answer {number}"))])).unwrap();
    }
    history
}

#[test]
fn a_compaction_happens_at_once_and_is_undone_bit_for_bit() {
    let mut history = talked(6);
    history.pin(&id(2)).unwrap();
    history.prompt(id(7), "now").unwrap();
    let before = serde_json::to_string(&history.records()).unwrap();
    let archived = compact::oldest(&history, 50.0);
    assert_eq!(archived, [1, 3, 4, 5].map(id), "the pinned one stays, and the open one");
    let staged = compact::stage(&history, archived, " six questions \n").unwrap();
    assert_eq!(serde_json::to_string(&history.records()).unwrap(), before, "staging changes nothing");
    let (first, _) = history.compact(staged).unwrap();
    assert_valid(&history);
    assert_eq!(history.summary(), "six questions");
    let left: Vec<_> = history.exchanges().iter().map(|exchange| exchange.id().0.as_str()).collect();
    assert_eq!(left, ["2", "6", "7"]);
    let staged = compact::stage(&history, vec![id(6)], "seven").unwrap();
    let (second, _) = history.compact(staged).unwrap();
    history.restore(second).unwrap();
    history.restore(first).unwrap();
    assert_eq!(serde_json::to_string(&history.records()).unwrap(), before);
}

#[test]
fn what_comes_back_stands_before_what_is_open() {
    let mut history = talked(4);
    let staged = compact::stage(&history, vec![id(3)], "three").unwrap();
    let (cut, _) = history.compact(staged).unwrap();
    history.rewind(&id(2)).unwrap();
    history.prompt(id(9), "now").unwrap();
    history.restore(cut).unwrap();
    let ids: Vec<_> = history.exchanges().iter().map(|exchange| exchange.id().0.as_str()).collect();
    assert_eq!(ids, ["1", "3", "9"]);
    assert_valid(&history);
}

#[test]
fn what_cannot_be_used_is_said_and_changes_nothing() {
    let mut history = talked(2);
    let stage =
        |history: &History, ids: Vec<_>, summary: &str| compact::stage(history, ids, summary).unwrap_err();
    assert_eq!(stage(&history, vec![], "x"), Unusable::Nothing);
    assert_eq!(stage(&history, vec![id(1)], " "), Unusable::Empty);
    assert!(matches!(stage(&history, vec![id(1)], &"x".repeat(5000)), Unusable::TooLong { .. }));
    assert_eq!(stage(&history, vec![id(9)], "x"), Unusable::Refused(Refused::Unknown(id(9))));
    let staged = compact::stage(&history, vec![id(1)], "x").unwrap();
    history.pin(&id(1)).unwrap();
    assert_eq!(history.compact(staged).unwrap_err(), Refused::Pinned(id(1)), "it was pinned meanwhile");
    history.prompt(id(3), "now").unwrap();
    assert_eq!(stage(&history, vec![id(3)], "x"), Unusable::Refused(Refused::Open(id(3))));
    assert_eq!(history.exchanges().len(), 3);
}

#[test]
fn a_model_chooses_by_ids_and_whatever_else_it_says_does_not_count() {
    let mut history = talked(4);
    history.pin(&id(3)).unwrap();
    let chosen = |answer: &str| compact::chosen(&history, answer);
    assert_eq!(chosen("Sure! [\"4\", \"1\", \"3\", \"9\", 2] I think."), [id(1), id(4)]);
    for useless in ["", "none", "[", "]", "][", "[1, 2]", "{\"ids\": 3}", "[\"1\""] {
        assert_eq!(chosen(useless), [], "{useless}");
    }
    let listed = compact::listing(&history, 10);
    assert!(listed.contains("\"id\":\"1\"") && !listed.contains("\"id\":\"3\""), "{listed}");
    assert!(listed.contains("answer 1"));
}

#[test]
fn a_transcript_has_all_that_a_summary_needs() {
    let mut history = talked(3);
    let staged = compact::stage(&history, vec![id(1)], "one was asked").unwrap();
    history.compact(staged).unwrap();
    let text = compact::transcript(&history, &[id(2)]);
    assert!(text.starts_with("[SUMMARY SO FAR]: one was asked\n\n[USER]: question 2 "), "{text}");
    assert!(text.contains("[ASSISTANT]: I look.\n\n[TOOL CALL]: read {}\n\n[TOOL RESULT]: "), "{text}");
    assert!(text.ends_with("[ASSISTANT]: answer 2\n\n") && !text.contains("question 3"), "{text}");
}

#[test]
fn a_long_transcript_comes_in_portions_that_fit() {
    let history = talked(6);
    let ids: Vec<_> = (1..=5).map(id).collect();
    let whole = compact::portions(&history, &ids, usize::MAX);
    assert_eq!(whole.len(), 1);
    let each = whole[0].len() / 5;
    let parts = compact::portions(&history, &ids, each * 5 / 2);
    assert!(parts.len() >= 3 && parts.iter().all(|part| part.len() <= each * 5 / 2), "{parts:?}");
    assert_eq!(parts.concat(), whole[0], "nothing is left out");
    let tiny = compact::portions(&history, &ids, 120);
    assert_eq!(tiny.len(), 5);
    assert!(tiny.iter().all(|part| part.contains("left out")), "one that is too long alone is clipped");
}

#[test]
fn only_a_whole_answer_is_an_answer() {
    let reply = |blocks: Vec<Block>, kind: StopKind| Reply {
        blocks,
        notes: Vec::new(),
        done: Done { stop: Stop { kind, literal: "why".to_owned(), detail: None }, usage: None },
    };
    let words = || vec![Block::text("a "), Block::text("b")];
    for kind in [StopKind::EndTurn, StopKind::StopSequence, StopKind::Unknown] {
        assert_eq!(compact::answer(&reply(words(), kind)), Ok("a b".to_owned()));
    }
    let cut = [StopKind::MaxTokens, StopKind::ContextFull, StopKind::PauseTurn, StopKind::Compaction];
    for kind in cut {
        assert_eq!(compact::answer(&reply(words(), kind)), Err(Unusable::Unfinished("why".to_owned())));
    }
    let refused = compact::answer(&reply(words(), StopKind::Refusal));
    assert_eq!(refused, Err(Unusable::Declined("why".to_owned())));
    let call = Block::call(CallId("c".to_owned()), "read", &Map::new());
    let called = compact::answer(&reply(vec![Block::text("I look."), call], StopKind::EndTurn));
    assert_eq!(called, Err(Unusable::Called("read".to_owned())));
}
