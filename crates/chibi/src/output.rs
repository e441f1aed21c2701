//! What is said, and where: the model's words and results of commands on standard output, talk on standard error; as
//! text or as one JSON entry a line. A reader who goes away is no failure. Knows no context and no model.

use std::io::{self, Write};

use kit::invocation::Terminal;
use kit::{Exit, Failure, Form, Invocation, Page, text};

use crate::context::{ChibiHome, Entry, EntryKind};
use crate::failure;
use crate::markdown::{Look, Markdown};

pub(crate) struct Output {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    form: Form,
    verbose: bool,
    /// Only a terminal has one.
    markdown: Option<Markdown>,
    terminal: Terminal,
    /// What time it is, and fresh ids.
    home: ChibiHome,
    /// Where the model's words stand.
    speech: Speech,
    /// The first thing that went wrong with standard output.
    lost: Option<io::Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speech {
    Silent,
    /// In a line.
    Within,
    /// At the beginning of a line.
    Between,
}

/// A terminal that does not say how wide it is.
const WIDTH: usize = 80;

impl Output {
    /// Takes the streams of the invocation.
    pub(crate) fn of(invocation: &mut Invocation, home: ChibiHome) -> Output {
        let page = Page::of(invocation);
        let terminal = invocation.terminal;
        let look = Look { width: page.width.unwrap_or(WIDTH), colour: page.colour };
        Output {
            stdout: std::mem::replace(&mut invocation.stdout, Box::new(io::sink())),
            stderr: std::mem::replace(&mut invocation.stderr, Box::new(io::sink())),
            form: Form::Text,
            verbose: false,
            markdown: terminal.stdout.then(|| Markdown::new(look)),
            terminal,
            home,
            speech: Speech::Silent,
            lost: None,
        }
    }

    pub(crate) fn set(&mut self, json: bool, verbose: bool) {
        self.form = if json { Form::Json } else { Form::Text };
        self.verbose = verbose;
    }

    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// What a command has to show.
    pub(crate) fn result(&mut self, words: &str) {
        if self.is_json() {
            return self.json(&self.entry("result", words));
        }
        let words = if self.terminal.stdout { text::plain_lines(words) } else { words.to_owned() };
        self.write(&words);
        if !words.ends_with('\n') {
            self.write("\n");
        }
    }

    /// The same where programs want values and people want lines.
    pub(crate) fn rows(&mut self, words: &str, value: &serde_json::Value) {
        if self.is_json() {
            let entry = self.entry("result", words.trim_end()).with("data", value);
            return self.json(&entry);
        }
        self.result(words);
    }

    /// Something of the conversation, for programs.
    pub(crate) fn entry_line(&mut self, entry: &Entry) {
        if self.is_json() {
            self.json(entry);
        }
    }

    /// Text as it is: completions.
    pub(crate) fn raw(&mut self, text: &str) {
        self.write(text);
    }

    /// For what is too long to be put together first.
    pub(crate) fn stdout(&mut self) -> impl Write + '_ {
        Stdout(self)
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// A piece of the model's words.
    pub(crate) fn speak(&mut self, words: &str) {
        if self.is_json() {
            return;
        }
        let words = match self.speech {
            // Some models begin with an empty line.
            Speech::Silent => words.strip_prefix('\n').unwrap_or(words),
            Speech::Within | Speech::Between => words,
        };
        if words.is_empty() {
            return;
        }
        self.speech = if words.ends_with('\n') { Speech::Between } else { Speech::Within };
        match &mut self.markdown {
            Some(markdown) => {
                let shown = markdown.push(words);
                self.write(&shown);
            }
            None => self.write(words),
        }
    }

    /// The model has said what it had to say, or part of it: what follows begins on a line of its own.
    pub(crate) fn pause(&mut self) {
        let rest = self.markdown.as_mut().map(Markdown::finish);
        match (rest, self.speech) {
            (Some(rest), _) => self.write(&rest),
            (None, Speech::Within) => self.write("\n"),
            (None, Speech::Silent | Speech::Between) => {}
        }
        self.speech = Speech::Silent;
    }

    /// What was said since the last pause does not count. Whether somebody may have seen some of it.
    pub(crate) fn retract(&mut self) -> bool {
        let seen = match &mut self.markdown {
            Some(markdown) => markdown.forget(),
            None => self.speech != Speech::Silent,
        };
        self.pause();
        seen
    }

    /// Whether everybody who reads the model's words also reads what is said about them.
    pub(crate) fn can_retract(&self) -> bool {
        self.is_json() || self.terminal.stdout && self.terminal.stderr
    }

    /// What happens, for those who want to know.
    pub(crate) fn diagnostic(&mut self, words: &str) {
        if self.verbose {
            self.talk("diagnostic", &format!("[{words}]"), words);
        }
    }

    /// What everybody should know.
    pub(crate) fn warn(&mut self, words: &str) {
        self.talk("warning", &format!("warning: {words}"), words);
    }

    /// What a plugin or a running tool says to the person.
    pub(crate) fn aside(&mut self, words: &str) {
        if !words.trim().is_empty() {
            self.talk("diagnostic", words.trim_end(), words.trim_end());
        }
    }

    /// A question or an explanation of several lines.
    pub(crate) fn explain(&mut self, words: &str) {
        if self.is_json() {
            return self.talk("diagnostic", words, words);
        }
        self.written_to_stderr(words);
    }

    /// Says how it ended.
    pub(crate) fn conclude(&mut self, result: Result<Exit, Failure>) -> Exit {
        self.pause();
        let flushed = self.stdout.flush();
        let result = match self.lost.take().or(flushed.err()) {
            Some(error) => result.and_then(|exit| match Failure::output(&error) {
                gone if gone.exit() == Exit::Done => Ok(exit),
                failure => Err(failure),
            }),
            None => result,
        };
        match result {
            Ok(exit) => exit,
            Err(failure) if self.is_json() && failure.exit() != Exit::Done => {
                let (words, hint) = failure::words(&failure);
                let mut entry = self.entry("error", &words).with("exit", &failure.exit().code());
                if let Some(hint) = hint {
                    entry = entry.with("hint", &hint);
                }
                self.json_to_stderr(&entry);
                failure.exit()
            }
            Err(failure) => failure.report(&mut self.stderr, Form::Text),
        }
    }

    fn talk(&mut self, kind: &str, shown: &str, told: &str) {
        if self.is_json() {
            let entry = self.entry(kind, told);
            return self.json_to_stderr(&entry);
        }
        // Talk in the middle of the model's line would look like a part of it.
        if self.terminal.stdout && self.speech == Speech::Within {
            self.pause();
        }
        let shown = format!("{}\n", text::plain_lines(shown));
        self.written_to_stderr(&shown);
    }

    fn entry(&self, kind: &str, words: &str) -> Entry {
        Entry::new(self.home.fresh_id(), self.home.now(), EntryKind::from(kind), "system", "user", words)
    }

    fn json(&mut self, entry: &Entry) {
        self.write(&line(entry));
    }

    fn json_to_stderr(&mut self, entry: &Entry) {
        self.written_to_stderr(&line(entry));
    }

    /// Nobody can be told that nobody can be told.
    fn written_to_stderr(&mut self, words: &str) {
        let _ = self.stderr.write_all(words.as_bytes()).and_then(|()| self.stderr.flush());
    }

    fn write(&mut self, words: &str) {
        if self.lost.is_some() || words.is_empty() {
            return;
        }
        let written = self.stdout.write_all(words.as_bytes()).and_then(|()| self.stdout.flush());
        self.lost = written.err();
    }
}

fn line(entry: &Entry) -> String {
    format!("{}\n", String::from_utf8_lossy(&entry.line()))
}

/// Standard output as a stream; its first failure is remembered for the end.
struct Stdout<'a>(&'a mut Output);

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Output { stdout, lost, .. } = &mut *self.0;
        stdout
            .write_all(bytes)
            .map(|()| bytes.len())
            .inspect_err(|error| *lost = Some(io::Error::from(error.kind())))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.stdout.flush()
    }
}
