//! The Unix transport on real sockets: who is met, who is not, and how long either takes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "test fixtures are plain files")]

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use wire::Deadline;
use wire::endpoint::SocketPath;
use wire::frame::{Cap, FrameError, Line, LineReader, write_line};
use wire::token::Token;
use wire::transport::{
    AcceptError, ConnectError, Connection, Guarded, ListenError, Listener, SendError, Transport, Unix,
    UnixConnection, UnixListener,
};

/// Long enough for a loaded machine; a test that needs it all has failed.
const LONG: Duration = Duration::from_secs(20);

fn me() -> Unix {
    Unix { uid: rustix::process::geteuid().as_raw() }
}

fn stranger() -> Unix {
    Unix { uid: me().uid + 1 }
}

fn long() -> Deadline {
    Deadline::after(LONG)
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_millis(15))
}

/// A directory that goes away, and the path of a socket in it.
fn place() -> (tempfile::TempDir, SocketPath) {
    let directory = tempfile::tempdir().unwrap();
    let path = SocketPath::new(directory.path().join("d.sock")).unwrap();
    (directory, path)
}

/// A socket file whose listener is gone.
fn left_behind(path: &Path) {
    drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    assert!(path.exists());
}

fn pair(listener: &UnixListener, path: &SocketPath) -> (UnixConnection, UnixConnection) {
    let client = me().connect(path, long()).unwrap();
    (client, listener.accept(long()).unwrap().expect("a caller waits"))
}

/// Calls until no more callers may wait.
fn fill_backlog(path: &SocketPath) -> Vec<UnixConnection> {
    let mut callers = Vec::new();
    loop {
        match me().connect(path, Deadline::after(Duration::ZERO)) {
            Ok(caller) => callers.push(caller),
            Err(ConnectError::TimedOut { .. }) => return callers,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn two_processes_meet_and_exchange_lines() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (mut client, mut server) = pair(&listener, &path);
    write_line(&mut client, &"question").unwrap();
    let mut requests = LineReader::new(server.try_clone().unwrap(), Cap(100));
    assert_eq!(requests.next_line().unwrap(), Some(Line::Whole("\"question\"".into())));
    write_line(&mut server, &"answer").unwrap();
    let mut replies = LineReader::new(client, Cap(100));
    assert_eq!(replies.next_line().unwrap(), Some(Line::Whole("\"answer\"".into())));
}

#[test]
fn nobody_there_is_absent() {
    let (directory, path) = place();
    assert!(matches!(me().connect(&path, soon()), Err(ConnectError::Absent { .. })));
    let nowhere = SocketPath::new(directory.path().join("no/d.sock")).unwrap();
    assert!(matches!(me().connect(&nowhere, soon()), Err(ConnectError::Absent { .. })));
    assert!(matches!(me().listen(&nowhere), Err(ListenError::Io { .. })));
}

#[test]
fn a_socket_without_its_listener_is_stale_and_can_be_removed() {
    let (_directory, path) = place();
    left_behind(path.as_path());
    assert!(matches!(me().connect(&path, soon()), Err(ConnectError::Stale { .. })));
    assert!(matches!(me().listen(&path), Err(ListenError::InUse { .. })));
    me().remove_stale(&path).unwrap();
    me().remove_stale(&path).unwrap();
    let listener = me().listen(&path).unwrap();
    pair(&listener, &path);
}

#[test]
fn a_listener_that_lives_is_never_removed() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    assert!(matches!(me().remove_stale(&path), Err(ListenError::InUse { .. })));
    let _callers = fill_backlog(&path);
    assert!(matches!(me().remove_stale(&path), Err(ListenError::InUse { .. })));
    assert!(listener.accept(long()).unwrap().is_some());
}

#[test]
fn what_is_not_a_socket_is_neither_called_nor_removed() {
    let (_directory, path) = place();
    fs::write(path.as_path(), "precious").unwrap();
    assert!(matches!(me().connect(&path, soon()), Err(ConnectError::NotASocket { .. })));
    assert!(matches!(me().remove_stale(&path), Err(ListenError::NotASocket { .. })));
    assert!(matches!(me().listen(&path), Err(ListenError::InUse { .. })));
    assert_eq!(fs::read_to_string(path.as_path()).unwrap(), "precious");
}

#[test]
fn a_symlink_is_not_followed_even_to_a_socket_of_ours() {
    let (directory, path) = place();
    let _listener = me().listen(&path).unwrap();
    let link = SocketPath::new(directory.path().join("link")).unwrap();
    symlink(path.as_path(), link.as_path()).unwrap();
    let error = me().connect(&link, soon()).unwrap_err();
    assert!(matches!(error, ConnectError::Untrusted(_)));
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    assert!(matches!(me().remove_stale(&link), Err(ListenError::Untrusted(_))));
    let dangling = SocketPath::new(directory.path().join("dangling")).unwrap();
    symlink("nowhere", dangling.as_path()).unwrap();
    assert!(matches!(me().listen(&dangling), Err(ListenError::InUse { .. })));
}

#[test]
fn a_socket_of_somebody_else_is_neither_called_nor_removed() {
    let (_directory, path) = place();
    left_behind(path.as_path());
    let error = stranger().connect(&path, soon()).unwrap_err();
    assert!(matches!(error, ConnectError::Untrusted(_)), "{error}");
    assert!(matches!(stranger().remove_stale(&path), Err(ListenError::Untrusted(_))));
    assert!(path.as_path().exists());
}

#[test]
fn a_caller_of_another_user_is_turned_away_and_the_next_is_served() {
    let (_directory, path) = place();
    let listener = stranger().listen(&path).unwrap();
    let mut client = me().connect(&path, long()).unwrap();
    let expected = (me().uid, stranger().uid);
    let error = listener.accept(long()).unwrap_err();
    assert!(matches!(error, AcceptError::ForeignPeer { peer, uid } if (peer, uid) == expected), "{error}");
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    assert!(listener.accept(soon()).unwrap().is_none());
}

#[test]
fn a_socket_is_ours_alone_whatever_the_umask() {
    rustix::process::umask(rustix::fs::Mode::empty());
    let (_directory, path) = place();
    let _listener = me().listen(&path).unwrap();
    assert_eq!(fs::symlink_metadata(path.as_path()).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn a_listener_takes_its_name_with_it_but_not_that_of_its_successor() {
    let (directory, path) = place();
    let first = me().listen(&path).unwrap();
    fs::rename(path.as_path(), directory.path().join("away")).unwrap();
    let second = me().listen(&path).unwrap();
    drop(first);
    pair(&second, &path);
    drop(second);
    assert!(!path.as_path().exists());
}

#[test]
fn nobody_calling_is_no_caller() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    assert!(listener.accept(soon()).unwrap().is_none());
}

#[test]
fn a_full_backlog_costs_the_budget_and_no_more() {
    let (_directory, path) = place();
    let _listener = me().listen(&path).unwrap();
    let callers = fill_backlog(&path);
    assert!(callers.len() >= 128, "{}", callers.len());
    let start = Instant::now();
    assert!(matches!(me().connect(&path, soon()), Err(ConnectError::TimedOut { .. })));
    let waited = start.elapsed();
    assert!((Duration::from_millis(15)..Duration::from_secs(2)).contains(&waited), "{waited:?}");
}

#[test]
fn a_caller_waits_at_a_full_backlog_and_is_taken_when_there_is_room() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let _callers = fill_backlog(&path);
    let waiting = thread::spawn({
        let path = path.clone();
        move || me().connect(&path, long()).map(drop)
    });
    let deadline = long();
    while !waiting.is_finished() && !deadline.passed() {
        assert!(listener.accept(deadline).unwrap().is_some());
    }
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_listener_that_never_takes_the_call_still_gets_a_small_message() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let deadline = long();
    me().connect(&path, deadline).unwrap().send_within(b"{}\n", deadline).unwrap();
    let mut lines = LineReader::new(listener.accept(long()).unwrap().unwrap(), Cap(10));
    assert_eq!(lines.next_line().unwrap(), Some(Line::Whole("{}".into())));
}

#[test]
fn a_peer_that_never_reads_costs_one_budget_for_connect_and_write_together() {
    let (_directory, path) = place();
    let _listener = me().listen(&path).unwrap();
    let large = vec![b'x'; 8 << 20];
    let (start, deadline) = (Instant::now(), soon());
    let sent = me().connect(&path, deadline).unwrap().send_within(&large, deadline);
    assert!(matches!(sent, Err(SendError::TimedOut)));
    let waited = start.elapsed();
    assert!((Duration::from_millis(15)..Duration::from_secs(2)).contains(&waited), "{waited:?}");
}

#[test]
fn a_large_message_arrives_whole_through_partial_writes() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (client, mut server) = pair(&listener, &path);
    let large: Vec<u8> = (0..8 << 20).map(|index: u32| index as u8).collect();
    let sender = thread::spawn({
        let large = large.clone();
        move || client.send_within(&large, long())
    });
    let mut received = Vec::new();
    server.read_to_end(&mut received).unwrap();
    sender.join().unwrap().unwrap();
    assert!(received == large);
}

#[test]
fn a_peer_that_is_gone_is_an_error_and_no_signal() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (mut client, server) = pair(&listener, &path);
    drop(server);
    assert!(matches!(client.send_within(b"x", long()), Err(SendError::Closed)));
    assert_eq!(client.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn a_peer_that_says_nothing_is_given_up_and_can_be_asked_again() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (mut client, server) = pair(&listener, &path);
    server.set_read_timeout(Duration::ZERO).unwrap();
    let mut lines = LineReader::new(server, Cap(100));
    assert!(matches!(lines.next_line(), Err(FrameError::DeadlinePassed)));
    client.write_all(b"{\"half\":").unwrap();
    assert!(matches!(lines.next_line_by(soon()), Err(FrameError::DeadlinePassed)));
    client.write_all(b"1}\n{\"torn").unwrap();
    assert_eq!(lines.next_line_by(long()).unwrap(), Some(Line::Whole("{\"half\":1}".into())));
    drop(client);
    assert_eq!(lines.next_line_by(long()).unwrap(), Some(Line::Torn("{\"torn".into())));
    assert_eq!(lines.next_line_by(long()).unwrap(), None);
}

#[test]
fn a_write_to_a_peer_that_never_reads_times_out() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (_client, mut server) = pair(&listener, &path);
    server.set_write_timeout(Duration::from_millis(1)).unwrap();
    let error = server.write_all(&vec![b'x'; 8 << 20]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_hundred_megabytes_without_a_newline_are_answered_and_the_connection_goes_on() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (client, mut server) = pair(&listener, &path);
    let flood = thread::spawn({
        let client = client.try_clone().unwrap();
        move || {
            let block = vec![b'x'; 1 << 20];
            (0..100).try_for_each(|_| client.send_within(&block, long()))?;
            client.send_within(b"\n{}\n", long())
        }
    });
    let mut requests = LineReader::new(server.try_clone().unwrap(), Cap(64 * 1024));
    let error = requests.next_line().unwrap_err();
    write_line(&mut server, &error.to_string()).unwrap();
    assert_eq!(requests.next_line().unwrap(), Some(Line::Whole("{}".into())));
    write_line(&mut server, &"done").unwrap();
    flood.join().unwrap().unwrap();
    let mut replies = LineReader::new(client, Cap(100));
    let too_long = "\"a message is longer than 65536 bytes\"";
    assert_eq!(replies.next_line().unwrap(), Some(Line::Whole(too_long.into())));
    assert_eq!(replies.next_line().unwrap(), Some(Line::Whole("\"done\"".into())));
}

#[test]
fn a_shutdown_ends_a_read_that_waits_on_another_thread() {
    let (_directory, path) = place();
    let listener = me().listen(&path).unwrap();
    let (_client, server) = pair(&listener, &path);
    let mut reading = server.try_clone().unwrap();
    let reader = thread::spawn(move || reading.read(&mut [0]));
    server.shutdown().unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), 0);
}

fn guarded(byte: u8) -> Guarded<Unix> {
    Guarded { inner: me(), token: Token::new([byte; 32]) }
}

#[test]
fn behind_a_secret_only_who_knows_it_is_heard_and_answered() {
    let (_directory, path) = place();
    let listener = guarded(1).listen(&path).unwrap();
    let mut client = guarded(1).connect(&path, long()).unwrap();
    let server = listener.accept(long()).unwrap().expect("a caller waits");
    let mouth = server.try_clone().unwrap();
    assert!(mouth.send_within(b"too early\n", long()).is_err());
    client.send_within(b"one\ntwo\n", long()).unwrap();
    let mut lines = LineReader::new(server, Cap(64));
    assert_eq!(lines.next_line().unwrap(), Some(Line::Whole("one".to_owned())));
    mouth.send_within(b"three\n", long()).unwrap();
    let mut heard = [0; 6];
    client.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"three\n");
    assert_eq!(lines.next_line().unwrap(), Some(Line::Whole("two".to_owned())));
}

#[test]
fn whoever_begins_with_anything_but_the_secret_is_neither_heard_nor_answered() {
    let (_directory, path) = place();
    let listener = guarded(1).listen(&path).unwrap();
    let right = Token::new([1; 32]).to_line();
    let said = [
        Token::new([2; 32]).to_line() + "\n{\"cmd\":\"ping\"}\n",
        "{\"cmd\":\"ping\"}\n".repeat(9),
        format!("{right} \n"),
        right[1..].to_owned() + "\n\n",
        right[..9].to_owned(),
        String::new(),
    ];
    for words in said {
        let client = me().connect(&path, long()).unwrap();
        client.send_within(words.as_bytes(), long()).unwrap();
        drop(client);
        let mut server = listener.accept(long()).unwrap().expect("a caller waits");
        for _ in 0..2 {
            let refused = server.read(&mut [0; 64]).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{words}");
        }
        assert!(matches!(server.send_within(b"x", long()), Err(SendError::Io(_))), "{words}");
    }
}

#[test]
fn a_secret_that_comes_in_pieces_is_one_and_nobody_waits_for_it() {
    let (_directory, path) = place();
    let listener = guarded(7).listen(&path).unwrap();
    let slow = me().connect(&path, long()).unwrap();
    let mut server = listener.accept(long()).unwrap().expect("a caller waits");
    server.set_read_timeout(Duration::from_millis(1)).unwrap();
    let line = Token::new([7; 32]).to_line() + "\nhello";
    let (first, rest) = line.split_at(20);
    slow.send_within(first.as_bytes(), long()).unwrap();
    let waits =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
    assert!(waits(&server.read(&mut [0; 64]).unwrap_err()));
    slow.send_within(rest.as_bytes(), long()).unwrap();
    let mut heard = [0; 5];
    server.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
}
