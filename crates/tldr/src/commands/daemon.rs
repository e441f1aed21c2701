//! `tldr daemon`: starting, ending and asking it.

use std::time::{Duration, Instant};

use kit::process::has_ended;
use kit::text::thousands;
use kit::{Exit, Failure, Invocation, Places};
use serde_json::{Map, Value, json};
use store::lock;
use wire::tldr::{DaemonCommand, DaemonResponse, DaemonStatus, Embedded, FullStatus, Request, SessionId};

use super::{message, show};
use crate::cli::{Daemon, Format, NotifyArgs, QueryArgs, StartArgs, StatusArgs, Where};
use crate::client::{self, Asked};
use crate::daemon;
use crate::root::Root;
use crate::usage::signed;

const NOT_RUNNING: &str = "Daemon not running";
/// How long a daemon may take to write things down when it was asked to end.
const ENDING: Duration = Duration::from_secs(10);

pub(super) fn run(invocation: &mut Invocation, args: &Daemon) -> Result<Exit, Failure> {
    match args {
        Daemon::Start(args) => start(invocation, args),
        Daemon::Stop(place) => stop(invocation, place),
        Daemon::Status(args) => status(invocation, args),
        Daemon::Query(args) => query(invocation, args),
        Daemon::Notify(args) => notify(invocation, args),
    }
}

fn start(invocation: &mut Invocation, args: &StartArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.project))?;
    let places = invocation.places()?;
    let socket = root.socket(&places)?.as_path().to_owned();
    let tell = |invocation: &mut Invocation, pid: u32| {
        let answer = json!({"status": "ok", "pid": pid, "socket": socket});
        show(invocation, args.format, &answer, || {
            format!("Daemon started with PID {pid}\nSocket: {}\n", socket.display())
        })
    };
    if args.foreground {
        let result =
            daemon::run(invocation, &root, |invocation| tell(invocation, std::process::id()).map(drop));
        if let Err(failure) = &result {
            // Who started it in the background reads the log.
            let log = kit::log::Log::of("tldr", &places);
            let _ =
                log.record(invocation.clock.unix_ms(), "start_failed", &[("error", &failure.to_string())]);
        }
        return result;
    }
    let started = daemon::start(invocation, &root, &places)?;
    tell(invocation, started.pid)
}

fn stop(invocation: &mut Invocation, place: &Where) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&place.project))?;
    let places = invocation.places()?;
    let pid = lock::holder(&root.pid_file(&places)).ok().flatten().and_then(|holder| holder.pid);
    let shutdown = Request::new(DaemonCommand::Shutdown);
    if let Asked::NotRunning = client::ask(&root, &places, &shutdown, client::GREETING)? {
        return message(invocation, place.format.format, NOT_RUNNING);
    }
    wait_for_end(&root, &places, pid)?;
    let answer = json!({"status": "ok", "message": "Daemon stopped"});
    show(invocation, place.format.format, &answer, || "Daemon stopped\n".to_owned())
}

/// Whoever starts the next one must not meet this one, nor its process who looks for that: it gives the lock back a moment
/// before it is gone. One that is gone has its number given to others, so in the end the lock alone counts.
fn wait_for_end(root: &Root, places: &Places, pid: Option<u32>) -> Result<(), Failure> {
    let is_free = || matches!(lock::holder(&root.pid_file(places)), Ok(None));
    let began = Instant::now();
    while began.elapsed() < ENDING {
        if is_free() && pid.is_none_or(has_ended) {
            return Ok(());
        }
        pause();
    }
    match is_free() {
        true => Ok(()),
        false => Err(Failure::new("the daemon was asked to end and still runs").hint("`tldr daemon status`")),
    }
}

fn status(invocation: &mut Invocation, args: &StatusArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.place.project))?;
    let session = args.session.clone().map(SessionId);
    let request = Request { session, ..Request::new(DaemonCommand::Status) };
    let format = args.place.format.format;
    let line = match client::ask(&root, &invocation.places()?, &request, client::GREETING)? {
        Asked::NotRunning => return message(invocation, format, NOT_RUNNING),
        Asked::Said(line) => line,
    };
    match (format, serde_json::from_str(&line)) {
        (Format::Text, Ok(DaemonResponse::FullStatus(status))) => {
            invocation.print(&status_text(&status)).map(|()| Exit::Done)
        }
        _ => pass_on(invocation, &line),
    }
}

fn status_text(status: &FullStatus) -> String {
    let word = match status.status {
        DaemonStatus::Ready => "running",
        DaemonStatus::Initializing => "initializing",
        DaemonStatus::Indexing => "indexing",
        DaemonStatus::ShuttingDown => "shutting down",
        DaemonStatus::Stopped => "stopped",
    };
    let (salsa, all) = (&status.salsa_stats, &status.all_sessions);
    let saved = all.total_raw_tokens as i64 - all.total_tldr_tokens as i64;
    let share =
        if all.total_raw_tokens == 0 { 0.0 } else { saved as f64 / all.total_raw_tokens as f64 * 100.0 };
    let mut text = format!(
        "TLDR Daemon Status\n==================\nStatus: {word}\nUptime: {}\nProject: {}\nFiles: {}\n\n\
         Cache Statistics\n----------------\nHits: {}\nMisses: {}\nHit Rate: {:.2}%\nInvalidations: {}\n\n\
         Session Summary\n---------------\nActive Sessions: {}\nTotal Requests: {}\nTokens Saved: {} ({share:.1}%)\n",
        status.uptime_human,
        status.project.display(),
        thousands(status.files as u64),
        thousands(salsa.hits),
        thousands(salsa.misses),
        salsa.hit_rate(),
        thousands(salsa.invalidations),
        thousands(all.active_sessions as u64),
        thousands(all.total_requests),
        signed(saved),
    );
    if let Some(embedded) = &status.embedded {
        text.push_str(&progress(embedded));
    }
    if let Some(session) = &status.session_stats {
        text.push_str(&format!(
            "\nSession {}\nRequests: {}\nTokens Saved: {} ({:.1}%)\n",
            session.session_id,
            thousands(session.requests),
            signed(session.savings_tokens()),
            session.savings_percent()
        ));
    }
    text
}

/// How far the functions are known by what they are about, as a bar.
fn progress(embedded: &Embedded) -> String {
    const WIDTH: usize = 20;
    let filled = WIDTH * embedded.done / embedded.total.max(1);
    let bar = format!("{}{}", "#".repeat(filled), ".".repeat(WIDTH - filled));
    let [done, total] = [embedded.done, embedded.total].map(|number| thousands(number as u64));
    format!(
        "\nSemantic Index\n--------------\nModel: {}\nFunctions: [{bar}] {done}/{total}\n",
        embedded.model
    )
}

fn query(invocation: &mut Invocation, args: &QueryArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.project))?;
    let mut request: Map<String, Value> = match &args.json {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::new("Invalid JSON parameters").because(&error))?,
    };
    request.insert("cmd".to_owned(), Value::from(args.cmd.clone()));
    match client::ask_line(&root, &invocation.places()?, &Value::Object(request), client::PATIENCE)? {
        Asked::NotRunning => Err(Failure::new(NOT_RUNNING).hint("`tldr daemon start`")),
        Asked::Said(line) => pass_on(invocation, &line),
    }
}

fn notify(invocation: &mut Invocation, args: &NotifyArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.place.project))?;
    let file = invocation.cwd.join(&args.file);
    let file = std::fs::canonicalize(&file).unwrap_or(file);
    let request = Request::new(DaemonCommand::Notify { file });
    // Saving a file never fails because of us.
    let Ok(Asked::Said(line)) = client::ask(&root, &invocation.places()?, &request, client::GREETING) else {
        return Ok(Exit::Done);
    };
    match (args.place.format.format, serde_json::from_str(&line)) {
        (Format::Text, Ok(DaemonResponse::Notify(notified))) => {
            let (count, threshold) = (notified.dirty_count, notified.threshold);
            invocation.print(&match notified.reindex_triggered {
                true => format!("Reindex triggered ({count}/{threshold} files)\n"),
                false => format!("Tracked: {count}/{threshold} files\n"),
            })?;
            Ok(Exit::Done)
        }
        _ => pass_on(invocation, &line),
    }
}

/// What the daemon said, as it said it; an error is one for us too.
pub(super) fn pass_on(invocation: &mut Invocation, line: &str) -> Result<Exit, Failure> {
    /// As much of an answer as has to be understood: the rest can be larger than the index.
    #[derive(serde::Deserialize)]
    struct Said<'l> {
        status: &'l str,
    }
    invocation.print(line.trim_end())?;
    invocation.print("\n")?;
    match serde_json::from_str(line) {
        Ok(Said { status: "error" }) => Ok(Exit::Failed),
        _ => Ok(Exit::Done),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}
