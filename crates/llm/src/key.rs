//! A key: something that can be sent and cannot be shown. And the four places where people keep one.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{Ended, Job};
use kit::text;
use thiserror::Error;

/// Long enough for a person who unlocks a password store.
const COMMAND_DEADLINE: Duration = Duration::from_secs(60);

/// No key is longer; whatever is, is not a key.
const LONGEST: u64 = 16 << 10;

/// Shows itself to nobody: no `Display`, and `Debug` without content.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Blanks around it are not part of it. Characters that cannot stand in a header make it no key.
    pub fn new(text: &str) -> Result<Key, KeyError> {
        let text = text.trim();
        match text {
            "" => Err(KeyError::Empty),
            _ if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Key(text.to_owned())),
            _ => Err(KeyError::Unprintable),
        }
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// What somebody said, without the key.
    pub(crate) fn taken_out_of(&self, words: &str) -> String {
        words.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a key is to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// No key: requests carry none. Local servers want it so.
    None,
    Known(Key),
    Variable(String),
    File(PathBuf),
    /// A line for `sh`, whose first line of output is the key.
    Command(String),
}

/// No variant has room for what was found.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    #[error("the key is empty")]
    Empty,
    #[error("the key has characters that no key has")]
    Unprintable,
    #[error("the variable {0} is not set")]
    NoVariable(String),
    #[error("cannot read the key from `{path}`: {cause}")]
    File { path: PathBuf, cause: String },
    #[error("the command for the key {0}")]
    Command(String),
}

/// A key with what should be said about the way it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obtained {
    pub key: Option<Key>,
    pub warning: Option<String>,
}

impl KeySource {
    /// Gets the key. A command has a minute; then it is ended and an error.
    pub fn obtain(&self, env: &Environment, home: &Path) -> Result<Obtained, KeyError> {
        let plain = |key| Obtained { key: Some(key), warning: None };
        match self {
            KeySource::None => Ok(Obtained { key: None, warning: None }),
            KeySource::Known(key) => Ok(plain(key.clone())),
            KeySource::Variable(name) => {
                let value = env.text(name).ok_or_else(|| KeyError::NoVariable(name.clone()))?;
                Key::new(value).map(plain)
            }
            KeySource::File(path) => from_file(&expanded(path, home)),
            KeySource::Command(line) => from_command(line, env).map(plain),
        }
    }
}

/// What to say about a file with a key that others can read.
pub(crate) fn open_to_others(path: &Path, mode: u32) -> Option<String> {
    let open = mode & 0o077 != 0;
    open.then(|| {
        format!(
            "`{}` holds a key and is open to other users (mode {:04o}): `chmod 600 {}`",
            path.display(),
            mode & 0o7777,
            kit::places::shell_word(path.as_os_str())
        )
    })
}

fn from_file(path: &Path) -> Result<Obtained, KeyError> {
    let failed = |cause: String| KeyError::File { path: path.to_owned(), cause };
    let metadata = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    // A pipe would wait for ever.
    if !metadata.is_file() {
        return Err(failed("it is not a file".to_owned()));
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    read.map_err(|error| failed(error.to_string()))?;
    Ok(Obtained { key: Some(first_line(&text)?), warning: open_to_others(path, metadata.mode()) })
}

/// It is the person's own command, so it sees the person's own environment: password stores need much of it.
fn from_command(line: &str, env: &Environment) -> Result<Key, KeyError> {
    let job = Job::new("/bin/sh").arg("-c").arg(line).envs(env.iter()).deadline(COMMAND_DEADLINE);
    let outcome = job.run().map_err(|error| KeyError::Command(format!("did not start: {error}")))?;
    match outcome.ended {
        Ended::Exited(0) => first_line(&outcome.stdout.text()),
        Ended::Exited(code) => {
            let said = outcome.stderr.text();
            let said = text::plain(text::tail(said.trim(), 200));
            Err(KeyError::Command(format!("ended with {code}: {said}")))
        }
        ended => Err(KeyError::Command(format!("did not end by itself: {ended:?}"))),
    }
}

fn first_line(text: &str) -> Result<Key, KeyError> {
    Key::new(text.trim_start().lines().next().unwrap_or_default())
}

fn expanded(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| home.join(rest))
}
