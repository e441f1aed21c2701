//! The branch and the worktree around a directory, read from the files of git. Bails at the slightest ambiguity: where
//! the nearest `.git` cannot be understood, nobody looks further up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::load::{self, Limits, Loaded, Symlinks};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Or the first eight digits of the commit, where no branch is checked out.
    pub(super) branch: String,
    /// The directory that git keeps for a worktree or submodule; empty for the primary one.
    pub(super) worktree: PathBuf,
}

pub(super) fn find(cwd: &Path) -> Option<Place> {
    for folder in cwd.ancestors().filter(|folder| folder.is_absolute()) {
        let entry = folder.join(".git");
        match fs::metadata(&entry) {
            Ok(found) if found.is_dir() => {
                return Some(Place { branch: branch(&entry)?, worktree: PathBuf::new() });
            }
            Ok(_) => {
                let worktree = follow(folder, &entry)?;
                return Some(Place { branch: branch(&worktree)?, worktree });
            }
            // A link to nothing is a repository in some state, not the absence of one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !entry.is_symlink() => {}
            Err(_) => return None,
        }
    }
    None
}

/// Where the file `.git` of a worktree or submodule says that its repository is.
fn follow(folder: &Path, entry: &Path) -> Option<PathBuf> {
    let content = small(entry, Symlinks::Follow)?;
    let named = content.strip_prefix("gitdir:")?.trim_end_matches(['\r', '\n']).trim_start_matches(' ');
    if named.is_empty() || named.contains(['\n', '\0']) {
        return None;
    }
    let path = fs::canonicalize(folder.join(named)).ok()?;
    path.is_dir().then_some(path)
}

fn branch(git: &Path) -> Option<String> {
    let head = small(&git.join("HEAD"), Symlinks::Refuse)?;
    let line = head.strip_suffix('\n').unwrap_or(&head);
    if let Some(name) = line.strip_prefix("ref: refs/heads/") {
        return is_branch_name(name).then(|| name.to_owned());
    }
    // SHA-1 or SHA-256.
    let commit = matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    commit.then(|| line[..8].to_owned())
}

/// What `git check-ref-format` would take, so that nothing else ends up in a table.
fn is_branch_name(name: &str) -> bool {
    let forbidden = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.split('/').all(part)
        && !name.contains(forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && kit::text::plain(name) == name
}

/// A file of git's that has one line.
fn small(path: &Path, symlinks: Symlinks) -> Option<String> {
    match load::load(path, Limits { max_bytes: 4096, symlinks }) {
        Loaded::Text { text, .. } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write plain files")]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mkfifoat};
    use testkit::Home;

    use super::*;

    fn primary(branch: &str) -> Option<Place> {
        Some(Place { branch: branch.to_owned(), worktree: PathBuf::new() })
    }

    fn committed(home: &Home, name: &str) -> PathBuf {
        let repo = home.git_repo(name);
        let _ = home.git(&repo, &["commit", "--quiet", "--allow-empty", "-m", "first"]);
        repo
    }

    #[test]
    fn a_branch_is_found_from_everywhere_inside_and_before_its_first_commit() {
        let home = Home::new();
        let repo = home.git_repo("repo");
        fs::create_dir_all(repo.join("a/b")).unwrap();
        assert_eq!(find(&repo), primary("main"));
        assert_eq!(find(&repo.join("a/b")), primary("main"));
        assert_eq!(find(&repo.join("gone/since")), primary("main"));
        assert_eq!(find(home.path()), None);
        assert_eq!(find(Path::new("repo")), None);
        let _ = home.git(&repo, &["checkout", "--quiet", "-b", "feature/ümlaut-1"]);
        assert_eq!(find(&repo), primary("feature/ümlaut-1"));
    }

    #[test]
    fn a_detached_head_is_its_commit() {
        let home = Home::new();
        let repo = committed(&home, "repo");
        let _ = home.git(&repo, &["checkout", "--quiet", "--detach"]);
        let commit = home.git(&repo, &["rev-parse", "HEAD"]).stdout;
        assert_eq!(find(&repo), primary(&commit[..8]));
    }

    #[test]
    fn worktrees_and_submodules_are_places_of_their_own() {
        let home = Home::new();
        let repo = committed(&home, "repo");
        let _ = home.git(&repo, &["worktree", "add", "--quiet", "../tree", "-b", "side"]);
        let tree = find(&home.path().join("tree")).unwrap();
        assert_eq!((tree.branch.as_str(), &tree.worktree), ("side", &repo.join(".git/worktrees/tree")));
        let lib = committed(&home, "lib");
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
        let _ = home.git(&repo, &[&add[..], &[lib.to_str().unwrap(), "sub"]].concat());
        // Git writes this one as a relative path.
        assert!(fs::read_to_string(repo.join("sub/.git")).unwrap().starts_with("gitdir: ../"));
        let sub = find(&repo.join("sub")).unwrap();
        assert_eq!((sub.branch.as_str(), &sub.worktree), ("main", &repo.join(".git/modules/sub")));
    }

    #[test]
    fn whatever_is_not_plainly_a_branch_or_a_commit_is_nothing() {
        let home = Home::new();
        let repo = home.git_repo("outer/repo");
        home.git_repo("outer");
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let long = format!("ref: refs/heads/{}", "x".repeat(5000));
        let riddles: [&[u8]; 16] = [
            b"",
            b"\n",
            b"ref:",
            b"ref: \n",
            b"ref: refs/heads/\n",
            b"ref: refs/heads/.invalid\n",
            b"ref: refs/heads/a..b\n",
            b"ref: refs/heads/a\nref: refs/heads/b\n",
            b"ref: refs/heads/\x1b[2J\n",
            b"ref: refs/heads/b\xff\n",
            b"ref: refs/remotes/origin/x\n",
            b"\0\xff\xfe",
            b"deadbeef\n",
            &hash.as_bytes()[1..],
            b"0123456789abcdef0123456789abcdef0123456z\n",
            long.as_bytes(),
        ];
        for riddle in riddles {
            fs::write(repo.join(".git/HEAD"), riddle).unwrap();
            assert_eq!(find(&repo), None, "{}", String::from_utf8_lossy(riddle));
        }
        fs::write(repo.join(".git/HEAD"), hash).unwrap();
        assert_eq!(find(&repo), primary("01234567"));
    }

    #[test]
    fn a_head_that_is_no_plain_file_neither_blocks_nor_counts() {
        let home = Home::new();
        let head = home.git_repo("repo").join(".git/HEAD");
        let repo = home.path().join("repo");
        let replaced = |make: &dyn Fn()| {
            fs::remove_file(&head).unwrap();
            make();
            find(&repo)
        };
        assert_eq!(replaced(&|| mkfifoat(CWD, &head, Mode::RUSR).unwrap()), None);
        assert_eq!(replaced(&|| symlink("HEAD", &head).unwrap()), None);
        assert_eq!(replaced(&|| symlink("refs/heads/main", &head).unwrap()), None);
        assert_eq!(replaced(&|| fs::File::create(&head).unwrap().set_len(1 << 30).unwrap()), None);
        assert_eq!(replaced(&|| {}), None);
    }

    #[test]
    fn a_gitlink_that_leads_nowhere_is_nothing_even_inside_a_repository() {
        let home = Home::new();
        let inner = home.git_repo("repo").join("inner");
        fs::create_dir(&inner).unwrap();
        assert_eq!(find(&inner), primary("main"));
        let entry = inner.join(".git");
        for link in
            ["", "gitdir:", "gitdir: nowhere\n", "gitdir: ../.git/HEAD", "gitdir: ../.git\nmore", "hello"]
        {
            fs::write(&entry, link).unwrap();
            assert_eq!(find(&inner), None, "{link:?}");
        }
        fs::remove_file(&entry).unwrap();
        for target in [".git", "nowhere"] {
            symlink(target, &entry).unwrap();
            assert_eq!(find(&inner), None, "{target}");
            fs::remove_file(&entry).unwrap();
        }
        symlink("../.git", &entry).unwrap();
        assert_eq!(find(&inner), primary("main"));
    }
}
