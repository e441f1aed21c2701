//! Resets that could not be written down. A read that fails goes on natively and harms nobody; a reset that fails would
//! leave a reader with a past that it no longer has. So it is left beside the database, and whoever opens that next
//! makes up for it first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kit::places;
use rustix::process::geteuid;

use super::{Database, Result};
use crate::lines::Hash;
use crate::session::SessionId;

/// Leaves a mark that a session's past is gone. The name of the session is in it, so that it can be read by nobody else.
pub fn mark_lost(root: &Path, session: &SessionId) -> io::Result<()> {
    let folder = folder(root);
    places::private_dir(&folder, geteuid().as_raw()).map_err(io::Error::other)?;
    let name = folder.join(Hash::of(session.as_str().as_bytes()).short());
    store::replace(&name, session.as_str().as_bytes(), store::Durability::Cached).map_err(io::Error::other)
}

impl Database {
    /// Makes up for what was lost.
    pub(super) fn recover_lost(&mut self) -> Result<()> {
        // Nearly always there is nothing, and this is one question to the system.
        let Ok(marks) = fs::read_dir(folder(&self.root)) else { return Ok(()) };
        for mark in marks.flatten() {
            let Ok(session) = fs::read_to_string(mark.path()) else { continue };
            self.write(|writing| {
                writing.forget_views(&session)?;
                let begin = "UPDATE sessions SET context_epoch = context_epoch + 1 WHERE session_id = ?1";
                writing.transaction.execute(begin, [&session])?;
                Ok(())
            })?;
            // Left for another time, it only costs what was shown since.
            let _ = fs::remove_file(mark.path());
        }
        Ok(())
    }
}

fn folder(root: &Path) -> PathBuf {
    root.join("lost")
}
