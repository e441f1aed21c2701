//! A home with a project in it, and a model that says what a test tells it to.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::model::{Reply, Request, Server, Turn, Wire, turn};
use testkit::{Home, Output, bin};

pub(crate) struct Rig {
    pub(crate) home: Home,
    pub(crate) server: Server,
}

impl Rig {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Rig {
        let rig = Rig { home: Home::new(), server: Server::scripted(replies) };
        std::fs::create_dir_all(rig.project()).unwrap();
        rig
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("p")
    }

    /// The agent in the project, asking the scripted model.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(bin("agent"));
        command.args(["--api-url", &self.server.url()]).args(args).current_dir(self.project());
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.piped(args, "")
    }

    #[track_caller]
    pub(crate) fn piped(&self, args: &[&str], stdin: &str) -> Output {
        self.home.run_with(&mut self.command(args), stdin)
    }

    /// Every request, after a look at whether a provider would have taken it.
    #[track_caller]
    pub(crate) fn requests(self) -> Vec<Value> {
        let requests = self.server.finish();
        requests.iter().for_each(valid);
        requests.iter().map(Request::json).collect()
    }
}

pub(crate) fn says(words: &str) -> Reply {
    turn().say(words).stream(Wire::Anthropic)
}

pub(crate) fn calls(name: &str, input: &Value) -> Reply {
    turn().call(name, input).stream(Wire::Anthropic)
}

pub(crate) fn stream(turn: Turn) -> Reply {
    turn.stream(Wire::Anthropic)
}

/// The texts of the results in the last message of a request, and whether each failed.
#[track_caller]
pub(crate) fn results(request: &Value) -> Vec<(String, bool)> {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let blocks = last["content"].as_array().unwrap_or_else(|| panic!("no results in {last}"));
    let text = |block: &Value| match &block["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    };
    let result = |block: &&Value| block["type"] == "tool_result";
    blocks.iter().filter(result).map(|block| (text(block), block["is_error"] == true)).collect()
}

/// All text of a message.
pub(crate) fn words(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    }
}

/// What Anthropic refuses: calls without results, results without calls, nothing said, roles that do not take turns.
#[track_caller]
fn valid(request: &Request) {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "user", "{body}");
    let blocks = |message: &Value, kind: &str, key: &str| -> Vec<String> {
        let all = message["content"].as_array().cloned().unwrap_or_default();
        all.iter()
            .filter(|block| block["type"] == kind)
            .map(|block| block[key].as_str().unwrap().to_owned())
            .collect()
    };
    let mut owed = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        assert_eq!(message["role"], ["user", "assistant"][place % 2], "message {place} of {body}");
        assert!(
            !message["content"].as_array().is_some_and(Vec::is_empty),
            "message {place} is empty: {body}"
        );
        assert_eq!(blocks(message, "tool_result", "tool_use_id"), owed, "message {place} of {body}");
        owed = blocks(message, "tool_use", "id");
    }
    assert_eq!(owed, [] as [String; 0], "{body}");
}
