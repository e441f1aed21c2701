//! What comes next, left in a file: for shells that cannot listen while they show a prompt. A shell that wants it
//! makes the file `next.<session>` beside the socket and reads it before its next prompt.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::OFlags;
use wire::clai::{SessionId, raw};

use super::Service;
use crate::daemon::request::Suggest;

/// What a shell can cycle through.
const LIMIT: usize = 3;
/// A shell that has been silent for so long finds its file gone, and its next prompt without a hint.
const OLD: Duration = Duration::from_secs(7 * 24 * 3600);

/// Takes away what shells that ended long ago left in `runtime`.
pub(in crate::daemon) fn sweep(runtime: &Path) {
    let Ok(entries) = fs::read_dir(runtime) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let by_a_shell =
            ["next.", "session.", "history."].iter().any(|start| name.to_string_lossy().starts_with(start));
        let age = entry.metadata().and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
        if by_a_shell && age.is_some_and(|age| age > OLD) {
            // What cannot be removed bothers nobody.
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Service {
    /// Answers in the session's file if there is one. A shell that never made it is not answered, and one that has
    /// ended does not mind.
    pub(super) fn leave_next(self: &Arc<Self>, session_id: SessionId, cwd: String) {
        if !session_id.0.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return;
        }
        let path = self.world.runtime.join(format!("next.{}", session_id.0));
        let no_link = OFlags::NOFOLLOW.bits().cast_signed();
        let Ok(mut file) = OpenOptions::new().write(true).truncate(true).custom_flags(no_link).open(path)
        else {
            return;
        };
        // The shell made it with whatever its umask says.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
        let (prefix, passed) = (String::new(), Vec::new());
        let ask = Suggest { session_id, cwd, repo_key: None, limit: LIMIT, prefix, passed };
        // A file that cannot be written is a hint that is not shown.
        let _ = raw::write_suggestions(&mut file, &self.suggest(&ask));
    }
}
