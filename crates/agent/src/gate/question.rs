//! Asking the person at the terminal whether a call may run: what it would do, and one key for the answer. Talks to the
//! terminal itself, whatever our own streams are.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use conversation::tools::Task;
use kit::process::Cancel;
use kit::{Page, text};
use serde_json::{Map, Value};
use similar::ChangeTag;
use store::{Durability, replace};

use crate::permission::Answer;
use crate::tools::edit::Change;
use crate::tools::{BASH, EDIT_FILE};
use crate::voice;

/// Who can be asked, and with what they edit.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) page: Page,
    /// `$VISUAL` or `$EDITOR`.
    pub(crate) editor: Option<String>,
    /// A private directory for what is being edited.
    pub(crate) scratch: PathBuf,
}

pub(super) enum Reply {
    Yes,
    No,
    /// Also the next time.
    Always,
    /// With other arguments.
    Instead(Map<String, Value>),
    /// Interrupted, or there is no terminal any more.
    Nothing,
}

impl Person {
    pub(super) fn ask(&self, task: &Task, question: &str, change: Option<&Change>, cancel: &Cancel) -> Reply {
        let Ok(mut terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
            return Reply::Nothing;
        };
        let editable = editable(&task.name).filter(|_| self.editor.is_some());
        let edit = if editable.is_some() { " [e]dit" } else { "" };
        let mut shown = change.map(|change| self.diff(change)).unwrap_or_default();
        let line = format!("  {} [y]es [n]o [a]lways{edit} ", text::plain(question));
        shown.push_str(&self.page.bold(&line));
        let keys: &[char] = if editable.is_some() { &['y', 'n', 'a', 'e'] } else { &['y', 'n', 'a'] };
        let key = super::key::answer(&terminal, &shown, keys, cancel);
        say(&mut terminal, &format!("{}\n", key.map_or(String::new(), String::from)));
        match (key, editable) {
            (Some('y'), _) => Reply::Yes,
            (Some('a'), _) => Reply::Always,
            (Some('e'), Some(argument)) => match self.edited(task, argument, &terminal) {
                Ok(arguments) => Reply::Instead(arguments),
                Err(error) => {
                    say(&mut terminal, &format!("  not edited: {error}\n"));
                    Reply::No
                }
            },
            (Some(_), _) => Reply::No,
            (None, _) => Reply::Nothing,
        }
    }

    fn diff(&self, change: &Change) -> String {
        let before = change.before.as_ref().map(|page| page.text.as_str()).unwrap_or_default();
        let paint = |tag: ChangeTag, line: &str| match (self.page.colour, tag) {
            (true, ChangeTag::Delete) => format!("\x1b[31m{line}\x1b[m"),
            (true, ChangeTag::Insert) => format!("\x1b[32m{line}\x1b[m"),
            _ => line.to_owned(),
        };
        let head = if change.before.is_some() { "edit" } else { "create" };
        format!("  {head} {}\n{}", change.shown, voice::diff(before, change.after.text.as_str(), paint))
    }

    /// The arguments, with the one that matters as the person wants it.
    fn edited(&self, task: &Task, argument: &str, terminal: &File) -> Result<Map<String, Value>, String> {
        let editor = self.editor.as_deref().ok_or("there is no $EDITOR")?;
        let path = self.scratch.join(format!("edit-{}", std::process::id()));
        let before = task.arguments.get(argument).and_then(Value::as_str).unwrap_or_default();
        replace(&path, before.as_bytes(), Durability::Cached).map_err(|error| error.to_string())?;
        let ran = in_editor(editor, &path, terminal);
        let after = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let _ = std::fs::remove_file(&path);
        ran?;
        let mut after = after?;
        // Editors end the last line; the argument may not have had an end.
        if !before.ends_with('\n') && after.ends_with('\n') {
            after.pop();
        }
        let mut arguments = task.arguments.clone();
        arguments.insert(argument.to_owned(), after.into());
        Ok(arguments)
    }
}

/// Which argument of a call is worth editing.
fn editable(tool: &str) -> Option<&'static str> {
    match tool {
        EDIT_FILE => Some("new_str"),
        BASH => Some("command"),
        _ => None,
    }
}

/// An editor has the terminal to itself, and the person ends it.
fn in_editor(editor: &str, path: &Path, terminal: &File) -> Result<(), String> {
    let share = || terminal.try_clone().map_err(|error| error.to_string());
    #[allow(
        clippy::disallowed_methods,
        reason = "it needs our terminal and our process group, which a job never has"
    )]
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(path)
        .stdin(share()?)
        .stdout(share()?)
        .stderr(share()?)
        .status();
    match status.map_err(|error| error.to_string())? {
        status if status.success() => Ok(()),
        status => Err(format!("the editor ended with {status}")),
    }
}

fn say(terminal: &mut File, words: &str) {
    let _ = terminal.write_all(words.as_bytes());
}

/// What was allowed for good in one project.
#[derive(Debug, Clone)]
pub(crate) struct Answers(pub(crate) PathBuf);

impl Answers {
    /// A file that cannot be read allows nothing.
    pub(crate) fn read(&self) -> Vec<Answer> {
        std::fs::read(&self.0).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// What cannot be kept is asked again the next time.
    pub(super) fn add(&self, answer: &Answer) {
        let mut all = self.read();
        if !all.contains(answer) {
            all.push(answer.clone());
            if let Ok(bytes) = serde_json::to_vec(&all) {
                let _ = replace(&self.0, &bytes, Durability::Fsync);
            }
        }
    }
}
