//! A command that has ended, sent without waiting for an answer.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;

use kit::invocation::Environment;
use kit::text::head;
use kit::{Invocation, Places};
use wire::clai::{CAP, Event, Message, ORDINARY, SessionId, Shell};
use wire::endpoint::{clai_dir, clai_socket};
use wire::frame::to_line;
use wire::transport::{ConnectError, Connection, SendError, Transport, Unix};

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
        Source::Stdin => read_command(&mut invocation.stdin, invocation.env.text("CLAI_OVERSIZE"))?,
    };
    let event = event(invocation, command)?;
    let line = to_line(&Message::CommandEnd(event)).ok().filter(|line| line.len() <= CAP.0)?;
    let places = invocation.env.places().ok()?;
    let endpoint = clai_socket(&places).ok()?;
    // From here on the daemon can keep us waiting: one budget for all of it.
    let deadline = deadline(&invocation.env);
    let unix = Unix { uid: places.uid };
    match unix.connect(&endpoint, deadline) {
        Ok(connection) => match connection.send_within(&line, deadline) {
            Err(SendError::TimedOut) => mark_busy(&places),
            sent => sent.ok(),
        },
        Err(ConnectError::TimedOut { .. }) => mark_busy(&places),
        Err(_) => None,
    }
}

/// Tells the shell that we had to wait in vain, so that it can spare the next prompts: our exit code must not. The
/// shell empties the file when it has seen it.
fn mark_busy(places: &Places) -> Option<()> {
    let path = clai_dir(places).join("busy");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).ok()?;
    file.write_all(b"1").ok()
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

/// What stands at the end of a command that was cut.
const CUT: &str = " …[cut]";

/// What is read and thrown away behind a command that is too long: a shell whose pipe we close may mind.
const REST: u64 = 16 << 20;

/// No more is kept than may be sent: a pasted file must not hold the prompt.
fn read_command(stdin: &mut dyn Read, oversize: Option<&str>) -> Option<String> {
    let most = if matches!(oversize, Some("skip" | "truncate")) { ORDINARY } else { CAP.0 };
    let mut bytes = Vec::new();
    stdin.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    io::copy(&mut stdin.take(REST), &mut io::sink()).ok()?;
    let whole = String::from_utf8_lossy(&bytes);
    match oversize {
        _ if bytes.len() <= most => Some(whole.into_owned()),
        Some("truncate") => Some(format!("{}{CUT}", head(&whole, ORDINARY - CUT.len()))),
        _ => None,
    }
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
