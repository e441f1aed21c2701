//! Blocks, outputs and prompts at random, the odd ones as often as the good ones.

use conversation::tools::Output;
use conversation::{Reply, Returned};
use llm::{Block, CallId, ToolResult, Wire};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use testkit::Random;

const WORDS: [&str; 6] = ["yes", "let me look", "\u{1f980} no\n", " ", "", "a \"quoted\" line\\"];
const IDS: [&str; 6] = ["a", "b", "x.y", "x_y", "", "toolu_1"];
const NAMES: [&str; 6] = ["read", "write", "read", "nobody", "", "odd name"];

pub(crate) fn words(random: &mut Random) -> String {
    (*random.pick(&WORDS)).to_owned()
}

pub(crate) fn block(random: &mut Random) -> Block {
    let anthropic = |value: &Value| Block::from_raw(Wire::Anthropic, to_raw_value(value).unwrap());
    let openai = |value: &Value| Block::from_raw(Wire::OpenAi, to_raw_value(value).unwrap());
    let server = format!("srv_{}", random.below(3));
    match random.below(10) {
        0 => anthropic(&json!({"type": "text", "text": words(random)})),
        1 => openai(&json!({"content": words(random)})),
        2 => anthropic(&json!({"type": "thinking", "thinking": words(random), "signature": "s"})),
        3 => openai(&json!({"reasoning": words(random)})),
        4 => anthropic(&json!({"type": "server_tool_use", "id": server, "name": "web_search", "input": {}})),
        5 => anthropic(&json!({"type": "web_search_tool_result", "tool_use_id": server, "content": []})),
        6 => anthropic(&json!({"type": "from_the_future", "x": 1.50})),
        7 | 8 => {
            let inputs = [json!({}), json!({"path": "a"}), json!({"path": 1}), Value::Null, json!("broken")];
            let (id, name, input) = (random.pick(&IDS), random.pick(&NAMES), random.pick(&inputs));
            anthropic(&json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        _ => {
            let inputs = ["{}", "{\"path\": \"a\"}", "", "{\"path\":", "[1]"];
            let (id, name, input) = (random.pick(&IDS), random.pick(&NAMES), random.pick(&inputs));
            let function = json!({"name": name, "arguments": input});
            openai(&json!({"id": id, "type": "function", "function": function}))
        }
    }
}

pub(crate) fn blocks(random: &mut Random) -> Vec<Block> {
    (0..random.below(5)).map(|_| block(random)).collect()
}

pub(crate) fn output(random: &mut Random) -> Output {
    let content = match random.below(8) {
        0 => "x".repeat(random.below(3000)),
        _ => words(random),
    };
    let output = if random.below(3) == 0 { Output::failed(content) } else { Output::done(content) };
    let rests_on = (0..random.below(2)).map(|_| CallId((*random.pick(&IDS)).to_owned())).collect();
    output.resting_on(rests_on)
}

/// A result for each call, in some order.
pub(crate) fn results(random: &mut Random, reply: &Reply) -> Vec<Returned> {
    let mut results: Vec<Returned> = reply
        .calls()
        .iter()
        .map(|call| {
            let Output { content, outcome, rests_on } = output(random);
            Returned { result: ToolResult { id: call.id.clone(), content, outcome }, rests_on }
        })
        .collect();
    let turned = random.below(results.len());
    results.rotate_left(turned);
    results
}
