//! The 17 moments at which a plugin may look on or have a say, each declared once: its name, what plugins are told and
//! which of their answers counts. Pure: who the plugins are and how they are run is [`crate::plugins`]' business.

mod answer;
mod event;

use std::fmt;

pub use answer::{Answer, Blocked, Claim, Fired, Role, Verdict, Warning};
pub use event::Event;

/// A moment that plugins can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    OnStart,
    OnEnd,
    OnContextSwitch,
    PreMessage,
    PostMessage,
    PreSystemPrompt,
    PostSystemPrompt,
    PreTool,
    PostTool,
    PreSendMessage,
    PostSendMessage,
    PreClear,
    PostClear,
    PreCompact,
    PostCompact,
    PreRollingCompact,
    PostRollingCompact,
}

/// What a hook is, as people and plugins see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub hook: Hook,
    pub name: &'static str,
    /// Of the JSON object that a plugin is given.
    pub keys: &'static [&'static str],
    pub honoured: Honoured,
}

/// Which answer of a plugin changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Honoured {
    Nothing,
    /// `{"prompt": "…"}` takes the prompt's place; the last one wins.
    Prompt,
    /// `{"inject": "…"}` is put before the system prompt, or after it.
    Inject,
    /// `{"block": true, "message": "…"}`, the first one; or `{"arguments": {…}}`, the last ones.
    Verdict,
    /// `{"delivered": true, "via": "…"}`: the first plugin that says so has taken care of the message.
    Claim,
}

/// Every hook, in the order of a run.
pub const POINTS: [Point; 17] = {
    use Honoured::{Claim, Inject, Nothing, Prompt, Verdict};
    const SYSTEM: &[&str] = &["context_name", "summary", "todos", "goals"];
    const WINDOW: &[&str] = &["context_name", "message_count", "summary"];
    [
        point(Hook::OnStart, "on_start", &["current_context", "verbose"], Nothing),
        point(Hook::OnEnd, "on_end", &["current_context"], Nothing),
        point(
            Hook::OnContextSwitch,
            "on_context_switch",
            &["from_context", "to_context", "is_transient"],
            Nothing,
        ),
        point(Hook::PreMessage, "pre_message", &["prompt", "context_name", "summary"], Prompt),
        point(Hook::PostMessage, "post_message", &["prompt", "response", "context_name"], Nothing),
        point(Hook::PreSystemPrompt, "pre_system_prompt", SYSTEM, Inject),
        point(Hook::PostSystemPrompt, "post_system_prompt", SYSTEM, Inject),
        point(Hook::PreTool, "pre_tool", &["tool_name", "arguments"], Verdict),
        point(Hook::PostTool, "post_tool", &["tool_name", "arguments", "result"], Nothing),
        point(Hook::PreSendMessage, "pre_send_message", &["from", "to", "content", "context_name"], Claim),
        point(
            Hook::PostSendMessage,
            "post_send_message",
            &["from", "to", "content", "context_name", "delivery_result"],
            Nothing,
        ),
        point(Hook::PreClear, "pre_clear", WINDOW, Nothing),
        point(Hook::PostClear, "post_clear", &["context_name"], Nothing),
        point(Hook::PreCompact, "pre_compact", WINDOW, Nothing),
        point(Hook::PostCompact, "post_compact", WINDOW, Nothing),
        point(
            Hook::PreRollingCompact,
            "pre_rolling_compact",
            &["context_name", "message_count", "non_system_count", "summary"],
            Nothing,
        ),
        point(
            Hook::PostRollingCompact,
            "post_rolling_compact",
            &["context_name", "message_count", "messages_archived", "summary"],
            Nothing,
        ),
    ]
};

impl Hook {
    pub fn point(self) -> &'static Point {
        &POINTS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.point().name
    }

    pub fn named(name: &str) -> Option<Hook> {
        POINTS.iter().find(|point| point.name == name).map(|point| point.hook)
    }

    /// Whether something is about to happen that a guard who cannot answer keeps from happening. What is over, and the
    /// start and end of a run, cannot be kept from happening.
    pub fn can_be_blocked(self) -> bool {
        self.name().starts_with("pre_")
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const fn point(hook: Hook, name: &'static str, keys: &'static [&'static str], honoured: Honoured) -> Point {
    Point { hook, name, keys, honoured }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_hooks_and_names_are_found_again() {
        for (place, point) in POINTS.iter().enumerate() {
            assert_eq!(point.hook as usize, place, "{}", point.name);
            assert_eq!(Hook::named(point.name), Some(point.hook));
            assert_eq!(point.hook.to_string(), point.name);
        }
        assert_eq!(Hook::named("pre_file_write"), None);
    }
}
