//! `drip registry`: what is remembered of files from one session to the next.

use kit::{Exit, Failure, text};
use serde::Serialize;

use super::times::{self, ago};
use super::{Call, bytes, store_failure};
use crate::database::RegistrySize;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say how much is remembered
    Stats,
    /// Forget what nobody has read for a while
    Gc {
        /// How long: 30s, 5m, 1h, 30d
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = times::seconds)]
        older_than: i64,
    },
}

#[derive(Serialize)]
struct Removed {
    removed_rows: usize,
    removed_blobs: u64,
    removed_bytes: u64,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    match args.what {
        What::Stats => stats(call),
        What::Gc { older_than } => gc(call, older_than),
    }
}

fn stats(call: &mut Call) -> Result<Exit, Failure> {
    let size = match call.here.stored()? {
        Some(database) => database.registry_size().map_err(|error| store_failure(&error))?,
        None => RegistrySize::default(),
    };
    let now = call.here.now();
    call.show(&size, |page| {
        let oldest = size.oldest_seen_at.map_or("-".to_owned(), |at| ago(at, now));
        format!(
            "Known files    : {}\nBytes          : {}\nOldest         : {oldest}\n{}",
            text::thousands(size.known_files),
            bytes(size.bytes),
            page.next("registry gc --older-than 30d", "forget what nobody has read for a month")
        )
    })
}

fn gc(call: &mut Call, older_than: i64) -> Result<Exit, Failure> {
    let (removed_rows, blobs) = match call.here.stored()? {
        Some(mut database) => {
            let seen_until = call.here.now().saturating_sub(older_than);
            database.shrink_registry(seen_until).map_err(|error| store_failure(&error))?
        }
        None => Default::default(),
    };
    let removed = Removed { removed_rows, removed_blobs: blobs.blobs, removed_bytes: blobs.bytes };
    call.show(&removed, |page| {
        format!(
            "Removed rows   : {}\nRemoved blobs  : {}\n{}",
            text::thousands(removed.removed_rows as u64),
            text::thousands(removed.removed_blobs),
            page.next("registry stats", "what is left")
        )
    })
}
