//! Files found by name in real directories.
#![allow(clippy::disallowed_methods, reason = "tests write plain files")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use drip::ignored::{Ignored, Places};
use drip::search::{Found, HiddenFiles, MOST, glob};
use testkit::Home;

fn find(root: &Path, pattern: &str) -> Found {
    let ignored = Ignored::load(Places { cwd: root, home: None, extra: None });
    glob(Path::new(""), pattern, &ignored, Duration::from_secs(60)).expect("it is a pattern")
}

/// What was found, without the order.
fn names(root: &Path, pattern: &str) -> Vec<String> {
    let found = find(root, pattern);
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut names: Vec<String> = found.paths.iter().map(name).collect();
    names.sort();
    names
}

fn touch(path: &Path, age: u64) {
    // Counted from a moment that does not move while files are made.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age);
    let file = File::options().write(true).open(path);
    file.and_then(|file| file.set_modified(time)).expect("our own file obeys us");
}

#[test]
fn a_star_stays_within_its_directory() {
    let home = Home::new();
    for file in
        ["src/x.rs", "src/a/y.rs", "src/a/b/z.rs", "src/a.md", "other/src/w.rs", "top.rs", ".hidden/h.rs"]
    {
        home.write(file, "");
    }
    let root = home.path();
    assert_eq!(names(root, "src/*.rs"), ["src/x.rs"]);
    assert_eq!(names(root, "src/**/*.rs"), ["src/a/b/z.rs", "src/a/y.rs", "src/x.rs"]);
    assert_eq!(names(root, "src/{x,a/y}.rs"), ["src/a/y.rs", "src/x.rs"]);
    assert_eq!(names(root, "**/a/*.rs"), ["src/a/y.rs"]);
    assert_eq!(names(root, "src/a.md"), ["src/a.md"]);
    assert_eq!(names(root, "./src/../src/*.rs"), ["src/x.rs"]);
    // Without a slash it holds at any depth, as it does for `rg --glob`.
    assert_eq!(names(root, "[w-z].rs"), ["other/src/w.rs", "src/a/b/z.rs", "src/a/y.rs", "src/x.rs"]);
    assert_eq!(names(root, "h.rs"), [".hidden/h.rs"]);
    assert_eq!(names(Path::new("/"), &format!("{}/src/*.rs", root.display())).len(), 1);
    assert_eq!(names(root, "nowhere/*.rs"), [""; 0]);
}

#[test]
fn the_newest_thousand_of_all_matches_come_first() {
    let home = Home::new();
    let newest = [700, 3, 1499];
    for index in 0..1500 {
        let path = home.write(format!("many/{}/{index:04}.txt", index % 7), "");
        let rank = newest.iter().position(|number| *number == index);
        touch(&path, rank.map_or(10_000 + index, |rank| rank as u64));
    }
    let found = find(home.path(), "**/*.txt");
    assert_eq!((found.paths.len(), found.total, found.cut), (MOST, 1500, false));
    let first: Vec<_> = found.paths[..4].iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(first, ["0700.txt", "0003.txt", "1499.txt", "0000.txt"]);
}

#[test]
fn what_is_ignored_is_counted_and_not_entered() {
    let home = Home::new();
    let project = home.git_repo("project");
    for file in
        ["a.rs", "secret.rs", "target/b.rs", "node_modules/x/c.rs", "kept/build/d.rs", "server.pem", ".env"]
    {
        home.write(Path::new("project").join(file), "");
    }
    home.write("project/.dripignore", "secret.*\n");
    assert_eq!(names(&project, "*.rs"), ["a.rs", "kept/build/d.rs"]);
    // `.git`, `target` and `node_modules`.
    assert_eq!(find(&project, "*.rs").hidden, HiddenFiles { files: 1, folders: 3 });
    let found = find(&project, "{*.pem,.env}");
    assert_eq!((found.paths.len(), found.hidden.files), (0, 2));
    // From inside, too.
    let inside = find(&project, "target/*.rs");
    assert_eq!((inside.total, inside.hidden.folders), (0, 1));
}

#[test]
fn links_are_not_followed_and_loops_end() {
    let home = Home::new();
    home.write("real/a.txt", "");
    symlink("../real", home.path().join("real/again")).unwrap();
    symlink("real", home.path().join("link")).unwrap();
    symlink("a.txt", home.path().join("real/b.txt")).unwrap();
    assert_eq!(names(home.path(), "**/*.txt"), ["real/a.txt"]);
}

#[test]
fn directories_deeper_than_twenty_are_left_alone() {
    let home = Home::new();
    let folders: PathBuf = (0..25).map(|depth| format!("d{depth}")).collect();
    for depth in 1..=25 {
        home.write(folders.iter().take(depth).collect::<PathBuf>().join("f.txt"), "");
    }
    assert_eq!(find(home.path(), "f.txt").total, 19);
}

#[test]
fn when_time_is_up_the_answer_says_so() {
    let home = Home::new();
    home.write("a.txt", "");
    let ignored = Ignored::load(Places { cwd: home.path(), home: None, extra: None });
    let found = glob(home.path(), "*.txt", &ignored, Duration::ZERO).unwrap();
    assert!(found.cut && found.paths.is_empty());
}

#[test]
fn odd_names_and_odd_patterns_are_just_names_and_patterns() {
    let home = Home::new();
    let root = home.path();
    for name in [&b"#hash.txt"[..], b"new\nline.txt", b"latin\xe9.txt", b"[x].txt", b"!bang.txt"] {
        fs::write(root.join(OsStr::from_bytes(name)), "").unwrap();
    }
    assert_eq!(find(root, "*.txt").total, 5);
    assert_eq!(names(root, "#hash.txt"), ["#hash.txt"]);
    assert_eq!(names(root, "\\[x\\].txt"), ["[x].txt"]);
    assert_eq!(find(root, "!#*.txt").total, 4);
    assert_eq!(find(root, "").total, 5);
    let ignored = Ignored::load(Places { cwd: root, home: None, extra: None });
    for wrong in ["{a", "[z-a]", "a{b,{c}"] {
        let error = glob(root, wrong, &ignored, Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{wrong}` is not a pattern: ")), "{error}");
    }
    for text in testkit::hostile::nasty_strings() {
        let _ = glob(root, &text, &ignored, Duration::from_secs(60));
    }
}
