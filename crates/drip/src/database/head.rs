//! What a pair of eyes holds of a file, as the store remembers it.

use store::sqlite::rusqlite::{OptionalExtension, Row, params};

use super::contents;
use super::{Database, Result};
use crate::elide::Stub;
use crate::ledger::{Extent, View};
use crate::lines::{Hash, Ranges, Text};
use crate::session::Eyes;

/// The newest delivery of a file to a pair of eyes. Its text is fetched only when it differs from what is there now.
#[derive(Debug, Clone)]
pub struct Head {
    pub hash: Hash,
    pub shown: Ranges,
    pub extent: Extent,
    /// The client's round of parallel calls in which it was delivered.
    pub batch: i64,
    /// Names the delivery, so that a record that was made meanwhile is noticed.
    pub delivery: i64,
    pub read_at: i64,
    /// What the session had been sent by then, in tokens.
    pub sent_until: i64,
    /// The client's call that it was delivered with.
    pub call: Option<String>,
    /// What is hidden from these eyes, in the text of this version.
    pub stubs: Vec<Stub>,
    content: Option<String>,
}

impl Head {
    /// Whether this is what the eyes hold still.
    pub(super) fn tells(&self, view: &View, hash: &Hash) -> bool {
        self.hash == *hash && self.shown == view.shown && self.extent == view.extent
    }
}

impl Database {
    /// What these eyes were shown of a file in this epoch.
    pub fn head(&self, eyes: &Eyes, path: &str, epoch: i64) -> Result<Option<Head>> {
        let row = self
            .connection
            .prepare_cached(
                "SELECT content_hash, seen_ranges, was_semantic_compressed, batch, delivery, read_at, source_map, content, seen_end, sent_until, call_id
                 FROM reads
                 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3 AND context_epoch = ?4 AND delivery > 0",
            )?
            .query_row(params![eyes.session.as_str(), eyes.agent.as_str(), path, epoch], read_head)
            .optional()?;
        Ok(row)
    }

    /// The same text under another name that these eyes have seen the whole of, newest first.
    pub fn heads_with_content(&self, eyes: &Eyes, hash: &Hash, epoch: i64) -> Result<Vec<(String, Head)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT content_hash, seen_ranges, was_semantic_compressed, batch, delivery, read_at, source_map, content, seen_end, sent_until, call_id, file_path
             FROM reads
             WHERE content_hash = ?1 AND session_id = ?2 AND agent_id = ?3 AND context_epoch = ?4 AND delivery > 0
             ORDER BY read_at DESC LIMIT 16",
        )?;
        let rows = statement
            .query_map(params![hash.as_str(), eyes.session.as_str(), eyes.agent.as_str(), epoch], |row| {
                Ok((row.get(11)?, read_head(row)?))
            })?;
        Ok(rows.collect::<std::result::Result<_, _>>()?)
    }

    /// What the eyes hold; `now` is the text if that is what they hold. None if the text is lost.
    pub fn view(&self, head: &Head, now: &Text, now_hash: &Hash) -> Result<Option<View>> {
        let text = match head.hash == *now_hash {
            true => Some(now.clone()),
            false => contents::fetch(|| self.blobs(), head.content.clone(), &head.hash)?,
        };
        Ok(text.map(|text| View { text, shown: head.shown.clone(), extent: head.extent }))
    }
}

pub(super) fn read_head(row: &Row) -> store::sqlite::rusqlite::Result<Head> {
    let ranges: String = row.get(1)?;
    let elided: bool = row.get(2)?;
    let stubs: Option<String> = row.get(6)?;
    Ok(Head {
        hash: Hash::stored(row.get(0)?),
        // What cannot be read counts as not shown.
        shown: serde_json::from_str(&ranges).unwrap_or_default(),
        extent: match (elided, row.get(8)?) {
            (true, _) => Extent::Elided,
            (false, true) => Extent::ToTheEnd,
            (false, false) => Extent::Lines,
        },
        batch: row.get(3)?,
        delivery: row.get(4)?,
        read_at: row.get(5)?,
        sent_until: row.get(9)?,
        call: row.get(10)?,
        stubs: stubs.and_then(|stubs| serde_json::from_str(&stubs).ok()).unwrap_or_default(),
        content: row.get(7)?,
    })
}
