//! The last look at a request before it is sent, in release builds too. Written from the rules of the providers and not
//! from how a history is built, so that one finds the other's mistakes. Knows no history.

use std::collections::HashSet;

use llm::{Block, CallId, Message, View};
use thiserror::Error;

/// What a provider would refuse, and in which message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("message {} of the request is not valid: {what}", .place + 1)]
pub struct Fault {
    pub place: usize,
    pub what: &'static str,
}

/// Who spoke last.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Nobody,
    User,
    Model,
}

/// Finds the first message that some provider refuses. System messages may stand anywhere but between calls and their
/// results.
pub fn messages(messages: &[Message]) -> Result<(), Fault> {
    let mut last = Last::Nobody;
    let mut due: Option<Vec<&CallId>> = None;
    let mut named = HashSet::new();
    for (place, message) in messages.iter().enumerate() {
        let wrong = |what| Err(Fault { place, what });
        if due.is_some() && !matches!(message, Message::Results(_)) {
            return wrong("the results of calls must follow at once");
        }
        match message {
            Message::System(text) | Message::User(text) if text.trim().is_empty() => {
                return wrong("a text without words");
            }
            Message::System(_) => {}
            Message::User(_) if last == Last::User => return wrong("the user speaks twice"),
            Message::User(_) => last = Last::User,
            Message::Assistant(_) if last != Last::User => return wrong("the model speaks out of turn"),
            Message::Assistant(blocks) => {
                due = assistant(blocks, &mut named).map_err(|what| Fault { place, what })?;
                last = Last::Model;
            }
            Message::Results(results) => {
                let given: Vec<&CallId> = results.iter().map(|result| &result.id).collect();
                match due.take() {
                    None => return wrong("results of no calls"),
                    Some(due) if due != given => return wrong("the results are not those of the calls"),
                    Some(_) => last = Last::User,
                }
                if results.iter().any(|result| result.content.is_empty()) {
                    return wrong("a result without words");
                }
            }
        }
    }
    let end = Fault { place: messages.len().saturating_sub(1), what: "" };
    match (last, due) {
        (Last::Nobody, _) => Err(Fault { what: "nothing is asked", ..end }),
        (_, Some(_)) => Err(Fault { what: "calls without results", ..end }),
        _ => Ok(()),
    }
}

/// The calls whose results are due.
fn assistant<'a>(
    blocks: &'a [Block],
    named: &mut HashSet<&'a CallId>,
) -> Result<Option<Vec<&'a CallId>>, &'static str> {
    if blocks.is_empty() {
        return Err("a reply without content");
    }
    let mut calls = Vec::new();
    for block in blocks {
        match block.view() {
            View::Text(text) if text.trim().is_empty() => return Err("a text without words"),
            View::Call(call) if call.id.0.is_empty() || call.name.is_empty() => {
                return Err("a call without a name");
            }
            View::Call(call) if !named.insert(&call.id) => return Err("two calls of the same name"),
            View::Call(call) => calls.push(&call.id),
            View::Text(_) | View::Thinking(_) | View::Other(_) => {}
        }
    }
    Ok((!calls.is_empty()).then_some(calls))
}

#[cfg(test)]
mod tests {
    use llm::{Outcome, ToolResult};
    use serde_json::Map;

    use super::*;

    fn user() -> Message {
        Message::User("hi".to_owned())
    }

    fn said() -> Message {
        Message::Assistant(vec![Block::text("yes")])
    }

    fn calls(ids: &[&str]) -> Message {
        Message::Assistant(
            ids.iter().map(|id| Block::call(CallId((*id).to_owned()), "x", &Map::new())).collect(),
        )
    }

    fn results(ids: &[&str]) -> Message {
        let result = |id: &&str| ToolResult {
            id: CallId((*id).to_owned()),
            content: "ok".to_owned(),
            outcome: Outcome::Done,
        };
        Message::Results(ids.iter().map(result).collect())
    }

    fn fault(messages: &[Message]) -> (usize, &'static str) {
        let fault = super::messages(messages).unwrap_err();
        (fault.place, fault.what)
    }

    #[test]
    fn what_providers_take_passes() {
        let system = || Message::System("todo".to_owned());
        for good in [
            vec![user()],
            vec![system(), user(), system()],
            vec![user(), said(), user()],
            vec![user(), calls(&["a", "b"]), results(&["a", "b"]), system()],
            vec![user(), calls(&["a"]), results(&["a"]), calls(&["b"]), results(&["b"]), said(), user()],
            vec![user(), said()],
        ] {
            assert_eq!(messages(&good), Ok(()), "{good:?}");
        }
    }

    #[test]
    fn what_some_provider_refuses_is_found() {
        let blank = || Message::User(" \n".to_owned());
        let system = Message::System("x".to_owned());
        let cases: Vec<(Vec<Message>, (usize, &str))> = vec![
            (vec![], (0, "nothing is asked")),
            (vec![system.clone()], (0, "nothing is asked")),
            (vec![blank()], (0, "a text without words")),
            (vec![user(), user()], (1, "the user speaks twice")),
            (vec![said()], (0, "the model speaks out of turn")),
            (vec![user(), said(), said()], (2, "the model speaks out of turn")),
            (vec![user(), Message::Assistant(vec![])], (1, "a reply without content")),
            (vec![user(), Message::Assistant(vec![Block::text(" ")])], (1, "a text without words")),
            (vec![user(), calls(&["a"])], (1, "calls without results")),
            (vec![user(), calls(&["a"]), user()], (2, "the results of calls must follow at once")),
            (vec![user(), calls(&["a"]), system], (2, "the results of calls must follow at once")),
            (
                vec![user(), calls(&["a", "b"]), results(&["a"])],
                (2, "the results are not those of the calls"),
            ),
            (
                vec![user(), calls(&["a", "b"]), results(&["b", "a"])],
                (2, "the results are not those of the calls"),
            ),
            (vec![user(), results(&["a"])], (1, "results of no calls")),
            (vec![user(), calls(&["a", "a"]), results(&["a", "a"])], (1, "two calls of the same name")),
            (vec![user(), calls(&[""]), results(&[""])], (1, "a call without a name")),
            (
                vec![user(), calls(&["a"]), results(&["a"]), calls(&["a"]), results(&["a"])],
                (3, "two calls of the same name"),
            ),
        ];
        for (messages, expected) in cases {
            assert_eq!(fault(&messages), expected, "{messages:?}");
        }
    }
}
