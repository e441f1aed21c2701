//! The beginnings of a context window. Whatever was shown before one may be gone from it, so nothing counts as shown any
//! more: a summary, a cleared window and a resumed one, which may have been rewound, cut or forked on its way, are alike.

use serde::Deserialize;
use serde_json::{Value, json};

use super::payload::Who;
use super::world::{Reply, Trouble, World};
use crate::caller::Caller;
use crate::database::Database;
use crate::settings::Agent;

/// `claude-session-start`.
pub(super) fn claude_session(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    #[derive(Deserialize)]
    struct Start {
        // Whatever it is: a start that is not understood is a start.
        source: Option<Value>,
    }
    let Start { source } = serde_json::from_slice(input)?;
    let who: Who = serde_json::from_slice(input)?;
    let Some(caller) = world.caller(&who, Agent::Claude).filter(|_| !world.settings.disabled) else {
        return Ok(Reply::Nothing);
    };
    let happened = match source.as_ref().and_then(Value::as_str) {
        Some("compact") => "compacted",
        Some("clear") => "cleared",
        Some("resume") => "resumed",
        // A new session has no past, and one that we know has lost it.
        _ => {
            world.reset(&caller, |database| forget(database, &caller))?;
            return Ok(Reply::Nothing);
        }
    };
    world.reset(&caller, |database| Ok(database.begin_epoch(&caller)?))?;
    let note = format!(
        "DRIP: ↺ context was {happened}: baselines were reset, so the next read of each file shows it whole."
    );
    Ok(Reply::Json(
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": note}}),
    ))
}

/// `claude-compact`: prints nothing, because the client quotes what is printed here to its model. The session starts
/// again after it, and that is when the compaction is counted.
pub(super) fn compact(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = serde_json::from_slice(input)?;
    if let Some(caller) = world.caller(&who, Agent::Claude).filter(|_| !world.settings.disabled) {
        world.reset(&caller, |database| Ok(database.forget_epoch(&caller)?))?;
    }
    Ok(Reply::Nothing)
}

/// `codex-session`, at a start and after a compaction.
pub(super) fn session(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = serde_json::from_slice(input)?;
    if let Some(caller) = world.caller(&who, Agent::Codex).filter(|_| !world.settings.disabled) {
        world.reset(&caller, |database| forget(database, &caller))?;
    }
    Ok(Reply::Nothing)
}

/// `gemini-compress`, as the seed has it.
pub(super) fn gemini_compress(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = match input.trim_ascii() {
        [] => Who::default(),
        input => serde_json::from_slice(input)?,
    };
    if !world.settings.disabled {
        let caller = world.caller_or_derived(&who, Agent::Gemini);
        world.reset(&caller, |database| Ok(database.begin_epoch(&caller)?))?;
    }
    Ok(Reply::Nothing)
}

/// Begins an epoch in a session that has a past; a new one is not worth a write.
pub(super) fn forget(database: &mut Database, caller: &Caller) -> Result<(), Trouble> {
    if database.meet(&caller.eyes())?.remembers {
        database.begin_epoch(caller)?;
    }
    Ok(())
}
