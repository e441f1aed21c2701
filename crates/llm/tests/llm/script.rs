//! A model that is a file.

use kit::process::Cancel;
use llm::{Client, Error, Event, Kind, Provider, Setup, StopKind, Wire, provider};
use testkit::Home;

use crate::{hello, somebody, told};

fn playing(text: &str) -> (Home, Client) {
    let home = Home::new();
    home.write("script", text);
    let target = provider::Target::Script(home.path().join("script"));
    let client = Client::new(Provider { target, ..somebody(Wire::Anthropic, "http://x") }, Setup::default());
    (home, client)
}

fn next(client: &Client) -> Result<Vec<Event>, Error> {
    client.start(&hello(), &Cancel::default()).collect()
}

#[test]
fn turns_are_played_in_order_and_the_end_is_told() {
    let (_home, client) = playing(concat!(
        "data: {\"think\": \"hm\"}\n\n",
        "data: {\"say\": \"Let me look.\"}\n\n",
        "data: {\"call\": \"read_file\", \"input\": {\"path\": \"a\"}}\n\n",
        "data: {\"usage\": {\"input_tokens\": 5}}\n\n",
        "data: [DONE]\n\n",
        "data: {\"say\": \"Cut\"}\n\ndata: {\"stop\": \"max_tokens\"}\n\n",
    ));
    assert_eq!(
        told(&next(&client).unwrap()),
        [
            "started",
            "thinking hm",
            r#"block {"signature":"script","thinking":"hm","type":"thinking"}"#,
            "text Let ",
            "text me ",
            "text look.",
            r#"block {"text":"Let me look.","type":"text"}"#,
            "call 9 toolu_script_1_1 read_file",
            r#"arguments 9 {"path":"a"}"#,
            r#"block {"id":"toolu_script_1_1","name":"read_file","type":"tool_use","input":{"path":"a"}}"#,
            "done ToolUse tool_use",
        ]
    );
    // A clone has the same place in it.
    let last = client.clone().start(&hello(), &Cancel::default()).reply().unwrap();
    assert_eq!((last.text().as_str(), last.done.stop.kind), ("Cut", StopKind::MaxTokens));
    assert_eq!(next(&client).unwrap_err().to_string(), "cannot play the script: it has 2 turns, and no more");
}

#[test]
fn a_written_failure_fails_once() {
    let (_home, client) = playing(concat!(
        "data: {\"fail\": 529, \"message\": \"Overloaded\", \"retry_after\": 0}\n\ndata: [DONE]\n\n",
        "data: {\"say\": \"ok\"}\n\n",
    ));
    let error = next(&client).unwrap_err();
    assert_eq!(error.complaint().unwrap().kind, Kind::Overloaded);
    assert_eq!(error.to_string(), "the provider answered 529: Overloaded");
    assert!(next(&client).is_ok());
}

#[test]
fn what_was_recorded_is_played_as_it_is_on_either_wire() {
    let anthropic = include_str!("../corpus/anthropic/turn");
    let openai = include_str!("../corpus/openai/turn");
    let (_home, client) = playing(&format!("{anthropic}{openai}"));
    let first = client.start(&hello(), &Cancel::default()).reply().unwrap();
    let second = client.start(&hello(), &Cancel::default()).reply().unwrap();
    assert_eq!([first.text(), second.text()], ["Grüße 🦀", "Grüße 🦀"]);
    assert_eq!([first.blocks[0].wire(), second.blocks[0].wire()], [Wire::Anthropic, Wire::OpenAi]);
}

#[test]
fn a_script_that_is_not_there_or_not_understood_says_so() {
    let (home, client) = playing("data: {\"sing\": \"la\"}\n\n");
    let told = next(&client).unwrap_err().to_string();
    assert!(told.contains("turn 1: {\"sing\":\"la\"} is none of say, think, call"), "{told}");
    let target = provider::Target::Script(home.path().join("absent"));
    let client = Client::new(Provider { target, ..somebody(Wire::Anthropic, "http://x") }, Setup::default());
    assert!(matches!(next(&client), Err(Error::Script(_))));
}
