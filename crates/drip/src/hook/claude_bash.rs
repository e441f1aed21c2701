//! Claude Code's shell, after it ran a command that only shows a file. The client counts that as a read, whatever its
//! model then sees of it.

use serde_json::{Map, Value, json};

use super::command;
use super::output::{self, Output, Trust};
use super::payload::{Event, ShellInput};
use super::world::{Reply, Trouble, World};
use crate::settings::Agent;

/// `claude-post-bash`.
pub(super) fn answer(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let Some(event) = Event::<ShellInput, Map<String, Value>>::of(input, &["Bash"])? else {
        return Ok(Reply::Nothing);
    };
    let caller = world.caller(&event.who(), Agent::Claude);
    let command = event.tool_input.and_then(|input| input.command);
    let (Some(caller), Some(command), Some(response)) = (caller, command, event.tool_response) else {
        return Ok(Reply::Nothing);
    };
    let most = world.settings.shell_output_bytes;
    let Some(shows) = command::parse(&command) else { return Ok(Reply::Nothing) };
    let Some(shown) = plain_output(&response, most) else {
        output::unplaced(world, &caller, &shows.path)?;
        return Ok(Reply::Nothing);
    };
    let output = Output { path: &shows.path, lines: shows.lines, shown, most, trust: Trust::Always };
    let said = output::answer(world, &caller, &output)?;
    Ok(said.map_or(Reply::Nothing, |said| {
        let mut response = response.clone();
        response.insert("stdout".to_owned(), Value::from(said.trim_end_matches('\n')));
        Reply::Json(json!({"hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": response,
        }}))
    }))
}

/// What the command printed, if the model is shown all of that and nothing else.
fn plain_output(response: &Map<String, Value>, most: usize) -> Option<&str> {
    let is_empty =
        |value: &Value| matches!(value, Value::Null | Value::Bool(false)) || value.as_str() == Some("");
    let alone = response
        .iter()
        .all(|(key, value)| matches!(key.as_str(), "stdout" | "noOutputExpected") || is_empty(value));
    let shown = response.get("stdout")?.as_str()?;
    (alone && !shown.is_empty() && shown.len() <= most).then_some(shown)
}
