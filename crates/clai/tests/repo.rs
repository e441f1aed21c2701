//! Repositories made by real git, read without it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clai::repo::{self, Head, Resolver, Since};
use testkit::Home;

fn commit(home: &Home, repo: &Path, file: &str, text: &str) {
    fs::write(repo.join(file), text).unwrap();
    let _ = home.git(repo, &["add", "."]);
    let _ = home.git(repo, &["commit", "--quiet", "-m", text]);
}

/// What git itself says, without the line's end.
fn ask(home: &Home, repo: &Path, args: &[&str]) -> String {
    home.git(repo, args).stdout.trim_end().to_owned()
}

/// A repository with one commit on `main`, and branches `ours` and `theirs` that both changed `file`.
fn divided(home: &Home) -> PathBuf {
    let repo = home.git_repo("divided");
    commit(home, &repo, "file", "base");
    for branch in ["theirs", "ours"] {
        let _ = home.git(&repo, &["switch", "--quiet", "-c", branch, "main"]);
        commit(home, &repo, "file", branch);
    }
    repo
}

/// Runs git where it is expected to stop at a conflict.
fn stop(home: &Home, repo: &Path, args: &[&str]) {
    let mut git = home.command("git");
    let _ = home.run(git.args(args).current_dir(repo).env("GIT_EDITOR", "true"));
}

#[test]
fn a_plain_repository_is_found_from_below() {
    let home = Home::new();
    let root = home.git_repo("p");
    fs::create_dir_all(root.join("a/b")).unwrap();
    let found = repo::find(&root.join("a/b")).unwrap();
    assert_eq!((found.root.as_path(), found.branch()), (root.as_path(), Some("main")));
    assert_eq!(found.key, repo::key(&root, None));
    // A directory that was removed belongs to where it was.
    assert_eq!(repo::find(&root.join("gone/deeper")).unwrap().root, root);
    assert_eq!(repo::find(home.path()), None);
    assert_eq!(repo::find(Path::new("p")), None);
}

#[test]
fn the_key_is_the_same_through_a_symlink_and_the_real_path() {
    let home = Home::new();
    let root = home.git_repo("real");
    fs::create_dir(root.join("sub")).unwrap();
    let _ = home.git(&root, &["remote", "add", "origin", "https://Example.invalid/P.git"]);
    symlink(&root, home.path().join("link")).unwrap();
    symlink(root.join("sub"), home.path().join("into")).unwrap();
    let real = repo::find(&root).unwrap();
    assert_eq!(real.key, repo::key(&root, Some("https://example.invalid/p.git")));
    assert_eq!(repo::find(&home.path().join("link")).unwrap(), real);
    assert_eq!(repo::find(&home.path().join("into")).unwrap(), real);
}

#[test]
fn the_remote_is_what_git_says_it_is() {
    let home = Home::new();
    for (index, url) in
        ["git@h.invalid:a/b.git", "/srv/with space", "https://h/a;b#c", "C:\\back\\slash", "quo\"te"]
            .iter()
            .enumerate()
    {
        let root = home.git_repo(format!("r{index}"));
        let _ = home.git(&root, &["remote", "add", "upstream", "elsewhere"]);
        let _ = home.git(&root, &["remote", "add", "origin", url]);
        let said = ask(&home, &root, &["remote", "get-url", "origin"]);
        assert_eq!(repo::find(&root).unwrap().key, repo::key(&root, Some(&said)), "{url}");
    }
}

#[test]
fn worktrees_and_submodules_have_their_own_head_and_share_what_git_shares() {
    let home = Home::new();
    let main = home.git_repo("main");
    commit(&home, &main, "file", "base");
    let _ = home.git(&main, &["remote", "add", "origin", "x@y:z"]);
    let _ = home.git(&main, &["worktree", "add", "--quiet", "-b", "side", "../tree"]);
    let tree = home.path().join("tree");
    let found = repo::find(&tree).unwrap();
    assert_eq!((found.branch(), &found.key), (Some("side"), &repo::key(&tree, Some("x@y:z"))));

    let outer = home.git_repo("outer");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../main", "inner"];
    let _ = home.git(&outer, &["remote", "add", "origin", outer.to_str().unwrap()]);
    let _ = home.git(&outer, &add);
    let inner = outer.join("inner");
    let url = ask(&home, &inner, &["remote", "get-url", "origin"]);
    let found = repo::find(&inner).unwrap();
    assert_eq!((found.root.as_path(), &found.key), (inner.as_path(), &repo::key(&inner, Some(&url))));
}

#[test]
fn a_detached_head_is_told_as_its_commit() {
    let home = Home::new();
    let repo = divided(&home);
    let _ = home.git(&repo, &["switch", "--quiet", "--detach", "main"]);
    let hash = ask(&home, &repo, &["rev-parse", "HEAD"]);
    let found = repo::find(&repo).unwrap();
    assert_eq!((found.head.clone(), found.branch()), (Head::Detached(hash), None));
}

#[test]
fn the_branch_is_known_while_work_has_stopped_in_the_middle() {
    let home = Home::new();
    let repo = divided(&home);
    let check = |when: &[&str]| assert_eq!(repo::find(&repo).unwrap().branch(), Some("ours"), "{when:?}");
    for (start, abort) in [
        (&["merge", "theirs"][..], &["merge", "--abort"][..]),
        (&["rebase", "theirs"], &["rebase", "--abort"]),
        (&["rebase", "--apply", "theirs"], &["rebase", "--abort"]),
        (&["cherry-pick", "theirs"], &["cherry-pick", "--abort"]),
        (&["revert", "--no-edit", "main"], &["revert", "--abort"]),
        (&["bisect", "start"], &["bisect", "reset"]),
    ] {
        stop(&home, &repo, start);
        check(start);
        let _ = home.git(&repo, abort);
        check(abort);
    }
}

#[test]
fn broken_repositories_are_less_context_and_never_an_error() {
    let home = Home::new();
    let outer = home.git_repo("outer");
    let broken = outer.join("broken");
    fs::create_dir(&broken).unwrap();
    let found = || repo::find(&broken).map(|repo| (repo.root, repo.head));
    let above = || Some((outer.clone(), Head::Branch("main".into())));
    for pointer in [
        &b""[..],
        b"gitdir:",
        b"gitdir: nowhere",
        b"gitdir: .git",
        b"gitdir: \0\xff",
        b"\xff\xfe",
        b"gitdir: /",
    ] {
        fs::write(broken.join(".git"), pointer).unwrap();
        assert_eq!(found(), above(), "{pointer:?}");
    }
    fs::remove_file(broken.join(".git")).unwrap();
    symlink(".git", broken.join(".git")).unwrap();
    assert_eq!(found(), above());
    fs::remove_file(broken.join(".git")).unwrap();
    fs::create_dir_all(broken.join(".git/HEAD")).unwrap();
    assert_eq!(found(), above());
    fs::remove_dir(broken.join(".git/HEAD")).unwrap();
    // Something that would never end if it were read.
    assert!(home.command("mkfifo").arg(broken.join(".git/HEAD")).status().unwrap().success());
    assert_eq!(found(), above());
    fs::remove_file(broken.join(".git/HEAD")).unwrap();
    fs::write(broken.join(".git/HEAD"), b"\xff\xff").unwrap();
    fs::write(broken.join(".git/commondir"), b"nowhere\n").unwrap();
    assert_eq!(found(), Some((broken.clone(), Head::Unknown)));
}

#[test]
fn a_huge_configuration_is_read_only_at_its_beginning() {
    let home = Home::new();
    let root = home.git_repo("p");
    let filler = "# filler\n".repeat(400_000);
    let remote = "[remote \"origin\"]\n\turl = x\n";
    fs::write(root.join(".git/config"), format!("{remote}{filler}")).unwrap();
    assert_eq!(repo::find(&root).unwrap().key, repo::key(&root, Some("x")));
    fs::write(root.join(".git/config"), format!("{filler}{remote}")).unwrap();
    assert_eq!(repo::find(&root).unwrap().key, repo::key(&root, None));
}

#[test]
fn the_resolver_looks_only_when_it_must() {
    let home = Home::new();
    let (one, two) = (home.git_repo("one"), home.git_repo("two"));
    let mut resolver = Resolver::default();
    let mut lookups = |cwd: &Path, since, now| {
        let before = resolver.lookups();
        assert!(resolver.resolve(cwd, since, now).is_some());
        resolver.lookups() - before
    };
    assert_eq!(lookups(&one, Since::Nothing, 10_000), 1);
    assert_eq!(lookups(&one, Since::Nothing, 10_001), 0);
    assert_eq!(lookups(&one, Since::Nothing, 11_999), 0);
    assert_eq!(lookups(&one, Since::Nothing, 12_000), 1, "what it knew was two seconds old");
    assert_eq!(lookups(&two, Since::Nothing, 12_100), 1, "the directory changed");
    assert_eq!(lookups(&one, Since::Nothing, 12_200), 0, "a second shell is still where it was");
    assert_eq!(lookups(&two, Since::GitCommand, 12_300), 1, "git ran");
    assert_eq!(lookups(&two, Since::Nothing, 12_400), 0);
    assert_eq!(lookups(&two, Since::Nothing, 100), 1, "the clock was set back");
}

#[test]
fn a_branch_switched_by_git_is_seen_at_once() {
    let home = Home::new();
    let root = home.git_repo("p");
    let mut resolver = Resolver::default();
    let mut branch = |since| resolver.resolve(&root, since, 5).unwrap().branch().map(str::to_owned);
    assert_eq!(branch(Since::Nothing).as_deref(), Some("main"));
    let _ = home.git(&root, &["switch", "--quiet", "-c", "next"]);
    assert_eq!(branch(Since::Nothing).as_deref(), Some("main"));
    assert_eq!(branch(Since::GitCommand).as_deref(), Some("next"));
}

#[test]
fn directories_without_end_do_not_fill_the_memory() {
    let mut resolver = Resolver::default();
    for index in 0..10_000 {
        assert_eq!(resolver.resolve(Path::new(&format!("/nowhere/{index}")), Since::Nothing, 1), None);
    }
    assert!(format!("{resolver:?}").matches("/nowhere/").count() <= 256);
}
