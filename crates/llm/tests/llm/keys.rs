//! Keys from the places where people keep them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use kit::invocation::Environment;
use llm::key::{KeyError, Obtained};
use llm::{Key, KeySource};
use testkit::Home;

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn obtain(source: &KeySource, home: &Home) -> Result<Obtained, KeyError> {
    let env = Environment::of([("MY_KEY", "from-env"), ("PATH", "/usr/bin:/bin"), ("EMPTY", "")]);
    source.obtain(&env, home.path())
}

fn kept(home: &Home, text: &str, mode: u32) -> PathBuf {
    home.write("key", text);
    let path = home.path().join("key");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_key_comes_from_a_variable_a_file_or_a_command() {
    let home = Home::new();
    let got = |source| obtain(&source, &home).unwrap().key;
    assert_eq!(got(KeySource::None), None);
    assert_eq!(got(KeySource::Known(key("k"))), Some(key("k")));
    assert_eq!(got(KeySource::Variable("MY_KEY".to_owned())), Some(key("from-env")));
    let path = kept(&home, "\n  from-file  \nsecond line", 0o600);
    assert_eq!(got(KeySource::File(path)), Some(key("from-file")));
    assert_eq!(got(KeySource::File(PathBuf::from("~/key"))), Some(key("from-file")));
    let command = "printf '%s\\nlogin: me\\n' \"$MY_KEY\"".to_owned();
    assert_eq!(got(KeySource::Command(command)), Some(key("from-env")));
}

#[test]
fn a_file_that_others_can_read_gets_a_warning() {
    let home = Home::new();
    let path = kept(&home, "k", 0o640);
    let obtained = obtain(&KeySource::File(path.clone()), &home).unwrap();
    assert_eq!(obtained.key, Some(key("k")));
    let warning = obtained.warning.unwrap();
    assert!(
        warning.contains("(mode 0640)") && warning.contains(&format!("chmod 600 {}", path.display())),
        "{warning}"
    );
    kept(&home, "k", 0o600);
    assert_eq!(obtain(&KeySource::File(path), &home).unwrap().warning, None);
}

#[test]
fn what_goes_wrong_is_said_without_the_key() {
    let home = Home::new();
    let failed = |source| obtain(&source, &home).unwrap_err().to_string();
    assert_eq!(failed(KeySource::Variable("NONE".to_owned())), "the variable NONE is not set");
    assert_eq!(failed(KeySource::Variable("EMPTY".to_owned())), "the variable EMPTY is not set");
    assert!(failed(KeySource::File(home.path().join("absent"))).contains("cannot read the key from"));
    assert!(failed(KeySource::File(home.path().to_owned())).ends_with("it is not a file"));
    assert_eq!(failed(KeySource::File(kept(&home, " \n", 0o600))), "the key is empty");
    let spoken = failed(KeySource::Command("echo sk-secret; echo locked >&2; exit 3".to_owned()));
    assert_eq!(spoken, "the command for the key ended with 3: locked");
    let odd = obtain(&KeySource::File(kept(&home, "sk\u{1b}secret", 0o600)), &home).unwrap_err();
    assert_eq!(odd, KeyError::Unprintable);
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let home = Home::new();
    let path = home.path().join("pipe");
    let made = home.command("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    assert!(obtain(&KeySource::File(path), &home).is_err());
}

#[test]
fn a_key_does_not_show_itself() {
    assert_eq!(format!("{:?}", key("sk-secret")), "Key(…)");
}
