//! Forgetting: one file, the counters, or everything there is, down to the last byte.

use std::fs;
use std::io;
use std::path::Path;

use store::sqlite::rusqlite::params;

use super::{Database, DatabaseError, Options, Result};
use crate::settings::{Inline, Replay};

impl Database {
    /// Forgets what was shown of a file, in every session. Returns in how many it was known.
    pub fn forget_file(&mut self, path: &str) -> Result<usize> {
        self.write(|writing| {
            let sessions = writing.transaction.query_row(
                "SELECT count(DISTINCT session_id) FROM reads WHERE file_path = ?1 AND delivery > 0",
                [path],
                |row| row.get(0),
            )?;
            for table in ["reads", "precomputed_reads", "passthrough_pending"] {
                writing.transaction.execute(&format!("DELETE FROM {table} WHERE file_path = ?1"), [path])?;
            }
            Ok(sessions)
        })
    }

    /// Forgets a file that may no longer be kept, with all that was said about it, in every session and across them. Its
    /// last bytes go when the log is folded next.
    pub fn disown(&mut self, path: &str) -> Result<()> {
        let kept = "SELECT 1 FROM file_registry WHERE file_path = ?1
                    UNION ALL SELECT 1 FROM reads WHERE file_path = ?1";
        if !self.connection.prepare_cached(kept)?.exists([path])? {
            return Ok(());
        }
        self.write(|writing| {
            for table in [
                "reads",
                "precomputed_reads",
                "passthrough_pending",
                "file_registry",
                "deliveries",
                "read_events",
                "edit_events",
            ] {
                writing.transaction.execute(&format!("DELETE FROM {table} WHERE file_path = ?1"), [path])?;
            }
            let due = "INSERT OR REPLACE INTO meta VALUES ('fold_due', '1'), ('scrub_due', '1')";
            writing.transaction.execute(due, [])?;
            Ok(())
        })
    }

    /// Writes the database anew if a file was disowned: what was deleted from it, or replaced before, is in it until then.
    pub(super) fn scrub(&self) -> Result<()> {
        let due = "SELECT 1 FROM meta WHERE key = 'scrub_due'";
        if self.connection.prepare(due)?.exists([])? {
            self.connection.execute_batch("VACUUM; DELETE FROM meta WHERE key = 'scrub_due'")?;
        }
        Ok(())
    }

    /// Sets the lifetime counters to nothing; sessions stay.
    pub fn reset_counters(&mut self) -> Result<()> {
        self.write(|writing| {
            for table in ["lifetime_per_file", "lifetime_daily", "lifetime_edited_files"] {
                writing.transaction.execute(&format!("DELETE FROM {table}"), [])?;
            }
            writing.transaction.execute(
                "UPDATE lifetime_stats SET total_reads = 0, tokens_full = 0, tokens_sent = 0, overhead_tokens = 0,
                 external_edit_refreshes = 0",
                [],
            )?;
            let mark = "INSERT OR REPLACE INTO meta VALUES ('last_reset_at', ?1)";
            writing.transaction.execute(mark, params![writing.now.to_string()])?;
            Ok(())
        })
    }

    /// Empties every table and overwrites what was in it, so that others who have the store open see it empty.
    fn empty(&self) -> Result<()> {
        self.connection.pragma_update(None, "secure_delete", true)?;
        let find = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'meta'";
        let mut tables = self.connection.prepare(find)?;
        let tables: Vec<String> =
            tables.query_map([], |row| row.get(0))?.collect::<std::result::Result<_, _>>()?;
        for table in tables {
            self.connection.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.connection.execute("DELETE FROM meta WHERE key <> 'schema_version'", [])?;
        self.connection
            .execute("INSERT INTO lifetime_stats (id, installed_at) VALUES (1, ?1)", [self.now()])?;
        self.connection.execute_batch("VACUUM")?;
        self.fold_log()
    }
}

/// Removes all that drip keeps in a directory. A store that cannot be opened is removed as it is.
pub fn erase(root: &Path, now_ms: i64) -> Result<()> {
    if !root.exists() {
        return Ok(());
    }
    let options = Options {
        inline: Inline::All,
        ttl: std::time::Duration::MAX,
        registry: false,
        replay: Replay { enabled: false, keep: 0 },
    };
    let emptied = Database::open(root, options, now_ms).and_then(|database| database.empty()).is_ok();
    remove(root, emptied).map_err(DatabaseError::Erase)
}

/// Contents, what was set aside, and the database unless it was emptied. What is not ours in there stays.
fn remove(root: &Path, emptied: bool) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_current =
            matches!(&*name, "sessions.db" | "sessions.db-wal" | "sessions.db-shm" | "sessions.db.lock");
        let done = match &*name {
            "cache" | "lost" => fs::remove_dir_all(entry.path()),
            _ if is_current && emptied => Ok(()),
            _ if name.starts_with("sessions.db") => fs::remove_file(entry.path()),
            _ => Ok(()),
        };
        match done {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
