//! What a plugin is told at each hook. An event carries its hook, so that no hook can be fired with another one's data;
//! serialised, it has exactly the documented keys.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Hook;

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Event<'a> {
    OnStart {
        current_context: &'a str,
        verbose: bool,
    },
    OnEnd {
        current_context: &'a str,
    },
    OnContextSwitch {
        from_context: &'a str,
        to_context: &'a str,
        is_transient: bool,
    },
    PreMessage {
        prompt: &'a str,
        context_name: &'a str,
        summary: &'a str,
    },
    PostMessage {
        /// As the model saw it.
        prompt: &'a str,
        response: &'a str,
        context_name: &'a str,
    },
    PreSystemPrompt {
        context_name: &'a str,
        summary: &'a str,
        todos: &'a str,
        goals: &'a str,
    },
    PostSystemPrompt {
        context_name: &'a str,
        summary: &'a str,
        todos: &'a str,
        goals: &'a str,
    },
    PreTool {
        tool_name: &'a str,
        arguments: &'a Map<String, Value>,
    },
    PostTool {
        tool_name: &'a str,
        /// With what plugins changed.
        arguments: &'a Map<String, Value>,
        result: &'a str,
    },
    PreSendMessage {
        from: &'a str,
        to: &'a str,
        content: &'a str,
        context_name: &'a str,
    },
    PostSendMessage {
        from: &'a str,
        to: &'a str,
        content: &'a str,
        context_name: &'a str,
        delivery_result: &'a str,
    },
    PreClear {
        context_name: &'a str,
        message_count: usize,
        summary: &'a str,
    },
    PostClear {
        context_name: &'a str,
    },
    PreCompact {
        context_name: &'a str,
        message_count: usize,
        summary: &'a str,
    },
    PostCompact {
        context_name: &'a str,
        message_count: usize,
        summary: &'a str,
    },
    PreRollingCompact {
        context_name: &'a str,
        message_count: usize,
        non_system_count: usize,
        summary: &'a str,
    },
    PostRollingCompact {
        context_name: &'a str,
        message_count: usize,
        messages_archived: usize,
        summary: &'a str,
    },
}

impl Event<'_> {
    pub fn hook(&self) -> Hook {
        match self {
            Event::OnStart { .. } => Hook::OnStart,
            Event::OnEnd { .. } => Hook::OnEnd,
            Event::OnContextSwitch { .. } => Hook::OnContextSwitch,
            Event::PreMessage { .. } => Hook::PreMessage,
            Event::PostMessage { .. } => Hook::PostMessage,
            Event::PreSystemPrompt { .. } => Hook::PreSystemPrompt,
            Event::PostSystemPrompt { .. } => Hook::PostSystemPrompt,
            Event::PreTool { .. } => Hook::PreTool,
            Event::PostTool { .. } => Hook::PostTool,
            Event::PreSendMessage { .. } => Hook::PreSendMessage,
            Event::PostSendMessage { .. } => Hook::PostSendMessage,
            Event::PreClear { .. } => Hook::PreClear,
            Event::PostClear { .. } => Hook::PostClear,
            Event::PreCompact { .. } => Hook::PreCompact,
            Event::PostCompact { .. } => Hook::PostCompact,
            Event::PreRollingCompact { .. } => Hook::PreRollingCompact,
            Event::PostRollingCompact { .. } => Hook::PostRollingCompact,
        }
    }

    /// The JSON object that a plugin is given.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("strings, numbers and maps with string keys are JSON")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::hooks::POINTS;

    /// One of each, in the order of the table.
    fn events(arguments: &Map<String, Value>) -> [Event<'_>; 17] {
        let (context_name, summary, prompt, tool_name) = ("c", "s", "p", "t");
        let (todos, goals, from, to, content, message_count) = ("t", "g", "a", "b", "x", 3);
        [
            Event::OnStart { current_context: "c", verbose: true },
            Event::OnEnd { current_context: "c" },
            Event::OnContextSwitch { from_context: "a", to_context: "b", is_transient: false },
            Event::PreMessage { prompt, context_name, summary },
            Event::PostMessage { prompt, response: "r", context_name },
            Event::PreSystemPrompt { context_name, summary, todos, goals },
            Event::PostSystemPrompt { context_name, summary, todos, goals },
            Event::PreTool { tool_name, arguments },
            Event::PostTool { tool_name, arguments, result: "r" },
            Event::PreSendMessage { from, to, content, context_name },
            Event::PostSendMessage { from, to, content, context_name, delivery_result: "d" },
            Event::PreClear { context_name, message_count, summary },
            Event::PostClear { context_name },
            Event::PreCompact { context_name, message_count, summary },
            Event::PostCompact { context_name, message_count, summary },
            Event::PreRollingCompact { context_name, message_count, non_system_count: 2, summary },
            Event::PostRollingCompact { context_name, message_count, messages_archived: 1, summary },
        ]
    }

    #[test]
    fn every_hook_tells_exactly_the_documented_keys() {
        for (event, point) in events(&Map::new()).iter().zip(&POINTS) {
            assert_eq!(event.hook(), point.hook);
            let told: Map<String, Value> = serde_json::from_str(&event.json()).unwrap();
            let told: BTreeSet<&str> = told.keys().map(String::as_str).collect();
            assert_eq!(told, point.keys.iter().copied().collect(), "{}", point.name);
        }
    }

    #[test]
    fn data_is_one_compact_line_whatever_is_in_it() {
        let event = Event::PreMessage { prompt: "a\n\"b\"\0ü", context_name: "c", summary: "" };
        assert_eq!(event.json(), r#"{"prompt":"a\n\"b\"\u0000ü","context_name":"c","summary":""}"#);
    }
}
