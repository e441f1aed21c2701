//! `clai import`: the history that a shell or atuin has kept, so that the first prompt already has something to say.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kit::page::Column;
use kit::{Exit, Failure, text};
use serde::Serialize;
use wire::clai::CAP;
use wire::frame::to_line;

use super::{Call, PATIENCE, Page, counted, database_failure, times};
use crate::cli::Shell;
use crate::daemon::{self, Done, Old, Request};
use crate::import::{self, ImportError, Source, Time};
use crate::redact::{self, redact};

/// How much goes into one message. Escaping can make six bytes of one, and a message has a cap.
const BATCH_BYTES: usize = CAP.0 / 8;
const BATCH_COMMANDS: usize = 500;
/// Learning a million commands anew takes some seconds.
const RELEARN: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Whose history
    from: From,
    /// The file, in place of where it usually is
    file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum From {
    Bash,
    Zsh,
    Fish,
    Atuin,
}

impl From {
    fn source(self) -> Source {
        match self {
            From::Bash => Source::Bash,
            From::Zsh => Source::Zsh,
            From::Fish => Source::Fish,
            From::Atuin => Source::Atuin,
        }
    }
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    file: PathBuf,
    read: u64,
    new: u64,
    /// Were there already.
    known: u64,
    /// Torn, or longer than a command may be.
    skipped: u64,
    /// By the rules for commands that are typed.
    left_out: u64,
    /// Secrets that were taken out.
    redacted: u64,
    /// Older than the retention: they go when the daemon next cleans up.
    too_old: u64,
    retention_days: u32,
    took_ms: u64,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let source = args.from.source();
    let file = file(call, source, args.file.as_ref())?;
    let config = call.config()?;
    let shell = match args.from {
        From::Bash => Shell::Bash,
        From::Zsh => Shell::Zsh,
        From::Fish => Shell::Fish,
        // Its rows do not say which shell; the user's own is the best guess.
        From::Atuin => call.invocation.env.text("SHELL").and_then(Shell::of_path).unwrap_or(Shell::Bash),
    };
    let started = Instant::now();
    let oldest = call.now().saturating_sub(i64::from(config.retention_days) * 86_400_000);
    let mut again = Again::of(call, source, &file, config.secrets)?;
    let mut send = Send {
        shell: shell.into(),
        batch: Vec::new(),
        bytes: 0,
        last: oldest,
        progress: Instant::now(),
        outcome: Outcome::default(),
    };
    let mut history = import::open(source, &file).map_err(|error| import_failure(&error))?;
    for entry in history.by_ref() {
        let mut entry = entry.map_err(|error| import_failure(&error))?;
        if entry.time == Time::Guessed && again.knows(&mut entry) {
            send.outcome.read += 1;
            continue;
        }
        send.outcome.too_old += u64::from(entry.ts < oldest);
        send.take(call, entry)?;
    }
    send.flush(call)?;
    send.clear_progress(call);
    if send.outcome.new > 0 {
        call.ask_started::<Done>(&Request::Relearn, RELEARN)?;
    }
    let mut outcome = send.outcome;
    outcome.skipped += history.skipped();
    outcome.known = outcome.read.saturating_sub(outcome.new + outcome.left_out);
    outcome.took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.retention_days = config.retention_days;
    let shown = call.places.tilde(&file);
    outcome.file = file;
    call.show(&outcome, |page| to_text(page, &shown, &outcome))
}

/// The file that was named, or the first of the usual ones that is there.
fn file(call: &Call<'_>, source: Source, named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(call.invocation.cwd.join(named));
    }
    let candidates = source.candidates(&call.places, &call.invocation.env);
    if let Some(found) = candidates.iter().find(|path| path.is_file()) {
        return Ok(found.clone());
    }
    let looked: Vec<String> = candidates.iter().map(|path| call.places.tilde(path)).collect();
    Err(Failure::new(format!("no history of {} was found: looked for {}", source.name(), looked.join(", ")))
        .hint(format!("`clai import {} FILE`", source.name())))
}

fn import_failure(error: &ImportError) -> Failure {
    Failure::new("cannot import").because(error)
}

/// What is already there of the commands that have no times.
struct Again {
    /// So many are passed over.
    known: usize,
    /// Later ones follow this time.
    last: i64,
}

impl Again {
    fn of(call: &Call<'_>, source: Source, file: &Path, secrets: redact::Policy) -> Result<Again, Failure> {
        let earlier = match call.reader()? {
            Some(reader) => reader
                .of_sessions(&source.undated())
                .map_err(|error| database_failure("cannot read the history", &error))?,
            None => Vec::new(),
        };
        let last = earlier.last().map_or(i64::MIN, |(ts, _)| *ts);
        let lines: Vec<String> = earlier.into_iter().map(|(_, line)| line).collect();
        if lines.is_empty() {
            return Ok(Again { known: 0, last });
        }
        let history = import::open(source, file).map_err(|error| import_failure(&error))?;
        let undated = history.map_while(Result::ok).filter(|entry| entry.time == Time::Guessed);
        // As it would be kept.
        let as_kept = |entry: import::Imported| redact(entry.line.trim(), secrets).line.unwrap_or_default();
        Ok(Again { known: import::imported_before(&lines, undated.map(as_kept)), last })
    }

    fn knows(&mut self, entry: &mut import::Imported) -> bool {
        let is_known = self.known > 0;
        if is_known {
            self.known -= 1;
        } else {
            entry.ts = entry.ts.max(self.last.saturating_add(1));
            self.last = entry.ts;
        }
        is_known
    }
}

/// Commands on their way to the daemon, some hundred at a time.
struct Send {
    shell: crate::command::Shell,
    batch: Vec<Old>,
    bytes: usize,
    /// When the last command was.
    last: i64,
    progress: Instant,
    outcome: Outcome,
}

impl Send {
    fn take(&mut self, call: &mut Call<'_>, entry: import::Imported) -> Result<(), Failure> {
        // What cannot have been yet follows what was, so that it is the same command when it is imported again.
        let ts = if entry.ts > call.now() { self.last.saturating_add(1) } else { entry.ts };
        self.last = ts;
        let old = Old {
            session_id: entry.session,
            ts,
            cmd_raw: entry.line,
            cwd: entry.cwd,
            exit_code: entry.exit_code,
            duration_ms: entry.duration_ms,
        };
        let bytes = old.cmd_raw.len() + old.cwd.as_ref().map_or(0, String::len);
        if self.bytes + bytes > BATCH_BYTES || self.batch.len() >= BATCH_COMMANDS {
            self.flush(call)?;
        }
        self.bytes += bytes;
        self.batch.push(old);
        Ok(())
    }

    fn flush(&mut self, call: &mut Call<'_>) -> Result<(), Failure> {
        let commands = std::mem::take(&mut self.batch);
        self.bytes = 0;
        if commands.is_empty() {
            return Ok(());
        }
        let count = commands.len() as u64;
        let request = Request::Import { shell: self.shell, commands };
        // Only a single command of a hundred kilobytes can be as long as that.
        if to_line(&request).is_ok_and(|line| line.len() > CAP.0) {
            self.outcome.skipped += count;
            return Ok(());
        }
        let imported: daemon::Imported = call.ask_started(&request, PATIENCE)?;
        self.outcome.read += count;
        self.outcome.new += imported.new;
        self.outcome.left_out += imported.left_out;
        self.outcome.redacted += imported.secrets;
        self.show_progress(call);
        Ok(())
    }

    fn show_progress(&mut self, call: &mut Call<'_>) {
        const EVERY: Duration = Duration::from_millis(100);
        if call.invocation.terminal.stderr && self.progress.elapsed() > EVERY {
            self.progress = Instant::now();
            let read = text::thousands(self.outcome.read);
            let _ = write!(call.invocation.stderr, "\r{read} commands read\x1b[K");
            let _ = call.invocation.stderr.flush();
        }
    }

    fn clear_progress(&self, call: &mut Call<'_>) {
        if call.invocation.terminal.stderr {
            let _ = write!(call.invocation.stderr, "\r\x1b[K");
        }
    }
}

fn to_text(page: &Page, file: &str, outcome: &Outcome) -> String {
    let took = times::said(outcome.took_ms);
    let mut out = format!("{} read from {} in {took}\n", counted(outcome.read, "command"), text::plain(file));
    let retention =
        format!("older than retention_days = {}: they go at the next clean-up", outcome.retention_days);
    let rows: Vec<[String; 3]> = [
        ("new", outcome.new, ""),
        ("known", outcome.known, "were there already"),
        ("left out", outcome.left_out, "by the rules in `clai config`, or nothing to learn from"),
        ("skipped", outcome.skipped, "torn, or longer than a command may be"),
        ("secrets", outcome.redacted, "taken out before anything was written"),
        ("old", outcome.too_old, &*retention),
    ]
    .into_iter()
    .filter(|(name, count, _)| *name == "new" || *count > 0)
    .map(|(name, count, words)| [name.to_owned(), text::thousands(count), words.to_owned()])
    .collect();
    out.push_str(&page.aligned([Column::Left, Column::Right, Column::Dim], &rows));
    out + &page.next("suggest", "what you will probably run next")
}
