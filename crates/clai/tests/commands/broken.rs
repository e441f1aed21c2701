//! Homes, databases and sockets that are not as they should be: a clear message, and nothing lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use insta::assert_snapshot;
use store::sqlite::rusqlite::Connection;
use testkit::{bin, hostile};

use crate::person::Person;

#[test]
fn a_newer_database_is_refused_untouched() {
    let person = Person::new();
    person.start();
    person.ran("make");
    person.says(&["daemon", "stop"]);
    Connection::open(person.database()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(person.database()).unwrap();
    for args in [&["history"][..], &["stats"], &["replay"]] {
        let said = person.clai(args);
        assert!(said.code == 1 && said.stderr.contains("has schema 99"), "{}", said.transcript());
        assert!(said.stderr.contains("hint: `cargo xtask install`"), "{}", said.transcript());
    }
    let said = person.clai(&["suggest"]);
    assert!(said.code == 1 && said.stderr.contains("the daemon did not start"), "{}", said.transcript());
    assert!(said.stderr.contains("has schema 99"), "{}", said.transcript());
    assert_eq!(fs::read(person.database()).unwrap(), before);
}

#[test]
fn a_directory_that_others_can_enter_is_refused_with_the_command_that_mends_it() {
    let person = Person::new();
    fs::create_dir(person.home.data().join("clai")).unwrap();
    fs::set_permissions(person.home.data().join("clai"), Permissions::from_mode(0o755)).unwrap();
    assert_snapshot!(person.clai(&["daemon", "start"]).transcript(), @r"
    --- stderr
    error: the daemon cannot be started: `[HOME]/.local/share/clai` is open to other users (mode 0755)
    hint: look who else wrote there, then `chmod 700 [HOME]/.local/share/clai`
    [exit status: 1]
    ");
}

#[test]
fn somebody_elses_socket_is_never_spoken_to() {
    let person = Person::new();
    let folder = person.home.runtime().join("clai");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(person.socket()).unwrap();
    listener.set_nonblocking(true).unwrap();
    hostile::give_away(person.socket());
    let said = person.clai(&["status"]);
    assert!(said.code == 1 && said.stderr.contains("belongs to user"), "{}", said.transcript());
    assert!(listener.accept().is_err(), "nobody called");
}

#[test]
fn a_home_that_leads_elsewhere_or_is_a_file_is_told() {
    let person = Person::new();
    let file = person.home.write("file", "mine");
    let foreign = person.home.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    hostile::give_away(&foreign);
    let link = person.home.path().join("link");
    symlink(&foreign, &link).unwrap();
    for (home, words) in [(&file, "is not a directory"), (&link, "belongs to user")] {
        let mut command = person.command(&["daemon", "start"]);
        for name in ["DATA_HOME", "CONFIG_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"] {
            command.env_remove(format!("XDG_{name}"));
        }
        let said = person.home.run(command.env("HOME", home));
        assert!(said.code == 1 && said.stderr.contains(words), "{}", said.transcript());
    }
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 0);
}

#[test]
fn a_configuration_that_is_not_understood_stops_before_anything_is_done() {
    let person = Person::new();
    person.home.write(person.home.config().join("clai/config.toml"), "secrets = \"of\"\n");
    for args in [&["init", "bash"][..], &["config"], &["import", "bash", "/dev/null"]] {
        let said = person.clai(args);
        assert!(said.code == 2 && said.stderr.contains("`secrets` is \"of\""), "{}", said.transcript());
        assert!(said.stdout.is_empty(), "{}", said.stdout);
    }
}

#[test]
fn bytes_that_are_no_text_are_taken_as_they_can_be() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let person = Person::new();
    person.start();
    person.ran("echo a");
    let mut command = person.home.command(bin("clai"));
    command.arg("suggest").arg("--prefix").arg(OsStr::from_bytes(b"echo \xff"));
    assert!(person.home.run(&mut command).ok().stdout.starts_with("nothing to suggest yet"));
    let mut command = person.home.command(bin("clai"));
    let said = person.home.run(command.arg("search").arg(OsStr::from_bytes(b"\xff")));
    assert_eq!(said.code, 2, "{}", said.transcript());
}
