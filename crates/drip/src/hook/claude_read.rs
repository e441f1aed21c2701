//! Claude Code's `Read`, after it ran: what it showed is written down, and where the model holds it already, it sees a
//! line or a delta instead. The tool's own bookkeeping has happened by then, so later edits work.

use serde::Deserialize;
use serde_json::{Value, json};

use super::numbered::{self, About, Numbered};
use super::owed::{Owed, owed};
use super::page::{Differs, Page, as_shown};
use super::payload::{Event, ReadInput};
use super::world::{Reply, Trouble, World};
use crate::caller::Caller;
use crate::database::Form;
use crate::desk::{self, Desk, Look};
use crate::ledger::View;
use crate::lines::{Span, Text};
use crate::plan::{self, Ask, Limits, Plan, Shape, Why};
use crate::read::{self, Located};
use crate::render::{Answer, Kind};
use crate::settings::Agent;

#[derive(Debug, Deserialize)]
struct Response {
    #[serde(rename = "type")]
    kind: String,
    file: Option<Shown>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    file_path: Option<String>,
    content: Option<String>,
    num_lines: Option<u32>,
    start_line: Option<u32>,
    total_lines: Option<u32>,
    #[serde(default)]
    truncated_by_token_cap: bool,
}

/// Of a larger file, parts are not remembered.
pub(super) const MOST_FOR_A_PART: usize = 1 << 20;

/// A read that showed text.
struct Read<'a> {
    /// As the model spelled it.
    path: &'a str,
    located: &'a Located,
    page: Page<'a>,
    /// The whole file.
    now: &'a Text,
    /// The lines that were shown.
    lines: Span,
    /// The lines that were asked for: beyond the end if that was asked for.
    asked: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Rewrite,
    /// For clients whose results cannot be rewritten: their reads are only written down.
    Record,
}

/// `claude-post-read`.
pub(super) fn rewrite(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    after_read(world, input, Mode::Rewrite)
}

/// `claude-delivered`.
pub(super) fn record(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    after_read(world, input, Mode::Record)
}

fn after_read(world: &World, input: &[u8], mode: Mode) -> Result<Reply, Trouble> {
    let Some(event) = Event::<ReadInput, Response>::of(input, &["Read"])? else { return Ok(Reply::Nothing) };
    let caller = match mode {
        Mode::Rewrite => world.caller(&event.who(), Agent::Claude),
        Mode::Record => Some(world.caller_or_derived(&event.who(), Agent::Claude)),
    };
    let (Some(caller), Some(asked), Some(response)) = (caller, event.tool_input, event.tool_response) else {
        return Ok(Reply::Nothing);
    };
    let Some((path, shown)) = asked.file_path.as_deref().zip(response.file) else {
        return Ok(Reply::Nothing);
    };
    let Some(located) = world.locate(path, &caller).filter(|_| !world.settings.disabled) else {
        return Ok(Reply::Nothing);
    };
    let numbered = match response.kind.as_str() {
        "text" => text(world, &caller, &located, (path, &asked), &shown, mode)?,
        "file_unchanged" if mode == Mode::Rewrite => not_shown(world, &caller, &located, (path, &asked))?,
        "file_unchanged" => None,
        // Pictures, documents and notebooks.
        _ => {
            world.unplaced(&caller, &located)?;
            None
        }
    };
    Ok(numbered.map_or(Reply::Nothing, |(numbered, total)| {
        Reply::Json(replacement(shown.file_path.as_deref().unwrap_or(path), &numbered, total))
    }))
}

/// A result of the tool, in its own form.
fn replacement(path: &str, numbered: &Numbered, total_lines: usize) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {
        "type": "text",
        "file": {
            "filePath": path,
            "content": numbered.content,
            "numLines": numbered.content.split('\n').count(),
            "startLine": numbered.first,
            "totalLines": total_lines,
        },
    }}})
}

/// The tool showed text: all that it showed is proof, and nothing else is.
fn text(
    world: &World,
    caller: &Caller,
    located: &Located,
    (path, asked): (&str, &ReadInput),
    shown: &Shown,
    mode: Mode,
) -> Result<Option<(Numbered, usize)>, Trouble> {
    let (Some(content), Some(first), Some(total)) = (&shown.content, shown.start_line, shown.total_lines)
    else {
        return Ok(None);
    };
    let (first, total) = (first as usize, total as usize);
    let unplaced = || world.unplaced(caller, located).map(|()| None);
    // Without text there is nothing to save; with these signs in it, it was no text to begin with.
    if content.is_empty() || first == 0 || content.contains(['\0', '\u{fffd}']) {
        return unplaced();
    }
    let page = Page { first, content, cut: shown.truncated_by_token_cap };
    let count = content.split('\n').count();
    let is_all = first == 1
        && !page.cut
        && count == total
        && shown.num_lines.is_some_and(|lines| lines as usize == count);
    let now = match is_all {
        // What was shown is the file: nothing on the disk could say it better.
        true => Text::new(content.as_str()),
        false => match world.load(located) {
            // A few lines of a growing log are not worth a copy of it.
            Some(text) if text.len() <= MOST_FOR_A_PART => Text::new(&*as_shown(&text)),
            _ => return unplaced(),
        },
    };
    let lines = page.lines_of(&now);
    world.store(|database| match lines {
        Ok(None) => Ok(None),
        Err(Differs) => {
            database.forget_head(&caller.eyes(), &located.key)?;
            Ok(None)
        }
        Ok(Some(lines)) => {
            let asked = if page.cut { lines } else { asked.from(lines) };
            let read = Read { path, located, page, now: &now, lines, asked };
            let desk = Desk { database, settings: &world.settings, caller };
            let numbered = answer(world, desk, &read, mode)?;
            Ok(numbered.map(|numbered| (numbered, total)))
        }
    })
}

impl Read<'_> {
    /// Whether all of the file was shown.
    fn is_whole(&self) -> bool {
        Some(self.lines) == self.now.span() && !self.page.cut
    }

    fn ask<'a>(&'a self, look: &'a Look) -> Ask<'a> {
        Ask {
            now: self.now,
            window: Some(self.asked),
            view: look.view.as_ref(),
            language: read::language_of(self.located),
            name: read::name_of(self.located),
            shape: Shape::Numbered,
            foreseen: look.foreseen.as_deref(),
        }
    }

    /// The client's own text stays.
    fn native(&self, ask: &Ask, kind: Kind, reason: Option<String>) -> Decision {
        let plan = if self.is_whole() { Plan::Whole(Why::First) } else { Plan::Part(self.lines) };
        let answer = numbered::native(kind, reason, self.page.bytes());
        Decision { said: None, answer, after: plan.after(ask), plan, renamed_from: None }
    }
}

/// What is said and what the reader holds afterwards.
struct Decision {
    /// Nothing: the client's own text stays.
    said: Option<Numbered>,
    /// For the books.
    answer: Answer,
    plan: Plan,
    after: View,
    renamed_from: Option<String>,
}

fn answer(world: &World, mut desk: Desk, read: &Read, mode: Mode) -> Result<Option<Numbered>, Trouble> {
    let key = &read.located.key;
    let look = desk.look(key, read.now)?;
    if look.is_repeated(desk.caller) {
        return Ok(None);
    }
    if !world.may_keep(read.located, desk.caller) {
        desk.database.disown(key)?;
        return Ok(None);
    }
    let ask = read.ask(&look);
    let (decision, owed) = match mode {
        Mode::Rewrite if !read.page.cut => {
            let owed = owed(&desk, read.located, read.now, &look)?;
            (decide(&desk, read, &ask, &look, &owed)?, owed)
        }
        Mode::Rewrite | Mode::Record => (read.native(&ask, Kind::Native, None), Owed::Nothing),
    };
    let form = match (&decision.renamed_from, decision.answer.kind) {
        (Some(from), _) => Form::Renamed(from),
        (None, Kind::Certificate) => Form::Nothing,
        (None, _) => desk::form(&decision.plan, read.now),
    };
    // Before it is printed: the client has shown more already, and shows that if we come no further.
    desk.deliver(key, &look, &decision.answer, form, decision.after, Some(&decision.plan))?;
    if read.is_whole() && owed != Owed::Nothing {
        desk.database.settle_edit(&desk.caller.eyes(), key)?;
    }
    Ok(decision.said)
}

fn decide(desk: &Desk, read: &Read, ask: &Ask, look: &Look, owed: &Owed) -> Result<Decision, Trouble> {
    let about = About { path: read.path, native: read.page.bytes(), edited: *owed != Owed::Nothing };
    if read.is_whole() {
        let (said, renamed_from) = match owed {
            Owed::Text => return Ok(read.native(ask, Kind::Passthrough, None)),
            Owed::Certificate(touched) => (Some(about.certificate(touched, &look.hash)), None),
            Owed::Nothing | Owed::Plan => {
                let from = desk.renamed_from(look, read.now)?;
                (from.as_deref().map(|from| about.renamed(from)), from)
            }
        };
        if let Some(said) = said.and_then(|said| about.if_shorter(said)) {
            let (answer, after) = (said.answer.clone(), View::whole(read.now.clone()));
            return Ok(Decision {
                said: Some(said),
                answer,
                plan: Plan::Unchanged(None),
                after,
                renamed_from,
            });
        }
    }
    let plan = plan::plan(ask, &Limits { elision: None, ..desk.settings.limits });
    Ok(match about.answer(&plan, ask) {
        Some(said) => {
            let (answer, after) = (said.answer.clone(), plan.after(ask));
            Decision { said: Some(said), answer, plan, after, renamed_from: None }
        }
        None => read.native(ask, Kind::Native, look.view.as_ref().and_then(|_| reason(&plan))),
    })
}

/// Why the client's own text was left although something was known of the file.
fn reason(plan: &Plan) -> Option<String> {
    Some(match plan {
        Plan::Whole(Why::First) => return None,
        Plan::Whole(Why::NotAllShown) | Plan::Part(_) | Plan::Elided(_) => "not all shown".to_owned(),
        Plan::Whole(Why::Large) => "large file".to_owned(),
        Plan::Whole(Why::Truncated) => "truncated".to_owned(),
        Plan::Whole(Why::Complex { hunks, changed }) => {
            format!("diff complexity: {hunks} hunks, {:.0}% changed", changed * 100.0)
        }
        Plan::Whole(Why::DiffLarger | Why::WordsLarger) | Plan::Unchanged(_) | Plan::Delta(_) => {
            "DRIP marker would cost more than native read".to_owned()
        }
    })
}

/// An older client showed no text but a word that nothing changed since the last read. If that read was one that we
/// rewrote, the word sends the model to look for text where there is none: then ours is better.
fn not_shown(
    world: &World,
    caller: &Caller,
    located: &Located,
    (path, asked): (&str, &ReadInput),
) -> Result<Option<(Numbered, usize)>, Trouble> {
    /// As long as the client's own word.
    const NATIVE: usize = 93;
    let Some(text) = world.load(located) else { return Ok(None) };
    let now = Text::new(&*as_shown(&text));
    world.store(|database| {
        let mut desk = Desk { database, settings: &world.settings, caller };
        let look = desk.look(&located.key, &now)?;
        let Some(head) = look.head() else { return Ok(None) };
        let last = desk.database.kind_of(head.delivery)?;
        if last.is_none_or(|last| last == Kind::Native) {
            return Ok(None);
        }
        let ask = Ask {
            now: &now,
            window: asked.window(),
            view: look.view.as_ref(),
            language: None,
            name: read::name_of(located),
            shape: Shape::Numbered,
            foreseen: None,
        };
        let plan = plan::plan(&ask, &Limits { elision: None, ..world.settings.limits });
        let Plan::Unchanged(window) = plan else { return Ok(None) };
        let said = About { path, native: NATIVE, edited: false }.unchanged(window);
        desk.deliver(&located.key, &look, &said.answer, Form::Nothing, plan.after(&ask), Some(&plan))?;
        Ok(Some((said, now.as_str().split('\n').count())))
    })
}
