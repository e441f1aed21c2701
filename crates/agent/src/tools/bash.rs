//! `bash`: a command in a shell of its own, with nothing left of it in the end. Whether it may run is decided before,
//! and where it may write is the sandbox's.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use conversation::tools::{Beside, Output, Task};
use kit::invocation::Environment;
use kit::process::{Captured, Ended, Job, Keep, Outcome, Spill, Spilled};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Durability;

use super::{Answer, BASH, Declared, Surroundings, Workshop, arguments};
use crate::permission::Access;
use crate::project::plainly;

pub(super) const TOOL: Declared = Declared {
    name: BASH,
    description: "Run a command with `bash -c` in a fresh shell, without input. 120 seconds, then it and everything it \
                  started is killed; nothing stays in the background. 100 KB of output are shown, the rest goes to a file.",
    schema,
    beside: Beside::Nobody,
    // A little more than what is kept, so that our own markers are not cut.
    cap: (MOST + 4096, "narrow the command's output"),
    access: |task| Access::run(task, "cwd"),
    run,
};

/// Bytes of output that the model is shown.
const MOST: usize = 100_000;

/// A file for the rest grows no longer than this.
const SPILL: u64 = 64 << 20;

/// Between the two streams, if there are both.
const SEPARATOR: &str = "--- stderr ---\n";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "cwd": {"type": "string", "description": "default: the project"},
        },
        "required": ["command"],
    })
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    cwd: Option<String>,
}

/// What a command may see: all that the user's own would, but no key of a provider; and no colours, no pager.
pub fn environment(env: &Environment) -> Vec<(OsString, OsString)> {
    const KEYS: [&str; 4] =
        ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY"];
    const OURS: [(&str, &str); 5] = [
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ];
    let kept = |name: &str| !KEYS.contains(&name) && !OURS.iter().any(|(ours, _)| *ours == name);
    let theirs = env.iter().filter(|(name, _)| name.to_str().is_none_or(kept));
    let theirs = theirs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    theirs.chain(OURS.map(|(name, value)| (name.into(), value.into()))).collect()
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    if arguments.command.contains('\0') {
        return Err(Output::failed("a command cannot hold a NUL"));
    }
    let cwd = workshop.project.locate(arguments.cwd.as_deref().unwrap_or(".")).map_err(Output::failed)?;
    if !cwd.path.is_dir() {
        return Err(Output::failed(format!("{} is no directory", cwd.shown)));
    }
    if let Some(mut undo) = workshop.undo() {
        undo.before_command(&task.id, around.cancel);
    }
    let spill = Spill { path: workshop.next_spill(), max: SPILL };
    let keep = Keep { head: MOST / 2, tail: MOST / 2, spill: Some(spill) };
    let shell: [OsString; 3] = ["bash".into(), "-c".into(), arguments.command.into()];
    let job = match &workshop.sandbox {
        Some(sandbox) => sandbox.job(&shell),
        None => Job::new(&shell[0]).args(&shell[1..]),
    };
    let job = job.envs(workshop.environment.iter().map(|(name, value)| (name, value))).cwd(&cwd.path);
    let job = job.deadline(workshop.limits.patience).cancel(around.cancel).keep(keep);
    let mut decoder = Decoder::default();
    let ran = job.run_watched(&mut |bytes| (around.live)(&decoder.take(bytes)));
    if let Some(mut undo) = workshop.undo() {
        undo.after_command(&task.id);
    }
    let not_started = |error| Output::failed(format!("bash could not be started: {}", plainly(&error)));
    Ok(told(workshop, &ran.map_err(not_started)?))
}

fn told(workshop: &Workshop, outcome: &Outcome) -> Output {
    let mut text = both(workshop, &outcome.stdout, &outcome.stderr);
    if !outcome.survivors.is_empty() {
        text += &format!("\n[could not be killed: {:?}]", outcome.survivors);
    }
    let failed = |how: String| {
        let text = text.trim_end_matches('\n');
        Output::failed(if text.is_empty() { how } else { format!("{text}\n[{how}]") })
    };
    match outcome.ended {
        Ended::Exited(0) => Output::done(text),
        Ended::Exited(status) => failed(format!("exit status {status}")),
        Ended::Signalled(signal) => failed(format!("killed by signal {signal}")),
        Ended::DeadlinePassed => {
            let seconds = workshop.limits.patience.as_secs_f64();
            failed(format!("timed out after {seconds} s; it and everything it started was killed"))
        }
        Ended::Cancelled => failed("interrupted; it and everything it started was killed".to_owned()),
    }
}

/// Both streams within the limit; each keeps its beginning and its end.
fn both(workshop: &Workshop, stdout: &Captured, stderr: &Captured) -> String {
    if stderr.total == 0 {
        return stdout.text();
    }
    let room = MOST - SEPARATOR.len();
    // Half of it for each; what one does not need the other may have.
    let needed = |captured: &Captured| (captured.head.len() + captured.tail.len()).min(room / 2);
    let out = within(workshop, stdout, room - needed(stderr));
    let err = within(workshop, stderr, room - needed(stdout));
    let newline = if out.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    format!("{out}{newline}{SEPARATOR}{err}")
}

/// A stream in less room than it was kept in. What was kept whole has no file yet.
fn within(workshop: &Workshop, captured: &Captured, room: usize) -> String {
    let kept = [captured.head.as_slice(), &captured.tail].concat();
    if kept.len() <= room {
        return captured.text();
    }
    let spilled = captured.spilled.clone().unwrap_or_else(|| {
        let path = workshop.next_spill();
        match store::replace(&path, &kept, Durability::Cached) {
            Ok(()) => Spilled::To { path, bytes: kept.len() as u64 },
            Err(error) => Spilled::Failed { path, error: error.to_string() },
        }
    });
    let (head, tail) = (kept[..room / 2].to_vec(), kept[kept.len() - room / 2..].to_vec());
    Captured { head, tail, total: captured.total, spilled: Some(spilled) }.text()
}

/// Bytes that come in pieces as text: a character that is cut waits for its rest.
#[derive(Default)]
struct Decoder {
    rest: Vec<u8>,
}

impl Decoder {
    fn take(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        String::from_utf8_lossy(&std::mem::replace(&mut self.rest, rest)).into_owned()
    }
}

/// Removes files of output that nobody will page through any more: older than a day.
pub(super) fn tidy(spill: &Path, now: SystemTime) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    for entry in fs::read_dir(spill).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with("output-"));
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let old = modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > DAY));
        if ours && old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test writes plain files")]
    fn old_output_is_cleared_away_and_nothing_else() {
        let home = testkit::Home::new();
        let spill = home.temp();
        for name in ["output-1-0.txt", "mine.txt"] {
            fs::write(spill.join(name), "").unwrap();
        }
        let left = |now| {
            tidy(&spill, now);
            let mut names: Vec<_> =
                fs::read_dir(&spill).unwrap().flatten().map(|it| it.file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(left(SystemTime::now()), ["mine.txt", "output-1-0.txt"]);
        assert_eq!(left(SystemTime::now() + Duration::from_secs(25 * 60 * 60)), ["mine.txt"]);
    }
}
