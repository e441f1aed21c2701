//! A throw-away HOME with everything a program may look for below it. Nothing that runs in one can touch the
//! real one; nothing of it is left when the test ends.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use crate::clock::ClockFile;
use crate::output::{self, Output};
use crate::{bin, until};

/// `/tmp/sk-XXXXXX`: short, since the path of a socket below it may have 100 bytes. It is 0755 as homes on most
/// machines are: what is private in it is private by the merit of the program under test.
#[derive(Debug)]
pub struct Home {
    root: PathBuf,
    clock: OnceLock<ClockFile>,
}

impl Home {
    pub fn new() -> Home {
        let made = tempfile::Builder::new().prefix("sk-").tempdir_in("/tmp").expect("/tmp can be written");
        let root = fs::canonicalize(made.keep()).expect("what was just made is there");
        let home = Home { root, clock: OnceLock::new() };
        for directory in [home.data(), home.config(), home.state(), home.cache(), home.runtime(), home.temp()]
        {
            fs::create_dir_all(directory).expect("a new home can be furnished");
        }
        for (path, mode) in [(home.root.clone(), 0o755), (home.runtime(), 0o700), (home.temp(), 0o700)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own directories obey us");
        }
        home
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    pub fn data(&self) -> PathBuf {
        self.root.join(".local/share")
    }

    pub fn config(&self) -> PathBuf {
        self.root.join(".config")
    }

    pub fn state(&self) -> PathBuf {
        self.root.join(".local/state")
    }

    pub fn cache(&self) -> PathBuf {
        self.root.join(".cache")
    }

    pub fn runtime(&self) -> PathBuf {
        self.root.join("run")
    }

    pub fn temp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// A command that starts in this home and knows of no other: its environment holds what
    /// [`Home::environment`] says and nothing else.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(&self.root);
        command
    }

    /// HOME, the XDG directories, TMPDIR, PATH, LANG, TERM, and the clock once [`Home::clock`] was asked for.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("HOME", self.root.clone().into_os_string()),
            ("XDG_DATA_HOME", self.data().into()),
            ("XDG_CONFIG_HOME", self.config().into()),
            ("XDG_STATE_HOME", self.state().into()),
            ("XDG_CACHE_HOME", self.cache().into()),
            ("XDG_RUNTIME_DIR", self.runtime().into()),
            ("TMPDIR", self.temp().into()),
            ("PATH", env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into())),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "xterm-256color".into()),
        ];
        variables.extend(self.clock.get().map(|clock| (ClockFile::VARIABLE, clock.path().into())));
        variables
    }

    /// The clock of our binaries in this home: from the first call on, [`Home::command`] hands it to them.
    pub fn clock(&self) -> &ClockFile {
        self.clock.get_or_init(|| ClockFile::create(self.root.join(".clock")))
    }

    /// Runs a command to its end; the transcript shows `[HOME]` for this home. See [`Home::run_with`].
    #[track_caller]
    pub fn run(&self, command: &mut Command) -> Output {
        self.run_with(command, "")
    }

    /// Like [`Home::run`], with something to read on standard input. A command that does not end within
    /// [`PATIENCE`](crate::PATIENCE) is killed and fails the test.
    #[track_caller]
    pub fn run_with(&self, command: &mut Command, stdin: impl AsRef<[u8]>) -> Output {
        output::run(command, stdin.as_ref()).hide(self.root.to_string_lossy(), "[HOME]")
    }

    /// Writes a file, with the directories above it, and gives its path.
    #[track_caller]
    pub fn write(&self, relative: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(relative);
        let parent = path.parent().expect("a file lies in a directory");
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
        written.unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
        path
    }

    #[track_caller]
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.root.join(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read `{}`: {error}", path.display()))
    }

    /// One of our binaries, copied to `bin/` in this home, where another user can reach it too.
    #[track_caller]
    pub fn install(&self, name: &str) -> PathBuf {
        let installed = self.root.join("bin").join(name);
        fs::create_dir_all(self.root.join("bin")).expect("a home can be furnished");
        // By another process: while one of ours has a program open for writing, a child that another thread
        // starts just then has it open as well, and the system refuses to run it.
        let _ = self.run(self.command("cp").arg(bin(name)).arg(&installed)).ok();
        installed
    }

    /// A new repository on branch `main` with an identity of its own; see [`Home::git`].
    #[track_caller]
    pub fn git_repo(&self, relative: impl AsRef<Path>) -> PathBuf {
        let repo = self.root.join(relative);
        fs::create_dir_all(&repo).expect("a directory can be made");
        let settings =
            [("user.name", "Ada Test"), ("user.email", "ada@example.invalid"), ("commit.gpgsign", "false")];
        let _ = self.git(&repo, &["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in settings {
            let _ = self.git(&repo, &["config", key, value]);
        }
        repo
    }

    /// Real git in `repo`, which must succeed. Dates are fixed: the same commits have the same hashes.
    #[track_caller]
    pub fn git(&self, repo: &Path, args: &[&str]) -> Output {
        const DATE: &str = "2026-01-01T00:00:00Z";
        let mut command = self.command("git");
        command.args(args).current_dir(repo).env("GIT_CONFIG_NOSYSTEM", "1");
        self.run(command.env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE)).ok()
    }
}

impl Default for Home {
    fn default() -> Self {
        Home::new()
    }
}

impl Drop for Home {
    /// Tries for a while: a daemon that is on its way out may still write. What then stays is a process that
    /// outlived its test, and fails it.
    fn drop(&mut self) {
        let gone = until(Duration::from_secs(5), || remove(&self.root));
        assert!(gone || thread::panicking(), "something keeps writing below `{}`", self.root.display());
    }
}

/// Removes a tree in which a test may have forbidden itself to look. Says whether it is gone.
fn remove(root: &Path) -> bool {
    if fs::remove_dir_all(root).is_err() {
        unlock(root);
        let _ = fs::remove_dir_all(root);
    }
    root.symlink_metadata().is_err()
}

fn unlock(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // Of the entry itself: a symbolic link out of the home is not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}
