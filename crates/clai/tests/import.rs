//! Histories written by real shells and by a database like atuin's.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use clai::import::{self, ImportError, Imported, Source};
use store::sqlite::rusqlite::{self, Connection};
use testkit::{Home, PATIENCE, until};

fn import(source: Source, path: &Path) -> Vec<Imported> {
    import::open(source, path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn lines(entries: &[Imported]) -> Vec<&str> {
    entries.iter().map(|entry| entry.line.as_str()).collect()
}

/// Commands that are hard to write down.
const HARD: &[&str] = &[
    "echo 'ćž 日本'",
    "for x in a\ndo echo \\\n $x\ndone",
    "git commit -m \"fix: \\\"q\\\"\"",
    ": noop",
    "printf '\\n'",
];

fn is_now(ts: i64) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64;
    (now - 120_000..now + 1000).contains(&ts)
}

#[test]
fn a_history_that_bash_wrote_is_imported() {
    let home = Home::new();
    for (format, dated) in [("HISTTIMEFORMAT='%F '", true), (":", false)] {
        let file = home.path().join("bash_history");
        let script =
            format!("{format}; set -o history; for c; do history -s -- \"$c\"; done; history -w \"$FILE\"");
        let mut bash = home.command("bash");
        bash.args(["--norc", "-c", &script, "bash"])
            .args(HARD)
            .env("FILE", &file)
            .env("HISTFILE", "/dev/null");
        let _ = home.run(&mut bash).ok();
        let entries = import(Source::Bash, &file);
        if dated {
            assert_eq!(lines(&entries), HARD);
            assert!(entries.iter().all(|entry| is_now(entry.ts)), "{entries:?}");
        } else {
            assert_eq!(lines(&entries).join("\n"), HARD.join("\n"));
        }
    }
}

#[test]
fn a_history_that_zsh_wrote_is_imported() {
    let home = Home::new();
    for (option, dated) in [("extendedhistory", true), ("noextendedhistory", false)] {
        let file = home.path().join(option);
        let script = format!(
            "HISTSIZE=99 SAVEHIST=99; setopt {option}
            for c in \"$@\" 'ends \\'; do print -rs -- \"$c\"; done; fc -W \"$HISTFILE\""
        );
        let mut zsh = home.command("zsh");
        zsh.args(["-f", "-i", "-c", &script, "zsh"]).args(HARD).env("HISTFILE", &file);
        let _ = home.run(&mut zsh).ok();
        assert!(fs::read(&file).unwrap().contains(&0x83), "nothing was escaped");
        let entries = import(Source::Zsh, &file);
        assert_eq!(lines(&entries), [HARD, &["ends \\"]].concat());
        assert!(entries.iter().all(|entry| is_now(entry.ts) || !dated), "{entries:?}");
        assert!(entries.iter().all(|entry| entry.session == entries[0].session));
    }
}

#[test]
fn a_history_that_fish_wrote_is_imported() {
    let home = Home::new();
    let file = home.data().join("fish/fish_history");
    let mut script = home.command("script");
    script.args(["-qec", "fish", "/dev/null"]);
    let child = script.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("util-linux is there");
    let mut keys = child.stdin.take().unwrap();
    for (line, written) in
        [("echo 'ćž 日本'", "echo 'ćž"), ("echo \"two\rlines \\\\ \"", "echo \"two\\nlines")]
    {
        keys.write_all(format!("{line}\r").as_bytes()).unwrap();
        let there = || fs::read_to_string(&file).is_ok_and(|text| text.contains(written));
        assert!(until(PATIENCE, there), "fish did not remember {line:?}");
    }
    keys.write_all(b"exit\r").unwrap();
    assert!(until(PATIENCE, || child.try_wait().unwrap().is_some()));
    let entries = import(Source::Fish, &file);
    assert_eq!(lines(&entries), ["echo 'ćž 日本'", "echo \"two\nlines \\\\ \"", "exit"]);
    assert!(entries.iter().all(|entry| is_now(entry.ts)), "{entries:?}");
}

const ATUIN: &str = "
    create table history (id text primary key, timestamp integer not null, duration integer not null,
        exit integer not null, command text not null, cwd text not null, session text not null,
        hostname text not null, unique(timestamp, cwd, command));
    create index idx_history_timestamp on history(timestamp);";

fn atuin(home: &Home, more: &str) -> std::path::PathBuf {
    let path = home.path().join("history.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(&format!("{ATUIN}{more}")).unwrap();
    path
}

#[test]
fn atuins_database_is_imported_with_all_that_it_knows() {
    let home = Home::new();
    let path = atuin(
        &home,
        "alter table history add column deleted_at integer;
        insert into history values
            ('b', 1700000001500000000, 2500000000, 1, 'make', '/p', 's1', 'h:u', null),
            ('a', 1700000000000000000, -1, -1, 'vi', 'unknown', 's1', 'h:u', null),
            ('c', 1700000002000000000, 0, 0, 'secret', '/p', 's1', 'h:u', 1700000003000000000),
            ('d', 1700000002000000000, 0, 0, x'6c73ff', '/p', 's2', 'h:u', null),
            ('e', 1700000002000000000, 0, 0, '  ', '/p', 's2', 'h:u', null),
            ('f', 'noon', 0, 0, 'no time', '/p', 's2', 'h:u', null);",
    );
    let entries = import(Source::Atuin, &path);
    assert_eq!(lines(&entries), ["vi", "make", "ls\u{fffd}"]);
    assert_eq!((entries[0].exit_code, entries[0].duration_ms, &entries[0].cwd), (None, None, &None));
    assert_eq!((entries[1].exit_code, entries[1].duration_ms), (Some(1), Some(2500)));
    assert_eq!((entries[1].ts, entries[1].cwd.as_deref()), (1_700_000_004_000, Some("/p")));
    assert_eq!((entries[1].session.0.as_str(), entries[2].session.0.as_str()), ("s1", "s2"));
}

#[test]
fn an_old_database_of_atuin_is_read_page_by_page_and_never_written() {
    let home = Home::new();
    // All at the same time: pages are told apart by the number of the row.
    let path = atuin(
        &home,
        "with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
        insert into history select i, 1700000000000000000, 0, 0, 'echo ' || i, '/p', 's', 'h' from n;",
    );
    let before = fs::read(&path).unwrap();
    let entries = import(Source::Atuin, &path);
    assert_eq!(entries.len(), 10_000);
    assert!(entries.iter().enumerate().all(|(index, entry)| entry.line == format!("echo {index}")));
    assert!(fs::read(&path).unwrap() == before, "the database was changed");
}

#[test]
fn what_cannot_be_read_says_why() {
    let home = Home::new();
    let error = |source, path: &Path| import::open(source, path).map(drop).unwrap_err();
    assert!(matches!(error(Source::Bash, &home.path().join("none")), ImportError::Read { .. }));
    assert!(matches!(error(Source::Bash, home.path()), ImportError::NotAFile { .. }));
    let rubbish = home.write("rubbish", "not a database, and long enough to be seen as none".repeat(100));
    assert!(matches!(error(Source::Atuin, &rubbish), ImportError::Database { .. }));
    let other = home.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("create table t (x)").unwrap();
    let message = error(Source::Atuin, &other).to_string();
    assert_eq!(message, format!("cannot read the database `{}`", other.display()));
    let ImportError::Database {
        source: rusqlite::Error::SqliteFailure(..) | rusqlite::Error::SqlInputError { .. },
        ..
    } = error(Source::Atuin, &other)
    else {
        panic!()
    };
}

#[test]
fn an_empty_history_is_imported_as_nothing() {
    let home = Home::new();
    let file = home.write("empty", "");
    for source in [Source::Bash, Source::Zsh, Source::Fish] {
        assert_eq!(import(source, &file), []);
    }
}

#[test]
fn lines_without_times_come_before_the_time_of_their_file() {
    let home = Home::new();
    let file = home.write("history", "one\ntwo\nthree\n");
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    File::options().write(true).open(&file).unwrap().set_modified(written).unwrap();
    for source in [Source::Bash, Source::Zsh] {
        let times: Vec<_> = import(source, &file).iter().map(|entry| entry.ts).collect();
        assert_eq!(
            times,
            [1_600_000_000_000 - 140_001, 1_600_000_000_000 - 100_001, 1_600_000_000_000 - 60_001]
        );
    }
}

/// How fast is measured by `cargo xtask bench clai`.
#[test]
fn of_a_long_history_no_line_is_lost() {
    let home = Home::new();
    let file = home.path().join("history");
    let mut out = BufWriter::new(File::create(&file).unwrap());
    const LINES: u64 = 50_000;
    for index in 0..LINES {
        writeln!(out, ": {}:0;git commit -m 'change {index}' \\\n  --verbose", 1_600_000_000 + index * 60)
            .unwrap();
    }
    drop(out);
    let history = import::open(Source::Zsh, &file).unwrap();
    assert_eq!(history.map(Result::unwrap).count() as u64, LINES);
}
