//! Which repository a directory is in, and on which branch. Read from files: git is never run, and nothing here writes.
//! A broken repository is less context, never an error.
//!
//! Must never know sessions, tables or suggestions.

mod config;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command::RepoKey;

/// What is known of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// The working tree by its real path: the same through a symbolic link.
    pub root: PathBuf,
    pub key: RepoKey,
    pub head: Head,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    Branch(String),
    /// On the commit of this hash.
    Detached(String),
    /// Unreadable, or kept in a form that is not a file.
    Unknown,
}

impl Repo {
    /// While a rebase runs, the branch that it moves.
    pub fn branch(&self) -> Option<&str> {
        match &self.head {
            Head::Branch(name) => Some(name),
            Head::Detached(_) | Head::Unknown => None,
        }
    }
}

/// The repository around `cwd`. A directory that is gone is judged by what is left above it; a relative one would
/// depend on where this process happens to be, and is in no repository.
pub fn find(cwd: &Path) -> Option<Repo> {
    if !cwd.is_absolute() {
        return None;
    }
    let real = cwd.ancestors().find_map(|path| fs::canonicalize(path).ok())?;
    real.ancestors().find_map(at)
}

/// The seed's key. The remote is compared without case, the root by its bytes.
pub fn key(root: &Path, remote: Option<&str>) -> RepoKey {
    let mut hash = Sha256::new();
    hash.update(remote.map_or_else(|| "local".to_owned(), str::to_lowercase));
    hash.update("|");
    hash.update(root.as_os_str().as_bytes());
    RepoKey(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether running this may have moved a branch. Too often is cheap, so words inside quotes count too.
pub fn touches_git(line: &str) -> bool {
    const TOOLS: &[&str] = &["git", "gh", "glab", "hub", "jj", "lazygit", "gitui", "tig", "stg"];
    line.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|word| TOOLS.contains(&word))
}

/// What happened in a directory since it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    Nothing,
    GitCommand,
}

/// Looks again only in a directory it has not seen, after a git command, or when what it knows is old.
#[derive(Debug, Default)]
pub struct Resolver {
    known: HashMap<PathBuf, (i64, Option<Repo>)>,
    lookups: u64,
}

impl Resolver {
    /// The seed allows 1 to 3 seconds.
    const TTL_MS: i64 = 2_000;
    /// More shells than anyone has open; older ones are asked anew anyway.
    const DIRECTORIES: usize = 256;

    pub fn resolve(&mut self, cwd: &Path, since: Since, now_ms: i64) -> Option<Repo> {
        // A branch is seen from every directory below the root, and from other worktrees.
        if since == Since::GitCommand || self.known.len() >= Self::DIRECTORIES {
            self.known.clear();
        }
        if let Some((at, repo)) = self.known.get(cwd)
            // A clock that was set back makes nothing fresh for ever.
            && (0..Self::TTL_MS).contains(&now_ms.saturating_sub(*at))
        {
            return repo.clone();
        }
        self.lookups += 1;
        let repo = find(cwd);
        self.known.insert(cwd.to_owned(), (now_ms, repo.clone()));
        repo
    }

    /// How often it had to look.
    pub fn lookups(&self) -> u64 {
        self.lookups
    }
}

fn at(root: &Path) -> Option<Repo> {
    let git = git_dir(root)?;
    let head = read(&git.join("HEAD"))?;
    let shared = match read(&git.join("commondir")) {
        Some(path) => git.join(path_in(&path)),
        None => git.clone(),
    };
    let remote =
        read(&shared.join("config")).and_then(|config| config::remote_url(&String::from_utf8_lossy(&config)));
    let head = match parse_head(&head) {
        Head::Detached(commit) => moved_branch(&git).map_or(Head::Detached(commit), Head::Branch),
        head => head,
    };
    Some(Repo { root: root.to_owned(), key: key(root, remote.as_deref()), head })
}

/// A directory, or for worktrees and submodules a file that names one.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    if fs::metadata(&entry).ok()?.is_dir() {
        return Some(entry);
    }
    let pointer = read(&entry)?;
    Some(root.join(path_in(pointer.strip_prefix(b"gitdir:")?)))
}

fn parse_head(head: &[u8]) -> Head {
    let text = String::from_utf8_lossy(head);
    let text = text.lines().next().unwrap_or_default().trim();
    match text.strip_prefix("ref:").map(str::trim) {
        // What a repository with another store of references keeps there for old readers.
        Some("" | "refs/heads/.invalid") => Head::Unknown,
        Some(name) => Head::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None if text.len() >= 40 && text.bytes().all(|c| c.is_ascii_hexdigit()) => {
            Head::Detached(text.to_owned())
        }
        None => Head::Unknown,
    }
}

/// A rebase detaches HEAD and remembers the branch.
fn moved_branch(git: &Path) -> Option<String> {
    let name =
        ["rebase-merge/head-name", "rebase-apply/head-name"].iter().find_map(|path| read(&git.join(path)))?;
    let name = String::from_utf8_lossy(&name);
    name.trim().strip_prefix("refs/heads/").map(str::to_owned)
}

/// The beginning of a regular file. Anything else, a FIFO say, could hold us for ever.
fn read(path: &Path) -> Option<Vec<u8>> {
    /// A configuration of this size holds thousands of remotes; the first ones decide.
    const CAP: u64 = 1 << 20;
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(CAP).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 == CAP {
        // Half a line would be half an address.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
    }
    Some(bytes)
}

fn path_in(content: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(content.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_has_golden_vectors() {
        // printf %s 'git@github.com:acme/site.git|/srv/site' | sha256sum
        let site = key(Path::new("/srv/site"), Some("git@GitHub.com:Acme/Site.git"));
        assert_eq!(site.0, "adb1a6116164ee001a7deab1012826e3bb577226d4e7ef2e831859ac498fed19");
        // printf %s 'local|/srv/site' | sha256sum
        assert_eq!(
            key(Path::new("/srv/site"), None).0,
            "0f32b7b3f00656f267a5b00b68bffa5d2c3c628b418f6d4dba060e8f491fe7f7"
        );
        // printf 'local|/srv/\xff' | sha256sum
        assert_eq!(
            key(Path::new(OsStr::from_bytes(b"/srv/\xff")), None).0,
            "72002ac0e2a87ef95e5c07c0f4e7c428c22349fdc3b2491652787d6ff9cd4205"
        );
    }

    #[test]
    fn a_head_is_a_branch_a_commit_or_a_riddle() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(parse_head(b"ref: refs/heads/feature/x\n"), Head::Branch("feature/x".into()));
        assert_eq!(parse_head(b"ref: refs/remotes/o/x\n"), Head::Branch("refs/remotes/o/x".into()));
        assert_eq!(parse_head(format!("{hash}\n").as_bytes()), Head::Detached(hash.into()));
        assert_eq!(parse_head(b"ref: refs/heads/b\xff\n"), Head::Branch("b\u{fffd}".into()));
        for riddle in [&b""[..], b"ref:", b"ref: refs/heads/.invalid", b"\0\xff\xfe", b"deadbeef"] {
            assert_eq!(parse_head(riddle), Head::Unknown, "{riddle:?}");
        }
    }

    #[test]
    fn git_is_recognised_where_it_is_a_word() {
        for line in ["git pull", "cd x&&git switch y", "/usr/bin/git gc", "sudo gh pr checkout 3"] {
            assert!(touches_git(line), "{line}");
        }
        for line in ["legit", "git-lfs-thing", "digit x", "make"] {
            assert!(!touches_git(line), "{line}");
        }
    }
}
