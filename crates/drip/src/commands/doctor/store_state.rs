//! Whether the store can be used, and what is in it.

use std::fs;
use std::path::Path;

use kit::doctor::Check;
use kit::places::{Presence, look_private};
use serde_json::{Value, json};

use super::Section;
use crate::commands::{Here, bytes};
use crate::database::{Database, DatabaseError, Result};

pub(super) fn sections(here: &Here) -> [Section; 2] {
    let (root, uid) = (here.root(), here.places.uid);
    let subject = "store";
    let place = here.places.tilde(&root);
    let closed = |check: Check| [database(vec![check], Value::Null), cache(Vec::new(), Value::Null)];
    match look_private(&root, uid) {
        Err(error) => {
            let check = Check::fail(subject, error.to_string());
            return closed(match error.hint() {
                Some(hint) => check.hint(hint),
                None => check,
            });
        }
        Ok(Presence::NotYet) => return closed(Check::ok(subject, format!("{place}  not made yet"))),
        Ok(Presence::There) if !Database::path(&root).exists() => {
            return closed(Check::ok(subject, format!("{place}  0700, empty")));
        }
        Ok(Presence::There) => {}
    }
    match here.database() {
        Err(error) => closed(unusable(subject, &error)),
        Ok(opened) => match open(&opened, &root, &place) {
            Ok(sections) => sections,
            Err(error) => closed(unusable(subject, &error)),
        },
    }
}

/// Reads go on natively meanwhile, but nothing is saved.
fn unusable(subject: &str, error: &DatabaseError) -> Check {
    let failure = crate::commands::store_failure(error).to_string();
    let mut lines = failure.lines();
    let what = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let check = Check::fail(subject, format!("{what}; reads go on without it"));
    match error.hint() {
        Some(hint) => check.hint(hint),
        None => check,
    }
}

fn open(opened: &Database, root: &Path, place: &str) -> Result<[Section; 2]> {
    let storage = opened.storage()?;
    let schema = opened.schema()?;
    let size = storage.db_size_bytes + storage.cache_size_bytes;
    let orphans = match storage.orphan_files {
        0 => "no orphans".to_owned(),
        count => format!("{count} orphans"),
    };
    let mut checks = vec![Check::ok("store", format!("{place}  0700, {}, {orphans}", bytes(size)))];
    checks.push(match opened.is_locked()? {
        false => Check::ok("schema", format!("version {schema}")),
        true => Check::warn("store", "another process writes and does not finish; reads are not remembered")
            .hint(format!("`fuser -v {}`", kit::places::shell_word(Database::path(root).as_os_str()))),
    });
    checks.extend(set_aside(root));
    let meta = json!({"path": Database::path(root), "schema_version": schema, "size_bytes": storage.db_size_bytes});
    let mut files = vec![Check::ok(
        "cache",
        format!("{} files, {}, {orphans}", storage.cache_files, bytes(storage.cache_size_bytes)),
    )];
    if storage.orphan_files > 0 {
        files[0] = files[0].clone().hint("`drip cache gc`");
    }
    if storage.linked_file_rows < storage.file_rows {
        let lost = storage.file_rows - storage.linked_file_rows;
        files.push(Check::warn("cache", format!("{lost} rows have lost their file: the next read is whole")));
    }
    files.extend(damaged(root));
    let cache_meta = serde_json::to_value(&storage).unwrap_or_default();
    Ok([database(checks, meta), cache(files, cache_meta)])
}

fn database(checks: Vec<Check>, meta: Value) -> Section {
    Section { key: "database", name: "Store", checks, meta }
}

fn cache(checks: Vec<Check>, meta: Value) -> Section {
    Section { key: "cache", name: "Cache", checks, meta }
}

/// What is left of stores that were broken.
fn set_aside(root: &Path) -> Option<Check> {
    let entries = fs::read_dir(root).ok()?.flatten();
    let kept: Vec<_> = entries.filter(|entry| entry.file_name().to_string_lossy().contains(".corrupt-")).collect();
    let first = kept.first()?.path();
    Some(
        Check::warn("store", format!("{} files of a broken store are kept, like {}", kept.len(), first.display()))
            .hint(format!("`rm {}/sessions.db.corrupt-*` if you do not need them", kit::places::shell_word(root.as_os_str()))),
    )
}

fn damaged(root: &Path) -> Option<Check> {
    let folder = root.join("cache/damaged");
    let count = fs::read_dir(&folder).ok()?.count();
    let hint = format!("`rm -r {}`", kit::places::shell_word(folder.as_os_str()));
    (count > 0).then(|| Check::warn("cache", format!("{count} damaged contents were set aside")).hint(hint))
}
