//! What a provider can remember of a request: everything but what changes, which comes last.

use super::*;

/// How many bytes two requests have in common from their beginning.
fn common(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count()
}

#[test]
fn over_fifty_turns_nearly_all_of_a_request_was_sent_before() {
    // Every third turn changes the todos, every seventh the goals.
    let server = Server::answering(|request| {
        let body = request.json();
        let last = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .find(|said| said["role"] != "system")
            .unwrap()
            .clone();
        let number: usize = last["content"]
            .as_str()
            .unwrap_or_default()
            .split_whitespace()
            .last()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0);
        match (last["role"].as_str(), number) {
            (Some("user"), n) if n % 3 == 0 => {
                said(turn().call("update_todos", &json!({"content": format!("todo {n}")})))
            }
            (Some("user"), n) if n % 7 == 0 => {
                said(turn().call("update_goals", &json!({"content": format!("goal {n}")})))
            }
            _ => says(&format!(
                "This is the answer, which has some length as answers do. {}",
                "word ".repeat(40)
            )),
        }
    });
    let chibi = Chibi::asking(&server);
    chibi.home.write(".chibi/prompts/chibi.md", "You are a careful assistant. ".repeat(20));
    for number in 1..=50 {
        chibi.told(&[&format!("A question of some length, as questions are, with the number {number}")]);
    }
    let requests = server.finish();
    assert!(requests.len() > 60, "{}", requests.len());
    let bodies: Vec<String> =
        requests.iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect();
    let (mut shared, mut whole) = (0, 0);
    for pair in bodies.windows(2) {
        shared += common(&pair[0], &pair[1]);
        whole += pair[0].len();
    }
    let percent = shared as f64 / whole as f64 * 100.0;
    assert!(percent >= 95.0, "{percent:.1} % of each request came again in the next");
}

#[test]
fn caching_is_asked_for_where_it_is_wanted_and_before_what_changes() {
    let ask = |more: &str| {
        let server = Server::scripted([turn().say("ok").stream(Wire::Anthropic)]);
        let chibi = Chibi::bare();
        let text =
            format!("model = \"claude-opus-5-5\"\nbase_url = \"{}/v1/messages\"\n{more}\n", server.url());
        chibi.home.write(".chibi/config.toml", text);
        chibi.home.write(".chibi/prompts/chibi.md", "You are kind.");
        chibi.home.write(".chibi/contexts/default/todos.md", "one");
        chibi.told(&["hi"]);
        server.finish().remove(0).json()
    };
    let body = ask("");
    assert!(body["system"].to_string().contains("cache_control"), "{body}");
    assert!(body["messages"][0].to_string().contains("cache_control"), "{body}");
    assert!(!body["messages"][1].to_string().contains("cache_control"), "{body}");
    assert!(!ask("[api]\nprompt_caching = false").to_string().contains("cache_control"));
}
