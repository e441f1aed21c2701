//! A client and a daemon of a few lines, over a real socket.
#![allow(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use wire::Deadline;
use wire::endpoint::SocketPath;
use wire::exchange::{AskError, ask};
use wire::frame::{FrameError, Line, LineReader, write_line};
use wire::tldr::{DaemonCommand, DaemonResponse, REPLY_CAP, REQUEST_CAP, Request};
use wire::transport::{ConnectError, Connection, Listener, Transport, Unix, UnixConnection};

fn me() -> Unix {
    Unix { uid: rustix::process::geteuid().as_raw() }
}

/// Asks for `command` a daemon that does `serve` with its first caller.
fn answer(
    command: DaemonCommand,
    patience: Duration,
    serve: impl FnOnce(UnixConnection) + Send,
) -> Result<String, AskError> {
    let directory = tempfile::tempdir().unwrap();
    let path = SocketPath::new(directory.path().join("d.sock")).unwrap();
    let listener = me().listen(&path).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| serve(listener.accept(Deadline::after(Duration::from_secs(20))).unwrap().unwrap()));
        ask(&me(), &path, &Request::new(command), REPLY_CAP, Deadline::after(patience))
    })
}

const LONG: Duration = Duration::from_secs(20);

fn question(connection: &UnixConnection) -> Request {
    let mut requests = LineReader::new(connection.try_clone().unwrap(), REQUEST_CAP);
    let Some(Line::Whole(line)) = requests.next_line().unwrap() else { panic!("no request") };
    Request::parse(&line).unwrap()
}

#[test]
fn a_question_is_answered() {
    let line = answer(DaemonCommand::Ping, LONG, |connection| {
        assert_eq!(question(&connection), Request::new(DaemonCommand::Ping));
        write_line(&mut { connection }, &DaemonResponse::status("ok")).unwrap();
    });
    let reply: DaemonResponse = serde_json::from_str(&line.unwrap()).unwrap();
    assert_eq!(reply, DaemonResponse::status("ok"));
}

#[test]
fn an_answer_of_twelve_megabytes_is_read_to_its_newline() {
    let large = "x".repeat(12 << 20);
    let line =
        answer(DaemonCommand::Ping, LONG, |mut connection| write_line(&mut connection, &large).unwrap());
    assert_eq!(line.unwrap().len(), large.len() + 2);
}

#[test]
fn half_an_answer_is_none() {
    let half = answer(DaemonCommand::Ping, LONG, |mut connection| {
        question(&connection);
        connection.write_all(b"{\"status\":").unwrap();
    });
    assert!(matches!(half, Err(AskError::Closed)));
    assert!(matches!(answer(DaemonCommand::Ping, LONG, drop), Err(AskError::Closed)));
}

#[test]
fn a_daemon_that_trickles_costs_the_deadline_once() {
    let start = Instant::now();
    let given_up = answer(DaemonCommand::Ping, Duration::from_millis(40), |mut connection| {
        while connection.write_all(b" ").is_ok() {
            thread::yield_now();
        }
    });
    assert!(matches!(given_up, Err(AskError::Answer(FrameError::DeadlinePassed))));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_daemon_that_is_not_there_is_told_as_such() {
    let path = SocketPath::new("/nowhere/d.sock").unwrap();
    let absent = ask(&me(), &path, &"", REPLY_CAP, Deadline::after(LONG));
    assert!(matches!(absent, Err(AskError::Connect(ConnectError::Absent { .. }))));
}
