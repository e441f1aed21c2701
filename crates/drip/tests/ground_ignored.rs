//! `.dripignore` against git itself: whatever git says about a path and files of rules around it, we say.
#![allow(clippy::disallowed_methods, reason = "tests write plain files and start git")]

use std::collections::BTreeSet;
use std::path::Path;

use drip::ignored::{Entry, Ignored, Places};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::Home;

/// Rules of few names, so that many of them meet.
fn rules() -> impl Strategy<Value = Vec<String>> {
    let part = prop::sample::select(vec!["a", "b", "c", "*", "**", "a*", "?", "[ab]", "x.rs", "*.rs", "\\*"]);
    let rule = (any::<bool>(), any::<bool>(), prop::collection::vec(part, 1..4), any::<bool>());
    let rule = rule.prop_map(|(back, anchored, parts, folder)| {
        let sign = |yes, sign| if yes { sign } else { "" };
        format!("{}{}{}{}", sign(back, "!"), sign(anchored, "/"), parts.join("/"), sign(folder, "/"))
    });
    prop::collection::vec(rule, 1..8)
}

fn paths() -> impl Strategy<Value = BTreeSet<String>> {
    let part = prop::sample::select(vec!["a", "b", "c", "ab", "x.rs", "y.rs", "*"]);
    let top = prop::sample::select(vec!["", "", "sub/", "sub/deep/"]);
    let path =
        (top, prop::collection::vec(part, 1..5)).prop_map(|(top, parts)| top.to_owned() + &parts.join("/"));
    prop::collection::btree_set(path, 1..40)
}

#[test]
fn what_git_would_ignore_is_ignored() {
    let home = Home::new();
    let project = home.git_repo("project");
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let checked = runner.run(&([rules(), rules(), rules()], paths()), |(rules, paths)| {
        for (folder, rules) in ["", "sub/", "sub/deep/"].iter().zip(&rules) {
            home.write(format!("project/{folder}.gitignore"), rules.join("\n"));
            home.write(format!("project/{folder}.dripignore"), rules.join("\n"));
        }
        let asked: String = paths.iter().map(|path| format!("{path}\0")).collect();
        let mut git = home.command("git");
        git.current_dir(&project).args(["check-ignore", "--no-index", "--stdin", "-z"]);
        let said = home.run_with(&mut git, asked).stdout;
        let by_git: BTreeSet<&str> = said.split('\0').filter(|path| !path.is_empty()).collect();
        let ignored = Ignored::load(Places { cwd: &project, home: None, extra: None });
        for path in &paths {
            let free = ignored.verdict(Path::new(path), Entry::File).is_free();
            prop_assert_eq!(free, !by_git.contains(path.as_str()), "{:?} by {:?}", path, rules);
        }
        Ok(())
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}
