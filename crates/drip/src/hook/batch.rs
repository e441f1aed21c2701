//! The end of a round of parallel calls. What was shown in a round may be built upon from the next one on.

use super::payload::Who;
use super::world::{Reply, Trouble, World};
use crate::settings::Agent;

/// `claude-post-batch`.
pub(super) fn claude(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = serde_json::from_slice(input)?;
    if let Some(caller) = world.caller(&who, Agent::Claude).filter(|_| !world.settings.disabled) {
        world.store(|database| Ok(database.end_batch(&caller)?))?;
    }
    Ok(Reply::Nothing)
}
