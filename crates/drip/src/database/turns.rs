//! What a session's client lets us see of its turns: requests to the model, compactions, sub-agents. For clients that
//! name none of them in what they send.

use store::sqlite::rusqlite::{OptionalExtension, params};

use super::{Database, Result, Writing};
use crate::caller::Caller;
use crate::lines::Hash;

impl Database {
    /// Everything shown so far is about to be dropped from the window. Not counted: the session's new start is.
    pub fn forget_epoch(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| {
            writing.touch(caller)?;
            writing.forget_views(caller.session.id.as_str())?;
            writing.set(caller, "context_epoch = context_epoch + 1")
        })
    }

    /// The model is about to be asked. Another snapshot of the past than before means that the past itself is gone.
    pub fn turn_begins(&mut self, caller: &Caller, snapshot: Option<&Hash>) -> Result<()> {
        let snapshot = snapshot.map_or("", Hash::as_str);
        self.write(|writing| {
            writing.touch(caller)?;
            let (sub_agents, known): (i64, String) = writing.transaction.query_row(
                "SELECT sub_agents, snapshot FROM sessions WHERE session_id = ?1",
                [caller.session.id.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            if sub_agents > 0 {
                return Ok(());
            }
            if known != snapshot {
                writing.forget_views(caller.session.id.as_str())?;
                writing.transaction.execute(
                    "UPDATE sessions SET snapshot = ?2, context_epoch = context_epoch + 1, last_compaction_at = ?3,
                     compaction_count = compaction_count + 1 WHERE session_id = ?1",
                    params![caller.session.id.as_str(), snapshot, writing.now],
                )?;
            }
            writing.end_round(caller)
        })
    }

    pub fn sub_agent_started(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| {
            writing.touch(caller)?;
            writing.set(caller, "sub_agents = sub_agents + 1")
        })
    }

    pub fn sub_agent_ended(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| writing.set(caller, "sub_agents = max(sub_agents - 1, 0)"))
    }

    pub fn no_sub_agents(&mut self, caller: &Caller) -> Result<()> {
        self.write(|writing| writing.set(caller, "sub_agents = 0"))
    }

    /// Whether this is the main agent of a session whose turns are seen.
    pub fn is_followed(&self, caller: &Caller) -> Result<bool> {
        let mut find = self.connection.prepare_cached(
            "SELECT sub_agents = 0 AND EXISTS (SELECT 1 FROM rounds WHERE rounds.session_id = ?1)
             FROM sessions WHERE session_id = ?1",
        )?;
        let followed = find.query_row([caller.session.id.as_str()], |row| row.get(0)).optional()?;
        Ok(followed.unwrap_or(false))
    }
}

impl Writing<'_> {
    /// Changes columns of a session; none if it is not there.
    fn set(&self, caller: &Caller, columns: &str) -> Result<()> {
        let set = format!("UPDATE sessions SET {columns} WHERE session_id = ?1");
        self.transaction.execute(&set, [caller.session.id.as_str()])?;
        Ok(())
    }
}
