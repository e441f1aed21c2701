//! Requests: a command with its parameters, and what any command may carry. Reading one never fails without
//! words that can be answered.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer, ser};
use serde_json::{Map, Value};
use thiserror::Error;

/// Which conversation a request is counted for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

/// One line to the daemon.
///
/// `session` has two meanings on the wire: any request may name its session, and `change_impact` may ask for the
/// files of the session with `true`. A name given to `change_impact` says both.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub command: DaemonCommand,
    pub session: Option<SessionId>,
    /// The answer's size, in our estimate of tokens.
    pub max_tokens: Option<u64>,
    /// The first item wanted of the answer's list: what the last answer called `next`.
    pub offset: Option<usize>,
    /// Only files of this language.
    pub lang: Option<String>,
    pub format: Format,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    #[default]
    Json,
    /// For people: the answer is one text, under the key `text`.
    Text,
}

/// What the daemon can be asked, with the parameters that are the command's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub enum DaemonCommand {
    Ping,
    Status,
    Shutdown,
    /// Forgets all that is known; the next question finds it out again.
    Clear,
    Notify {
        file: PathBuf,
    },
    Track {
        hook: String,
        #[serde(default = "yes")]
        success: bool,
        #[serde(default)]
        metrics: BTreeMap<String, f64>,
    },
    Warm {
        language: Option<String>,
    },
    Semantic {
        query: String,
        #[serde(default = "ten")]
        top_k: usize,
    },
    Search {
        pattern: String,
        path: Option<PathBuf>,
        max_results: Option<usize>,
    },
    Extract {
        file: PathBuf,
    },
    Tree {
        path: Option<PathBuf>,
    },
    Structure {
        path: PathBuf,
    },
    Context {
        entry: String,
        depth: Option<usize>,
    },
    Cfg {
        file: PathBuf,
        function: String,
    },
    Dfg {
        file: PathBuf,
        function: String,
    },
    Slice {
        file: PathBuf,
        function: String,
        line: usize,
        #[serde(default)]
        direction: Direction,
        var: Option<String>,
    },
    Calls {
        path: Option<PathBuf>,
    },
    Impact {
        func: String,
        path: Option<PathBuf>,
        depth: Option<usize>,
    },
    Dead {
        path: Option<PathBuf>,
        entry: Option<Vec<String>>,
    },
    Arch {
        path: Option<PathBuf>,
    },
    Imports {
        file: PathBuf,
    },
    Importers {
        module: String,
        path: Option<PathBuf>,
    },
    Diagnostics {
        path: PathBuf,
        project: Option<bool>,
    },
    ChangeImpact {
        files: Option<Vec<PathBuf>>,
        session: Option<bool>,
        git: Option<bool>,
    },
}

/// Which way a slice goes from its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    Backward,
    Forward,
}

impl DaemonCommand {
    /// Every command by its name, with the parameters that it cannot do without.
    pub const TABLE: [(&str, &[&str]); 24] = [
        ("ping", &[]),
        ("status", &[]),
        ("shutdown", &[]),
        ("clear", &[]),
        ("notify", &["file"]),
        ("track", &["hook"]),
        ("warm", &[]),
        ("semantic", &["query"]),
        ("search", &["pattern"]),
        ("extract", &["file"]),
        ("tree", &[]),
        ("structure", &["path"]),
        ("context", &["entry"]),
        ("cfg", &["file", "function"]),
        ("dfg", &["file", "function"]),
        ("slice", &["file", "function", "line"]),
        ("calls", &[]),
        ("impact", &["func"]),
        ("dead", &[]),
        ("arch", &[]),
        ("imports", &["file"]),
        ("importers", &["module"]),
        ("diagnostics", &["path"]),
        ("change_impact", &[]),
    ];
}

/// Why a request cannot be served, in the words that its sender gets.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    #[error("invalid IPC message: {0}")]
    InvalidMessage(String),
    #[error("unknown command: {cmd}")]
    UnknownCommand { cmd: String },
    #[error("missing required parameter: {param}")]
    MissingParameter { param: String },
}

impl From<serde_json::Error> for RequestError {
    fn from(error: serde_json::Error) -> Self {
        RequestError::InvalidMessage(error.to_string())
    }
}

impl Request {
    pub fn new(command: DaemonCommand) -> Request {
        Request { command, session: None, max_tokens: None, offset: None, lang: None, format: Format::Json }
    }

    /// Reads one line. Parameters that no command knows are passed over.
    pub fn parse(line: &str) -> Result<Request, RequestError> {
        let mut fields: Map<String, Value> = serde_json::from_str(line)?;
        // An absent parameter and a null one are the same.
        fields.retain(|_, value| !value.is_null());
        let cmd = match fields.get("cmd") {
            Some(Value::String(cmd)) => cmd.clone(),
            Some(_) => return Err(RequestError::InvalidMessage("`cmd` is not a string".to_owned())),
            None => return Err(RequestError::MissingParameter { param: "cmd".to_owned() }),
        };
        let Some((_, required)) = DaemonCommand::TABLE.iter().find(|(name, _)| *name == cmd) else {
            return Err(RequestError::UnknownCommand { cmd });
        };
        if let Some(param) = required.iter().find(|param| !fields.contains_key(**param)) {
            return Err(RequestError::MissingParameter { param: (*param).to_owned() });
        }
        let session = match fields.get("session") {
            Some(Value::String(id)) => Some(SessionId(id.clone())),
            Some(Value::Bool(_)) | None => None,
            Some(_) => return Err(RequestError::InvalidMessage("`session` is not a name".to_owned())),
        };
        if session.is_some() {
            fields.insert("session".to_owned(), Value::Bool(true));
        }
        let max_tokens = take(&mut fields, "max_tokens")?;
        let offset = take(&mut fields, "offset")?;
        let lang = take(&mut fields, "lang")?;
        let format = take(&mut fields, "format")?.unwrap_or_default();
        let command = serde_json::from_value(Value::Object(fields))?;
        Ok(Request { command, session, max_tokens, offset, lang, format })
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serde_json::to_value(&self.command).map_err(ser::Error::custom)?;
        if let Some(session) = &self.session {
            fields["session"] = session.0.clone().into();
        }
        if let Some(max_tokens) = self.max_tokens {
            fields["max_tokens"] = max_tokens.into();
        }
        if let Some(offset) = self.offset {
            fields["offset"] = offset.into();
        }
        if let Some(lang) = &self.lang {
            fields["lang"] = lang.clone().into();
        }
        if self.format != Format::Json {
            fields["format"] = serde_json::to_value(self.format).map_err(ser::Error::custom)?;
        }
        if let Value::Object(fields) = &mut fields {
            fields.retain(|_, value| !value.is_null());
        }
        fields.serialize(serializer)
    }
}

fn take<T: for<'de> Deserialize<'de>>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, RequestError> {
    let value = fields.remove(name).map(serde_json::from_value).transpose();
    value.map_err(|error| RequestError::InvalidMessage(format!("`{name}`: {error}")))
}

fn yes() -> bool {
    true
}

fn ten() -> usize {
    10
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn said(line: &str) -> String {
        Request::parse(line).unwrap_err().to_string()
    }

    /// A request with a value of the right kind for each required parameter.
    fn smallest(cmd: &str, required: &[&str]) -> Value {
        let mut fields = json!({ "cmd": cmd });
        for param in required {
            fields[*param] = if *param == "line" { json!(7) } else { json!("x") };
        }
        fields
    }

    #[test]
    fn every_command_of_the_table_is_read_and_misses_what_it_needs() {
        for (cmd, required) in DaemonCommand::TABLE {
            let whole = smallest(cmd, required);
            let request = Request::parse(&whole.to_string()).unwrap();
            assert_eq!(serde_json::to_value(&request).unwrap()["cmd"], cmd);
            for param in required {
                let mut fields = whole.clone();
                fields[*param] = Value::Null;
                assert_eq!(said(&fields.to_string()), format!("missing required parameter: {param}"));
            }
        }
    }

    #[test]
    fn the_table_has_every_command() {
        let error = serde_json::from_str::<DaemonCommand>(r#"{"cmd":"?"}"#).unwrap_err().to_string();
        let known: Vec<&str> = DaemonCommand::TABLE.iter().map(|(cmd, _)| *cmd).collect();
        assert!(error.contains(&format!("expected one of `{}`", known.join("`, `"))), "{error}");
    }

    #[test]
    fn the_lines_of_the_specification_are_read_and_written() {
        let stop = Request::new(DaemonCommand::Shutdown);
        assert_eq!(Request::parse(r#"{"cmd": "shutdown"}"#).unwrap(), stop);
        assert_eq!(serde_json::to_string(&stop).unwrap(), r#"{"cmd":"shutdown"}"#);
        let status =
            Request { session: Some(SessionId("ab12cd34".into())), ..Request::new(DaemonCommand::Status) };
        assert_eq!(Request::parse(r#"{"cmd": "status", "session": "ab12cd34"}"#).unwrap(), status);
        assert_eq!(serde_json::to_string(&status).unwrap(), r#"{"cmd":"status","session":"ab12cd34"}"#);
        let search = Request::parse(r#"{"cmd":"search","pattern": "fn main"}"#).unwrap();
        let expected = DaemonCommand::Search { pattern: "fn main".into(), path: None, max_results: None };
        assert_eq!(search.command, expected);
        let notify = Request::new(DaemonCommand::Notify { file: "/p/a.py".into() });
        assert_eq!(serde_json::to_string(&notify).unwrap(), r#"{"cmd":"notify","file":"/p/a.py"}"#);
    }

    #[test]
    fn what_is_left_out_has_the_defaults_of_the_specification() {
        let command = |line| Request::parse(line).unwrap().command;
        assert_eq!(
            command(r#"{"cmd":"track","hook":"h"}"#),
            DaemonCommand::Track { hook: "h".into(), success: true, metrics: BTreeMap::new() }
        );
        assert_eq!(
            command(r#"{"cmd":"semantic","query":"q"}"#),
            DaemonCommand::Semantic { query: "q".into(), top_k: 10 }
        );
        assert!(matches!(
            command(r#"{"cmd":"slice","file":"f","function":"g","line":3}"#),
            DaemonCommand::Slice { direction: Direction::Backward, var: None, .. }
        ));
    }

    #[test]
    fn any_request_may_carry_a_session_a_budget_and_a_language() {
        for (cmd, required) in DaemonCommand::TABLE {
            let mut fields = smallest(cmd, required);
            fields["session"] = json!("ab12cd34");
            fields["max_tokens"] = json!(500);
            fields["lang"] = json!("rust");
            fields["of_tomorrow"] = json!([1]);
            let request = Request::parse(&fields.to_string()).unwrap();
            assert_eq!(request.session, Some(SessionId("ab12cd34".into())), "{cmd}");
            assert_eq!((request.max_tokens, request.lang.as_deref()), (Some(500), Some("rust")));
        }
    }

    #[test]
    fn the_session_of_change_impact_is_a_wish_a_name_or_both() {
        let wish = Request::parse(r#"{"cmd":"change_impact","session":true}"#).unwrap();
        let expected = DaemonCommand::ChangeImpact { files: None, session: Some(true), git: None };
        assert_eq!((&wish.command, &wish.session), (&expected, &None));
        let name = Request::parse(r#"{"cmd":"change_impact","session":"ab12cd34"}"#).unwrap();
        assert_eq!((name.command, name.session), (expected, Some(SessionId("ab12cd34".into()))));
    }

    #[test]
    fn a_bad_request_is_told_in_the_words_of_the_specification() {
        assert_eq!(said(r#"{"cmd":"fly"}"#), "unknown command: fly");
        assert_eq!(said("{}"), "missing required parameter: cmd");
        assert_eq!(said(r#"{"cmd":7}"#), "invalid IPC message: `cmd` is not a string");
        for line in ["", "[", "[]", "7", "null", r#"{"cmd":"slice","file":1,"function":"f","line":2}"#] {
            assert!(said(line).starts_with("invalid IPC message: "), "{line}");
        }
        assert!(said(r#"{"cmd":"tree","max_tokens":-1}"#).starts_with("invalid IPC message: `max_tokens`"));
        assert_eq!(said(r#"{"cmd":"tree","session":7}"#), "invalid IPC message: `session` is not a name");
        let deep = format!(r#"{{"cmd":{}"#, "[".repeat(60_000));
        assert!(said(&deep).contains("recursion limit"));
    }

    proptest! {
        #[test]
        fn a_request_comes_back_as_it_was_sent(
            index in 0..DaemonCommand::TABLE.len(),
            session in prop::option::of("[a-z0-9]{8}"),
            max_tokens in prop::option::of(any::<u64>()),
            offset in prop::option::of(any::<usize>()),
            lang in prop::option::of(".{0,8}"),
        ) {
            let (cmd, required) = DaemonCommand::TABLE[index];
            let mut request = Request::parse(&smallest(cmd, required).to_string()).unwrap();
            request.session = session.map(SessionId);
            request.max_tokens = max_tokens;
            request.offset = offset;
            request.lang = lang;
            if let (DaemonCommand::ChangeImpact { session, .. }, Some(_)) = (&mut request.command, &request.session) {
                *session = Some(true);
            }
            let line = serde_json::to_string(&request).unwrap();
            prop_assert_eq!(Request::parse(&line).unwrap(), request);
        }

        #[test]
        fn no_line_is_a_panic(line in ".{0,200}") {
            let _ = Request::parse(&line);
        }
    }
}
