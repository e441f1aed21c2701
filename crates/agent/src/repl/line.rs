//! Reading a line, or several: history, completion of orders and paths, a backslash or an open ``` for more lines. Knows
//! the editor and nothing of what is done with the line.

use std::path::{Path, PathBuf};

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Helper};

use super::orders::ORDERS;
use super::past::Past;

pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the terminal is gone.
    End,
}

pub(super) struct Editor {
    inner: rustyline::Editor<Help, MemHistory>,
    past: Past,
}

impl Editor {
    /// Paths are completed from `folder`; what was typed before is kept in the file `past`.
    pub(super) fn new(past: &Path, folder: PathBuf) -> Result<Editor, ReadlineError> {
        let config =
            Config::builder().max_history_size(super::past::MOST)?.history_ignore_space(true).build();
        let mut inner = rustyline::Editor::with_history(config.clone(), MemHistory::with_config(&config))?;
        inner.set_helper(Some(Help { folder }));
        let (past, lines) = Past::open(past);
        for line in lines {
            inner.add_history_entry(line)?;
        }
        Ok(Editor { inner, past })
    }

    pub(super) fn read(&mut self) -> Result<Typed, ReadlineError> {
        match self.inner.readline("> ") {
            Ok(line) => Ok(Typed::Line(joined(&line))),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(error),
        }
    }

    pub(super) fn remember(&mut self, line: &str) {
        if self.inner.add_history_entry(line).unwrap_or(false) {
            self.past.add(line);
        }
    }
}

struct Help {
    folder: PathBuf,
}

impl Helper for Help {}
impl Highlighter for Help {}

impl Hinter for Help {
    type Hint = String;
}

impl Validator for Help {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if wants_more(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Help {
    type Candidate = Pair;

    fn complete(&self, line: &str, place: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..place).unwrap_or(line);
        Ok(completions(typed, &self.folder))
    }
}

/// A backslash at the end, or code that was begun and not ended.
fn wants_more(text: &str) -> bool {
    text.ends_with('\\') || !text.matches("```").count().is_multiple_of(2)
}

fn joined(text: &str) -> String {
    text.replace("\\\n", "\n")
}

/// Orders at the beginning of a line, paths anywhere. Gives where the word begins.
fn completions(typed: &str, folder: &Path) -> (usize, Vec<Pair>) {
    if typed.starts_with('/') && !typed.contains(' ') {
        let fitting = ORDERS.iter().filter(|order| order.name.starts_with(&typed[1..]));
        let pair = |name: &str| Pair { display: format!("/{name}"), replacement: format!("/{name}") };
        return (0, fitting.map(|order| pair(order.name)).collect());
    }
    let start = typed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &typed[start..];
    let (above, name) = word.rsplit_once('/').map_or(("", word), |(above, name)| (above, name));
    if word.is_empty() {
        return (start, Vec::new());
    }
    let inside =
        if word.starts_with('/') && above.is_empty() { PathBuf::from("/") } else { folder.join(above) };
    let mut found: Vec<Pair> = std::fs::read_dir(inside)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let hidden = found.starts_with('.') && !name.starts_with('.');
            if hidden || !found.starts_with(name) || found.contains(char::is_control) {
                return None;
            }
            let slash = if entry.path().is_dir() { "/" } else { "" };
            let before = &word[..word.len() - name.len()];
            Some(Pair { display: format!("{found}{slash}"), replacement: format!("{before}{found}{slash}") })
        })
        .collect();
    found.sort_by(|a, b| a.replacement.cmp(&b.replacement));
    (start, found)
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn several_lines_are_one_prompt() {
        assert!(
            wants_more("a\\") && wants_more("```\ncode") && !wants_more("```\ncode\n```") && !wants_more("a")
        );
        assert_eq!(joined("a\\\nb\nc"), "a\nb\nc");
    }

    #[test]
    fn orders_and_paths_are_completed() {
        let home = Home::new();
        home.write("p/src/main.rs", "");
        home.write("p/src/.hidden", "");
        home.write("p/spec/x", "");
        let folder = home.path().join("p");
        let offered = |typed: &str| {
            let (start, pairs) = completions(typed, &folder);
            (start, pairs.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>())
        };
        assert_eq!(offered("/und"), (0, vec!["/undo".to_owned()]));
        assert_eq!(offered("look at s"), (8, vec!["spec/".to_owned(), "src/".to_owned()]));
        assert_eq!(offered("src/"), (0, vec!["src/main.rs".to_owned()]));
        assert_eq!(offered("src/.h"), (0, vec!["src/.hidden".to_owned()]));
        assert_eq!(offered("look "), (5, vec![]));
    }
}
