//! What happens to a daemon: it is killed, its project leaves, its disk is full, its clock jumps, its cache is of another
//! time, somebody else sits in its place. Whatever it was, the next answer is right.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Crash, Home, PATIENCE, bin, hostile, until};

use crate::rig::{Rig, is_alive, ping};

/// What the project's call graph is for somebody who looks for the first time.
fn fresh(rig: &Rig) -> String {
    let _ = fs::remove_dir_all(rig.project.join(".tldr"));
    rig.tldr(&["calls"]).ok().stdout
}

/// A program of so many files that looking at it takes a while.
fn furnish(rig: &Rig, files: usize) {
    for number in 0..files {
        let body: String = (0..20)
            .map(|part| {
                format!("def f{number}_{part}(x):\n    return f{}_{part}(x)\n\n", (number + 1) % files)
            })
            .collect();
        rig.write(&format!("m{number}.py"), &format!("from m{} import *\n\n{body}", (number + 1) % files));
    }
    rig.write(".tldrignore", "*.log\n");
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_that_stops_the_next() {
    let rig = Rig::new();
    furnish(&rig, 25);
    let expected = fresh(&rig);
    // It indexes, answers, is told of files, writes down what it knows, and ends.
    let script = "\"$1\" daemon start --foreground & for n in 1 2; do \"$1\" calls >/dev/null; touch m$n.py; \
                  \"$1\" daemon notify m$n.py >/dev/null; done; \"$1\" daemon stop >/dev/null; wait";
    Crash::new(8).points(12).run(
        |_| {
            let mut command = rig.home.command("sh");
            command.args(["-c", script, "sh"]).arg(bin("tldr")).current_dir(&rig.project);
            command
        },
        |attempt| {
            // The group is dead; whoever started in it may still be on its way out.
            assert!(until(PATIENCE, || !rig.runs()), "{}", attempt.output.transcript());
            assert_eq!(rig.tldr(&["calls"]).ok().stdout, expected);
            rig.tldr(&["daemon", "start"]).ok();
            assert_eq!(rig.tldr(&["calls"]).ok().stdout, expected);
            rig.tldr(&["daemon", "stop"]).ok();
        },
    );
}

#[test]
fn one_that_is_on_its_way_out_is_waited_for() {
    let rig = Rig::served();
    let place = rig.named("pid");
    rig.tldr(&["daemon", "stop"]).ok();
    // As a killed one has it until the kernel is done with it: the lock, and nobody who listens.
    let dying = store::lock::try_acquire(&place, "tldr").unwrap();
    thread::scope(|scope| {
        let start = scope.spawn(|| rig.tldr(&["daemon", "start"]));
        // Long enough for one that does not wait.
        let _ = until(Duration::from_millis(300), || start.is_finished());
        drop(dying);
        start.join().unwrap().ok();
    });
    assert!(rig.runs());
}

#[test]
fn a_cache_of_another_time_is_as_good_as_none() {
    let rig = Rig::new();
    rig.write(".tldrignore", "*.log\n");
    let expected = fresh(&rig);
    rig.tldr(&["warm", "."]).ok();
    let facts = rig.project.join(".tldr/cache/facts.bin");
    let whole = fs::read(&facts).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        bytes
    };
    let newer = [b"tldrix\x00\xff".as_slice(), &whole[8..]].concat();
    let cases = [
        newer,
        whole[..whole.len() / 2].to_vec(),
        flipped(whole.len() / 2),
        flipped(20),
        Vec::new(),
        vec![0xff; 99],
    ];
    for bytes in cases {
        fs::write(&facts, &bytes).unwrap();
        fs::write(rig.project.join(".tldr/cache/salsa_stats.json"), &bytes).unwrap();
        assert_eq!(rig.tldr(&["calls"]).ok().stdout, expected);
        rig.tldr(&["daemon", "start"]).ok();
        assert_eq!(rig.tldr(&["calls"]).ok().stdout, expected);
        rig.tldr(&["daemon", "stop"]).ok();
        assert_ne!(fs::read(&facts).unwrap(), bytes, "what cannot be used is written anew");
    }
}

#[test]
fn a_cache_that_is_no_directory_is_told_and_in_nobodys_way() {
    let rig = Rig::new();
    rig.write(".tldr", "somebody's file");
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&json!({"cmd": "calls"}))["status"], "ok");
    let warmed = rig.tldr(&["warm", "."]);
    assert_eq!(warmed.code, 1);
    assert!(warmed.stdout.contains("cannot write"), "{}", warmed.transcript());
    let pid = rig.pid();
    rig.tldr(&["daemon", "stop"]).ok();
    assert!(!is_alive(pid));
    assert_eq!(fs::read_to_string(rig.project.join(".tldr")).unwrap(), "somebody's file");
}

#[test]
fn a_project_that_moves_takes_no_daemon_along_and_another_in_its_place_is_its_own() {
    let rig = Rig::served();
    assert!(until(PATIENCE, || rig.status()["status"] == "ready"));
    let pid = rig.pid();
    let moved = rig.home.path().join("moved");
    fs::rename(&rig.project, &moved).unwrap();
    assert!(until(PATIENCE, || !is_alive(pid)));
    assert!(!rig.project.exists());
    // The other one is there before anybody could notice.
    let stay = Rig::served();
    assert!(until(PATIENCE, || stay.status()["status"] == "ready"));
    fs::rename(&stay.project, stay.home.path().join("moved")).unwrap();
    stay.write("other.py", "def other():\n    return 1\n");
    if stay.runs() {
        assert_eq!(stay.ask(&json!({"cmd": "extract", "file": "other.py"}))["status"], "ok");
        assert_eq!(stay.ask(&json!({"cmd": "extract", "file": "lib.py"}))["status"], "error");
        stay.write("other.py", "def another():\n    return 1\n");
        assert!(stay.ask(&json!({"cmd": "structure", "path": "."})).to_string().contains("another"));
    }
}

#[test]
fn a_clock_that_jumps_ends_nothing_and_spoils_no_count() {
    let rig = Rig::new();
    rig.write(".tldr/config.json", r#"{"idle_timeout_secs": 600}"#);
    let clock = rig.home.clock();
    let now = clock.now_ms();
    rig.tldr(&["daemon", "start"]).ok();
    let mut talk = rig.connect();
    for (number, time) in [now + 400 * 86_400_000, 0, now, -1, now + 1].into_iter().enumerate() {
        clock.set(time);
        rig.write("lib.py", &format!("def helper_{number}():\n    return 1\n"));
        let said = talk.ask(&json!({"cmd": "extract", "file": "lib.py", "session": "s"}));
        assert!(said.to_string().contains(&format!("helper_{number}")), "{said}");
        assert!(rig.status()["uptime"].as_f64().unwrap() >= 0.0);
    }
    rig.tldr(&["daemon", "stop"]).ok();
    let stats: Value = serde_json::from_str(&rig.tldr(&["stats"]).ok().stdout).unwrap();
    assert_eq!(stats["total_invocations"], 5);
}

#[test]
fn a_full_disk_costs_what_would_be_kept_and_no_answer() {
    hostile::small_disk(2 << 20, |disk| {
        let home = Home::new();
        let project = disk.join("p");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("lib.py"), "def helper():\n    return 1\n").unwrap();
        let tldr = |args: &[&str]| {
            let mut command = home.command(bin("tldr"));
            // What all projects asked is kept on the same disk.
            home.run(command.args(args).env("HOME", disk).current_dir(&project))
        };
        tldr(&["daemon", "start"]).ok();
        let full = fs::write(disk.join("filler"), vec![0; 4 << 20]);
        assert!(full.is_err());
        for _ in 0..12 {
            assert_eq!(tldr(&["extract", "lib.py"]).code, 0);
        }
        let warmed = tldr(&["warm", "."]);
        assert_eq!(warmed.code, 1, "{}", warmed.transcript());
        assert!(warmed.stdout.contains("cannot write"), "{}", warmed.transcript());
        fs::remove_file(disk.join("filler")).unwrap();
        assert_eq!(tldr(&["warm", "."]).code, 0);
        tldr(&["daemon", "stop"]).ok();
        let stats: Value = serde_json::from_str(&tldr(&["stats"]).ok().stdout).unwrap();
        assert_eq!(stats["total_invocations"], 14, "what could not be written was not forgotten");
    });
}

#[test]
fn a_project_whose_disk_is_taken_away_is_an_empty_one() {
    hostile::small_disk(2 << 20, |disk| {
        let home = Home::new();
        fs::write(disk.join("lib.py"), "def helper():\n    return 1\n").unwrap();
        fs::write(disk.join(".tldrignore"), "*.log\n").unwrap();
        let tldr = |args: &[&str]| {
            home.run(home.command(bin("tldr")).args(args).current_dir(disk.parent().unwrap()))
        };
        let place = disk.to_str().unwrap();
        tldr(&["daemon", "start", "--project", place]).ok();
        assert!(tldr(&["tree", "--project", place]).ok().stdout.contains("lib.py"));
        let gone = std::process::Command::new("umount").arg("--lazy").arg(disk).status().unwrap();
        assert!(gone.success());
        let said = tldr(&["tree", "--project", place]).ok().stdout;
        assert!(!said.contains("lib.py"), "{said}");
        tldr(&["daemon", "stop", "--project", place]).ok();
        assert_eq!(tldr(&["tree", "--project", place]).ok().stdout, said);
    });
}

/// A disk that is put in the place of a directory: the kernel tells nobody who watches that directory, and whoever asks
/// about single files that are known does not learn of new ones.
#[test]
fn a_look_at_everything_in_the_background_sees_what_nobody_was_told_of() {
    hostile::small_disk(2 << 20, |disk| {
        let home = Home::new();
        let write = |path: &str, text: &str| {
            let path = disk.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("p/sub/lib.py", "def helper():\n    return 1\n");
        write("p/.tldrignore", "*.log\n");
        write("p/.tldr/config.json", r#"{"auto_reindex_threshold": 2}"#);
        write("other/new.py", "def other():\n    return 1\n");
        write("other/newer.py", "def another():\n    return 1\n");
        let tldr = |args: &[&str]| {
            let output = home.run(home.command(bin("tldr")).args(args).current_dir(disk.join("p"))).ok();
            serde_json::from_str::<Value>(&output.stdout).unwrap()
        };
        tldr(&["daemon", "start"]);
        assert!(until(PATIENCE, || tldr(&["daemon", "status"])["status"] == "ready"));
        assert_eq!(tldr(&["daemon", "status"])["files"], 2);
        let mut mount = std::process::Command::new("mount");
        assert!(
            mount.arg("--bind").arg(disk.join("other")).arg(disk.join("p/sub")).status().unwrap().success()
        );
        assert_eq!(tldr(&["daemon", "notify", "one.py"])["reindex_triggered"], false);
        assert_eq!(tldr(&["daemon", "notify", "two.py"])["reindex_triggered"], true);
        // Nobody asks anything: what is found is found in the background.
        assert!(until(PATIENCE, || tldr(&["daemon", "status"])["files"] == 3));
        assert!(until(PATIENCE, || tldr(&["daemon", "status"])["status"] == "ready"));
        let said = tldr(&["structure", "."]).to_string();
        assert!(said.contains("another") && !said.contains("helper"), "{said}");
        tldr(&["daemon", "stop"]);
    });
}

/// Somebody who answers every line with the same words.
fn stranger(socket: &Path, says: &'static str) -> thread::JoinHandle<()> {
    let listener = UnixListener::bind(socket).unwrap();
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600)).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            let _ = stream.read_line(&mut line);
            if line.contains("goodbye") {
                break;
            }
            let _ = stream.get_mut().write_all(says.as_bytes());
        }
    })
}

#[test]
fn nobody_but_the_daemon_of_this_project_is_asked_or_ended() {
    let rig = Rig::new();
    rig.tldr(&["daemon", "start"]).ok();
    let socket = rig.named("sock");
    rig.tldr(&["daemon", "stop"]).ok();
    for says in [
        "{\"status\":\"ok\",\"project\":\"/somewhere/else\"}\n",
        "{\"status\":\"ok\",\"message\":\"pong\"}\n",
        "[1,2]\n",
        "\u{0}\n",
    ] {
        let other = stranger(&socket, says);
        let tree = rig.tldr(&["tree", "-v"]).ok();
        assert!(tree.stderr.starts_with("answered here"), "{says}: {}", tree.stderr);
        for args in [&["daemon", "stop"][..], &["daemon", "status"], &["daemon", "query", "ping"]] {
            let said = rig.tldr(args);
            assert_eq!(said.code, 1, "{says}: {}", said.transcript());
            assert!(said.stderr.starts_with("error: cannot ask the daemon: "), "{}", said.stderr);
        }
        assert_eq!(rig.tldr(&["daemon", "notify", "app.py"]).ok().stdout, "");
        assert_eq!(rig.tldr(&["daemon", "start"]).code, 1);
        std::os::unix::net::UnixStream::connect(&socket).unwrap().write_all(b"goodbye\n").unwrap();
        other.join().unwrap();
        fs::remove_file(&socket).unwrap();
    }
}

#[test]
fn what_is_no_file_or_another_users_in_the_place_of_the_lock_is_told() {
    let rig = Rig::served();
    let pid_file = rig.named("pid");
    rig.tldr(&["daemon", "stop"]).ok();
    fs::remove_file(&pid_file).unwrap();
    fs::create_dir(&pid_file).unwrap();
    let said = rig.tldr(&["daemon", "start"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("failed to acquire PID file lock"), "{}", said.stderr);
    fs::remove_dir(&pid_file).unwrap();
    rig.tldr(&["daemon", "start"]).ok();
    assert_eq!(rig.ask(&ping())["status"], "ok");
}

#[test]
fn a_pipe_that_looks_like_a_program_is_not_waited_for() {
    let rig = Rig::served();
    let pipe = rig.project.join("pipe.py");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    for question in [
        json!({"cmd": "extract", "file": "pipe.py"}),
        json!({"cmd": "cfg", "file": "pipe.py", "function": "f"}),
    ] {
        assert_eq!(rig.ask(&question)["status"], "error");
    }
    rig.tldr(&["daemon", "stop"]).ok();
    for words in [&["extract", "pipe.py"][..], &["cfg", "pipe.py", "f"]] {
        assert_eq!(rig.tldr(words).code, 1, "{words:?}");
    }
}

#[test]
fn a_socket_of_another_user_is_not_talked_to() {
    hostile::require_root("give a socket away");
    let rig = Rig::served();
    let socket = rig.named("sock");
    hostile::give_away(&socket);
    let said = rig.tldr(&["tree", "-v"]).ok();
    assert!(said.stderr.starts_with("answered here"), "{}", said.stderr);
    assert_eq!(rig.tldr(&["daemon", "stop"]).code, 1);
    rig.kill();
}
