//! This test binary as its own child, to be killed or to compete.

use std::collections::HashSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROLE: &str = "CHIBI_TEST_ROLE";
const FOLDER: &str = "CHIBI_TEST_FOLDER";
const NUMBER: &str = "CHIBI_TEST_NUMBER";

/// What a child does, by name. Each gets chibi's home and a number of its own.
type Role = (&'static str, fn(&Path, u64));

const ROLES: &[Role] =
    &[("live", super::crash::child_lives), ("take turns", super::together::child_takes_its_turns)];

#[test]
fn a_child_plays_its_role() {
    let unique: HashSet<_> = ROLES.iter().map(|(name, _)| name).collect();
    assert_eq!(unique.len(), ROLES.len(), "each role has its own name");
    if let (Ok(role), Some(folder), Ok(number)) = (env::var(ROLE), env::var_os(FOLDER), env::var(NUMBER)) {
        let (_, play) = ROLES.iter().find(|(name, _)| *name == role).unwrap();
        play(&PathBuf::from(folder), number.parse().unwrap());
    }
}

pub(crate) fn command(role: &str, folder: &Path, number: usize) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "again::a_child_plays_its_role", "--nocapture"]);
    command.env(ROLE, role).env(FOLDER, folder).env(NUMBER, number.to_string());
    command
}
