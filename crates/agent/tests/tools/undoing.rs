//! What files were before, and what cannot be brought back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use agent::undo::{Restored, Undo, tidy};
use kit::process::Cancel;
use llm::CallId;
use serde_json::json;

use super::shop::Shop;

fn undo(shop: &Shop, calls: &[&str]) -> Restored {
    let calls: BTreeSet<CallId> = calls.iter().map(|call| CallId((*call).to_owned())).collect();
    shop.workshop.undo().unwrap().restore(&calls).unwrap()
}

fn names(shop: &Shop, restored: &Restored) -> Vec<String> {
    let root = shop.workshop.project.root();
    restored.restored.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
}

#[test]
fn edits_are_taken_back_to_the_byte() {
    let mut shop = Shop::new();
    let before = "\u{feff}one\r\ntwo";
    let path = shop.write("a", before);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    shop.ok("edit_file", json!({"path": "a", "old_str": "one", "new_str": "1"}));
    shop.ok("edit_file", json!({"path": "a", "old_str": "two", "new_str": "2"}));
    shop.ok("edit_file", json!({"path": "deep/new", "old_str": "", "new_str": "x"}));
    let restored = undo(&shop, &["call-2", "call-3"]);
    assert_eq!(
        (names(&shop, &restored), &restored.not),
        (vec!["deep/new".to_owned(), "a".to_owned()], &vec![])
    );
    assert_eq!(shop.text("a"), "\u{feff}1\r\ntwo");
    assert!(!shop.file("deep/new").exists());
    assert_eq!(names(&shop, &undo(&shop, &["call-1"])), ["a"]);
    assert_eq!(shop.text("a"), before);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
    assert_eq!(undo(&shop, &["call-1", "call-9"]), Restored::default(), "it is as it was");
}

#[test]
fn what_a_command_did_is_taken_back() {
    let mut shop = Shop::new();
    shop.write("changed", "old\n");
    shop.write("deleted", "kept\n");
    shop.write("untouched", "same\n");
    shop.write("ignored.log", "old\n");
    shop.write(".gitignore", "*.log\n");
    shop.write("large", "x".repeat((1 << 20) + 1));
    let command = "echo new > changed; rm deleted; mkdir d; echo made > d/made; echo more >> large; echo new > ignored.log";
    shop.ok("bash", json!({"command": command}));
    let restored = undo(&shop, &["call-1"]);
    let mut found = names(&shop, &restored);
    found.sort();
    assert_eq!(found, ["changed", "d", "d/made", "deleted"]);
    assert!(restored.commands);
    let [(large, why)] = restored.not.as_slice() else { panic!("{restored:?}") };
    assert!(large.ends_with("large"));
    assert_eq!(why, "its old version was not kept: it is larger than 1 MB");
    assert_eq!((shop.text("changed").as_str(), shop.text("deleted").as_str()), ("old\n", "kept\n"));
    assert!(!shop.file("d/made").exists());
    assert_eq!(shop.text("ignored.log"), "new\n", "what git ignores is not kept");
}

/// A command that changes what git ignores lets files appear that were always there.
#[test]
fn a_file_that_was_only_ignored_before_is_never_taken_away() {
    let mut shop = Shop::new();
    shop.write(".gitignore", "*.env\n");
    shop.write("secret.env", "mine\n");
    shop.write("touched.env", "old\n");
    // Until what was just written is older than any clock is late.
    shop.ok("bash", json!({"command": "sleep 0.1"}));
    shop.ok("bash", json!({"command": "rm .gitignore; echo new > touched.env; echo made > made"}));
    let restored = undo(&shop, &["call-2"]);
    assert_eq!(names(&shop, &restored), [".gitignore"]);
    let not: Vec<String> =
        restored.not.iter().map(|(path, _)| path.file_name().unwrap().display().to_string()).collect();
    assert_eq!(not, ["touched.env", "made"], "what cannot be told apart is named");
    assert_eq!(
        (shop.text("secret.env"), shop.text("touched.env")),
        ("mine\n".to_owned(), "new\n".to_owned())
    );
    assert!(restored.not[0].1.contains("it was ignored, or not looked at, before the command"));
}

#[test]
fn what_a_command_moved_is_moved_back() {
    let mut shop = Shop::new();
    for name in ["a", "src/b", "src/deep/c"] {
        shop.write(name, format!("{name}\n"));
    }
    shop.ok("bash", json!({"command": "mv a z; mv src lib; echo more >> lib/b"}));
    let restored = undo(&shop, &["call-1"]);
    assert_eq!(restored.not, []);
    let files = |folder: &str| {
        fs::read_dir(shop.file(folder)).unwrap().flatten().filter(|it| it.path().is_file()).count()
    };
    assert_eq!(
        (shop.text("a"), shop.text("src/b"), shop.text("src/deep/c")),
        ("a\n".into(), "src/b\n".into(), "src/deep/c\n".into())
    );
    assert!(files(".") == 1 && !shop.file("lib").exists(), "and nowhere else");
}

#[test]
fn each_command_is_taken_back_for_itself() {
    let mut shop = Shop::new();
    shop.write("a", "0\n");
    for number in 1..=3 {
        shop.ok("bash", json!({"command": format!("echo {number} > a")}));
    }
    assert_eq!(names(&shop, &undo(&shop, &["call-3"])), ["a"]);
    assert_eq!(shop.text("a"), "2\n");
    // The third is long taken back, as it is when we died after it.
    let restored = undo(&shop, &["call-1", "call-2", "call-3"]);
    assert_eq!((names(&shop, &restored), &restored.not), (vec!["a".to_owned()], &vec![]));
    assert_eq!(shop.text("a"), "0\n");
}

#[test]
fn what_somebody_else_changed_meanwhile_is_left_alone() {
    let mut shop = Shop::new();
    shop.write("a", "old\n");
    shop.ok("edit_file", json!({"path": "a", "old_str": "old", "new_str": "new"}));
    shop.write("a", "theirs\n");
    let restored = undo(&shop, &["call-1"]);
    assert_eq!(restored.restored, Vec::<std::path::PathBuf>::new());
    assert_eq!(restored.not[0].1, "it was changed since, by somebody else");
    assert_eq!(shop.text("a"), "theirs\n");
}

#[test]
fn a_link_that_took_a_files_place_is_not_written_through() {
    let mut shop = Shop::new();
    shop.write("a", "old\n");
    shop.write("b", "old\n");
    let outside = shop.home.write("outside", "new\n");
    shop.ok(
        "bash",
        json!({"command": "echo new > a; rm b; ln -s ../outside b; mkdir c; ln -s ../outside c/link"}),
    );
    fs::remove_file(shop.file("a")).unwrap();
    symlink(&outside, shop.file("a")).unwrap();
    let restored = undo(&shop, &["call-1"]);
    assert_eq!(names(&shop, &restored), ["c/link", "b", "c"], "what the command put there is gone");
    let [(left, why)] = &restored.not[..] else { panic!("{restored:?}") };
    assert!(left.ends_with("a") && why == "it was changed since, by somebody else", "{restored:?}");
    assert_eq!((fs::read_to_string(outside).unwrap().as_str(), shop.text("b").as_str()), ("new\n", "old\n"));
}

#[test]
fn what_there_was_no_time_for_is_named_and_kept_before_the_next_command() {
    let shop = Shop::new();
    shop.write("a", "1\n");
    let hurried = Cancel::default();
    hurried.cancel();
    let change = |call: &str, text: &str, cancel: &Cancel| {
        let mut undo = shop.workshop.undo().unwrap();
        undo.before_command(&CallId(call.to_owned()), cancel);
        fs::remove_file(shop.file("a")).unwrap();
        shop.write("a", text);
        assert_eq!(undo.after_command(&CallId(call.to_owned())), 1);
    };
    change("one", "2\n", &hurried);
    change("two", "3\n", &Cancel::default());
    assert_eq!(undo(&shop, &["two"]).restored.len(), 1);
    let restored = undo(&shop, &["one"]);
    assert_eq!(restored.not[0].1, "its old version was not kept: there was no time to keep it");
    assert_eq!(shop.text("a"), "2\n");
}

#[test]
fn a_command_that_died_with_us_is_named_when_it_is_taken_back() {
    let mut shop = Shop::new();
    shop.write("a", "old\n");
    shop.ok("bash", json!({"command": "echo new > a"}));
    shop.workshop.undo().unwrap().before_command(&CallId("call-2".to_owned()), &Cancel::default());
    let restored = undo(&shop, &["call-1", "call-2"]);
    assert_eq!(
        (restored.unknown, restored.commands, names(&shop, &restored)),
        (1, true, vec!["a".to_owned()])
    );
    assert_eq!(undo(&shop, &["call-1"]).unknown, 0);
}

#[test]
fn names_that_are_no_text_come_back_too() {
    let mut shop = Shop::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    fs::write(shop.file("x").with_file_name(name), "old\n").unwrap();
    shop.ok("bash", json!({"command": "for f in *; do echo new > \"$f\"; done"}));
    assert_eq!(undo(&shop, &["call-1"]).restored.len(), 1);
    assert_eq!(fs::read_to_string(shop.file("x").with_file_name(name)).unwrap(), "old\n");
}

#[test]
fn what_was_kept_outlives_the_process_and_is_tidied_in_the_end() {
    let mut shop = Shop::new();
    let folder = shop.home.path().join("undo");
    shop.write("a", "old\n");
    shop.ok("edit_file", json!({"path": "a", "old_str": "old", "new_str": "new"}));
    let month = Duration::from_secs(30 * 24 * 60 * 60);
    let later = SystemTime::now() + Duration::from_secs(2 * 24 * 60 * 60);
    tidy(&folder, later, month).unwrap();
    let root = shop.workshop.project.root().to_owned();
    *shop.workshop.undo().unwrap() = Undo::open(&folder, "test", &root).unwrap();
    assert_eq!(names(&shop, &undo(&shop, &["call-1"])), ["a"]);
    assert_eq!(shop.text("a"), "old\n");
    tidy(&folder, later + month, month).unwrap();
    assert!(!folder.join("test.jsonl").exists());
    let blobs = store::blobs::Blobs::open(&folder.join("blobs"), store::Durability::Cached).unwrap();
    assert_eq!(blobs.size().unwrap().blobs, 0);
    assert!(
        fs::read_dir(shop.workshop.project.root()).unwrap().count() == 1,
        "nothing is written into the project"
    );
}

#[test]
fn an_edit_that_cannot_be_taken_back_is_not_done() {
    let mut shop = Shop::new();
    shop.write("a", "old\n");
    fs::remove_dir_all(shop.home.path().join("undo/blobs")).unwrap();
    shop.home.write("undo/blobs", "no directory");
    let told = shop.failed("edit_file", json!({"path": "a", "old_str": "old", "new_str": "new"}));
    assert!(
        told.contains("the old version could not be kept") && told.ends_with("nothing was edited"),
        "{told}"
    );
    assert_eq!(shop.text("a"), "old\n");
}

#[test]
fn what_somebody_did_while_a_command_ran_is_set_aside() {
    let mut shop = Shop::new();
    shop.write("mine", "old\n");
    // To us it is all the same whether the command or a person writes.
    shop.ok("bash", json!({"command": "echo work > mine; echo more > new"}));
    let restored = undo(&shop, &["call-1"]);
    assert_eq!(names(&shop, &restored), ["new", "mine"]);
    assert_eq!((shop.text("mine").as_str(), shop.file("new").exists()), ("old\n", false));
    let aside = restored.aside.unwrap();
    let kept = |name: &str| {
        let path = shop.workshop.project.root().join(name);
        fs::read_to_string(aside.join(path.strip_prefix("/").unwrap())).unwrap()
    };
    assert_eq!((kept("mine").as_str(), kept("new").as_str()), ("work\n", "more\n"));
    shop.ok("bash", json!({"command": "echo again > mine"}));
    let again = undo(&shop, &["call-2"]).aside.unwrap();
    assert_ne!(again, aside, "each time has its own place");
    let folder = aside.parent().unwrap().parent().unwrap();
    let later = SystemTime::now() + Duration::from_secs(3600);
    tidy(folder, later, Duration::from_secs(2 * 3600)).unwrap();
    assert!(aside.exists());
    tidy(folder, later, Duration::from_secs(1800)).unwrap();
    assert!(!aside.exists() && !again.exists());
}

/// What stands there, and who may use it.
fn look(shop: &Shop, name: &str) -> String {
    let path = shop.file(name);
    match fs::symlink_metadata(&path) {
        Err(_) => "nothing".to_owned(),
        Ok(found) if found.is_symlink() => format!("-> {}", fs::read_link(path).unwrap().display()),
        Ok(found) => format!("{} {:o}", if found.is_dir() { "dir" } else { "file" }, found.mode() & 0o7777),
    }
}

#[test]
fn modes_links_and_folders_are_taken_back_too() {
    let mut shop = Shop::new();
    shop.write("script", "echo hi\n");
    shop.write("both", "old\n");
    shop.write("d/kept", "");
    for (name, mode) in [("script", 0o640), ("both", 0o600), ("d", 0o750)] {
        fs::set_permissions(shop.file(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (link, to) in [("link", "script"), ("gone", "nowhere"), ("turned", "d")] {
        symlink(to, shop.file(link)).unwrap();
    }
    fs::create_dir_all(shop.file("empty/er")).unwrap();
    let names_of =
        ["script", "both", "d", "link", "gone", "turned", "empty", "empty/er", "new", "new/deep", "to"];
    let before: Vec<String> = names_of.iter().map(|name| look(&shop, name)).collect();
    shop.ok(
        "bash",
        json!({"command": "chmod +x script; chmod 777 both d; echo new > both; rm gone link turned; \
        ln -s both link; echo text > turned; rm -r empty; mkdir -p new/deep; ln -s d to"}),
    );
    shop.ok("bash", json!({"command": "chmod 755 d; echo more > new/deep/file; rm to"}));
    let after: Vec<String> = names_of.iter().map(|name| look(&shop, name)).collect();
    assert!(before.iter().zip(&after).filter(|(was, is)| was == is).count() == 1, "{before:?} {after:?}");
    // Once more, as after a death in the middle: it stays so.
    for _ in 0..2 {
        assert_eq!(undo(&shop, &["call-1", "call-2"]).not, []);
        let again: Vec<String> = names_of.iter().map(|name| look(&shop, name)).collect();
        assert_eq!(again, before);
    }
}

#[test]
fn what_cannot_be_put_back_is_named_path_by_path() {
    let mut shop = Shop::new();
    shop.write("script", "echo hi\n");
    shop.write(".gitignore", "*.log\n");
    fs::set_permissions(shop.file("script"), fs::Permissions::from_mode(0o644)).unwrap();
    symlink("script", shop.file("link")).unwrap();
    shop.ok(
        "bash",
        json!({"command": "chmod 700 script; mkdir d; echo x > d/x.log; mkfifo pipe; rm link; ln -s d link"}),
    );
    // Somebody else goes on from there.
    fs::set_permissions(shop.file("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(shop.file("link")).unwrap();
    symlink("elsewhere", shop.file("link")).unwrap();
    let restored = undo(&shop, &["call-1"]);
    let root = shop.workshop.project.root();
    let mut not: Vec<String> = restored
        .not
        .iter()
        .map(|(path, why)| format!("{}: {why}", path.strip_prefix(root).unwrap().display()))
        .collect();
    not.sort();
    assert_eq!(
        not,
        [
            "d: a command made this folder: directory not empty",
            "link: it was a link to script, and is a link to elsewhere",
            "pipe: it was not there, and is a pipe, a socket or a device",
            "script: it was a file with mode 644, and is a file with mode 755",
        ]
    );
    assert_eq!((look(&shop, "script").as_str(), look(&shop, "link").as_str()), ("file 755", "-> elsewhere"));
}
