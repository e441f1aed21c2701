//! This test binary as its own child, to be killed, raced or put on a full disk; and this thread as another user.

use std::collections::HashSet;
use std::env;
use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::geteuid;
use tempfile::TempDir;

const ROLE: &str = "STORE_TEST_ROLE";
const FOLDER: &str = "STORE_TEST_FOLDER";

/// What a child does, by name. Each gets the folder of the test.
type Role = (&'static str, fn(&Path));

const ROLES: &[Role] = &[
    ("replace in a loop", super::replace::child_replaces_in_a_loop),
    ("replace on a full disk", super::replace::child_replaces_on_a_full_disk),
    ("append in a loop", super::journal::child_appends_in_a_loop),
    ("append a hundred", super::journal::child_appends_a_hundred),
    ("append on a full disk", super::journal::child_appends_on_a_full_disk),
    ("append past a limit", super::journal::child_appends_past_a_limit),
    ("hold a lock", super::lock::child_holds_a_lock),
    ("open a database", super::sqlite::child_opens),
    ("make databases in a loop", super::sqlite::child_makes_databases_in_a_loop),
    ("migrate on a full disk", super::sqlite::child_migrates_on_a_full_disk),
    ("put on a full disk", super::blobs::child_puts_on_a_full_disk),
];

#[test]
fn a_child_plays_its_role() {
    let unique: HashSet<_> = ROLES.iter().map(|(name, _)| name).collect();
    assert_eq!(unique.len(), ROLES.len(), "each role has its own name");
    if let (Ok(role), Some(folder)) = (env::var(ROLE), env::var_os(FOLDER)) {
        let (_, play) = ROLES.iter().find(|(name, _)| *name == role).unwrap();
        play(&PathBuf::from(folder));
    }
}

/// Where a child runs.
pub(crate) enum World {
    Ours,
    /// `folder` is a file system of its own with this many KiB.
    Small(u32),
    /// No file may grow beyond this many blocks of 512 bytes.
    Limited(u32),
}

/// Starts a child; what it says through [`say`] can be read from its standard error.
pub(crate) fn start(role: &str, folder: &Path, world: &World) -> Child {
    let script = match world {
        World::Ours => "exec \"$@\"".to_owned(),
        World::Small(size) => {
            format!("mount -t tmpfs -o size={size}k,mode=700 none \"${FOLDER}\" && exec \"$@\"")
        }
        World::Limited(blocks) => format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""),
    };
    let mut command = match world {
        World::Small(_) => Command::new("unshare"),
        _ => Command::new("env"),
    };
    if let World::Small(_) = world {
        command.arg(if geteuid().is_root() { "-m" } else { "-rm" });
    }
    command
        .args(["sh", "-c", &script, "sh"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "again::a_child_plays_its_role", "--nocapture"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets a child come to its end and gives what it said; its failed assertions are ours.
pub(crate) fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// Reads one word of a child.
pub(crate) fn hear(child: &mut Child) -> u8 {
    let mut word = [0];
    child.stderr.as_mut().unwrap().read_exact(&mut word).unwrap();
    word[0]
}

/// Waits until a child has said so many words.
pub(crate) fn hear_many(child: &mut Child, words: usize) {
    child.stderr.as_mut().unwrap().read_exact(&mut vec![0; words]).unwrap();
}

/// `kill -9`, then everything it still said.
pub(crate) fn kill(mut child: Child) -> Vec<u8> {
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = Vec::new();
    child.stderr.unwrap().read_to_end(&mut rest).unwrap();
    rest
}

/// As a child: tells the parent one word at once.
pub(crate) fn say(word: u8) {
    io::stderr().write_all(&[word]).unwrap();
}

/// As a child: waits until the parent lets go.
pub(crate) fn wait_for_parent() {
    let _ = io::stdin().read_to_end(&mut Vec::new());
}

/// Does it as an ordinary user, for whom permissions hold. In a thread of its own: ids are per thread for the kernel.
pub(crate) fn as_nobody(act: impl FnOnce() + Send + 'static) {
    let dropped = move || {
        if geteuid().is_root() {
            let (uid, gid) = (rustix::fs::Uid::from_raw(65534), rustix::fs::Gid::from_raw(65534));
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
        }
        act();
    };
    thread::spawn(dropped).join().unwrap();
}

/// A throw-away directory that is private, whatever the umask.
pub(crate) fn tempdir() -> io::Result<TempDir> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir()
}

pub(crate) fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
