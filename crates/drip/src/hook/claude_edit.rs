//! Claude Code's editing tools, after they ran: what the agent knows of the file moves on by its own edit, and by nothing
//! else. What it did not know before it does not know now.

use serde::Deserialize;
use serde_json::json;

use super::edit::{self, Known, Replacement};
use super::guard::hidden_by;
use super::numbered;
use super::page::as_shown;
use super::payload::Event;
use super::world::{Reply, Trouble, World};
use crate::caller::Caller;
use crate::database::{Database, Delivery, Edit, Form, Head, Numbers, Touched};
use crate::diff::{self, Change, Encoding, Hunk};
use crate::elide;
use crate::ledger::{Extent, View};
use crate::lines::{Hash, Ranges, Span, Text};
use crate::read::{self, Located};
use crate::render::Kind;
use crate::settings::Agent;

#[derive(Debug, Deserialize)]
pub(super) struct Input {
    pub(super) file_path: Option<String>,
    #[serde(flatten)]
    one: One,
    edits: Option<Vec<One>>,
    pub(super) content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct One {
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
    original_file: Option<String>,
    user_modified: Option<bool>,
}

impl Input {
    /// What the agent asked to be replaced.
    pub(super) fn replacements(&self) -> Vec<Replacement> {
        let each = self.edits.iter().flatten().chain([&self.one]);
        each.filter_map(|one| {
            Some(Replacement {
                old: one.old_string.clone()?,
                new: one.new_string.clone().unwrap_or_default(),
                everywhere: one.replace_all.unwrap_or(false),
            })
        })
        .collect()
    }
}

/// What was done to a file.
struct Done<'a> {
    caller: &'a Caller,
    located: &'a Located,
    /// The file before, if the client told.
    original: Option<Text>,
    replacements: Vec<Replacement>,
}

/// `claude-post-edit`.
pub(super) fn answer(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let tools = ["Edit", "MultiEdit", "Write"];
    let Some(event) = Event::<Input, Response>::of(input, &tools)? else { return Ok(Reply::Nothing) };
    let caller = world.caller_or_derived(&event.who(), Agent::Claude);
    let (Some(asked), response) = (event.tool_input, event.tool_response.unwrap_or_default()) else {
        return Ok(Reply::Nothing);
    };
    let path = asked.file_path.as_deref().unwrap_or_default();
    let Some(located) = world.locate(path, &caller).filter(|_| !world.settings.disabled) else {
        return Ok(Reply::Nothing);
    };
    if response.user_modified == Some(true) {
        // What became of it then, only the person knows.
        world.store(|database| Ok(database.forget_head(&caller.eyes(), &located.key)?))?;
        return Ok(Reply::Nothing);
    }
    let mut done = Done {
        caller: &caller,
        located: &located,
        original: response.original_file.as_deref().map(|text| Text::new(&*as_shown(text))),
        replacements: asked.replacements(),
    };
    if let (Some(old), Some(new)) = (response.old_string, response.new_string) {
        // As they were found in the file, which is not always as they were asked for.
        done.replacements = vec![Replacement { old, new, everywhere: response.replace_all == Some(true) }];
    }
    let warning = match (event.tool_name.as_str(), &asked.content) {
        ("Write", Some(content)) => written(world, &done, &Text::new(&*as_shown(content)))?,
        ("Write", None) => None,
        _ => replaced(world, &done)?,
    };
    Ok(warning.map_or(Reply::Nothing, |names| {
        let note = format!(
            "[DRIP: ⚠ edited elided function(s): {} | you were never shown these lines; Read them with offset and limit \
             before you go on | {}]",
            names.join(", "),
            kit::text::plain(path)
        );
        Reply::Json(json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": note}}))
    }))
}

/// What was hidden from the agent and is now changed, by name.
type Warning = Option<Vec<String>>;

/// The agent gave all of the file.
fn written(world: &World, done: &Done, now: &Text) -> Result<Warning, Trouble> {
    world.store(|database| {
        let head = done.head(database)?;
        if done.is_repeated(head.as_ref()) || !done.may_keep(world, database)? {
            return Ok(None);
        }
        let held = match &head {
            Some(head) => match database.view(head, now, &now.hash())? {
                Some(view) => view.text,
                None => return Ok(None),
            },
            None => Text::new(""),
        };
        let whole = Change { old: 0..held.count(), new: 0..now.count() };
        let hunk =
            Hunk { old: whole.old.clone(), new: whole.new.clone(), changes: vec![whole], symbol: None };
        let body = diff::replaced(&[hunk], now);
        done.advance(database, head.as_ref(), &body, &View::whole(now.clone()))?;
        done.write_down(database, done.original.as_ref().unwrap_or(&held), now)?;
        let all = held.span().into_iter().collect();
        Ok(head.as_ref().and_then(|head| hidden_by(head, done.located, &held, &all)))
    })
}

/// The agent changed a part of the file. What it has in mind now is what it held, changed in the same way: if others
/// changed the file as well, that is for the next read to tell.
fn replaced(world: &World, done: &Done) -> Result<Warning, Trouble> {
    let disk = world.load(done.located).map(|text| Text::new(&*as_shown(&text)));
    world.store(|database| {
        let Some(head) = done.head(database)? else { return Ok(None) };
        if done.is_repeated(Some(&head)) || !done.may_keep(world, database)? {
            return Ok(None);
        }
        let Some(view) = database.view(&head, &Text::new(""), &Hash::of(b""))? else { return Ok(None) };
        let held = Known { text: view.text, shown: view.shown, placed: true };
        let replacements = done.replacements(&held.text, disk.as_ref());
        let Some(after) = edit::apply(&held, &replacements) else {
            database.forget_head(&done.caller.eyes(), &done.located.key)?;
            return Ok(None);
        };
        let changes = diff::changes(&held.text, &after.text);
        let hunks = diff::hunks(&changes, 0, &held.text, &[]);
        let name = read::name_of(done.located);
        let body = diff::encode(Encoding::Unified(0), &hunks, &held.text, &after.text, name);
        let extent = if after.placed { head.extent } else { Extent::Lines };
        let view = View { text: after.text, shown: after.shown, extent };
        done.advance(database, Some(&head), &body, &view)?;
        done.write_down(database, &held.text, &view.text)?;
        Ok(hidden_by(&head, done.located, &held.text, &edit::touched(&held.text, &replacements)))
    })
}

impl Done<'_> {
    /// A hook that is registered twice hears of every edit twice.
    fn is_repeated(&self, head: Option<&Head>) -> bool {
        self.caller.call.is_some() && head.is_some_and(|head| head.call == self.caller.call)
    }

    /// Whether the file may be remembered; if it no longer may, what was is forgotten.
    fn may_keep(&self, world: &World, database: &mut Database) -> Result<bool, Trouble> {
        let may = world.may_keep(self.located, self.caller);
        if !may {
            database.disown(&self.located.key)?;
        }
        Ok(may)
    }

    fn head(&self, database: &Database) -> Result<Option<Head>, Trouble> {
        let meeting = database.meet(&self.caller.eyes())?;
        if !meeting.remembers {
            return Ok(None);
        }
        Ok(database.head(&self.caller.eyes(), &self.located.key, meeting.epoch)?)
    }

    /// What was replaced. Deleting text that is followed by a line end takes that too, if the client likes: the disk tells.
    fn replacements(&self, held: &Text, disk: Option<&Text>) -> Vec<Replacement> {
        let before = self.original.as_ref().unwrap_or(held);
        let known = Known { text: before.clone(), shown: Ranges::new(), placed: true };
        let mut wider = self.replacements.clone();
        for replacement in wider.iter_mut().filter(|one| one.new.is_empty() && !one.old.ends_with('\n')) {
            replacement.old.push('\n');
        }
        let is_there = edit::apply(&known, &wider).is_some_and(|after| Some(&after.text) == disk);
        if is_there { wider } else { self.replacements.clone() }
    }

    /// The agent knows this now. It changed what it held, whatever else it saw in the same round.
    fn advance(
        &self,
        database: &mut Database,
        head: Option<&Head>,
        body: &str,
        after: &View,
    ) -> Result<(), Trouble> {
        database.record(&Delivery {
            caller: self.caller,
            path: &self.located.key,
            meeting: database.meet(&self.caller.eyes())?,
            base: head,
            in_doubt: false,
            answer: &numbered::native(Kind::Native, None, 0),
            form: Form::Edit(body),
            after: Some(after),
            numbers: Numbers::default(),
        })?;
        Ok(())
    }

    /// For the certificate that the next read may be answered with.
    fn write_down(&self, database: &mut Database, before: &Text, after: &Text) -> Result<(), Trouble> {
        let changes = diff::changes(before, after);
        if changes.is_empty() {
            return Ok(());
        }
        let symbols =
            read::language_of(self.located).map(|language| elide::symbols(language, after.as_str()));
        let hunks = diff::hunks(&changes, 0, before, &symbols.unwrap_or_default());
        let patch = diff::encode(Encoding::Unified(0), &hunks, before, after, read::name_of(self.located));
        let touched: Vec<Touched> = hunks.into_iter().map(touched).collect();
        database.record_edit(&Edit {
            caller: self.caller,
            path: &self.located.key,
            before: &before.hash(),
            after: &after.hash(),
            patch: &patch,
            touched: &touched,
        })?;
        Ok(())
    }
}

/// The lines that a hunk left, or the one at which lines went, and the definition they are in.
fn touched(hunk: Hunk) -> Touched {
    let line = hunk.new.start.max(1);
    let span = Span::from_indices(&hunk.new).unwrap_or(Span { first: line, last: line });
    (hunk.symbol.unwrap_or_else(|| "lines".to_owned()), span)
}
