//! This test binary as its own child, to be killed, raced or limited; and this thread as another user.

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
use testkit::crash::Attempt;
use testkit::hostile::{OTHER_UID, file_size_limit};
use testkit::{Home, Output};

const ROLE: &str = "STORE_TEST_ROLE";
const FOLDER: &str = "STORE_TEST_FOLDER";
/// What a child says last: without it nothing was shown.
const DONE: &str = "played to the end";

/// What a child does, by name. Each gets the folder of the test.
type Role = (&'static str, fn(&Path));

const ROLES: &[Role] = &[
    ("replace many times", super::replace::child_replaces_many_times),
    ("append many times", super::journal::child_appends_many_times),
    ("append a hundred", super::journal::child_appends_a_hundred),
    ("append past a limit", super::journal::child_appends_past_a_limit),
    ("hold a lock", super::lock::child_holds_a_lock),
    ("open a database", super::sqlite::child_opens),
    ("open odd names", super::sqlite::child_opens_odd_names),
    ("make databases", super::sqlite::child_makes_databases),
];

#[test]
fn a_child_plays_its_role() {
    let unique: HashSet<_> = ROLES.iter().map(|(name, _)| name).collect();
    assert_eq!(unique.len(), ROLES.len(), "each role has its own name");
    if let (Ok(role), Some(folder)) = (env::var(ROLE), env::var_os(FOLDER)) {
        let (_, play) = ROLES.iter().find(|(name, _)| *name == role).unwrap();
        play(&PathBuf::from(folder));
        io::stderr().write_all(DONE.as_bytes()).unwrap();
    }
}

/// A child in that folder; what it says through [`say`] can be read from its standard error.
pub(crate) fn command(role: &str, folder: &Path) -> Command {
    cast(Command::new(env::current_exe().unwrap()), role, folder)
}

/// Lets a child play its role where no file may grow beyond so many bytes.
pub(crate) fn run_limited(role: &str, bytes: u64) {
    let home = Home::new();
    let limited = file_size_limit(&home, bytes, env::current_exe().unwrap());
    heard(&home.run(&mut cast(limited, role, home.path())));
}

fn cast(mut command: Command, role: &str, folder: &Path) -> Command {
    command.args(["--exact", "again::a_child_plays_its_role", "--nocapture"]);
    command.env(ROLE, role).env(FOLDER, folder);
    command
}

pub(crate) fn start(role: &str, folder: &Path) -> Child {
    let mut command = command(role, folder);
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Lets a child come to its end and gives what it said; its failed assertions are ours.
pub(crate) fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said.strip_suffix(DONE).unwrap_or_else(|| panic!("the child did nothing: {said}")).to_owned()
}

/// How many words a killed child said; one that was left alone has come to its end.
pub(crate) fn words(attempt: &Attempt) -> usize {
    match attempt.killed_after {
        None => heard(&attempt.output),
        Some(_) => attempt.output.stderr.bytes().filter(|byte| *byte == b'.').count(),
    }
}

fn heard(output: &Output) -> usize {
    let said = output.stderr.strip_suffix(DONE);
    let said = said.filter(|_| output.code == 0);
    said.unwrap_or_else(|| panic!("the child failed or did nothing:\n{}", output.transcript())).len()
}

/// Reads one word of a child.
pub(crate) fn hear(child: &mut Child) -> u8 {
    let mut word = [0];
    child.stderr.as_mut().unwrap().read_exact(&mut word).unwrap();
    word[0]
}

/// `kill -9`.
pub(crate) fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
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
            let (uid, gid) = (rustix::fs::Uid::from_raw(OTHER_UID), rustix::fs::Gid::from_raw(OTHER_UID));
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
