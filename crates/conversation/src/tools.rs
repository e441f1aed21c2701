//! The tools that a model may call, each declared once: what the provider is told, how arguments are checked, how much a
//! result may be, and what runs it. What a tool does is its owner's.

mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;

use kit::text;
use llm::{Call, CallId, Input, Outcome, Tool};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// The most of a result that a model is given, unless the tool says otherwise.
pub const CAP: usize = 100_000;

/// The longest name that all providers take.
const NAME: usize = 64;

/// How much of arguments that cannot be read is shown to the model again.
const EXCERPT: usize = 200;

/// A tool as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments: an object.
    pub schema: Value,
    pub beside: Beside,
    pub cap: Cap,
}

/// Whether other calls of the same reply may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// It changes nothing that they could see.
    Others,
    /// After all before it, and before all after it.
    Nobody,
}

/// How much of a result is given to the model: its beginning and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cap {
    pub bytes: usize,
    /// How to get the rest, in the model's eyes: `use offset and limit`.
    pub rest: String,
}

impl Spec {
    /// A tool that runs alone, with the usual cap.
    pub fn new(name: &str, description: &str, schema: Value) -> Spec {
        let cap = Cap { bytes: CAP, rest: String::new() };
        Spec {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
            beside: Beside::Nobody,
            cap,
        }
    }

    #[must_use]
    pub fn beside(mut self, beside: Beside) -> Spec {
        self.beside = beside;
        self
    }

    #[must_use]
    pub fn cap(mut self, bytes: usize, rest: &str) -> Spec {
        self.cap = Cap { bytes, rest: rest.to_owned() };
        self
    }
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub content: String,
    pub outcome: Outcome,
    /// See [`crate::Returned::rests_on`].
    pub rests_on: Vec<CallId>,
}

impl Output {
    pub fn done(content: impl Into<String>) -> Output {
        Output { content: content.into(), outcome: Outcome::Done, rests_on: Vec::new() }
    }

    pub fn failed(content: impl Into<String>) -> Output {
        Output { outcome: Outcome::Failed, ..Output::done(content) }
    }

    #[must_use]
    pub fn resting_on(mut self, ids: Vec<CallId>) -> Output {
        self.rests_on = ids;
        self
    }
}

/// A call that was checked: the tool is there, and takes these arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: CallId,
    pub name: String,
    pub arguments: Map<String, Value>,
}

/// Why a tool cannot be declared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotDeclared {
    #[error("`{0}` is no name for a tool: up to 64 letters, digits, `_` and `-`")]
    Name(String),
    #[error("there are two tools called `{0}`")]
    Twice(String),
    #[error("the schema of `{0}` is no object")]
    Schema(String),
}

/// All tools of a conversation, by name, without what runs them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Specs(BTreeMap<String, Spec>);

impl Specs {
    fn declare(&mut self, spec: Spec) -> Result<(), NotDeclared> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if spec.name.is_empty() || spec.name.len() > NAME || !spec.name.chars().all(plain) {
            return Err(NotDeclared::Name(spec.name));
        }
        if !spec.schema.is_object() {
            return Err(NotDeclared::Schema(spec.name));
        }
        if self.0.contains_key(&spec.name) {
            return Err(NotDeclared::Twice(spec.name));
        }
        self.0.insert(spec.name.clone(), spec);
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Spec> {
        self.0.get(name)
    }

    /// As the provider is told, in an order that never changes.
    pub fn tools(&self) -> Vec<Tool> {
        self.0.values().map(tool).collect()
    }

    /// Whether the call can run; if not, what the model is told.
    pub fn check(&self, call: &Call) -> Result<Task, Output> {
        let spec = self.get(&call.name).ok_or_else(|| self.unknown(&call.name))?;
        let arguments = match &call.input {
            Input::Object(_) => call.input.object().ok_or_else(|| unreadable(call, call.input.json()))?,
            Input::Broken(text) => return Err(unreadable(call, text)),
        };
        checked(spec, call.id.clone(), arguments)
    }

    /// The same call with other arguments, which are checked like a model's.
    pub(crate) fn recheck(&self, task: &Task, arguments: Map<String, Value>) -> Result<Task, Output> {
        let spec = self.get(&task.name).ok_or_else(|| self.unknown(&task.name))?;
        checked(spec, task.id.clone(), arguments)
    }

    /// No more than the tool's cap.
    pub(crate) fn capped(&self, name: &str, mut output: Output) -> Output {
        let cap = self.get(name).map(|spec| &spec.cap);
        let (bytes, rest) = cap.map_or((CAP, ""), |cap| (cap.bytes, cap.rest.as_str()));
        if output.content.len() > bytes {
            output.content = text::clip(&output.content, bytes, rest);
        }
        output
    }

    fn unknown(&self, name: &str) -> Output {
        let names = self.0.keys().map(String::as_str);
        let hint = match text::nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.0.is_empty() => "there are no tools".to_owned(),
            None => format!("there are: {}", names.take(40).collect::<Vec<_>>().join(", ")),
        };
        Output::failed(format!("there is no tool `{}`; {hint}", text::head(&text::plain(name), NAME)))
    }
}

fn tool(spec: &Spec) -> Tool {
    let mut schema = spec.schema.clone();
    // Some providers refuse a schema that does not say so.
    if schema.get("type").is_none() {
        schema["type"] = json!("object");
    }
    Tool { name: spec.name.clone(), description: spec.description.clone(), schema }
}

fn checked(spec: &Spec, id: CallId, mut arguments: Map<String, Value>) -> Result<Task, Output> {
    match schema::problems(&spec.schema, &mut arguments) {
        problems if problems.is_empty() => Ok(Task { id, name: spec.name.clone(), arguments }),
        problems => Err(Output::failed(format!(
            "`{}` was not run, its arguments are wrong: {}",
            spec.name,
            problems.join("; ")
        ))),
    }
}

fn unreadable(call: &Call, arguments: &str) -> Output {
    Output::failed(format!(
        "`{}` was not run, its arguments are no JSON object: {}\nSend the whole call again.",
        call.name,
        text::clip(arguments, EXCERPT, "")
    ))
}

/// Tools with what runs them.
#[derive(Debug, Clone)]
pub struct Registry<H> {
    specs: Arc<Specs>,
    handlers: BTreeMap<String, H>,
}

impl<H> Registry<H> {
    /// All at once: the tools of a conversation do not change, since the provider's cache begins with them.
    pub fn new(tools: impl IntoIterator<Item = (Spec, H)>) -> Result<Registry<H>, NotDeclared> {
        let (mut specs, mut handlers) = (Specs::default(), BTreeMap::new());
        for (spec, handler) in tools {
            handlers.insert(spec.name.clone(), handler);
            specs.declare(spec)?;
        }
        Ok(Registry { specs: Arc::new(specs), handlers })
    }

    pub fn specs(&self) -> &Arc<Specs> {
        &self.specs
    }

    pub fn handler(&self, name: &str) -> Option<&H> {
        self.handlers.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> Registry<&'static str> {
        let schema =
            json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let read = Spec::new("read_file", "reads", schema).beside(Beside::Others).cap(10, "use offset");
        Registry::new([(Spec::new("todo", "t", json!({})), "todo"), (read, "read")]).unwrap()
    }

    fn call(name: &str, arguments: &str) -> Call {
        Call { id: CallId("a".to_owned()), name: name.to_owned(), input: Input::read(arguments) }
    }

    fn told(name: &str, arguments: &str) -> String {
        registry().specs().check(&call(name, arguments)).unwrap_err().content
    }

    #[test]
    fn a_tool_is_declared_once_and_told_in_a_fixed_order() {
        let registry = registry();
        let names: Vec<_> = registry.specs().tools().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["read_file", "todo"]);
        assert_eq!(registry.specs().tools()[1].schema, json!({"type": "object"}));
        assert_eq!(registry.handler("todo"), Some(&"todo"));
        let twice = ["a", "a"].map(|name| (Spec::new(name, "", json!({})), ()));
        assert_eq!(Registry::new(twice).unwrap_err(), NotDeclared::Twice("a".to_owned()));
        for name in ["", "a b", "a.b", &"x".repeat(65)] {
            let bad = Registry::new([(Spec::new(name, "", json!({})), ())]).unwrap_err();
            assert_eq!(bad, NotDeclared::Name(name.to_owned()));
        }
        let bad = Registry::new([(Spec::new("a", "", json!([])), ())]).unwrap_err();
        assert_eq!(bad, NotDeclared::Schema("a".to_owned()));
    }

    #[test]
    fn what_cannot_run_is_answered_with_what_to_do() {
        assert_eq!(told("raed_file", "{}"), "there is no tool `raed_file`; did you mean `read_file`?");
        assert_eq!(told("zzzzzz", "{}"), "there is no tool `zzzzzz`; there are: read_file, todo");
        assert_eq!(
            told("read_file", "{\"path\": \"a"),
            "`read_file` was not run, its arguments are no JSON object: {\"path\": \"a\nSend the whole call again."
        );
        assert_eq!(
            told("read_file", ""),
            "`read_file` was not run, its arguments are wrong: `path` (string) is missing"
        );
        let deep = format!("{{\"path\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert!(told("read_file", &deep).contains("are no JSON object"), "too deep to be read");
        let task = registry().specs().check(&call("read_file", "{\"path\": \"a\"}")).unwrap();
        assert_eq!(Value::Object(task.arguments), json!({"path": "a"}));
    }

    #[test]
    fn a_result_keeps_its_ends_and_says_how_to_get_the_rest() {
        let specs = registry().specs().as_ref().clone();
        let capped = specs.capped("read_file", Output::done("0123456789abcdef"));
        assert_eq!(capped.content, "01234\n[… 6 bytes left out; use offset …]\nbcdef");
        assert_eq!(specs.capped("read_file", Output::done("short")).content, "short");
        assert!(specs.capped("gone", Output::done("x".repeat(CAP + 1))).content.contains("1 bytes left out"));
    }
}
