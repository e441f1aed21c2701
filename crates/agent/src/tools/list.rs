//! `list_files`: what is in a directory. Reads no file.

use std::path::Path;

use conversation::tools::{Beside, Output, Task};
use ignore::WalkBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Declared, LIST_FILES, Surroundings, Workshop, arguments, left_out};
use crate::permission::Access;
use crate::project::{name, plainly};

pub(super) const TOOL: Declared = Declared {
    name: LIST_FILES,
    description: "List a directory as a sorted JSON array; directories end with `/`. At most 1000 entries, 20 levels deep. \
                  What .gitignore names, and .git, node_modules, target, vendor, .venv and .devenv, are left out unless \
                  `ignored` is true.",
    schema,
    beside: Beside::Others,
    cap: (conversation::tools::CAP, "list a directory below"),
    access: |task| Access::read(task, "path"),
    run,
};

/// Left out at any depth, by their names.
pub(crate) const SKIPPED: [&str; 6] = [".git", ".devenv", "node_modules", "target", ".venv", "vendor"];

const MOST: usize = 1000;
const DEEPEST: usize = 20;
/// Bytes of names: a list that was cut later would be no JSON any more.
const WIDEST: usize = 80_000;
/// How many entries are counted, so that a huge tree does not take for ever.
const COUNTED: usize = 100_000;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "default ."},
            "recursive": {"type": "boolean", "description": "default false"},
            "ignored": {"type": "boolean", "description": "default false"},
        },
        "required": [],
    })
}

#[derive(Deserialize)]
#[serde(default)]
struct Arguments {
    path: String,
    recursive: bool,
    ignored: bool,
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments { path: ".".to_owned(), recursive: false, ignored: false }
    }
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    let located = workshop.project.locate(&arguments.path).map_err(Output::failed)?;
    let unreadable = |error| Output::failed(format!("{}: {}", located.shown, plainly(&error)));
    std::fs::read_dir(&located.path).map_err(unreadable)?;
    let mut names = Vec::new();
    let (mut unreadable, mut closed) = (0, 0);
    for entry in walk(&located.path, &arguments).build() {
        if around.cancel.is_cancelled() {
            return Err(Output::failed("interrupted"));
        }
        match entry {
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) if workshop.is_closed(LIST_FILES, entry.path()) => closed += 1,
            Ok(entry) => {
                let below = entry.path().strip_prefix(&located.path).unwrap_or(entry.path());
                let end = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
                names.push(format!("{}{end}", name(below)));
            }
            Err(_) => unreadable += 1,
        }
        if names.len() >= COUNTED {
            break;
        }
    }
    names.sort();
    let told = [Some(told(names, unreadable)), left_out(closed)];
    Ok(Output::done(told.into_iter().flatten().collect::<Vec<_>>().join("\n")))
}

/// The walk of a directory that leaves out what nobody asks for.
fn walk(root: &Path, arguments: &Arguments) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    let depth = if arguments.recursive { DEEPEST } else { 1 };
    walk.standard_filters(false).max_depth(Some(depth));
    let all = arguments.ignored;
    if !all {
        walk.git_ignore(true).git_exclude(true).ignore(true).parents(true).require_git(false);
    }
    walk.filter_entry(move |entry| {
        let name = entry.file_name().to_str().unwrap_or_default();
        let skipped = if all { &SKIPPED[..1] } else { &SKIPPED[..] };
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !(is_dir && skipped.contains(&name))
    });
    walk
}

fn told(mut names: Vec<String>, unreadable: usize) -> String {
    let total = names.len();
    let mut bytes = 0;
    let fits = |name: &&String| {
        bytes += name.len() + 3;
        bytes <= WIDEST
    };
    names.truncate(names.iter().take(MOST).take_while(fits).count());
    let shown = names.len();
    let mut told = Value::from(names).to_string();
    if total > shown {
        let more = if total >= COUNTED { "more than " } else { "" };
        told += &format!("\nshowing {shown} of {more}{total}");
    }
    if unreadable > 0 {
        told += &format!("\n{unreadable} could not be read");
    }
    told
}
