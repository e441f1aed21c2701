//! Rows of the specification that are told to people or go wrong seldom: each once, as it is typed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};
use testkit::{PATIENCE, hostile, until};

use crate::rig::{Rig, is_alive};

#[test]
fn an_edit_is_counted_as_what_it_makes_stale_and_what_is_made_again() {
    let rig = Rig::served();
    let impact = json!({"cmd": "impact", "func": "helper"});
    rig.ask(&impact);
    let before = rig.status()["salsa_stats"].clone();
    assert_eq!((&before["invalidations"], &before["recomputations"]), (&json!(0), &json!(0)));
    rig.write("lib.py", "def other():\n    return 2\n\n\ndef helper():\n    return other()\n");
    rig.ask(&impact);
    let after = rig.status()["salsa_stats"].clone();
    // The file itself and the answer, at least.
    assert!(after["invalidations"].as_u64() >= Some(2), "{after}");
    assert_eq!(after["invalidations"], after["recomputations"]);
    rig.ask(&impact);
    let again = rig.status()["salsa_stats"].clone();
    assert_eq!(again["hits"].as_u64().unwrap(), after["hits"].as_u64().unwrap() + 1);
    assert_eq!(again["misses"], after["misses"]);
}

#[test]
fn the_cache_is_told_to_people_with_and_without_anything_in_it() {
    let rig = Rig::new();
    let text = |what: &str| rig.tldr(&["cache", what, "--format", "text"]).ok().stdout;
    assert_eq!(
        (text("stats"), text("clear")),
        ("No cache statistics found\n".into(), "No cache directory found\n".into())
    );
    rig.write(
        ".tldr/cache/salsa_stats.json",
        r#"{"hits":1234,"misses":56,"invalidations":10,"recomputations":8}"#,
    );
    rig.write(".tldr/cache/old.pkl", &"x".repeat(1 << 20));
    assert_eq!(
        text("stats"),
        "Cache Statistics\n================\nSalsa Cache:\n  Hits: 1,234\n  Misses: 56\n  Hit Rate: 95.66%\n  \
         Invalidations: 10\n  Recomputations: 8\nCache Files:\n  Count: 1 files\n  Size: 1.0 MB\n"
    );
    assert_eq!(text("clear"), "Cache cleared: 2 file(s) removed\n");
}

#[test]
fn warming_one_language_leaves_the_others_out_and_one_that_is_not_known_is_an_error() {
    let rig = Rig::new();
    rig.write("a.ts", "export function f() { return g(); }\nfunction g() { return 1; }\n");
    let warmed = |args: &[&str]| -> Value { serde_json::from_str(&rig.tldr(args).stdout).unwrap() };
    assert_eq!(warmed(&["warm", "."])["languages"], json!(["python", "typescript"]));
    let python = warmed(&["warm", ".", "-l", "python"]);
    assert_eq!((&python["languages"], &python["files"]), (&json!(["python"]), &json!(2)));
    assert_eq!(rig.tldr(&["warm", ".", "--lang", "cobol"]).code, 1);
}

#[test]
fn a_file_of_another_project_is_nobodys_change() {
    let rig = Rig::served();
    for file in ["/etc/passwd", "../elsewhere.py"] {
        assert_eq!(
            rig.tldr(&["daemon", "notify", file, "--format", "text"]).ok().stdout,
            "Tracked: 0/20 files\n"
        );
    }
    assert_eq!(
        rig.tldr(&["daemon", "notify", "lib.py", "--format", "text"]).ok().stdout,
        "Tracked: 1/20 files\n"
    );
}

/// Five seconds, as the specification says; somebody who takes calls and never speaks is waited for no longer.
#[test]
fn who_never_speaks_in_the_daemons_place_is_given_up() {
    let rig = Rig::served();
    let socket = rig.named("sock");
    rig.tldr(&["daemon", "stop"]).ok();
    let _silent = UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    let said = rig.tldr(&["daemon", "stop"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.starts_with("error: cannot ask the daemon: "), "{}", said.stderr);
    fs::remove_file(&socket).unwrap();
}

#[test]
fn two_users_of_one_project_do_not_meet() {
    hostile::require_root("be somebody else");
    let rig = Rig::new();
    let tldr = rig.home.install("tldr");
    let theirs = rig.home.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    hostile::give_away(&theirs);
    for folder in [rig.home.path().to_owned(), rig.project.clone(), rig.home.path().join("bin")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(rig.home.temp(), fs::Permissions::from_mode(0o1777)).unwrap();
    let other = |args: &[&str]| {
        let mut command = rig.home.command(&tldr);
        for name in ["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, &theirs);
        }
        command.args(args).current_dir(&rig.project);
        rig.home.run(hostile::as_other_uid(&mut command))
    };
    rig.tldr(&["daemon", "start"]).ok();
    let pid = rig.pid();
    for args in [&["daemon", "status"][..], &["daemon", "stop"], &["daemon", "start"]] {
        let said = other(args);
        assert_eq!(said.code, 1, "{}", said.transcript());
        assert!(said.stderr.contains("belongs to user"), "{}", said.stderr);
    }
    let tree = other(&["tree", "-v"]).ok();
    assert!(tree.stderr.starts_with("answered here"), "{}", tree.stderr);
    assert!(is_alive(pid) && rig.runs());
    rig.tldr(&["daemon", "stop"]).ok();
    fs::remove_file(rig.named("pid")).unwrap();
    // In a project that they may only read they are served as well, and nothing is kept.
    let started: Value = serde_json::from_str(&other(&["daemon", "start"]).ok().stdout).unwrap();
    assert!(other(&["calls"]).ok().stdout.contains("helper"));
    other(&["daemon", "stop"]).ok();
    let pid = u32::try_from(started["pid"].as_u64().unwrap()).unwrap();
    assert!(until(PATIENCE, || !is_alive(pid)));
}
