//! Opening a database: the policy, migrations, and everything that can stand where it should be.

mod log;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use store::lock::try_acquire;
use store::sqlite::rusqlite::types::Value;
use store::sqlite::rusqlite::{self, Connection, Transaction, TransactionBehavior, params};
use store::sqlite::{
    Migrated, Note, Opened, Policy, Schema, SqliteError, Synchronous, open, read, read_foreign,
};
use tempfile::TempDir;
use testkit::Crash;
use testkit::hostile::small_disk;

use super::again::{self, as_nobody, chmod, mode, names, tempdir};

const NOW: i64 = 1_700_000_000_000;
const POLICY: Policy = Policy { busy: Duration::from_secs(20), synchronous: Synchronous::Normal };

const ONE: &str = "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY, applied_ts INTEGER NOT NULL);";
const TWO: &str = "CREATE TABLE tag(note INTEGER REFERENCES note(id) ON DELETE CASCADE, name TEXT);";
const THREE: &str = "ALTER TABLE note ADD COLUMN stars INTEGER NOT NULL DEFAULT 0;";

const V1: Schema = Schema { application: "notes", migrations: &[ONE], mirror: Some(mirror) };
const V3: Schema = Schema { application: "notes", migrations: &[ONE, TWO, THREE], mirror: Some(mirror) };

fn mirror(transaction: &Transaction<'_>, done: Migrated) -> rusqlite::Result<()> {
    let sql = "INSERT INTO schema_migrations VALUES (?1, ?2)";
    transaction.execute(sql, params![done.version as i64, done.unix_ms]).map(drop)
}

/// A home with a database of version 1 and one note in it, all still in the log.
fn home() -> (TempDir, PathBuf) {
    let home = tempdir().unwrap();
    let path = home.path().join("notes.db");
    let opened = open(&path, &POLICY, &V1, NOW).unwrap();
    opened.connection.execute("INSERT INTO note(text) VALUES ('kept')", []).unwrap();
    (home, path)
}

fn pragma(connection: &Connection, name: &str) -> Value {
    connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}

fn notes(connection: &Connection) -> Vec<String> {
    let mut statement = connection.prepare("SELECT text FROM note ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn set_aside(opened: &Opened) -> &Path {
    match &opened.notes[..] {
        [Note::SetAside { kept_as, .. }, Note::Migrated { from: 0, to: 1 }] => kept_as,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_database_follows_the_policy() {
    let home = tempdir().unwrap();
    let path = home.path().join("a/b/notes.db");
    let Opened { connection, notes } = open(&path, &POLICY, &V3, NOW).unwrap();
    assert_eq!(notes, [Note::Migrated { from: 0, to: 3 }]);
    assert_eq!(pragma(&connection, "journal_mode"), Value::from("wal".to_owned()));
    assert_eq!(pragma(&connection, "synchronous"), Value::from(1));
    assert_eq!(pragma(&connection, "foreign_keys"), Value::from(1));
    assert_eq!(pragma(&connection, "trusted_schema"), Value::from(0));
    assert_eq!(pragma(&connection, "busy_timeout"), Value::from(20000));
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let files = ["notes.db", "notes.db-shm", "notes.db-wal", "notes.db.lock"];
    assert_eq!(names(path.parent().unwrap()), files);
    for file in files {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
}

#[test]
fn an_up_to_date_database_opens_without_any_lock_or_write() {
    let (home, path) = home();
    let impatient = Policy { busy: Duration::ZERO, ..POLICY };
    let mut writer = open(&path, &POLICY, &V1, NOW).unwrap().connection;
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let _migrating = try_acquire(&home.path().join("notes.db.lock"), "").unwrap();
    let before = everything(home.path());
    let opened = open(&path, &impatient, &V1, NOW).unwrap();
    assert_eq!((notes(&opened.connection), opened.notes), (vec!["kept".to_owned()], vec![]));
    drop(opened.connection);
    assert_eq!(everything(home.path()), before);
    drop(transaction);
}

#[test]
fn a_reader_sees_what_is_in_the_log_and_cannot_write() {
    let (home, path) = home();
    assert!(read(&home.path().join("none.db"), POLICY.busy, &V1).unwrap().is_none());
    assert!(!home.path().join("none.db").exists());
    let before = everything(home.path());
    for connection in
        [read(&path, POLICY.busy, &V1).unwrap().unwrap(), read_foreign(&path, POLICY.busy).unwrap()]
    {
        assert_eq!(notes(&connection), ["kept"]);
        let error = connection.execute("DELETE FROM note", []).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ReadOnly));
        assert!(connection.pragma_update(None, "user_version", 7).is_err());
    }
    assert_eq!(everything(home.path()), before);
}

#[test]
fn a_reader_refuses_what_a_writer_would_change_and_leaves_it_alone() {
    let (home, path) = home();
    let before = everything(home.path());
    let older = read(&path, POLICY.busy, &V3).unwrap_err();
    assert!(matches!(older, SqliteError::Older { found: 1, supported: 3, .. }), "{older}");
    assert_eq!(everything(home.path()), before);
    drop(open(&path, &POLICY, &V3, NOW).unwrap());
    assert!(matches!(read(&path, POLICY.busy, &V1), Err(SqliteError::Newer { found: 3, .. })));
    let garbage = home.path().join("garbage.db");
    fs::write(&garbage, "not a database, and long enough to be sure of it".repeat(20)).unwrap();
    assert!(matches!(read(&garbage, POLICY.busy, &V1), Err(SqliteError::Sql { .. })));
    symlink("notes.db", home.path().join("link.db")).unwrap();
    assert!(matches!(read(&home.path().join("link.db"), POLICY.busy, &V1), Err(SqliteError::Place(_))));
    assert!(names(home.path()).iter().all(|name| !name.contains("corrupt")), "nothing is set aside");
}

/// Every file but the index of the log, which is made again from it, with its bytes and time.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>, SystemTime)> {
    let read = |name: String| {
        let path = folder.join(&name);
        (name, fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap())
    };
    names(folder).into_iter().filter(|name| !name.ends_with("-shm")).map(read).collect()
}

#[test]
fn an_old_database_is_migrated_and_the_owners_table_says_so_too() {
    let (_home, path) = home();
    let opened = open(&path, &POLICY, &V3, NOW + 5).unwrap();
    assert_eq!(opened.notes, [Note::Migrated { from: 1, to: 3 }]);
    assert_eq!(notes(&opened.connection), ["kept"]);
    assert_eq!(pragma(&opened.connection, "user_version"), Value::from(3));
    let sql =
        "SELECT group_concat(version || '@' || (applied_ts - 1700000000000), ' ') FROM schema_migrations";
    let mirrored: String = opened.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(mirrored, "1@0 2@5 3@5");
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let (home, path) = home();
    let before = everything(home.path());
    let broken = Schema { migrations: &[ONE, TWO, "INSERT INTO nowhere VALUES (1)"], ..V3 };
    let error = open(&path, &POLICY, &broken, NOW).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open the database `{}`", path.display()));
    assert_eq!(everything(home.path())[0], before[0]);
    let opened = open(&path, &POLICY, &V1, NOW).unwrap();
    assert_eq!((notes(&opened.connection), opened.notes), (vec!["kept".to_owned()], vec![]));
}

#[test]
fn rebuilding_a_table_does_not_cascade() {
    let (_home, path) = home();
    let connection = open(&path, &POLICY, &V3, NOW).unwrap().connection;
    connection.execute("INSERT INTO tag VALUES (1, 'red')", []).unwrap();
    drop(connection);
    const REBUILD: &str = "CREATE TABLE fresh(id INTEGER PRIMARY KEY, text TEXT, stars INTEGER);
        INSERT INTO fresh SELECT id, text, stars FROM note; DROP TABLE note; ALTER TABLE fresh RENAME TO note;";
    let rebuilt = Schema { migrations: &[ONE, TWO, THREE, REBUILD], ..V3 };
    let connection = open(&path, &POLICY, &rebuilt, NOW).unwrap().connection;
    let tags = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(tags("SELECT count(*) FROM tag"), 1);
    connection.execute("DELETE FROM note", []).unwrap();
    assert_eq!(tags("SELECT count(*) FROM tag"), 0, "outside migrations foreign keys hold");
}

#[test]
fn a_newer_schema_is_refused_and_the_files_untouched() {
    let (home, path) = home();
    drop(open(&path, &POLICY, &V3, NOW).unwrap());
    let in_the_log = everything(home.path());
    let refuse = || match open(&path, &POLICY, &V1, NOW) {
        Err(error @ SqliteError::Newer { found: 3, supported: 1, .. }) => error,
        other => panic!("{other:?}"),
    };
    refuse();
    assert_eq!(everything(home.path()), in_the_log, "the new version is only in the log so far");
    // As a newer version of the tool may leave it: one file, no WAL, open to others.
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(connection);
    chmod(&path, 0o644);
    let plain = everything(home.path());
    let error = refuse();
    assert_eq!((everything(home.path()), mode(&path)), (plain, 0o644));
    assert_eq!(error.to_string(), format!("`{}` has schema 3, and this notes knows up to 1", path.display()));
    assert_eq!(error.hint().unwrap(), "`cargo xtask install` brings the newest notes");
}

#[test]
fn a_database_from_an_older_tool_is_made_private_and_gets_wal() {
    let (_home, path) = home();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(connection);
    chmod(&path, 0o644);
    let opened = open(&path, &POLICY, &V1, NOW).unwrap();
    assert_eq!(pragma(&opened.connection, "journal_mode"), Value::from("wal".to_owned()));
    assert_eq!((notes(&opened.connection), mode(&path)), (vec!["kept".to_owned()], 0o600));
}

#[test]
fn what_is_no_database_is_set_aside_and_never_overwritten() {
    let home = tempdir().unwrap();
    let path = home.path().join("notes.db");
    let texts = ["my shopping list, long enough not to be taken for half a header", "another one"];
    for (number, text) in texts.into_iter().enumerate() {
        fs::write(&path, text.repeat(50)).unwrap();
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        let kept_as = set_aside(&opened);
        // The clock stands still, and yet nothing is overwritten.
        assert_eq!(kept_as, home.path().join(format!("notes.db.corrupt-{}", NOW + number as i64)));
        assert_eq!(fs::read_to_string(kept_as).unwrap(), text.repeat(50));
        assert!(opened.notes[0].to_string().ends_with(": file is not a database"), "{}", opened.notes[0]);
        assert_eq!(mode(&path), 0o600);
        drop(opened);
        assert_eq!(open(&path, &POLICY, &V1, NOW).unwrap().notes, []);
        fs::remove_file(home.path().join("notes.db-wal")).unwrap();
        fs::remove_file(home.path().join("notes.db-shm")).unwrap();
    }
}

#[test]
fn a_malformed_database_is_set_aside_with_its_log() {
    let damages: [fn(&Path); 3] = [
        |path| OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0xff; 500], 100).unwrap(),
        |path| OpenOptions::new().write(true).open(path).unwrap().set_len(5000).unwrap(),
        |path| {
            OpenOptions::new().write(true).open(path).unwrap().write_all_at(b"SQLite format 9", 0).unwrap();
        },
    ];
    for damage in damages {
        let (home, path) = home();
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
        drop(connection);
        damage(&path);
        let damaged = fs::read(&path).unwrap();
        fs::write(home.path().join("notes.db-wal"), "what is left of a log").unwrap();
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        let kept_as = set_aside(&opened);
        assert_eq!(fs::read(kept_as).unwrap(), damaged);
        let log = home.path().join(format!("notes.db.corrupt-{NOW}-wal"));
        assert_eq!(fs::read_to_string(log).unwrap(), "what is left of a log");
        assert_eq!(notes(&opened.connection), [""; 0]);
    }
}

#[test]
fn an_empty_file_is_a_new_database() {
    let home = tempdir().unwrap();
    let path = home.path().join("notes.db");
    fs::write(&path, "").unwrap();
    assert_eq!(open(&path, &POLICY, &V1, NOW).unwrap().notes, [Note::Migrated { from: 0, to: 1 }]);
}

#[test]
fn what_stands_in_the_way_is_told_and_left_alone() {
    as_nobody(|| {
        let (home, path) = home();
        let tell = |path: &Path| open(path, &POLICY, &V1, NOW).unwrap_err();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("folder.db")).unwrap();
        assert!(matches!(tell(&at("folder.db")), SqliteError::NotAFile { .. }));
        symlink("notes.db", at("link.db")).unwrap();
        assert!(matches!(tell(&at("link.db")), SqliteError::Place(_)));
        assert!(
            matches!(tell(&path.join("below.db")), SqliteError::Place(_)),
            "a file where a folder should be"
        );
        for unusable in [0o000, 0o400] {
            chmod(&path, unusable);
            let error = tell(&path);
            assert!(matches!(&error, SqliteError::File(file) if file.path() == path), "{error:?}");
            assert!(error.hint().unwrap().starts_with("`ls -ld "));
        }
        chmod(&path, 0o600);
        chmod(home.path(), 0o500);
        let error = tell(&path);
        assert!(matches!(&error, SqliteError::File(file) if file.path() == home.path()), "{error:?}");
        chmod(home.path(), 0o755);
        let error = tell(&path);
        assert!(matches!(&error, SqliteError::Place(place) if place.path() == home.path()), "{error:?}");
        chmod(home.path(), 0o700);
        assert_eq!(notes(&open(&path, &POLICY, &V1, NOW).unwrap().connection), ["kept"]);
    });
}

#[test]
fn a_database_being_prepared_by_somebody_who_never_finishes_is_an_error() {
    let (home, path) = home();
    let _stuck = try_acquire(&home.path().join("notes.db.lock"), "stuck").unwrap();
    let impatient = Policy { busy: Duration::from_millis(10), ..POLICY };
    let error = open(&path, &impatient, &V3, NOW).unwrap_err();
    assert!(
        matches!(error, SqliteError::Lock(_)) && error.hint().unwrap().starts_with("`ps -fp "),
        "{error:?}"
    );
}

#[test]
fn of_eight_processes_one_migrates() {
    let (home, path) = home();
    assert_eq!(eight_open(home.path()), ["", "", "", "", "", "", "", "schema 1 became 3"]);
    assert_eq!(notes(&open(&path, &POLICY, &V3, NOW).unwrap().connection), ["kept"]);
}

#[test]
fn of_eight_processes_one_sets_a_corrupt_database_aside() {
    let home = tempdir().unwrap();
    fs::write(home.path().join("notes.db"), "not a database at all ".repeat(100)).unwrap();
    let said = eight_open(home.path());
    assert!(said[..7].iter().all(String::is_empty) && said[7].contains(" was set aside as "), "{said:?}");
    let kept = names(home.path()).into_iter().filter(|name| name.contains(".corrupt-"));
    assert_eq!(kept.collect::<Vec<_>>(), [format!("notes.db.corrupt-{NOW}")]);
}

fn eight_open(folder: &Path) -> Vec<String> {
    let mut children: Vec<_> = (0..8).map(|_| again::start("open a database", folder)).collect();
    children.iter_mut().for_each(|child| assert_eq!(again::hear(child), b'!', "ready"));
    children.iter_mut().for_each(|child| drop(child.stdin.take()));
    let mut said: Vec<String> = children.into_iter().map(again::finish).collect();
    said.sort();
    said
}

/// Waits for the start, opens, and tells its notes.
pub(crate) fn child_opens(folder: &Path) {
    again::say(b'!');
    again::wait_for_parent();
    let opened = open(&folder.join("notes.db"), &POLICY, &V3, NOW).unwrap();
    let notes: Vec<String> = opened.notes.iter().map(ToString::to_string).collect();
    std::io::stderr().write_all(notes.join("; ").as_bytes()).unwrap();
}

#[test]
fn a_kill_while_a_database_is_made_written_or_migrated_costs_nothing_that_was_reported() {
    let home = tempdir().unwrap();
    let folder = |number: usize| home.path().join(number.to_string());
    let child = |number| {
        fs::create_dir(folder(number)).unwrap();
        chmod(&folder(number), 0o700);
        again::command("make databases", &folder(number))
    };
    Crash::new(3).run(child, |attempt| {
        let folder = folder(attempt.number);
        let reported = again::words(attempt);
        let made = names(&folder).iter().filter(|name| name.ends_with(".db")).count();
        for number in 0..made {
            let opened = open(&folder.join(format!("{number}.db")), &POLICY, &V3, NOW).unwrap();
            let aside = opened.notes.iter().any(|note| matches!(note, Note::SetAside { .. }));
            assert!(!aside, "{:?}", opened.notes);
            assert!(notes(&opened.connection) == ["kept"] || number >= reported, "{number} of {reported}");
        }
        assert!(made >= reported);
        fs::remove_dir_all(folder).unwrap();
    });
}

pub(crate) fn child_makes_databases(folder: &Path) {
    for number in 0..12 {
        let path = folder.join(format!("{number}.db"));
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        opened.connection.execute("INSERT INTO note(text) VALUES ('kept')", []).unwrap();
        again::say(b'.');
        drop(opened);
        open(&path, &POLICY, &V3, NOW).unwrap();
    }
}

#[test]
fn a_full_disk_during_a_migration_loses_nothing() {
    const BIG: &str = "CREATE TABLE big(bytes BLOB); INSERT INTO big VALUES (randomblob(1000000));";
    small_disk(512 * 1024, |disk| {
        let big = Schema { migrations: &[ONE, BIG], ..V1 };
        let path = disk.join("private/notes.db");
        let error = open(&path, &POLICY, &big, NOW).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.starts_with("`df -h ")), "{error:?}");
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        opened.connection.execute("INSERT INTO note(text) VALUES ('kept')", []).unwrap();
        drop(opened);
        assert!(matches!(open(&path, &POLICY, &big, NOW), Err(SqliteError::Sql { .. })));
        let opened = open(&path, &POLICY, &V1, NOW).unwrap();
        assert_eq!((notes(&opened.connection), opened.notes), (vec!["kept".to_owned()], vec![]));
    });
}

#[test]
fn a_name_that_sqlite_would_take_for_something_else_is_a_name() {
    let home = tempdir().unwrap();
    again::finish(again::start("open odd names", home.path()));
}

pub(crate) fn child_opens_odd_names(folder: &Path) {
    for name in ["file:x.db?mode=memory", "file:/y.db", ":memory:", "a b%20?#.db"] {
        open(Path::new(name), &POLICY, &V1, NOW).unwrap();
        assert!(fs::metadata(folder.join(name)).unwrap().len() > 0, "{name}");
        assert_eq!(open(Path::new(name), &POLICY, &V1, NOW).unwrap().notes, [], "{name} is there again");
    }
}
