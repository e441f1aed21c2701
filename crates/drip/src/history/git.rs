//! Versions of files out of a git repository, by two questions to `git`: which files each commit changed, and their
//! contents in one go.

use std::path::Path;
use std::time::{Duration, Instant};

use kit::invocation::Environment;
use kit::process::{self, Ended, Job, Keep};

use super::Version;
use crate::lines::Text;

/// What the last commits changed, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Commits {
    pub count: usize,
    pub versions: Vec<Version>,
}

/// Why there is no past to look at.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed")]
    NoGit,
    #[error("there is no git repository with commits here")]
    NoRepository,
    #[error("git did not answer: {0}")]
    Failed(String),
}

/// Larger files are not text that anybody reads again and again.
const MAX_FILE: usize = 1 << 20;

/// What all versions together may take: a tour must not fill the memory.
const MAX_BYTES: usize = 256 << 20;

pub(super) fn read(
    here: &Path,
    env: &Environment,
    count: usize,
    patience: Duration,
) -> Result<Commits, GitError> {
    let git = process::find("git", env).ok_or(GitError::NoGit)?;
    let until = Instant::now() + patience;
    let run = |args: &[&str], stdin: Vec<u8>| {
        let left = until.saturating_duration_since(Instant::now());
        let job = Job::new(&git)
            .args(["-c", "core.quotePath=false", "--no-optional-locks"])
            .args(args)
            .envs(process::minimal_environment(env, &["HOME", "PATH"]))
            .cwd(here)
            .stdin(stdin)
            .keep(Keep { head: MAX_BYTES, tail: 0, spill: None })
            .deadline(left);
        let outcome = job.run().map_err(|error| GitError::Failed(error.to_string()))?;
        match outcome.ended {
            Ended::Exited(0) => Ok(outcome.stdout.head),
            Ended::Exited(_) => Err(GitError::NoRepository),
            _ => Err(GitError::Failed("it took too long".to_owned())),
        }
    };
    let number = count.to_string();
    let log = run(
        &[
            "log",
            "--first-parent",
            "--no-renames",
            "--diff-filter=AM",
            "--raw",
            "--abbrev=40",
            "-z",
            "-m",
            "--format=%x01%H",
            "-n",
            &number,
        ],
        Vec::new(),
    )?;
    let changed = parse_log(&log);
    if changed.is_empty() {
        return Err(GitError::NoRepository);
    }
    let wanted: String =
        changed.iter().flat_map(|commit| commit.iter().map(|(blob, _)| format!("{blob}\n"))).collect();
    let contents = run(&["cat-file", "--batch"], wanted.into_bytes())?;
    Ok(Commits { count: changed.len(), versions: versions(changed, &contents) })
}

/// For each commit, oldest first, the blobs it left and their paths.
fn parse_log(log: &[u8]) -> Vec<Vec<(String, String)>> {
    let mut commits = Vec::new();
    for commit in String::from_utf8_lossy(log).split('\u{1}').skip(1) {
        // `:100644 100644 <old> <new> M`, NUL, path, NUL.
        let mut fields = commit.split('\0').map(|field| field.trim_start_matches('\n'));
        let mut blobs = Vec::new();
        fields.next();
        while let Some(field) = fields.next() {
            let mut words = field.split(' ');
            let (mode, blob) = (words.nth(1).unwrap_or_default(), words.nth(1).unwrap_or_default());
            let Some(path) = fields.next().filter(|_| field.starts_with(':')) else { break };
            // Links and submodules are no text.
            if mode.starts_with("100") {
                blobs.push((blob.to_owned(), path.to_owned()));
            }
        }
        commits.push(blobs);
    }
    commits.reverse();
    commits
}

/// Puts contents to names: the batch answers in the order of the questions.
fn versions(changed: Vec<Vec<(String, String)>>, contents: &[u8]) -> Vec<Version> {
    let mut rest = contents;
    let mut versions = Vec::new();
    for (_, path) in changed.into_iter().flatten() {
        let Some((bytes, after)) = next_blob(rest) else { break };
        rest = after;
        let text =
            std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_FILE && !text.contains('\0'));
        if let Some(text) = text {
            versions.push(Version { path, text: Text::new(text) });
        }
    }
    versions
}

/// `<id> blob <size>`, the bytes, a line end.
fn next_blob(batch: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = batch.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&batch[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let body = batch.get(end + 1..end + 1 + size)?;
    Some((body, batch.get(end + 2 + size..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_read_oldest_commit_first() {
        let log = b"\x01bbb\0\n:100644 100644 1111 2222 M\0src/a b.rs\0:120000 120000 3333 4444 M\0link\0\x01aaa\0\n:000000 100644 0000 1111 A\0src/a b.rs\0";
        let commits = parse_log(log);
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0], [("1111".to_owned(), "src/a b.rs".to_owned())]);
        assert_eq!(commits[1], [("2222".to_owned(), "src/a b.rs".to_owned())]);
    }

    #[test]
    fn a_batch_that_was_cut_gives_what_is_whole() {
        let changed = vec![vec![("1".into(), "a".into()), ("2".into(), "b".into())]];
        let versions = versions(changed, b"1 blob 3\nx\ny\n2 blob 9\ncu");
        assert_eq!(versions.len(), 1);
        assert_eq!(versions[0].text.as_str(), "x\ny");
    }
}
