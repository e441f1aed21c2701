//! The session that a person means who looks at one: the one that was named, their own, or the newest that a client had
//! here. Only for looking: what is read or forgotten is always their own.

use kit::Failure;

use super::{Here, store_failure};
use crate::database::{Database, Roll};

/// A session to look at.
pub(crate) struct Picked {
    pub(crate) roll: Roll,
    pub(crate) by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// It was named, or is that of whoever types.
    Own,
    /// A client's, because there is no other.
    Guess,
}

/// The session that was named by its id or the beginning of it, or else the likeliest; none if there is nothing to see.
pub(crate) fn session(
    here: &Here,
    database: &Database,
    named: Option<&str>,
) -> Result<Option<Picked>, Failure> {
    if let Some(named) = named {
        return one_named(here, database, named).map(|roll| Some(Picked { roll, by: By::Own }));
    }
    let own = here.caller().session.id;
    let found = database.sessions_named(own.as_str()).map_err(|error| store_failure(&error))?;
    if let Some(roll) = found.into_iter().find(|roll| roll.id == own && roll.sums.reads > 0) {
        return Ok(Some(Picked { roll, by: By::Own }));
    }
    let guess = database.client_session(&here.cwd).map_err(|error| store_failure(&error))?;
    Ok(guess.map(|roll| Picked { roll, by: By::Guess }))
}

fn one_named(here: &Here, database: &Database, named: &str) -> Result<Roll, Failure> {
    let mut found = database.sessions_named(named).map_err(|error| store_failure(&error))?;
    let hint = format!("`{} sessions`", here.program.spoken());
    match (found.pop(), found.len()) {
        (Some(roll), 0) => Ok(roll),
        (Some(_), more) => {
            Err(Failure::new(format!("{} sessions begin with `{named}`", more + 1)).hint(hint))
        }
        (None, _) => Err(Failure::new(format!("there is no session `{named}`")).hint(hint)),
    }
}
