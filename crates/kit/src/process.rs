//! Other people's programs, run so that nothing of them is left behind: a deadline, their own process group,
//! a closed standard input unless bytes are given, output drained whatever its size, and the whole tree killed
//! in the end. Nothing here knows what the programs are for.

mod capture;
mod drive;
mod tree;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use capture::{Captured, Keep, Spill, Spilled};

use crate::invocation::Environment;
use tree::Tree;

/// A program to run, with an environment that holds only what was put into it.
pub struct Job {
    command: Command,
    stdin: Option<Vec<u8>>,
    merged: bool,
    attached: bool,
    deadline: Option<Duration>,
    cancel: Cancel,
    keep: Keep,
    leftovers: Leftovers,
}

/// What becomes of children that outlive the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    Kill,
    Leave,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    Signalled(i32),
    DeadlinePassed,
    Cancelled,
}

/// What came of a job.
#[derive(Debug)]
pub struct Outcome {
    pub ended: Ended,
    /// Both streams, in the order they were written, if the job was [`Job::merged`].
    pub stdout: Captured,
    pub stderr: Captured,
    pub elapsed: Duration,
    /// Processes that could not be killed (another user's, say); empty unless something is very wrong.
    pub survivors: Vec<u32>,
}

/// A flag that ends a running job from another thread.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Job {
    pub fn new(program: impl AsRef<OsStr>) -> Job {
        // The one place where a bare command is made: everything below owns what it starts.
        #[allow(clippy::disallowed_methods, reason = "this is the module the ban points to")]
        let mut command = Command::new(program);
        command.env_clear();
        Job {
            command,
            stdin: None,
            merged: false,
            attached: false,
            deadline: None,
            cancel: Cancel::default(),
            keep: Keep::default(),
            leftovers: Leftovers::Kill,
        }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Job {
        self.command.arg(arg);
        self
    }

    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Job {
        self.command.args(args);
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Job {
        self.command.env(name, value);
        self
    }

    #[must_use]
    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Job {
        self.command.envs(env);
        self
    }

    #[must_use]
    pub fn cwd(mut self, path: &Path) -> Job {
        self.command.current_dir(path);
        self
    }

    /// Bytes for standard input, which is then closed. Without them it is closed from the start.
    #[must_use]
    pub fn stdin(mut self, bytes: Vec<u8>) -> Job {
        self.stdin = Some(bytes);
        self
    }

    /// One pipe for both output streams, so that their order is kept.
    #[must_use]
    pub fn merged(mut self) -> Job {
        self.merged = true;
        self
    }

    /// For a program that talks to the person: it shares our standard input (unless bytes are given), our error stream
    /// (unless it is merged) and our process group, without which a terminal would stop it. Its error stream is then
    /// not captured, and Ctrl-C reaches it as it reaches us.
    #[must_use]
    pub fn attached(mut self) -> Job {
        self.attached = true;
        self
    }

    /// The tree is killed when this much time has passed; [`Ended::DeadlinePassed`] with the output so far.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Job {
        self.deadline = Some(deadline);
        self
    }

    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Job {
        self.cancel = cancel.clone();
        self
    }

    /// How much of each output stream is kept.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Job {
        self.keep = keep;
        self
    }

    #[must_use]
    pub fn leftovers(mut self, leftovers: Leftovers) -> Job {
        self.leftovers = leftovers;
        self
    }

    /// Runs to the end and captures the output.
    pub fn run(self) -> io::Result<Outcome> {
        self.run_watched(&mut |_| {})
    }

    /// Like [`Job::run`]; `watch` sees output as it comes, both streams. It should be quick: while it works, nobody
    /// looks at the clock.
    pub fn run_watched(mut self, watch: &mut dyn FnMut(&[u8])) -> io::Result<Outcome> {
        let started = Instant::now();
        let (mut running, pipes) = self.spawn()?;
        let settings = drive::Settings {
            stdin: self.stdin.take().unwrap_or_default(),
            // What the clock cannot express never comes.
            deadline: self.deadline.and_then(|deadline| started.checked_add(deadline)),
            cancel: self.cancel,
            leftovers: self.leftovers,
        };
        let driven = drive::to_the_end(&mut running, pipes, &settings, &self.keep, watch)?;
        let drive::Driven { ended, stdout, stderr, survivors } = driven;
        Ok(Outcome { ended, stdout, stderr, elapsed: started.elapsed(), survivors })
    }

    /// Starts a program that talks over its pipes for longer; the caller drives them. Its tree dies with the
    /// handle.
    pub fn start(mut self) -> io::Result<Running> {
        self.command.process_group(0);
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, tree) = tree::plant(&mut self.command)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Running { child, tree, stdin, stdout, stderr })
    }

    /// Starts a daemon: no streams of ours, our working directory left, not waited for. It must call
    /// [`leave_session`] first thing, so that closing the terminal does not end it.
    pub fn detach(mut self) -> io::Result<u32> {
        // No group of its own here: a group leader could not leave its session.
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        Ok(tree::set_free(&mut self.command)?.id())
    }

    fn spawn(&mut self) -> io::Result<(Running, drive::Pipes)> {
        self.command.stdin(match (&self.stdin, self.attached) {
            (Some(_), _) => Stdio::piped(),
            (None, true) => Stdio::inherit(),
            (None, false) => Stdio::null(),
        });
        if !self.attached {
            self.command.process_group(0);
        }
        let mut merged = None;
        if self.merged {
            let (reader, writer) = io::pipe()?;
            self.command.stdout(writer.try_clone()?).stderr(writer);
            merged = Some(reader.into());
        } else {
            let stderr = if self.attached { Stdio::inherit() } else { Stdio::piped() };
            self.command.stdout(Stdio::piped()).stderr(stderr);
        }
        let (mut child, tree) = tree::plant(&mut self.command)?;
        // Our own copies of the merged pipe's writing end live in the command: without this the reader
        // would wait for ourselves.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let pipes = drive::Pipes {
            stdin: child.stdin.take().map(Into::into),
            stdout: merged.or_else(|| child.stdout.take().map(Into::into)),
            stderr: child.stderr.take().map(Into::into),
        };
        Ok((Running { child, tree, stdin: None, stdout: None, stderr: None }, pipes))
    }
}

/// What the system's allocator has to be told to give back what a burst of a daemon has used: a heap for every other thread,
/// and a threshold that rises with the largest block ever freed, both keep it. Measured: clai after 130,000 commands on top of
/// 900,000, 61 MB without this and 46 MB with it; tldr after 2,000 edits of Django, 327 MB and 257 MB. And to keep what an
/// answer needs: to give that back and to fetch it again was 39 page faults, a quarter of an answer of clai. Other allocators
/// do not look at it.
pub const THRIFTY: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "1048576"), ("MALLOC_TRIM_THRESHOLD_", "2097152")];

/// What a daemon does first: a session of its own.
pub fn leave_session() -> io::Result<()> {
    rustix::process::setsid()?;
    Ok(())
}

/// Whether a process that we set free is gone, or only waits to be buried.
pub fn has_ended(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])),
        Err(_) => Path::new("/proc/self").exists(),
    }
}

/// A program that is running. Dropping the handle kills its tree.
#[derive(Debug)]
pub struct Running {
    child: Child,
    tree: Tree,
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.tree.root_is_gone();
        }
        Ok(status)
    }

    /// Kills the whole tree, politely for a moment, then not. Gives what could not be killed.
    pub fn kill(&mut self) -> Vec<u32> {
        let survivors = self.tree.kill();
        // Reaped here so that the id is free; a kill that did not work has nothing to wait for.
        let _ = self.child.try_wait();
        survivors
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The variables that a program of the user's own may see: enough to find itself, its language and its network,
/// and no secret. Names in `also` are passed on too.
pub fn minimal_environment(env: &Environment, also: &[&str]) -> Vec<(OsString, OsString)> {
    const NAMES: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR"];
    const PREFIXES: &[&str] = &["LC_", "XDG_"];
    const PROXIES: &[&str] = &["http_proxy", "https_proxy", "no_proxy", "all_proxy", "ftp_proxy"];
    let passes = |name: &str| {
        NAMES.contains(&name)
            || also.contains(&name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || PROXIES.contains(&name.to_ascii_lowercase().as_str())
    };
    env.iter()
        .filter(|(name, _)| name.to_str().is_some_and(passes))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Where `program` would be found on the `PATH` of `env`.
pub fn find(program: &str, env: &Environment) -> Option<PathBuf> {
    std::env::split_paths(env.get("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file())
}
