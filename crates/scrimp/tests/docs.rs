//! The generated pages say what the code says. `cargo xtask docs` writes them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: compares files of the project")]

use std::fs;
use std::path::Path;

#[test]
fn the_generated_pages_are_what_the_code_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let write = std::env::var_os("SCRIMP_WRITE_DOCS").is_some();
    let mut old = Vec::new();
    for (path, page) in scrimp::reference::pages() {
        if fs::read_to_string(root.join(path)).ok().as_ref() == Some(&page) {
            continue;
        }
        if write {
            fs::write(root.join(path), page).unwrap();
        } else {
            old.push(path);
        }
    }
    assert!(old.is_empty(), "{old:?} are not what the code says; run `cargo xtask docs`");
}
