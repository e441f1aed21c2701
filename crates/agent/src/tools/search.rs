//! `code_search`: lines that match a pattern, by ripgrep's own libraries. Knows no file but through them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use conversation::tools::{Beside, Output, Task};
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignore::WalkBuilder;
use ignore::types::TypesBuilder;
use kit::process::Cancel;
use kit::text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::list::SKIPPED;
use super::{Answer, CODE_SEARCH, Declared, Surroundings, Workshop, arguments, left_out};
use crate::permission::Access;
use crate::project::name;

pub(super) const TOOL: Declared = Declared {
    name: CODE_SEARCH,
    description: "Search files for a regular expression (Rust syntax); gives `path:line:text`, at most 50 lines. Not case \
                  sensitive unless asked. Files that .gitignore names, hidden and binary files are left out.",
    schema,
    beside: Beside::Others,
    cap: (conversation::tools::CAP, "narrow the pattern or the path"),
    access: |task| Access::read(task, "path"),
    run,
};

const MOST: usize = 50;
/// Of one line; minified files have lines of megabytes.
const WIDEST: usize = 1000;
/// After this long what was found so far is the answer.
const PATIENCE: Duration = Duration::from_secs(30);

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string", "description": "file or directory, default ."},
            "file_type": {"type": "string", "description": "extension or type: rs, py, rust, js"},
            "case_sensitive": {"type": "boolean", "description": "default false"},
        },
        "required": ["pattern"],
    })
}

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    file_type: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    if arguments.pattern.is_empty() {
        return Err(Output::failed("the pattern is empty"));
    }
    let located =
        workshop.project.locate(arguments.path.as_deref().unwrap_or(".")).map_err(Output::failed)?;
    if !located.path.exists() {
        return Err(Output::failed(format!("{}: no such file or directory", located.shown)));
    }
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(!arguments.case_sensitive)
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| Output::failed(format!("the pattern cannot be used: {error}")))?;
    let walk = walk(&located.path, arguments.file_type.as_deref()).map_err(Output::failed)?;
    let mut searcher =
        SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build();
    let until = Instant::now() + PATIENCE;
    let mut found = Found::default();
    for entry in walk.build() {
        if around.cancel.is_cancelled() {
            return Err(Output::failed("interrupted"));
        }
        if Instant::now() > until {
            found.end = Some("[time was up; narrow the path]");
        }
        if found.end.is_some() {
            break;
        }
        let Ok(entry) = entry else { continue };
        // No link, which may lead out of the project, and no pipe, which could make us wait.
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        if entry.depth() > 0 && workshop.is_closed(CODE_SEARCH, entry.path()) {
            found.closed += 1;
            continue;
        }
        let path = entry.path().strip_prefix(workshop.project.root()).unwrap_or(entry.path());
        found.path = name(path);
        // A file that cannot be read is none that matches.
        if let Ok(file) = File::open(entry.path()) {
            let patient = Patient { file, cancel: around.cancel, until };
            let _ = searcher.search_reader(&matcher, patient, &mut found);
        }
    }
    Ok(Output::done(found.told()))
}

fn walk(root: &Path, file_type: Option<&str>) -> Result<WalkBuilder, String> {
    let mut walk = WalkBuilder::new(root);
    walk.require_git(false).sort_by_file_path(Path::cmp);
    walk.filter_entry(|entry| {
        entry.depth() == 0 || !SKIPPED[..1].contains(&entry.file_name().to_str().unwrap_or(""))
    });
    if let Some(wanted) = file_type {
        let wanted = wanted.trim_start_matches(['*', '.']);
        let mut types = TypesBuilder::new();
        types.add_defaults();
        let known = types.definitions().iter().any(|known| known.name() == wanted);
        let bad =
            |_| format!("`{}` is neither a type nor an extension", text::head(&text::plain(wanted), 100));
        if !known {
            types.add("asked", &format!("*.{wanted}")).map_err(bad)?;
        }
        types.select(if known { wanted } else { "asked" });
        walk.types(types.build().map_err(bad)?);
    }
    Ok(walk)
}

/// A file that ends when nobody waits for it any more, however long it is.
struct Patient<'a> {
    file: File,
    cancel: &'a Cancel,
    until: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() || Instant::now() > self.until {
            return Ok(0);
        }
        self.file.read(buffer)
    }
}

#[derive(Default)]
struct Found {
    path: String,
    lines: Vec<String>,
    /// Why there may be more.
    end: Option<&'static str>,
    /// Files that were not searched.
    closed: usize,
}

impl Found {
    fn told(mut self) -> String {
        if self.lines.is_empty() && self.end.is_none() {
            self.lines.push("No matches found".to_owned());
        }
        self.lines.extend(self.end.map(str::to_owned).into_iter().chain(left_out(self.closed)));
        self.lines.join("\n")
    }
}

impl Sink for Found {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.lines.len() == MOST {
            self.end = Some("[there is more; narrow the pattern or the path]");
            return Ok(false);
        }
        let line = String::from_utf8_lossy(found.bytes());
        let line = text::clip(line.trim_end_matches(['\n', '\r']), WIDEST, "").replace('\n', " ");
        self.lines.push(format!("{}:{}:{line}", self.path, found.line_number().unwrap_or(0)));
        Ok(true)
    }
}
