//! `code_context`, `code_callers` and `code_impact`: questions to the code index of this project, where one answers.
//! How it answers is its own; over the socket it is tldr's daemon.

use std::path::Path;
use std::time::Duration;

use conversation::tools::{Beside, Output, Task};
use serde::Deserialize;
use serde_json::{Value, json};
use wire::Deadline;
use wire::endpoint::{ProjectHash, SocketPath};
use wire::exchange::ask;
use wire::tldr::{DaemonCommand, DaemonResponse, REPLY_CAP, Request};
use wire::transport::Unix;

use super::{Answer, Declared, Surroundings, Workshop, arguments};
use crate::permission::Access;

pub(super) const TOOLS: [&Declared; 3] = [&CONTEXT, &CALLERS, &IMPACT];

const CONTEXT: Declared = declared(
    "code_context",
    "A function with what it calls, from the code index: signatures instead of files.",
    |workshop, task, _| {
        answer(workshop, task, |asked| DaemonCommand::Context { entry: asked.function, depth: asked.depth })
    },
);

const CALLERS: Declared =
    declared("code_callers", "Who calls a function, from the code index.", |workshop, task, _| {
        answer(workshop, task, |asked| DaemonCommand::Impact {
            func: asked.function,
            path: None,
            depth: Some(1),
        })
    });

const IMPACT: Declared = declared(
    "code_impact",
    "What a change of a function would reach, through callers of callers, from the code index.",
    |workshop, task, _| {
        answer(workshop, task, |asked| DaemonCommand::Impact {
            func: asked.function,
            path: None,
            depth: asked.depth,
        })
    },
);

/// Answers about code are for reading, not for wading.
const ANSWER: u64 = 4_000;

type Run = fn(&Workshop, &Task, &mut Surroundings) -> Answer;

/// Whoever knows this project's code.
pub trait CodeIndex: Send + Sync {
    /// The answer for a model, or why there is none.
    fn answer(&self, command: DaemonCommand) -> Result<String, String>;
}

/// The index over a daemon's socket.
#[derive(Debug, Clone)]
pub struct Socket {
    path: SocketPath,
    transport: Unix,
}

/// Why nobody can be asked about this project's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// There is no daemon, or not of this project.
    Nobody,
    /// Somebody listens and says nothing.
    Mute,
}

impl Socket {
    /// The daemon of this project, if one answers.
    pub fn find(project: &Path, temp: &Path, uid: u32) -> Result<Socket, Absent> {
        // Where there is no daemon nobody waits at all; one that is there answers at once, unless the machine is busy.
        const PATIENCE: Duration = Duration::from_secs(5);
        let path = ProjectHash::of(project).socket(temp).map_err(|_| Absent::Nobody)?;
        let socket = Socket { path, transport: Unix { uid } };
        let deadline = Deadline::after(PATIENCE);
        // Two projects may share a name for their sockets: the answer says whose it is.
        match socket.ask(DaemonCommand::Ping, deadline) {
            Ok(DaemonResponse::Status(status))
                if status.project.as_deref().is_none_or(|its| its == project) =>
            {
                Ok(socket)
            }
            Err(_) if deadline.passed() => Err(Absent::Mute),
            _ => Err(Absent::Nobody),
        }
    }

    fn ask(&self, command: DaemonCommand, deadline: Deadline) -> Result<DaemonResponse, String> {
        let request = Request { max_tokens: Some(ANSWER), ..Request::new(command) };
        let line = ask(&self.transport, &self.path, &request, REPLY_CAP, deadline)
            .map_err(|error| error.to_string())?;
        serde_json::from_str(&line).map_err(|error| format!("its answer cannot be read: {error}"))
    }
}

impl CodeIndex for Socket {
    fn answer(&self, command: DaemonCommand) -> Result<String, String> {
        /// A cold index of a large project takes a while.
        const PATIENCE: Duration = Duration::from_secs(30);
        match self.ask(command, Deadline::after(PATIENCE))? {
            DaemonResponse::Answer(answer) => Ok(Value::Object(answer.data).to_string()),
            DaemonResponse::Error(refusal) if refusal.data.is_empty() => Err(refusal.message),
            DaemonResponse::Error(refusal) => {
                Err(format!("{}: {}", refusal.message, Value::Object(refusal.data)))
            }
            other => serde_json::to_string(&other).map_err(|error| error.to_string()),
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    function: String,
    depth: Option<usize>,
}

const fn declared(name: &'static str, description: &'static str, run: Run) -> Declared {
    Declared {
        name,
        description,
        schema,
        beside: Beside::Others,
        cap: (20_000, "ask with a smaller depth"),
        access: |_| Access::Nothing,
        run,
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"function": {"type": "string"}, "depth": {"type": "integer", "minimum": 1}},
        "required": ["function"],
    })
}

fn answer(workshop: &Workshop, task: &Task, command: impl FnOnce(Arguments) -> DaemonCommand) -> Answer {
    let asked = arguments(task)?;
    let index = workshop.index.as_ref().ok_or_else(|| Output::failed("there is no code index here"))?;
    let answer = index.answer(command(asked));
    let refused = |why| Output::failed(format!("the code index has no answer: {why}; use code_search"));
    answer.map(Output::done).map_err(refused)
}
