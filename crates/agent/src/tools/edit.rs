//! `edit_file`: one string for another, a new file, or more at the end of one. A reader finds the old file or the new
//! one, never half; mode, line ends and byte order mark stay. What the change is, is decided by a pure function that
//! [`crate::eyes`] uses too.

mod nearest;

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use conversation::tools::{Beside, Output, Task};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Durability, replace as replace_file};

use super::read::{self, Unread};
use super::{Answer, Declared, EDIT_FILE, Surroundings, Workshop, arguments};
use crate::create::{For, create};
use crate::eyes::{self, Done, Eyes};
use crate::page::{Page, shown};
use crate::permission::Access;
use crate::project::{Located, plainly};

pub(super) const TOOL: Declared = Declared {
    name: EDIT_FILE,
    description: "Replace `old_str`, which must be in the file exactly once (or anywhere, with `replace_all`), by `new_str`. \
                  An empty `old_str` makes a new file, or appends to one that is there. Read first: a file that changed \
                  since you read it is refused. Up to 1024 KB.",
    schema,
    beside: Beside::Nobody,
    cap: (conversation::tools::CAP, "read the file"),
    access: |task| Access::write(task, "path"),
    run,
};

/// Lines that are named when a string is found too often.
const NAMED: usize = 20;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old_str": {"type": "string"},
            "new_str": {"type": "string"},
            "replace_all": {"type": "boolean", "description": "default false"},
        },
        "required": ["path", "old_str", "new_str"],
    })
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Arguments {
    path: String,
    old_str: String,
    pub(crate) new_str: String,
    #[serde(default)]
    replace_all: bool,
}

impl Arguments {
    pub(crate) fn of(task: &Task) -> Result<Arguments, Output> {
        arguments(task)
    }
}

/// A text with something replaced.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) page: Page,
    pub(crate) done: Done,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Same,
    Absent,
    /// In these lines, and only one was meant.
    Many(Vec<usize>),
}

/// What a call would do to a file, for whoever shows it before it is done.
#[derive(Debug)]
pub struct Change {
    pub path: PathBuf,
    pub shown: String,
    /// None if it is new.
    pub before: Option<Page>,
    pub after: Page,
    done: Done,
}

impl Workshop {
    /// What the call of `edit_file` would do; if it cannot be done, what the model is told.
    pub fn preview(&self, task: &Task, eyes: &Eyes) -> Result<Change, Output> {
        let wanted = Arguments::of(task)?;
        let located = self.project.locate(&wanted.path).map_err(Output::failed)?;
        if wanted.old_str == wanted.new_str {
            return Err(Output::failed("old_str and new_str are the same: there is nothing to change"));
        }
        if wanted.old_str.is_empty() && fs::symlink_metadata(&located.path).is_err() {
            let after = Page::of(&wanted.new_str);
            let Located { path, shown, .. } = located;
            return Ok(Change { path, shown, before: None, after, done: Done::Created });
        }
        let before =
            read::page(self, &located).map_err(|unread| Output::failed(unread_words(&located, unread)))?;
        if eyes.is_stale(&located.shown, &before) {
            return Err(Output::failed(format!(
                "{} has changed since you read it; nothing was edited. Read it again, then edit.",
                located.shown
            )));
        }
        match replace(&before, &wanted) {
            Ok(Replaced { page, done }) => {
                let Located { path, shown, .. } = located;
                Ok(Change { path, shown, before: Some(before), after: page, done })
            }
            Err(misfit) => Err(Output::failed(misfit_words(&located.shown, &before, &wanted, &misfit))),
        }
    }
}

/// The page with one string in another's place; an empty string stands for the end.
pub(crate) fn replace(page: &Page, wanted: &Arguments) -> Result<Replaced, Misfit> {
    let text = page.text.as_str();
    let (old, new) = (shown(&wanted.old_str, page.form.ends), shown(&wanted.new_str, page.form.ends));
    if old == new {
        return Err(Misfit::Same);
    }
    let places: Vec<usize> = match old.is_empty() {
        true => vec![text.len()],
        false => text.match_indices(&old).map(|(at, _)| at).collect(),
    };
    let after = match places.as_slice() {
        [] => return Err(Misfit::Absent),
        [at] => format!("{}{new}{}", &text[..*at], &text[at + old.len()..]),
        _ if wanted.replace_all => text.replace(&old, &new),
        _ => return Err(Misfit::Many(places.iter().map(|at| newlines(&text[..*at]) + 1).collect())),
    };
    let after = Page::new(&after, page.form);
    let done = match places.as_slice() {
        [at] => touched(page, &after, *at..at + old.len(), *at..at + new.len()),
        _ => Done::Everywhere(places.len()),
    };
    Ok(Replaced { page: after, done })
}

/// The lines that a replacement touched, whole: their beginnings and ends may be older.
fn touched(before: &Page, after: &Page, old: Range<usize>, new: Range<usize>) -> Done {
    let ends_a_line = |page: &Page, at: usize| at == 0 || page.text.as_str()[..at].ends_with('\n');
    let clean = ends_a_line(before, old.end) && ends_a_line(after, new.end);
    let last = |page: &Page, at: usize| {
        (newlines(&page.text.as_str()[..at]) + usize::from(!clean)).min(page.text.count())
    };
    let first = newlines(&before.text.as_str()[..old.start]);
    Done::Replaced {
        old: first..last(before, old.end).max(first),
        new: first..last(after, new.end).max(first),
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let change = workshop.preview(task, around.eyes)?;
    let failed = |why| Output::failed(format!("{}: {why}; nothing was edited", change.shown));
    apply(workshop, task, &change).map_err(failed)?;
    let seen = eyes::edited(&change.shown, &change.done, change.before.as_ref(), &change.after);
    workshop.meter.noted(seen.len());
    Ok(Output::done(format!("{}\n{seen}", done(&change))))
}

fn apply(workshop: &Workshop, task: &Task, change: &Change) -> Result<(), String> {
    if change.before.is_some() {
        writable(&change.path)?;
    }
    let after = change.after.raw();
    if let Some(mut undo) = workshop.undo() {
        undo.before_edit(&task.id, &change.path, after.as_bytes())
            .map_err(|error| format!("the old version could not be kept: {error}"))?;
    }
    match change.before {
        Some(_) => replace_file(&change.path, after.as_bytes(), Durability::Cached)
            .map_err(|error| error.to_string()),
        None => create(&change.path, after.as_bytes(), For::Usual).map_err(|error| plainly(&error)),
    }
}

/// A rename asks the directory, not the file: whoever made a file read-only meant the file.
fn writable(path: &Path) -> Result<(), String> {
    let mode = fs::metadata(path).map_err(|error| plainly(&error))?.permissions().mode();
    let refused = rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err();
    if mode & 0o222 == 0 || refused { Err("it is read-only".to_owned()) } else { Ok(()) }
}

fn done(change: &Change) -> String {
    match &change.done {
        Done::Created => format!("Created {}", change.shown),
        Done::Replaced { .. } => "OK".to_owned(),
        Done::Everywhere(places) => format!("OK, replaced {places} times"),
    }
}

fn unread_words(located: &Located, unread: Unread) -> String {
    match unread {
        Unread::Told(why) => why,
        Unread::TooLarge(bytes) => {
            format!("{}: {}KB is too large to edit; use bash", located.shown, bytes.div_ceil(1024))
        }
    }
}

fn misfit_words(name: &str, page: &Page, wanted: &Arguments, misfit: &Misfit) -> String {
    match misfit {
        Misfit::Same => "old_str and new_str differ only in line ends, which the file decides".to_owned(),
        Misfit::Many(lines) => {
            let named: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
            let more = if lines.len() > NAMED { ", …" } else { "" };
            format!(
                "old_str is in {name} {} times, in lines {}{more}; add lines around the one you mean, or set replace_all",
                lines.len(),
                named.join(", ")
            )
        }
        Misfit::Absent => match nearest::window(&page.text, &shown(&wanted.old_str, page.form.ends)) {
            Some(span) => format!(
                "old_str is not in {name}. The nearest are lines {}-{}; if you mean them, old_str is exactly:\n{}",
                span.first,
                span.last,
                page.text.slice(span)
            ),
            None => format!("old_str is not in {name}, nor anything like it; read the file again"),
        },
    }
}
