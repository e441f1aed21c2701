//! What a model said, in two forms at once: the provider's own JSON, to be sent back to it untouched, and a view of it
//! that everybody else reads. Knows no stream and no history.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

/// Whose language a block or a request is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat completions of OpenAI and all who took them over.
    OpenAi,
}

/// The provider's name for a call of a tool; the result carries it back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One complete block of a reply. Stored as `{"wire": …, "block": …}`, where `block` is the provider's JSON byte for
/// byte.
#[derive(Debug, Clone, Serialize)]
pub struct Block {
    wire: Wire,
    #[serde(rename = "block")]
    raw: Box<RawValue>,
    #[serde(skip)]
    view: View,
}

/// What a block means.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    Text(String),
    /// Shown or not, it goes back with its signature to the provider it came from, and to nobody else.
    Thinking(String),
    Call(Call),
    /// A kind that we do not know, by its name: kept and replayed.
    Other(String),
}

/// A call of one of our tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub name: String,
    pub input: Input,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub enum Input {
    /// A JSON object, as the model wrote it.
    Object(Box<RawValue>),
    /// What came instead of one. It is replayed as `{}`; the tool's result should say what was wrong.
    Broken(String),
}

impl Block {
    /// A text of our own, in place of something a model did not say.
    pub fn text(text: &str) -> Block {
        let raw = raw(&json!({"type": "text", "text": text}));
        Block { wire: Wire::Anthropic, raw, view: View::Text(text.to_owned()) }
    }

    /// A call that was recorded elsewhere.
    pub fn call(id: CallId, name: &str, input: &Map<String, Value>) -> Block {
        let body = json!({"type": "tool_use", "id": id.0, "name": name, "input": input});
        let call = Call { id, name: name.to_owned(), input: Input::Object(raw(input)) };
        Block { wire: Wire::Anthropic, raw: raw(&body), view: View::Call(call) }
    }

    pub(crate) fn new(wire: Wire, raw: Box<RawValue>, view: View) -> Block {
        Block { wire, raw, view }
    }

    /// Reads a block as it was stored. Anything that is JSON is a block: what we do not understand is [`View::Other`].
    pub fn from_raw(wire: Wire, raw: Box<RawValue>) -> Block {
        match wire {
            Wire::Anthropic => crate::anthropic::block(raw),
            Wire::OpenAi => crate::openai::block(raw),
        }
    }

    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// The provider's own JSON.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn as_text(&self) -> Option<&str> {
        if let View::Text(text) = &self.view { Some(text) } else { None }
    }

    pub fn as_call(&self) -> Option<&Call> {
        if let View::Call(call) = &self.view { Some(call) } else { None }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Stored {
            wire: Wire,
            block: Box<RawValue>,
        }
        let stored = Stored::deserialize(deserializer)?;
        Ok(Block::from_raw(stored.wire, stored.block))
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.wire == other.wire && self.raw.get() == other.raw.get() && self.view == other.view
    }
}

impl Input {
    /// What a model wrote as arguments. Nothing at all, or `null`, is an empty object.
    pub fn read(text: &str) -> Input {
        let trimmed = text.trim();
        if matches!(trimmed, "" | "null") {
            return Input::empty();
        }
        // What is JSON by its grammar may still be too deep or too large a number for anybody to read.
        let is_readable = serde_json::from_str::<Map<String, Value>>(trimmed).is_ok();
        match serde_json::from_str(trimmed) {
            Ok(json) if is_readable => Input::Object(json),
            _ => Input::Broken(text.to_owned()),
        }
    }

    pub fn empty() -> Input {
        Input::Object(raw(&Map::new()))
    }

    /// The object as JSON; `{}` if there is none.
    pub fn json(&self) -> &str {
        match self {
            Input::Object(json) => json.get(),
            Input::Broken(_) => "{}",
        }
    }

    /// None if there is none.
    pub fn object(&self) -> Option<Map<String, Value>> {
        match self {
            Input::Object(json) => serde_json::from_str(json.get()).ok(),
            Input::Broken(_) => None,
        }
    }
}

impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Input::Object(one), Input::Object(other)) => one.get() == other.get(),
            (Input::Broken(one), Input::Broken(other)) => one == other,
            _ => false,
        }
    }
}

/// `value` as JSON text.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("strings, numbers and maps with string keys are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_stored_and_read_again_byte_for_byte() {
        let stored = r#"{"wire":"anthropic","block":{"z": 1.50, "type":"from_the_future","a":[ ]}}"#;
        let block: Block = serde_json::from_str(stored).unwrap();
        assert_eq!(block.view(), &View::Other("from_the_future".to_owned()));
        assert_eq!(serde_json::to_string(&block).unwrap(), stored);
    }

    #[test]
    fn arguments_that_are_no_object_are_broken_and_none_at_all_is_an_empty_one() {
        for nothing in ["", "  ", "null", " null\n"] {
            assert_eq!(Input::read(nothing), Input::empty());
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
        let broken = ["{\"a\":", "[1]", "\"x\"", "{\"a\":1} {\"b\":2}", "}{", "1", "{\"a\":1e999}", &deep];
        for broken in broken {
            assert_eq!(Input::read(broken), Input::Broken(broken.to_owned()));
            assert_eq!(Input::read(broken).json(), "{}");
        }
        assert_eq!(Input::read(" {\"b\": 1, \"a\": 2}").json(), "{\"b\": 1, \"a\": 2}");
    }
}
