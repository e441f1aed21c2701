//! What clai stands on: its places and their permissions, its settings, its binaries, its database.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use kit::doctor::Check;
use kit::places::{Presence, look_private, shell_word};
use kit::{Invocation, Places, text};
use store::sqlite::rusqlite::{self, Connection, ErrorCode, OpenFlags};
use wire::endpoint::clai_dir;

use super::hinted;
use crate::config::{self, Loaded};
use crate::database::{FILE, Reader};

/// A database up to this size is read through; a larger one would keep the person waiting.
const READ_THROUGH: u64 = 64 << 20;

pub(super) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let mut checks = vec![settings(invocation, places)];
    checks.extend(binaries(invocation));
    checks.push(place("runtime", &clai_dir(places), places));
    match config::database_dir(&invocation.env, places) {
        Err(failure) => checks.push(Check::fail("history", words(&failure)).hint("unset CLAI_DB_DIR")),
        Ok(directory) => {
            let file = directory.join(FILE);
            match file.symlink_metadata().is_ok() {
                false => checks.push(place("history", &directory, places)),
                true => checks.push(history(invocation, places, &directory)),
            }
        }
    }
    checks
}

fn settings(invocation: &Invocation, places: &Places) -> Check {
    let path = config::path(places);
    let shown = places.tilde(&path);
    let edit = || format!("`$EDITOR {}`", shell_word(path.as_os_str()));
    match config::load(places, &invocation.env, &[]) {
        Err(failure) => Check::fail("config", words(&failure)).hint(edit()),
        Ok(Loaded { warnings, .. }) if !warnings.is_empty() => {
            Check::warn("config", format!("{shown}: {}", warnings.join("; "))).hint(edit())
        }
        Ok(_) if path.exists() => Check::ok("config", shown),
        Ok(_) => Check::ok("config", "defaults; `clai config init` writes a file to change them in"),
    }
}

/// What the scripts of the shells call.
fn binaries(invocation: &Invocation) -> Vec<Check> {
    let missing =
        |name: &str| invocation.program.sibling(name).err().map(|failure| (name.to_owned(), failure));
    let missing: Vec<_> =
        ["clai", "clai-hook", "clai-daemon"].iter().filter_map(|name| missing(name)).collect();
    if missing.is_empty() {
        return vec![Check::ok("binaries", "clai, clai-hook and clai-daemon stand side by side")];
    }
    missing
        .iter()
        .map(|(_, failure)| Check::fail("binaries", words(failure)).hint("`cargo xtask install`"))
        .collect()
}

fn place(subject: &str, path: &Path, places: &Places) -> Check {
    let shown = places.tilde(path);
    match look_private(path, places.uid) {
        Ok(Presence::There) => Check::ok(subject, format!("{shown}  0700, ours")),
        Ok(Presence::NotYet) => Check::ok(subject, format!("{shown}  not made yet")),
        Err(error) => hinted(Check::fail(subject, error.to_string()), error.hint()),
    }
}

fn history(invocation: &Invocation, places: &Places, directory: &Path) -> Check {
    let private = place("history", directory, places);
    if private.health != kit::doctor::Health::Ok {
        return private;
    }
    let file = directory.join(FILE);
    let shown = places.tilde(&file);
    if let Ok(metadata) = fs::symlink_metadata(&file)
        && metadata.mode() & 0o077 != 0
    {
        let finding = format!("{shown} is open to other users (mode {:04o})", metadata.mode() & 0o7777);
        return Check::fail("history", finding).hint(format!("`chmod 600 {}`", shell_word(file.as_os_str())));
    }
    if let Err(error) = looked_through(&file) {
        let finding = format!("{shown} cannot be read: {error}");
        return hinted(Check::fail("history", finding), broken(&error));
    }
    let opened = Reader::open(directory, invocation.clock.unix_ms());
    match opened.and_then(|reader| reader.map(|reader| reader.stats()).transpose()) {
        Err(error) => hinted(
            Check::fail("history", words(&super::super::database_failure("cannot open", &error))),
            error.hint(),
        ),
        Ok(stats) => {
            let (commands, bytes) = stats.map_or((0, 0), |stats| (stats.commands, stats.bytes));
            let size = format!("{} KB", text::thousands(bytes.div_ceil(1024)));
            Check::ok("history", format!("{shown}  {} commands, {size}", text::thousands(commands)))
        }
    }
}

/// By a connection that cannot write, so that a broken file is found and not yet set aside.
#[expect(clippy::disallowed_methods, reason = "a doctor looks: our policy would set a broken database aside")]
fn looked_through(file: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(1))?;
    let small = fs::metadata(file).is_ok_and(|metadata| metadata.len() <= READ_THROUGH);
    let question = if small { "PRAGMA quick_check(1)" } else { "SELECT 'ok' FROM sqlite_schema LIMIT 1" };
    let answer: String = connection.query_row(question, [], |row| row.get(0))?;
    if answer == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error { code: ErrorCode::DatabaseCorrupt, extended_code: 11 };
    Err(rusqlite::Error::SqliteFailure(code, Some(answer)))
}

fn broken(error: &rusqlite::Error) -> Option<String> {
    let corrupt = [ErrorCode::NotADatabase, ErrorCode::DatabaseCorrupt];
    corrupt.contains(&error.sqlite_error_code()?).then(|| {
        "`clai daemon start` keeps it as clai.db.corrupt-… and begins anew; `clai import` fills it again"
            .to_owned()
    })
}

/// A failure as a finding: without the word that announces it, and without its hint.
fn words(failure: &kit::Failure) -> String {
    let said = failure.to_string();
    let first = said.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}
