//! The hook as a shell sees it: variables or standard input go in, one line goes to whoever listens, nothing comes
//! out, and it always ends well and soon.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write plain files and start bare children"
)]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use proptest::prelude::*;
use serde_json::Value;
use testkit::{Home, PATIENCE, bin, hostile, until};

/// A home with a listener that hands over what it heard.
struct Ground {
    home: Home,
    listener: Option<UnixListener>,
}

impl Ground {
    fn new() -> Ground {
        let mut ground = Ground::silent();
        ground.listener = Some(UnixListener::bind(ground.socket()).unwrap());
        ground
    }

    fn silent() -> Ground {
        let home = Home::new();
        let directory = home.runtime().join("clai");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).unwrap();
        Ground { home, listener: None }
    }

    fn directory(&self) -> PathBuf {
        self.home.runtime().join("clai")
    }

    fn socket(&self) -> PathBuf {
        self.directory().join("daemon.sock")
    }

    /// The hook with all that an event needs, but the command.
    fn hook(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(bin("clai-hook"));
        command.args(args).env("CLAI_CWD", "/p").env("CLAI_SHELL", "bash").env("CLAI_SESSION_ID", "s");
        command
    }

    /// Runs it to its silent, successful end.
    #[track_caller]
    fn quiet(&self, command: &mut Command, stdin: &[u8]) -> Duration {
        let start = Instant::now();
        let output = self.home.run_with(command, stdin);
        let took = start.elapsed();
        assert_eq!((output.code, &*output.stdout, &*output.stderr), (0, "", ""), "{}", output.transcript());
        took
    }

    /// What the next caller says, to its end.
    fn heard(&self) -> Vec<u8> {
        let mut said = Vec::new();
        let (mut caller, _) = self.listener.as_ref().unwrap().accept().unwrap();
        caller.read_to_end(&mut said).unwrap();
        said
    }

    fn event(&self) -> Value {
        let said = self.heard();
        assert_eq!(said.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
        assert_eq!(said.last(), Some(&b'\n'));
        serde_json::from_slice(&said).unwrap()
    }

    fn nobody_called(&self) {
        assert!(self.waiting().is_none(), "somebody called");
    }

    /// Who has called and was not heard yet.
    fn waiting(&self) -> Option<UnixStream> {
        let listener = self.listener.as_ref().unwrap();
        listener.set_nonblocking(true).unwrap();
        let caller = listener.accept().ok().map(|(caller, _)| caller);
        listener.set_nonblocking(false).unwrap();
        caller
    }
}

fn by_variable(ground: &Ground, command: &[u8]) -> Value {
    ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", OsStr::from_bytes(command)), b"");
    ground.event()
}

fn by_stdin(ground: &Ground, command: &[u8]) -> Value {
    ground.quiet(&mut ground.hook(&["ingest", "--cmd-stdin"]), command);
    ground.event()
}

#[test]
fn an_event_carries_all_that_the_shell_said() {
    let ground = Ground::new();
    let mut hook = ground.hook(&["ingest"]);
    hook.env("CLAI_CMD", "ls").env("CLAI_EXIT", "130").env("CLAI_TS", "1700000000123");
    hook.env("CLAI_DURATION_MS", "12").env("CLAI_ACTOR", "robot").env("CLAI_EPHEMERAL", "1");
    ground.quiet(&mut hook, b"");
    let wanted = r#"{"v":1,"type":"command_end","session_id":"s","shell":"bash","ts":1700000000123,"cwd":"/p",
        "cmd_raw":"ls","exit_code":130,"duration_ms":12,"ephemeral":true,"actor":"robot"}"#;
    assert_eq!(ground.event(), serde_json::from_str::<Value>(wanted).unwrap());
}

#[test]
fn without_a_time_it_is_now_and_without_an_exit_code_it_went_well() {
    let ground = Ground::new();
    ground.home.clock().set(1_700_000_000_777);
    let event = by_variable(&ground, b"ls");
    assert_eq!((&event["ts"], &event["exit_code"]), (&1_700_000_000_777_i64.into(), &0.into()));
    assert!(event.get("duration_ms").is_none());
}

#[test]
fn whatever_was_typed_arrives_as_text() {
    let ground = Ground::new();
    let typed: [(&[u8], &str); 6] = [
        (br#"git commit -m "fix: \"quoted\" work""#, r#"git commit -m "fix: \"quoted\" work""#),
        (b"a\n\tb | c > d", "a\n\tb | c > d"),
        ("é 日本 👩‍👩‍👧".as_bytes(), "é 日本 👩‍👩‍👧"),
        (b"\x1b[31m\x01", "\u{1b}[31m\u{1}"),
        (b"ls \xff\xfe", "ls \u{fffd}\u{fffd}"),
        (b"$(x) `y` 'z' \\ \r", "$(x) `y` 'z' \\ \r"),
    ];
    for (bytes, text) in typed {
        assert_eq!(by_variable(&ground, bytes)["cmd_raw"], text);
        assert_eq!(by_stdin(&ground, bytes)["cmd_raw"], text);
    }
    assert_eq!(by_stdin(&ground, b"a\0b")["cmd_raw"], "a\0b");
    let mut elsewhere = ground.hook(&["ingest"]);
    elsewhere.env("CLAI_CMD", "ls").env("CLAI_CWD", OsStr::from_bytes(b"/p/\xff\"\n"));
    ground.quiet(&mut elsewhere, b"");
    assert_eq!(ground.event()["cwd"], "/p/\u{fffd}\"\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_bytes_become_one_line_of_the_same_text(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        prop_assume!(!text.trim().is_empty());
        let ground = Ground::new();
        prop_assert_eq!(&by_stdin(&ground, &bytes)["cmd_raw"], &text);
        if !bytes.contains(&0) {
            prop_assert_eq!(&by_variable(&ground, &bytes)["cmd_raw"], &text);
        }
    }
}

/// Says so much that the buffer of a socket does not take it, so that somebody has to listen at the same time. The hook
/// waits for them no longer than its budget, which on a busy machine may be over before they had their turn: then the
/// next line is said.
fn while_somebody<T: Send + 'static>(
    ground: &Ground,
    size: usize,
    mut listens: impl FnMut() -> Option<T> + Send + 'static,
) -> T {
    let (heard, hearing) = mpsc::channel();
    let listening = thread::spawn(move || while heard.send(listens()).is_ok() {});
    let mut last = None;
    assert!(until(PATIENCE, || {
        ground.quiet(&mut ground.hook(&["ingest", "--cmd-stdin"]), &vec![b'x'; size]);
        last = hearing.recv_timeout(PATIENCE).unwrap();
        last.is_some()
    }));
    // It waits for one more caller.
    drop(hearing);
    let _ = UnixStream::connect(ground.socket()).unwrap();
    listening.join().unwrap();
    last.unwrap()
}

#[test]
fn a_long_command_arrives_and_one_over_the_cap_is_dropped_at_once() {
    let ground = Ground::new();
    // The last value of a variable that Linux lets through has 131,071 bytes with its name.
    for size in [32_768, 131_000] {
        assert_eq!(by_variable(&ground, &vec![b'x'; size])["cmd_raw"].as_str().map(str::len), Some(size));
    }
    let largest = 256 * 1024 - 200;
    let listener = ground.listener.as_ref().unwrap().try_clone().unwrap();
    let whole = while_somebody(&ground, largest, move || {
        let mut said = String::new();
        let (caller, _) = listener.accept().unwrap();
        BufReader::new(caller).read_line(&mut said).unwrap();
        serde_json::from_str::<Value>(&said).ok()
    });
    assert_eq!(whole["cmd_raw"].as_str().map(str::len), Some(largest));
    for size in [256 * 1024, 256 * 1024 + 1, 1 << 20] {
        ground.quiet(&mut ground.hook(&["ingest", "--cmd-stdin"]), &vec![b'x'; size]);
    }
    // Escaped, these bytes are six times as many.
    ground.quiet(&mut ground.hook(&["ingest", "--cmd-stdin"]), &vec![1; 100_000]);
    ground.nobody_called();
}

#[test]
fn what_is_longer_than_a_variable_is_taken_left_or_cut_as_it_is_set() {
    let long = "é".repeat(20_000);
    let sent = |oversize: &str, command: &str| {
        let ground = Ground::new();
        let mut hook = ground.hook(&["ingest", "--cmd-stdin"]);
        ground.quiet(hook.env("CLAI_OVERSIZE", oversize), command.as_bytes());
        let caller = ground.waiting()?;
        let event: Value = serde_json::from_reader(caller).unwrap();
        Some(event["cmd_raw"].as_str().unwrap().to_owned())
    };
    for unknown in ["stdin", "", "nonsense"] {
        assert_eq!(sent(unknown, &long).as_deref(), Some(&*long));
    }
    assert_eq!(sent("skip", &long), None);
    let cut = sent("truncate", &long).unwrap();
    let rest = cut.strip_suffix(" …[cut]").expect("a mark stands at its end");
    assert!(long.starts_with(rest) && (32_766..=32_768).contains(&cut.len()), "{}", cut.len());
    for oversize in ["skip", "truncate"] {
        let just = "x".repeat(32_768);
        assert_eq!(sent(oversize, &just).as_deref(), Some(&*just));
    }
}

#[test]
fn what_is_no_command_of_the_person_is_not_sent() {
    let ground = Ground::new();
    for command in ["clai-hook ingest", "  clai-hook", "/usr/bin/clai-hook x", "", "  \n"] {
        ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", command), b"");
    }
    ground.quiet(&mut ground.hook(&["ingest"]), b"");
    ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "ls").env("CLAI_NO_RECORD", "1"), b"");
    for missing in ["CLAI_CWD", "CLAI_SHELL", "CLAI_SESSION_ID"] {
        ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "ls").env_remove(missing), b"");
    }
    ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "ls").env("CLAI_SHELL", "csh"), b"");
    ground.nobody_called();
    for command in ["clai-hooked", "echo clai-hook", "./my-clai-hook"] {
        assert_eq!(by_variable(&ground, command.as_bytes())["cmd_raw"], command);
    }
}

/// A socket that is closed with something unread in it resets its peer; one that was read from ends.
#[test]
fn the_hook_sends_and_never_reads() {
    let ground = Ground::new();
    let listener = ground.listener.as_ref().unwrap().try_clone().unwrap();
    let end = while_somebody(&ground, 260_000, move || {
        let (mut caller, _) = listener.accept().unwrap();
        // A hook that still has something to say is still there.
        caller.write_all(b"have you read this?\n").ok()?;
        Some(caller.read_to_end(&mut Vec::new()).map_err(|error| error.kind()))
    });
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

/// The budget, the start of a process, and all the patience that a busy machine needs: what is told apart here is
/// an end from a hang. How long it really takes is measured by `cargo xtask bench clai-prompt`.
const SOON: Duration = PATIENCE;

#[test]
fn nobody_there_is_no_trouble() {
    let ground = Ground::silent();
    let send = |ground: &Ground| ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "ls"), b"");
    assert!(send(&ground) < SOON, "no socket");
    drop(UnixListener::bind(ground.socket()).unwrap());
    assert!(send(&ground) < SOON, "a socket that somebody left behind");
    fs::remove_file(ground.socket()).unwrap();
    fs::write(ground.socket(), "no socket").unwrap();
    assert!(send(&ground) < SOON, "a file in its place");
    fs::remove_dir_all(ground.directory()).unwrap();
    assert!(send(&ground) < SOON, "no directory");
    fs::create_dir(ground.directory()).unwrap();
    assert!(!ground.directory().join("busy").exists());
}

#[test]
fn a_socket_of_somebody_else_hears_nothing() {
    let ground = Ground::new();
    hostile::give_away(ground.socket());
    ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "secret"), b"");
    ground.quiet(&mut ground.hook(&["session-start"]), b"");
    ground.nobody_called();
}

#[test]
fn a_listener_that_takes_nobody_costs_the_budget_and_is_told_to_the_shell() {
    let budgets = [("20", 20), ("10", 10), ("9", 15), ("21", 15), ("5000", 15), ("x", 15)];
    let budgets = budgets.map(|(asked, least)| (Some(asked), least));
    for (budget, least) in budgets.into_iter().chain([(None, 15)]) {
        let ground = Ground::new();
        rustix::net::listen(ground.listener.as_ref().unwrap(), 0).unwrap();
        let _waiting = UnixStream::connect(ground.socket()).unwrap();
        let mut hook = ground.hook(&["ingest"]);
        hook.env("CLAI_CMD", "ls").envs(budget.map(|ms| ("CLAI_HOOK_TIMEOUT_MS", ms)));
        let took = ground.quiet(&mut hook, b"");
        assert!(took >= Duration::from_millis(least) && took < SOON, "{budget:?}: {took:?}");
        assert_eq!(fs::read(ground.directory().join("busy")).unwrap(), b"1");
    }
}

#[test]
fn a_listener_that_does_not_read_costs_no_more_than_the_budget() {
    let ground = Ground::new();
    let took = ground.quiet(ground.hook(&["ingest"]).env("CLAI_CMD", "ls"), b"");
    assert!(took < SOON, "what fits the buffer is left there");
    assert!(!ground.directory().join("busy").exists());
    let took = ground.quiet(&mut ground.hook(&["ingest", "--cmd-stdin"]), &vec![b'x'; 260_000]);
    assert!(took >= Duration::from_millis(15) && took < SOON, "{took:?}");
    assert!(ground.directory().join("busy").exists());
}

/// Answers every request for a session.
fn answering(ground: &Ground) -> mpsc::Receiver<Value> {
    let listener = ground.listener.as_ref().unwrap().try_clone().unwrap();
    let (asked, receiver) = mpsc::channel();
    thread::spawn(move || {
        for caller in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            if BufReader::new(&caller).read_line(&mut line).is_ok_and(|length| length > 0) {
                // A hook that has given up does not hear it.
                let _ = (&caller).write_all(b"{\"session_id\":\"from-the-daemon\"}\n");
                asked.send(serde_json::from_str(&line).unwrap()).unwrap();
            }
        }
    });
    receiver
}

#[test]
fn a_session_comes_from_the_daemon_and_lies_in_a_file_of_the_shell() {
    let ground = Ground::new();
    let asked = answering(&ground);
    // On a busy machine the answer may come too late, so the shell asks until it has one.
    let mut shell = ground.home.command("sh");
    let script = r#"echo $$; until test -s "$1/session.$$"; do "$0" session-start; done; "$0" session-start"#;
    shell.args(["-c", script]).arg(bin("clai-hook")).arg(ground.directory());
    let output = ground.home.run(shell.env("CLAI_SHELL", "zsh").env("USER", "ada")).ok();
    let pid: u32 = output.stdout.trim().parse().expect("the hook printed nothing of its own");
    let file = ground.directory().join(format!("session.{pid}"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "from-the-daemon");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let asked = asked.recv().unwrap();
    assert_eq!(
        (&asked["type"], &asked["pid"], &asked["user"]),
        (&"session_start".into(), &pid.into(), &"ada".into())
    );
}

#[test]
fn a_session_file_is_made_anew_and_no_link_is_followed() {
    let ground = Ground::new();
    let target = ground.home.write("precious", "untouched");
    let _asked = answering(&ground);
    let mut shell = ground.home.command("sh");
    let script =
        r#"f=$2/session.$$; ln -s "$1" "$f"; while test -L "$f"; do "$0" session-start; done; cat "$f""#;
    shell.args(["-c", script]).arg(bin("clai-hook")).arg(&target).arg(ground.directory());
    let output = ground.home.run(shell.env("CLAI_SHELL", "zsh"));
    assert_eq!((&*output.stdout, &*ground.home.read("precious")), ("from-the-daemon", "untouched"));
}

#[test]
fn without_a_daemon_there_is_no_session_and_no_wait() {
    let ground = Ground::silent();
    assert!(ground.quiet(&mut ground.hook(&["session-start"]), b"") < SOON);
    let ground = Ground::new();
    // Somebody who takes the call and says nothing.
    let took = ground.quiet(&mut ground.hook(&["session-start"]), b"");
    assert!(took >= Duration::from_millis(15) && took < SOON, "{took:?}");
    let files: Vec<_> =
        fs::read_dir(ground.directory()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["daemon.sock"]);
}

#[test]
fn asked_for_nothing_it_tells_how_it_is_called() {
    let ground = Ground::silent();
    let output = ground.home.run(ground.home.command(bin("clai-hook")).arg("--help")).ok();
    assert!(output.stdout.starts_with("usage: clai-hook ingest [--cmd-stdin]\n"), "{}", output.transcript());
    let output = ground.home.run(ground.home.command(bin("clai-hook")).arg("--version")).ok();
    assert!(output.stdout.starts_with("clai-hook 0."), "{}", output.transcript());
}
