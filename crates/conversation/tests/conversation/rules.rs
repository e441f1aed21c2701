//! What the two providers refuse, told from the JSON that they get and from nothing else.

use std::collections::HashSet;

use llm::Wire;
use serde_json::Value;

/// The first rule that a request breaks.
pub(crate) fn broken(wire: Wire, body: &Value) -> Option<String> {
    let checked = match wire {
        Wire::Anthropic => anthropic(body),
        Wire::OpenAi => openai(body),
    };
    checked.err()
}

fn rule(holds: bool, rule: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(rule.to_owned()) }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn kind(block: &Value) -> &str {
    text(block, "type")
}

fn anthropic(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("messages is a list")?;
    let spoken: Vec<&Value> = messages.iter().filter(|message| message["role"] != "system").collect();
    rule(!spoken.is_empty(), "at least one message")?;
    rule(spoken[0]["role"] == "user", "the first message is the user's")?;
    let (mut ids, mut served, mut answered) = (HashSet::new(), Vec::new(), HashSet::new());
    for (place, message) in spoken.iter().enumerate() {
        let content = message["content"].as_array().ok_or("content is a list")?;
        rule(!content.is_empty(), "content is not empty")?;
        let before = place.checked_sub(1).map(|place| spoken[place]);
        rule(before.is_none_or(|before| before["role"] != message["role"]), "roles take turns")?;
        let expected = if place % 2 == 0 { "user" } else { "assistant" };
        rule(message["role"] == expected, "a known role in its turn")?;
        let due: Vec<&str> = before.map(called).unwrap_or_default();
        let results: Vec<&Value> = content.iter().filter(|block| kind(block) == "tool_result").collect();
        let given: Vec<&str> = results.iter().map(|block| text(block, "tool_use_id")).collect();
        rule(due == given, "each tool_use has its tool_result in the next message, and no other has one")?;
        rule(results.is_empty() || results.len() == content.len(), "only results beside results")?;
        for block in content {
            match kind(block) {
                "text" => rule(!is_blank(text(block, "text")), "a text has words")?,
                "tool_result" => rule(!is_blank(text(block, "content")), "a result has words")?,
                "tool_use" => {
                    rule(message["role"] == "assistant", "only the model calls")?;
                    rule(is_name(text(block, "id")) && is_name(text(block, "name")), "names of letters")?;
                    rule(block["input"].is_object(), "input is an object")?;
                    rule(ids.insert(text(block, "id")), "ids of calls are unique")?;
                }
                "server_tool_use" => served.push(text(block, "id")),
                other => {
                    if other.ends_with("_tool_result") {
                        answered.insert(text(block, "tool_use_id"));
                    }
                }
            }
        }
        let last = content.last().map(kind).unwrap_or_default();
        let open = place + 1 == spoken.len();
        rule(open || !last.contains("thinking"), "a thought is not the last block")?;
        if message["role"] == "user" && results.is_empty() {
            let all = served.iter().all(|id| answered.contains(id));
            rule(all, "what the server was asked is answered before the user speaks")?;
        }
    }
    rule(called(spoken[spoken.len() - 1]).is_empty(), "no call is the end")
}

fn called(message: &Value) -> Vec<&str> {
    let content = message["content"].as_array().into_iter().flatten();
    content.filter(|block| kind(block) == "tool_use").map(|block| text(block, "id")).collect()
}

fn openai(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("messages is a list")?;
    let mut due: Vec<&str> = Vec::new();
    let mut ids = HashSet::new();
    let mut spoken = "";
    for message in messages {
        let role = text(message, "role");
        if role != "tool" {
            rule(due.is_empty(), "an assistant message with tool_calls is followed by all its results")?;
        }
        match role {
            "system" => {}
            "user" => {
                rule(!is_blank(text(message, "content")), "the user says something")?;
                rule(spoken != "user", "the user does not speak twice")?;
            }
            "assistant" => {
                rule(spoken == "user" || spoken == "tool", "the model answers somebody")?;
                let calls: Vec<&Value> = message["tool_calls"].as_array().into_iter().flatten().collect();
                let silent = message["content"].is_null() || is_blank(text(message, "content"));
                rule(!silent || !calls.is_empty(), "the model says or calls something")?;
                for call in calls {
                    let arguments = text(&call["function"], "arguments");
                    let object =
                        serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
                    rule(object, "arguments are an object")?;
                    rule(!text(&call["function"], "name").is_empty(), "a function has a name")?;
                    rule(ids.insert(text(call, "id")) && !text(call, "id").is_empty(), "ids are unique")?;
                    due.push(text(call, "id"));
                }
            }
            "tool" => {
                let place = due.iter().position(|id| *id == text(message, "tool_call_id"));
                due.remove(place.ok_or("a tool message answers a call")?);
                rule(!is_blank(text(message, "content")), "a result has words")?;
            }
            _ => return Err(format!("an unknown role {role}")),
        }
        if role != "system" {
            spoken = role;
        }
    }
    rule(due.is_empty(), "all calls are answered")?;
    rule(!spoken.is_empty(), "somebody speaks")
}

#[test]
fn the_rules_find_what_breaks_them() {
    use serde_json::json;
    let user = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let call =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}]});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "r"}]});
    let said = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}]});
    let told = |messages: Vec<&Value>| broken(Wire::Anthropic, &json!({"messages": messages}));
    assert_eq!(told(vec![&user, &call, &result("a"), &said, &user]), None);
    for bad in [
        vec![],
        vec![&said],
        vec![&user, &user],
        vec![&user, &call],
        vec![&user, &call, &user],
        vec![&user, &call, &result("b")],
        vec![&user, &said, &result("a")],
        vec![&user, &call, &result("a"), &call, &result("a")],
    ] {
        assert!(told(bad.clone()).is_some(), "{bad:?}");
    }
    let user = json!({"role": "user", "content": "hi"});
    let call = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
    let empty = json!({"role": "assistant", "content": null});
    let told = |messages: Vec<&Value>| broken(Wire::OpenAi, &json!({"messages": messages}));
    assert_eq!(told(vec![&user, &call, &result]), None);
    for bad in [
        vec![],
        vec![&user, &call],
        vec![&user, &call, &user],
        vec![&user, &result],
        vec![&user, &empty],
        vec![&user, &user],
    ] {
        assert!(told(bad.clone()).is_some(), "{bad:?}");
    }
}
