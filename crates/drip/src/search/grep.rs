//! Lines by a pattern, through ripgrep, with what is ignored taken out and counted. What ripgrep says is read in forms
//! in which a path cannot be mistaken for a line, nor a line for a path.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kit::invocation::Environment;
use kit::process::{self, Cancel, Ended, Job, Keep, Outcome};
use kit::text;

use super::hits::{self, Hit, Style};
use crate::ignored::{Entry, Ignored};

/// What to look for, as the clients' tools spell it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    pub pattern: String,
    /// A file or a directory; the working directory if there is none.
    pub path: Option<PathBuf>,
    pub mode: Mode,
    pub case_insensitive: bool,
    /// Of lines; counts and names have none.
    pub line_numbers: bool,
    pub before: usize,
    pub after: usize,
    /// Instead of both.
    pub context: Option<usize>,
    pub multiline: bool,
    pub glob: Option<String>,
    pub file_type: Option<String>,
    /// How many lines of the answer are wanted, all without it or with 0, and how many are skipped before.
    pub head_limit: Option<usize>,
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Done(Grepped),
    /// There is no ripgrep on the path.
    NotAvailable,
    /// Ripgrep's own words, such as what is wrong with the pattern.
    Failed(String),
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grepped {
    /// One line each: the newest file first for names, else in the order of paths.
    pub text: String,
    /// How many lines that is.
    pub lines: usize,
    pub hidden: HiddenHits,
    pub cut: Option<Cut>,
    /// What ripgrep complained about while it went on, such as a file that cannot be read.
    pub complaint: Option<String>,
}

/// Hits that ignore rules kept away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenHits {
    pub files: usize,
    /// Not known where only names were asked for.
    pub lines: usize,
}

/// Why there is less than there could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Time was up.
    Deadline,
    /// More text than anybody can use.
    Ceiling,
    /// The request's own limit.
    Limit,
}

/// The seed's ceiling for an answer.
const CEILING: usize = 4 << 20;
/// What is read of ripgrep: it wraps every line in some two hundred bytes, and hidden hits count too.
const RAW_CEILING: usize = 8 * CEILING;

/// Runs ripgrep in the working directory of `ignored`. When `deadline` has passed or the ceiling is reached it is
/// killed, and the answer is what it had found, saying so.
pub fn grep(request: &Request, ignored: &Ignored, env: &Environment, deadline: Duration) -> Answer {
    let Some(program) = process::find("rg", env) else { return Answer::NotAvailable };
    let stop = Cancel::default();
    let mut seen = 0;
    let job = Job::new(program)
        .args(arguments(request, ignored))
        .envs(process::minimal_environment(env, &[]))
        .cwd(ignored.cwd())
        .deadline(deadline)
        .cancel(&stop)
        .keep(Keep { head: RAW_CEILING, tail: 0, spill: None });
    let outcome = job.run_watched(&mut |bytes| {
        seen += bytes.len();
        if seen > RAW_CEILING {
            stop.cancel();
        }
    });
    match outcome {
        Ok(outcome) => conclude(request, ignored, &outcome),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Answer::NotAvailable,
        Err(error) => Answer::Failed(error.to_string()),
    }
}

fn arguments(request: &Request, ignored: &Ignored) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["--no-config".into(), "--hidden".into()];
    // Hits among git's own files would be hidden below, but are no news. Kept away only while the rules say so.
    for folder in [".git", ".hg", ".svn", ".jj"] {
        if !ignored.verdict(Path::new(folder), Entry::Folder).is_free() {
            args.push(format!("--glob=!{folder}").into());
        }
    }
    match request.mode {
        Mode::FilesWithMatches => args.extend(["--files-with-matches", "--null"].map(Into::into)),
        Mode::Count => args.extend(["--count", "--with-filename", "--null"].map(Into::into)),
        Mode::Content => {
            args.extend(["--json", "--line-number"].map(Into::into));
            let (before, after) = around(request);
            args.push(format!("--before-context={before}").into());
            args.push(format!("--after-context={after}").into());
        }
    }
    if request.case_insensitive {
        args.push("--ignore-case".into());
    }
    if request.multiline {
        args.extend(["--multiline", "--multiline-dotall"].map(Into::into));
    }
    args.extend(request.glob.iter().map(|glob| format!("--glob={glob}").into()));
    args.extend(request.file_type.iter().map(|name| format!("--type={name}").into()));
    args.push(format!("--regexp={}", request.pattern).into());
    args.push("--".into());
    args.push(path(request).into());
    args
}

fn path(request: &Request) -> &Path {
    request.path.as_deref().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn around(request: &Request) -> (usize, usize) {
    request.context.map_or((request.before, request.after), |context| (context, context))
}

fn conclude(request: &Request, ignored: &Ignored, outcome: &Outcome) -> Answer {
    let complaint = text::plain_lines(text::head(&outcome.stderr.text(), 2_000)).trim().to_owned();
    let cut = match outcome.ended {
        // 2 stands for any trouble, even beside hits.
        Ended::Exited(0..=2) => (outcome.stdout.missing() > 0).then_some(Cut::Ceiling),
        Ended::DeadlinePassed => Some(Cut::Deadline),
        Ended::Cancelled => Some(Cut::Ceiling),
        Ended::Exited(code) => return Answer::Failed(format!("ripgrep ended with {code}: {complaint}")),
        Ended::Signalled(signal) => return Answer::Failed(format!("ripgrep was ended by signal {signal}")),
    };
    let all = match request.mode {
        Mode::FilesWithMatches => hits::names(&outcome.stdout.head),
        Mode::Count => hits::counts(&outcome.stdout.head),
        Mode::Content => hits::lines(&outcome.stdout.head),
    };
    if all.is_empty() && outcome.ended == Ended::Exited(2) {
        return Answer::Failed(complaint);
    }
    let complaint = Some(complaint).filter(|complaint| !complaint.is_empty());
    let (free, kept): (Vec<Hit>, Vec<Hit>) =
        all.into_iter().partition(|hit| ignored.verdict_of_read(&hit.path).is_free());
    let hidden = HiddenHits { files: kept.len(), lines: kept.iter().map(Hit::matches).sum() };
    let shown = show(request, ignored, free);
    let (text, lines, limit) = window(request, shown);
    Answer::Done(Grepped { text, lines, hidden, cut: cut.or(limit), complaint })
}

/// All lines of the answer, in order.
fn show(request: &Request, ignored: &Ignored, mut hits: Vec<Hit>) -> Vec<String> {
    hits.sort_by(|left, right| left.path.cmp(&right.path));
    match request.mode {
        Mode::FilesWithMatches => {
            let modified = |hit: &Hit| {
                let metadata = fs::metadata(ignored.absolute(&hit.path));
                metadata.and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
            };
            hits.sort_by_cached_key(|hit| std::cmp::Reverse(modified(hit)));
            hits.iter().map(Hit::name).collect()
        }
        Mode::Count => hits.iter().map(|hit| format!("{}:{}", hit.name(), hit.matches())).collect(),
        Mode::Content => {
            // As ripgrep does it: the one file that was asked for needs no name.
            let names = !ignored.absolute(path(request)).is_file();
            let gaps = around(request) != (0, 0);
            hits::render(&hits, Style { names, numbers: request.line_numbers, gaps })
        }
    }
}

/// The part that was asked for, below the ceiling.
fn window(request: &Request, lines: Vec<String>) -> (String, usize, Option<Cut>) {
    let limit = request.head_limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let all = lines.len();
    let (mut text, mut count) = (String::new(), 0);
    for line in lines.into_iter().skip(request.offset).take(limit) {
        if text.len() + line.len() >= CEILING {
            return (text, count, Some(Cut::Ceiling));
        }
        text.push_str(&line);
        text.push('\n');
        count += 1;
    }
    let more = request.offset.saturating_add(count) < all;
    (text, count, more.then_some(Cut::Limit))
}
