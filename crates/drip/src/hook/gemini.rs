//! Gemini: its reading tool after it ran, and the events that tell us what its window still holds. It names no sub-agents
//! and does not say when it compacts, so both are seen by their traces: a sub-agent lives between the call that starts it
//! and its end, and a compaction leaves a snapshot among the messages of the next request.
//!
//! Nothing is built upon unless the requests themselves are seen: without them nobody would notice a compaction.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::command::Lines;
use super::epoch;
use super::output::{self, Output, Trust};
use super::payload::{Event, ReadInput, Who};
use super::world::{Reply, Trouble, World};
use crate::caller::Caller;
use crate::desk::Desk;
use crate::lines::{Hash, Span};
use crate::read::{self, Window, Wish};
use crate::settings::Agent;

/// What starts a sub-agent.
const SUB_AGENT: &str = "invoke_agent";

/// What the client puts around a summary of all that it dropped.
const SNAPSHOT: &str = "state_snapshot";

/// Longer than any answer that is worth sending instead of a page of 2,000 lines.
const MOST: usize = 100_000;

#[derive(Debug, Deserialize)]
struct PageInput {
    file_path: Option<String>,
    start_line: Option<f64>,
    end_line: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Response {
    #[serde(rename = "llmContent")]
    content: Option<Value>,
}

/// `gemini-after`, for the reading tool and for the end of a sub-agent.
pub(super) fn after_tool(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    if let Some(event) = Event::<IgnoredAny, IgnoredAny>::of(input, &[SUB_AGENT])? {
        return with_caller(world, &event.who(), |caller| {
            world.store(|database| Ok(database.sub_agent_ended(caller)?))
        });
    }
    let Some(event) = Event::<PageInput, Response>::of(input, &["read_file"])? else {
        return Ok(Reply::Nothing);
    };
    let caller = world.caller(&event.who(), Agent::Gemini);
    let content = event.tool_response.and_then(|response| response.content);
    let (Some(caller), Some(asked), Some(Value::String(content))) = (caller, event.tool_input, content)
    else {
        return Ok(Reply::Nothing);
    };
    let Some(path) = asked.file_path.as_deref() else { return Ok(Reply::Nothing) };
    let (lines, shown) = match page(&content) {
        Some((span, text)) => (Lines::Span(span), text),
        None if asked.start_line.is_none() && asked.end_line.is_none() => (Lines::All, content.as_str()),
        None => return Ok(Reply::Nothing),
    };
    let said =
        output::answer(world, &caller, &Output { path, lines, shown, most: MOST, trust: Trust::Followed })?;
    Ok(said.map_or(Reply::Nothing, |said| {
        // The client hands it on as an error, which it is not.
        let reason = match said.trim_end().split_once('\n') {
            Some((heading, body)) => {
                format!("{heading}\n(not an error: this is the result of the read)\n{body}")
            }
            None => format!("{}\n(not an error: this is the result of the read)", said.trim_end()),
        };
        Reply::Json(json!({"decision": "deny", "reason": reason}))
    }))
}

/// `gemini-before`: a sub-agent starts.
pub(super) fn before_tool(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    match Event::<IgnoredAny, IgnoredAny>::of(input, &[SUB_AGENT])? {
        Some(event) => with_caller(world, &event.who(), |caller| {
            world.store(|database| Ok(database.sub_agent_started(caller)?))
        }),
        None => Ok(Reply::Nothing),
    }
}

/// `gemini-turn`, before each request to the model: all calls of the last turn are over, and what the request says of the
/// past is all that the model knows of it.
pub(super) fn before_model(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    #[derive(Deserialize)]
    struct Turn {
        llm_request: Option<Request>,
    }
    #[derive(Deserialize)]
    struct Request {
        messages: Option<Vec<Value>>,
    }
    let Turn { llm_request } = serde_json::from_slice(input)?;
    let who: Who = serde_json::from_slice(input)?;
    let Some(messages) = llm_request.and_then(|request| request.messages) else { return Ok(Reply::Nothing) };
    let snapshots: String =
        messages.iter().map(Value::to_string).filter(|message| message.contains(SNAPSHOT)).collect();
    let snapshot = (!snapshots.is_empty()).then(|| Hash::of(snapshots.as_bytes()));
    with_caller(world, &who, |caller| {
        world.store(|database| Ok(database.turn_begins(caller, snapshot.as_ref())?))
    })
}

/// `gemini-session`.
pub(super) fn session(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = serde_json::from_slice(input)?;
    with_caller(world, &who, |caller| {
        world.store(|database| {
            epoch::forget(database, caller)?;
            Ok(database.no_sub_agents(caller)?)
        })
    })
}

/// `gemini`, as the seed has it: a path in, the text of `drip read` out.
pub(super) fn read(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let who: Who = serde_json::from_slice(input)?;
    let ReadInput { file_path, .. } = serde_json::from_slice(input)?;
    let Some(path) = file_path.filter(|path| !path.contains('\0')) else { return Ok(Reply::Nothing) };
    let caller = world.caller_or_derived(&who, Agent::Gemini);
    if world.settings.disabled {
        let text = world.locate(&path, &caller).and_then(|located| world.load(&located));
        return text.map_or(Ok(Reply::Nothing), |text| world.say_and_record("gemini", &text, || Ok(())));
    }
    let ignored = world.ignored(&caller.cwd);
    let wish = Wish { window: Window::All, ..Wish::all(&path) };
    let remembered = world.store(|database| {
        let mut desk = Desk { database, settings: &world.settings, caller: &caller };
        match desk.prepare(&ignored, &wish)? {
            Ok(prepared) => world.say_and_record("gemini", &prepared.answer.text, || desk.record(&prepared)),
            Err(_) => Ok(Reply::Nothing),
        }
    });
    remembered.or_else(|trouble| {
        world.log("gemini", &trouble);
        let answer = read::read_blind(&world.settings, &ignored, &caller.cwd, &wish);
        answer.map_or(Ok(Reply::Nothing), |answer| world.say_and_record("gemini", &answer.text, || Ok(())))
    })
}

fn with_caller(
    world: &World,
    who: &Who,
    work: impl FnOnce(&Caller) -> Result<(), Trouble>,
) -> Result<Reply, Trouble> {
    if let Some(caller) = world.caller(who, Agent::Gemini).filter(|_| !world.settings.disabled) {
        work(&caller)?;
    }
    Ok(Reply::Nothing)
}

/// A page of a file that was not shown whole: which lines, and their text. Lines that the client cut make it no page.
fn page(content: &str) -> Option<(Span, &str)> {
    let (heading, text) = content.split_once("\n--- FILE CONTENT (truncated) ---\n")?;
    let (_, status) = heading.split_once("Showing lines ")?;
    let (first, rest) = status.split_once('-')?;
    let (last, _) = rest.split_once(" of ")?;
    Some((Span::new(first.parse().ok()?, last.parse().ok()?)?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_tells_its_lines() {
        let content = "\nIMPORTANT: cut.\nStatus: Showing lines 3-4 of 9 total lines.\nAction: more.\n\n\
                       --- FILE CONTENT (truncated) ---\nc\nd";
        assert_eq!(page(content), Some((Span { first: 3, last: 4 }, "c\nd")));
        for other in [
            "",
            "plain text",
            "Showing lines 3-4 of 9",
            "Showing lines 4-3 of 9\n--- FILE CONTENT (truncated) ---\n",
            "Showing lines 0-3 of 9\n--- FILE CONTENT (truncated) ---\n",
            "Showing lines x-3 of 9\n--- FILE CONTENT (truncated) ---\n",
        ] {
            assert_eq!(page(other), None, "{other}");
        }
    }
}
