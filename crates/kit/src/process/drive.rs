//! The loop that feeds a job, drains it and notices its end: one thread, one `poll`, no byte left unread.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::capture::Capture;
use super::{Cancel, Captured, Ended, Keep, Leftovers, Running};

/// How often the clock, the cancel flag and the child are looked at while its pipes are silent.
const TICK: Duration = Duration::from_millis(5);
/// The same when its pipes have just been closed: then it is most likely about to end.
const BRIEF: Duration = Duration::from_micros(200);
/// How long output may still come after the program itself has ended, before its children are judged.
const LINGER: Duration = Duration::from_millis(50);

pub(super) struct Settings {
    pub(super) stdin: Vec<u8>,
    pub(super) deadline: Option<Instant>,
    pub(super) cancel: Cancel,
    pub(super) leftovers: Leftovers,
}

pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

pub(super) struct Driven {
    pub(super) ended: Ended,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) survivors: Vec<u32>,
}

pub(super) fn to_the_end(
    running: &mut Running,
    pipes: Pipes,
    settings: &Settings,
    keep: &Keep,
    watch: &mut dyn FnMut(&[u8]),
) -> io::Result<Driven> {
    let mut second = keep.clone();
    if let Some(spill) = &mut second.spill {
        spill.path.as_mut_os_string().push(".err");
    }
    let mut stdin = Feed::new(pipes.stdin, &settings.stdin)?;
    let mut stdout = Drain::new(pipes.stdout, keep.clone())?;
    let mut stderr = Drain::new(pipes.stderr, second)?;
    let mut exited: Option<(ExitStatus, Instant)> = None;
    let mut closed: Option<Instant> = None;
    let ended = loop {
        let ending = closed.is_some_and(|at| at.elapsed() < LINGER);
        wait_for_any(&stdin, &[&stdout, &stderr], if ending { BRIEF } else { TICK })?;
        stdin.step()?;
        stdout.step(watch)?;
        stderr.step(watch)?;
        if exited.is_none() {
            exited = running.try_wait()?.map(|status| (status, Instant::now()));
        }
        let drained = stdout.is_done() && stderr.is_done();
        if drained && closed.is_none() {
            closed = Some(Instant::now());
        }
        match exited {
            Some((status, at)) if drained || at.elapsed() >= LINGER => break ended_by(status),
            _ if settings.cancel.is_cancelled() => break Ended::Cancelled,
            _ if settings.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                break Ended::DeadlinePassed;
            }
            _ => {}
        }
    };
    let natural = matches!(ended, Ended::Exited(_) | Ended::Signalled(_));
    let mut survivors = Vec::new();
    if natural && running.tree.is_bare() {
        running.tree.close();
    } else if !natural || settings.leftovers == Leftovers::Kill {
        survivors = running.kill();
        // What the dead had already written is still in the pipes.
        stdout.step(watch)?;
        stderr.step(watch)?;
    } else {
        running.tree.let_go();
    }
    Ok(Driven { ended, stdout: stdout.capture.finish(), stderr: stderr.capture.finish(), survivors })
}

fn ended_by(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signalled(signal.unwrap_or_default()),
    }
}

/// Waits until a pipe can be read or fed, or for a tick.
fn wait_for_any(stdin: &Feed<'_>, outputs: &[&Drain], tick: Duration) -> io::Result<()> {
    let mut fds = Vec::with_capacity(3);
    if let Some(pipe) = &stdin.pipe {
        fds.push(PollFd::new(pipe, PollFlags::OUT));
    }
    for output in outputs {
        if let Some(pipe) = &output.pipe {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
    }
    let tick = Timespec::try_from(tick).expect("a tick is far below the limits of a timespec");
    match poll(&mut fds, Some(&tick)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Standard input on its way in. A program that does not want it closes the pipe: not our failure.
struct Feed<'a> {
    pipe: Option<File>,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    fn new(pipe: Option<OwnedFd>, rest: &'a [u8]) -> io::Result<Feed<'a>> {
        Ok(Feed { pipe: pipe.map(nonblocking).transpose()?, rest })
    }

    fn step(&mut self) -> io::Result<()> {
        while let Some(pipe) = &mut self.pipe {
            if self.rest.is_empty() {
                self.pipe = None;
                break;
            }
            match pipe.write(self.rest) {
                Ok(written) => self.rest = &self.rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.pipe = None,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// One output stream on its way out.
struct Drain {
    pipe: Option<File>,
    capture: Capture,
}

impl Drain {
    fn new(pipe: Option<OwnedFd>, keep: Keep) -> io::Result<Drain> {
        Ok(Drain { pipe: pipe.map(nonblocking).transpose()?, capture: Capture::new(keep) })
    }

    fn is_done(&self) -> bool {
        self.pipe.is_none()
    }

    /// Reads what is there, but no more than a few buffers, so that a flood cannot keep the loop from the clock.
    fn step(&mut self, watch: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = [0; 64 * 1024];
        for _ in 0..16 {
            let Some(pipe) = &mut self.pipe else { break };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => {
                    watch(&buffer[..read]);
                    self.capture.push(&buffer[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn nonblocking(fd: OwnedFd) -> io::Result<File> {
    let flags = fcntl_getfl(fd.as_fd())?;
    fcntl_setfl(fd.as_fd(), flags | OFlags::NONBLOCK)?;
    Ok(File::from(fd))
}
