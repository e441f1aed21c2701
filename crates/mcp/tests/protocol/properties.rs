//! What holds for every input, checked on the committed corpus, on its mutations and on generated messages.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::served::served;

#[test]
fn any_bytes_are_served() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    testkit::fuzz("mcp-server", corpus, 10_000, |bytes| {
        served(bytes);
    });
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// Something near a message: each field right, wrong or missing.
fn near_message() -> impl Strategy<Value = Value> {
    let methods = ["initialize", "ping", "server/discover", "tools/list", "tools/call", "nothing"];
    let version = select(vec!["2024-11-05", "2025-11-25", "2026-07-28", "1900-01-01"]);
    let params = version.prop_map(|version| {
        json!({
            "protocolVersion": version, "name": "echo", "arguments": {"text": "x"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        })
    });
    fn maybe(good: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Option<Value>> {
        prop_oneof![6 => good.prop_map(Some), 1 => any_json().prop_map(Some), 1 => Just(None)]
    }
    let id = prop_oneof![any::<i64>().prop_map(Value::from), ".{0,6}".prop_map(Value::from)];
    let fields = (
        maybe(Just(json!("2.0"))),
        maybe(id),
        maybe(select(methods.map(Value::from).to_vec())),
        maybe(params),
        prop_oneof![9 => Just(None), 1 => any_json().prop_map(Some)],
    );
    fields.prop_map(|(jsonrpc, id, method, params, result)| {
        let fields =
            [("jsonrpc", jsonrpc), ("id", id), ("method", method), ("params", params), ("result", result)];
        let present = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(present.collect())
    })
}

fn any_line() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => near_message(),
        1 => any_json(),
        1 => prop::collection::vec(near_message(), 0..5).prop_map(Value::from),
    ]
}

/// What JSON-RPC asks for, told in another way than the server's: the id to answer with, or no answer.
fn wanted(message: &Value) -> Option<Value> {
    let id = match message.get("id") {
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => id.clone(),
        _ => Value::Null,
    };
    let in_order = message["jsonrpc"] == "2.0";
    let notification = in_order && message["method"].is_string() && message.get("id").is_none();
    let answer = message.get("result").is_some() || message.get("error").is_some();
    let response = in_order && message.get("method").is_none() && answer;
    (!notification && !response).then_some(id)
}

fn ids(reply: &Value) -> Value {
    match reply {
        Value::Array(replies) => replies.iter().map(|reply| reply["id"].clone()).collect(),
        reply => reply["id"].clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_request_is_answered_once_in_order_with_its_id(lines in prop::collection::vec(any_line(), 1..12)) {
        let mut expected = Vec::new();
        for line in &lines {
            match line {
                Value::Array(batch) if batch.is_empty() => expected.push(Value::Null),
                Value::Array(batch) => {
                    let ids: Vec<Value> = batch.iter().filter_map(wanted).collect();
                    expected.extend((!ids.is_empty()).then_some(Value::Array(ids)));
                }
                message => expected.extend(wanted(message)),
            }
        }
        let bytes: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let answered: Vec<Value> = served(bytes.as_bytes()).iter().map(ids).collect();
        prop_assert_eq!(answered, expected);
    }
}
