//! From an older schema to the newest, forwards only and all or nothing. Knows versions, not tables.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::SqliteError;

/// What an owner brings. `user_version` counts the migrations that a database has seen.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Whose database it is, for messages.
    pub application: &'static str,
    /// SQL scripts without transaction statements; the first makes version 1. Only ever added to.
    pub migrations: &'static [&'static str],
    /// Called in the same transaction after each migration, for an owner that also keeps a version table of its own.
    pub mirror: Option<fn(&Transaction<'_>, Migrated) -> rusqlite::Result<()>>,
}

/// One migration that was just applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    pub version: usize,
    pub unix_ms: i64,
}

pub(super) enum Work {
    Nothing,
    From(usize),
}

impl Schema {
    /// What a database of version `found` needs; one from the future is refused.
    pub(super) fn needs(&self, found: i64, path: &Path) -> Result<Work, SqliteError> {
        let supported = self.migrations.len();
        match usize::try_from(found) {
            Ok(found) if found == supported => Ok(Work::Nothing),
            Ok(found) if found < supported => Ok(Work::From(found)),
            _ => {
                let application = self.application;
                Err(SqliteError::Newer { path: path.to_owned(), application, found, supported })
            }
        }
    }
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Applies everything after version `from` in one transaction. The caller holds the lock under which alone the
/// version changes.
pub(super) fn run(
    connection: &mut Connection,
    schema: &Schema,
    from: usize,
    unix_ms: i64,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (index, script) in schema.migrations.iter().enumerate().skip(from) {
        transaction.execute_batch(script)?;
        if let Some(mirror) = schema.mirror {
            mirror(&transaction, Migrated { version: index + 1, unix_ms })?;
        }
    }
    transaction.pragma_update(None, "user_version", schema.migrations.len() as i64)?;
    transaction.commit()
}
