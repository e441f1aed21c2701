//! What is sent: the same request on both wires, and what goes back of what was said before.

use kit::process::Cancel;
use llm::{
    Block, Cache, CallId, Client, Effort, Event, Format, Key, Message, Options, Outcome, Provider, Reasoning,
    Request, Setup, Tool, ToolChoice, ToolResult, Wire, provider,
};
use serde_json::{Map, Value, json};
use testkit::model::{Request as Sent, Server, turn};

use crate::{client, hello, somebody, theirs};

/// What arrives when this is sent.
fn sent_by(provider: Provider, request: &Request) -> Sent {
    let server = Server::scripted([turn().say("ok").stream(theirs(provider.wire))]);
    let target = somebody(provider.wire, &server.url()).target;
    let client = Client::new(Provider { target, ..provider }, Setup::default());
    client.start(request, &Cancel::default()).reply().unwrap();
    server.finish().remove(0)
}

fn sent(wire: Wire, request: &Request) -> Sent {
    sent_by(somebody(wire, "http://localhost"), request)
}

fn tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    Tool { name: "read".to_owned(), description: "reads".to_owned(), schema }
}

fn conversation() -> Request {
    let input = Map::from_iter([("path".to_owned(), json!("a"))]);
    let call = Block::call(CallId("toolu_1".to_owned()), "read", &input);
    let result =
        |outcome| ToolResult { id: CallId("toolu_1".to_owned()), content: "gone".to_owned(), outcome };
    Request {
        system: "be brief".to_owned(),
        messages: vec![
            Message::User("look".to_owned()),
            Message::Assistant(vec![Block::text("Sure."), call]),
            Message::Results(vec![result(Outcome::Failed)]),
            Message::System("todo: nothing".to_owned()),
        ],
        tools: vec![tool()],
        ..hello()
    }
}

#[test]
fn a_conversation_is_written_for_anthropic() {
    let request = sent(Wire::Anthropic, &conversation());
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("sk-secret"));
    assert_eq!(request.header("anthropic-version"), Some("2026-10-21"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("authorization"), None);
    let expected = json!({
        "model": "m", "max_tokens": 16384, "stream": true, "cache_control": {"type": "ephemeral"},
        "tools": [{"name": "read", "description": "reads", "input_schema": tool().schema}],
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Sure."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "gone", "is_error": true},
            ]},
            {"role": "system", "content": [{"type": "text", "text": "todo: nothing"}]},
        ],
    });
    assert_eq!(request.json(), expected);
}

#[test]
fn a_conversation_is_written_for_chat_completions() {
    let request = sent(Wire::OpenAi, &conversation());
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(request.header("anthropic-version"), None);
    let function = json!({"name": "read", "arguments": "{\"path\":\"a\"}"});
    let expected = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "tools": [{"type": "function",
            "function": {"name": "read", "description": "reads", "parameters": tool().schema}}],
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": "Sure.",
                "tool_calls": [{"id": "toolu_1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "toolu_1", "content": "Error: gone"},
            {"role": "system", "content": "todo: nothing"},
        ],
    });
    assert_eq!(request.json(), expected);
}

#[test]
fn a_conversation_that_grows_at_its_end_grows_at_the_end_of_its_bytes() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let short = conversation();
        let mut long = conversation();
        long.messages.push(Message::User("and now?".to_owned()));
        let (short, long) = (sent(wire, &short).body, sent(wire, &long).body);
        let common = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
        assert!(common >= short.len() - 2, "{wire:?}: {common} of {}", short.len());
    }
}

#[test]
fn without_a_key_no_header_speaks_of_one() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let request = sent_by(Provider { key: None, ..somebody(wire, "http://localhost") }, &hello());
        assert_eq!((request.header("x-api-key"), request.header("authorization")), (None, None));
    }
}

#[test]
fn an_anthropic_key_may_travel_as_a_bearer_and_the_version_be_the_old_one() {
    let old = Provider {
        auth: provider::Auth::Bearer,
        anthropic_version: "2023-06-01".to_owned(),
        ..somebody(Wire::Anthropic, "http://localhost")
    };
    let options = Options { temperature: Some(0.5), top_p: Some(0.9), ..Options::default() };
    let request = sent_by(old, &Request { options, ..conversation() });
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(request.header("x-api-key"), None);
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    let body = request.json();
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.5), &json!(0.9)));
    assert_eq!(body["messages"][3]["role"], "user", "the old version knows no system in the middle");
}

fn everything() -> Options {
    Options {
        max_tokens: Some(100),
        temperature: Some(0.5),
        top_p: Some(0.9),
        frequency_penalty: Some(0.1),
        presence_penalty: Some(0.2),
        seed: Some(7),
        stop: vec!["END".to_owned()],
        tool_choice: Some(ToolChoice::Required),
        parallel_tool_calls: Some(false),
        reasoning: Some(Reasoning { effort: Some(Effort::High), ..Reasoning::default() }),
        format: Some(Format::Schema {
            name: "n".to_owned(),
            schema: json!({"type": "object"}),
            strict: Some(true),
        }),
    }
}

#[test]
fn every_setting_is_said_in_the_words_of_the_wire() {
    let request = Request { options: everything(), tools: vec![tool()], cache: Cache::Off, ..hello() };
    let mut body = sent(Wire::OpenAi, &request).json();
    let wanted = json!({
        "max_tokens": 100, "temperature": 0.5, "top_p": 0.9, "frequency_penalty": 0.1, "presence_penalty": 0.2,
        "seed": 7, "stop": ["END"], "tool_choice": "required", "parallel_tool_calls": false,
        "reasoning_effort": "high",
        "response_format": {"type": "json_schema",
            "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
    });
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&body[name], value, "{name}");
    }
    body = sent(Wire::Anthropic, &request).json();
    let wanted = json!({
        "max_tokens": 100, "stop_sequences": ["END"], "cache_control": null,
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "temperature": null, "top_p": null, "seed": null, "thinking": null,
    });
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&body[name], value, "{name}");
    }
}

#[test]
fn settings_that_a_wire_does_not_know_are_told() {
    let server = Server::scripted([turn().say("ok").stream(theirs(Wire::Anthropic))]);
    let request = Request { options: everything(), ..hello() };
    let stream = client(Wire::Anthropic, &server.url()).start(&request, &Cancel::default());
    let note = stream.reply().unwrap().notes.remove(0).to_string();
    let named = "temperature, top_p, frequency_penalty, presence_penalty, seed";
    assert_eq!(note, format!("this provider does not take {named}"));
}

#[test]
fn without_tools_nothing_is_said_about_tools() {
    let body = sent(Wire::OpenAi, &Request { options: everything(), ..hello() }).json();
    for name in ["tools", "tool_choice", "parallel_tool_calls"] {
        assert_eq!(body.get(name), None, "{name}");
    }
}

#[test]
fn thinking_can_be_switched_off_on_and_bounded() {
    let thinking = |reasoning: Reasoning| {
        let options = Options { reasoning: Some(reasoning), ..Options::default() };
        sent(Wire::Anthropic, &Request { options, ..hello() }).json()["thinking"].clone()
    };
    let default = Reasoning::default;
    assert_eq!(thinking(Reasoning { enabled: Some(false), ..default() }), json!({"type": "disabled"}));
    assert_eq!(thinking(Reasoning { effort: Some(Effort::None), ..default() }), json!({"type": "disabled"}));
    let adaptive = json!({"type": "adaptive", "display": "omitted"});
    assert_eq!(thinking(Reasoning { enabled: Some(true), exclude: Some(true), ..default() }), adaptive);
    let bounded = json!({"type": "enabled", "budget_tokens": 2000, "display": "summarized"});
    assert_eq!(
        thinking(Reasoning { max_tokens: Some(2000), effort: Some(Effort::Low), ..default() }),
        bounded
    );
}

#[test]
fn what_a_model_said_goes_back_to_it_byte_for_byte() {
    let input = "{\"z\": 1.50, \"a\":\"\\u00fc\"}";
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let said = turn().think("hm", "sig").say("Sure.").call_in("read", input.split_inclusive(','));
        let server = Server::scripted([said.stream(theirs(wire)), turn().say("ok").stream(theirs(wire))]);
        let client = client(wire, &server.url());
        let cancel = Cancel::default();
        let first = client.start(&hello(), &cancel).reply().unwrap();
        // Through a store and back.
        let stored = serde_json::to_string(&first.blocks).unwrap();
        let blocks: Vec<Block> = serde_json::from_str(&stored).unwrap();
        assert_eq!(blocks, first.blocks);
        let id = first.blocks[2].as_call().unwrap().id.clone();
        let mut next = hello();
        next.messages.push(Message::Assistant(blocks));
        let result = ToolResult { id, content: "text".to_owned(), outcome: Outcome::Done };
        next.messages.push(Message::Results(vec![result]));
        client.start(&next, &cancel).reply().unwrap();
        let sent = server.finish().remove(1);
        let body = String::from_utf8(sent.body.clone()).unwrap();
        match wire {
            Wire::Anthropic => {
                assert!(body.contains(&format!("\"input\":{input}")), "{body}");
                let thinking = &sent.json()["messages"][1]["content"][0];
                assert_eq!(*thinking, json!({"type": "thinking", "thinking": "hm", "signature": "sig"}));
            }
            Wire::OpenAi => {
                let message = &sent.json()["messages"][1];
                assert_eq!(message["content"], "Sure.");
                assert_eq!(message["tool_calls"][0]["function"]["arguments"], input);
                assert_eq!(message.get("reasoning_details"), None, "only OpenRouter understands them");
            }
        }
    }
}

/// What OpenRouter would get.
fn to_openrouter(request: &Request) -> Value {
    let target = provider::Target::Http(
        provider::Endpoint::new("https://openrouter.ai/api/v1/chat/completions").unwrap(),
    );
    let provider = Provider { target, ..somebody(Wire::OpenAi, "http://localhost") };
    serde_json::from_slice(&provider.body(request)).unwrap()
}

#[test]
fn openrouter_gets_its_own_words() {
    let reasoning = Reasoning { effort: Some(Effort::High), max_tokens: Some(500), ..Reasoning::default() };
    let mut request = conversation();
    request.options.reasoning = Some(reasoning);
    let body = to_openrouter(&request);
    assert_eq!(body["reasoning"], json!({"max_tokens": 500}), "effort beside a budget is refused");
    assert_eq!(body["cache_control"], json!({"type": "ephemeral"}));
}

fn stored(blocks: &[&str]) -> Vec<Block> {
    let read =
        |block: &&str| serde_json::from_str(&format!(r#"{{"wire":"openai","block":{block}}}"#)).unwrap();
    blocks.iter().map(read).collect()
}

#[test]
fn thinking_goes_back_to_those_who_want_it() {
    let details = r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}],"reasoning":"hm"}"#;
    let more = r#"{"reasoning_details":[{"type":"reasoning.text","text":"y","signature":"s"}]}"#;
    let plain = r#"{"reasoning_content":"hm"}"#;
    let (text, call) =
        (r#"{"content":"x"}"#, r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#);
    let request = |blocks: &[&str]| {
        let mut request = hello();
        request.messages.push(Message::Assistant(stored(blocks)));
        request
    };
    let message = &to_openrouter(&request(&[details, text, more]))["messages"][1];
    let both = json!([
        {"type": "reasoning.encrypted", "data": "x"},
        {"type": "reasoning.text", "text": "y", "signature": "s"},
    ]);
    assert_eq!(message["reasoning_details"], both);
    assert_eq!(message.get("reasoning"), None, "once is enough");
    let others = |blocks: &[&str]| sent(Wire::OpenAi, &request(blocks)).json()["messages"][1].clone();
    assert_eq!(others(&[plain, call])["reasoning_content"], "hm", "beside calls it is thought further");
    assert_eq!(others(&[plain, text]).get("reasoning_content"), None, "elsewhere some refuse it");
    assert_eq!(others(&[details, call]).get("reasoning_details"), None);
    assert_eq!(others(&[details, call])["reasoning"], "hm");
}

#[test]
fn a_message_of_which_nothing_is_left_is_not_sent() {
    let mut request = hello();
    request.messages.push(Message::Assistant(stored(&[r#"{"reasoning_content":"hm"}"#])));
    request.messages.push(Message::User("well?".to_owned()));
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let roles: Vec<_> = sent(wire, &request).json()["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["role"].clone())
            .collect();
        assert_eq!(roles, ["user", "user"]);
    }
}

#[test]
fn another_providers_words_are_told_in_this_ones_and_its_thoughts_are_not() {
    let server = Server::scripted([turn()
        .think("hm", "sig")
        .say("Sure.")
        .call("read", &json!({}))
        .stream(theirs(Wire::OpenAi))]);
    let (events, _) = crate::all(crate::ask(Wire::OpenAi, &server.url()));
    let blocks: Vec<Block> = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Block(block) => Some(block),
            _ => None,
        })
        .collect();
    let mut request = hello();
    request.messages.push(Message::Assistant(blocks));
    let result =
        ToolResult { id: CallId("call_1".to_owned()), content: "x".to_owned(), outcome: Outcome::Done };
    request.messages.push(Message::Results(vec![result]));
    let content = &sent(Wire::Anthropic, &request).json()["messages"][1]["content"];
    let expected = json!([
        {"type": "text", "text": "Sure."},
        {"type": "tool_use", "id": "call_1", "name": "read", "input": {}},
    ]);
    assert_eq!(*content, expected);
}

#[test]
fn names_of_calls_that_anthropic_would_refuse_are_respelled_on_both_ends() {
    let stored = r#"{"wire":"openai","block":{"id":"functions.read:0","type":"function",
        "function":{"name":"read","arguments":"{}"}}}"#;
    let block: Block = serde_json::from_str(stored).unwrap();
    let id = block.as_call().unwrap().id.clone();
    let mut request = hello();
    request.messages.push(Message::Assistant(vec![block]));
    let result = ToolResult { id, content: "x".to_owned(), outcome: Outcome::Done };
    request.messages.push(Message::Results(vec![result]));
    let messages = &sent(Wire::Anthropic, &request).json()["messages"];
    assert_eq!(messages[1]["content"][0]["id"], "functions_read_0");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "functions_read_0");
}

#[test]
fn a_mark_for_the_cache_stands_behind_the_message_that_was_named() {
    let request = Request { cache: Cache::Through(2), ..conversation() };
    let body = sent(Wire::Anthropic, &request).json();
    assert_eq!(body.get("cache_control"), None);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["messages"][3]["content"][0].get("cache_control"), None);
    let body = to_openrouter(&request);
    let marked = json!([{"type": "text", "text": "Error: gone", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(body["messages"][3]["content"], marked);
    let body = sent(Wire::OpenAi, &request).json();
    assert_eq!(body["messages"][3]["content"], "Error: gone", "others are told nothing");
}

#[test]
fn a_key_is_nowhere_to_be_seen() {
    let provider = somebody(Wire::OpenAi, "http://localhost");
    let client = Client::new(provider.clone(), Setup::default());
    assert_eq!(provider.key, Some(Key::new("sk-secret").unwrap()));
    for shown in [format!("{provider:?}"), format!("{client:?}")] {
        assert!(!shown.contains("sk-secret"), "{shown}");
    }
}
