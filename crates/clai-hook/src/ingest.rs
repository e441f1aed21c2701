//! A command that has ended, sent without waiting for an answer.

use std::io::Read;

use kit::Invocation;
use kit::invocation::Environment;
use wire::clai::{CAP, Event, Message, SessionId, Shell};
use wire::endpoint::clai_socket;
use wire::frame::to_line;
use wire::transport::{Connection, Transport, Unix};

use crate::deadline;

/// Where the command line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Variable,
    Stdin,
}

/// `None` when the event was not sent, for whatever reason.
pub(crate) fn send(invocation: &mut Invocation, source: Source) -> Option<()> {
    if invocation.env.text("CLAI_NO_RECORD") == Some("1") {
        return None;
    }
    let command = match source {
        Source::Variable => lossy(&invocation.env, "CLAI_CMD")?,
        Source::Stdin => read_command(&mut invocation.stdin)?,
    };
    let event = event(invocation, command)?;
    let line = to_line(&Message::CommandEnd(event)).ok().filter(|line| line.len() <= CAP.0)?;
    let places = invocation.env.places().ok()?;
    let endpoint = clai_socket(&places).ok()?;
    // From here on the daemon can keep us waiting: one budget for all of it.
    let deadline = deadline(&invocation.env);
    let connection = Unix { uid: places.uid }.connect(&endpoint, deadline).ok()?;
    connection.send_within(&line, deadline).ok()
}

fn event(invocation: &Invocation, cmd_raw: String) -> Option<Event> {
    let env = &invocation.env;
    if cmd_raw.trim().is_empty() || is_ourselves(&cmd_raw) {
        return None;
    }
    Some(Event {
        v: 1,
        session_id: SessionId(env.text("CLAI_SESSION_ID")?.to_owned()),
        shell: shell(env)?,
        ts: number(env, "CLAI_TS").unwrap_or_else(|| invocation.clock.unix_ms()),
        cwd: lossy(env, "CLAI_CWD")?,
        cmd_raw,
        exit_code: number(env, "CLAI_EXIT").unwrap_or(0),
        duration_ms: number(env, "CLAI_DURATION_MS"),
        repo_root: None,
        remote_url: None,
        branch: None,
        dirty: None,
        ephemeral: env.text("CLAI_EPHEMERAL") == Some("1"),
        actor: env.text("CLAI_ACTOR").map(str::to_owned),
    })
}

pub(crate) fn shell(env: &Environment) -> Option<Shell> {
    match env.text("CLAI_SHELL")? {
        "bash" => Some(Shell::Bash),
        "zsh" => Some(Shell::Zsh),
        "fish" => Some(Shell::Fish),
        _ => None,
    }
}

/// No more than fits a message is read: a pasted file must not hold the prompt.
fn read_command(stdin: &mut dyn Read) -> Option<String> {
    let mut bytes = Vec::new();
    stdin.take(CAP.0 as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= CAP.0).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Shells hold bytes, JSON holds UTF-8: this is where what is not becomes U+FFFD.
fn lossy(env: &Environment, name: &str) -> Option<String> {
    env.get(name).map(|value| value.to_string_lossy().into_owned())
}

fn number<T: std::str::FromStr>(env: &Environment, name: &str) -> Option<T> {
    env.text(name)?.parse().ok()
}

/// `clai-hook …`, also by its path, but not `clai-hooked`.
fn is_ourselves(command: &str) -> bool {
    command.split_whitespace().next().is_some_and(|word| word.rsplit('/').next() == Some("clai-hook"))
}
