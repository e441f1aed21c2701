//! `drip read`: what an agent would be sent.

use std::path::Path;

use kit::places::shell_word;
use kit::{Exit, Failure, Form};
use serde::Serialize;

use super::{Call, Here, store_trouble};
use crate::database::{Database, DatabaseError};
use crate::desk::Desk;
use crate::lines::Span;
use crate::read::{self, ReadError, Window, Wish};
use crate::render::Answer;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    file: String,
    /// Say what would be sent, and write nothing down
    #[arg(long)]
    dry_run: bool,
    /// Send the whole file, whatever was shown before
    #[arg(long, conflicts_with_all = ["symbol", "lines"])]
    full: bool,
    /// Send one definition only
    #[arg(long, value_name = "NAME", conflicts_with = "lines")]
    symbol: Option<String>,
    /// Send these lines only
    #[arg(long, value_name = "A-B", value_parser = parse_lines)]
    lines: Option<Span>,
}

#[derive(Serialize)]
struct Shown<'a> {
    file: &'a str,
    outcome_kind: &'static str,
    fallback_reason: Option<&'a str>,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    rendered: &'a str,
    dry_run: bool,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    named(&args.file, "read", call)?;
    let wish = Wish { window: args.window(), ..Wish::all(&args.file) };
    let ignored = call.here.ignored();
    let caller = call.here.caller();
    let mut store = open(call, args);
    let blind = |call: &Call| read::read_blind(&call.here.settings, &ignored, &caller.cwd, &wish);
    let prepared = store.as_mut().map(|database| {
        Desk { database, settings: &call.here.settings, caller: &caller }.prepare(&ignored, &wish)
    });
    let (prepared, answer) = match prepared {
        Some(Ok(Ok(prepared))) => {
            let answer = prepared.answer.clone();
            (Some(prepared), Ok(answer))
        }
        Some(Ok(Err(error))) => (None, Err(error)),
        // A reader gets its file, whatever became of our store.
        Some(Err(error)) => {
            not_remembered(call, &error);
            (None, blind(call))
        }
        None => (None, blind(call)),
    };
    let answer = answer.map_err(|error| failure(&error, &call.here))?;
    let exit = print(call, args, &answer)?;
    not_followed(call, &ignored.warnings());
    // Only now: what nobody took was not shown.
    if let (Some(database), Some(prepared), false) = (&mut store, prepared, args.dry_run) {
        let recorded = Desk { database, settings: &call.here.settings, caller: &caller }.record(&prepared);
        if let Err(error) = recorded {
            not_remembered(call, &error);
        }
    }
    Ok(exit)
}

/// The store, unless it cannot be used, or looking at it would make it.
fn open(call: &mut Call, args: &Args) -> Option<Database> {
    if args.dry_run && !Database::path(&call.here.root()).exists() {
        return None;
    }
    match call.here.database() {
        Ok(database) => Some(database),
        Err(error) => {
            not_remembered(call, &error);
            None
        }
    }
}

fn not_remembered(call: &mut Call, error: &DatabaseError) {
    call.say(&format!("drip: this read is not remembered: {}", store_trouble(error)));
}

/// Rules that the person may rely upon. One line: the answer is what was asked for.
fn not_followed(call: &mut Call, warnings: &[String]) {
    if let [first, rest @ ..] = warnings {
        let more = match rest.len() {
            0 => String::new(),
            count => format!(" (and {count} more: `{} doctor`)", call.here.program.spoken()),
        };
        call.say(&format!("drip: {first}{more}"));
    }
}

/// An empty path would mean the folder that we are in.
pub(crate) fn named(file: &str, command: &str, call: &Call) -> Result<(), Failure> {
    if !file.is_empty() {
        return Ok(());
    }
    Err(Failure::usage("no file is named").hint(format!("`{} {command} --help`", call.here.program.spoken())))
}

impl Args {
    fn window(&self) -> Window {
        match (&self.symbol, self.lines) {
            (Some(symbol), _) => Window::Symbol(symbol.clone()),
            (None, Some(lines)) => Window::Lines(lines),
            (None, None) if self.full => Window::Full,
            (None, None) => Window::All,
        }
    }
}

fn print(call: &mut Call, args: &Args, answer: &Answer) -> Result<Exit, Failure> {
    let shown = Shown {
        file: &args.file,
        outcome_kind: answer.kind.as_str(),
        fallback_reason: answer.reason.as_deref(),
        tokens_full: answer.cost.full,
        tokens_sent: answer.cost.sent,
        overhead_tokens: answer.cost.overhead,
        rendered: &answer.text,
        dry_run: args.dry_run,
    };
    if args.dry_run && call.form == Form::Text {
        call.invocation.print("[DRIP: dry-run, no state mutated]\n")?;
    }
    call.show(&shown, |_| answer.text.clone())
}

/// A read that cannot be answered, in words.
pub(crate) fn failure(error: &ReadError, here: &Here) -> Failure {
    let failure = Failure::new("cannot read").because(error);
    match error {
        ReadError::NoSymbol { path, .. } | ReadError::Ambiguous { path, .. } => {
            failure.hint(format!("`drip read --full {path}` or `--lines A-B`"))
        }
        ReadError::Missing(path) | ReadError::NotRegular(path, _) => match nearest_folder(path) {
            Some(folder) => failure.hint(format!("`ls {}`", as_seen_from(&here.cwd, folder))),
            None => failure,
        },
        _ => failure,
    }
}

fn nearest_folder(path: &str) -> Option<&Path> {
    Path::new(path).ancestors().find(|folder| folder.is_dir())
}

/// A folder as a word for a shell that is here.
fn as_seen_from(cwd: &Path, folder: &Path) -> String {
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    match folder.strip_prefix(cwd) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => shell_word(inside.as_os_str()),
        Err(_) => shell_word(folder.as_os_str()),
    }
}

/// `A-B`, `A-` or `A`, counted from 1.
pub(crate) fn parse_lines(text: &str) -> Result<Span, String> {
    let number = |text: &str| text.trim_start_matches(['L', 'l']).parse::<usize>().ok();
    let span = match text.split_once('-') {
        Some((first, "")) => number(first).and_then(|first| Span::new(first, usize::MAX - 1)),
        Some((first, last)) => {
            number(first).zip(number(last)).and_then(|(first, last)| Span::new(first, last))
        }
        None => number(text).and_then(|line| Span::new(line, line)),
    };
    span.ok_or_else(|| "lines are given as 10-20, from 1".to_owned())
}
