//! Homes that are missing, foreign, open or not homes at all: a clear error, and nothing written.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use kit::Places;
use kit::places::{SharedEntry, private_dir, shared_entry};
use testkit::Home;

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn resolve(variables: &[(&str, &Path)]) -> Places {
    let lookup =
        |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
    Places::resolve(lookup, None, uid()).unwrap()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// The words of the refusal, with the home's own path taken out.
fn refused(home: &Home, path: &Path) -> String {
    private_dir(path, uid()).unwrap_err().to_string().replace(home.path().to_str().unwrap(), "[HOME]")
}

#[test]
fn everything_follows_from_home() {
    let places = resolve(&[("HOME", Path::new("/h"))]);
    assert_eq!(places.data, Path::new("/h/.local/share"));
    assert_eq!(places.config, Path::new("/h/.config"));
    assert_eq!(places.state, Path::new("/h/.local/state"));
    assert_eq!(places.cache, Path::new("/h/.cache"));
    assert_eq!(places.temp, Path::new("/tmp"));
    assert_eq!(places.runtime_dir("clai"), PathBuf::from(format!("/tmp/clai-{}", uid())));
    assert_eq!(places.tilde(Path::new("/h/x y")), "~/x y");
    assert_eq!(places.tilde(Path::new("/hx")), "/hx");
}

#[test]
fn a_missing_home_is_an_error_with_a_hint_unless_the_user_database_knows_one() {
    let error = Places::resolve(|_| None, None, 1).unwrap_err();
    assert_eq!(error.to_string(), "HOME is not set and the user database has no home for us");
    assert_eq!(error.hint().as_deref(), Some("`export HOME=/path/to/your/home`"));
    let known = Places::resolve(|_| None, Some("/known".into()), 1).unwrap();
    assert_eq!(known.home, Path::new("/known"));
}

#[test]
fn a_relative_home_is_refused_even_if_the_user_database_knows_a_better_one() {
    let error = Places::resolve(|_| Some("rel".into()), Some("/known".into()), 1).unwrap_err();
    assert_eq!(error.to_string(), "HOME is `rel`, which is not an absolute path");
}

#[test]
fn a_path_with_what_cannot_be_typed_is_spelled_out() {
    let word = |text: &str| kit::places::shell_word(text.as_ref());
    assert_eq!(word("/a/b-c"), "/a/b-c");
    assert_eq!(word("it's"), "'it'\\''s'");
    assert_eq!(word("a\n'b\u{1b}é"), "$'a\\x0a\\'b\\x1bé'");
    assert_eq!(word(""), "''");
}

#[test]
fn relative_variables_are_not_followed_and_said_so() {
    let places = resolve(&[("HOME", Path::new("/h")), ("XDG_DATA_HOME", Path::new("share"))]);
    assert_eq!(places.data, Path::new("/h/.local/share"));
    let (name, error) = &places.ignored[0];
    assert_eq!(
        (name.as_str(), error.to_string().as_str()),
        ("XDG_DATA_HOME", "`share` is not an absolute path")
    );
}

#[test]
fn a_runtime_directory_must_be_private_and_ours() {
    let home = Home::new();
    let runtime = home.path().join("my run");
    fs::create_dir(&runtime).unwrap();
    let given: &[(&str, &Path)] = &[("HOME", home.path()), ("XDG_RUNTIME_DIR", &runtime)];
    mode(&runtime, 0o700);
    assert_eq!(resolve(given).runtime_dir("clai"), runtime.join("clai"));
    mode(&runtime, 0o755);
    assert_eq!(resolve(given).runtime, None);
    assert_eq!(resolve(given).ignored.len(), 1);
    mode(&runtime, 0o700);
    testkit::hostile::give_away(&runtime);
    let places = resolve(given);
    assert_eq!(places.runtime_dir("clai"), PathBuf::from(format!("/tmp/clai-{}", uid())));
    assert!(places.ignored[0].1.to_string().contains("belongs to user 65534"), "{:?}", places.ignored);
}

#[test]
fn a_private_directory_is_made_with_everything_above_it() {
    let home = Home::new();
    let path = home.path().join("new/.local/share/drip");
    private_dir(&path, uid()).unwrap();
    private_dir(&path, uid()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(home.path().join("new")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_directory_that_others_can_enter_is_refused_with_the_command_that_mends_it() {
    let home = Home::new();
    let path = home.path().join("it's open");
    fs::create_dir(&path).unwrap();
    mode(&path, 0o750);
    assert_eq!(refused(&home, &path), "`[HOME]/it's open` is open to other users (mode 0750)");
    let hint = private_dir(&path, uid()).unwrap_err().hint().unwrap();
    assert!(hint.contains("`chmod 700 '") && hint.contains("it'\\''s open'`"), "{hint}");
    mode(&path, 0o700);
    private_dir(&path, uid()).unwrap();
}

#[test]
fn a_home_that_is_a_file_a_link_or_somebody_elses_is_refused_and_left_alone() {
    let home = Home::new();
    let file = home.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(refused(&home, &file.join(".local/share")), "`[HOME]/file` is not a directory");
    assert_eq!(refused(&home, &file), "`[HOME]/file` is not a directory");

    let foreign = home.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    testkit::hostile::give_away(&foreign);
    let link = home.path().join("link");
    symlink(&foreign, &link).unwrap();
    for path in [foreign.join(".local/share/x"), link.join(".local/share/x")] {
        assert!(refused(&home, &path).contains("belongs to user 65534, and we are user 0"), "{path:?}");
    }
    assert_eq!(refused(&home, &link), "`[HOME]/link` is a symbolic link");
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 0);
}

#[test]
fn a_directory_where_strangers_may_rename_is_no_place_for_ours() {
    let home = Home::new();
    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    mode(&open, 0o777);
    assert_eq!(refused(&home, &open.join("x")), "`[HOME]/open` is open to other users (mode 0777)");
    mode(&open, 0o1777);
    private_dir(&open.join("x"), uid()).unwrap();
    // Nor is anything below it, however closed.
    let closed = open.join("closed");
    fs::create_dir(&closed).unwrap();
    mode(&closed, 0o700);
    mode(&open, 0o777);
    assert_eq!(refused(&home, &closed.join("y")), "`[HOME]/open` is open to other users (mode 0777)");
}

#[test]
fn a_directory_open_to_another_group_is_no_place_for_ours() {
    let home = Home::new();
    let team = home.path().join("team");
    fs::create_dir(&team).unwrap();
    std::os::unix::fs::chown(&team, None, Some(100)).unwrap();
    mode(&team, 0o770);
    assert_eq!(refused(&home, &team.join("x")), "`[HOME]/team` is open to other users (mode 0770)");
    std::os::unix::fs::chown(&team, None, Some(rustix::process::getegid().as_raw())).unwrap();
    mode(&team, 0o770);
    private_dir(&team.join("x"), uid()).unwrap();
}

#[test]
fn a_slash_at_the_end_does_not_hide_a_link() {
    let home = Home::new();
    private_dir(&home.path().join("real"), uid()).unwrap();
    symlink(home.path().join("real"), home.path().join("link")).unwrap();
    assert!(refused(&home, &home.path().join("link/")).ends_with("is a symbolic link"));
}

#[test]
fn a_symlink_loop_is_an_error() {
    let home = Home::new();
    let (a, b) = (home.path().join("a"), home.path().join("b"));
    symlink(&a, &b).unwrap();
    symlink(&b, &a).unwrap();
    assert!(refused(&home, &a.join("x")).contains("[HOME]/a"));
}

#[test]
fn an_entry_of_a_shared_directory_is_absent_or_ours() {
    let home = Home::new();
    let path = home.path().join("tldr-1.sock");
    assert_eq!(shared_entry(&path, uid()).unwrap(), SharedEntry::Absent);
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert_eq!(shared_entry(&path, uid()).unwrap(), SharedEntry::Socket);
    drop(listener);
    testkit::hostile::give_away(&path);
    assert!(shared_entry(&path, uid()).unwrap_err().to_string().contains("belongs to user 65534"));
    let link = home.path().join("link");
    symlink(home.path().join("nowhere"), &link).unwrap();
    assert!(shared_entry(&link, uid()).unwrap_err().to_string().ends_with("is a symbolic link"));
}

#[test]
fn a_log_has_one_line_per_record_is_private_and_rotates_once() {
    let home = Home::new();
    let places = resolve(&[("HOME", home.path())]);
    let log = kit::log::Log::of("drip", &places);
    assert_eq!(log.last(5).unwrap(), Vec::<String>::new());
    log.record(7, "hook failed", &[("cause", "a \"quoted\"\nline")]).unwrap();
    let wanted = r#"{"ts":7,"event":"hook failed","cause":"a \"quoted\"\nline"}"#;
    assert_eq!(log.last(5).unwrap(), [wanted]);
    assert_eq!(fs::metadata(log.path()).unwrap().permissions().mode() & 0o777, 0o600);
    let long = "x".repeat(600_000);
    for number in 0..5 {
        log.record(number, "long", &[("text", &long)]).unwrap();
    }
    let folder = fs::read_dir(log.path().parent().unwrap()).unwrap().flatten();
    let sizes: Vec<u64> = folder.map(|entry| entry.metadata().unwrap().len()).collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes.iter().all(|size| *size < 2 << 20), "{sizes:?}");
}
