//! Everything that was delivered, to be looked at again.

use store::sqlite::rusqlite::{Row, params};

use super::{Database, Result, contents};
use crate::elide::Stub;
use crate::lines::{Hash, Ranges};

/// A delivery as it was written down.
pub struct Delivered {
    pub id: i64,
    pub session: String,
    pub agent: String,
    pub path: String,
    pub epoch: i64,
    /// The delivery that it was planned against.
    pub base: Option<i64>,
    pub kind: String,
    pub hash: Hash,
    pub shown: Ranges,
    /// The name of the shown lines.
    pub digest: Hash,
    pub sent: Sent,
}

/// What the reader was given.
pub enum Sent {
    Nothing,
    Whole(String),
    Elided(String, Vec<Stub>),
    Lines(usize, String),
    Delta(String),
    Renamed(String),
    /// It is no longer kept.
    Lost,
}

impl Database {
    /// All deliveries of a session, or of all sessions, in the order in which they were made.
    pub fn deliveries(&self, session: Option<&str>, mut each: impl FnMut(Delivered)) -> Result<()> {
        let mut statement = self.connection.prepare(
            "SELECT id, session_id, agent_id, file_path, context_epoch, base, kind, content_hash, seen_ranges, seen_digest,
                    form, first_line, payload, payload_hash
             FROM deliveries WHERE ?1 IS NULL OR session_id = ?1 ORDER BY id",
        )?;
        let mut rows = statement.query(params![session])?;
        while let Some(row) = rows.next()? {
            let sent = self.sent(row)?;
            each(Delivered {
                id: row.get(0)?,
                session: row.get(1)?,
                agent: row.get(2)?,
                path: row.get(3)?,
                epoch: row.get(4)?,
                base: row.get(5)?,
                kind: row.get(6)?,
                hash: Hash::stored(row.get(7)?),
                shown: serde_json::from_str(&row.get::<_, String>(8)?).unwrap_or_default(),
                digest: Hash::stored(row.get(9)?),
                sent,
            });
        }
        Ok(())
    }

    fn sent(&self, row: &Row) -> Result<Sent> {
        let form: String = row.get(10)?;
        let payload: Option<String> = row.get(12)?;
        let beside: Option<String> = row.get(13)?;
        Ok(match (form.as_str(), payload) {
            ("nothing", _) => Sent::Nothing,
            ("whole", payload) => {
                let hash = Hash::stored(beside.unwrap_or_default());
                let text = contents::fetch(|| self.blobs(), payload, &hash)?;
                text.map_or(Sent::Lost, |text| Sent::Whole(text.as_str().to_owned()))
            }
            ("elided", Some(text)) => match beside.map(|stubs| serde_json::from_str(&stubs)) {
                Some(Ok(stubs)) => Sent::Elided(text, stubs),
                _ => Sent::Lost,
            },
            ("lines", Some(text)) => Sent::Lines(row.get(11)?, text),
            ("delta" | "edit", Some(body)) => Sent::Delta(body),
            ("renamed", Some(from)) => Sent::Renamed(from),
            _ => Sent::Lost,
        })
    }
}
