//! `read_file`: a text with line numbers, or what changed of it since the model saw it. What was seen is [`Eyes`]'
//! knowledge; this file knows files.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use conversation::tools::{Beside, Output, Task};
use drip::lines::Span;
use drip::load::{self, Loaded, Symlinks};
use kit::process::Cancel;
use kit::text::{self, thousands};
use llm::Outcome;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Declared, READ_FILE, Surroundings, Workshop, arguments};
use crate::eyes;
use crate::page::Page;
use crate::permission::Access;
use crate::project::{Located, plainly};

pub(super) const TOOL: Declared = Declared {
    name: READ_FILE,
    description: "Read a text file, as `N: line`. Up to 1024 KB at once; above that, or for a part, say `offset` (first \
                  line, from 1) and `limit` (number of lines). A file you have seen comes back as `unchanged` or as a diff.",
    schema,
    beside: Beside::Others,
    cap: (MOST, "use offset and limit"),
    access: |task| Access::read(task, "path"),
    run,
};

/// Of an answer: numbers come on top of the text.
const MOST: usize = 2 << 20;

/// How long lines are looked for.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many bytes of lines from a large file are shown at once.
const PART: usize = 256 << 10;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "offset": {"type": "integer", "minimum": 1},
            "limit": {"type": "integer", "minimum": 1},
        },
        "required": ["path"],
    })
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    offset: Option<f64>,
    limit: Option<f64>,
}

impl Arguments {
    /// The lines that are meant; none for all.
    fn window(&self) -> Option<Span> {
        if self.offset.is_none() && self.limit.is_none() {
            return None;
        }
        // A model may write 3.0; what is out of range becomes the nearest that is not.
        let first = self.offset.map_or(1, |offset| (offset as usize).clamp(1, usize::MAX / 4));
        let count = self.limit.map_or(usize::MAX / 4, |limit| (limit as usize).clamp(1, usize::MAX / 4));
        Span::new(first, first + count - 1)
    }
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    let located = workshop.project.locate(&arguments.path).map_err(Output::failed)?;
    let window = arguments.window();
    let page = match (page(workshop, &located), window) {
        (Ok(page), _) => page,
        (Err(Unread::TooLarge(_)), Some(window)) => return part(&located, window, around.cancel),
        (Err(Unread::TooLarge(bytes)), None) => {
            return Err(Output::failed(too_large(&located.shown, bytes, workshop.limits.file)));
        }
        (Err(Unread::Told(why)), _) => return Err(Output::failed(why)),
    };
    let eyes::Answer { output, full } = around.eyes.answer(&located.shown, &page, window);
    if output.content.len() > MOST {
        return Err(Output::failed(too_many(&located.shown, &page)));
    }
    if output.outcome == Outcome::Done {
        workshop.meter.read(full, output.content.len());
    }
    Ok(output)
}

/// Why there is no page.
pub(super) enum Unread {
    TooLarge(u64),
    Told(String),
}

/// The whole file as a text.
pub(super) fn page(workshop: &Workshop, located: &Located) -> Result<Page, Unread> {
    let name = &located.shown;
    let limits = load::Limits { max_bytes: workshop.limits.file, symlinks: Symlinks::Follow };
    let why = match load::load(&located.path, limits) {
        Loaded::Text { text, .. } => return Ok(Page::of(&text)),
        Loaded::TooBig { bytes } => return Err(Unread::TooLarge(bytes)),
        Loaded::Missing => format!("{name}: no such file"),
        Loaded::NotRegular(load::Kind::Directory) => {
            format!("{name} is a directory; list_files shows what is in it")
        }
        Loaded::NotRegular(kind) => format!("{name} is a {}, not a file", kind.word()),
        Loaded::Binary { bytes } => format!("{name} is a binary file of {} bytes", thousands(bytes)),
        Loaded::NotUtf8 { .. } => format!("{name} is not valid UTF-8"),
        Loaded::Symlink => format!("{name} is a symbolic link"),
        Loaded::Changing => format!("{name} is being written to; read it again in a moment"),
        Loaded::Unreadable(cause) => format!("{name}: {}", cause.to_lowercase()),
    };
    Err(Unread::Told(why))
}

fn too_large(name: &str, bytes: u64, limit: u64) -> String {
    format!(
        "{name}: {}KB exceeds {}KB limit; read a part with offset and limit, such as offset 1 and limit 1000",
        bytes.div_ceil(1024),
        limit / 1024
    )
}

fn too_many(name: &str, page: &Page) -> String {
    let count = thousands(page.text.count() as u64);
    format!("{name} has {count} lines, too many to show at once; read a part with offset and limit")
}

/// Lines of a file that is too large to hold. They do not count as seen: what they are a part of was not looked at.
fn part(located: &Located, window: Span, cancel: &Cancel) -> Answer {
    let name = &located.shown;
    let found = lines(&located.path, window, cancel);
    let Part { shown, last, count } = found.map_err(|why| Output::failed(format!("{name}: {why}")))?;
    if shown.is_empty() {
        return Err(Output::failed(eyes::past_the_end(name, window, count)));
    }
    let shown = String::from_utf8_lossy(&shown);
    Ok(Output::done(format!("{shown}[{name} | lines {}-{last} of a large file]", window.first)))
}

#[derive(Default)]
struct Part {
    shown: Vec<u8>,
    /// The last line that is shown.
    last: usize,
    /// Lines that were passed.
    count: usize,
}

/// Reads on until the window is filled, however long lines are.
fn lines(path: &Path, window: Span, cancel: &Cancel) -> Result<Part, String> {
    let file = File::open(path).map_err(|error| plainly(&error))?;
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut part = Part::default();
    let mut inside = false;
    let until = Instant::now() + PATIENCE;
    loop {
        if cancel.is_cancelled() {
            return Err("interrupted".to_owned());
        }
        if Instant::now() > until {
            return Err(format!("line {} was not reached in time", window.first));
        }
        let buffer = input.fill_buf().map_err(|error| plainly(&error))?;
        if buffer.is_empty() || part.count >= window.last {
            break;
        }
        if part.count == 0 && !inside && buffer.iter().take(8192).any(|byte| *byte == 0) {
            return Err("a binary file".to_owned());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        let number = part.count + 1;
        if number >= window.first {
            if !inside {
                part.shown.extend(format!("{number}: ").bytes());
                part.last = number;
            }
            if part.shown.len() + piece.len() > PART {
                part.shown.extend(&piece[..PART.saturating_sub(part.shown.len())]);
                part.shown.extend(text::marker(piece.len() as u64, "ask for fewer lines").bytes());
                return Ok(part);
            }
            part.shown.extend(piece);
        }
        inside = end.is_none();
        if let Some(end) = end {
            part.count += 1;
            if number >= window.first {
                part.shown.push(b'\n');
            }
            input.consume(end + 1);
        } else {
            let length = buffer.len();
            input.consume(length);
        }
    }
    if inside {
        part.count += 1;
        if part.count >= window.first {
            part.shown.push(b'\n');
        }
    }
    Ok(part)
}
