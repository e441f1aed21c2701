//! What git says has changed, whatever its settings are and however young the repository is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::{Home, bin};

const SOURCE: &str = "def f():\n    return 1\n\n\ndef g():\n    return f()\n";
const TEST: &str = "from größe import g\n\n\ndef test_g():\n    g()\n";

/// A repository with a function, one that calls it and a test, none of it committed.
fn repository() -> (Home, PathBuf) {
    let home = Home::new();
    let root = home.git_repo("p");
    home.write("p/größe.py", SOURCE);
    home.write("p/test_größe.py", TEST);
    (home, root)
}

fn commit(home: &Home, root: &Path) {
    home.git(root, &["add", "-A"]);
    home.git(root, &["commit", "-q", "-m", "all"]);
}

fn asked(home: &Home, root: &Path, args: &[&str]) -> (i32, Value) {
    let output = home.run(home.command(bin("tldr")).arg("change-impact").args(args).current_dir(root));
    (output.code, serde_json::from_str(&output.stdout).unwrap())
}

fn names(answer: &Value, key: &str) -> Vec<String> {
    let name = |one: &Value| one["function"].as_str().unwrap().to_owned();
    answer[key].as_array().unwrap_or_else(|| panic!("{answer}")).iter().map(name).collect()
}

#[test]
fn settings_of_git_change_nothing_about_what_changed() {
    let (home, root) = repository();
    commit(&home, &root);
    home.write("p/größe.py", SOURCE.replace("return 1", "return 2"));
    for setting in ["diff.mnemonicPrefix", "diff.noprefix", "core.quotePath", "color.diff"] {
        let value = if setting == "color.diff" { "always" } else { "true" };
        home.git(&root, &["config", setting, value]);
        let (code, answer) = asked(&home, &root, &[]);
        assert_eq!(
            (code, names(&answer, "changed_functions")),
            (0, vec!["f".to_owned()]),
            "{setting}: {answer}"
        );
        assert_eq!(names(&answer, "affected_tests"), ["test_g"], "{setting}: {answer}");
        assert_eq!(answer["test_command"], json!(["pytest", "test_größe.py"]));
        home.git(&root, &["config", "--unset", setting]);
    }
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let (home, root) = repository();
    let untracked = asked(&home, &root, &[]);
    assert_eq!(names(&untracked.1, "changed_functions"), ["f", "g", "test_g"]);
    home.git(&root, &["add", "größe.py"]);
    assert_eq!(asked(&home, &root, &[]), untracked);
}

#[test]
fn a_file_that_is_not_there_is_no_change_that_needs_no_test() {
    let (home, root) = repository();
    let (code, answer) = asked(&home, &root, &["größ.py"]);
    assert_eq!((code, &answer["message"]), (1, &json!("`größ.py` is not there")));
    let outside = Home::new();
    outside.write("p/a.py", SOURCE);
    let (code, answer) = asked(&outside, &outside.path().join("p"), &[]);
    assert_eq!(code, 1);
    assert!(answer["message"].as_str().unwrap().contains("not a git repository"), "{answer}");
}
