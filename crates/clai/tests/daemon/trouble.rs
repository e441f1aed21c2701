//! Full disks, jumping clocks, stopped and killed processes.

use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use store::sqlite::rusqlite::Connection;
use testkit::hostile::small_disk;
use testkit::{Home, PATIENCE, Random, until};

use crate::rig::{Daemon, NOW, QUICK, count, database, event, kept, log, run, socket};

const DAY: i64 = 86_400_000;

#[test]
fn on_a_full_disk_commands_wait_in_memory_and_are_written_when_there_is_room() {
    small_disk(16 << 20, |disk| {
        let home = Home::new();
        let folder = disk.join("clai");
        let daemon = Daemon::start_with(&home, &[("CLAI_DB_DIR", folder.to_str().unwrap()), QUICK[0]]);
        daemon.ran(&["ls"]);
        let filler = disk.join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        drop(file);
        let mut talk = daemon.connect();
        for n in 0..300 {
            talk.say(&event(&format!("echo {n} {}", "x".repeat(200)), NOW + n));
        }
        let health = || daemon.ask(&json!({"type": "health"}));
        assert!(until(PATIENCE, || health()["status"] == "degraded"), "{}", health());
        assert!(health()["trouble"].as_str().unwrap().contains("full"), "{}", health());
        assert!(!daemon.suggestions().is_empty());
        fs::remove_file(&filler).unwrap();
        assert!(until(PATIENCE, || health()["status"] == "ok" && health()["written"] == 301), "{}", health());
        let connection = Connection::open(folder.join("clai.db")).unwrap();
        let written: i64 =
            connection.query_row("SELECT count(*) FROM command_event", [], |row| row.get(0)).unwrap();
        assert_eq!(written, 301);
        let log = log(&home);
        assert_eq!(
            (log.matches("\"trouble\"").count(), log.matches("\"recovered\"").count()),
            (1, 1),
            "{log}"
        );
        assert!(!log.contains("echo"), "no command in a log");
    });
}

#[test]
fn a_clock_that_jumps_loses_nothing() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let start = home.clock().now_ms();
    let say = |line: &str, ts: i64| {
        let mut talk = daemon.connect();
        talk.say(&event(line, ts));
        talk.ask(&json!({"type": "flush"}));
    };
    say("before", start);
    home.clock().advance(Duration::from_secs(3650 * 86400));
    say("in ten years", home.clock().now_ms());
    home.clock().set(1000);
    say("in 1970", start + 1);
    home.clock().set(start + 1000);
    say("after", start + 1000);
    assert_eq!(kept(&home), ["before", "in ten years", "in 1970", "after"]);
    assert_eq!(count(&home, "SELECT ts FROM command_event WHERE cmd_raw = 'in 1970'"), start + 1);
    assert!(log(&home).contains("\"clock_jumped\""));
    assert!(!daemon.suggestions().is_empty());
    // A daemon that starts under such a clock does not take everything for too old either.
    daemon.terminate();
    home.clock().set(start + 200 * 365 * DAY);
    Daemon::start(&home).terminate();
    assert_eq!(kept(&home).len(), 4);
}

#[test]
fn what_is_too_old_is_purged_at_the_start() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let now = home.clock().now_ms();
    let mut talk = daemon.connect();
    for (line, days) in [("old", 91), ("new", 89), ("newer", 10)] {
        talk.say(&event(line, now - days * DAY));
    }
    talk.ask(&json!({"type": "flush"}));
    daemon.terminate();
    let daemon = Daemon::start(&home);
    assert_eq!(kept(&home), ["new", "newer"]);
    assert_eq!(
        count(&home, "SELECT count(*) FROM command_score WHERE cmd_norm = 'old'"),
        1,
        "aggregates stay"
    );
    daemon.terminate();
    Daemon::start_with(&home, &[("CLAI_RETENTION_DAYS", "88")]).terminate();
    assert_eq!(kept(&home), ["newer"], "as it is set");
    Daemon::start_with(&home, &[("CLAI_RETENTION_DAYS", "9")]).terminate();
    assert_eq!(kept(&home), ["newer"], "a clock that makes everything too old is not believed");
}

#[test]
fn a_stopped_daemon_takes_up_what_was_said_meanwhile() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.signal(Signal::STOP);
    for n in 0..50 {
        let mut hook = UnixStream::connect(socket(&home)).unwrap();
        hook.write_all(format!("{}\n", event(&format!("echo {n}"), NOW + n)).as_bytes()).unwrap();
    }
    daemon.signal(Signal::CONT);
    assert!(until(PATIENCE, || {
        daemon.flush();
        kept(&home).len() == 50
    }));
}

/// Both tables, scores by their bits.
fn aggregates(home: &Home) -> Vec<String> {
    let connection = Connection::open(database(home)).unwrap();
    let mut rows = Vec::new();
    for sql in [
        "SELECT scope, '', cmd_norm, score, last_ts FROM command_score ORDER BY 1, 3",
        "SELECT scope, prev_norm, next_norm, count, last_ts FROM transition ORDER BY 1, 2, 3",
    ] {
        let mut statement = connection.prepare(sql).unwrap();
        let row = |row: &store::sqlite::rusqlite::Row<'_>| {
            let number: f64 = row.get(3)?;
            let text = |column: usize| row.get::<_, String>(column);
            Ok(format!(
                "{} {} {} {:x} {}",
                text(0)?,
                text(1)?,
                text(2)?,
                number.to_bits(),
                row.get::<_, i64>(4)?
            ))
        };
        rows.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    rows
}

#[test]
fn killed_at_any_point_of_a_burst_it_keeps_what_it_had_confirmed_and_its_counts_are_right() {
    let soak: Option<usize> = std::env::var("SCRIMP_SOAK_POINTS").ok().and_then(|text| text.parse().ok());
    let points = soak.unwrap_or_default().max(50);
    let burst_length = if soak.is_some() { 10_000 } else { 1_000 };
    let (home, mut random) = (Home::new(), Random::new(20_260_101));
    let mut expected_before = 0;
    let mut cut_short = 0;
    for point in 0..points {
        let daemon = Daemon::start_with(&home, QUICK);
        let confirmed = burst(&daemon, random.below(burst_length), point as i64);
        daemon.kill();
        let written = kept(&home).len() as i64;
        assert!(
            written >= expected_before + confirmed,
            "point {point}: {written} < {expected_before} + {confirmed}"
        );
        assert_eq!(count(&home, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), 0);
        cut_short += i64::from(written < expected_before + burst_length as i64);
        expected_before = written;
        // What grows would only make the later points slower.
        if expected_before > 3 * burst_length as i64 || point + 1 == points {
            // The last burst is counted by the next daemon.
            Daemon::start_with(&home, QUICK).terminate();
            let incremental = aggregates(&home);
            let _ = run(&home, &["--rebuild-aggregates"]).ok();
            assert_eq!(aggregates(&home), incremental, "point {point}");
            fs::remove_dir_all(home.data().join("clai")).unwrap();
            expected_before = 0;
        }
    }
    assert!(cut_short * 2 > points as i64, "only {cut_short} of {points} kills fell into the burst");
}

/// Says so many events, asking now and then whether all is written. Gives how many were confirmed.
fn burst(daemon: &Daemon<'_>, events: usize, point: i64) -> i64 {
    let mut talk = daemon.connect();
    let mut confirmed = 0;
    for n in 0..events as i64 {
        let mut event = event(&format!("step{} {}", n % 17, n % 5), NOW + point * 100_000 + n * 37 % 9000);
        event["session_id"] = json!(format!("s{}", n % 3));
        talk.say(&event);
        if n % 250 == 249 {
            talk.say(&json!({"type": "flush"}));
            let mut answer = String::new();
            talk.0.read_line(&mut answer).unwrap();
            confirmed = n + 1;
        }
    }
    confirmed
}
