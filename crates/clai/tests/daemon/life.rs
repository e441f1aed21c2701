//! How a daemon starts, is the only one, and ends.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::process::Signal;
use serde_json::json;
use testkit::hostile::{OTHER_UID, give_away};
use testkit::{Home, PATIENCE, bin, until};

use crate::rig::{Daemon, NOW, QUICK, command, count, database, event, kept, log, run, socket};

#[test]
fn it_says_its_version_its_help_and_what_it_does_not_know() {
    let home = Home::new();
    assert_eq!(run(&home, &["--version"]).stdout, "clai-daemon 0.1.0\n");
    assert!(run(&home, &["--help"]).stdout.contains("--rebuild-aggregates"));
    let unknown = run(&home, &["--foregruond"]);
    assert_eq!(
        (unknown.code, unknown.stderr.as_str()),
        (2, "error: unknown argument `--foregruond`\nhint: `clai-daemon --foreground`\n")
    );
    assert!(!home.data().join("clai").exists());
}

#[test]
fn everything_it_makes_is_private() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls"]);
    let mode = |path: &std::path::Path| fs::symlink_metadata(path).unwrap().mode() & 0o777;
    for directory in [home.data().join("clai"), home.runtime().join("clai"), home.state().join("scrimp")] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
        for entry in fs::read_dir(&directory).unwrap().flatten() {
            assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
        }
    }
}

#[test]
fn a_second_daemon_says_who_is_there_and_exits_5() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for args in [&["--foreground"][..], &[]] {
        let second = run(&home, args);
        assert_eq!(second.code, 5);
        assert!(
            second.stderr.contains(&format!("daemon already running (process {})", daemon.pid())),
            "{}",
            second.stderr
        );
    }
    assert_eq!(daemon.ask(&json!({"type": "health"}))["status"], "ok");
}

#[test]
fn of_twenty_racing_starts_one_is_the_daemon_and_one_migrates() {
    let home = Home::new();
    home.clock();
    let mut racing: Vec<_> = (0..20)
        .map(|_| {
            let mut command = command(&home);
            command
                .arg("--foreground")
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut ended = Vec::new();
    assert!(until(PATIENCE, || {
        let mut at = 0;
        while at < racing.len() {
            match racing[at].try_wait().unwrap() {
                Some(_) => ended.push(racing.remove(at).wait_with_output().unwrap()),
                None => at += 1,
            }
        }
        racing.len() == 1
    }));
    for loser in &ended {
        assert_eq!(loser.status.code(), Some(5));
        assert!(String::from_utf8_lossy(&loser.stderr).contains("daemon already running"));
    }
    let mut winner = racing.remove(0);
    assert!(until(PATIENCE, || std::os::unix::net::UnixStream::connect(socket(&home)).is_ok()));
    assert_eq!(count(&home, "SELECT count(*) FROM schema_migrations"), 3);
    assert_eq!(log(&home).matches("schema 0 became 3").count(), 1);
    // It is written once somebody can be answered.
    assert!(until(PATIENCE, || log(&home).contains("\"started\"")));
    assert_eq!(log(&home).matches("\"started\"").count(), 1);
    winner.kill().unwrap();
    winner.wait().unwrap();
}

#[test]
fn in_the_background_it_returns_when_it_answers_and_outlives_its_starter() {
    let home = Home::new();
    run(&home, &[]).ok();
    let mut talk = crate::rig::Talk::to(&home);
    let pid = talk.ask(&json!({"type": "health"}))["pid"].as_u64().unwrap();
    // A session of its own: no terminal takes it along.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session: u64 = stat.rsplit(") ").next().unwrap().split(' ').nth(3).unwrap().parse().unwrap();
    assert_eq!(session, pid);
    assert_eq!(talk.ask(&json!({"type": "stop"})), json!({"done": true}));
    assert!(until(PATIENCE, || !socket(&home).exists() && log(&home).contains("\"stopped\"")));
}

#[test]
fn a_start_in_the_background_that_fails_says_why() {
    let home = Home::new();
    home.write(".config/clai/config.toml", "secrets = \"redcat\"\n");
    let failed = run(&home, &[]);
    assert_eq!(failed.code, 1, "{}", failed.transcript());
    assert!(failed.stderr.contains("`secrets` is \"redcat\""), "{}", failed.stderr);
}

#[test]
fn a_term_signal_writes_what_was_heard_and_removes_the_socket() {
    let home = Home::new();
    let daemon = Daemon::start_with(&home, QUICK);
    let mut talk = daemon.connect();
    for n in 0..500 {
        talk.say(&event(&format!("echo {n}"), NOW + n));
    }
    drop(talk);
    daemon.terminate();
    assert_eq!(kept(&home).len(), 500);
    assert!(!socket(&home).exists());
    assert!(log(&home).contains("\"stopped\""));
}

#[test]
fn a_daemon_whose_socket_was_taken_away_ends_and_makes_room_for_the_next() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    daemon.ran(&["make test"]);
    fs::remove_dir_all(socket(&home).parent().unwrap()).unwrap();
    assert_eq!(daemon.ended(), Some(0));
    let next = Daemon::start(&home);
    next.ran(&["make lint"]);
    assert_eq!(kept(&home), ["make test", "make lint"]);
}

#[test]
fn an_interrupt_ends_it_too() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let _silent = daemon.connect();
    daemon.signal(Signal::INT);
    assert_eq!(daemon.ended(), Some(0));
}

#[test]
fn the_socket_of_a_dead_daemon_is_removed_by_the_next() {
    let home = Home::new();
    Daemon::start(&home).kill();
    assert!(socket(&home).exists());
    let daemon = Daemon::start(&home);
    assert_eq!(daemon.ask(&json!({"type": "health"}))["pid"], daemon.pid());
}

/// First the lock, then the database with its migrations, then the socket of the dead, then its own.
#[test]
fn without_the_lock_nothing_is_touched_and_without_a_database_no_socket() {
    let home = Home::new();
    let lock = || store::lock::try_acquire(&database(&home).with_file_name(".daemon.lock"), "test");
    let daemon = Daemon::start(&home);
    assert!(lock().is_err(), "it is held as long as the daemon lives");
    daemon.kill();
    let held = lock().unwrap();
    let replace = |bytes: &[u8]| {
        for name in ["clai.db-wal", "clai.db-shm"] {
            let _ = fs::remove_file(database(&home).with_file_name(name));
        }
        fs::write(database(&home), bytes).unwrap();
    };
    let broken = b"whoever opens this sets it aside ".repeat(100);
    replace(&broken);
    assert_eq!(run(&home, &["--foreground"]).code, 5);
    assert_eq!(fs::read(database(&home)).unwrap(), broken);
    assert!(socket(&home).exists());
    drop(held);
    replace(b"");
    let newer = store::sqlite::rusqlite::Connection::open(database(&home)).unwrap();
    newer.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(newer);
    let refused = run(&home, &["--foreground"]);
    assert!(refused.code == 1 && refused.stderr.contains("has schema 99"), "{}", refused.transcript());
    assert!(socket(&home).exists());
    replace(b"");
    Daemon::start(&home).terminate();
}

#[test]
fn what_is_at_the_sockets_place_and_not_ours_is_left_alone() {
    let home = Home::new();
    let directory = home.runtime().join("clai");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(socket(&home), "precious").unwrap();
    let refused = run(&home, &["--foreground"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("is not a socket"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(socket(&home)).unwrap(), "precious");
    fs::remove_file(socket(&home)).unwrap();
    let living = UnixListener::bind(socket(&home)).unwrap();
    assert_eq!(run(&home, &["--foreground"]).code, 5);
    drop(living);
    fs::remove_file(socket(&home)).unwrap();
    symlink("/tmp/elsewhere", socket(&home)).unwrap();
    assert!(run(&home, &["--foreground"]).stderr.contains("is a symbolic link"));
}

#[test]
fn another_users_socket_or_directory_is_refused() {
    let home = Home::new();
    let directory = home.runtime().join("clai");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let foreign = UnixListener::bind(socket(&home)).unwrap();
    give_away(socket(&home));
    let refused = run(&home, &["--foreground"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains(&format!("belongs to user {OTHER_UID}")), "{}", refused.stderr);
    assert!(socket(&home).exists());
    drop(foreign);
    give_away(&directory);
    assert!(run(&home, &["--foreground"]).stderr.contains(&format!("belongs to user {OTHER_UID}")));
}

#[test]
fn a_newer_database_is_refused_with_a_hint_and_not_touched() {
    let home = Home::new();
    Daemon::start(&home).terminate();
    let connection = store::sqlite::rusqlite::Connection::open(database(&home)).unwrap();
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99").unwrap();
    drop(connection);
    let before = fs::read(database(&home)).unwrap();
    let refused = run(&home, &["--foreground"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("has schema 99, and this clai knows up to 3"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert_eq!(fs::read(database(&home)).unwrap(), before);
    assert!(!socket(&home).exists());
}

#[test]
fn a_broken_database_is_kept_aside_and_the_log_says_so() {
    let home = Home::new();
    let path =
        home.write(".local/share/clai/clai.db", b"no database at all, whatever its name says ".repeat(100));
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls"]);
    assert_eq!(kept(&home), ["ls"]);
    assert!(log(&home).contains("was set aside as"), "{}", log(&home));
}

#[test]
fn aggregates_are_rebuilt_by_a_running_daemon_or_without_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls", "pwd", "ls"]);
    let spoil = || {
        let connection = store::sqlite::rusqlite::Connection::open(database(&home)).unwrap();
        connection.execute_batch("UPDATE command_score SET score = 77; DELETE FROM transition").unwrap();
    };
    let wrong = "SELECT count(*) FROM command_score WHERE score = 77";
    spoil();
    assert!(run(&home, &["--rebuild-aggregates"]).ok().stdout.contains("rebuilt"));
    assert_eq!((count(&home, wrong), count(&home, "SELECT sum(count) FROM transition")), (0, 2));
    daemon.terminate();
    spoil();
    let _ = run(&home, &["--rebuild-aggregates"]).ok();
    assert_eq!((count(&home, wrong), count(&home, "SELECT sum(count) FROM transition")), (0, 2));
}

/// Not even a loopback device: who needs a network fails here.
#[test]
fn without_a_network_commands_are_taken_and_the_next_one_is_suggested() {
    let home = Home::new();
    home.clock();
    let alone = |program: &str| {
        let mut command = home.command("unshare");
        command.arg("--net").arg(bin(program));
        command
    };
    let _daemon = Daemon::spawn(&home, alone("clai-daemon").arg("--foreground"));
    let told = || {
        for line in ["make moonrise", "ls"] {
            let mut hook = alone("clai-hook");
            hook.arg("ingest").envs([("CLAI_CMD", line), ("CLAI_CWD", "/"), ("CLAI_SHELL", "bash")]);
            let _ = home.run(hook.env("CLAI_SESSION_ID", "s")).ok();
        }
        let suggested = home.run(alone("clai").arg("suggest")).ok();
        suggested.stdout.contains("make moonrise")
    };
    // On a busy machine the hook may have given up.
    assert!(until(PATIENCE, told));
}

#[test]
fn it_has_no_socket_but_local_ones() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.ran(&["ls"]);
    let inodes = |table: &str| -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/{}/net/{table}", daemon.pid())).unwrap_or_default();
        text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(9).map(str::to_owned)).collect()
    };
    let network: Vec<String> =
        ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"].into_iter().flat_map(inodes).collect();
    let mut sockets = 0;
    for entry in fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().flatten() {
        let target =
            fs::read_link(entry.path()).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(inode) = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
            sockets += 1;
            assert!(!network.contains(&inode.to_owned()), "{target} is a network socket");
        }
    }
    assert!(sockets > 0);
}
