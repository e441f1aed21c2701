//! How a child ended and what it said, as a test wants to look at it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{PATIENCE, until};

/// What a child left behind. Bytes that are not UTF-8 are shown as U+FFFD; `bytes` has what was really written
/// to standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    /// 128 and the number of the signal for a child that was killed, as shells count.
    pub code: i32,
    pub bytes: Vec<u8>,
    hidden: Vec<(String, String)>,
}

impl Output {
    /// Shows `name` in the transcript wherever `text` stands: for what differs from run to run.
    #[must_use]
    pub fn hide(mut self, text: impl Into<String>, name: impl Into<String>) -> Output {
        self.hidden.push((text.into(), name.into()));
        self
    }

    /// Standard output, standard error under a line of its own if there was any, and the exit status: for
    /// inline snapshots.
    pub fn transcript(&self) -> String {
        let mut text = self.stdout.clone();
        let end_line = |text: &mut String| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str("[no newline]\n");
            }
        };
        end_line(&mut text);
        if !self.stderr.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(&self.stderr);
            end_line(&mut text);
        }
        text.push_str(&format!("[exit status: {}]\n", self.code));
        self.hidden.iter().fold(text, |text, (secret, name)| text.replace(secret, name))
    }

    /// This output, if the child succeeded; else the test ends here with the transcript.
    #[track_caller]
    pub fn ok(self) -> Output {
        assert!(self.code == 0, "the command failed:\n{}", self.transcript());
        self
    }
}

/// Runs a command to its end with `stdin` as its input. Streams are files and not pipes: nothing blocks, and a
/// daemon that the command leaves behind cannot hold us up. Panics when it takes longer than [`PATIENCE`].
#[track_caller]
pub(crate) fn run(command: &mut Command, stdin: &[u8]) -> Output {
    let mut running = Running::start(command, stdin);
    if !until(PATIENCE, || running.ended().is_some()) {
        let output = running.kill();
        panic!("{command:?} did not end within {PATIENCE:?} and was killed:\n{}", output.transcript());
    }
    running.collect()
}

/// A child in a process group of its own, with its streams in files.
pub(crate) struct Running {
    child: Child,
    stdout: File,
    stderr: File,
    status: Option<ExitStatus>,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(command: &mut Command, stdin: &[u8]) -> Running {
        let [mut input, stdout, stderr] =
            std::array::from_fn(|_| tempfile::tempfile().expect("a temporary file can be made"));
        input.write_all(stdin).expect("a temporary file can be written");
        input.seek(SeekFrom::Start(0)).expect("a file can be read again");
        let share = |file: &File| Stdio::from(file.try_clone().expect("a file can be shared"));
        command.process_group(0).stdin(input).stdout(share(&stdout)).stderr(share(&stderr));
        match command.spawn() {
            Ok(child) => Running { child, stdout, stderr, status: None },
            Err(error) => panic!("cannot start {command:?}: {error}"),
        }
    }

    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("our own child can be waited for");
        }
        self.status
    }

    /// Whether anything stands on its standard output.
    pub(crate) fn spoke(&self) -> bool {
        self.stdout.metadata().expect("an open file has metadata").len() > 0
    }

    /// SIGKILL for the whole group, whether or not its leader is still there.
    pub(crate) fn kill(mut self) -> Output {
        // A group that is already gone is what we wanted.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.status = Some(self.child.wait().expect("our own child can be waited for"));
        self.collect()
    }

    fn collect(mut self) -> Output {
        let status = self.status.expect("collected after the end");
        let bytes = content(&mut self.stdout);
        Output {
            stdout: String::from_utf8_lossy(&bytes).into_owned(),
            stderr: String::from_utf8_lossy(&content(&mut self.stderr)).into_owned(),
            code: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            bytes,
            hidden: Vec::new(),
        }
    }
}

fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).expect("a file can be read again");
    file.read_to_end(&mut bytes).expect("a temporary file can be read");
    bytes
}
