//! The past of a repository, read as an agent would have read it: every file once when it first appears, and again after
//! each commit that changed it. Shows what would have been sent, on the person's own files. Writes nothing.

mod git;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use kit::invocation::Environment;
use kit::text::tokens;

use crate::elide::Language;
use crate::ledger::View;
use crate::lines::Text;
use crate::plan::{Ask, Limits, Shape};
use crate::render::{self, Words};

pub use git::{Commits, GitError};

/// A file as a commit left it.
#[derive(Debug, Clone)]
pub struct Version {
    pub path: String,
    pub text: Text,
}

/// What reading it all would have cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    pub commits: usize,
    pub files: usize,
    pub reads: usize,
    /// Every read in full.
    pub native: u64,
    /// What drip would have sent, its own words included.
    pub sent: u64,
    /// The same two for reads of a file that was read before.
    pub again: (u64, u64),
    /// The file that gained least of those read more than once: its name, native and sent.
    pub worst: Option<(String, u64, u64)>,
}

impl Replayed {
    /// How much less was sent, in percent.
    pub fn percent(&self) -> i64 {
        render::percent(self.native, self.sent)
    }
}

/// Reads the last commits around a folder. Gives up after `patience`, with what was read until then.
pub fn commits(
    here: &Path,
    env: &Environment,
    count: usize,
    patience: Duration,
) -> Result<Commits, GitError> {
    git::read(here, env, count, patience)
}

/// Replays versions, oldest first, for one reader.
pub fn replay(commits: &Commits, limits: &Limits) -> Replayed {
    let limits = Limits { elision: None, ..*limits };
    let mut held: HashMap<&str, View> = HashMap::new();
    let mut files: HashMap<&str, (usize, u64, u64)> = HashMap::new();
    let mut sum = Replayed { commits: commits.count, ..Replayed::default() };
    for version in &commits.versions {
        let before = held.get(version.path.as_str());
        let (native, sent, after) = read(version, before, &limits);
        if before.is_some() {
            sum.again = (sum.again.0 + native, sum.again.1 + sent);
        }
        held.insert(&version.path, after);
        let file = files.entry(&version.path).or_default();
        *file = (file.0 + 1, file.1 + native, file.2 + sent);
        sum.reads += 1;
        sum.native += native;
        sum.sent += sent;
    }
    sum.files = files.len();
    let again = files.into_iter().filter(|(_, (reads, ..))| *reads > 1);
    let saved = |native: u64, sent: u64| i128::from(native) - i128::from(sent);
    sum.worst = again.map(|(path, (_, native, sent))| (path.to_owned(), native, sent)).min_by_key(
        |(path, native, sent)| (saved(*native, *sent) * 1000 / i128::from((*native).max(1)), path.clone()),
    );
    sum
}

fn read(version: &Version, view: Option<&View>, limits: &Limits) -> (u64, u64, View) {
    let path = Path::new(&version.path);
    let ask = Ask {
        now: &version.text,
        window: None,
        view,
        language: path.extension().and_then(|extension| Language::from_extension(extension.to_str()?)),
        name: path.file_name().and_then(|name| name.to_str()).unwrap_or(&version.path),
        shape: Shape::Diff,
        foreseen: None,
    };
    let words = Words { path: &version.path, ..Words::default() };
    let (plan, answer) = render::answer(&ask, limits, &words);
    (tokens(version.text.len() as u64), answer.cost.sent + answer.cost.overhead, plan.after(&ask))
}
