//! Stores that are corrupt, newer, locked, read-only or open to others: a reader gets its file, and `doctor` tells.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

use store::sqlite::rusqlite::Connection;
use testkit::Output;

use crate::person::{Person, holds, lines};

/// Reads a file through a store that cannot be used.
#[track_caller]
fn goes_on(person: &Person) -> Output {
    let said = person.drip(&["read", "a.txt"]);
    assert_eq!(said.code, 0, "{}", said.transcript());
    assert!(
        said.stdout.starts_with("[DRIP: full read | ") && said.stdout.ends_with(&lines(40)),
        "{}",
        said.transcript()
    );
    assert!(said.stderr.starts_with("drip: this read is not remembered: "), "{}", said.transcript());
    said
}

#[track_caller]
fn doctor_finds(person: &Person, words: &str) {
    let said = person.drip(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.transcript());
    assert!(said.stdout.contains(words), "{}", said.transcript());
    assert!(!said.stderr.contains("panicked"), "{}", said.transcript());
    let json: serde_json::Value = serde_json::from_str(&person.drip(&["doctor", "--json"]).stdout).unwrap();
    assert_eq!(json["sections"]["database"]["status"], "error", "{json}");
    assert!(json["errors"].as_u64() > Some(0), "{json}");
}

fn with_store() -> Person {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    person
}

#[test]
fn a_newer_store_is_left_as_it_is() {
    let person = with_store();
    let path = person.store().join("sessions.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let said = goes_on(&person);
    assert!(said.stderr.contains("has schema 99"), "{}", said.stderr);
    doctor_finds(&person, "has schema 99");
    for args in [
        &["meter"][..],
        &["sessions"],
        &["replay"],
        &["why", "a.txt"],
        &["refresh", "a.txt"],
        &["reset"],
        &["verify"],
    ] {
        let said = person.drip(args);
        assert!(said.code == 1 && said.stderr.contains("has schema 99"), "{args:?}: {}", said.transcript());
        assert!(said.stderr.contains("\nhint: "), "{args:?}: {}", said.stderr);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_corrupt_store_is_set_aside_and_a_new_one_begins() {
    let person = with_store();
    for name in ["sessions.db-wal", "sessions.db-shm"] {
        let _ = fs::remove_file(person.store().join(name));
    }
    fs::write(person.store().join("sessions.db"), "this is no database, and it is long enough ".repeat(40))
        .unwrap();
    let said = person.drip(&["read", "a.txt"]).ok();
    assert!(said.stdout.starts_with("[DRIP: full read | "), "{}", said.transcript());
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged"), "the new one remembers");
    let doctor = person.drip(&["doctor"]).ok().stdout;
    assert!(doctor.contains("of a store that could not be used are kept"), "{doctor}");
    assert!(doctor.contains("warn  log") && doctor.contains("the store was set aside: "), "{doctor}");
    person.says(&["reset", "--all", "--force"]);
    let left: Vec<_> =
        fs::read_dir(person.store()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("corrupt")), "{left:?}");
}

/// It lies where ours does, has tables of the same names, and counts its versions elsewhere.
#[test]
fn the_store_of_the_original_is_set_aside_and_a_new_one_begins() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    DirBuilder::new().mode(0o700).create(person.store()).unwrap();
    let original = Connection::open(person.store().join("sessions.db")).unwrap();
    let tables = "PRAGMA journal_mode = WAL;
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
        INSERT INTO meta VALUES ('schema_version', '11');
        CREATE TABLE reads (session_id TEXT, file_path TEXT, content TEXT, PRIMARY KEY (session_id, file_path));
        INSERT INTO reads VALUES ('s1', '/a.txt', 'what the original kept');";
    original.execute_batch(tables).unwrap();
    drop(original);
    let said = person.drip(&["read", "a.txt"]).ok();
    assert!(said.stdout.starts_with("[DRIP: full read | "), "{}", said.transcript());
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged"), "the new one remembers");
    let doctor = person.drip(&["doctor"]).ok().stdout;
    assert!(doctor.contains("of a store that could not be used are kept"), "{doctor}");
    assert!(holds(&person.store(), b"what the original kept"), "nothing of it is lost");
    person.says(&["reset", "--all", "--force"]);
    assert!(!holds(&person.store(), b"what the original kept"));
}

#[test]
fn a_locked_store_costs_a_moment_and_no_read() {
    let person = with_store();
    let other = Connection::open(person.store().join("sessions.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    person.file("b.txt", lines(40));
    let said = person.drip(&["read", "b.txt"]);
    assert!(said.code == 0 && said.stdout.ends_with(&lines(40)), "{}", said.transcript());
    assert!(said.stderr.contains("this read is not remembered"), "{}", said.transcript());
    let doctor = person.drip(&["doctor"]).stdout;
    assert!(doctor.contains("another process writes and does not finish"), "{doctor}");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(person.says(&["read", "b.txt"]).starts_with("[DRIP: full read | "), "it was not remembered");
}

#[test]
fn a_store_that_others_can_enter_is_refused_with_the_command_that_mends_it() {
    let person = with_store();
    fs::set_permissions(person.store(), Permissions::from_mode(0o755)).unwrap();
    goes_on(&person);
    doctor_finds(&person, "is open to other users (mode 0755)");
    let said = person.drip(&["meter"]);
    assert!(said.code == 1 && said.stderr.contains("chmod 700"), "{}", said.transcript());
}

#[test]
fn a_store_that_is_a_link_or_a_file_is_refused() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    fs::create_dir(person.home.path().join("elsewhere")).unwrap();
    symlink(person.home.path().join("elsewhere"), person.store()).unwrap();
    goes_on(&person);
    doctor_finds(&person, "is a symbolic link");
    assert_eq!(fs::read_dir(person.home.path().join("elsewhere")).unwrap().count(), 0);
    fs::remove_file(person.store()).unwrap();
    fs::write(person.store(), "mine").unwrap();
    goes_on(&person);
    doctor_finds(&person, "is not a directory");
    assert_eq!(fs::read(person.store()).unwrap(), b"mine");
}

#[test]
fn a_home_that_cannot_be_written_is_no_reason_not_to_read() {
    use testkit::hostile;
    hostile::require_root("become somebody else");
    let person = Person::new();
    let drip = person.home.install("drip");
    person.file("a.txt", lines(40));
    let path = person.project().join("a.txt");
    // Root's own places, seen by somebody else.
    for folder in [person.home.path().to_owned(), person.project()] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = person.home.command(drip);
    command.args(["read", path.to_str().unwrap()]).current_dir("/").env("DRIP_SESSION_ID", "s1");
    let said = person.home.run(hostile::as_other_uid(&mut command));
    assert!(said.code == 0 && said.stdout.ends_with(&lines(40)), "{}", said.transcript());
    assert!(said.stderr.contains("this read is not remembered"), "{}", said.transcript());
}

#[test]
fn a_lost_content_makes_the_next_read_whole() {
    let person = Person::new();
    person.file("large.txt", lines(2_000));
    person.says(&["read", "large.txt"]);
    fs::remove_dir_all(person.store().join("cache")).unwrap();
    assert!(person.drip(&["doctor"]).stdout.contains("have lost their file"));
    person.file("large.txt", lines(2_000).replace("line 7 ", "line seven "));
    let said = person.says(&["read", "large.txt"]);
    assert!(said.starts_with("[DRIP: full read | ") && said.contains("line seven "), "{}", &said[..200]);
}

#[test]
fn a_clock_that_jumps_back_breaks_nothing() {
    let person = with_store();
    person.home.clock().set(1_000);
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: "));
    for args in [&["meter"][..], &["sessions"], &["replay"], &["why", "a.txt"], &["doctor"]] {
        let _ = person.drip(args).ok();
    }
    person.home.clock().set(253_000_000_000_000);
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: "));
    let _ = person.drip(&["meter"]).ok();
}
