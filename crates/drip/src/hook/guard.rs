//! Before Claude Code edits: an edit of lines that were left out of what the agent was shown is stopped, until it has
//! looked at them. Looks at what was delivered, so that a look is enough.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::claude_edit::Input;
use super::edit;
use super::page::as_shown;
use super::payload::Event;
use super::world::{Reply, Trouble, World};
use crate::database::Head;
use crate::elide;
use crate::ledger::Extent;
use crate::lines::{Ranges, Span, Text};
use crate::read::{self, Located};
use crate::settings::Agent;

/// `claude-pre-edit`.
pub(super) fn answer(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let tools = ["Edit", "MultiEdit", "Write"];
    let Some(event) = Event::<Input, IgnoredAny>::of(input, &tools)? else { return Ok(Reply::Nothing) };
    let caller = world.caller_or_derived(&event.who(), Agent::Claude);
    let Some(asked) = event.tool_input.filter(|_| world.settings.edit_guard && !world.settings.disabled)
    else {
        return Ok(Reply::Nothing);
    };
    let path = asked.file_path.as_deref().unwrap_or_default();
    let Some(located) = world.locate(path, &caller) else { return Ok(Reply::Nothing) };
    let head = world.store(|database| {
        let meeting = database.meet(&caller.eyes())?;
        Ok(match meeting.remembers {
            true => database.head(&caller.eyes(), &located.key, meeting.epoch)?,
            false => None,
        })
    })?;
    let Some(head) = head.filter(|head| head.extent == Extent::Elided) else { return Ok(Reply::Nothing) };
    let Some(text) = world.load(&located).map(|text| Text::new(&*as_shown(&text))) else {
        return Ok(Reply::Nothing);
    };
    if text.hash() != head.hash {
        return Ok(Reply::Nothing);
    }
    let touched = match event.tool_name.as_str() {
        "Write" => text.span().into_iter().collect(),
        _ => edit::touched(&text, &asked.replacements()),
    };
    let hidden = hidden_spans(&head, &text, &touched);
    let Some(Span { first, .. }) = hidden.first().copied() else { return Ok(Reply::Nothing) };
    let reason = format!(
        "[DRIP: ⚠ STOP | {} would change lines that you were never shown: {} | look at them first, with Read and \
         offset={first} limit={}, then edit | {}]",
        event.tool_name,
        names(&located, &text, &hidden).join(", "),
        hidden[0].count(),
        kit::text::plain(path)
    );
    Ok(Reply::Json(deny(&reason)))
}

/// A call that is refused, with the answer as the reason.
pub(super) fn deny(reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }})
}

/// What an edit touches of the lines that were left out of what these eyes hold, by name.
pub(super) fn hidden_by(
    head: &Head,
    located: &Located,
    text: &Text,
    touched: &Ranges,
) -> Option<Vec<String>> {
    let hidden = hidden_spans(head, text, touched);
    (!hidden.is_empty()).then(|| names(located, text, &hidden))
}

fn hidden_spans(head: &Head, text: &Text, touched: &Ranges) -> Vec<Span> {
    let all = text.span().filter(|_| head.extent == Extent::Elided);
    let gaps = all.map(|all| head.shown.gaps(all)).unwrap_or_default();
    gaps.iter().filter(|gap| !touched.within(*gap).is_empty()).collect()
}

fn names(located: &Located, text: &Text, hidden: &[Span]) -> Vec<String> {
    let symbols = read::language_of(located)
        .map(|language| elide::symbols(language, text.as_str()))
        .unwrap_or_default();
    let name = |span: &Span| {
        let around =
            symbols.iter().filter(|symbol| (symbol.first_line..=symbol.last_line).contains(&span.first));
        let nearest = around.min_by_key(|symbol| symbol.last_line - symbol.first_line);
        let name = nearest.map_or("lines", |symbol| symbol.name.as_str());
        format!("{name} (L{}-L{})", span.first, span.last)
    };
    hidden.iter().map(name).collect()
}
