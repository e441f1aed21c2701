//! `read_file` on files of every kind.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use serde_json::json;

use super::shop::{Shop, body};

fn read(shop: &mut Shop, path: &str) -> String {
    shop.ok("read_file", json!({"path": path}))
}

#[test]
fn lines_bear_their_numbers_and_the_last_line_tells_what_it_was() {
    let mut shop = Shop::new();
    shop.write("src/a.rs", "fn main() {\n}\n");
    assert_eq!(read(&mut shop, "src/a.rs"), "1: fn main() {\n2: }\n[src/a.rs | 2 lines | 9cd9b049]");
    shop.write("one", "x");
    assert!(read(&mut shop, "one").starts_with("1: x\n[one | 1 line, no newline at the end | "));
    shop.write("dos", "\u{feff}a\r\nb\r\n");
    assert!(
        read(&mut shop, "dos").starts_with("1: a\n2: b\n[dos | 2 lines, CRLF line ends, byte order mark | ")
    );
    shop.write("mixed", "a\r\nb\n");
    assert!(read(&mut shop, "mixed").starts_with("1: a\r\n2: b\n[mixed | 2 lines | "));
    shop.write("empty", "");
    assert!(read(&mut shop, "empty").starts_with("[empty | 0 lines | "));
    shop.write("no end", "a\u{85}b\u{2028}c\rd\u{c}\n");
    assert_eq!(body(&read(&mut shop, "no end")), "1: a\u{85}b\u{2028}c\rd\u{c}");
}

#[test]
fn what_is_no_text_is_named() {
    let mut shop = Shop::new();
    shop.write("binary", b"ELF\0\0");
    shop.write("latin", b"caf\xe9\n");
    shop.write("folder/x", "");
    symlink("nowhere", shop.file("dangling")).unwrap();
    symlink("loop", shop.file("loop")).unwrap();
    let _listener = UnixListener::bind(shop.file("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        shop.file("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let cases = [
        ("absent", "absent: no such file"),
        ("binary", "binary is a binary file of 5 bytes"),
        ("latin", "latin is not valid UTF-8"),
        ("folder", "folder is a directory; list_files shows what is in it"),
        ("dangling", "nowhere: no such file"),
        ("loop", "loop: too many levels of symbolic links"),
        ("socket", "socket is a socket, not a file"),
        ("fifo", "fifo is a FIFO, not a file"),
        ("", ". is a directory; list_files shows what is in it"),
        ("a\0b", "ab: file name contained an unexpected nul byte"),
    ];
    for (path, told) in cases {
        assert_eq!(shop.failed("read_file", json!({"path": path})), told);
    }
    let long = shop.failed("read_file", json!({"path": "x".repeat(100_000)}));
    assert!(long.ends_with(": file name too long") && long.len() < 1000, "{}", long.len());
}

#[test]
fn a_file_above_the_limit_is_read_in_parts() {
    let mut shop = Shop::new();
    let text: String =
        (1..=90_000).map(|number| format!("line {number} {}\n", "é".repeat(number % 7))).collect();
    assert!(text.len() > 1 << 20);
    shop.write("log", &text);
    let told = shop.failed("read_file", json!({"path": "log"}));
    assert_eq!(
        told,
        format!(
            "log: {}KB exceeds 1024KB limit; read a part with offset and limit, such as offset 1 and limit 1000",
            text.len().div_ceil(1024)
        )
    );
    let part = json!({"path": "log", "offset": 70_001, "limit": 2});
    let told = shop.ok("read_file", part.clone());
    assert_eq!(told, "70001: line 70001 é\n70002: line 70002 éé\n[log | lines 70001-70002 of a large file]");
    assert_eq!(shop.ok("read_file", part), told, "what was not looked at whole never counts as seen");
    let told = shop.ok("read_file", json!({"path": "log", "offset": 89_999}));
    assert!(
        told.starts_with("89999: ")
            && told.contains("\n90000: ")
            && told.ends_with("lines 89999-90000 of a large file]")
    );
    let told = shop.failed("read_file", json!({"path": "log", "offset": 90_001}));
    assert_eq!(told, "log has 90000 lines; there is no line 90001");
}

#[test]
fn a_small_file_of_very_many_lines_is_read_in_parts() {
    let mut shop = Shop::new();
    shop.write("empty lines", "\n".repeat(1 << 20));
    let told = shop.failed("read_file", json!({"path": "empty lines"}));
    assert_eq!(
        told,
        "empty lines has 1,048,576 lines, too many to show at once; read a part with offset and limit"
    );
    let told = shop.ok("read_file", json!({"path": "empty lines", "offset": 1_048_576}));
    assert!(told.starts_with("1048576: \n[empty lines | lines 1048576-1048576 of 1048576 | "), "{told}");
}

#[test]
fn one_endless_line_is_cut() {
    let mut shop = Shop::new();
    shop.write("min.js", "x".repeat(3 << 20));
    let told = shop.ok("read_file", json!({"path": "min.js", "offset": 1, "limit": 1}));
    assert!(told.starts_with("1: xxx") && told.len() < 300_000 && told.contains("ask for fewer lines"));
}

#[test]
fn a_part_is_what_was_asked_for() {
    let mut shop = Shop::new();
    shop.write("a", "1\n2\n3\n4\n5\n");
    let mut part = |offset: serde_json::Value, limit: serde_json::Value| {
        shop.seen.clear();
        shop.ok("read_file", json!({"path": "a", "offset": offset, "limit": limit}))
    };
    assert!(part(json!(2), json!(2)).starts_with("2: 2\n3: 3\n[a | lines 2-3 of 5 | "));
    assert!(part(json!(4), json!(1e300)).starts_with("4: 4\n5: 5\n[a | lines 4-5 of 5 | "));
    assert!(
        part(json!(1), json!(99)).starts_with("1: 1\n")
            && part(json!(1), json!(99)).contains("[a | 5 lines | ")
    );
    assert!(part(json!(2.0), json!(1.0)).starts_with("2: 2\n[a | lines 2-2 of 5 | "));
    assert!(part(json!(null), json!(2)).starts_with("1: 1\n2: 2\n[a | lines 1-2 of 5 | "));
    assert!(part(json!(-3), json!(0)).starts_with("1: 1\n[a | lines 1-1 of 5 | "));
    assert_eq!(
        shop.failed("read_file", json!({"path": "a", "offset": 6})),
        "a has 5 lines; there is no line 6"
    );
}

#[test]
fn a_second_read_is_a_word_or_a_diff() {
    let mut shop = Shop::new();
    let lines = |changed: &str| -> String {
        (1..=40)
            .map(|number| format!("{}number {number}\n", if number == 20 { changed } else { "" }))
            .collect()
    };
    shop.write("a", lines(""));
    read(&mut shop, "a");
    let told = read(&mut shop, "a");
    assert_eq!(body(&told), "As you read it; nothing has changed.");
    shop.write("a", lines("new "));
    let told = read(&mut shop, "a");
    assert_eq!(
        body(&told),
        "Changed since you read it. The rest is as it was:\n--- a (last read)\n+++ a (current)\n@@ -17,7 +17,7 @@\n \
         number 17\n number 18\n number 19\n-number 20\n+new number 20\n number 21\n number 22\n number 23"
    );
    let told = shop.ok("read_file", json!({"path": "a", "offset": 10, "limit": 20}));
    assert_eq!(body(&told), "These lines are as you read them.");
    shop.ok("edit_file", json!({"path": "a", "old_str": "new number 20", "new_str": "mine"}));
    assert_eq!(body(&read(&mut shop, "a")), "As you read it; nothing has changed.", "its own edit it knows");
}

#[test]
fn a_hook_that_changed_what_was_read_changed_what_was_seen() {
    let mut shop = Shop::new();
    shop.write("a", "password one\nother words\nand more words\n".repeat(9));
    read(&mut shop, "a");
    let (_, result) = shop.seen.last_mut().unwrap();
    result.content = result.content.replace("password one", "****");
    let told = read(&mut shop, "a");
    assert!(told.contains("password one"), "{told}");
}

#[test]
fn a_read_that_failed_has_saved_nothing() {
    let mut shop = Shop::new();
    shop.write("a", "one\ntwo\n");
    shop.failed("read_file", json!({"path": "a", "offset": 9}));
    shop.failed("read_file", json!({"path": "b"}));
    assert_eq!(shop.workshop.meter.take().reads, 0);
    shop.ok("read_file", json!({"path": "a", "offset": 2}));
    let count = shop.workshop.meter.take();
    assert_eq!((count.reads, count.full), (1, 2), "`2: two` and its end are 7 bytes: {count:?}");
}
