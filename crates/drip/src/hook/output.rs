//! A file as plain text, without numbers: what shells and Gemini's reading tool show. What was shown is held against the
//! disk; where it is not the same, nothing is said and nothing is written down.

use super::claude_read::MOST_FOR_A_PART;
use super::command::Lines;
use super::numbered;
use super::owed::{Owed, owed};
use super::page::end_alike;
use super::world::{Trouble, World};
use crate::caller::Caller;
use crate::database::Form;
use crate::desk::{self, Desk, Look};
use crate::ledger::View;
use crate::lines::{Span, Text};
use crate::plan::{Ask, Limits, Plan, Shape, Why};
use crate::read;
use crate::render::{self, Answer, Kind, Words};

/// What a tool showed.
pub(super) struct Output<'a> {
    /// As it was spelled.
    pub(super) path: &'a str,
    pub(super) lines: Lines,
    pub(super) shown: &'a str,
    /// How long an answer may be.
    pub(super) most: usize,
    pub(super) trust: Trust,
}

/// From when on the store is believed about what the client's window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The client says when it drops something.
    Always,
    /// Only while the turns of its main agent are seen.
    Followed,
}

/// What to show instead, if anything.
pub(super) fn answer(world: &World, caller: &Caller, output: &Output) -> Result<Option<String>, Trouble> {
    let Some(located) = world.locate(output.path, caller).filter(|_| !world.settings.disabled) else {
        return Ok(None);
    };
    let Some(now) = world.load_plain(&located) else { return unplaced(world, caller, output.path) };
    let window = output.lines.asked(now.count());
    let is_large_part = window.is_some() && now.len() > MOST_FOR_A_PART;
    if output.shown.is_empty() || is_large_part || !is_shown(&now, window, output.shown) {
        return unplaced(world, caller, output.path);
    }
    world.store(|database| {
        if output.trust == Trust::Followed && !database.is_followed(caller)? {
            return Ok(None);
        }
        let mut desk = Desk { database, settings: &world.settings, caller };
        let look = desk.look(&located.key, &now)?;
        if look.is_repeated(caller) {
            return Ok(None);
        }
        if !world.may_keep(&located, caller) {
            desk.database.disown(&located.key)?;
            return Ok(None);
        }
        let (view, language) = (look.view.as_ref(), read::language_of(&located));
        let ask = Ask {
            now: &now,
            window,
            view,
            language,
            name: read::name_of(&located),
            shape: Shape::Diff,
            foreseen: look.foreseen.as_deref(),
        };
        let owed = owed(&desk, &located, &now, &look)?;
        let path = kit::text::plain(output.path);
        let words = Words { path: &path, ..Words::default() };
        let (plan, answer, after) = decide(world, &ask, &look, &owed, &words, output);
        // The end of a file is shown without its numbers: where these lines stand, the reader was not told.
        if answer.kind == Kind::Native && matches!(output.lines, Lines::Last(_)) {
            if look.head().is_some_and(|head| head.hash != look.hash) {
                desk.database.forget_head(&caller.eyes(), &located.key)?;
            }
            return Ok(None);
        }
        let form = if answer.kind == Kind::Certificate { Form::Nothing } else { desk::form(&plan, &now) };
        desk.deliver(&located.key, &look, &answer, form, after, Some(&plan))?;
        if owed != Owed::Nothing && window.is_none() {
            desk.database.settle_edit(&caller.eyes(), &located.key)?;
        }
        let is_ours = !matches!(answer.kind, Kind::Native | Kind::Passthrough);
        Ok(is_ours.then_some(answer.text))
    })
}

/// The reader saw something of a file, and what that was cannot be told.
pub(super) fn unplaced(world: &World, caller: &Caller, path: &str) -> Result<Option<String>, Trouble> {
    if let Some(located) = world.locate(path, caller).filter(|_| !world.settings.disabled) {
        world.unplaced(caller, &located)?;
    }
    Ok(None)
}

fn decide(
    world: &World,
    ask: &Ask,
    look: &Look,
    owed: &Owed,
    words: &Words,
    output: &Output,
) -> (Plan, Answer, View) {
    let own = match ask.window.and_then(|window| ask.now.clip(window)) {
        Some(lines) if Some(lines) != ask.now.span() => Plan::Part(lines),
        _ => Plan::Whole(Why::First),
    };
    let native = |kind: Kind| {
        let answer = numbered::native(kind, None, output.shown.len());
        (own.clone(), answer, own.after(ask))
    };
    let fits = |answer: &Answer| answer.text.len() < output.shown.len().min(output.most);
    match (owed, ask.window, &look.view) {
        (Owed::Certificate(touched), None, Some(view)) => {
            let answer = render::certificate(ask.now, touched, words);
            match fits(&answer) {
                true => (Plan::Unchanged(None), answer, view.clone()),
                false => native(Kind::Native),
            }
        }
        (Owed::Text, None, _) => native(Kind::Passthrough),
        _ => {
            let edited = if *owed == Owed::Nothing { "" } else { " | as your edit left it" };
            let words = Words { remarks: edited.to_owned(), ..words.clone() };
            let limits = Limits { elision: None, ..world.settings.limits };
            let (plan, answer) = render::answer(ask, &limits, &words);
            let says_all = match plan {
                Plan::Unchanged(_) => true,
                Plan::Delta(_) => ask.view.is_some_and(|view| end_alike(&view.text, ask.now)),
                Plan::Whole(_) | Plan::Elided(_) | Plan::Part(_) => false,
            };
            match says_all && fits(&answer) {
                true => {
                    let after = plan.after(ask);
                    (plan, answer, after)
                }
                false => native(Kind::Native),
            }
        }
    }
}

/// Whether the output is these lines, to the byte; tools take off the last line end.
fn is_shown(now: &Text, window: Option<Span>, shown: &str) -> bool {
    let expected = window.map_or(now.as_str(), |window| now.slice(window));
    shown == expected || expected.strip_suffix('\n') == Some(shown)
}
