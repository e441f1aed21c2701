//! Logs that no history could have written, and what is told about them.

use conversation::{Ending, History, Record, Repair, Returned, Step};
use llm::{Block, CallId, Outcome, ToolResult};
use serde_json::Map;

use crate::{assert_valid, id};

fn prompt(number: usize) -> Record {
    Record::Prompt { id: id(number), text: format!("prompt {number}") }
}

fn reply(blocks: Vec<Block>) -> Record {
    Record::Reply { blocks, ending: Ending::Complete }
}

fn call(id: &str) -> Block {
    Block::call(CallId(id.to_owned()), "read", &Map::new())
}

fn result(id: &str) -> Record {
    let result = ToolResult { id: CallId(id.to_owned()), content: "done".to_owned(), outcome: Outcome::Done };
    Record::Result(Returned { result, rests_on: Vec::new() })
}

#[track_caller]
fn load(records: Vec<Record>) -> (History, Vec<String>) {
    let loaded = History::load(records);
    assert_valid(&loaded.history);
    (loaded.history, loaded.repairs.iter().map(Repair::to_string).collect())
}

#[test]
fn a_tool_that_was_running_at_the_crash_gets_an_honest_result() {
    let (history, repairs) = load(vec![prompt(1), reply(vec![call("a"), call("b")]), result("b")]);
    assert_eq!(repairs, ["no result was kept of a: marked as interrupted"]);
    let Step::Round(round) = &history.exchanges()[0].steps()[0] else { panic!("a round") };
    let told: Vec<_> =
        round.results().iter().map(|returned| (&*returned.result.id.0, returned.result.outcome)).collect();
    assert_eq!(told, [("a", Outcome::Failed), ("b", Outcome::Done)]);
    assert!(round.results()[0].result.content.starts_with("Interrupted"));
    assert!(history.open().is_some(), "the turn can go on");
}

#[test]
fn a_prompt_that_was_never_answered_does_not_stand_before_the_next() {
    let (history, repairs) = load(vec![prompt(1), prompt(2), reply(vec![Block::text("yes")])]);
    assert_eq!(repairs, ["the prompt `1` was never answered: left out"]);
    assert_eq!(history.exchanges().len(), 1);
    let (history, repairs) = load(vec![prompt(1), reply(vec![call("a")]), result("a"), prompt(2)]);
    assert_eq!(repairs, ["the turn of `1` did not end: closed by a note"]);
    assert_eq!(history.exchanges()[0].answer().unwrap(), "[This turn ended here: it was interrupted]");
}

#[test]
fn the_last_prompt_waits_for_its_answer() {
    let (history, repairs) = load(vec![prompt(1)]);
    assert_eq!(repairs, [] as [&str; 0]);
    assert!(history.open().is_some());
}

#[test]
fn what_belongs_to_nothing_is_left_out_and_told() {
    let records = vec![
        reply(vec![Block::text("to nobody")]),
        result("a"),
        Record::Restored,
        Record::Note { text: "x".to_owned() },
        prompt(1),
        Record::Opening { text: "late".to_owned() },
        reply(vec![call("a")]),
        result("z"),
        result("a"),
        result("a"),
        Record::Prompt { id: id(2), text: " ".to_owned() },
        reply(vec![]),
        Record::Prompt { id: id(1), text: "twice".to_owned() },
        Record::Rewound { from: id(9) },
        Record::Dropped { reason: "x".to_owned() },
    ];
    let (history, repairs) = load(records);
    assert_eq!(
        repairs,
        [
            "record 1: it stands where it cannot stand: left out",
            "record 2: a result of no call: left out",
            "record 3: it stands where it cannot stand: left out",
            "record 4: it stands where it cannot stand: left out",
            "record 6: it stands where it cannot stand: left out",
            "record 8: a result of no call: left out",
            "record 10: a result of no call: left out",
            "record 11: it has no words: left out",
            "record 13: its name is already there: left out",
            "record 14: it speaks of what is not there: left out",
            "record 15: it stands where it cannot stand: left out",
        ]
    );
    assert_eq!(history.exchanges().len(), 1);
    assert_eq!(history.exchanges()[0].answer().unwrap(), "[nothing was said]");
}

#[test]
fn two_calls_of_one_name_are_told_apart_and_keep_their_results() {
    let (history, repairs) = load(vec![
        prompt(1),
        reply(vec![call("a"), call("a")]),
        result("a"),
        result("a"),
        reply(vec![call("a")]),
        result("a"),
    ]);
    assert_eq!(repairs, [] as [&str; 0]);
    let ids: Vec<_> =
        history.exchanges()[0].blocks().map(|block| block.as_call().unwrap().id.0.clone()).collect();
    assert_eq!(ids, ["a", "a_2", "a_3"]);
}

#[test]
fn a_summary_counts_even_if_what_it_replaced_is_not_in_the_log() {
    let compacted = |archived| Record::Compacted { archived, summary: "in short".to_owned() };
    let answered = |number| [prompt(number), reply(vec![Block::text("yes")])];
    let (history, repairs) = load([vec![compacted(vec![id(1), id(2)])], answered(3).into()].concat());
    assert_eq!((history.summary(), history.exchanges().len()), ("in short", 1));
    assert_eq!(repairs, ["record 1: a summary of 2 exchanges that were not there to be replaced"]);
    let log = [answered(1).to_vec(), answered(2).to_vec(), vec![compacted(vec![id(1)])]].concat();
    let (history, _) = load(log.clone());
    assert_eq!(history.exchanges().len(), 1);
    let (history, _) = load([log, vec![Record::Restored]].concat());
    assert_eq!((history.summary(), history.exchanges().len()), ("", 2));
}
