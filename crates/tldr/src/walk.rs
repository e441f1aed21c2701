//! The files of a project, as far as its ignore rules let us see them, with what the file system says of each. Reads no
//! content. Links are not followed, so that no walk goes round in circles or leaves the project.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::root::FOLDER;

/// What hides files from us, beside `.gitignore`.
pub const IGNORE_FILE: &str = ".tldrignore";

/// What a project's own file says before anybody has written one.
pub const IGNORED_BY_DEFAULT: &str = "\
# What tldr does not look at, as in .gitignore. It honours .gitignore as well.
node_modules/
.venv/
venv/
__pycache__/
.tox/
target/
dist/
build/
vendor/
*.min.js
*.min.css
*.map
# secrets
.env
.env.*
*.pem
*.key
";

/// A file by its place below the project, with slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: String,
    pub stamp: Stamp,
}

/// What tells a changed file from the one we know without reading it. The time of the last change of its entry cannot be
/// set by anybody, unlike that of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub bytes: u64,
    modified_ns: i128,
    changed_ns: i128,
    inode: u64,
    device: u64,
    links: u64,
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Stamp {
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Stamp {
            bytes: metadata.len(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
            links: metadata.nlink(),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.modified_ns.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.changed_ns.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.inode.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.device.to_le_bytes());
        bytes[56..].copy_from_slice(&self.links.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; 64]) -> Stamp {
        let short = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let long = |at: usize| i128::from_le_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
        Stamp {
            bytes: short(0),
            modified_ns: long(8),
            changed_ns: long(24),
            inode: short(40),
            device: short(48),
            links: short(56),
        }
    }

    /// Whether the file could be written under another name, which nobody who watches this one's directory is told.
    pub fn has_other_names(&self) -> bool {
        self.links > 1
    }

    /// Whether a change after `read` would be sure to show. Clocks of file systems tick slowly: what changed in the tick
    /// in which it was read may change again and look the same.
    pub fn is_settled(&self, read: SystemTime) -> bool {
        /// Slower than any tick that we know of a local file system.
        const TICK: Duration = Duration::from_millis(20);
        let read = read.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128);
        self.changed_ns + (TICK.as_nanos() as i128) < read
    }
}

/// Writes the project's own ignore file if it has none; says whether it did.
pub fn write_rules(root: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(root.join(IGNORE_FILE)) {
        Ok(mut file) => file.write_all(IGNORED_BY_DEFAULT.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a walk saw.
#[derive(Debug, Default)]
pub struct Walked {
    /// Sorted by path.
    pub files: Vec<Found>,
    /// Every directory that was entered, the project's own included, for whoever wants to watch them.
    pub folders: Vec<PathBuf>,
    /// What could not be seen, in words.
    pub notes: Vec<String>,
}

/// Walks all of `root`. Each directory is told to `enter` before it, or a rule in it, is read.
pub fn walk(root: &Path, enter: impl Fn(&Path) + Send + Sync + 'static) -> Walked {
    enter(root);
    let mut builder = builder(root);
    builder.filter_entry(move |entry| {
        let is_seen = is_seen(entry);
        if is_seen && entry.file_type().is_some_and(|kind| kind.is_dir()) {
            enter(entry.path());
        }
        is_seen
    });
    see(root, &builder)
}

/// Looks into one directory below `root`, which must be one that a walk has entered: its rules are known to let us in.
pub fn list(root: &Path, folder: &Path) -> Walked {
    let mut builder = builder(folder);
    builder.max_depth(Some(1));
    see(root, &builder)
}

/// One file by its place below `root`, if a walk would see it.
pub fn find(root: &Path, path: &str) -> Option<Found> {
    let full = root.join(path);
    let mut builder = builder(root);
    builder.filter_entry(move |entry| is_seen(entry) && full.starts_with(entry.path()));
    see(root, &builder).files.into_iter().find(|found| found.path == path)
}

fn builder(folder: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(folder);
    builder
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(is_seen);
    builder
}

/// Not what git and we ourselves keep.
fn is_seen(entry: &DirEntry) -> bool {
    !matches!(entry.file_name().to_str(), Some(".git" | FOLDER))
}

fn see(root: &Path, builder: &WalkBuilder) -> Walked {
    let seen = Mutex::new(Walked::default());
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            let entry = look(root, entry);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            match entry {
                Some(Entry::File(found)) => seen.files.push(found),
                Some(Entry::Folder(path)) => seen.folders.push(path),
                Some(Entry::Unseen(note)) => seen.notes.push(note),
                None => {}
            }
            WalkState::Continue
        })
    });
    let mut walked = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    walked.files.sort_by(|a, b| a.path.cmp(&b.path));
    walked.folders.sort();
    walked.notes.sort();
    walked
}

enum Entry {
    File(Found),
    Folder(PathBuf),
    Unseen(String),
}

fn look(root: &Path, entry: Result<DirEntry, ignore::Error>) -> Option<Entry> {
    let entry = match entry {
        Ok(entry) => entry,
        // Gone between being listed and being looked at: then it is not there.
        Err(error) if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) => {
            return None;
        }
        Err(error) => return Some(Entry::Unseen(error.to_string())),
    };
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return Some(Entry::Folder(entry.into_path()));
    }
    if !kind.is_file() {
        return None;
    }
    let below = entry.path().strip_prefix(root).ok()?;
    let Some(path) = below.to_str() else {
        return Some(Entry::Unseen(format!("`{}` is left out: its name is no UTF-8", below.display())));
    };
    let stamp = Stamp::of(&entry.metadata().ok()?);
    Some(Entry::File(Found { path: path.to_owned(), stamp }))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what happens to files here is the test itself")]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use testkit::Home;

    use super::*;

    fn paths(root: &Path) -> Vec<String> {
        walk(root, |_| ()).files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn rules_of_git_and_our_own_hide_files_with_or_without_a_repository() {
        let home = Home::new();
        for file in [
            "a.py",
            "sub/b.py",
            "sub/c.log",
            "out/d.py",
            ".hidden/e.py",
            ".git/f.py",
            ".tldr/g.py",
            "h.gen.py",
        ] {
            home.write(format!("p/{file}"), "");
        }
        home.write("p/.gitignore", "*.log\nout/\n");
        home.write("p/.tldrignore", "*.gen.py\n");
        let root = home.path().join("p");
        assert_eq!(paths(&root), [".gitignore", ".hidden/e.py", ".tldrignore", "a.py", "sub/b.py"]);
    }

    #[test]
    fn one_directory_is_judged_as_in_a_walk() {
        let home = Home::new();
        home.write("p/.gitignore", "*.log\n/sub/deep/\n");
        for file in ["sub/a.py", "sub/b.log", "sub/deep/c.py", "sub/open/d.py"] {
            home.write(format!("p/{file}"), "");
        }
        let root = home.path().join("p");
        let listed = list(&root, &root.join("sub"));
        assert_eq!(listed.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["sub/a.py"]);
        assert_eq!(listed.folders, [root.join("sub"), root.join("sub/open")]);
    }

    #[test]
    fn one_file_is_found_if_a_walk_sees_it() {
        let home = Home::new();
        home.write("p/.gitignore", "*.log\n/out/\n");
        for file in ["a.py", "sub/b.py", "sub/c.log", "out/d.py", "out/deep/e.py", ".tldr/f.py"] {
            home.write(format!("p/{file}"), "");
        }
        let root = home.path().join("p");
        for found in &walk(&root, |_| ()).files {
            assert_eq!(find(&root, &found.path).as_ref(), Some(found));
        }
        for hidden in ["sub/c.log", "out/d.py", "out/deep/e.py", ".tldr/f.py", "gone.py", "sub", ""] {
            assert_eq!(find(&root, hidden), None, "{hidden}");
        }
    }

    #[test]
    fn links_go_nowhere_and_odd_names_are_told() {
        let home = Home::new();
        home.write("p/a.py", "");
        let root = home.path().join("p");
        std::os::unix::fs::symlink(".", root.join("loop")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("out.py")).unwrap();
        fs::write(root.join(std::ffi::OsStr::from_bytes(b"b\xff.py")), "").unwrap();
        let walked = walk(&root, |_| ());
        assert_eq!(walked.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["a.py"]);
        assert_eq!(walked.notes.len(), 1, "{:?}", walked.notes);
    }

    #[test]
    fn a_stamp_changes_with_the_content_even_when_the_time_is_put_back() {
        let home = Home::new();
        let path = home.write("a.py", "one");
        let stamp = || Stamp::of(&fs::metadata(&path).unwrap());
        let before = stamp();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        assert!(testkit::until(testkit::PATIENCE, || {
            fs::write(&path, "two").unwrap();
            file.set_modified(time).unwrap();
            stamp() != before
        }));
        assert!(!stamp().is_settled(SystemTime::now()) || cfg!(not(target_os = "linux")));
        assert!(stamp().is_settled(SystemTime::now() + Duration::from_secs(1)));
    }
}
