//! `tldr mcp`: the same questions for clients that speak the Model Context Protocol. A tool is a command of the socket with
//! its parameters; only the default size of an answer is another, since what it costs is a model's context.

use std::sync::Arc;

use kit::{Exit, Failure};
use mcp::{BadArguments, Call, Server, ServerInfo, Tool, ToolResult, serve};
use serde_json::{Map, Value, json};
use wire::tldr::{DaemonResponse, Request};

use crate::door::Door;

/// What an answer may cost if the model does not say.
const MAX_TOKENS: u64 = 2_500;

const INSTRUCTIONS: &str = "Ask about code here before you open files: who calls a function (impact), what it needs \
(context), what a file declares (extract), which lines matter for one of them (slice). Answers hold for the files as they \
are now. `truncated` says that there is more; go on from `next` with offset, raise max_tokens or ask for less.";

/// A tool: the command's name, what it tells, and its parameters with whether they are needed.
struct Offer {
    command: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
}

struct Parameter {
    name: &'static str,
    kind: &'static str,
    about: &'static str,
    required: bool,
}

const fn needs(name: &'static str, kind: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind, about, required: true }
}

const fn takes(name: &'static str, kind: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind, about, required: false }
}

const FILE: Parameter = needs("file", "string", "The file, from the project's directory");
const FUNCTION: Parameter = needs("function", "string", "`name`, or `Class.name` for a method");
const PATH: Parameter = takes("path", "string", "Only what is below this directory or file");
const DEPTH: Parameter = takes("depth", "integer", "How many calls away");

const OFFERS: &[Offer] = &[
    Offer { command: "tree", about: "The files of the project.", parameters: &[PATH] },
    Offer {
        command: "structure",
        about: "Functions, classes and methods of each file, with their lines.",
        parameters: &[needs("path", "string", "A directory or a file; `.` for everything")],
    },
    Offer {
        command: "search",
        about: "Lines that match a regular expression.",
        parameters: &[needs("pattern", "string", "The expression, matched line by line"), PATH],
    },
    Offer {
        command: "extract",
        about: "All that one file declares, with signatures and doc comments, without the bodies.",
        parameters: &[FILE],
    },
    Offer {
        command: "context",
        about: "A function with the signatures of what it calls, as far as one needs to understand it.",
        parameters: &[needs("entry", "string", "`name` or `Class.name`"), DEPTH],
    },
    Offer {
        command: "impact",
        about: "Who calls a function, and who calls those; also how many calls of that name could not be told.",
        parameters: &[needs("func", "string", "`name` or `Class.name`"), PATH, DEPTH],
    },
    Offer { command: "calls", about: "Who calls whom.", parameters: &[PATH] },
    Offer {
        command: "slice",
        about: "The lines of a function that one of its lines depends on, or that depend on it.",
        parameters: &[
            FILE,
            FUNCTION,
            needs("line", "integer", "From 1"),
            takes("direction", "string", "`backward` or `forward`"),
            takes("var", "string", "Only this variable of the line"),
        ],
    },
    Offer { command: "cfg", about: "The control flow of a function.", parameters: &[FILE, FUNCTION] },
    Offer {
        command: "dfg",
        about: "Which definition of a variable reaches which use in a function.",
        parameters: &[FILE, FUNCTION],
    },
    Offer {
        command: "dead",
        about: "Functions that nothing refers to, with the evidence.",
        parameters: &[PATH],
    },
    Offer {
        command: "arch",
        about: "Layers of the directories, and cycles between files.",
        parameters: &[PATH],
    },
    Offer { command: "imports", about: "What a file imports.", parameters: &[FILE] },
    Offer {
        command: "importers",
        about: "Who imports a module.",
        parameters: &[needs("module", "string", "As it is written in an import"), PATH],
    },
    Offer {
        command: "change_impact",
        about: "The functions and tests that a change reaches, with the command that runs the tests.",
        parameters: &[
            takes("files", "array", "Changed files"),
            takes("git", "boolean", "What git says has changed"),
        ],
    },
    Offer {
        command: "diagnostics",
        about: "What the project's own checkers say.",
        parameters: &[needs("path", "string", "A file or a directory")],
    },
    Offer {
        command: "semantic",
        about: "Functions that fit words, best first.",
        parameters: &[
            needs("query", "string", "What they are about"),
            takes("top_k", "integer", "At most so many"),
        ],
    },
];

/// Serves one connection until the client hangs up.
pub(crate) fn run(
    door: Door,
    reader: impl std::io::Read + Send + 'static,
    writer: impl std::io::Write,
) -> Result<Exit, Failure> {
    serve(reader, writer, &server(door))
        .map(|()| Exit::Done)
        .map_err(|error| Failure::new("the connection broke").because(&error))
}

/// The tools with what they stand on, for us and for the front door.
pub(crate) fn server(door: Door) -> Server<Arc<Door>> {
    let info = ServerInfo {
        name: "tldr".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: Some(INSTRUCTIONS.to_owned()),
    };
    let door = Arc::new(door);
    Server::new(info, OFFERS.iter().map(Offer::tool).collect(), move || Arc::clone(&door))
}

impl Offer {
    fn tool(&'static self) -> Tool<Arc<Door>> {
        Tool::new(self.command, self.about, self.schema(), |door: &mut Arc<Door>, call| {
            self.answer(door, call)
        })
    }

    fn schema(&self) -> Value {
        let more = [
            takes("lang", "string", "Only files of this language"),
            takes("max_tokens", "integer", "The answer's size at most; 2500 if not said"),
            takes("offset", "integer", "Go on from here: what the last answer called `next`"),
        ];
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .chain(&more)
            .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
            .collect();
        let required: Vec<&str> = self
            .parameters
            .iter()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name)
            .collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn answer(&self, door: &Door, call: &Call) -> Result<ToolResult, BadArguments> {
        let mut fields = call.arguments.clone();
        fields.insert("cmd".to_owned(), self.command.into());
        let request = Request::parse(&Value::Object(fields).to_string());
        let mut request = request.map_err(|error| BadArguments(error.to_string()))?;
        request.max_tokens.get_or_insert(MAX_TOKENS);
        Ok(match door.ask(&request) {
            Ok(line) => match serde_json::from_str(&line) {
                Ok(DaemonResponse::Error(_)) => ToolResult::error(line),
                _ => ToolResult::text(line),
            },
            Err(failure) => ToolResult::error(failure.to_string()),
        })
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = json!({"type": self.kind, "description": self.about});
        if self.kind == "array" {
            schema["items"] = json!({"type": "string"});
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use wire::tldr::DaemonCommand;

    use super::*;

    #[test]
    fn every_tool_is_a_command_with_what_it_needs() {
        for offer in OFFERS {
            let (_, required) = DaemonCommand::TABLE.iter().find(|(name, _)| *name == offer.command).unwrap();
            let ours: Vec<&str> = offer
                .parameters
                .iter()
                .filter(|parameter| parameter.required)
                .map(|parameter| parameter.name)
                .collect();
            assert_eq!(ours, *required, "{}", offer.command);
        }
    }
}
