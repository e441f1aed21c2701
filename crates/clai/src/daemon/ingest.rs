//! From an event to a command that is kept, or to the reason why it is not. Pure: the rules, the clock and the place
//! come from outside. Must never know sockets, tables or the model.

use std::path::Path;

use wire::clai::Event;

use crate::command::{Place, Ran, Shell};
use crate::config::{Agents, Config, covers, glob};
use crate::database::{Reason, Record};
use crate::normalise::normalise;
use crate::redact::{Redaction, redact};

/// How far ahead of us an event may be: two clocks of one machine never differ by so much.
const AHEAD_MS: i64 = 60_000;
/// 2000-01-01. Before it there was no clai; a shell without a clock says 0.
const EARLIEST_MS: i64 = 946_684_800_000;
/// A line longer than this is kept, but nobody wants it offered, and its template says nothing.
pub(super) const LONGEST_LEARNED: usize = 4096;
/// A session's id is 64 digits at most, of whoever made it.
const LONGEST_ID: usize = 256;

/// Why an event is not kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotKept {
    /// Not a command of the person's work: nothing at all, or ourselves.
    NotWork,
    LeftOut(Reason, String),
}

#[derive(Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) record: Record,
    pub(super) memory: Memory,
    /// Kinds of secrets that were taken out.
    pub(super) redacted: Vec<String>,
}

/// Where a command is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// In the database and in the model.
    Both,
    /// In the model until the daemon ends.
    ModelOnly,
    /// In the database, apart from the person's.
    DatabaseOnly,
}

/// What the event is judged by besides itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) config: &'a Config,
    pub(super) home: &'a Path,
    pub(super) now_ms: i64,
    /// The latest time that any command bore.
    pub(super) latest_ms: i64,
}

/// What is known before anybody has to look at the disk for the repository. The line in it has no secrets any more.
#[derive(Debug)]
pub(super) struct Screened {
    line: String,
    redacted: Vec<String>,
}

impl Screened {
    pub(super) fn line(&self) -> &str {
        &self.line
    }
}

/// Whether the event is wanted at all, and its line without secrets.
pub(super) fn screen(event: &Event, rules: &Rules<'_>) -> Result<Screened, NotKept> {
    let leave_out = |reason, detail: &str| Err(NotKept::LeftOut(reason, detail.to_owned()));
    let line = event.cmd_raw.trim();
    if line.is_empty() || is_ourselves(line) {
        return Err(NotKept::NotWork);
    }
    if event.session_id.0.is_empty() || event.session_id.0.len() > LONGEST_ID {
        return leave_out(Reason::Malformed, "session_id");
    }
    let config = rules.config;
    if event.actor.is_some() && config.agents == Agents::Drop {
        return leave_out(Reason::Agent, "");
    }
    if let Some(pattern) = config.ignore.iter().find(|pattern| glob(pattern, line)) {
        return leave_out(Reason::IgnoredLine, pattern);
    }
    if let Some(directory) =
        config.ignore_dirs.iter().find(|directory| covers(directory, &event.cwd, rules.home))
    {
        return leave_out(Reason::IgnoredDirectory, directory);
    }
    let Redaction { line, found } = redact(&line.replace('\0', "\u{fffd}"), config.secrets);
    let redacted: Vec<String> = found.iter().map(|kind| kind.as_str().to_owned()).collect();
    match line {
        Some(line) => Ok(Screened { line, redacted }),
        None => leave_out(Reason::SecretDropped, redacted.first().map_or("", String::as_str)),
    }
}

/// The command to be kept, now that its place is known.
pub(super) fn keep(event: Event, screened: Screened, place: Place, rules: &Rules<'_>) -> Kept {
    let template = normalise(&screened.line).template;
    let memory = match (&event.actor, event.ephemeral) {
        // Said to be forgotten wins over said to be kept apart: then there is nowhere to keep it.
        (_, true) => Memory::ModelOnly,
        (Some(_), false) => Memory::DatabaseOnly,
        (None, false) => Memory::Both,
    };
    let ran = Ran {
        session: event.session_id,
        ts: believable(event.ts, rules),
        duration_ms: event.duration_ms,
        exit_code: Some(event.exit_code),
        place,
        line: screened.line,
        template,
    };
    Kept {
        record: Record { ran, shell: event.shell, actor: event.actor },
        memory,
        redacted: screened.redacted,
    }
}

/// A command of another tool's history, by the same rules.
pub(super) fn old(event: Event, exit_code: Option<i32>, rules: &Rules<'_>) -> Result<Kept, NotKept> {
    let screened = screen(&event, rules)?;
    let place = Place { cwd: event.cwd.clone(), repo: None, branch: None };
    let mut kept = keep(event, screened, place, rules);
    kept.record.ran.exit_code = exit_code;
    Ok(kept)
}

/// Whether the model should see it.
pub(super) fn is_worth_learning(ran: &Ran) -> bool {
    ran.line.len() <= LONGEST_LEARNED
}

/// A time that can be: not before there was clai, and not ahead of us, where a clock that was set back under a running
/// daemon does not make the present the future.
fn believable(ts: i64, rules: &Rules<'_>) -> i64 {
    if ts < EARLIEST_MS {
        return rules.now_ms;
    }
    let ceiling = rules.now_ms.saturating_add(AHEAD_MS).max(rules.latest_ms);
    if ts > ceiling { rules.now_ms.max(rules.latest_ms) } else { ts }
}

/// Whether the command is the hook itself, by its exact name (`clai-hooked` is another program), or one that names
/// what is to be forgotten: to keep that line would keep the text.
fn is_ourselves(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| is_assignment(word)).peekable();
    let program = words.next().and_then(|word| word.rsplit('/').next());
    if program == Some("scrimp") && words.peek() == Some(&"clai") {
        words.next();
        return words.peek() == Some(&"forget");
    }
    program == Some("clai-hook") || (program == Some("clai") && words.peek() == Some(&"forget"))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An event that says no more than a history file does.
pub(super) fn event_of(old: super::Old, shell: Shell) -> (Event, Option<i32>) {
    let exit_code = old.exit_code;
    let event = Event {
        v: 1,
        session_id: old.session_id,
        shell,
        ts: old.ts,
        cwd: old.cwd.unwrap_or_default(),
        cmd_raw: old.cmd_raw,
        exit_code: exit_code.unwrap_or_default(),
        duration_ms: old.duration_ms,
        repo_root: None,
        remote_url: None,
        branch: None,
        dirty: None,
        ephemeral: false,
        actor: None,
    };
    (event, exit_code)
}
