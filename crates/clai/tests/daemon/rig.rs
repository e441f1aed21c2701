//! A daemon in a throw-away home, and how to talk to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::sqlite::rusqlite::Connection;
use testkit::{Home, Output, PATIENCE, bin, until};

/// 2026-01-01, where clocks of tests start.
pub(crate) const NOW: i64 = 1_767_225_600_000;

/// For tests that say thousands of commands: without learning how to weigh what was learned.
pub(crate) const QUICK: &[(&str, &str)] = &[("CLAI_SCORER", "seed")];

/// A running daemon. Killed when dropped, unless it has ended.
pub(crate) struct Daemon<'a> {
    home: &'a Home,
    child: Child,
}

impl<'a> Daemon<'a> {
    pub(crate) fn start(home: &'a Home) -> Daemon<'a> {
        Daemon::start_with(home, &[])
    }

    /// With the variables of an environment on top.
    pub(crate) fn start_with(home: &'a Home, variables: &[(&str, &str)]) -> Daemon<'a> {
        home.clock();
        let mut command = command(home);
        command.arg("--foreground").envs(variables.iter().copied());
        Daemon::spawn(home, &mut command)
    }

    pub(crate) fn spawn(home: &'a Home, command: &mut Command) -> Daemon<'a> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut daemon = Daemon { home, child };
        let up = until(PATIENCE, || answers(home) || daemon.child.try_wait().unwrap().is_some());
        assert!(up && answers(home), "the daemon does not answer: {}", log(home));
        daemon
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end; the exit code, or none if a signal ended it.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let ended = until(PATIENCE, || self.child.try_wait().unwrap().is_some());
        assert!(ended, "the daemon does not end");
        self.child.wait().unwrap().code()
    }

    pub(crate) fn terminate(mut self) {
        self.signal(Signal::TERM);
        assert_eq!(self.ended(), Some(0), "{}", log(self.home));
    }

    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.ended();
    }

    pub(crate) fn connect(&self) -> Talk {
        Talk::to(self.home)
    }

    /// One question on a connection of its own.
    pub(crate) fn ask(&self, question: &Value) -> Value {
        self.connect().ask(question)
    }

    pub(crate) fn flush(&self) {
        assert_eq!(self.ask(&json!({"type": "flush"})), json!({"done": true}));
    }

    /// Says events on one connection and waits until they are written.
    pub(crate) fn ran(&self, lines: &[&str]) {
        let mut talk = self.connect();
        for (n, line) in lines.iter().enumerate() {
            talk.say(&event(line, NOW + n as i64));
        }
        assert_eq!(talk.ask(&json!({"type": "flush"})), json!({"done": true}));
    }

    pub(crate) fn suggestions(&self) -> Vec<String> {
        let answer = self.ask(&json!({"type": "suggest", "session_id": "s", "cwd": "/", "limit": 20}));
        let suggestions = answer["suggestions"].as_array().unwrap();
        suggestions.iter().map(|suggestion| suggestion["cmd"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn left_out(&self) -> Vec<(String, String, u64)> {
        let answer = self.ask(&json!({"type": "why_not"}));
        let row = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            (text("reason"), text("detail"), row["count"].as_u64().unwrap())
        };
        answer["left_out"].as_array().unwrap().iter().map(row).collect()
    }

    /// Real curl; its output is the status code on the last line.
    pub(crate) fn curl(&self, args: &[&str], path: &str, stdin: impl AsRef<[u8]>) -> (u16, Value) {
        let mut curl = self.home.command("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--max-time",
            "60",
            "--write-out",
            "\n%{http_code}",
            "--unix-socket",
        ]);
        curl.arg(socket(self.home)).args(args).arg(format!("http://clai{path}"));
        let output = self.home.run_with(&mut curl, stdin).ok();
        let (body, status) = output.stdout.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // A stopped one must go as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that speaks NDJSON.
pub(crate) struct Talk(pub(crate) BufReader<UnixStream>);

impl Talk {
    pub(crate) fn to(home: &Home) -> Talk {
        let stream = UnixStream::connect(socket(home)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Talk(BufReader::new(stream))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(crate) fn ask(&mut self, question: &Value) -> Value {
        self.say(question);
        self.hear()
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
        rest
    }
}

pub(crate) fn event(line: &str, ts: i64) -> Value {
    json!({"type": "command_end", "session_id": "s", "shell": "zsh", "ts": ts, "cwd": "/", "cmd_raw": line,
        "exit_code": 0})
}

pub(crate) fn command(home: &Home) -> Command {
    home.command(bin("clai-daemon"))
}

/// Runs the daemon's binary to its end.
pub(crate) fn run(home: &Home, args: &[&str]) -> Output {
    home.clock();
    home.run(command(home).args(args))
}

pub(crate) fn socket(home: &Home) -> PathBuf {
    home.runtime().join("clai/daemon.sock")
}

pub(crate) fn database(home: &Home) -> PathBuf {
    home.data().join("clai/clai.db")
}

/// A number out of the database.
pub(crate) fn count(home: &Home, sql: &str) -> i64 {
    let connection = Connection::open(database(home)).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The lines that are kept, in order.
pub(crate) fn kept(home: &Home) -> Vec<String> {
    let connection = Connection::open(database(home)).unwrap();
    let mut statement = connection.prepare("SELECT cmd_raw FROM command_event ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

pub(crate) fn log(home: &Home) -> String {
    std::fs::read_to_string(home.state().join("scrimp/clai-daemon.log")).unwrap_or_default()
}

fn answers(home: &Home) -> bool {
    UnixStream::connect(socket(home)).is_ok()
}
