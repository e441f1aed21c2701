//! A log that is damaged, orphaned, unfinished or just being written: what is lost is told, what is not is not.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use store::sqlite::rusqlite::Connection;
use store::sqlite::{Note, Policy, open};
use testkit::Random;

use super::{NOW, POLICY, V1, home, notes, set_aside};
use crate::again::{names, tempdir};

fn flip(path: &Path, offset: u64, bit: u8) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1 << bit], offset).unwrap();
}

/// Puts everything from the log into the database, and starts the log anew.
fn checkpoint(path: &Path) {
    let connection = open(path, &POLICY, &V1, NOW).unwrap().connection;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

fn add(path: &Path, texts: &[&str]) {
    let connection = open(path, &POLICY, &V1, NOW).unwrap().connection;
    for text in texts {
        connection.execute("INSERT INTO note(text) VALUES (?1)", [text]).unwrap();
    }
}

#[test]
fn the_log_of_a_database_that_is_gone_or_empty_is_kept() {
    let damages: [fn(&Path); 2] = [
        |path| fs::remove_file(path).unwrap(),
        |path| OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap(),
    ];
    for damage in damages {
        let (home, path) = home();
        let log = fs::read(home.path().join("notes.db-wal")).unwrap();
        damage(&path);
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        assert_eq!(set_aside(&opened), home.path().join(format!("notes.db.corrupt-{NOW}")));
        assert_eq!(fs::read(home.path().join(format!("notes.db.corrupt-{NOW}-wal"))).unwrap(), log);
    }
}

#[test]
fn the_rollback_journal_of_a_database_that_is_gone_is_kept() {
    let home = tempdir().unwrap();
    let (path, journal) = (home.path().join("notes.db"), home.path().join("notes.db-journal"));
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE old(text); PRAGMA cache_size=1; BEGIN").unwrap();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
        INSERT INTO old SELECT 'a text that fills some pages' FROM n";
    connection.execute(many, []).unwrap();
    let undo = fs::read(&journal).unwrap();
    connection.execute_batch("ROLLBACK").unwrap();
    drop(connection);
    fs::write(&path, "").unwrap();
    fs::write(&journal, &undo).unwrap();
    set_aside(&open(&path, &POLICY, &V1, NOW).unwrap());
    assert_eq!(fs::read(home.path().join(format!("notes.db.corrupt-{NOW}-journal"))).unwrap(), undo);
}

#[test]
fn a_damaged_log_that_holds_all_there_is_is_set_aside_with_its_database() {
    let frame = 24 + 4096;
    for offset in [0, 5, 9, 13, 17, 31, 32, 32 + 9, 32 + 20, 32 + 24, 32 + frame + 4000, 32 + 2 * frame + 5] {
        let (home, path) = home();
        let log = home.path().join("notes.db-wal");
        flip(&log, offset, 0);
        let damaged = fs::read(&log).unwrap();
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        set_aside(&opened);
        assert!(opened.notes[0].to_string().contains("its log is damaged"), "{}", opened.notes[0]);
        assert_eq!(fs::read(home.path().join(format!("notes.db.corrupt-{NOW}-wal"))).unwrap(), damaged);
    }
}

#[test]
fn a_damaged_log_is_told_once_and_the_database_goes_on() {
    for (offset, left) in [(3, &["kept"][..]), (32 + 2 * 4120 + 100, &["kept", "one", "two"])] {
        let (home, path) = home();
        let log = home.path().join("notes.db-wal");
        checkpoint(&path);
        add(&path, &["one", "two", "three", "four"]);
        flip(&log, offset, 1);
        let damaged = fs::read(&log).unwrap();
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        let [Note::SetAside { path: from, kept_as, .. }] = &opened.notes[..] else {
            panic!("{:?}", opened.notes)
        };
        let kept = home.path().join(format!("notes.db.corrupt-{NOW}-wal"));
        assert_eq!((from, kept_as, &fs::read(&kept).unwrap()), (&log, &kept, &damaged));
        assert_eq!(notes(&opened.connection), left);
        drop(opened);
        add(&path, &["five"]);
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        assert_eq!((notes(&opened.connection).len(), opened.notes), (left.len() + 1, vec![]));
    }
}

#[test]
fn no_flipped_bit_of_a_log_loses_more_than_the_last_commit_in_silence() {
    let mut random = Random::new(4);
    for _ in 0..80 {
        let (home, path) = home();
        let log = home.path().join("notes.db-wal");
        let checkpointed = random.below(2) == 1;
        if checkpointed {
            checkpoint(&path);
        }
        let all = ["kept", "one", "two", "three"];
        add(&path, &all[1..]);
        let length = fs::metadata(&log).unwrap().len() as usize;
        let (offset, bit) = (random.below(length), random.below(8));
        flip(&log, offset as u64, bit as u8);
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        let found = notes(&opened.connection);
        // The last frame of a log that starts over looks like one that a killed writer did not finish.
        let silent = if checkpointed { 3 } else { 4 };
        assert!(found.len() >= silent || !opened.notes.is_empty(), "bit {bit} of {offset}: {found:?}");
        assert!(found == all[..found.len()], "{found:?}");
    }
}

#[test]
fn an_unfinished_end_of_a_log_is_no_damage() {
    let (home, path) = home();
    let log = home.path().join("notes.db-wal");
    checkpoint(&path);
    add(&path, &["one", "two"]);
    let whole = fs::read(&log).unwrap();
    for cut in [0, 1, 31, 32, 33, 32 + 24, 32 + 4120 - 1, 32 + 4120, 32 + 4120 + 24, whole.len() - 1] {
        fs::write(&log, &whole[..cut]).unwrap();
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        assert_eq!(opened.notes, [], "{cut}");
        drop(opened);
        assert_eq!(fs::read(&log).unwrap(), &whole[..cut]);
    }
}

#[test]
fn a_log_that_others_are_writing_is_no_damage() {
    let (_home, path) = home();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let connection = open(&path, &POLICY, &V1, NOW).unwrap().connection;
            // Small enough for the log to start over again and again.
            connection.pragma_update(None, "wal_autocheckpoint", 20).unwrap();
            while !done.load(Ordering::Relaxed) {
                connection.execute("INSERT INTO note(text) VALUES (hex(randomblob(5000)))", []).unwrap();
                connection.execute("DELETE FROM note WHERE id > 1", []).unwrap();
            }
        });
        let told: Vec<_> = (0..300).flat_map(|_| open(&path, &POLICY, &V1, NOW).unwrap().notes).collect();
        done.store(true, Ordering::Relaxed);
        assert_eq!(told, []);
    });
}

#[test]
fn a_damaged_log_that_others_still_read_is_left_to_them() {
    let (home, path) = home();
    let mut reader = open(&path, &POLICY, &V1, NOW).unwrap().connection;
    let reading = reader.transaction().unwrap();
    assert_eq!(notes(&reading), ["kept"]);
    flip(&home.path().join("notes.db-wal"), 2, 0);
    let impatient = Policy { busy: Duration::from_millis(10), ..POLICY };
    let error = open(&path, &impatient, &V1, NOW).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.starts_with("`fuser -v ")), "{error:?}");
    assert!(!names(home.path()).iter().any(|name| name.contains("corrupt")));
    drop(reading);
    let opened = open(&path, &POLICY, &V1, NOW).unwrap();
    assert_eq!((notes(&opened.connection), opened.notes.len()), (vec!["kept".to_owned()], 1));
}
