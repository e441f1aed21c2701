//! Atuin's database, opened for reading only and page by page, so that neither it nor our memory is held for long.

use std::path::Path;
use std::time::Duration;
use std::vec;

use store::sqlite::rusqlite::config::DbConfig;
use store::sqlite::rusqlite::types::ValueRef;
use store::sqlite::rusqlite::{self, Connection, OpenFlags, Row};

use super::Entry;
use super::lines::CAP;

#[derive(Debug)]
pub(super) struct Pages {
    connection: Connection,
    sql: String,
    page: vec::IntoIter<Option<Entry>>,
    /// The last row that was read.
    last: Place,
    ended: bool,
    pub(super) skipped: u64,
}

/// Of a row: when it began, in nanoseconds, and its number.
type Place = (i64, i64);

impl Pages {
    const ROWS: i64 = 4_000;

    #[expect(
        clippy::disallowed_methods,
        reason = "another tool's database: our policy would migrate and lock it"
    )]
    pub(super) fn open(path: &Path) -> rusqlite::Result<Pages> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        // Older databases do not know deletion.
        let deletes = "SELECT count(*) FROM pragma_table_info('history') WHERE name = 'deleted_at'";
        let kept = match connection.query_row(deletes, [], |row| row.get::<_, i64>(0))? {
            0 => "",
            _ => "AND deleted_at IS NULL",
        };
        let sql = format!(
            "SELECT timestamp, rowid, command, exit, duration, cwd, session FROM history
             WHERE typeof(timestamp) = 'integer' AND (timestamp, rowid) > (?1, ?2) {kept}
             ORDER BY timestamp, rowid LIMIT ?3"
        );
        // A database without such a table is refused here and not at the first row.
        connection.prepare(&sql)?;
        Ok(Pages {
            connection,
            sql,
            page: Vec::new().into_iter(),
            last: (i64::MIN, i64::MIN),
            ended: false,
            skipped: 0,
        })
    }

    fn turn(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(&self.sql)?;
        let mut rows = statement.query((self.last.0, self.last.1, Self::ROWS))?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            self.last = (row.get(0)?, row.get(1)?);
            page.push(entry(row)?);
        }
        self.ended = page.is_empty();
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for Pages {
    type Item = rusqlite::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.page.next() {
                Some(Some(entry)) => return Some(Ok(entry)),
                Some(None) => self.skipped += 1,
                None if self.ended => return None,
                None => {
                    if let Err(error) = self.turn() {
                        self.ended = true;
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// None for what is no command.
fn entry(row: &Row<'_>) -> rusqlite::Result<Option<Entry>> {
    let command = bytes(row, 2)?.unwrap_or_default();
    if command.len() > CAP {
        return Ok(None);
    }
    // −1 stands for what atuin did not see: a command that was still running.
    let nanos = number(row, 4).filter(|nanos| *nanos >= 0);
    let ts = number(row, 0).map(|start| start.saturating_add(nanos.unwrap_or(0)) / 1_000_000);
    let text = |index| -> rusqlite::Result<Option<String>> {
        let text = bytes(row, index)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        // What atuin writes for histories that it imported itself.
        Ok(text.filter(|text| !text.is_empty() && text != "unknown"))
    };
    let (cwd, session) = (text(5)?, text(6)?);
    Ok(Entry::of(command, 0).map(|entry| Entry {
        ts: ts.filter(|ts| *ts > 0),
        exit_code: number(row, 3).filter(|code| *code >= 0).and_then(|code| i32::try_from(code).ok()),
        duration_ms: nanos.map(|nanos| nanos.unsigned_abs() / 1_000_000),
        cwd,
        session,
        ..entry
    }))
}

fn number(row: &Row<'_>, index: usize) -> Option<i64> {
    row.get(index).ok()
}

fn bytes(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        _ => None,
    })
}
