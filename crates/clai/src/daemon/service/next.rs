//! What comes next, left in a file: for shells that cannot listen while they show a prompt. A shell that wants it
//! makes the file `next.<session>` beside the socket and reads it before its next prompt. One that can draw a prompt
//! again leaves its process number in the file, and is told by URG that there is something to draw: a signal that does
//! nothing to who does not want it.
//!
//! The time of the file is that of the command which it waits for or answers: a shell empties the file before each
//! command that it tells of, so an answer that comes later than that is for a prompt that is gone, and is not left.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use wire::clai::{SessionId, raw};

use super::Service;
use crate::daemon::request::Suggest;

/// What a shell can cycle through.
const LIMIT: usize = 3;
/// More digits no process number has.
const WHO: u64 = 16;
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
    /// Answers what ended at `ts` in the session's file if there is one. A shell that never made it is not answered,
    /// and one that has ended does not mind.
    pub(super) fn leave_next(self: &Arc<Self>, session_id: SessionId, cwd: String, ts: i64) {
        if !session_id.0.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return;
        }
        let path = self.world.runtime.join(format!("next.{}", session_id.0));
        let no_link = OFlags::NOFOLLOW.bits().cast_signed();
        let Ok(file) = OpenOptions::new().read(true).write(true).custom_flags(no_link).open(path) else {
            return;
        };
        if is_newer(&file, ts) {
            return;
        }
        // The shell made it with whatever its umask says.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
        let (prefix, passed) = (String::new(), Vec::new());
        let ask = Suggest { session_id, cwd, repo_key: None, limit: LIMIT, prefix, passed };
        let mut answer = Vec::new();
        raw::write_suggestions(&mut answer, &self.suggest(&ask)).expect("memory takes all");
        // A file that cannot be written is a hint that is not shown.
        let _ = leave(file, &answer, ts);
    }
}

/// Whether the shell has gone on since then.
fn is_newer(file: &File, ts: i64) -> bool {
    let time = file.metadata().and_then(|file| file.modified()).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.is_some_and(|since| i64::try_from(since.as_millis()).is_ok_and(|since| since > ts))
}

fn leave(mut file: File, answer: &[u8], ts: i64) -> io::Result<()> {
    let mut who = Vec::new();
    Read::by_ref(&mut file).take(WHO).read_to_end(&mut who)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(answer)?;
    file.set_modified(UNIX_EPOCH + Duration::from_millis(ts.try_into().unwrap_or(0)))?;
    let who = str::from_utf8(&who).ok().and_then(|who| who.trim().parse().ok().filter(|raw| *raw > 1));
    who.and_then(Pid::from_raw).map_or(Ok(()), |who| Ok(kill_process(who, Signal::URG)?))
}
