//! Where commands may write and whether they reach a network, held by the kernel. The restrictions are put on by a
//! process of ours that does nothing else and then becomes the command: a process with threads cannot put them on
//! safely. Without Landlock the network is still closed, and [`Sandbox::test`] says what is open. Knows no command.

mod wall;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::process::{Ended, Job};

/// The hidden subcommand that puts the restrictions on: `agent __sandbox [--network] [--write DIR]… -- PROGRAM …`.
pub const COMMAND: &str = "__sandbox";

/// Tells a command that it is behind the wall, and what the kernel says of Landlock.
const MARK: &str = "SCRIMP_SANDBOX";

/// How a command is started behind the wall.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// This program, and the words that lead to [`COMMAND`].
    program: PathBuf,
    through: Vec<OsString>,
    policy: Policy,
}

/// What is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Directories and files that may be changed; reading is open everywhere.
    pub write: Vec<PathBuf>,
    pub network: Network,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Closed,
    Open,
}

/// What a sandbox holds on this machine, as found out by trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Writing outside of the open directories.
    pub writes: Held,
    pub tcp: Held,
    pub udp: Held,
    /// The kernel's word about Landlock.
    pub landlock: String,
    /// The sandbox did not even start a command, for this reason.
    pub broken: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Refused,
    Possible,
    /// It is meant to be.
    Open,
}

impl Sandbox {
    /// `program` runs us again; `through` are the words before [`COMMAND`], none for `agent` itself.
    pub fn new(program: PathBuf, through: Vec<OsString>, policy: Policy) -> Sandbox {
        Sandbox { program, through, policy }
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether the kernel can keep commands from writing elsewhere, as far as it says so itself: for who has no time to
    /// try.
    pub fn holds_files(&self) -> bool {
        wall::holds_files()
    }

    /// The command behind the wall. Environment, directory and deadline are the caller's.
    pub fn job(&self, command: &[OsString]) -> Job {
        let mut job = Job::new(&self.program).args(&self.through).arg(COMMAND);
        if self.policy.network == Network::Open {
            job = job.arg("--network");
        }
        for folder in &self.policy.write {
            job = job.arg("--write").arg(folder);
        }
        job.arg("--").args(command)
    }

    /// Tries what should be refused: with nothing open for writing, so that any directory of ours will do as `scratch`.
    /// Takes at most a few seconds; then the sandbox counts as broken.
    pub fn test(&self, scratch: &Path, environment: &[(OsString, OsString)]) -> Report {
        const PATIENCE: Duration = Duration::from_secs(5);
        let network = self.policy.network;
        let closed = Sandbox { policy: Policy { write: Vec::new(), network }, ..self.clone() };
        let target = scratch.join(format!("sandbox-test-{}", std::process::id()));
        // Where we cannot write ourselves, a refusal says nothing.
        if let Err(error) = File::create_new(&target).and_then(|_| fs::remove_file(&target)) {
            return Report::broken(format!("cannot try it in {}: {error}", scratch.display()));
        }
        let listener = TcpListener::bind(("127.0.0.1", 0));
        let port =
            listener.as_ref().ok().and_then(|listener| listener.local_addr().ok()).map_or(9, |at| at.port());
        let words = ["bash", "-c", TRIES, "bash"].map(OsString::from);
        let words: Vec<OsString> =
            words.into_iter().chain([target.clone().into(), port.to_string().into()]).collect();
        let job = closed.job(&words).envs(environment.iter().map(|(name, value)| (name, value)));
        let ran = job.cwd(scratch).deadline(PATIENCE).run();
        let _ = fs::remove_file(&target);
        match ran {
            Ok(outcome) if outcome.ended == Ended::Exited(0) => Report::read(&outcome.stdout.text(), network),
            Ok(outcome) => Report::broken(format!("{:?}: {}", outcome.ended, outcome.stderr.text().trim())),
            Err(error) => Report::broken(error.to_string()),
        }
    }
}

/// What is tried, and what it says when it works. Bash opens sockets by itself, so that no other program is needed.
const TRIES: &str = "echo \"landlock $SCRIMP_SANDBOX\"; (: > \"$1\") && echo wrote; \
                     (exec 3<>\"/dev/tcp/127.0.0.1/$2\") && echo tcp; (exec 3<>/dev/udp/127.0.0.1/9) && echo udp; exit 0";

impl Report {
    fn read(said: &str, network: Network) -> Report {
        let did = |word: &str| said.lines().any(|line| line == word);
        let held = |word: &str| if did(word) { Held::Possible } else { Held::Refused };
        let reached = |word: &str| if network == Network::Open { Held::Open } else { held(word) };
        let landlock = said.lines().find_map(|line| line.strip_prefix("landlock ")).unwrap_or_default();
        Report {
            writes: held("wrote"),
            tcp: reached("tcp"),
            udp: reached("udp"),
            landlock: landlock.to_owned(),
            broken: None,
        }
    }

    fn broken(why: String) -> Report {
        let open = Held::Possible;
        Report { writes: open, tcp: open, udp: open, landlock: String::new(), broken: Some(why) }
    }

    /// Whether all that is promised is held.
    pub fn holds(&self) -> bool {
        self.broken.is_none() && ![self.writes, self.tcp, self.udp].contains(&Held::Possible)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.broken {
            return write!(f, "the sandbox does not work: {why}");
        }
        writeln!(f, "writing outside of the project and the temporary directory: {}", self.writes)?;
        writeln!(f, "TCP: {}", self.tcp)?;
        writeln!(f, "UDP and other sockets: {}", self.udp)?;
        writeln!(f, "Landlock: {}", self.landlock)?;
        writeln!(f, "reading any file of yours: possible, commands need it")?;
        writeln!(f, "changing modes, owners and times of your files: possible, Landlock does not know them")?;
        write!(f, "talking to local services over Unix sockets, such as docker's: possible")
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Held::Refused => "refused by the kernel",
            Held::Possible => "POSSIBLE, nothing here can refuse it",
            Held::Open => "open, as you allowed",
        })
    }
}

/// What the hidden subcommand does: puts the restrictions on and becomes the command. Comes back only with the reason
/// why it could not; then nothing was run.
pub fn enter(args: &[OsString]) -> String {
    let (policy, command) = match parse(args) {
        Ok(parsed) => parsed,
        Err(why) => return why,
    };
    let landlock = match wall::build(&policy) {
        Ok(landlock) => landlock,
        Err(why) => return format!("the sandbox cannot be made: {why}"),
    };
    #[allow(
        clippy::disallowed_methods,
        reason = "this process becomes the command; whoever started us owns the tree"
    )]
    let error = std::process::Command::new(&command[0]).args(&command[1..]).env(MARK, landlock).exec();
    format!("cannot run `{}`: {error}", command[0].to_string_lossy())
}

fn parse(args: &[OsString]) -> Result<(Policy, &[OsString]), String> {
    let mut policy = Policy { write: Vec::new(), network: Network::Closed };
    let mut at = 0;
    loop {
        match args.get(at).map(OsString::as_os_str) {
            Some(word) if word == OsStr::new("--network") => policy.network = Network::Open,
            Some(word) if word == OsStr::new("--write") => {
                at += 1;
                policy.write.push(args.get(at).ok_or("`--write` wants a directory")?.into());
            }
            Some(word) if word == OsStr::new("--") && args.len() > at + 1 => {
                return Ok((policy, &args[at + 1..]));
            }
            Some(word) if word == OsStr::new("--") => return Err("there is no command to run".to_owned()),
            Some(word) => return Err(format!("`{}` is not known", word.to_string_lossy())),
            None => return Err("there is no command to run".to_owned()),
        }
        at += 1;
    }
}
