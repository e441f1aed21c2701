//! Good answers, of both wires and in every shape that servers give them.

use llm::{Cost, Event, Input, StopKind, Usage, View, Wire};
use serde_json::json;
use testkit::model::{Cut, Event as Frame, LineEnd, Reply, Server, anthropic, openai, turn};

use crate::{WIRES, all, ask, client, hello, theirs, told};

fn played(wire: Wire, reply: Reply) -> Vec<Event> {
    let server = Server::scripted([reply]);
    let (events, failure) = all(ask(wire, &server.url()));
    assert!(failure.is_none(), "{failure:?} after {events:?}");
    server.finish();
    events
}

fn chunks(chunks: impl IntoIterator<Item = Frame>) -> Vec<String> {
    told(&played(Wire::OpenAi, Reply::sse(chunks)))
}

#[test]
fn a_turn_with_thinking_text_and_a_call_is_told_piece_by_piece_and_block_by_block() {
    let turn = || {
        turn()
            .think("hm", "sig")
            .say("Let me look.")
            .call_in("read", ["{\"path\"", ":\"a\"}"])
            .usage(7, 3)
            .cached(5, 2)
    };
    let events = played(Wire::Anthropic, turn().stream(theirs(Wire::Anthropic)));
    assert_eq!(
        told(&events),
        [
            "started",
            "thinking hm",
            r#"block {"signature":"sig","thinking":"hm","type":"thinking"}"#,
            "text Let ",
            "text me ",
            "text look.",
            r#"block {"text":"Let me look.","type":"text"}"#,
            "call 2 toolu_1 read",
            r#"arguments 2 {"path""#,
            r#"arguments 2 :"a"}"#,
            r#"block {"id":"toolu_1","name":"read","type":"tool_use","input":{"path":"a"}}"#,
            "done ToolUse tool_use",
        ]
    );
    let events = played(Wire::OpenAi, turn().stream(theirs(Wire::OpenAi)));
    assert_eq!(
        told(&events),
        [
            "started",
            "thinking hm",
            r#"block {"reasoning_details":[{"index":0,"signature":"sig","text":"hm","type":"reasoning.text"}]}"#,
            "text Let ",
            "text me ",
            "text look.",
            r#"block {"content":"Let me look."}"#,
            "call 0 call_1 read",
            r#"arguments 0 {"path""#,
            r#"arguments 0 :"a"}"#,
            r#"block {"id":"call_1","type":"function","function":{"arguments":"{\"path\":\"a\"}","name":"read"}}"#,
            "done ToolUse tool_calls",
        ]
    );
}

#[test]
fn tokens_are_counted_the_same_on_both_wires() {
    for wire in WIRES {
        let events = played(wire, turn().say("x").usage(7, 3).cached(5, 2).stream(theirs(wire)));
        let Some(Event::Done(done)) = events.last() else { panic!("{events:?}") };
        let usage = Usage { input: 7, cache_read: 5, cache_write: 2, output: 3, thinking: None, cost: None };
        assert_eq!(done.usage, Some(usage), "{wire:?}");
        assert_eq!(done.usage.unwrap().total(), 17);
    }
}

#[test]
fn the_provider_says_what_it_cost_or_our_table_does() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.00125,
        "completion_tokens_details": {"reasoning_tokens": 1}});
    let frames =
        [openai::chunk("c", &json!({"content": "x"}), Some("stop")), openai::usage_chunk("c", &usage)];
    let events = played(Wire::OpenAi, Reply::sse(frames));
    let Some(Event::Done(done)) = events.last() else { panic!() };
    assert_eq!(done.usage.unwrap().cost, Some(Cost { nanodollars: 1_250_000 }));
    assert_eq!(done.usage.unwrap().thinking, Some(1));

    let start = json!({"type": "message_start", "message": {"model": "claude-opus-5-5-20261001",
        "usage": {"input_tokens": 1000, "output_tokens": 1}}});
    let frames = [
        Frame::data(&start),
        anthropic::message_delta("end_turn", &json!({"output_tokens": 100})),
        anthropic::message_stop(),
    ];
    let events = played(Wire::Anthropic, Reply::sse(frames));
    let Some(Event::Done(done)) = events.last() else { panic!() };
    assert_eq!(done.usage.unwrap().cost, Some(Cost { nanodollars: 6_000_000 }));
}

#[test]
fn an_answer_that_is_one_document_tells_the_same_blocks() {
    for wire in WIRES {
        let turn = || turn().think("hm", "sig").say("Hi").call("f", &json!({"a": 1}));
        let views = |reply| {
            let blocks = played(wire, reply).into_iter().filter_map(|event| match event {
                Event::Block(block) => Some(block.view().clone()),
                _ => None,
            });
            blocks.collect::<Vec<_>>()
        };
        let (streamed, whole) = (views(turn().stream(theirs(wire))), views(turn().whole(theirs(wire))));
        assert_eq!(streamed, whole);
        assert_eq!(streamed.len(), 3);
    }
}

#[test]
fn the_bytes_may_be_cut_anywhere_and_lines_may_end_in_any_way() {
    for wire in WIRES {
        let turn = || turn().say("Grüße, 世界! 🦀").call("f", &json!({"ключ": "значение"}));
        let expected = told(&played(wire, turn().stream(theirs(wire))));
        for end in [LineEnd::Lf, LineEnd::Cr, LineEnd::CrLf] {
            let reply = turn().stream(theirs(wire)).line_ends(end).chunks(Cut::Bytes(1));
            assert_eq!(told(&played(wire, reply)), expected, "{wire:?} {end:?}");
        }
        assert_eq!(told(&played(wire, turn().stream(theirs(wire)).until_close())), expected);
    }
}

#[test]
fn pings_comments_and_events_from_the_future_change_nothing() {
    let future = Frame::named("new_thing", &json!({"type": "new_thing", "index": 0, "delta": {"x": 1}}));
    let turn = turn().event(anthropic::ping()).say("a b").event(Frame::comment("KEEP")).event(future);
    let events = played(Wire::Anthropic, turn.stream(theirs(Wire::Anthropic)));
    assert_eq!(
        told(&events)[1..],
        ["text a ", "text b", r#"block {"text":"a b","type":"text"}"#, "done EndTurn end_turn"]
    );
}

#[test]
fn blocks_of_unknown_kinds_are_kept_byte_for_byte() {
    let raw = r#"{"type":"web_search_tool_result", "tool_use_id":"srv_1","content":[{"z":1.0,"a":"…"}]}"#;
    let start = format!(r#"{{"type":"content_block_start","index":0,"content_block":{raw}}}"#);
    let frames = [
        anthropic::message_start("m", &json!({})),
        Frame::data(&start),
        anthropic::block_stop(0),
        anthropic::block_start(1, &json!({"type": "compaction", "content": null})),
        anthropic::block_delta(
            1,
            &json!({"type": "compaction_delta", "content": "sum", "encrypted_content": "x"}),
        ),
        anthropic::block_delta(1, &json!({"type": "compaction_delta", "content": "mary"})),
        anthropic::block_stop(1),
        anthropic::message_delta("compaction", &json!({})),
        anthropic::message_stop(),
    ];
    let events = played(Wire::Anthropic, Reply::sse(frames));
    assert_eq!(
        told(&events)[1..],
        [
            &format!("block {raw}"),
            r#"block {"content":"summary","encrypted_content":"x","type":"compaction"}"#,
            "done Compaction compaction",
        ]
    );
}

#[test]
fn citations_are_gathered_and_redacted_thinking_is_kept() {
    let frames = [
        anthropic::message_start("m", &json!({})),
        anthropic::block_start(0, &json!({"type": "redacted_thinking", "data": "opaque"})),
        anthropic::block_stop(0),
        anthropic::block_start(1, &json!({"type": "text", "text": ""})),
        anthropic::block_delta(1, &json!({"type": "text_delta", "text": "said"})),
        anthropic::block_delta(1, &json!({"type": "citations_delta", "citation": {"n": 1}})),
        anthropic::block_delta(1, &json!({"type": "citations_delta", "citation": {"n": 2}})),
        anthropic::block_stop(1),
        anthropic::message_delta("end_turn", &json!({})),
        anthropic::message_stop(),
    ];
    let told = told(&played(Wire::Anthropic, Reply::sse(frames)));
    assert_eq!(told[1], r#"block {"data":"opaque","type":"redacted_thinking"}"#);
    assert_eq!(told[3], r#"block {"citations":[{"n":1},{"n":2}],"text":"said","type":"text"}"#);
}

#[test]
fn every_reason_to_stop_has_its_kind_and_keeps_its_word() {
    let stop = |wire: Wire, reason: &str| {
        let events = played(wire, turn().say("x").stop(reason).stream(theirs(wire)));
        let Some(Event::Done(done)) = events.last() else { panic!() };
        assert_eq!(done.stop.literal, reason);
        done.stop.kind
    };
    for (reason, kind) in [
        ("end_turn", StopKind::EndTurn),
        ("max_tokens", StopKind::MaxTokens),
        ("stop_sequence", StopKind::StopSequence),
        ("pause_turn", StopKind::PauseTurn),
        ("refusal", StopKind::Refusal),
        ("model_context_window_exceeded", StopKind::ContextFull),
        ("tomorrow", StopKind::Unknown),
    ] {
        assert_eq!(stop(Wire::Anthropic, reason), kind, "{reason}");
    }
    for (reason, kind) in [
        ("stop", StopKind::EndTurn),
        ("length", StopKind::MaxTokens),
        ("content_filter", StopKind::Refusal),
        ("tomorrow", StopKind::Unknown),
    ] {
        assert_eq!(stop(Wire::OpenAi, reason), kind, "{reason}");
    }
}

#[test]
fn a_refusal_says_why_and_a_stop_sequence_says_which() {
    let stopped = |delta| {
        let delta = json!({"type": "message_delta", "delta": delta, "usage": {}});
        let frames =
            [anthropic::message_start("m", &json!({})), Frame::data(&delta), anthropic::message_stop()];
        let events = played(Wire::Anthropic, Reply::sse(frames));
        let Some(Event::Done(done)) = events.last() else { panic!() };
        done.stop.detail.clone()
    };
    let refusal = json!({"stop_reason": "refusal", "stop_details": {"category": "bio", "explanation": "no"}});
    assert_eq!(stopped(refusal).as_deref(), Some("no"));
    assert_eq!(
        stopped(json!({"stop_reason": "stop_sequence", "stop_sequence": "END"})).as_deref(),
        Some("END")
    );
    let chunk = openai::chunk("c", &json!({"refusal": "I can't."}), Some("stop"));
    let events = played(Wire::OpenAi, Reply::sse([chunk, openai::done()]));
    let Some(Event::Done(done)) = events.last() else { panic!() };
    assert_eq!((done.stop.kind, done.stop.detail.as_deref()), (StopKind::Refusal, Some("I can't.")));
    assert!(events.contains(&Event::Text("I can't.".to_owned())));
}

#[test]
fn a_stream_is_complete_with_either_of_its_two_ends() {
    for (frames, literal) in [
        (vec![anthropic::message_start("m", &json!({})), anthropic::message_stop()], "end_turn"),
        (
            vec![
                anthropic::message_start("m", &json!({})),
                anthropic::message_delta("max_tokens", &json!({})),
            ],
            "max_tokens",
        ),
    ] {
        let events = played(Wire::Anthropic, Reply::sse(frames));
        let Some(Event::Done(done)) = events.last() else { panic!() };
        assert_eq!(done.stop.literal, literal);
    }
    let text = || openai::chunk("c", &json!({"content": "x"}), None);
    assert_eq!(chunks([text(), openai::done()]).last().unwrap(), "done EndTurn stop");
    let last = openai::chunk("c", &json!({}), Some("length"));
    assert_eq!(chunks([text(), last]).last().unwrap(), "done MaxTokens length");
}

#[test]
fn calls_without_an_index_or_all_with_the_same_are_told_apart() {
    let call = |call| openai::chunk("c", &json!({"tool_calls": [call]}), None);
    let whole = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": "{}"}});
    let names = |frames: Vec<Frame>| {
        let calls = chunks(frames).into_iter().filter(|line| line.starts_with("call"));
        calls.collect::<Vec<_>>()
    };
    let end = || vec![openai::chunk("c", &json!({}), Some("tool_calls")), openai::done()];
    let frames = [vec![call(whole("a", "f")), call(whole("b", "g"))], end()].concat();
    assert_eq!(names(frames), ["call 0 a f", "call 1 b g"]);
    let same = |mut call: serde_json::Value| {
        call["index"] = json!(0);
        call
    };
    let frames = [vec![call(same(whole("a", "f"))), call(same(whole("b", "g")))], end()].concat();
    assert_eq!(names(frames), ["call 0 a f", "call 1 b g"]);
    // Indices need not start at nothing, nor be without gaps, nor come one after the other.
    let piece = |index: u64, text: &str| call(json!({"index": index, "function": {"arguments": text}}));
    let first = |index: u64, id: &str| {
        call(json!({"index": index, "id": id, "function": {"name": "f", "arguments": null}}))
    };
    let frames =
        [vec![first(3, "a"), first(7, "b"), piece(3, "{\"x\":"), piece(7, "{}"), piece(3, "1}")], end()]
            .concat();
    let lines = chunks(frames);
    assert!(lines.contains(
        &r#"block {"id":"a","type":"function","function":{"arguments":"{\"x\":1}","name":"f"}}"#.to_owned()
    ));
    assert!(lines.contains(
        &r#"block {"id":"b","type":"function","function":{"arguments":"{}","name":"f"}}"#.to_owned()
    ));
}

#[test]
fn a_call_without_a_name_of_its_own_gets_one_and_names_may_come_late_or_twice() {
    let call = |call| openai::chunk("c", &json!({"tool_calls": [call]}), None);
    let lines = chunks([
        call(json!({"index": 0, "id": "", "function": {"arguments": "{\"a\""}})),
        call(json!({"index": 0, "function": {"name": "f", "arguments": ":1}"}})),
        call(json!({"index": 0, "function": {"name": "f"}})),
        openai::chunk("c", &json!({}), Some("stop")),
    ]);
    assert_eq!(
        lines[1..],
        [
            "call 0 call_1_0 f",
            r#"arguments 0 {"a":1}"#,
            r#"block {"id":"call_1_0","type":"function","function":{"arguments":"{\"a\":1}","name":"f"}}"#,
            // It says that it is done, and has a call: the call is right.
            "done ToolUse stop",
        ]
    );
}

#[test]
fn the_old_single_function_and_arguments_that_are_an_object_are_calls_too() {
    let old = json!({"function_call": {"name": "f", "arguments": "{}"}});
    let lines = chunks([openai::chunk("c", &old, Some("function_call"))]);
    assert_eq!(lines.last().unwrap(), "done ToolUse function_call");
    let object = json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"k": [1]}}}]});
    let lines = chunks([openai::chunk("c", &object, Some("tool_calls"))]);
    assert!(lines.contains(&r#"arguments 0 {"k":[1]}"#.to_owned()), "{lines:?}");
    // Both forms in one call make nonsense, and no harm.
    let call = |arguments: serde_json::Value| {
        openai::chunk(
            "c",
            &json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": arguments}}]}),
            None,
        )
    };
    let lines = chunks([
        call(json!("{\"long\": \"text\"}")),
        call(json!({})),
        openai::chunk("c", &json!({}), Some("stop")),
    ]);
    assert!(lines.contains(&"arguments 0 {}".to_owned()), "{lines:?}");
}

#[test]
fn a_call_that_never_gets_a_name_can_still_be_answered() {
    let call = json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]});
    let lines = chunks([openai::chunk("c", &call, Some("tool_calls"))]);
    assert_eq!(lines[1], "call 0 call_1_0 unnamed");
}

#[test]
fn a_block_in_the_place_of_another_does_not_push_it_out() {
    let block = |text: &str| anthropic::block_start(0, &json!({"type": "text", "text": text}));
    let frames = [
        anthropic::message_start("m", &json!({})),
        block("one"),
        block("two"),
        anthropic::block_stop(0),
        anthropic::message_stop(),
    ];
    let server = Server::scripted([Reply::sse(frames)]);
    assert_eq!(ask(Wire::Anthropic, &server.url()).reply().unwrap().text(), "onetwo");
}

#[test]
fn what_only_its_sender_understands_stays_with_the_call() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "s"}}}]});
    let lines = chunks([openai::chunk("c", &call, Some("tool_calls"))]);
    assert!(lines[3].contains(r#""extra_content":{"google":{"thought_signature":"s"}}"#), "{lines:?}");
}

#[test]
fn thinking_is_found_under_each_of_its_names_once() {
    for name in ["reasoning", "reasoning_content"] {
        let lines = chunks([
            openai::chunk("c", &json!({name: "h"}), None),
            openai::chunk("c", &json!({name: "m", "content": ""}), None),
            openai::chunk("c", &json!({"content": "x"}), Some("stop")),
        ]);
        let block = format!(r#"block {{"{name}":"hm"}}"#);
        assert_eq!(lines[1..5], ["thinking h", "thinking m", &block, "text x"]);
    }
    let both = json!({"reasoning": "h", "reasoning_content": "h"});
    let lines = chunks([openai::chunk("c", &both, None), openai::chunk("c", &json!({}), Some("stop"))]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("thinking")).count(), 1);
}

#[test]
fn pieces_of_signed_thinking_are_put_together_and_encrypted_ones_stay_whole() {
    let detail = |detail| openai::chunk("c", &json!({"reasoning_details": [detail]}), None);
    let lines = chunks([
        detail(json!({"type": "reasoning.text", "text": "a", "index": 0, "format": "x"})),
        detail(json!({"type": "reasoning.text", "text": "b", "index": 0})),
        detail(json!({"type": "reasoning.text", "signature": "s", "index": 0})),
        detail(json!({"type": "reasoning.encrypted", "data": "1", "index": 1})),
        detail(json!({"type": "reasoning.encrypted", "data": "2", "index": 1})),
        openai::chunk("c", &json!({}), Some("stop")),
    ]);
    let text = r#"{"format":"x","index":0,"signature":"s","text":"ab","type":"reasoning.text"}"#;
    let encrypted = |data: &str| format!(r#"{{"data":"{data}","index":1,"type":"reasoning.encrypted"}}"#);
    let expected = format!("block {{\"reasoning_details\":[{text},{},{}]}}", encrypted("1"), encrypted("2"));
    assert_eq!(lines[1..4], ["thinking a", "thinking b", &expected]);
}

#[test]
fn content_may_be_a_list_of_parts_and_other_choices_are_not_heard() {
    let parts =
        json!({"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}]});
    assert_eq!(chunks([openai::chunk("c", &parts, Some("stop"))])[1], "text ab");
    let other = json!({"choices": [{"index": 1, "delta": {"content": "no"}}]});
    let lines = chunks([Frame::data(&other), openai::chunk("c", &json!({"content": "yes"}), Some("stop"))]);
    assert_eq!(lines[1], "text yes");
}

#[test]
fn a_call_that_a_limit_cut_off_is_no_call() {
    for (wire, reason) in [(Wire::Anthropic, "max_tokens"), (Wire::OpenAi, "length")] {
        let turn = turn().say("x").call_in("f", ["{\"path\": \"a"]).stop(reason);
        let events = played(wire, turn.stream(theirs(wire)));
        let blocks = events.iter().filter(|event| matches!(event, Event::Block(_))).count();
        assert_eq!(blocks, 1, "{events:?}");
        assert!(matches!(events.last(), Some(Event::Done(done)) if done.stop.kind == StopKind::MaxTokens));
    }
}

#[test]
fn a_call_with_broken_arguments_says_so_and_can_be_replayed() {
    for wire in WIRES {
        let events =
            played(wire, turn().call_in("f", ["{\"path\": \"a"]).call("g", &json!({})).stream(theirs(wire)));
        let calls: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Block(block) => Some(block),
                _ => None,
            })
            .collect();
        assert_eq!(calls.len(), 2, "in the order they were made");
        let View::Call(call) = calls[0].view() else { panic!() };
        assert_eq!(call.input, Input::Broken("{\"path\": \"a".to_owned()));
        assert!(calls[0].raw().get().contains("{}"), "{}", calls[0].raw());
    }
}

#[test]
fn connections_are_used_again() {
    let server = Server::answering(|_| turn().say("x").stream(testkit::model::Wire::Anthropic));
    let client = client(Wire::Anthropic, &server.url());
    let reused = testkit::until(testkit::PATIENCE, || {
        client.start(&hello(), &kit::process::Cancel::default()).reply().unwrap();
        let requests = server.requests();
        requests.len() > 1
            && requests[requests.len() - 1].connection == requests[requests.len() - 2].connection
    });
    assert!(reused);
}
