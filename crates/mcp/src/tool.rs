//! A tool as it is declared, called and answered. Knows no stream and no version of the protocol's messages
//! beyond the shape of a tool and its result, which all versions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::Version;
use crate::message::object;

type Handler<S> = Box<dyn Fn(&mut S, &Call) -> Result<ToolResult, BadArguments> + Send + Sync>;

/// A tool of a server whose connections each have a state `S`, declared in one place: what the model reads,
/// what it may pass, and what happens.
pub struct Tool<S> {
    pub(crate) declared: Declared,
    handler: Handler<S>,
}

/// What a client is told of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) name: String,
    title: Option<String>,
    description: String,
    schema: Value,
}

impl<S> Tool<S> {
    /// `schema` is the JSON schema of the arguments, an object. What it calls `required` is checked before
    /// `handler` runs; types are the handler's to check, see [`Call::parse`].
    ///
    /// A handler runs on the thread that serves the connection, one at a time. Its panics are not caught: the
    /// smallest binaries are built without unwinding.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        handler: impl Fn(&mut S, &Call) -> Result<ToolResult, BadArguments> + Send + Sync + 'static,
    ) -> Tool<S> {
        let (name, description) = (name.into(), description.into());
        Declared { name, title: None, description, schema }.handled_by(handler)
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Tool<S> {
        self.declared.title = Some(title.into());
        self
    }

    pub fn name(&self) -> &str {
        &self.declared.name
    }

    pub(crate) fn call(&self, state: &mut S, call: &Call) -> Result<ToolResult, BadArguments> {
        let required =
            self.declared.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in required {
            if !call.arguments.contains_key(name) {
                return Err(BadArguments(format!("{name} required")));
            }
        }
        (self.handler)(state, call)
    }
}

impl Declared {
    pub(crate) fn handled_by<S>(
        self,
        handler: impl Fn(&mut S, &Call) -> Result<ToolResult, BadArguments> + Send + Sync + 'static,
    ) -> Tool<S> {
        Tool { declared: self, handler: Box::new(handler) }
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut value =
            json!({"name": self.name, "description": self.description, "inputSchema": self.schema});
        if let Some(title) = &self.title {
            value["title"] = title.as_str().into();
        }
        value
    }
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    pub arguments: Map<String, Value>,
    /// What the client speaks; see [`Version::is_stateless`] for what that says about the connection.
    pub version: Version,
    pub cancel: Cancel,
}

impl Call {
    /// The arguments as a type of the handler's own.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, BadArguments> {
        T::deserialize(&self.arguments).map_err(|error| BadArguments(error.to_string()))
    }
}

/// The arguments do not fit the schema: answered as invalid params, not as a tool that failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BadArguments(pub String);

/// Set when the client no longer wants the answer. What a cancelled call returns is dropped.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a tool answers, on either side. One that makes a reply above [`crate::LINE_CAP`] is replaced by an error
/// that names the size: a tool that may have so much to say cuts it, and tells how to get the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    pub content: Vec<Content>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// The tool ran and says that it failed; the content says why, for the model to read.
    pub is_error: bool,
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Text(String),
    /// An image, a link or what else the protocol has, as it stands on the wire.
    Other(Value),
}

impl ToolResult {
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult { content: vec![Content::Text(text.into())], ..ToolResult::default() }
    }

    pub fn error(text: impl Into<String>) -> ToolResult {
        ToolResult { is_error: true, ..ToolResult::text(text) }
    }

    /// An object for programs, and the same as text for clients that know only text.
    pub fn structured(object: Map<String, Value>) -> ToolResult {
        let object = Value::Object(object);
        ToolResult { structured: Some(object.clone()), ..ToolResult::text(object.to_string()) }
    }

    /// The text pieces, one after the other.
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| match piece {
            Content::Text(text) => Some(text.as_str()),
            Content::Other(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn into_value(self) -> Value {
        let content = self.content.into_iter().map(Content::into_value).collect();
        let always = [("content", content), ("isError", self.is_error.into())];
        let structured = self.structured.map(|structured| ("structuredContent", structured));
        object(always.into_iter().chain(structured)).into()
    }

    /// `None` if it is no result of a tool at all.
    pub(crate) fn of(mut value: Value) -> Option<ToolResult> {
        let fields = value.as_object_mut()?;
        let structured = fields.remove("structuredContent");
        let content = match fields.remove("content") {
            Some(Value::Array(pieces)) => pieces.into_iter().map(Content::of).collect(),
            None if structured.is_some() => Vec::new(),
            _ => return None,
        };
        let is_error = fields.get("isError").and_then(Value::as_bool).unwrap_or(false);
        Some(ToolResult { content, structured, is_error })
    }
}

impl Content {
    fn of(value: Value) -> Content {
        match (value["type"].as_str(), value["text"].as_str()) {
            (Some("text"), Some(text)) => Content::Text(text.to_owned()),
            _ => Content::Other(value),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Content::Text(text) => object([("type", "text".into()), ("text", text.into())]).into(),
            Content::Other(value) => value,
        }
    }
}
