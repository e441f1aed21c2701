//! The journal on a real SQLite: its tables, its batches, its counts, and what it forgets.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the files behind the back of the store"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clai::command::{Place, Ran, RepoKey, SessionId, Shell, Template};
use clai::database::{
    Counting, Database, DatabaseError, Doomed, FILE, Feedback, Outcome, Owner, Query, Reader, Reason, Record,
    TaskRow, TypedBy,
};
use proptest::prelude::*;
use store::sqlite::rusqlite::Connection;
use store::sqlite::{Note, SqliteError, Synchronous};
use testkit::{Home, Random};

const NOW: i64 = 1_767_225_600_000;
const DAY: i64 = 86_400_000;

fn directory(home: &Home) -> PathBuf {
    home.data().join("clai")
}

fn open(home: &Home) -> Database {
    opened(home).unwrap().0
}

fn opened(home: &Home) -> Result<(Database, Vec<Note>), DatabaseError> {
    let owner = Owner { host: Some("engine".into()), user: Some("ada".into()) };
    Database::open(&directory(home), Synchronous::Normal, owner, NOW)
}

fn reader(home: &Home) -> Reader {
    Reader::open(&directory(home), NOW).unwrap().unwrap()
}

fn raw(home: &Home) -> Connection {
    Connection::open(directory(home).join(FILE)).unwrap()
}

fn ran(session: &str, ts: i64, line: &str) -> Ran {
    Ran {
        session: SessionId(session.into()),
        ts,
        duration_ms: Some(7),
        exit_code: Some(0),
        place: Place { cwd: "/p".into(), repo: Some(RepoKey("r".into())), branch: Some("main".into()) },
        line: line.into(),
        template: Template(line.into()),
    }
}

fn record(session: &str, ts: i64, line: &str) -> Record {
    Record { ran: ran(session, ts, line), shell: Shell::Zsh, actor: None }
}

fn count(home: &Home, sql: &str) -> i64 {
    raw(home).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Both tables, scores by their bits.
fn aggregates(home: &Home) -> BTreeMap<Vec<String>, (u64, i64)> {
    let connection = raw(home);
    let mut rows = BTreeMap::new();
    let mut scores = connection.prepare("SELECT scope, cmd_norm, score, last_ts FROM command_score").unwrap();
    let mut found = scores.query([]).unwrap();
    while let Some(row) = found.next().unwrap() {
        let key = vec![row.get(0).unwrap(), row.get(1).unwrap()];
        rows.insert(key, (row.get::<_, f64>(2).unwrap().to_bits(), row.get(3).unwrap()));
    }
    let mut followed =
        connection.prepare("SELECT scope, prev_norm, next_norm, count, last_ts FROM transition").unwrap();
    let mut found = followed.query([]).unwrap();
    while let Some(row) = found.next().unwrap() {
        let key = vec![row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap()];
        rows.insert(key, (row.get::<_, i64>(3).unwrap().cast_unsigned(), row.get(4).unwrap()));
    }
    rows
}

/// The schema of the specification, word by word.
const SPECIFICATION: &str = "
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, shell TEXT NOT NULL, host TEXT, user TEXT);
CREATE TABLE IF NOT EXISTS command_event (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES session(id),
  ts INTEGER NOT NULL, duration_ms INTEGER, exit_code INTEGER, cwd TEXT NOT NULL, repo_key TEXT, branch TEXT,
  cmd_raw TEXT NOT NULL, cmd_norm TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS idx_event_ts ON command_event(ts);
CREATE INDEX IF NOT EXISTS idx_event_repo_ts ON command_event(repo_key, ts);
CREATE INDEX IF NOT EXISTS idx_event_cwd_ts ON command_event(cwd, ts);
CREATE INDEX IF NOT EXISTS idx_event_session_ts ON command_event(session_id, ts);
CREATE INDEX IF NOT EXISTS idx_event_norm_repo ON command_event(cmd_norm, repo_key);
CREATE TABLE IF NOT EXISTS transition (scope TEXT NOT NULL, prev_norm TEXT NOT NULL, next_norm TEXT NOT NULL, count INTEGER NOT NULL,
  last_ts INTEGER NOT NULL, PRIMARY KEY(scope, prev_norm, next_norm));
CREATE INDEX IF NOT EXISTS idx_transition_prev ON transition(scope, prev_norm);
CREATE TABLE IF NOT EXISTS command_score (scope TEXT NOT NULL, cmd_norm TEXT NOT NULL, score REAL NOT NULL, last_ts INTEGER NOT NULL,
  PRIMARY KEY(scope, cmd_norm));
CREATE INDEX IF NOT EXISTS idx_command_score_scope ON command_score(scope, score DESC);
CREATE TABLE IF NOT EXISTS project_task (repo_key TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, command TEXT NOT NULL,
  description TEXT, discovered_ts INTEGER NOT NULL, PRIMARY KEY(repo_key, kind, name));
CREATE INDEX IF NOT EXISTS idx_project_task_repo ON project_task(repo_key);
CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, applied_ts INTEGER NOT NULL);
";

/// Tables with their columns, keys and references, and indexes with their columns and directions.
fn described(connection: &Connection) -> BTreeMap<String, Vec<String>> {
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &store::sqlite::rusqlite::Row<'_>| {
            Ok((0..columns).map(|column| format!("{:?} ", row.get_ref(column).unwrap())).collect())
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let named = |kind: &str| -> Vec<String> {
        let sql =
            format!("SELECT name FROM sqlite_schema WHERE type = '{kind}' AND name NOT LIKE 'sqlite_%'");
        let mut statement = connection.prepare(&sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut all = BTreeMap::new();
    for table in named("table") {
        let mut lines = rows(&format!("PRAGMA table_xinfo({table})"));
        lines.extend(rows(&format!("PRAGMA foreign_key_list({table})")));
        all.insert(table, lines);
    }
    for index in named("index") {
        all.insert(index.clone(), rows(&format!("PRAGMA index_xinfo({index})")));
    }
    all
}

#[test]
fn the_tables_and_indexes_are_those_of_the_specification() {
    let home = Home::new();
    drop(open(&home));
    let specified = Connection::open_in_memory().unwrap();
    specified.execute_batch(SPECIFICATION).unwrap();
    let (ours, theirs) = (described(&raw(&home)), described(&specified));
    assert_eq!(theirs.len(), 6 + 8);
    for (name, description) in &theirs {
        assert_eq!(ours.get(name), Some(description), "{name}");
    }
    assert_eq!(count(&home, "SELECT count(*) FROM schema_migrations"), 3);
    assert_eq!(
        count(&home, "SELECT max(version) FROM schema_migrations"),
        count(&home, "PRAGMA user_version")
    );
    assert_eq!(count(&home, "SELECT count(*) FROM schema_migrations WHERE applied_ts = 1767225600000"), 3);
}

#[test]
fn a_command_of_an_unknown_session_makes_its_session_first() {
    let home = Home::new();
    let mut database = open(&home);
    database
        .write_batch(
            &[record("s", NOW, "ls"), record("s", NOW + 1, "pwd"), record("t", NOW, "ls")],
            Counting::Now,
        )
        .unwrap();
    assert_eq!(
        count(&home, "SELECT count(*) FROM session WHERE host = 'engine' AND user = 'ada' AND shell = 'zsh'"),
        2
    );
    assert_eq!(count(&home, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

#[test]
fn scores_and_transitions_are_counted_in_both_scopes() {
    let home = Home::new();
    let mut database = open(&home);
    let nowhere = |mut record: Record| {
        record.ran.place.repo = None;
        record
    };
    let tau = 7 * DAY;
    database
        .write_batch(
            &[record("s", NOW, "a"), record("s", NOW + 1, "b"), nowhere(record("s", NOW + tau, "a"))],
            Counting::Now,
        )
        .unwrap();
    let rows = aggregates(&home);
    let score =
        |scope: &str, template: &str| f64::from_bits(rows[&vec![scope.to_owned(), template.to_owned()]].0);
    assert_eq!(score("r", "a"), 1.0);
    assert!((score("global", "a") - (1.0 + (-1.0_f64).exp())).abs() < 1e-12);
    let followed = |scope: &str, before: &str, next: &str| {
        rows.get(&vec![scope.to_owned(), before.to_owned(), next.to_owned()]).copied()
    };
    assert_eq!(followed("global", "a", "b"), Some((1, NOW + 1)));
    assert_eq!(followed("r", "a", "b"), Some((1, NOW + 1)));
    assert_eq!(followed("global", "b", "a"), Some((1, NOW + tau)));
    assert_eq!(followed("r", "b", "a"), None);
}

#[test]
fn the_first_command_of_a_session_follows_what_ran_in_its_repository_a_moment_ago() {
    let home = Home::new();
    let mut database = open(&home);
    database.write_batch(&[record("s", NOW, "a")], Counting::Now).unwrap();
    drop(database);
    // Also when the daemon was restarted in between.
    let mut database = open(&home);
    database
        .write_batch(&[record("t", NOW + 299_000, "b"), record("u", NOW + 900_000, "c")], Counting::Now)
        .unwrap();
    assert_eq!(count(&home, "SELECT count(*) FROM transition WHERE scope = 'global'"), 1);
    assert_eq!(count(&home, "SELECT count(*) FROM transition WHERE prev_norm = 'a' AND next_norm = 'b'"), 2);
}

#[test]
fn a_batch_is_written_whole_or_not_at_all_and_can_be_tried_again() {
    let home = Home::new();
    let mut database = open(&home);
    database.write_batch(&[record("s", NOW, "before")], Counting::Now).unwrap();
    let before = aggregates(&home);
    let batch: Vec<Record> = (0..100).map(|n| record("s", NOW + n, &format!("c{}", n % 7))).collect();
    let fail = "CREATE TRIGGER t BEFORE INSERT ON command_event WHEN NEW.ts = 1767225600099
                BEGIN SELECT RAISE(ABORT, 'no'); END";
    raw(&home).execute_batch(fail).unwrap();
    assert!(database.write_batch(&batch, Counting::Now).is_err());
    assert_eq!(count(&home, "SELECT count(*) FROM command_event"), 1);
    assert_eq!(aggregates(&home), before);
    raw(&home).execute_batch("DROP TRIGGER t").unwrap();
    database.write_batch(&batch, Counting::Now).unwrap();
    assert_eq!(count(&home, "SELECT count(*) FROM command_event"), 101);
    let incremental = aggregates(&home);
    database.rebuild_aggregates().unwrap();
    assert_eq!(aggregates(&home), incremental);
}

#[test]
fn what_was_not_counted_when_it_was_written_is_counted_at_the_next_start() {
    let home = Home::new();
    let mut database = open(&home);
    let batch: Vec<Record> = (0..100).map(|n| record("s", NOW + n, &format!("c{}", n % 7))).collect();
    database.write_batch(&batch[..50], Counting::Now).unwrap();
    let before = aggregates(&home);
    database.write_batch(&batch[50..], Counting::Later).unwrap();
    assert!(database.has_uncounted());
    assert_eq!(aggregates(&home), before);
    // As after a crash: nobody has counted on the way out.
    drop(database);
    let mut database = open(&home);
    assert!(!database.has_uncounted());
    let counted = aggregates(&home);
    assert_ne!(counted, before);
    database.rebuild_aggregates().unwrap();
    assert_eq!(aggregates(&home), counted);
}

#[test]
fn what_an_agent_typed_is_kept_with_its_tag_and_counted_nowhere() {
    let home = Home::new();
    let mut database = open(&home);
    let by_agent = Record { actor: Some("robot".into()), ..record("s", NOW + 1, "cargo test") };
    database
        .write_batch(&[record("s", NOW, "ls"), by_agent, record("s", NOW + 2, "pwd")], Counting::Now)
        .unwrap();
    let counted = "SELECT count(*) FROM command_score WHERE cmd_norm = 'cargo test'";
    assert_eq!(count(&home, counted), 0);
    assert_eq!(
        count(&home, "SELECT count(*) FROM transition WHERE prev_norm = 'ls' AND next_norm = 'pwd'"),
        2
    );
    database.rebuild_aggregates().unwrap();
    assert_eq!(count(&home, counted), 0);
    let mut replayed = Vec::new();
    database.replay(|ran| replayed.push(ran.line.clone())).unwrap();
    assert_eq!(replayed, ["ls", "pwd"]);
    let typed_by = |typed_by| reader(&home).find(&Query { typed_by, ..Query::default() }).unwrap();
    assert_eq!(typed_by(TypedBy::Person).len(), 2);
    assert_eq!(typed_by(TypedBy::Agents)[0].actor.as_deref(), Some("robot"));
    assert_eq!(typed_by(TypedBy::Anyone).len(), 3);
}

fn replayed(database: &Database) -> Vec<Ran> {
    let mut replayed = Vec::new();
    let count = database.replay(|ran| replayed.push(ran.clone())).unwrap();
    assert_eq!(count, replayed.len() as u64);
    replayed
}

#[test]
fn a_replay_gives_back_what_was_written_as_it_came() {
    let home = Home::new();
    let mut database = open(&home);
    let mut odd = record("s", NOW - 5, "printf 'é\u{fffd}\n'");
    odd.ran = Ran {
        duration_ms: None,
        exit_code: None,
        place: Place { cwd: "/".into(), repo: None, branch: None },
        ..odd.ran
    };
    let batch = [record("s", NOW, "late"), odd, record("s", NOW, "after")];
    database.write_batch(&batch, Counting::Now).unwrap();
    assert_eq!(replayed(&database), batch.map(|record| record.ran));
    assert_eq!(database.newest().unwrap(), Some(NOW));
}

#[test]
fn an_import_sorts_what_is_there_and_later_commands_stay_as_they_come() {
    let home = Home::new();
    let mut database = open(&home);
    let lines =
        |database: &Database| -> Vec<String> { replayed(database).into_iter().map(|ran| ran.line).collect() };
    database.write_batch(&[record("s", NOW, "b"), record("s", NOW + 9, "d")], Counting::Now).unwrap();
    database.import(&[record("old", NOW + 5, "c"), record("old", NOW - 5, "a")]).unwrap();
    database.write_batch(&[record("s", NOW + 20, "f"), record("s", NOW + 10, "e")], Counting::Now).unwrap();
    assert_eq!(lines(&database), ["a", "b", "c", "d", "f", "e"]);
    drop(database);
    assert_eq!(lines(&open(&home)), ["a", "b", "c", "d", "f", "e"]);
}

#[test]
fn commands_of_an_older_version_are_replayed_in_the_order_of_time_as_it_did() {
    let home = Home::new();
    let mut database = open(&home);
    database.write_batch(&[record("s", NOW, "b"), record("s", NOW - 9, "a")], Counting::Now).unwrap();
    drop(database);
    // As the second version left it.
    let undo = "DROP TABLE learned; DELETE FROM state WHERE name = 'sorted_to';
                DELETE FROM schema_migrations WHERE version = 3; PRAGMA user_version = 2";
    raw(&home).execute_batch(undo).unwrap();
    assert_eq!(reader(&home).stats().unwrap().commands, 2, "a reader migrates it too");
    let mut database = open(&home);
    database.write_batch(&[record("s", NOW - 20, "c")], Counting::Now).unwrap();
    let lines: Vec<String> = replayed(&database).into_iter().map(|ran| ran.line).collect();
    assert_eq!(lines, ["a", "b", "c"]);
}

#[test]
fn after_a_burst_the_log_is_folded_into_the_database_unless_somebody_reads() {
    let home = Home::new();
    let mut database = open(&home);
    let log = || fs::metadata(directory(&home).join(format!("{FILE}-wal"))).unwrap().len();
    let burst = |database: &mut Database| {
        let long = "x".repeat(4000);
        let batch: Vec<Record> = (0..700).map(|n| record("s", NOW + n, &format!("{n} {long}"))).collect();
        database.write_batch(&batch, Counting::Later).unwrap();
        assert!(log() > 4 << 20 && !database.is_at_rest());
    };
    burst(&mut database);
    let reading = raw(&home);
    reading.execute_batch("BEGIN; SELECT count(*) FROM command_event").unwrap();
    burst(&mut database);
    database.rest().unwrap();
    assert!(log() > 0 && database.is_at_rest(), "not now");
    reading.execute_batch("COMMIT").unwrap();
    burst(&mut database);
    database.rest().unwrap();
    assert_eq!(log(), 0);
    let counted = aggregates(&home);
    database.rebuild_aggregates().unwrap();
    assert_eq!(aggregates(&home), counted);
}

#[test]
fn what_was_learned_is_kept_under_its_name() {
    let home = Home::new();
    let database = open(&home);
    assert_eq!(database.learned("x").unwrap(), None);
    database.keep_learned("x", &[1, 0, 255]).unwrap();
    database.keep_learned("x", &[2]).unwrap();
    drop(database);
    assert_eq!(open(&home).learned("x").unwrap(), Some(vec![2]));
}

#[test]
fn a_reader_cannot_write_and_does_not_touch_what_is_broken() {
    let home = Home::new();
    drop(open(&home));
    drop(reader(&home));
    let file = directory(&home).join(FILE);
    let garbage = b"no database at all, whatever its name says".repeat(100);
    fs::write(&file, &garbage).unwrap();
    fs::remove_file(directory(&home).join(format!("{FILE}-wal"))).unwrap();
    let error = Reader::open(&directory(&home), NOW).unwrap_err();
    assert!(error.to_string().contains(FILE), "{error}");
    assert_eq!(fs::read(&file).unwrap(), garbage);
}

#[test]
fn importing_twice_changes_nothing() {
    let home = Home::new();
    let mut database = open(&home);
    let old: Vec<Record> = (0..50).map(|n| record("old", NOW - DAY + n, &format!("make t{n}"))).collect();
    assert_eq!(database.import(&old).unwrap(), [true; 50]);
    let first = aggregates(&home);
    assert_eq!(database.import(&old).unwrap(), [false; 50]);
    assert_eq!(aggregates(&home), first);
    assert_eq!(count(&home, "SELECT count(*) FROM command_event"), 50);
}

#[test]
fn a_purge_takes_old_commands_and_empty_sessions_and_leaves_the_counts() {
    let home = Home::new();
    let mut database = open(&home);
    let mut batch: Vec<Record> = (0..200).map(|n| record("old", NOW - 91 * DAY + n, "old")).collect();
    batch.push(Record { actor: Some("robot".into()), ..record("old", NOW - 95 * DAY, "by robot") });
    batch.push(record("new", NOW - 89 * DAY, "new"));
    database.write_batch(&batch, Counting::Now).unwrap();
    let before = aggregates(&home);
    assert_eq!(database.purge(90, NOW).unwrap(), 201);
    assert_eq!(count(&home, "SELECT count(*) FROM command_event"), 1);
    assert_eq!(count(&home, "SELECT count(*) FROM session"), 1);
    assert_eq!(count(&home, "SELECT count(*) FROM event_actor"), 0);
    assert_eq!(aggregates(&home), before);
    assert_eq!(database.purge(90, NOW).unwrap(), 0);
    assert_eq!(count(&home, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

/// Whether any file below the data directory holds this text, in UTF-8.
fn is_on_disk(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.file_type().unwrap().is_dir() {
        true => is_on_disk(&entry.path(), text),
        false => fs::read(entry.path()).unwrap().windows(text.len()).any(|window| window == text.as_bytes()),
    })
}

#[test]
fn what_is_forgotten_leaves_no_byte_in_any_file() {
    let home = Home::new();
    let mut database = open(&home);
    // Enough, of such lengths and in such an order that pages are split, balanced and reused.
    let mut random = Random::new(7);
    for batch in 0..40 {
        let mut records = Vec::new();
        for n in 0..50 {
            let (key, padding) = (random.below(100_000), "x".repeat(random.below(300)));
            let word = if random.below(7) == 0 { "xyzzy-plugh" } else { "deploy" };
            let line = format!("{key} {word} {padding}");
            records.push(record(&format!("s{}", n % 3), NOW + batch * 50 + n, &line));
        }
        database.write_batch(&records, Counting::Now).unwrap();
    }
    database.purge(1, NOW + DAY + 200).unwrap();
    database.write_feedback(NOW, Feedback::Dismissed, "1 xyzzy-plugh").unwrap();
    assert!(is_on_disk(&home.data(), "xyzzy-plugh"));
    let doomed = Doomed::Matching("xyzzy-plugh".into());
    let expected = count(&home, "SELECT count(*) FROM command_event WHERE instr(cmd_raw, 'xyzzy-plugh')");
    assert_eq!(database.would_forget(&doomed).unwrap(), expected.cast_unsigned());
    let forgotten = database.forget(&doomed).unwrap();
    assert_eq!(forgotten.commands, expected.cast_unsigned());
    assert!(forgotten.lines.iter().all(|line| line.contains("xyzzy-plugh")));
    database.scrub().unwrap();
    assert!(!is_on_disk(&home.data(), "xyzzy-plugh"));
    assert!(is_on_disk(&home.data(), "deploy"));
    // What is left is whole, counted, and can be added to.
    let counted = aggregates(&home);
    database.rebuild_aggregates().unwrap();
    assert_eq!(aggregates(&home), counted);
    database.write_batch(&[record("s1", NOW + 9999, "after")], Counting::Now).unwrap();
    assert_eq!(count(&home, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

#[test]
fn the_last_ones_or_those_since_a_time_are_forgotten_and_equal_lines_of_others_stay() {
    let home = Home::new();
    let mut database = open(&home);
    let lines = ["ls", "secret-a", "ls", "secret-b", "ls"];
    let batch: Vec<Record> =
        lines.iter().enumerate().map(|(n, line)| record("s", NOW + n as i64, line)).collect();
    database.write_batch(&batch, Counting::Now).unwrap();
    let forgotten = database.forget(&Doomed::Last(2)).unwrap();
    assert_eq!(
        (forgotten.commands, forgotten.lines.into_iter().collect::<Vec<_>>()),
        (2, vec!["secret-b".into()])
    );
    let forgotten = database.forget(&Doomed::Since(NOW + 1)).unwrap();
    assert_eq!(
        (forgotten.commands, forgotten.lines.into_iter().collect::<Vec<_>>()),
        (2, vec!["secret-a".into()])
    );
    database.scrub().unwrap();
    assert!(!is_on_disk(&home.data(), "secret-"));
    assert_eq!(count(&home, "SELECT count(*) FROM command_event WHERE cmd_raw = 'ls'"), 1);
    assert_eq!(count(&home, "SELECT count(*) FROM transition"), 0);
    assert_eq!(database.forget(&Doomed::Matching("l?".into())).unwrap().commands, 1);
    assert_eq!(database.forget(&Doomed::Last(u64::MAX)).unwrap().commands, 0);
}

#[test]
fn a_newer_database_is_refused_and_not_touched() {
    let home = Home::new();
    drop(open(&home));
    raw(&home).execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99").unwrap();
    let before = fs::read(directory(&home).join(FILE)).unwrap();
    let error = opened(&home).unwrap_err();
    assert!(matches!(error, DatabaseError::Open(SqliteError::Newer { found: 99, .. })), "{error}");
    assert_eq!(fs::read(directory(&home).join(FILE)).unwrap(), before);
}

#[test]
fn a_broken_database_is_set_aside_and_a_new_one_begun() {
    let home = Home::new();
    drop(open(&home));
    // Else the log alone would mend it.
    raw(&home).execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    let file = directory(&home).join(FILE);
    let garbage = b"this is no database, and it has been that way for a long time now".repeat(100);
    fs::write(&file, &garbage).unwrap();
    let (mut database, notes) = opened(&home).unwrap();
    let Some(Note::SetAside { kept_as, .. }) = notes.first() else { panic!("{notes:?}") };
    assert_eq!(fs::read(kept_as).unwrap(), garbage);
    database.write_batch(&[record("s", NOW, "ls")], Counting::Now).unwrap();
}

#[test]
fn a_reader_finds_by_every_field() {
    let home = Home::new();
    assert!(Reader::open(&directory(&home), NOW).unwrap().is_none());
    let mut database = open(&home);
    let mut failed = record("s", NOW + 1, "cargo test");
    failed.ran.exit_code = Some(101);
    let mut elsewhere = record("t", NOW + 2, "cargo build");
    elsewhere.ran.place = Place { cwd: "/q".into(), repo: None, branch: None };
    database.write_batch(&[record("s", NOW, "ls 100%_"), failed, elsewhere], Counting::Now).unwrap();
    let reader = reader(&home);
    let lines = |query: Query| -> Vec<String> {
        reader.find(&query).unwrap().into_iter().map(|found| found.cmd).collect()
    };
    assert_eq!(lines(Query::default()), ["cargo build", "cargo test", "ls 100%_"]);
    assert_eq!(lines(Query { limit: Some(1), ..Query::default() }), ["cargo build"]);
    assert_eq!(lines(Query { text: Some("%_".into()), ..Query::default() }), ["ls 100%_"]);
    assert_eq!(lines(Query { cwd: Some("/q".into()), ..Query::default() }), ["cargo build"]);
    assert_eq!(
        lines(Query { repo: Some("r".into()), outcome: Outcome::Worked, ..Query::default() }),
        ["ls 100%_"]
    );
    assert_eq!(lines(Query { outcome: Outcome::Failed, ..Query::default() }), ["cargo test"]);
    assert_eq!(
        lines(Query { session: Some("s".into()), since: Some(NOW + 1), ..Query::default() }),
        ["cargo test"]
    );
    assert_eq!(lines(Query { until: Some(NOW + 1), ..Query::default() }), ["ls 100%_"]);
    let stats = reader.stats().unwrap();
    assert_eq!((stats.commands, stats.failed, stats.sessions, stats.repos), (3, 1, 2, 1));
    assert_eq!((stats.first_ts, stats.last_ts), (Some(NOW), Some(NOW + 2)));
    assert_eq!(reader.scores(Some("global"), 10).unwrap().len(), 3);
    assert_eq!(reader.transitions(None, 1).unwrap().len(), 1);
}

#[test]
fn tasks_reasons_and_values_are_kept() {
    let home = Home::new();
    let mut database = open(&home);
    let task = |name: &str| TaskRow {
        kind: "make".into(),
        name: name.into(),
        command: format!("make {name}"),
        description: None,
    };
    let repo = RepoKey("r".into());
    database.replace_tasks(&repo, &[task("a"), task("b")], NOW).unwrap();
    database.replace_tasks(&repo, &[task("b"), task("b")], NOW + 1).unwrap();
    assert_eq!(reader(&home).tasks(Some("r"), 10).unwrap().len(), 1);
    database.count_left_out(Reason::SecretRedacted, "github", 2, NOW).unwrap();
    database.count_left_out(Reason::SecretRedacted, "github", 1, NOW + 5).unwrap();
    let left_out = database.left_out().unwrap();
    assert_eq!(
        (left_out[0].reason.as_str(), left_out[0].count, left_out[0].last_ts),
        ("secret_redacted", 3, NOW + 5)
    );
    assert_eq!(database.state("x").unwrap(), None);
    database.set_state("x", Some(5)).unwrap();
    drop(database);
    let database = open(&home);
    assert_eq!(database.state("x").unwrap(), Some(5));
    database.set_state("x", None).unwrap();
    assert_eq!(database.state("x").unwrap(), None);
}

fn any_record() -> impl Strategy<Value = Record> {
    let repo = prop::option::of(0..2);
    (0..3, -400_000..400_000_i64, 0..5, repo, prop::bool::weighted(0.1)).prop_map(
        |(session, at, line, repo, agent)| {
            let mut record = record(&format!("s{session}"), NOW + at * 1000, &format!("c{line}"));
            record.ran.place.repo = repo.map(|n| RepoKey(format!("r{n}")));
            record.actor = agent.then(|| "robot".to_owned());
            record
        },
    )
}

fn any_counting() -> impl Strategy<Value = Counting> {
    prop_oneof![Just(Counting::Now), Just(Counting::Later)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn counts_do_not_depend_on_batches_restarts_or_being_made_anew(
        batches in prop::collection::vec((prop::collection::vec(any_record(), 0..8), any::<bool>(), any_counting()), 1..8),
    ) {
        let home = Home::new();
        let mut database = open(&home);
        for (batch, restart, counting) in &batches {
            if *restart {
                drop(database);
                database = open(&home);
            }
            database.write_batch(batch, *counting).unwrap();
        }
        database.count().unwrap();
        let incremental = aggregates(&home);
        database.rebuild_aggregates().unwrap();
        prop_assert_eq!(&aggregates(&home), &incremental);
        let at_once = Home::new();
        let all: Vec<Record> = batches.into_iter().flat_map(|(batch, _, _)| batch).collect();
        open(&at_once).write_batch(&all, Counting::Now).unwrap();
        prop_assert_eq!(&aggregates(&at_once), &incremental);
    }
}
