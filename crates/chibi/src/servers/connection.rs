//! A server that runs, and the line to it. Its whole tree dies with this.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::ChildStderr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use kit::process::{Job, Running};
use kit::text;
use mcp::Deadline;
use mcp::client::{CallError, ClientInfo, ConnectError, Opening};
use mcp::{Client, ToolResult};
use serde_json::{Map, Value};

use crate::plugins::{self, Ground};

use super::offer::Tool;
use super::{Fault, Setting};

/// How much of what a server complained about is remembered, from the end.
const COMPLAINT: usize = 500;

/// How long the last words of a server that is gone may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Connection {
    client: Client,
    process: Mutex<Running>,
    complaint: Complaint,
}

impl Connection {
    /// Starts the server and finds a version that both speak. Gives up at `deadline`, and kills it.
    pub(super) fn open(ground: &Ground, setting: &Setting, deadline: Deadline) -> Result<Connection, Fault> {
        let opened = match start(ground, setting, Opening::Handshake, deadline) {
            Err(NotOpened::Refused(ConnectError::WantsDiscover, _)) => {
                start(ground, setting, Opening::Discover, deadline)
            }
            opened => opened,
        };
        opened.map_err(|error| match error {
            NotOpened::Refused(ConnectError::Call(CallError::DeadlinePassed), _) => Fault::Hung,
            NotOpened::Refused(error, complaint) => Fault::Failed(complaint.after(&error)),
            NotOpened::NotStarted(error) => {
                Fault::Failed(format!("`{}` could not be started: {error}", setting.command))
            }
        })
    }

    /// What it offers. Gives up at `deadline`.
    pub(super) fn tools(&self, deadline: Deadline) -> Result<Vec<Tool>, Fault> {
        match self.client.list_tools(deadline) {
            Ok(tools) => Ok(tools.into_iter().map(Tool::from).collect()),
            Err(CallError::DeadlinePassed) => Err(Fault::Hung),
            Err(error) => Err(Fault::Failed(self.words(&error))),
        }
    }

    /// Calls a tool. Gives up at `deadline`.
    pub(super) fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        deadline: Deadline,
    ) -> Result<ToolResult, CallError> {
        self.client.call_tool(tool, arguments, deadline)
    }

    /// What went wrong, with what the server said about it.
    pub(super) fn words(&self, error: &CallError) -> String {
        self.complaint.after(error)
    }

    pub(super) fn is_alive(&self) -> bool {
        matches!(self.process().try_wait(), Ok(None))
    }

    /// Kills the server; whoever waits for an answer hears that it is gone.
    pub(super) fn hang_up(&self) {
        self.process().kill();
    }

    fn process(&self) -> MutexGuard<'_, Running> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum NotOpened {
    NotStarted(io::Error),
    Refused(ConnectError, Complaint),
}

fn start(
    ground: &Ground,
    setting: &Setting,
    opening: Opening,
    deadline: Deadline,
) -> Result<Connection, NotOpened> {
    let env = plugins::environment(&ground.env, &setting.env, &ground.secrets);
    let job = Job::new(&setting.command).args(&setting.args).cwd(&ground.cwd).envs(env).envs(&setting.set);
    let mut process = job.start().map_err(NotOpened::NotStarted)?;
    let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        unreachable!("a job that was just started has its three pipes");
    };
    let complaint = Complaint::of(stderr);
    let info = ClientInfo { name: "chibi".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    match Client::connect(stdout, stdin, info, opening, deadline) {
        Ok(client) => Ok(Connection { client, process: Mutex::new(process), complaint }),
        Err(error) => Err(NotOpened::Refused(error, complaint)),
    }
}

/// The end of what a server writes to its error stream. Read all the time: a full pipe would stop it.
#[derive(Debug, Clone, Default)]
struct Complaint(Arc<(Mutex<Heard>, Condvar)>);

#[derive(Debug, Default)]
struct Heard {
    tail: VecDeque<u8>,
    over: bool,
}

impl Complaint {
    fn of(mut stream: ChildStderr) -> Complaint {
        let complaint = Complaint::default();
        let heard = complaint.clone();
        let listen = move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let tail = &mut heard.lock().tail;
                tail.extend(&buffer[..read]);
                let excess = tail.len().saturating_sub(COMPLAINT);
                tail.drain(..excess);
            }
            heard.lock().over = true;
            heard.0.1.notify_all();
        };
        if thread::Builder::new().name("server-stderr".to_owned()).spawn(listen).is_err() {
            // The stream is closed then, and nobody listens.
            complaint.lock().over = true;
        }
        complaint
    }

    /// An error in words, with the end of the complaint.
    fn after(&self, error: &dyn std::fmt::Display) -> String {
        let waited = self.0.1.wait_timeout_while(self.lock(), LAST_WORDS, |heard| !heard.over);
        let (heard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = heard.tail.iter().copied().collect();
        match text::plain_lines(&String::from_utf8_lossy(&bytes)).trim() {
            "" => error.to_string(),
            said => format!("{error}; it said:\n{said}"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
