//! `edit_file`: what it changes, what it keeps and what it refuses.

use std::cell::{Cell, RefCell};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use agent::eyes::Eyes;
use llm::Outcome;
use serde_json::{Value, json};
use testkit::{fuzz, hostile};

use super::shop::{Shop, body, task};

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_str": old, "new_str": new})
}

#[test]
fn one_string_is_put_in_anothers_place() {
    let mut shop = Shop::new();
    shop.write("a.rs", "one\ntwo\nthree\n");
    let told = shop.ok("edit_file", edit("a.rs", "two", "2\n2"));
    assert_eq!(body(&told), "OK");
    assert!(told.contains("[a.rs | edited b6285c57 @@ -2,1 +2,2 @@ 4 lines | "), "{told}");
    assert_eq!(shop.text("a.rs"), "one\n2\n2\nthree\n");
    let told =
        shop.ok("edit_file", json!({"path": "a.rs", "old_str": "2", "new_str": "", "replace_all": true}));
    assert_eq!(body(&told), "OK, replaced 2 times");
    assert_eq!(shop.text("a.rs"), "one\n\n\nthree\n");
}

#[test]
fn a_file_is_made_with_its_folders_and_an_empty_string_appends() {
    let mut shop = Shop::new();
    let told = shop.ok("edit_file", edit("new/deep/a.txt", "", "hello"));
    assert_eq!(body(&told), "Created new/deep/a.txt");
    let plain = shop.write("plain", "");
    let mode = |path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(shop.file("new/deep/a.txt")), mode(plain), "as any other program would make it");
    assert_eq!(body(&shop.ok("edit_file", edit("new/deep/a.txt", "", " world\n"))), "OK");
    assert_eq!(shop.text("new/deep/a.txt"), "hello world\n");
    assert_eq!(body(&shop.ok("read_file", json!({"path": "new/deep/a.txt"}))), "1: hello world");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let mut shop = Shop::new();
    let text = "fn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n}\n\nfn other() {}\n";
    shop.write("a.rs", text);
    let told = shop
        .failed("edit_file", edit("a.rs", "fn total(items: &[u64]) -> u32 {\n  items.iter().sum()\n", "x"));
    let ready = "fn total(items: &[u32]) -> u32 {\n    items.iter().sum()\n";
    assert_eq!(
        told,
        format!(
            "old_str is not in a.rs. The nearest are lines 1-2; if you mean them, old_str is exactly:\n{ready}"
        )
    );
    assert_eq!(body(&shop.ok("edit_file", edit("a.rs", ready, "fn total() {\n"))), "OK");
    let told = shop.failed("edit_file", edit("a.rs", "quite something else", "x"));
    assert_eq!(told, "old_str is not in a.rs, nor anything like it; read the file again");
    shop.write("b", "x\ny\nx\nx x\n");
    assert_eq!(
        shop.failed("edit_file", edit("b", "x", "z")),
        "old_str is in b 4 times, in lines 1, 3, 4, 4; add lines around the one you mean, or set replace_all"
    );
    assert_eq!(shop.text("b"), "x\ny\nx\nx x\n");
    let same = "old_str and new_str are the same: there is nothing to change";
    assert_eq!(shop.failed("edit_file", edit("b", "y", "y")), same);
    assert_eq!(shop.failed("edit_file", edit("c", "", "")), same);
    assert_eq!(shop.failed("edit_file", edit("c", "y", "z")), "c: no such file");
    assert_eq!(
        shop.failed("edit_file", edit(".", "y", "z")),
        ". is a directory; list_files shows what is in it"
    );
}

#[test]
fn line_ends_byte_order_mark_and_mode_stay() {
    let mut shop = Shop::new();
    let path = shop.write("dos", "\u{feff}one\r\ntwo\r\nthree");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
    shop.ok("edit_file", edit("dos", "one\ntwo", "1\nand\n2"));
    shop.ok("edit_file", edit("dos", "and\r\n2", "2"));
    shop.ok("edit_file", edit("dos", "", "\nfour\n"));
    assert_eq!(shop.text("dos"), "\u{feff}1\r\n2\r\nthree\r\nfour\r\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o754);
    shop.write("mixed", "one\r\ntwo\n");
    shop.ok("edit_file", edit("mixed", "two\n", "2\r\n"));
    assert_eq!(shop.text("mixed"), "one\r\n2\r\n");
    let told = shop.failed("edit_file", edit("dos", "four\n", "four\r\n"));
    assert_eq!(told, "old_str and new_str differ only in line ends, which the file decides");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused_until_it_is_read_again() {
    let mut shop = Shop::new();
    shop.write("a", "one\ntwo\n");
    shop.ok("read_file", json!({"path": "a"}));
    shop.write("a", "one\nTWO\n");
    let told = shop.failed("edit_file", edit("a", "one", "1"));
    assert_eq!(told, "a has changed since you read it; nothing was edited. Read it again, then edit.");
    assert_eq!(shop.text("a"), "one\nTWO\n");
    shop.ok("read_file", json!({"path": "a"}));
    shop.ok("edit_file", edit("a", "one", "1"));
    shop.ok("edit_file", edit("a", "TWO", "2"));
    assert_eq!(shop.text("a"), "1\n2\n");
    shop.ok("bash", json!({"command": "echo 3 >> a"}));
    shop.failed("edit_file", edit("a", "2", "two"));
}

#[test]
fn a_part_of_a_file_is_enough_to_notice_a_change() {
    let mut shop = Shop::new();
    let text: String = (1..100).map(|number| format!("{number}\n")).collect();
    shop.write("a", &text);
    shop.ok("read_file", json!({"path": "a", "offset": 1, "limit": 2}));
    shop.write("a", text.replace("50\n", "fifty\n"));
    assert!(shop.failed("edit_file", edit("a", "1\n2\n", "x")).contains("has changed since you read it"));
}

#[test]
fn a_read_only_file_stays() {
    let mut shop = Shop::new();
    let path = shop.write("a", "one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(shop.failed("edit_file", edit("a", "one", "two")), "a: it is read-only; nothing was edited");
    assert_eq!(shop.text("a"), "one\n");
}

#[test]
fn a_link_stays_a_link() {
    let mut shop = Shop::new();
    shop.write("real", "one\n");
    symlink("real", shop.file("link")).unwrap();
    shop.ok("edit_file", edit("link", "one", "two"));
    assert_eq!(shop.text("real"), "two\n");
    assert!(fs::symlink_metadata(shop.file("link")).unwrap().is_symlink());
}

#[test]
fn what_is_no_text_or_too_large_is_not_edited() {
    let mut shop = Shop::new();
    shop.write("binary", b"a\0b");
    shop.write("latin", b"caf\xe9");
    shop.write("large", "x".repeat((1 << 20) + 1));
    for (path, told) in [
        ("binary", "binary is a binary file of 3 bytes"),
        ("latin", "latin is not valid UTF-8"),
        ("large", "large: 1025KB is too large to edit; use bash"),
    ] {
        assert_eq!(shop.failed("edit_file", edit(path, "a", "b")), told);
    }
}

#[test]
fn on_a_full_disk_the_old_file_stays() {
    hostile::small_disk(256 << 10, |disk| {
        let mut shop = Shop::new();
        shop.workshop.undo = None;
        shop.workshop.project = agent::project::Project::open(disk).unwrap();
        fs::write(disk.join("a"), "one\n".repeat(30_000)).unwrap();
        let told = shop.failed(
            "edit_file",
            json!({"path": "a", "old_str": "one", "new_str": "three", "replace_all": true}),
        );
        assert!(told.contains("nothing was edited"), "{told}");
        assert_eq!(fs::read_to_string(disk.join("a")).unwrap(), "one\n".repeat(30_000));
        let told = shop.failed("edit_file", edit("b", "", &"x".repeat(200_000)));
        assert!(told.contains("nothing was edited"), "{told}");
        assert_eq!(fs::read_dir(disk).unwrap().count(), 1, "nothing is left of what failed");
    });
}

#[test]
fn a_preview_says_what_an_edit_does_and_does_nothing() {
    let shop = Shop::new();
    shop.write("a", "one\n");
    let preview = |arguments| shop.workshop.preview(&task("edit_file", arguments), &Eyes::default());
    let change = preview(edit("a", "one", "two")).unwrap();
    assert_eq!(change.before.unwrap().raw(), "one\n");
    assert_eq!((change.after.raw().as_str(), change.shown.as_str()), ("two\n", "a"));
    let change = preview(edit("b", "", "x")).unwrap();
    assert!(change.before.is_none() && !shop.file("b").exists());
    assert!(preview(edit("a", "three", "x")).is_err());
    assert_eq!(shop.text("a"), "one\n");
}

/// `file NUL old NUL new`, each any text: the same as replacing the string in memory, or a refusal that changes nothing.
#[test]
fn any_edit_is_a_plain_replacement() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/edits");
    let shop = RefCell::new(Shop::new());
    shop.borrow_mut().workshop.undo = None;
    let turn = Cell::new(0);
    fuzz("edit", corpus, 10_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut parts = text.splitn(3, '\0');
        let (file, old, new) =
            (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let mut shop = shop.borrow_mut();
        // A file that is cut and written anew makes some file systems wait for the disk.
        let _ = fs::remove_file(shop.file("f"));
        shop.write("f", file);
        let wanted = task("edit_file", edit("f", old, new));
        let planned = shop.workshop.preview(&wanted, &Eyes::default()).map(|change| change.after.raw());
        let planned = planned.map_err(|output| output.content);
        judge(file, old, new, planned.as_deref());
        turn.set(turn.get() + 1);
        if turn.get() % 20 == 0 {
            shop.seen.clear();
            let output = shop.call("edit_file", edit("f", old, new));
            assert_eq!(output.outcome == Outcome::Done, planned.is_ok(), "{}", output.content);
            assert_eq!(shop.text("f"), planned.unwrap_or_else(|_| file.to_owned()));
        }
    });
}

fn judge(file: &str, old: &str, new: &str, planned: Result<&str, &String>) {
    let plain = |text: &str| text.replace("\r\n", "\n");
    let crlf = file.contains('\n') && file.matches("\r\n").count() == file.matches('\n').count();
    let (mark, rest) = if file.starts_with('\u{feff}') { file.split_at(3) } else { ("", file) };
    let found = if crlf { plain(rest).matches(&plain(old)).count() } else { rest.matches(old).count() };
    match planned {
        Err(told) => {
            let nothing = old == new || crlf && plain(old) == plain(new);
            assert!(nothing || found != 1 && !old.is_empty(), "{told}");
        }
        Ok(after) if old.is_empty() && crlf => assert_eq!(plain(after), plain(&format!("{file}{new}"))),
        Ok(after) if old.is_empty() => assert_eq!(after, format!("{file}{new}")),
        Ok(after) if crlf => {
            assert_eq!(plain(after), format!("{mark}{}", plain(rest).replacen(&plain(old), &plain(new), 1)));
            assert_eq!(after.matches("\r\n").count(), after.matches('\n').count(), "line ends stay");
        }
        Ok(after) => assert_eq!(after, format!("{mark}{}", rest.replacen(old, new, 1))),
    }
}

#[test]
fn what_a_killed_edit_left_in_a_folder_goes_with_the_next_one_there() {
    let mut shop = Shop::new();
    shop.write("d/a", "one");
    shop.write("d/b", "one");
    let dead = shop.write("d/.b.0123456789abcdef.replacing", "tw");
    let living = shop.write("d/.c.0123456789abcdef.replacing", "tw");
    let elsewhere = shop.write(".d.0123456789abcdef.replacing", "tw");
    let writer = fs::File::open(&living).unwrap();
    writer.lock().unwrap();
    shop.ok("edit_file", edit("d/a", "one", "two"));
    assert_eq!((dead.exists(), living.exists(), elsewhere.exists()), (false, true, true));
    drop(writer);
    // As when the conversation goes on.
    shop.workshop.undo().unwrap().sweep().unwrap();
    assert_eq!((living.exists(), elsewhere.exists()), (false, true), "only where it has edited");
}
