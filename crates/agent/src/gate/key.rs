//! One key from a terminal. What was asked, and what an answer means, is the caller's.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use kit::process::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// How often somebody who waits looks whether the question is still of interest.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Asks, and waits for one of `keys`. None when the turn is interrupted or there is nobody any more.
pub(super) fn answer(mut terminal: &File, question: &str, keys: &[char], cancel: &Cancel) -> Option<char> {
    // First, so that a key that is pressed as soon as the question is there is not lost.
    let _raw = Raw::enter(terminal)?;
    terminal.write_all(question.as_bytes()).ok()?;
    loop {
        if cancel.is_cancelled() {
            return None;
        }
        let mut waiting = [PollFd::new(terminal, PollFlags::IN)];
        match poll(&mut waiting, Some(&TICK)) {
            Ok(0) => continue,
            Err(error) if error == rustix::io::Errno::INTR => continue,
            Err(_) => return None,
            Ok(_) => {}
        }
        let mut bytes = [0; 16];
        let read = match terminal.read(&mut bytes) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        // Several at once are an arrow key or a paste, and no answer.
        let typed = char::from(bytes[0]).to_ascii_lowercase();
        if read == 1 && keys.contains(&typed) {
            return Some(typed);
        }
    }
}

/// A terminal that gives every key at once and shows none; Ctrl-C still is a signal. As it was when this goes.
struct Raw<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Raw<'a> {
    fn enter(terminal: &'a File) -> Option<Raw<'a>> {
        let before = tcgetattr(terminal.as_fd()).ok()?;
        let mut during = before.clone();
        during.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // What was typed before the question is no answer to it.
        tcsetattr(terminal.as_fd(), OptionalActions::Flush, &during).ok()?;
        Some(Raw { terminal, before })
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal.as_fd(), OptionalActions::Drain, &self.before);
    }
}
