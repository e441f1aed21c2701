//! The tools that every conversation has: its todos and goals, the memory that all conversations share, messages to
//! other contexts, and a search through what was said. Where these things are kept is behind [`Desk`]; nothing here
//! knows a file.

mod documents;
mod message;
mod search;

use conversation::tools::{Beside, Output, Spec};
use serde_json::{Map, Value, json};

use crate::context::ContextName;
use crate::hooks::{Event, Fired};

/// Where the tools' effects go. What is refused is said to the model in the words of [`Refused`].
pub trait Desk {
    /// The name of the context that the conversation is in.
    fn context(&self) -> String;

    /// Puts `text` in the place of the whole document.
    fn write(&mut self, document: Document, text: &str) -> Result<(), Refused>;

    /// Puts a message into another context's inbox.
    fn deliver(&mut self, letter: &Letter<'_>) -> Result<(), Refused>;

    /// The newest entries of the transcript that hold all words of `query`, newest first.
    fn search(&mut self, query: &str, most: usize) -> Result<Vec<Hit>, Refused>;

    /// Tells plugins, and the person what went wrong with that.
    fn fire(&mut self, event: &Event<'_>) -> Fired;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    Todos,
    Goals,
    /// Shared by all contexts.
    Reflection,
}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letter<'a> {
    pub from: &'a str,
    pub to: &'a ContextName,
    pub content: &'a str,
}

/// An entry that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub id: String,
    /// As a person would write it.
    pub when: String,
    pub from: String,
    pub content: String,
}

/// Why something was not done: `what failed: cause`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Whether the model may keep a memory, and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflection {
    Off,
    UpTo { characters: usize },
}

/// A tool of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    UpdateTodos,
    UpdateGoals,
    UpdateReflection,
    SendMessage,
    SearchTranscript,
}

impl BuiltIn {
    pub const ALL: [BuiltIn; 5] = [
        BuiltIn::UpdateTodos,
        BuiltIn::UpdateGoals,
        BuiltIn::UpdateReflection,
        BuiltIn::SendMessage,
        BuiltIn::SearchTranscript,
    ];

    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::UpdateTodos => "update_todos",
            BuiltIn::UpdateGoals => "update_goals",
            BuiltIn::UpdateReflection => "update_reflection",
            BuiltIn::SendMessage => "send_message",
            BuiltIn::SearchTranscript => "search_transcript",
        }
    }

    pub fn named(name: &str) -> Option<BuiltIn> {
        BuiltIn::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// As a model may call it.
    pub fn spec(self) -> Spec {
        let (description, properties, required): (&str, Value, &[&str]) = match self {
            BuiltIn::UpdateTodos => (
                "Replace the todo list of this conversation. You see it in every turn; it holds what is left to do now.",
                json!({"content": text("The whole new list")}),
                &["content"],
            ),
            BuiltIn::UpdateGoals => (
                "Replace the goals of this conversation. You see them in every turn; they hold what all the work is for.",
                json!({"content": text("All goals")}),
                &["content"],
            ),
            BuiltIn::UpdateReflection => (
                "Replace your memory, which you see in every turn of every conversation: what you want to know for good.",
                json!({"content": text("The whole new memory; what you leave out is forgotten")}),
                &["content"],
            ),
            BuiltIn::SendMessage => (
                "Send a message to another conversation. It is read there at the start of the next turn.",
                json!({
                    "to": text("The name of the other context"),
                    "content": text("The message"),
                    "from": text("Who says so; this context if you leave it out"),
                }),
                &["to", "content"],
            ),
            BuiltIn::SearchTranscript => (
                "Find earlier entries of this conversation, also those that are no longer in front of you.",
                json!({"query": text("Words that an entry must all have, in any order and case")}),
                &["query"],
            ),
        };
        let schema = json!({"type": "object", "properties": properties, "required": required});
        let beside = if self == BuiltIn::SearchTranscript { Beside::Others } else { Beside::Nobody };
        Spec::new(self.name(), description, schema).beside(beside)
    }

    /// Does what the tool does. Arguments need not have been checked.
    pub fn run(self, arguments: &Map<String, Value>, reflection: Reflection, desk: &mut dyn Desk) -> Output {
        let done = match self {
            BuiltIn::UpdateTodos => documents::write(Document::Todos, arguments, desk),
            BuiltIn::UpdateGoals => documents::write(Document::Goals, arguments, desk),
            BuiltIn::UpdateReflection => documents::reflect(arguments, reflection, desk),
            BuiltIn::SendMessage => message::send(arguments, desk),
            BuiltIn::SearchTranscript => search::search(arguments, desk),
        };
        match done {
            Ok(said) => Output::done(said),
            Err(Refused(why)) => Output::failed(why),
        }
    }
}

/// The tools of a conversation.
pub fn specs(reflection: Reflection) -> Vec<Spec> {
    let offered = |tool: &BuiltIn| *tool != BuiltIn::UpdateReflection || reflection != Reflection::Off;
    BuiltIn::ALL.into_iter().filter(offered).map(BuiltIn::spec).collect()
}

/// Whether a name is taken by a tool of our own.
pub fn is_built_in(name: &str) -> bool {
    BuiltIn::named(name).is_some()
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// An argument that must be there.
fn argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, Refused> {
    match arguments.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Refused(format!("`{name}` must be a string"))),
        None => Err(Refused(format!("`{name}` is missing"))),
    }
}

#[cfg(test)]
mod tests;
