//! What in the folder is a plugin, and why the rest is not.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;
use testkit::hostile;

use super::bench::{Bench, done, schema};

#[test]
fn files_and_directories_are_loaded_in_the_order_of_their_names() {
    let bench = Bench::new();
    bench.bash("zeta", schema("z", json!({})), "");
    bench.bash("Alpha", schema("a", json!({"hooks": ["on_start"]})), "");
    bench.bash("middle/middle", schema("m", json!({"guard": true, "protocol": "stdin"})), "echo hi");
    bench.home.write(".chibi/plugins/middle/README.md", "read me");
    check(
        &bench,
        "Alpha: loaded, tools a, hooks on_start\n\
        middle: guard, tools m, speaks over stdin\n\
        zeta: loaded, tools z\n",
    );
    assert_eq!(done(&bench.load(), "m", json!({})), "hi\n");
}

#[test]
fn what_is_no_plugin_is_left_alone_and_told_why() {
    let bench = Bench::new();
    bench.bash("off.disabled", schema("off", json!({})), "");
    bench.bash(".hidden", schema("hidden", json!({})), "");
    bench.home.write(".chibi/plugins/notes.txt", "not a program");
    fs::create_dir(bench.ground.folder().join("empty")).unwrap();
    fs::create_dir_all(bench.ground.folder().join("nested/nested")).unwrap();
    let odd = bench.ground.folder().join(OsStr::from_bytes(b"\xff\xfe"));
    fs::copy(bench.bash("ok", schema("ok", json!({})), ""), odd).unwrap();
    check(
        &bench,
        "empty: skipped: a directory without `empty/empty`\n\
        nested: skipped: not a regular file\n\
        notes.txt: skipped: not executable\n\
        off.disabled: skipped: disabled by its name\n\
        ok: loaded, tools ok\n\
        \u{fffd}\u{fffd}: skipped: its name is not UTF-8\n",
    );
    assert_eq!(bench.log(), ["ok --schema"], "nothing else was run");
    let warned: Vec<String> = bench.load().warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warned,
        [
            "plugin `nested`: skipped: not a regular file",
            "plugin `\u{fffd}\u{fffd}`: skipped: its name is not UTF-8"
        ],
        "what somebody wanted so is no reason to speak up"
    );
}

#[test]
fn a_link_out_of_the_folder_is_refused_and_never_run() {
    let bench = Bench::new();
    let outside = bench.bash("../outside", schema("outside", json!({})), "");
    bench.bash("../elsewhere/elsewhere", schema("elsewhere", json!({})), "");
    let folder = bench.ground.folder();
    symlink(&outside, folder.join("file")).unwrap();
    symlink(folder.join("../elsewhere"), folder.join("elsewhere")).unwrap();
    fs::create_dir(folder.join("inner")).unwrap();
    symlink(&outside, folder.join("inner/inner")).unwrap();
    symlink("gone", folder.join("dangling")).unwrap();
    symlink("loop", folder.join("loop")).unwrap();
    bench.bash("real", schema("real", json!({})), "");
    symlink("real", folder.join("same")).unwrap();
    check(
        &bench,
        "dangling: skipped: entity not found\n\
        elsewhere: skipped: leads out of the folder, to `[HOME]/.chibi/elsewhere`: copy it instead\n\
        file: skipped: leads out of the folder, to `[HOME]/.chibi/outside`: copy it instead\n\
        inner: skipped: leads out of the folder, to `[HOME]/.chibi/outside`: copy it instead\n\
        loop: skipped: filesystem loop or indirection limit (e.g. symlink loop)\n\
        real: loaded, tools real\n\
        same: loaded\n  note: `real` is a tool of `real`\n",
    );
    assert!(bench.log().iter().all(|line| line == "real --schema"));
}

#[test]
fn a_folder_that_is_a_link_itself_is_the_persons_choice() {
    let bench = Bench::new();
    bench.bash("../elsewhere/tool", schema("tool", json!({})), "");
    fs::remove_dir(bench.ground.folder()).unwrap();
    symlink("elsewhere", bench.ground.folder()).unwrap();
    symlink("tool", bench.ground.folder().join("alias")).unwrap();
    check(&bench, "alias: loaded, tools tool\ntool: loaded\n  note: `tool` is a tool of `alias`\n");
}

#[test]
fn a_folder_that_is_not_there_is_empty_and_one_that_cannot_be_read_is_told() {
    let bench = Bench::new();
    fs::remove_dir(bench.ground.folder()).unwrap();
    check(&bench, "");
    bench.home.write(".chibi/plugins", "a file");
    check(&bench, "the plugins in `[HOME]/.chibi/plugins` cannot be listed: Not a directory (os error 20)\n");
    assert_eq!(bench.load().warnings().len(), 1);
}

#[test]
fn names_that_drive_terminals_are_shown_plain() {
    let bench = Bench::new();
    for (place, name) in hostile::nasty_strings().into_iter().enumerate() {
        let name = name.replace(['/', '\0'], "");
        if !name.is_empty() && name.len() < 200 && !name.starts_with('.') {
            bench.bash(&name, schema(&format!("t{place}"), json!({})), "");
        }
    }
    let report = bench.report();
    assert!(report.lines().count() > 3 && !report.chars().any(|c| c.is_control() && c != '\n'), "{report}");
}

#[track_caller]
fn check(bench: &Bench, expected: &str) {
    assert_eq!(bench.report(), expected);
}
