//! `list_files` and `code_search`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::shop::Shop;

fn furnished() -> Shop {
    let shop = Shop::new();
    for (name, text) in [
        ("src/main.rs", "fn main() { helper() }\n"),
        ("src/helper.py", "def Helper():\n    pass\n"),
        ("b.txt", "helper\n"),
        ("a/z.txt", ""),
        (".env", "HELPER=1\n"),
        (".gitignore", "*.log\nbuild/\n"),
        ("x.log", "helper\n"),
        ("build/out", "helper\n"),
        ("sub/target/y", "helper\n"),
        ("node_modules/m/index.js", "helper\n"),
        (".git/config", "helper\n"),
    ] {
        shop.write(name, text);
    }
    shop
}

#[test]
fn a_listing_is_sorted_and_leaves_out_what_is_ignored() {
    let mut shop = furnished();
    assert_eq!(shop.ok("list_files", json!({})), r#"[".env",".gitignore","a/","b.txt","src/","sub/"]"#);
    assert_eq!(
        shop.ok("list_files", json!({"recursive": true})),
        r#"[".env",".gitignore","a/","a/z.txt","b.txt","src/","src/helper.py","src/main.rs","sub/"]"#
    );
    assert_eq!(shop.ok("list_files", json!({"path": "src"})), r#"["helper.py","main.rs"]"#);
    assert_eq!(
        shop.ok("list_files", json!({"ignored": true})),
        r#"[".env",".gitignore","a/","b.txt","build/","node_modules/","src/","sub/","x.log"]"#
    );
    let all = shop.ok("list_files", json!({"ignored": true, "recursive": true}));
    assert!(all.contains("sub/target/y") && all.contains("build/out") && !all.contains(".git/"), "{all}");
}

#[test]
fn a_listing_has_its_limits_and_says_so() {
    let mut shop = Shop::new();
    for number in 0..1003 {
        shop.write(&format!("f/{number:04}"), "");
    }
    let told = shop.ok("list_files", json!({"path": "f"}));
    assert!(
        told.starts_with(r#"["0000","0001","#) && told.ends_with("\"0999\"]\nshowing 1000 of 1003"),
        "{told}"
    );
    for number in 0..900 {
        shop.write(&format!("wide/{number:03}{}", "x".repeat(200)), "");
    }
    let told = shop.ok("list_files", json!({"path": "wide"}));
    let (list, words) = told.split_once('\n').unwrap();
    let list: Vec<String> = serde_json::from_str(list).unwrap();
    assert_eq!(words, format!("showing {} of 900", list.len()));
    let deep = format!("{}end", "d/".repeat(25));
    shop.write(&deep, "");
    let told = shop.ok("list_files", json!({"path": "d", "recursive": true}));
    assert_eq!(told.matches("\",\"").count() + 1, 20, "{told}");
    assert_eq!(shop.failed("list_files", json!({"path": "absent"})), "absent: no such file or directory");
    assert_eq!(shop.failed("list_files", json!({"path": "f/0001"})), "f/0001: not a directory");
}

#[test]
fn names_that_are_no_text_are_escaped_and_links_are_not_walked() {
    let mut shop = Shop::new();
    std::fs::write(shop.file("x").with_file_name(OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    symlink(".", shop.file("loop")).unwrap();
    assert_eq!(shop.ok("list_files", json!({"recursive": true})), r#"["caf\\xe9","loop"]"#);
}

#[test]
fn a_search_finds_lines_with_their_places() {
    let mut shop = furnished();
    assert_eq!(
        shop.ok("code_search", json!({"pattern": "helper"})),
        "b.txt:1:helper\nnode_modules/m/index.js:1:helper\nsrc/helper.py:1:def Helper():\n\
         src/main.rs:1:fn main() { helper() }\nsub/target/y:1:helper"
    );
    assert_eq!(
        shop.ok("code_search", json!({"pattern": "Helper", "case_sensitive": true})),
        "src/helper.py:1:def Helper():"
    );
    for file_type in ["rs", "rust", ".rs", "*.rs"] {
        assert_eq!(
            shop.ok("code_search", json!({"pattern": "helper", "file_type": file_type})),
            "src/main.rs:1:fn main() { helper() }"
        );
    }
    assert_eq!(shop.ok("code_search", json!({"pattern": "helper", "path": "b.txt"})), "b.txt:1:helper");
    assert_eq!(shop.ok("code_search", json!({"pattern": "^$"})), "No matches found");
    assert_eq!(shop.ok("code_search", json!({"pattern": "-helper"})), "No matches found");
    assert_eq!(shop.failed("code_search", json!({"pattern": ""})), "the pattern is empty");
    assert!(shop.failed("code_search", json!({"pattern": "("})).starts_with("the pattern cannot be used: "));
    assert!(
        shop.failed("code_search", json!({"pattern": "a\nb"})).starts_with("the pattern cannot be used: ")
    );
    let told = shop.failed("code_search", json!({"pattern": "x", "file_type": "[", "path": "."}));
    assert_eq!(told, "`[` is neither a type nor an extension");
    assert_eq!(
        shop.failed("code_search", json!({"pattern": "x", "path": "gone"})),
        "gone: no such file or directory"
    );
}

#[test]
fn a_search_does_not_leave_the_project_by_a_link() {
    let mut shop = Shop::new();
    shop.home.write("out/secret", "hit\n");
    symlink("../out/secret", shop.file("file")).unwrap();
    symlink("../out", shop.file("folder")).unwrap();
    assert_eq!(shop.ok("code_search", json!({"pattern": "hit"})), "No matches found");
    assert!(shop.ok("code_search", json!({"pattern": "hit", "path": "file"})).ends_with("/out/secret:1:hit"));
}

#[test]
fn a_search_has_its_limits_and_says_so() {
    let mut shop = Shop::new();
    shop.write("many", "hit\n".repeat(60));
    let told = shop.ok("code_search", json!({"pattern": "hit"}));
    assert_eq!(told.lines().count(), 51);
    assert!(told.ends_with("many:50:hit\n[there is more; narrow the pattern or the path]"), "{told}");
    shop.write("few", "hit\n".repeat(50));
    assert_eq!(shop.ok("code_search", json!({"pattern": "hit", "path": "few"})).lines().count(), 50);
    shop.write("wide", format!("{}hit{}", "x".repeat(2 << 20), "y".repeat(2 << 20)));
    assert!(shop.ok("code_search", json!({"pattern": "hit", "path": "wide"})).len() < 1100);
    shop.write("binary", b"hit\0\0hit");
    assert_eq!(shop.ok("code_search", json!({"pattern": "hit", "path": "binary"})), "No matches found");
    shop.write("latin", b"caf\xe9 hit\n");
    assert_eq!(shop.ok("code_search", json!({"pattern": "hit", "path": "latin"})), "latin:1:caf\u{fffd} hit");
}
