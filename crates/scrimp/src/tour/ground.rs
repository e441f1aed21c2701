//! What every tool stands on, shown at work: places, files, sockets, processes, protocol.

use std::error::Error;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use kit::places::PlaceError;
use kit::process::Job;
use kit::tour::{Sight, Stage, Stop};
use kit::{Failure, places, text};
use mcp::client::{ClientInfo, Opening};
use mcp::{Client, Server, ServerInfo, Tool, ToolResult};
use serde_json::{Map, json};
use store::Durability;
use store::journal::{self, Journal};
use wire::Deadline;
use wire::endpoint::{PathTooLong, SocketPath};
use wire::frame::{Cap, Line, LineReader, write_line};
use wire::transport::{Connection, Listener, Transport, Unix};

pub(super) const STOPS: &[Stop] = &[private, durable, local, contained, spoken];

type Shown = Result<Vec<String>, Box<dyn Error>>;

/// A place of ours is made for us alone, and one that others can enter is refused.
fn private(stage: &Stage<'_>) -> Result<Sight, Failure> {
    sight("Private", "the tour's directories", || {
        let uid = rustix::process::geteuid().as_raw();
        places::private_dir(&stage.scratch.join("private"), uid)?;
        let open = stage.scratch.join("open");
        DirBuilder::new().mode(0o755).create(&open)?;
        let refusal = match places::private_dir(&open, uid) {
            Err(error) => error.to_string().replace(&format!("{}/", stage.scratch.display()), ""),
            Ok(()) => return Err("a directory that others can enter was taken".into()),
        };
        Ok(vec!["a new directory for data: 0700, ours, no link".into(), format!("refused: {refusal}")])
    })
}

/// A log that lost its last bytes loses its last entry and nothing else.
fn durable(stage: &Stage<'_>) -> Result<Sight, Failure> {
    const ENTRIES: usize = 1000;
    sight("Durable", "the tour's log", || {
        let path = stage.scratch.join("log.jsonl");
        let started = Instant::now();
        let (mut log, _) = Journal::open(&path, Durability::Cached)?;
        for number in 0..ENTRIES {
            log.append(format!("{{\"entry\":{number}}}").as_bytes())?;
        }
        let took = started.elapsed();
        let length = fs::metadata(&path)?.len();
        OpenOptions::new().write(true).open(&path)?.set_len(length - 5)?;
        let (mut log, dropped) = Journal::open(&path, Durability::Cached)?;
        log.append(b"{\"entry\":\"after the crash\"}")?;
        let left = journal::lines(&path, 0)?.count();
        Ok(vec![
            format!(
                "{ENTRIES} entries appended in {:.1} ms, then the file was cut in the last one",
                ms(took)
            ),
            format!(
                "opened again: {dropped} torn bytes dropped, {} entries kept, appending goes on",
                left - 1
            ),
        ])
    })
}

/// A question and an answer between two of our processes.
fn local(stage: &Stage<'_>) -> Result<Sight, Failure> {
    const QUESTIONS: usize = 500;
    sight("Local", "a socket below the tour's directory", || {
        let deadline = Deadline::after(stage.patience);
        let unix = Unix { uid: rustix::process::geteuid().as_raw() };
        let endpoint = SocketPath::new(stage.scratch.join("s"))?;
        let listener = unix.listen(&endpoint)?;
        let echo = thread::spawn(move || -> Option<()> {
            let mut caller = listener.accept(deadline).ok()??;
            let mut buffer = [0; 256];
            loop {
                let read = caller.read(&mut buffer).ok().filter(|read| *read > 0)?;
                caller.write_all(&buffer[..read]).ok()?;
            }
        });
        let mut out = unix.connect(&endpoint, deadline)?;
        out.set_read_timeout(stage.patience)?;
        let mut replies = LineReader::new(out.try_clone()?, Cap(1 << 16));
        let mut times = Vec::with_capacity(QUESTIONS);
        for number in 0..QUESTIONS {
            let asked = Instant::now();
            write_line(&mut out, &json!({"question": number}))?;
            match replies.next_line_by(deadline)? {
                Some(Line::Whole(_)) => times.push(asked.elapsed()),
                _ => return Err("the other side went away".into()),
            }
        }
        out.shutdown()?;
        echo.join().map_err(|_| "the other side broke")?;
        times.sort();
        let (p50, p99) = (times[QUESTIONS / 2], times[QUESTIONS * 99 / 100]);
        let micros = |time: Duration| time.as_micros();
        let speed = format!("a round trip takes {} µs (p50), {} µs (p99)", micros(p50), micros(p99));
        Ok(vec!["a socket for us alone: mode 0600, the peer's user is checked on both sides".into(), speed])
    })
}

/// A program that hides its children, and what is left of them.
fn contained(_: &Stage<'_>) -> Result<Sight, Failure> {
    sight("Contained", "a program with children", || {
        let script = "trap '' TERM; (setsid sleep 60 &); (env -i /bin/sh -c 'sleep 60 &' &); sleep 60";
        let allowed = Duration::from_millis(200);
        let job = Job::new("/bin/sh").args(["-c", script]).env("PATH", "/usr/bin:/bin");
        let outcome = job.deadline(allowed).run()?;
        let late = outcome.elapsed.saturating_sub(allowed);
        Ok(vec![
            "a program that ignores SIGTERM and detaches two children, stopped after 200 ms".into(),
            format!(
                "its whole tree was gone {:.0} ms later, {} survivors",
                ms(late),
                outcome.survivors.len()
            ),
        ])
    })
}

/// A tool called over the Model Context Protocol.
fn spoken(stage: &Stage<'_>) -> Result<Sight, Failure> {
    sight("Spoken", "a protocol connection", || {
        let deadline = Deadline::after(stage.patience);
        let (ours, theirs) = UnixStream::pair()?;
        let count = Tool::new(
            "count_tokens",
            "Estimate the tokens of a text",
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
            |(): &mut (), call| {
                let given = call.arguments["text"].as_str().unwrap_or_default();
                Ok(ToolResult::text(text::tokens(given.len() as u64).to_string()))
            },
        );
        let info = ServerInfo { name: "tour".into(), version: "1".into(), instructions: None };
        let server = Server::new(info, vec![count], || ());
        let serving = thread::spawn(move || {
            mcp::serve(theirs.try_clone()?, theirs, &server).map_err(std::io::Error::other)
        });
        let started = Instant::now();
        let me = ClientInfo { name: "scrimp".into(), version: env!("CARGO_PKG_VERSION").into() };
        let client = Client::connect(ours.try_clone()?, ours.try_clone()?, me, Opening::default(), deadline)?;
        let tools = client.list_tools(deadline)?;
        let question = "how many tokens is this?";
        let arguments = Map::from_iter([("text".to_owned(), json!(question))]);
        let answer = client.call_tool("count_tokens", arguments, deadline)?.to_text();
        let took = started.elapsed();
        ours.shutdown(std::net::Shutdown::Both)?;
        serving.join().map_err(|_| "the server broke")??;
        Ok(vec![
            format!("a server with {} tool, protocol {}", tools.len(), client.version().name()),
            format!(
                "count_tokens(\"{question}\") = {answer}, connected, listed and called in {:.1} ms",
                ms(took)
            ),
        ])
    })
}

fn sight(title: &str, what: &str, show: impl FnOnce() -> Shown) -> Result<Sight, Failure> {
    let lines = show().map_err(|error| {
        let failure = Failure::new(format!("the tour stopped at {what}")).because(&*error);
        let place = error.downcast_ref::<PlaceError>().and_then(PlaceError::hint);
        let hint = place.or_else(|| Some(error.downcast_ref::<PathTooLong>()?.hint().to_owned()));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure.hint("`scrimp doctor`"),
        }
    })?;
    Ok(Sight { title: title.to_owned(), lines })
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
