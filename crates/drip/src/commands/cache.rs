//! `drip cache`: contents that are kept as files beside the database.

use kit::page::Column;
use kit::{Exit, Failure, Page, text};
use serde::Serialize;
use serde_json::json;

use super::{Call, bytes, store_failure};
use crate::database::Storage;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say what is kept and where
    Stats,
    /// Remove contents that nothing refers to
    Gc,
    /// Move large contents out of the database and make it as small as it can be
    Compact,
    /// What a hook leaves to a process of its own: fold the log, forget what is over
    #[command(hide = true)]
    Fold,
}

#[derive(Serialize)]
struct Compacted {
    moved_rows: usize,
    db_bytes_before: u64,
    db_bytes_after: u64,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    match args.what {
        What::Stats => stats(call),
        What::Gc => gc(call),
        What::Compact => compact(call),
        What::Fold => fold(call),
    }
}

fn stats(call: &mut Call) -> Result<Exit, Failure> {
    let storage = match call.here.stored()? {
        Some(database) => database.storage().map_err(|error| store_failure(&error))?,
        None => Storage::default(),
    };
    call.show(&storage, |page| to_text(page, &storage))
}

fn gc(call: &mut Call) -> Result<Exit, Failure> {
    let removed = match call.here.stored()? {
        Some(mut database) => database.collect().map_err(|error| store_failure(&error))?,
        None => store::blobs::Amount::default(),
    };
    call.show(&json!({"removed_files": removed.blobs, "removed_bytes": removed.bytes}), |page| {
        format!(
            "Removed files  : {}\nRemoved bytes  : {}\n{}",
            text::thousands(removed.blobs),
            bytes(removed.bytes),
            page.next("cache stats", "what is left")
        )
    })
}

fn compact(call: &mut Call) -> Result<Exit, Failure> {
    let compacted = match call.here.stored()? {
        Some(mut database) => {
            let db_bytes_before = database.size();
            let moved_rows = database.compact().map_err(|error| store_failure(&error))?;
            Compacted { moved_rows, db_bytes_before, db_bytes_after: database.size() }
        }
        None => Compacted { moved_rows: 0, db_bytes_before: 0, db_bytes_after: 0 },
    };
    call.show(&compacted, |page| {
        format!(
            "Moved rows     : {}\nDatabase       : {} -> {}\n{}",
            text::thousands(compacted.moved_rows as u64),
            bytes(compacted.db_bytes_before),
            bytes(compacted.db_bytes_after),
            page.next("cache stats", "what is where now")
        )
    })
}

/// Nobody looks at this one: it says nothing unless it fails.
fn fold(call: &mut Call) -> Result<Exit, Failure> {
    if let Some(mut database) = call.here.stored()? {
        database.fold().map_err(|error| store_failure(&error))?;
    }
    Ok(Exit::Done)
}

fn to_text(page: &Page, storage: &Storage) -> String {
    let mode = match storage.inline_max_bytes {
        -1 => "everything in the database".to_owned(),
        0 => "everything in files".to_owned(),
        max => format!("up to {} in the database, larger in files", bytes(max.unsigned_abs())),
    };
    let count = |number: u64| text::thousands(number);
    let rows = [
        ["Mode", "", &mode],
        ["In the database", &count(storage.inline_rows), &bytes(storage.inline_bytes)],
        [
            "In files",
            &count(storage.file_rows),
            &format!("rows, {} different contents", count(storage.unique_hashes)),
        ],
        ["Files", &count(storage.cache_files), &bytes(storage.cache_size_bytes)],
        ["Kept once", "", &format!("{} saved", bytes(storage.dedup_savings))],
        ["Orphans", &count(storage.orphan_files), &bytes(storage.orphan_bytes)],
        ["Database", "", &bytes(storage.db_size_bytes)],
        ["Too large for it", &count(storage.compactable_rows), &bytes(storage.compactable_bytes)],
    ]
    .map(|row| row.map(str::to_owned));
    let next = match (storage.compactable_rows, storage.orphan_files) {
        (1.., _) => page.next("cache compact", "move large contents into files"),
        (_, 1..) => page.next("cache gc", "remove what nothing refers to"),
        _ => page.next("meter", "what this is good for"),
    };
    format!("{}{next}", page.aligned([Column::Dim, Column::Right, Column::Left], &rows))
}
