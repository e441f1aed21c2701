//! What is sent of a history that is too large: never half of a pair, never more than the limit, nothing that moves
//! without need, and every word of what was left out.

use conversation::tools::Output;
use conversation::window::{Limits, Relief, Shown, fit};
use conversation::{History, Returned, Step};
use llm::{Block, CallId, Message, Outcome, ToolResult};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};
use testkit::{Random, crash};

use crate::{assert_sendable, body, id};

fn limits(bytes: usize, relief: Relief) -> Limits {
    Limits { bytes, relief, summary: Shown::First }
}

fn prompt(history: &mut History, number: usize, text: &str) {
    history.prompt(id(number), text).unwrap();
}

fn say(history: &mut History, text: &str) {
    history.say(history.admit(vec![Block::text(text)])).unwrap();
}

/// One round: calls with these names, and these results.
fn round(history: &mut History, outputs: Vec<(&str, Output)>) {
    let calls = outputs.iter().map(|(name, _)| Block::call(CallId((*name).to_owned()), "read", &Map::new()));
    let reply = history.admit(calls.collect());
    let results = reply.calls().iter().zip(outputs).map(|(call, (_, output))| Returned {
        result: ToolResult { id: call.id.clone(), content: output.content, outcome: output.outcome },
        rests_on: output.rests_on,
    });
    let results = results.collect();
    history.round(reply, results).unwrap();
}

fn answered(count: usize, size: usize) -> History {
    let mut history = History::new("house rules");
    for number in 0..count {
        prompt(&mut history, number, &format!("{number} {}", "p".repeat(size)));
        say(&mut history, "ok");
    }
    history
}

/// One more thing that could have happened.
fn grow(history: &mut History, random: &mut Random, number: &mut usize) -> usize {
    let size = match random.below(16) {
        0 => 15_000,
        1..4 => 1500,
        _ => 200,
    };
    let text = random.pick(&["x", "\n", "\u{1f980}", "\""]).repeat(random.below(size) + 1);
    let text = format!("{text}.");
    // As JSON, twice if it is the result of two calls, and what stands around it.
    let most = 2 * json!(text).to_string().len() + 500;
    if history.open().is_none() {
        *number += 1;
        prompt(history, *number, &text);
        if random.below(12) == 0 {
            history.pin(&id(*number)).unwrap();
        }
    } else if random.below(3) == 0 {
        say(history, &text);
    } else {
        let before: Vec<CallId> = history
            .exchanges()
            .iter()
            .flat_map(|exchange| exchange.blocks().filter_map(Block::as_call))
            .map(|call| call.id.clone())
            .collect();
        let rests_on = if random.below(4) == 0 && !before.is_empty() {
            vec![random.pick(&before).clone()]
        } else {
            vec![]
        };
        let outputs =
            (0..=random.below(2)).map(|_| ("c", Output::done(text.clone()).resting_on(rests_on.clone())));
        round(history, outputs.collect());
    }
    most
}

/// Everything that must hold of a window.
fn assert_window(history: &History, limits: &Limits) {
    let fitted = fit(history, limits);
    let messages = fitted.messages(history);
    assert_sendable(&messages);
    let sent = body(llm::Wire::Anthropic, messages.clone())["messages"].to_string().len();
    assert!(sent <= fitted.bytes, "{sent} bytes are sent, and {} were counted", fitted.bytes);
    let last = history.exchanges().last().unwrap();
    assert!(!fitted.dropped.contains(last.id()), "the last exchange is always sent");
    for exchange in history.exchanges().iter().filter(|exchange| exchange.is_pinned()) {
        assert!(!fitted.dropped.contains(exchange.id()), "a pin holds");
    }
    if fitted.is_over() {
        let free = history.exchanges().iter().filter(|exchange| !exchange.is_pinned() && *exchange != last);
        assert!(
            free.clone().all(|exchange| fitted.dropped.contains(exchange.id())),
            "all that may go is gone"
        );
        let large =
            messages.iter().filter_map(results).flatten().filter(|result| result.content.len() > 10 << 10);
        let pinned = history.exchanges().iter().filter(|exchange| exchange.is_pinned());
        let pinned: Vec<&CallId> = pinned
            .flat_map(|exchange| exchange.blocks().filter_map(Block::as_call))
            .map(|call| &call.id)
            .collect();
        assert!(large.clone().all(|result| pinned.contains(&&result.id)), "all that may be cut is cut");
    }
    let shown: Vec<&ToolResult> = messages.iter().filter_map(results).flatten().collect();
    let original = |id: &CallId| all_results(history).find(|returned| returned.result.id == *id).unwrap();
    let verbatim: Vec<&CallId> = fitted.verbatim(history).map(|(_, result)| &result.id).collect();
    for result in &shown {
        let whole = result.content == original(&result.id).result.content;
        assert!(whole || !verbatim.contains(&&result.id), "{} is not what it was", result.id);
        if verbatim.contains(&&result.id) {
            let stands = |id: &CallId| verbatim.contains(&id);
            assert!(original(&result.id).rests_on.iter().all(stands), "{} rests on what is gone", result.id);
        }
    }
    let told: Vec<&CallId> = shown.iter().map(|result| &result.id).collect();
    assert!(
        verbatim.iter().all(|id| told.contains(id)) && fitted.stubbed.iter().all(|id| told.contains(&id))
    );
    let untouched = fitted.dropped.is_empty() && fitted.stubbed.is_empty() && fitted.cut == 0;
    let lost = all_results(history).any(|returned| !returned.rests_on.is_empty());
    assert!(
        untouched || lost || fit(history, &crate::whole()).bytes > limits.bytes,
        "nothing goes without need"
    );
}

fn results(message: &Message) -> Option<&Vec<ToolResult>> {
    if let Message::Results(results) = message { Some(results) } else { None }
}

fn all_results(history: &History) -> impl Iterator<Item = &Returned> {
    let steps = history.exchanges().iter().flat_map(conversation::Exchange::steps);
    steps.flat_map(|step| if let Step::Round(round) = step { round.results() } else { &[] })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crash::points(80) as u32, ..ProptestConfig::default() })]

    #[test]
    fn a_window_is_valid_within_its_limit_and_moves_only_when_room_is_made(
        bytes in 6000_usize..26_000,
        relief in select(vec![Relief::ResultsFirst, Relief::Exchanges]),
        steps in vec(any::<u64>(), 0..40),
    ) {
        let limits = limits(bytes, relief);
        let (mut history, mut number) = (History::new("house rules"), 0);
        let mut before: Vec<Message> = Vec::new();
        let (mut moved, mut grown) = (0, 0);
        for seed in steps {
            grown += grow(&mut history, &mut Random::new(seed), &mut number);
            if history.open().is_none() {
                continue;
            }
            assert_window(&history, &limits);
            let messages = fit(&history, &limits).messages(&history);
            moved += usize::from(!messages.starts_with(&before));
            before = messages;
        }
        // Each time a tenth of the limit is made free at least; what can neither be dropped nor cut may come in between.
        let most = 10 * grown / limits.bytes + 1;
        let pinned = history.exchanges().iter().any(conversation::Exchange::is_pinned);
        assert!(moved <= most || pinned, "it moved {moved} times while {grown} bytes came");
    }
}

#[test]
fn the_oldest_exchanges_go_first_and_the_model_is_told() {
    let mut history = answered(10, 1000);
    prompt(&mut history, 10, "now");
    let fitted = fit(&history, &limits(8000, Relief::Exchanges));
    let gone: Vec<&str> = fitted.dropped.iter().map(|id| id.0.as_str()).collect();
    assert_eq!(gone, ["0", "1", "2", "3", "4"]);
    assert!(!fitted.is_over() && fitted.bytes <= 8000);
    let Message::User(first) = &fitted.messages(&history)[0] else { panic!("the user begins") };
    let lines: Vec<&str> = first.lines().map(|line| kit::text::head(line, 50)).collect();
    let began = format!("0 {}", "p".repeat(48));
    let kept = format!("5 {}", "p".repeat(48));
    assert_eq!(
        lines[..5],
        ["house rules", "", "[The conversation began with]", &began, "[… 2 bytes left out …]"]
    );
    assert_eq!(lines[lines.len() - 3..], ["[5 earlier exchanges left out here to make room]", "", &kept]);
}

#[test]
fn bodies_of_old_results_go_before_any_exchange_if_that_is_wanted() {
    let mut history = History::new("");
    for number in 0..6 {
        prompt(&mut history, number, "read it");
        round(&mut history, vec![(&format!("c{number}"), Output::done("x".repeat(2000)))]);
        say(&mut history, "done");
    }
    prompt(&mut history, 6, "now");
    let fitted = fit(&history, &limits(10_000, Relief::ResultsFirst));
    assert_eq!(fitted.dropped, []);
    let stubbed: Vec<&str> = fitted.stubbed.iter().map(|id| id.0.as_str()).collect();
    assert_eq!(stubbed, ["c0", "c1", "c2"], "the last three rounds stay");
    let messages = fitted.messages(&history);
    let stub = "[2,000 bytes left out to make room; call the tool again if they matter]";
    assert_eq!(results(&messages[2]).unwrap()[0].content, stub);
    let seen: Vec<&str> = fitted.verbatim(&history).map(|(call, _)| call.id.0.as_str()).collect();
    assert_eq!(seen, ["c3", "c4", "c5"]);
    let fitted = fit(&history, &limits(10_000, Relief::Exchanges));
    assert!(fitted.stubbed.is_empty() && !fitted.dropped.is_empty());
}

#[test]
fn one_exchange_that_is_too_large_alone_is_cut_on_a_character_and_stays_a_pair() {
    let mut history = History::new("");
    prompt(&mut history, 1, &"\u{65e5}".repeat(30_000));
    round(&mut history, vec![("a", Output::done("\u{1f980}".repeat(20_000))), ("b", Output::done("small"))]);
    let fitted = fit(&history, &limits(30_000, Relief::Exchanges));
    assert!(!fitted.is_over() && fitted.cut == 2, "{fitted:?}");
    let messages = fitted.messages(&history);
    let told = &results(&messages[2]).unwrap();
    assert!(told[0].content.contains("bytes left out; ask again for the part that matters"));
    assert_eq!(told[1].content, "small");
    assert_sendable(&messages);
    let tiny = fit(&history, &limits(1000, Relief::Exchanges));
    assert!(tiny.is_over(), "what cannot fit is said");
}

#[test]
fn a_result_that_rests_on_another_goes_with_it() {
    let mut history = History::new("");
    prompt(&mut history, 0, "read");
    round(&mut history, vec![("base", Output::done("x".repeat(3000)))]);
    say(&mut history, "read");
    let change = |name: &str| Output::done("unchanged").resting_on(vec![CallId(name.to_owned())]);
    for number in 1..4 {
        prompt(&mut history, number, &"y".repeat(1000));
        let before = if number == 1 { "base".to_owned() } else { format!("c{}", number - 1) };
        round(&mut history, vec![(&format!("c{number}"), change(&before))]);
        say(&mut history, "ok");
    }
    prompt(&mut history, 4, "now");
    let all = fit(&history, &limits(100_000, Relief::Exchanges));
    assert_eq!(all.verbatim(&history).count(), 4);
    let fitted = fit(&history, &limits(6000, Relief::Exchanges));
    assert_eq!(fitted.dropped, [id(0)]);
    assert_eq!(fitted.verbatim(&history).count(), 0, "each rests on the one before");
    let lost = "[this rests on a result that is no longer shown; call the tool again]";
    let messages = fitted.messages(&history);
    assert!(messages.iter().filter_map(results).flatten().all(|result| result.content == lost));
    // A rewind, a compaction and a new process come to the same.
    let loaded = History::load(history.records()).history;
    assert_eq!(fit(&loaded, &limits(6000, Relief::Exchanges)), fitted);
    let staged = conversation::compact::stage(&history, vec![id(0)], "it was read").unwrap();
    history.compact(staged).unwrap();
    assert_eq!(fit(&history, &limits(100_000, Relief::Exchanges)).verbatim(&history).count(), 0);
}

#[test]
fn a_summary_stands_at_the_head_unless_the_caller_puts_it_elsewhere() {
    let mut history = answered(3, 10);
    let staged = conversation::compact::stage(&history, vec![id(0)], "in short").unwrap();
    history.compact(staged).unwrap();
    prompt(&mut history, 3, "now");
    let first = |limits: &Limits| match fit(&history, limits).messages(&history).remove(0) {
        Message::User(text) => text,
        other => panic!("{other:?}"),
    };
    let head = "house rules\n\n[Summary of what was said before]\nin short\n\n1 pppppppppp";
    assert_eq!(first(&Limits::default()), head);
    let elsewhere = Limits { summary: Shown::ByCaller, ..Limits::default() };
    assert_eq!(first(&elsewhere), "house rules\n\n1 pppppppppp");
}

#[test]
fn thirty_turns_with_tools_are_sent_as_a_growing_prefix() {
    let (mut same, mut all, mut before) = (0, 0, Vec::new());
    let mut history = History::new("house rules");
    for number in 0..30 {
        prompt(&mut history, number, "do it");
        for part in 0..3 {
            round(&mut history, vec![(&format!("c{number}_{part}"), Output::done("r".repeat(1500)))]);
            let messages = fit(&history, &limits(60_000, Relief::ResultsFirst)).messages(&history);
            let bytes = body(llm::Wire::Anthropic, messages)["messages"].to_string().into_bytes();
            same += before.iter().zip(&bytes).take_while(|(one, other)| one == other).count();
            all += bytes.len();
            before = bytes;
        }
        say(&mut history, "done");
    }
    // A tenth of the rounds makes room, and each time almost everything is sent anew.
    let share = 100 * same / all;
    assert!(share >= 88, "{share} percent of what was sent was sent before");
}

#[test]
fn outcomes_survive_a_window() {
    let mut history = History::new("");
    prompt(&mut history, 1, "go");
    round(&mut history, vec![("a", Output::failed("x".repeat(20_000)))]);
    let messages = fit(&history, &limits(15_000, Relief::Exchanges)).messages(&history);
    assert_eq!(results(&messages[2]).unwrap()[0].outcome, Outcome::Failed);
    let text = body(llm::Wire::Anthropic, messages).to_string();
    assert!(text.contains("\"is_error\":true") && json!(text).is_string());
}
