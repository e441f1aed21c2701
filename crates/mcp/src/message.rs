//! JSON-RPC 2.0: what a JSON value means as a message, and how messages are written. Knows no method.

use std::fmt;

use serde_json::{Map, Number, Value};

/// What correlates a reply with its request. The protocol allows strings and integers, so that every id can be
/// echoed exactly as it came.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

impl Id {
    pub(crate) fn of(value: &Value) -> Option<Id> {
        match value {
            Value::String(text) => Some(Id::Text(text.clone())),
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(Id::Number(number.clone())),
            _ => None,
        }
    }

    /// The part of it that is as long as the peer likes.
    pub(crate) fn text(&self) -> &str {
        match self {
            Id::Number(_) => "",
            Id::Text(text) => text,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Id::Number(number) => Value::Number(number.clone()),
            Id::Text(text) => Value::String(text.clone()),
        }
    }
}

/// Named parameters; MCP has no others.
pub(crate) type Params = Map<String, Value>;

/// One message of the peer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    Request(Request),
    Notification {
        method: String,
        params: Params,
    },
    /// A reply; the id is missing where the peer could not read ours.
    Response {
        id: Option<Id>,
        outcome: Result<Value, RpcError>,
    },
    /// To be answered with this error; the id is there if it could be read.
    Invalid {
        id: Option<Id>,
        error: RpcError,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Params,
}

/// What one JSON value is as a message. A value that is none is data too: it wants an error reply.
pub(crate) fn classify(value: Value) -> Message {
    let Value::Object(mut fields) = value else {
        return Message::Invalid { id: None, error: RpcError::invalid_request("a message is an object") };
    };
    let raw_id = fields.remove("id");
    let id = raw_id.as_ref().and_then(Id::of);
    let invalid = |id, why: &str| Message::Invalid { id, error: RpcError::invalid_request(why) };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "jsonrpc must be \"2.0\"");
    }
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return invalid(id, "method must be a string"),
        None => return response(id, fields),
    };
    let params = match fields.remove("params") {
        None => Ok(Params::new()),
        Some(Value::Object(params)) => Ok(params),
        Some(_) => Err(RpcError::invalid_params("params must be an object")),
    };
    match (raw_id, id, params) {
        // A notification is never answered, not even a wrong one.
        (None, _, params) => Message::Notification { method, params: params.unwrap_or_default() },
        (Some(_), None, _) => invalid(None, "id must be a string or an integer"),
        (Some(_), Some(id), Ok(params)) => Message::Request(Request { id, method, params }),
        (Some(_), id, Err(error)) => Message::Invalid { id, error },
    }
}

fn response(id: Option<Id>, mut fields: Map<String, Value>) -> Message {
    if let Some(result) = fields.remove("result") {
        return Message::Response { id, outcome: Ok(result) };
    }
    match fields.remove("error") {
        Some(error) => Message::Response { id, outcome: Err(RpcError::of(&error)) },
        None => {
            Message::Invalid { id, error: RpcError::invalid_request("a message has a method or a result") }
        }
    }
}

pub(crate) fn request(id: &Id, method: &str, params: Params) -> Value {
    let jsonrpc = ("jsonrpc", "2.0".into());
    object([jsonrpc, ("id", id.to_value()), ("method", method.into()), ("params", params.into())]).into()
}

pub(crate) fn notification(method: &str, params: Params) -> Value {
    object([("jsonrpc", "2.0".into()), ("method", method.into()), ("params", params.into())]).into()
}

/// A reply. An id that could not be read is `null`, as JSON-RPC asks.
pub(crate) fn reply(id: Option<&Id>, outcome: Result<Value, RpcError>) -> Value {
    let outcome = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error.into_value()),
    };
    object([("jsonrpc", "2.0".into()), ("id", id.map_or(Value::Null, Id::to_value)), outcome]).into()
}

/// An object made of what it is given: `json!` would copy every value that is not a literal.
pub(crate) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// An error of the protocol, as opposed to a tool that says it failed.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl RpcError {
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

    pub(crate) fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    pub(crate) fn parse(message: impl Into<String>) -> RpcError {
        RpcError::new(-32700, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> RpcError {
        RpcError::new(-32600, message)
    }

    pub(crate) fn unknown_method() -> RpcError {
        RpcError::new(-32601, "method not found")
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> RpcError {
        RpcError::new(-32602, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> RpcError {
        RpcError::new(-32603, message)
    }

    /// What a peer's error object says, however little of it is in order.
    fn of(error: &Value) -> RpcError {
        RpcError {
            code: error["code"].as_i64().unwrap_or(0),
            message: error["message"].as_str().unwrap_or("no message").to_owned(),
            data: error.get("data").cloned(),
        }
    }

    fn into_value(self) -> Value {
        let said = [("code", self.code.into()), ("message", self.message.into())];
        object(said.into_iter().chain(self.data.map(|data| ("data", data)))).into()
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}
