//! The ground: places, sockets, disk, programs. Looks, and writes only below the temporary directory.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kit::doctor::Check;
use kit::log::Log;
use kit::places::{PlaceError, Presence, look_private};
use kit::{Invocation, Places, process, text};

/// Below this a database that grows can fail in the middle of a day.
const LITTLE_SPACE: u64 = 100 << 20;

pub(super) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let mut checks = vec![
        private("state", &places.state.join("scrimp"), places),
        private("config", &places.config.join("scrimp"), places),
        private("runtime", &places.runtime_dir("scrimp"), places),
        temporary(places),
    ];
    checks.extend(places.ignored.iter().map(|(name, error)| ignored(name, error)));
    checks.extend(space(places));
    checks.extend(["git", "bash", "zsh", "fish"].map(|name| program(invocation, name)));
    checks.push(clock(invocation.clock.unix_ms()));
    checks.extend(troubles(places));
    checks
}

/// A place that cannot be used.
pub(super) fn place(subject: &str, error: &PlaceError) -> Check {
    let check = Check::fail(subject, error.to_string());
    match error.hint() {
        Some(hint) => check.hint(hint),
        None => check,
    }
}

fn private(subject: &str, path: &Path, places: &Places) -> Check {
    let shown = places.tilde(path);
    match look_private(path, places.uid) {
        Ok(Presence::There) => Check::ok(subject, format!("{shown}  0700, ours")),
        Ok(Presence::NotYet) => Check::ok(subject, format!("{shown}  not made yet")),
        Err(error) => place(subject, &error),
    }
}

fn temporary(places: &Places) -> Check {
    let shown = places.temp.display();
    match fs::metadata(&places.temp) {
        Err(error) => {
            Check::fail("temp", format!("{shown}: {error}")).hint("set TMPDIR to a directory of yours")
        }
        Ok(folder) if !folder.is_dir() => Check::fail("temp", format!("{shown} is not a directory"))
            .hint("set TMPDIR to a directory of yours"),
        Ok(folder) if folder.mode() & 0o1002 == 0o002 => {
            let finding =
                format!("{shown} lets everybody rename everything (mode {:04o})", folder.mode() & 0o7777);
            Check::fail("temp", finding).hint("set TMPDIR to a directory of yours")
        }
        Ok(folder) => Check::ok("temp", format!("{shown}  mode {:04o}", folder.mode() & 0o7777)),
    }
}

fn ignored(name: &str, error: &PlaceError) -> Check {
    let check = Check::warn("environment", format!("{name} is not followed: {error}"));
    match error.hint() {
        Some(hint) => check.hint(hint),
        None => check,
    }
}

/// Free space where data goes; the nearest directory that exists tells.
fn space(places: &Places) -> Option<Check> {
    let folder = places.data.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let finding = format!("{} MB free for {}", text::thousands(free >> 20), places.tilde(&places.data));
    Some(match free < LITTLE_SPACE {
        true => Check::warn("disk", finding).hint(format!("`du -sh {}`", places.tilde(folder))),
        false => Check::ok("disk", finding),
    })
}

fn program(invocation: &Invocation, name: &str) -> Check {
    match process::find(name, &invocation.env) {
        Some(path) => Check::ok(name, path.display().to_string()),
        None => Check::ok(name, "not installed"),
    }
}

/// Histories and caches are ordered by time: a clock that lies shows there first.
fn clock(unix_ms: i64) -> Check {
    const YEAR_2024: i64 = 1_704_067_200_000;
    match unix_ms < YEAR_2024 {
        true => Check::warn("clock", "the time is before 2024").hint("`timedatectl set-ntp true`"),
        false => Check::ok("clock", "plausible"),
    }
}

/// The last thing each tool could not do, from the logs that hooks leave.
fn troubles(places: &Places) -> Vec<Check> {
    let folder = places.state.join("scrimp");
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".log").map(str::to_owned))
        .collect();
    names.sort();
    let last = |name: &String| Some((name.clone(), Log::of(name, places).last_trouble().ok()??));
    names
        .iter()
        .filter_map(last)
        .map(|(name, line)| Check::warn(name, format!("last trouble: {line}")))
        .collect()
}
