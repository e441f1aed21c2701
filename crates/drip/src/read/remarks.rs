//! What a first read is told besides the file: that the session began anew, and what other sessions saw of it.

use super::{Located, Window, Wish, name_of};
use crate::database::{DatabaseError, Known, Told};
use crate::desk::{Desk, Look};
use crate::diff::{self, Encoding};
use crate::lines::Text;
use crate::plan;
use crate::render::Words;

/// Longer trailers of the registry are left out.
const TRAILER_LINES: usize = 200;

impl Desk<'_> {
    /// What the session and the registry have to say on a first read.
    pub(super) fn words<'w>(
        &self,
        located: &Located,
        wish: &'w Wish,
        now: &Text,
        look: &Look,
    ) -> Result<Words<'w>, DatabaseError> {
        let mut words = Words { path: &wish.shown, ..Words::default() };
        if look.head().is_some() || wish.window != Window::All {
            return Ok(words);
        }
        if let Some(known) = self.database.known(&located.key, &self.caller.session.id)? {
            self.decorate(&mut words, &known, located, now, look)?;
        }
        words.remarks += &match look.meeting.told {
            Some(Told::Compacted { count }) => {
                format!(" | ↺ context was compacted (#{count}) — baseline reset")
            }
            Some(Told::Expired) => " | ℹ session expired — fresh baseline started".to_owned(),
            None => String::new(),
        };
        Ok(words)
    }

    fn decorate(
        &self,
        words: &mut Words,
        known: &Known,
        located: &Located,
        now: &Text,
        look: &Look,
    ) -> Result<(), DatabaseError> {
        let age = age(self.database.now() - known.seen_at);
        if known.hash == look.hash {
            let branch =
                known.branch.as_deref().map(|branch| format!(", branch: {branch}")).unwrap_or_default();
            words.remarks = format!(" | ↔ unchanged since last session ({age} ago{branch})");
            return Ok(());
        }
        let Some(old) = self.database.known_text(known)? else { return Ok(()) };
        let changes = diff::changes(&old, now);
        let added: usize = changes.iter().map(|change| change.new.len()).sum();
        let removed: usize = changes.iter().map(|change| change.old.len()).sum();
        let branch =
            known.branch.as_deref().map(|branch| format!(", branch was: {branch}")).unwrap_or_default();
        words.remarks =
            format!(" | ↕ changed since last session ({age} ago): +{added} lines, -{removed} lines{branch}");
        let hunks = diff::hunks(&changes, plan::CONTEXT, &old, &[]);
        let diff = diff::encode(Encoding::Unified(plan::CONTEXT), &hunks, &old, now, name_of(located));
        // The whole file is there already: a diff is worth its place only if it is small beside it.
        if diff.lines().count() <= TRAILER_LINES && diff.len() * 10 <= now.len() {
            let rule = "─".repeat(60);
            words.trailer = Some(format!(
                "\n\n── Changes since last session ──────────────────────────────\n{diff}{rule}\n"
            ));
        }
        Ok(())
    }
}

/// The largest unit that fits, as the headers write ages.
pub(crate) fn age(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}
