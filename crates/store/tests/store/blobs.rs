//! Blobs: what goes in comes out, damage is told, and collecting never takes what somebody has just put.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use store::Durability;
use store::blobs::{Amount, BlobError, Blobs, Digest};
use tempfile::TempDir;
use testkit::hostile::small_disk;

use super::again::{as_nobody, chmod, mode, names, tempdir};

const HOUR: Duration = Duration::from_secs(3600);

fn home() -> (TempDir, Blobs, PathBuf) {
    let home = tempdir().unwrap();
    let root = home.path().join("blobs");
    let blobs = Blobs::open(&root, Durability::Cached).unwrap();
    (home, blobs, root)
}

fn file(root: &Path, digest: Digest) -> PathBuf {
    let name = digest.to_string();
    root.join(&name[..2]).join(&name[2..])
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

fn age(path: &Path) -> std::io::Result<()> {
    File::options().write(true).open(path)?.set_modified(SystemTime::now() - 2 * HOUR)
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6)) {
        let (_home, blobs, _) = home();
        let digests: Vec<Digest> = contents.iter().map(|bytes| blobs.put(bytes).unwrap()).collect();
        for (digest, bytes) in digests.iter().zip(&contents) {
            prop_assert_eq!(*digest, Digest::of(bytes));
            prop_assert_eq!(blobs.get(digest).unwrap(), Some(bytes.clone()));
        }
        let unique: std::collections::HashSet<_> = contents.iter().collect();
        let bytes = unique.iter().map(|bytes| bytes.len() as u64).sum();
        prop_assert_eq!(blobs.size().unwrap(), Amount { blobs: unique.len() as u64, bytes });
    }
}

#[test]
fn everything_is_private_and_nothing_is_left_over() {
    let home = tempdir().unwrap();
    let root = home.path().join("blobs");
    let blobs = Blobs::open(&root, Durability::Fsync).unwrap();
    let digest = blobs.put(b"abc").unwrap();
    assert_eq!(names(&root), ["ba", "lock", "tmp"]);
    assert_eq!(names(&root.join("tmp")), [""; 0]);
    assert_eq!((mode(&root), mode(&root.join("ba")), mode(&root.join("tmp"))), (0o700, 0o700, 0o700));
    assert_eq!((mode(&file(&root, digest)), mode(&root.join("lock"))), (0o600, 0o600));
}

#[test]
fn what_is_not_there_is_none() {
    let (_home, blobs, root) = home();
    let digest = Digest::of(b"never put");
    assert_eq!((blobs.get(&digest).unwrap(), blobs.contains(&digest).unwrap()), (None, false));
    assert_eq!(names(&root), [""; 0], "asking makes nothing");
    assert!(blobs.put(b"never put").is_ok_and(|digest| blobs.contains(&digest).unwrap()));
}

#[test]
fn a_damaged_blob_is_named_set_aside_and_can_be_put_again() {
    let (_home, blobs, root) = home();
    let digest = blobs.put(b"the truth").unwrap();
    for round in 1..=2 {
        fs::write(file(&root, digest), "the lies!").unwrap();
        let BlobError::Damaged { digest: named, kept_as } = blobs.get(&digest).unwrap_err() else { panic!() };
        assert_eq!((named, &kept_as), (digest, &root.join(format!("damaged/{digest}-{round}"))));
        assert_eq!(fs::read(kept_as).unwrap(), b"the lies!");
        assert_eq!(blobs.get(&digest).unwrap(), None);
        blobs.put(b"the truth").unwrap();
        assert_eq!(blobs.get(&digest).unwrap().unwrap(), b"the truth");
    }
}

#[test]
fn a_put_that_is_reported_can_be_got_whatever_stood_there() {
    let (_home, blobs, root) = home();
    for bytes in ["whole", ""] {
        let digest = blobs.put(bytes.as_bytes()).unwrap();
        for damage in ["", "whol", "whale", "wholes"] {
            fs::write(file(&root, digest), damage).unwrap();
            blobs.put(bytes.as_bytes()).unwrap();
            assert_eq!(blobs.get(&digest).unwrap().unwrap(), bytes.as_bytes(), "over {damage:?}");
        }
    }
}

#[test]
fn collecting_takes_what_is_old_and_not_live() {
    let (_home, blobs, root) = home();
    let [live, dead, young, again] =
        ["live", "dead", "young", "again"].map(|text| blobs.put(text.as_bytes()).unwrap());
    [live, dead, again].iter().for_each(|digest| age(&file(&root, *digest)).unwrap());
    blobs.put(b"again").unwrap();
    let stranger = root.join("ab/README");
    fs::create_dir_all(root.join("ab")).unwrap();
    fs::write(&stranger, "not a blob").unwrap();
    let half_an_hour_later = now() + 1_800_000;
    let collected = blobs.collect(|digest| *digest == live, half_an_hour_later, HOUR).unwrap();
    assert_eq!(collected, Amount { blobs: 1, bytes: 4 });
    assert_eq!(
        [live, dead, young, again].map(|digest| blobs.contains(&digest).unwrap()),
        [true, false, true, true]
    );
    assert!(stranger.exists());
    let collected = blobs.collect(|_| false, now() - 3 * 3_600_000, HOUR).unwrap();
    assert_eq!(collected, Amount::default(), "a clock that jumped back makes nothing old");
}

#[test]
fn collecting_sweeps_what_a_killed_writer_left() {
    let (_home, blobs, root) = home();
    blobs.put(b"x").unwrap();
    let left = root.join("tmp/.blob.0123456789abcdef.replacing");
    let writer = File::create(&left).unwrap();
    writer.lock().unwrap();
    blobs.collect(|_| true, now(), HOUR).unwrap();
    assert!(left.exists(), "its writer lives");
    drop(writer);
    blobs.collect(|_| true, now(), HOUR).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_blob_that_was_just_put_is_never_collected() {
    let (_home, blobs, root) = home();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                blobs.collect(|_| false, now(), HOUR).unwrap();
            }
        });
        let survives = |_| {
            let digest = blobs.put(b"contended").ok()?;
            let kept = blobs.contains(&digest).ok()?;
            // Now it is up for collection again, perhaps while the next round puts it.
            age(&file(&root, digest)).ok()?;
            Some(kept)
        };
        let kept: Vec<Option<bool>> = (0..300).map(survives).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(kept, [Some(true); 300]);
    });
}

#[test]
fn a_root_that_is_not_private_or_not_a_directory_is_refused() {
    as_nobody(|| {
        let home = tempdir().unwrap();
        let open = |path: &Path| Blobs::open(path, Durability::Cached);
        fs::write(home.path().join("file"), "").unwrap();
        assert!(matches!(open(&home.path().join("file")), Err(BlobError::Place(_))));
        chmod(home.path(), 0o755);
        let error = open(home.path()).unwrap_err();
        assert!(error.hint().unwrap().contains("chmod 700"), "{error:?}");
        chmod(home.path(), 0o700);
        let blobs = open(home.path()).unwrap();
        let digest = blobs.put(b"x").unwrap();
        chmod(&file(home.path(), digest), 0o000);
        let BlobError::File(error) = blobs.get(&digest).unwrap_err() else { panic!() };
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    });
}

#[test]
fn a_full_disk_leaves_no_half_blob() {
    small_disk(128 * 1024, |disk| {
        let root = disk.join("blobs");
        let blobs = Blobs::open(&root, Durability::Cached).unwrap();
        let kept = blobs.put(&[1; 50_000]).unwrap();
        let BlobError::File(error) = blobs.put(&[2; 100_000]).unwrap_err() else { panic!() };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(blobs.size().unwrap(), Amount { blobs: 1, bytes: 50_000 });
        assert_eq!(names(&root.join("tmp")), [""; 0]);
        assert_eq!(blobs.get(&kept).unwrap().unwrap(), [1; 50_000]);
    });
}
