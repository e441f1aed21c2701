//! Somebody with a home of their own, whose commands reach a daemon of their own.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use testkit::{Home, Output, PATIENCE, bin, until};

pub(crate) struct Person {
    pub(crate) home: Home,
}

impl Person {
    /// The clock stands still, and a shell is known.
    pub(crate) fn new() -> Person {
        let home = Home::new();
        home.clock();
        Person { home }
    }

    /// The clock shows the real time: shells write it, and what is in the future is not believed.
    pub(crate) fn now() -> Person {
        let person = Person::new();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        person.home.clock().set(since.as_millis() as i64 + 60_000);
        person
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(&bin("clai"), args)
    }

    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = self.home.command(program);
        command.args(args).env("SHELL", "/bin/bash").env("CLAI_SESSION_ID", "s1");
        command
    }

    #[track_caller]
    pub(crate) fn clai(&self, args: &[&str]) -> Output {
        self.home.run(&mut self.command(args))
    }

    /// Standard output of a command that must succeed.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str]) -> String {
        self.clai(args).ok().stdout
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.says(args)).unwrap()
    }

    pub(crate) fn start(&self) {
        self.says(&["daemon", "start"]);
    }

    /// A command that has ended now in the home, as a shell would tell it. Half a minute passes.
    pub(crate) fn ran(&self, line: &str) {
        self.ran_so(line, &json!({}));
    }

    /// The same, with fields that differ.
    #[track_caller]
    pub(crate) fn ran_so(&self, line: &str, fields: &Value) {
        let mut event = json!({"type": "command_end", "cmd_raw": line, "exit_code": 0, "shell": "bash",
            "cwd": self.home.path(), "session_id": "s1", "ts": self.home.clock().now_ms(), "duration_ms": 40});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let mut stream = UnixStream::connect(self.socket()).unwrap();
        // The question behind it is answered when the command was taken.
        stream.write_all(format!("{event}\n{{\"type\":\"flush\"}}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut answer).unwrap();
        assert!(answer.contains("done"), "{answer}");
        self.home.clock().advance(Duration::from_secs(30));
    }

    pub(crate) fn ran_all(&self, lines: &[&str]) {
        lines.iter().for_each(|line| self.ran(line));
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.home.runtime().join("clai/daemon.sock")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home.data().join("clai/clai.db")
    }

    /// The process of the daemon.
    pub(crate) fn daemon(&self) -> String {
        self.json(&["status", "--json"])["pid"].to_string()
    }

    pub(crate) fn signal(&self, signal: &str, pid: &str) {
        let _ = self.home.run(self.home.command("kill").args([signal, pid])).ok();
    }

    /// Ends the daemon without a word, and waits until it is gone.
    pub(crate) fn kill(&self) {
        let pid = self.daemon();
        self.signal("-KILL", &pid);
        let lock = || store::lock::holder(&self.home.data().join("clai/.daemon.lock")).unwrap();
        assert!(until(PATIENCE, || lock().is_none()));
    }
}

impl Drop for Person {
    /// A daemon that outlived the test would go on writing.
    fn drop(&mut self) {
        let lock = self.home.data().join("clai/.daemon.lock");
        if let Ok(Some(holder)) = store::lock::holder(&lock)
            && let Some(pid) = holder.pid
        {
            let pid = pid.to_string();
            let _ = self.home.run(self.home.command("kill").args(["-KILL", &pid]));
            let _ = until(PATIENCE, || store::lock::holder(&lock).is_ok_and(|holder| holder.is_none()));
        }
    }
}
