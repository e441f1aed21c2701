//! What the store holds, in numbers, and putting it in order: contents that nobody refers to, rows that grew too large
//! for the database, entries that are too old.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Duration;

use serde::Serialize;
use store::blobs::{Amount, Digest};
use store::sqlite::rusqlite::{ErrorCode, params};

use super::{Database, Result, Writing};
use crate::settings::Inline;

/// Where contents are and how much room they take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Storage {
    /// -1 if everything stays in the database.
    pub inline_max_bytes: i64,
    pub inline_rows: u64,
    pub inline_bytes: u64,
    pub file_rows: u64,
    /// Those whose file is there.
    pub linked_file_rows: u64,
    pub unique_hashes: u64,
    pub cache_files: u64,
    pub cache_size_bytes: u64,
    /// Log included.
    pub db_size_bytes: u64,
    pub orphan_files: u64,
    pub orphan_bytes: u64,
    /// Bytes that are kept once and would be kept several times.
    pub dedup_savings: u64,
    pub compactable_rows: u64,
    pub compactable_bytes: u64,
}

/// What the registry knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RegistrySize {
    pub known_files: u64,
    pub bytes: u64,
    pub oldest_seen_at: Option<i64>,
}

/// Everything that keeps a text: one row for each.
const KEPT: &str = "SELECT content_hash AS hash, content, content_storage AS storage FROM reads
    UNION ALL SELECT content_hash, content, content_storage FROM file_registry
    UNION ALL SELECT content_hash, payload, iif(payload IS NULL, 'file', 'inline') FROM deliveries WHERE form = 'whole'";

impl Database {
    pub fn storage(&self) -> Result<Storage> {
        let (inline_rows, inline_bytes) = self.inline(None)?;
        let (compactable_rows, compactable_bytes) = match self.options.inline {
            Inline::All => (0, 0),
            inline => self.inline(Some(threshold(inline)))?,
        };
        let refs = self.references()?;
        let mut storage = Storage {
            inline_max_bytes: match self.options.inline {
                Inline::All => -1,
                Inline::UpTo(max) => i64::try_from(max).unwrap_or(i64::MAX),
            },
            inline_rows,
            inline_bytes,
            compactable_rows,
            compactable_bytes,
            unique_hashes: refs.len() as u64,
            file_rows: refs.values().sum(),
            db_size_bytes: self.size(),
            ..Storage::default()
        };
        for (digest, bytes) in self.blobs()?.entries()? {
            storage.cache_files += 1;
            storage.cache_size_bytes += bytes;
            match refs.get(&digest) {
                Some(rows) => {
                    storage.linked_file_rows += rows;
                    storage.dedup_savings += (rows - 1) * bytes;
                }
                None => {
                    storage.orphan_files += 1;
                    storage.orphan_bytes += bytes;
                }
            }
        }
        Ok(storage)
    }

    pub fn registry_size(&self) -> Result<RegistrySize> {
        let sum = "SELECT count(*), coalesce(sum(bytes), 0), min(last_seen_at) FROM file_registry";
        Ok(self.connection.query_row(sum, [], |row| {
            Ok(RegistrySize { known_files: row.get(0)?, bytes: row.get(1)?, oldest_seen_at: row.get(2)? })
        })?)
    }

    /// Forgets what nobody saw since then, and what is too much. Returns how many entries and contents went.
    pub fn shrink_registry(&mut self, seen_until: i64) -> Result<(usize, Amount)> {
        let rows = self.write(|writing| writing.bound_registry(seen_until))?;
        Ok((rows, self.collect()?))
    }

    /// Removes the files of contents that no row refers to. Rows and files are made under the same lock, so that none is
    /// on its way meanwhile.
    pub fn collect(&mut self) -> Result<Amount> {
        self.write(|writing| {
            let live: HashSet<Digest> = writing.live()?.into_iter().collect();
            // Whatever the clock says: nobody is between a file and its row.
            Ok(writing.blobs()?.collect(|digest| live.contains(digest), i64::MAX, Duration::ZERO)?)
        })
    }

    /// Moves contents that are too large for a row into files, and gives the room back. Returns how many.
    pub fn compact(&mut self) -> Result<usize> {
        let moved = match self.options.inline {
            Inline::All => 0,
            inline => self.write(|writing| writing.hoist(threshold(inline)))?,
        };
        self.connection.execute_batch("VACUUM")?;
        self.fold_log()?;
        Ok(moved)
    }

    /// All that a hook leaves to others: the end of idle sessions, the bounds of the registry, contents that nobody
    /// needs, and the log. Waits for the disk.
    pub fn fold(&mut self) -> Result<()> {
        self.write(|writing| {
            writing.expire()?;
            writing.transaction.execute("DELETE FROM meta WHERE key = 'fold_due'", [])?;
            writing.bound_registry(writing.registry_horizon())
        })?;
        self.collect()?;
        self.scrub()?;
        self.fold_log()?;
        // Whoever writes into an empty log waits for the disk twice: better we than the next hook.
        let first = "INSERT OR REPLACE INTO meta VALUES ('folded_at', ?1)";
        self.connection.execute(first, [self.now().to_string()])?;
        Ok(())
    }

    /// The version of the tables, as the seed counts.
    pub fn schema(&self) -> Result<String> {
        let find = "SELECT value FROM meta WHERE key = 'schema_version'";
        Ok(self.connection.query_row(find, [], |row| row.get(0))?)
    }

    /// Whether somebody writes for longer than we would wait.
    pub fn is_locked(&self) -> Result<bool> {
        match self.connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(true),
            other => Ok(other.map(|()| false)?),
        }
    }

    /// Of the database and its log.
    pub fn size(&self) -> u64 {
        let bytes = |name: &str| fs::metadata(self.root.join(name)).map_or(0, |file| file.len());
        bytes("sessions.db") + bytes("sessions.db-wal")
    }

    /// Rows that keep a text of more than so many bytes, or any.
    fn inline(&self, above: Option<i64>) -> Result<(u64, u64)> {
        let count = format!(
            "SELECT count(*), coalesce(sum(octet_length(content)), 0) FROM ({KEPT})
             WHERE storage = 'inline' AND octet_length(content) > ?1"
        );
        Ok(self.connection.query_row(&count, [above.unwrap_or(-1)], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// How many rows refer to each file.
    fn references(&self) -> Result<HashMap<Digest, u64>> {
        let find = format!("SELECT hash, count(*) FROM ({KEPT}) WHERE storage = 'file' GROUP BY hash");
        let mut statement = self.connection.prepare(&find)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?)))?;
        let mut found = HashMap::new();
        for row in rows {
            let (hash, rows) = row?;
            found.extend(hash.parse().ok().map(|digest| (digest, rows)));
        }
        Ok(found)
    }
}

impl Writing<'_> {
    fn live(&self) -> Result<Vec<Digest>> {
        let find = format!("SELECT DISTINCT hash FROM ({KEPT}) WHERE storage = 'file'");
        let mut statement = self.transaction.prepare(&find)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let hashes = rows.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(hashes.iter().filter_map(|hash| hash.parse().ok()).collect())
    }

    fn hoist(&self, above: i64) -> Result<usize> {
        let blobs = self.blobs()?;
        let large = format!(
            "SELECT DISTINCT hash, content FROM ({KEPT}) WHERE storage = 'inline' AND octet_length(content) > ?1"
        );
        let mut statement = self.transaction.prepare(&large)?;
        let mut rows = statement.query([above])?;
        let mut moved = 0;
        while let Some(row) = rows.next()? {
            let (hash, content): (String, String) = (row.get(0)?, row.get(1)?);
            if blobs.put(content.as_bytes())?.to_string() != hash {
                continue;
            }
            for update in [
                "UPDATE reads SET content = NULL, content_storage = 'file'
                 WHERE content_hash = ?1 AND content_storage = 'inline'",
                "UPDATE file_registry SET content = NULL, content_storage = 'file'
                 WHERE content_hash = ?1 AND content_storage = 'inline'",
                "UPDATE deliveries SET payload = NULL, payload_hash = ?1
                 WHERE content_hash = ?1 AND form = 'whole' AND payload IS NOT NULL",
            ] {
                moved += self.transaction.execute(update, params![hash])?;
            }
        }
        Ok(moved)
    }
}

/// Larger contents belong into files.
fn threshold(inline: Inline) -> i64 {
    match inline {
        Inline::All => i64::MAX,
        // Zero sends even an empty content to its file.
        Inline::UpTo(0) => -1,
        Inline::UpTo(max) => i64::try_from(max).unwrap_or(i64::MAX),
    }
}
