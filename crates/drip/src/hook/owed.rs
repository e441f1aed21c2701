//! The first read after an edit of the reader's own. To say "unchanged" of what it just changed would sound as if the
//! edit had failed.

use crate::database::{DatabaseError, Touched};
use crate::desk::{Desk, Look};
use crate::lines::Text;
use crate::read::Located;

/// What such a read is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owed {
    /// There was no edit.
    Nothing,
    /// The word that the edit, which touched these places, and nothing else made the file what it is.
    Certificate(Vec<Touched>),
    /// The text: the file is as the edit left it, but no certificate may say so.
    Text,
    /// What the plan says: it does not hold what it needs, or others changed the file as well.
    Plan,
}

pub(super) fn owed(desk: &Desk, located: &Located, now: &Text, look: &Look) -> Result<Owed, DatabaseError> {
    if !desk.database.owes_answer(&desk.caller.eyes(), &located.key)? {
        return Ok(Owed::Nothing);
    }
    let holds_all = look.view.as_ref().is_some_and(|view| view.text == *now && view.is_whole());
    Ok(match desk.certified(located, now, look)? {
        Some(touched) => Owed::Certificate(touched),
        None if holds_all => Owed::Text,
        None => Owed::Plan,
    })
}
