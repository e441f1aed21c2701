//! The seed's way with Claude Code: the read is refused and the answer is the reason. That leaves the client believing
//! that the file was not read, so it is done only where the agent holds the text, or where the text would be too long to
//! hold. What the client shows by itself counts only once `claude-delivered` has seen it.

use serde::de::IgnoredAny;
use serde_json::json;

use super::guard::deny;
use super::owed::{Owed, owed};
use super::page::{Page, as_shown};
use super::payload::{Event, ReadInput};
use super::world::{Reply, Trouble, World};
use crate::caller::Caller;
use crate::database::Form;
use crate::desk::{self, Desk, Look};
use crate::ignored::{Source, Verdict};
use crate::lines::Text;
use crate::load::{self, Loaded};
use crate::plan::{self, Ask, Limits, Plan, Shape};
use crate::read::{self, Located};
use crate::render::{self, Answer, Words};
use crate::settings::Agent;
use kit::text::{plain, tokens};

/// `claude`.
pub(super) fn answer(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let Some(event) = Event::<ReadInput, IgnoredAny>::of(input, &["Read"])? else {
        return Ok(Reply::Nothing);
    };
    let caller = world.caller_or_derived(&event.who(), Agent::Claude);
    let Some(asked) = event.tool_input.filter(|_| !world.settings.disabled) else {
        return Ok(Reply::Nothing);
    };
    let path = asked.file_path.as_deref().unwrap_or_default();
    let Some(located) = world.locate(path, &caller) else { return Ok(Reply::Nothing) };
    let spelled = plain(path);
    let words = Words { path: &spelled, ..Words::default() };
    match load::load(&located.path, load::Limits::new(world.settings.symlinks)) {
        Loaded::Text { text, .. } => {
            known(world, &caller, &located, &asked, &Text::new(&*as_shown(&text)), &words)
        }
        Loaded::Missing => gone(world, &caller, &located, &words),
        // Pictures, documents, other encodings: the client has its own ways with them.
        _ => Ok(Reply::Nothing),
    }
}

/// The seed tells that a known file is gone.
fn gone(world: &World, caller: &Caller, located: &Located, words: &Words) -> Result<Reply, Trouble> {
    world.store(|database| {
        let mut desk = Desk { database, settings: &world.settings, caller };
        let answer = render::deleted(words);
        let was_known = desk.deliver_deleted(&located.key, &answer)?;
        Ok(if was_known { Reply::Json(deny(answer.text.trim_end())) } else { Reply::Nothing })
    })
}

fn known(
    world: &World,
    caller: &Caller,
    located: &Located,
    asked: &ReadInput,
    now: &Text,
    words: &Words,
) -> Result<Reply, Trouble> {
    world.store(|database| {
        let mut desk = Desk { database, settings: &world.settings, caller };
        let look = desk.look(&located.key, now)?;
        if look.head().is_none()
            && let Verdict::Ignored { pattern, source, .. } =
                world.ignored(&caller.cwd).verdict_of_read(&located.path)
        {
            return Ok(ignored(located, &pattern, &source, words));
        }
        let (window, view, language) = (asked.window(), look.view.as_ref(), read::language_of(located));
        let ask = Ask {
            now,
            window,
            view,
            language,
            name: read::name_of(located),
            shape: Shape::Diff,
            foreseen: look.foreseen.as_deref(),
        };
        match decide(world, &desk, located, &ask, &look, words)? {
            Choice::Native => Ok(Reply::Nothing),
            Choice::NativeWithNote(note) => Ok(Reply::Json(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "additionalContext": note,
            }}))),
            Choice::NativeOnce => {
                desk.database.settle_edit(&caller.eyes(), &located.key)?;
                Ok(Reply::Nothing)
            }
            Choice::Certificate(answer) => {
                let Some(view) = view.cloned() else { return Ok(Reply::Nothing) };
                world.say_and_record("claude", &refusal(&answer), || {
                    desk.deliver(&located.key, &look, &answer, Form::Nothing, view, None)?;
                    desk.database.settle_edit(&caller.eyes(), &located.key)
                })
            }
            Choice::Instead(plan, answer) => {
                let after = plan.after(&ask);
                world.say_and_record("claude", &refusal(&answer), || {
                    desk.deliver(&located.key, &look, &answer, desk::form(&plan, now), after, Some(&plan))
                })
            }
        }
    })
}

/// A file that is kept away by what a person wrote, or lies in a directory of things nobody reads, is not shown, as
/// everywhere else. Lock files, pictures, certificates and the like are only left out of the store.
fn ignored(located: &Located, pattern: &str, source: &Source, words: &Words) -> Reply {
    if *source == Source::BuiltIn && !pattern.ends_with('/') {
        return Reply::Nothing;
    }
    let body = format!("<ignored by .dripignore: {}>", plain(&located.key));
    Reply::Json(deny(render::placeholder("matched .dripignore", &body, words).text.trim_end()))
}

fn refusal(answer: &Answer) -> String {
    format!("{}\n", deny(answer.text.trim_end()))
}

enum Choice {
    Native,
    NativeWithNote(String),
    /// And what was owed for an edit is paid with it.
    NativeOnce,
    Certificate(Answer),
    Instead(Plan, Answer),
}

fn decide(
    world: &World,
    desk: &Desk,
    located: &Located,
    ask: &Ask,
    look: &Look,
    words: &Words,
) -> Result<Choice, Trouble> {
    let settings = &world.settings;
    let size = tokens(ask.now.len() as u64);
    let is_long = size > settings.claude_read_tokens;
    let edited = match owed(desk, located, ask.now, look)? {
        Owed::Nothing => "",
        Owed::Certificate(touched) if ask.window.is_none() => {
            let answer = counted(render::certificate(ask.now, &touched, words), ask);
            return Ok(if is_shorter(&answer, ask) {
                Choice::Certificate(answer)
            } else {
                Choice::NativeOnce
            });
        }
        _ if ask.window.is_none() => return Ok(Choice::NativeOnce),
        _ => " | as your edit left it",
    };
    let shortens =
        is_long || settings.first_read_min_bytes.is_some_and(|least| ask.now.len() as u64 >= least);
    let elision = settings.limits.elision.filter(|_| shortens);
    let plan = plan::plan(ask, &Limits { elision, ..settings.limits });
    let remarks = match plan {
        Plan::Elided(_) => " | Read with offset and limit shows what a stub hides".to_owned(),
        _ => edited.to_owned(),
    };
    let words = Words { remarks, ..words.clone() };
    Ok(match &plan {
        Plan::Whole(_) | Plan::Part(_) => Choice::Native,
        // A refused read of a file that changed would make the client refuse the next edit.
        Plan::Delta(delta) if delta.window.is_some() => Choice::Native,
        Plan::Delta(_) if !is_long => Choice::NativeWithNote(format!(
            "[DRIP: native refresh | the file changed since your last read | {}]",
            words.path
        )),
        Plan::Elided(_) | Plan::Unchanged(_) | Plan::Delta(_) => {
            let answer = counted(render::render(&plan, ask, &words), ask);
            if is_shorter(&answer, ask) { Choice::Instead(plan, answer) } else { Choice::Native }
        }
    })
}

/// The answer, measured against what the client would have shown.
fn counted(mut answer: Answer, ask: &Ask) -> Answer {
    answer.cost.full = tokens(native_bytes(ask) as u64);
    answer
}

fn is_shorter(answer: &Answer, ask: &Ask) -> bool {
    answer.text.len() < native_bytes(ask)
}

fn native_bytes(ask: &Ask) -> usize {
    let (first, content) = match ask.window {
        Some(window) => (window.first, ask.now.slice(window)),
        None => (1, ask.now.as_str()),
    };
    Page { first, content, cut: false }.bytes()
}
