//! Atomic replace: what is kept, what is refused, and what a crash or a full disk leaves.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;
use std::thread;

use rustix::process::geteuid;
use store::{Durability, ReplaceError, replace};
use testkit::Crash;
use testkit::hostile::small_disk;

use super::again::{self, as_nobody, chmod, mode, names, tempdir};

const DURABILITIES: [Durability; 2] = [Durability::Fsync, Durability::Cached];

fn put(path: &Path, bytes: &[u8]) -> Result<(), ReplaceError> {
    replace(path, bytes, Durability::Cached)
}

#[test]
fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
    for durability in DURABILITIES {
        let home = tempdir().unwrap();
        let path = home.path().join("a");
        replace(&path, b"one", durability).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"one".to_vec(), 0o600));
        chmod(&path, 0o754);
        replace(&path, b"", durability).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"".to_vec(), 0o754));
        assert_eq!(names(home.path()), ["a"]);
    }
}

#[test]
fn the_owner_stays_the_owner() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    put(&path, b"one").unwrap();
    let owner = if geteuid().is_root() { 65534 } else { geteuid().as_raw() };
    chown(&path, Some(owner), None).unwrap();
    put(&path, b"two").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().uid(), owner);
}

#[test]
fn a_group_that_we_may_not_give_takes_its_rights_along() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    put(&path, b"one").unwrap();
    chmod(&path, 0o6664);
    if !geteuid().is_root() {
        // Only root can make a file that is not ours; without one there is nothing to give away.
        put(&path, b"two").unwrap();
        assert_eq!(mode(&path), 0o6664);
        return;
    }
    chown(home.path(), Some(65534), None).unwrap();
    let target = path.clone();
    as_nobody(move || put(&target, b"two").unwrap());
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o604));
}

#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() {
    let home = tempdir().unwrap();
    let dotfiles = home.path().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let (real, link, far) = (dotfiles.join("real"), home.path().join("link"), home.path().join("far"));
    symlink("dotfiles/real", &link).unwrap();
    symlink("link", &far).unwrap();
    for bytes in [b"made through a dangling link", b"replaced through both links."] {
        put(&far, bytes).unwrap();
        assert_eq!(fs::read(&real).unwrap(), bytes);
    }
    assert_eq!(fs::read_link(&far).unwrap(), Path::new("link"));
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("dotfiles/real"));
    assert_eq!(names(&dotfiles), ["real"]);
}

#[test]
fn links_in_a_circle_are_an_error() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    symlink("b", &path).unwrap();
    symlink("a", home.path().join("b")).unwrap();
    assert!(matches!(put(&path, b"x"), Err(ReplaceError::Loop { .. })));
}

#[test]
fn what_is_not_a_file_is_never_replaced() {
    let home = tempdir().unwrap();
    let pipe = home.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    for path in [home.path(), &pipe, Path::new("/"), Path::new("/dev/null")] {
        assert!(matches!(put(path, b"x"), Err(ReplaceError::NotAFile { .. })), "{path:?}");
    }
    assert_eq!(names(home.path()), ["pipe"]);
}

#[test]
fn a_directory_that_we_may_not_write_keeps_the_old_file() {
    as_nobody(|| {
        let home = tempdir().unwrap();
        let path = home.path().join("a");
        put(&path, b"old").unwrap();
        chmod(home.path(), 0o500);
        let error = put(&path, b"new").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot replace `{}`", path.display()));
        assert!(error.hint().unwrap().starts_with("`ls -ld "), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        chmod(home.path(), 0o700);
        assert_eq!(names(home.path()), ["a"]);
    });
}

#[test]
fn a_missing_directory_is_an_error_that_names_the_file() {
    let home = tempdir().unwrap();
    let path = home.path().join("no/a");
    let ReplaceError::File(error) = put(&path, b"x").unwrap_err() else { panic!() };
    assert_eq!((error.path(), error.kind()), (path.as_path(), ErrorKind::NotFound));
}

#[test]
fn a_name_of_full_length_can_be_replaced() {
    let home = tempdir().unwrap();
    let path = home.path().join("x".repeat(255));
    put(&path, b"one").unwrap();
    put(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
}

#[test]
fn a_dead_writers_leftover_goes_and_a_live_writers_file_stays() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    let leftover = home.path().join(".a.0123456789abcdef.replacing");
    let of_another = home.path().join(".b.c.0123456789abcdef.replacing");
    let others = [
        ".a.backup.replacing",
        ".a.0123456789ABCDEF.replacing",
        "a.0123456789abcdef.replacing",
        "..0123456789abcdef.replacing",
        "0123456789abcdef.replacing",
        ".a.0123456789abcdef.replacing~",
    ];
    for name in others {
        fs::write(home.path().join(name), "mine").unwrap();
    }
    fs::write(&of_another, "half").unwrap();
    let writer = File::create(&leftover).unwrap();
    writer.lock().unwrap();
    put(&path, b"one").unwrap();
    assert!(leftover.exists(), "its writer lives");
    assert!(!of_another.exists(), "whatever it was to become");
    drop(writer);
    put(&path, b"two").unwrap();
    assert!(!leftover.exists(), "its writer is gone");
    assert!(others.iter().all(|name| home.path().join(name).exists()), "not ours to remove");
}

#[test]
fn of_racing_writers_one_whole_version_stays() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    thread::scope(|scope| {
        for writer in 0..8_u8 {
            let path = &path;
            scope.spawn(move || (0..25).for_each(|round| put(path, &version(writer * 25 + round)).unwrap()));
        }
    });
    check_whole(&path);
    assert_eq!(names(home.path()), ["a"]);
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    small_disk(128 * 1024, |disk| {
        let path = disk.join("a");
        for durability in DURABILITIES {
            replace(&path, &[b'o'; 60_000], durability).unwrap();
            let ReplaceError::File(error) = replace(&path, &[b'n'; 90_000], durability).unwrap_err() else {
                panic!()
            };
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            assert!(error.hint().unwrap().starts_with("`df -h "));
            assert_eq!(fs::read(&path).unwrap(), [b'o'; 60_000]);
            assert_eq!(names(disk), ["a"]);
        }
    });
}

/// A version names itself in every byte; no two are of the same length.
fn version(number: u8) -> Vec<u8> {
    vec![number; 20_000 + usize::from(number)]
}

fn check_whole(path: &Path) {
    let bytes = fs::read(path).unwrap();
    assert!(bytes == version(bytes[0]), "{} bytes of {}", bytes.len(), bytes[0]);
}

#[test]
fn many_kills_leave_a_whole_version_each_time() {
    let home = tempdir().unwrap();
    let path = home.path().join("a");
    put(&path, &version(0)).unwrap();
    let child = |_| again::command("replace many times", home.path());
    Crash::new(1).run(child, |attempt| {
        again::words(attempt);
        check_whole(&path);
        put(&path, &version(0)).unwrap();
        assert_eq!(names(home.path()), ["a"], "the next replace removes what the dead one left");
    });
}

pub(crate) fn child_replaces_many_times(folder: &Path) {
    for number in 0..50 {
        put(&folder.join("a"), &version(number)).unwrap();
        again::say(b'.');
    }
}
