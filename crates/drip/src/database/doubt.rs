//! Whether what the store says of a pair of eyes can still be believed, and how the last of it reached them.

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::{Database, Result};
use crate::render::Kind;
use crate::session::Eyes;

impl Database {
    /// The eyes saw something of the file that nobody can place: nothing of it counts as shown any more.
    pub fn forget_head(&mut self, eyes: &Eyes, path: &str) -> Result<()> {
        self.write(|writing| {
            writing.transaction.execute(
                "UPDATE reads SET delivery = 0 WHERE session_id = ?1 AND agent_id = ?2 AND file_path = ?3",
                params![eyes.session.as_str(), eyes.agent.as_str(), path],
            )?;
            Ok(())
        })
    }

    /// What a delivery was, if it is still kept.
    pub fn kind_of(&self, delivery: i64) -> Result<Option<Kind>> {
        let mut find = self.connection.prepare_cached("SELECT kind FROM deliveries WHERE id = ?1")?;
        let kind: Option<String> = find.query_row([delivery], |row| row.get(0)).optional()?;
        Ok(kind.and_then(|kind| Kind::stored(&kind)))
    }
}
