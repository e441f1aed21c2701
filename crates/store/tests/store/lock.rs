//! Locks: one holder, who it is, and that its death frees it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use store::lock::{Holder, LockError, acquire, holder, try_acquire};

use super::again::{self, as_nobody, mode, tempdir};

#[test]
fn a_lock_tells_who_holds_it_until_it_is_dropped() {
    let home = tempdir().unwrap();
    let path = home.path().join("lock");
    assert_eq!(holder(&path).unwrap(), None);
    assert!(!path.exists(), "asking makes nothing");
    let lock = try_acquire(&path, "the\nfirst\u{1b}[2J").unwrap();
    let me = Holder { pid: Some(std::process::id()), label: "the first[2J".to_owned() };
    assert_eq!((holder(&path).unwrap(), mode(&path)), (Some(me.clone()), 0o600));
    let error = acquire(&path, "second", Duration::from_millis(20)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{}` is held by process {} (the first[2J)", path.display(), std::process::id())
    );
    assert_eq!(error.hint(), Some(format!("`ps -fp {}`", std::process::id())));
    drop(lock);
    assert_eq!(holder(&path).unwrap(), None);
    assert!(path.exists(), "a lock file is never removed");
    let _again = try_acquire(&path, "").unwrap();
}

#[test]
fn a_killed_holder_holds_nothing() {
    let home = tempdir().unwrap();
    let path = home.path().join("lock");
    let mut child = again::start("hold a lock", home.path());
    assert_eq!(again::hear(&mut child), b'+');
    let pid = child.id();
    assert!(matches!(try_acquire(&path, ""), Err(LockError::Held { holder, .. }) if holder.pid == Some(pid)));
    again::kill(child);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&pid.to_string()), "its note is still there");
    assert_eq!(holder(&path).unwrap(), None);
    let _lock = try_acquire(&path, "next").unwrap();
    assert_eq!(holder(&path).unwrap().unwrap().pid, Some(std::process::id()));
}

#[test]
fn of_twenty_racing_processes_exactly_one_gets_it() {
    let home = tempdir().unwrap();
    let mut children: Vec<_> = (0..20).map(|_| again::start("hold a lock", home.path())).collect();
    let said: Vec<u8> = children.iter_mut().map(again::hear).collect();
    assert_eq!(said.iter().filter(|word| **word == b'+').count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|word| **word == b'-').count(), 19, "{said:?}");
    for child in children {
        again::finish(child);
    }
}

/// Holds it, or says that it cannot, and stays until the parent has heard everybody.
pub(crate) fn child_holds_a_lock(folder: &Path) {
    let lock = try_acquire(&folder.join("lock"), "child");
    again::say(match &lock {
        Ok(_) => b'+',
        Err(LockError::Held { .. }) => b'-',
        Err(_) => b'?',
    });
    again::wait_for_parent();
}

#[test]
fn a_waiting_taker_gets_it_when_the_holder_lets_go() {
    let home = tempdir().unwrap();
    let path = home.path().join("lock");
    let first = try_acquire(&path, "first").unwrap();
    thread::scope(|scope| {
        let second = scope.spawn(|| acquire(&path, "second", Duration::from_secs(20)).map(drop));
        drop(first);
        second.join().unwrap().unwrap();
    });
}

#[test]
fn those_who_only_ask_never_keep_a_taker_away() {
    let home = tempdir().unwrap();
    let path = home.path().join("lock");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                holder(&path).unwrap();
            }
        });
        let taken: Vec<bool> = (0..500).map(|_| try_acquire(&path, "").is_ok()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(taken.iter().all(|taken| *taken));
    });
}

#[test]
fn a_lock_on_a_file_that_was_removed_is_taken_anew() {
    let home = tempdir().unwrap();
    let path = home.path().join("lock");
    let first = try_acquire(&path, "first").unwrap();
    thread::scope(|scope| {
        let second = scope.spawn(|| acquire(&path, "second", Duration::from_secs(20)).unwrap());
        let ours = || {
            fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|fd| fs::read_link(fd.path()).ok())
        };
        while ours().filter(|open| *open == path).count() < 2 {
            thread::yield_now();
        }
        fs::remove_file(&path).unwrap();
        drop(first);
        let _second = second.join().unwrap();
        assert_eq!(holder(&path).unwrap().unwrap().label, "second");
    });
}

#[test]
fn what_is_not_a_file_of_ours_is_refused() {
    as_nobody(|| {
        let home = tempdir().unwrap();
        let (link, pipe) = (home.path().join("link"), home.path().join("pipe"));
        symlink("elsewhere", &link).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        assert!(matches!(try_acquire(&link, ""), Err(LockError::Place(_))));
        assert!(!home.path().join("elsewhere").exists());
        assert!(matches!(try_acquire(Path::new("/etc/passwd"), ""), Err(LockError::Place(_))));
        assert!(matches!(try_acquire(&pipe, ""), Err(LockError::NotAFile { .. })));
        assert!(matches!(try_acquire(home.path(), ""), Err(LockError::NotAFile { .. })));
        assert!(matches!(try_acquire(&home.path().join("no/lock"), ""), Err(LockError::File(_))));
    });
}
