//! Whether the store can be used, and what is in it.

use std::fs;
use std::path::Path;

use kit::doctor::Check;
use kit::places::{Presence, look_private, shell_word};
use serde_json::{Value, json};

use super::Section;
use crate::commands::{Here, bytes, store_trouble};
use crate::database::{Database, DatabaseError, Result, Storage};

pub(super) fn sections(here: &Here) -> [Section; 2] {
    let root = here.root();
    let place = here.places.tilde(&root);
    let unopened = match look_private(&root, here.places.uid) {
        Err(error) => hinted(Check::fail("store", error.to_string()), error.hint()),
        Ok(Presence::NotYet) => Check::ok("store", format!("{place}  not made yet")),
        Ok(Presence::There) if !Database::path(&root).exists() => {
            Check::ok("store", format!("{place}  0700, empty"))
        }
        Ok(Presence::There) => match here.database().and_then(|opened| look(here, &opened, &root, &place)) {
            Ok(sections) => return sections,
            Err(error) => unusable(&error),
        },
    };
    [database(vec![unopened], Value::Null), cache(Vec::new(), Value::Null)]
}

/// Reads go on natively meanwhile, but nothing is saved.
fn unusable(error: &DatabaseError) -> Check {
    hinted(Check::fail("store", format!("{}; reads go on without it", store_trouble(error))), error.hint())
}

fn look(here: &Here, opened: &Database, root: &Path, place: &str) -> Result<[Section; 2]> {
    let (storage, schema) = (opened.storage()?, opened.schema()?);
    let size = bytes(storage.db_size_bytes + storage.cache_size_bytes);
    let mut checks = vec![
        Check::ok("store", format!("{place}  0700, {size}, {}", orphans(&storage))),
        Check::ok("schema", format!("version {schema}")),
    ];
    if opened.is_locked()? {
        let finding = "another process writes and does not finish; reads are not remembered";
        let path = shell_word(Database::path(root).as_os_str());
        checks.push(Check::warn("store", finding).hint(format!("`fuser -v {path}`")));
    }
    checks.extend(set_aside(root));
    let meta =
        json!({"path": Database::path(root), "schema_version": schema, "size_bytes": storage.db_size_bytes});
    let files = contents(here, root, &storage);
    Ok([database(checks, meta), cache(files, serde_json::to_value(&storage).unwrap_or_default())])
}

fn contents(here: &Here, root: &Path, storage: &Storage) -> Vec<Check> {
    let size = bytes(storage.cache_size_bytes);
    let finding = format!("{} files, {size}, {}", storage.cache_files, orphans(storage));
    let mend = (storage.orphan_files > 0).then(|| format!("`{} cache gc`", here.program.spoken()));
    let mut checks = vec![hinted(Check::ok("cache", finding), mend)];
    if storage.linked_file_rows < storage.file_rows {
        let lost = storage.file_rows - storage.linked_file_rows;
        checks
            .push(Check::warn("cache", format!("{lost} rows have lost their file: the next read is whole")));
    }
    checks.extend(damaged(root));
    checks
}

fn orphans(storage: &Storage) -> String {
    match storage.orphan_files {
        0 => "no orphans".to_owned(),
        1 => "1 orphan".to_owned(),
        count => format!("{count} orphans"),
    }
}

/// What is left of stores that were broken, or not ours.
fn set_aside(root: &Path) -> Option<Check> {
    let names = fs::read_dir(root).ok()?.flatten().map(|entry| entry.file_name());
    let kept = names.filter(|name| name.to_string_lossy().contains(".corrupt-")).count();
    let hint = format!("`rm {}/sessions.db.corrupt-*` if you do not need them", shell_word(root.as_os_str()));
    (kept > 0).then(|| {
        Check::warn("store", format!("{kept} files of a store that could not be used are kept")).hint(hint)
    })
}

fn damaged(root: &Path) -> Option<Check> {
    let folder = root.join("cache/damaged");
    let count = fs::read_dir(&folder).ok()?.count();
    let hint = format!("`rm -r {}`", shell_word(folder.as_os_str()));
    (count > 0).then(|| Check::warn("cache", format!("{count} damaged contents were set aside")).hint(hint))
}

fn database(checks: Vec<Check>, meta: Value) -> Section {
    Section { key: "database", name: "Store", checks, meta }
}

fn cache(checks: Vec<Check>, meta: Value) -> Section {
    Section { key: "cache", name: "Cache", checks, meta }
}

fn hinted(check: Check, hint: Option<String>) -> Check {
    match hint {
        Some(hint) => check.hint(hint),
        None => check,
    }
}
