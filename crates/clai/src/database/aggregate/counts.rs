//! What is to be added to both tables: small while it waits, and written in an order that visits each page once. Knows
//! the two tables, not where the commands come from.

use std::collections::HashMap;
use std::sync::Arc;

use store::sqlite::rusqlite::{self, Connection, OptionalExtension, Row, params, params_from_iter};

use crate::command::Ran;
use crate::model::{Decayed, GLOBAL};

#[derive(Debug, Default)]
pub(in crate::database) struct Counts {
    ids: HashMap<Arc<str>, Name>,
    names: Vec<Arc<str>>,
    /// In their order.
    commands: Vec<Counted>,
}

/// A template or a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name(u32);

impl Name {
    const NONE: Name = Name(u32::MAX);
}

#[derive(Debug)]
struct Counted {
    repo: Name,
    previous: Name,
    template: Name,
    ts: i64,
}

impl Counts {
    pub(in crate::database) fn len(&self) -> usize {
        self.commands.len()
    }

    pub(super) fn add(&mut self, ran: &Ran, previous: Option<&str>) {
        let repo = ran.place.repo.as_ref().map_or(Name::NONE, |repo| self.id(&repo.0));
        let previous = previous.map_or(Name::NONE, |previous| self.id(previous));
        let template = self.id(&ran.template.0);
        self.commands.push(Counted { repo, previous, template, ts: ran.ts });
    }

    /// Each row is found and changed once, however many commands touch it. Keys are looked for in the order of their
    /// index, then the rows are changed in the order of the table, then new ones are added at its end. A page that had
    /// to leave the cache and is changed again in the same transaction would make SQLite sign all of the log after it
    /// anew; that can only happen to the few pages of the scores, so they come last.
    pub(super) fn write(mut self, connection: &Connection) -> rusqlite::Result<()> {
        let global = self.id(GLOBAL);
        let mut order: Vec<Name> = (0..self.names.len() as u32).map(Name).collect();
        order.sort_unstable_by_key(|name| &self.names[name.0 as usize]);
        let mut places = vec![Name::NONE; order.len()];
        for (place, name) in order.iter().enumerate() {
            places[name.0 as usize] = Name(place as u32);
        }
        let sorted = Sorted {
            texts: order.iter().map(|name| &*self.names[name.0 as usize]).collect(),
            places,
            global,
            commands: &self.commands,
        };
        sorted.write_transitions(connection)?;
        sorted.write_scores(connection)
    }

    fn id(&mut self, name: &str) -> Name {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let (name, id): (Arc<str>, Name) = (name.into(), Name(self.names.len() as u32));
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }
}

/// With names that compare as their texts do.
struct Sorted<'a> {
    texts: Vec<&'a str>,
    /// Of each name, its place in `texts`.
    places: Vec<Name>,
    global: Name,
    commands: &'a [Counted],
}

/// The names of a row's key, and when a command touched it.
type Touch<const N: usize> = ([Name; N], i64);

impl Sorted<'_> {
    fn write_transitions(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut touches = self.touches(|scope, it| [scope, it.previous, it.template]);
        touches.retain(|(key, _)| key[1] != Name::NONE);
        touches.sort_unstable();
        let find = "SELECT rowid FROM transition WHERE scope = ?1 AND prev_norm = ?2 AND next_norm = ?3";
        let (known, new) = self.find(connection, find, &touches)?;
        // The latest is the last, because they are sorted.
        let added = |touches: &[Touch<3>]| (touches.len() as i64, touches.last().map(|(_, ts)| *ts));
        let mut update = connection.prepare_cached(
            "UPDATE transition SET count = count + ?2, last_ts = max(last_ts, ?3) WHERE rowid = ?1",
        )?;
        for (row, touches) in known {
            let (count, last) = added(touches);
            update.execute(params![row, count, last])?;
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO transition(scope, prev_norm, next_norm, count, last_ts) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for touches in new {
            let ([scope, previous, next], (count, last)) = (self.texts(touches[0].0), added(touches));
            insert.execute(params![scope, previous, next, count, last])?;
        }
        Ok(())
    }

    fn write_scores(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut touches = self.touches(|scope, it| [scope, it.template]);
        // Stable: what fades is added in the order of the commands.
        touches.sort_by_key(|(key, _)| *key);
        let find = "SELECT rowid FROM command_score WHERE scope = ?1 AND cmd_norm = ?2";
        let (known, new) = self.find(connection, find, &touches)?;
        let added = |mut score: Decayed, touches: &[Touch<2>]| {
            touches.iter().for_each(|(_, ts)| score.add(*ts));
            score
        };
        let mut read =
            connection.prepare_cached("SELECT score, last_ts FROM command_score WHERE rowid = ?1")?;
        let mut update = connection
            .prepare_cached("UPDATE command_score SET score = ?2, last_ts = ?3 WHERE rowid = ?1")?;
        for (row, touches) in known {
            let score =
                read.query_row([row], |row| Ok(Decayed { score: row.get(0)?, last_ts: row.get(1)? }))?;
            let Decayed { score, last_ts } = added(score, touches);
            update.execute(params![row, score, last_ts])?;
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO command_score(scope, cmd_norm, score, last_ts) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for touches in new {
            let [scope, template] = self.texts(touches[0].0);
            let Decayed { score, last_ts } = added(Decayed::first(touches[0].1), &touches[1..]);
            insert.execute(params![scope, template, score, last_ts])?;
        }
        Ok(())
    }

    /// What every command touches in both scopes.
    fn touches<const N: usize>(&self, key: impl Fn(Name, &Counted) -> [Name; N]) -> Vec<Touch<N>> {
        let place = |name: Name| self.places.get(name.0 as usize).copied().unwrap_or(Name::NONE);
        let mut touches = Vec::with_capacity(2 * self.commands.len());
        for command in self.commands {
            let scopes = [self.global, command.repo].into_iter().filter(|scope| *scope != Name::NONE);
            touches.extend(scopes.map(|scope| (key(scope, command).map(place), command.ts)));
        }
        touches
    }

    /// Of touches that are sorted by their keys, those of each row that is there, in the order of the table; and those
    /// of each that is not.
    #[expect(clippy::type_complexity, reason = "two lists of slices, taken apart at once by both callers")]
    fn find<'t, const N: usize>(
        &self,
        connection: &Connection,
        sql: &str,
        touches: &'t [Touch<N>],
    ) -> rusqlite::Result<(Vec<(i64, &'t [Touch<N>])>, Vec<&'t [Touch<N>]>)> {
        let mut statement = connection.prepare_cached(sql)?;
        let (mut known, mut new) = (Vec::new(), Vec::new());
        for touches in touches.chunk_by(|a, b| a.0 == b.0) {
            match statement.query_row(params_from_iter(self.texts(touches[0].0)), row_id).optional()? {
                Some(row) => known.push((row, touches)),
                None => new.push(touches),
            }
        }
        known.sort_unstable_by_key(|(row, _)| *row);
        Ok((known, new))
    }

    fn texts<const N: usize>(&self, key: [Name; N]) -> [&str; N] {
        key.map(|place| self.texts[place.0 as usize])
    }
}

fn row_id(row: &Row<'_>) -> rusqlite::Result<i64> {
    row.get(0)
}
