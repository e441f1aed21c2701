//! Files that we may not read: less context, a note or an error, each where it belongs.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use clai::import::{self, ImportError, Source};
use clai::repo;
use clai::tasks::{Discovery, Note};
use testkit::{Home, hostile};

const VARIABLE: &str = "CLAI_TEST_UNREADABLE";

#[test]
fn what_may_not_be_read_is_less_context_and_no_surprise() {
    if let Some(root) = env::var_os(VARIABLE) {
        return look(Path::new(&root));
    }
    let home = Home::new();
    let outer = home.git_repo("outer");
    let inner = home.git_repo("outer/inner");
    let _ = home.git(&outer, &["remote", "add", "origin", "x@y:z"]);
    home.write("outer/Makefile", "all:\n");
    home.write("outer/justfile", "build:\n");
    home.write("outer/history", "ls\n");
    for closed in ["Makefile", "history", ".git/config"].map(|name| outer.join(name)) {
        fs::set_permissions(closed, Permissions::from_mode(0o000)).unwrap();
    }
    fs::set_permissions(inner.join(".git"), Permissions::from_mode(0o000)).unwrap();
    if fs::metadata(&outer).unwrap().uid() != 0 {
        return look(&outer);
    }
    // Nothing is closed to root: the same test again as somebody else.
    let test = home.write("test", "");
    fs::copy(env::current_exe().unwrap(), &test).unwrap();
    let mut again = home.command(test);
    again.args(["--exact", "what_may_not_be_read_is_less_context_and_no_surprise"]).env(VARIABLE, &outer);
    assert!(home.run(hostile::as_other_uid(&mut again)).ok().stdout.contains("1 passed"));
}

fn look(outer: &Path) {
    let found = repo::find(&outer.join("inner")).unwrap();
    assert_eq!((found.root.as_path(), found.branch()), (outer, Some("main")));
    assert_eq!(found.key, repo::key(outer, None));
    let found = Discovery::default().look(outer, Instant::now() + Duration::from_secs(20));
    assert_eq!(found.notes, [Note::Unreadable { path: outer.join("Makefile") }]);
    assert_eq!(found.tasks[0].command, "just build");
    let error = import::open(Source::Bash, &outer.join("history")).map(drop).unwrap_err();
    assert!(matches!(error, ImportError::Read { .. }), "{error}");
}
