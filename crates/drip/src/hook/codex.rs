//! Codex's shell, after it ran a command that only shows a file. It reads in no other way.

use serde_json::{Value, json};

use super::command;
use super::output::{self, Output, Trust};
use super::payload::{Event, ShellInput};
use super::world::{Reply, Trouble, World};
use crate::settings::Agent;

/// A longer answer is cut, like any output there.
const MOST: usize = 10_000;

/// `codex-post`.
pub(super) fn answer(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let Some(event) = Event::<ShellInput, Value>::of(input, &["Bash"])? else { return Ok(Reply::Nothing) };
    let caller = world.caller(&event.who(), Agent::Codex);
    let command = event.tool_input.and_then(|input| input.command);
    let (Some(caller), Some(command), Some(Value::String(shown))) = (caller, command, event.tool_response)
    else {
        return Ok(Reply::Nothing);
    };
    let Some(shows) = command::parse(&command) else { return Ok(Reply::Nothing) };
    let output =
        Output { path: &shows.path, lines: shows.lines, shown: &shown, most: MOST, trust: Trust::Always };
    let said = output::answer(world, &caller, &output)?;
    Ok(said.map_or(Reply::Nothing, |said| Reply::Json(json!({"decision": "block", "reason": said}))))
}
