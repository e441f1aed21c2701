//! Commands read back in an order, one at a time. Knows nothing of what is learned or counted from them.

use store::sqlite::rusqlite::{self, Connection, Params};

use super::extras::state;
use super::{Database, Result};
use crate::command::{Place, Ran, RepoKey, SessionId, Template};

/// The last command of the last import, in the table of what survives a restart.
pub(super) const SORTED_TO: &str = "sorted_to";

impl Database {
    /// Gives every command of the person in the order in which a running daemon learned them: up to the last import in
    /// the order of time, where an import puts them, and from there on as they came.
    pub fn replay(&self, mut learn: impl FnMut(&Ran)) -> Result<u64> {
        let replayed = (|| {
            let sorted_to = state(&self.connection, SORTED_TO)?.unwrap_or(0);
            let sorted = "id <= ?1 ORDER BY ts, id";
            let sorted = replay(&self.connection, sorted, [sorted_to], |_, ran| learn(ran))?;
            let later = "id > ?1 ORDER BY id";
            Ok(sorted + replay(&self.connection, later, [sorted_to], |_, ran| learn(ran))?)
        })();
        replayed.map_err(|source| self.failed(source))
    }

    /// When the latest command ended.
    pub fn newest(&self) -> Result<Option<i64>> {
        let newest = self.connection.query_row("SELECT max(ts) FROM command_event", [], |row| row.get(0));
        newest.map_err(|source| self.failed(source))
    }
}

pub(super) fn last_id(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT coalesce(max(id), 0) FROM command_event", [], |row| row.get(0))
}

/// Commands of the person with their row numbers; `rest` says which of them, and in which order. Gives how many.
pub(super) fn replay(
    connection: &Connection,
    rest: &str,
    values: impl Params,
    mut each: impl FnMut(i64, &Ran),
) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare(&format!(
        "SELECT id, session_id, ts, duration_ms, exit_code, cwd, repo_key, branch, cmd_raw, cmd_norm
         FROM command_event WHERE id NOT IN (SELECT event_id FROM event_actor) AND {rest}"
    ))?;
    let mut rows = statement.query(values)?;
    let (mut count, mut ran) = (0, empty());
    while let Some(row) = rows.next()? {
        read(row, &mut ran)?;
        each(row.get(0)?, &ran);
        count += 1;
    }
    Ok(count)
}

fn empty() -> Ran {
    let place = Place { cwd: String::new(), repo: None, branch: None };
    let (session, template) = (SessionId(String::new()), Template(String::new()));
    Ran { session, ts: 0, duration_ms: None, exit_code: None, place, line: String::new(), template }
}

/// A command from the columns after the first, in place of the last one: a history is a million of them.
fn read(row: &rusqlite::Row<'_>, ran: &mut Ran) -> rusqlite::Result<()> {
    text(row, 1, &mut ran.session.0)?;
    ran.ts = row.get(2)?;
    ran.duration_ms = row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
    ran.exit_code = row.get(4)?;
    text(row, 5, &mut ran.place.cwd)?;
    let mut repo = ran.place.repo.take().map_or_else(String::new, |repo| repo.0);
    ran.place.repo = (text(row, 6, &mut repo)? == Text::Some).then_some(RepoKey(repo));
    let mut branch = ran.place.branch.take().unwrap_or_default();
    ran.place.branch = (text(row, 7, &mut branch)? == Text::Some).then_some(branch);
    text(row, 8, &mut ran.line)?;
    text(row, 9, &mut ran.template.0)?;
    Ok(())
}

#[derive(PartialEq)]
enum Text {
    Some,
    Null,
}

/// Puts a column's text into `place`.
fn text(row: &rusqlite::Row<'_>, column: usize, place: &mut String) -> rusqlite::Result<Text> {
    place.clear();
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(Text::Null) };
    place.push_str(text);
    Ok(Text::Some)
}
