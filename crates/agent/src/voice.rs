//! What is seen of a conversation while it runs: the model's words on standard output, everything else on standard
//! error; or, for programs, all of it as JSON lines on standard output. Nothing that a model or a tool wrote can drive
//! the terminal. Decides nothing.

mod json;
mod lines;
mod live;

use std::io::{self, Write};
use std::time::Duration;

use chibi::markdown::{Look, Markdown};
use conversation::tools::Task;
use conversation::turn::{End, Spent};
use kit::{Exit, Failure, Form, Page, text};
use llm::{CallId, Outcome, Stop, ToolResult, Usage};

pub(crate) use lines::{diff, revealed, spent, summary};
use live::Live;

/// Something to be seen.
#[derive(Debug)]
pub(crate) enum Shown<'a> {
    /// A conversation is at hand.
    Opened {
        context: &'a str,
        model: &'a str,
    },
    /// A request is on its way.
    Asked,
    Text(&'a str),
    Thinking(&'a str),
    /// A reply is complete.
    Replied {
        stop: &'a Stop,
        usage: Option<&'a Usage>,
    },
    /// What was shown of this reply does not count.
    Retract,
    Retrying {
        error: &'a str,
        attempt: u32,
        left: Duration,
    },
    Started {
        task: &'a Task,
    },
    /// What a running tool shows of its work.
    Live(&'a str),
    Returned {
        task: &'a Task,
        result: &'a ToolResult,
    },
    /// Something the user should know.
    Warning(&'a str),
    /// Something the user may like to know.
    Note(&'a str),
    Ended {
        end: &'a End,
        spent: &'a Spent,
    },
}

/// Who is looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Nobody, or somebody later.
    Plain,
    /// A person.
    Screen(Page),
    /// A program.
    Json,
}

pub(crate) struct Voice {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    manner: Manner,
    verbose: bool,
    /// How the model's words look on a screen.
    ink: Option<Markdown>,
    /// Standard output stands in the middle of a line.
    open: bool,
    /// Something of the reply that is coming in was shown.
    said: bool,
    /// The call that was started last, with the line that tells of it until it is shown.
    started: Option<(CallId, Option<String>)>,
    /// What it has shown so far.
    live: Live,
    /// The attempt whose countdown was begun.
    counting: u32,
    /// A sign of life stands where the next line will.
    waiting: bool,
    /// Why nothing more can be shown.
    lost: Option<io::Error>,
}

impl Voice {
    pub(crate) fn new(
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
        manner: Manner,
        verbose: bool,
    ) -> Voice {
        let ink = Voice::ink(&manner);
        Voice {
            out,
            err,
            manner,
            verbose,
            ink,
            open: false,
            said: false,
            started: None,
            live: Live::default(),
            counting: 0,
            waiting: false,
            lost: None,
        }
    }

    fn ink(manner: &Manner) -> Option<Markdown> {
        let Manner::Screen(page) = manner else { return None };
        // Wider lines are hard to read.
        let width = page.width.unwrap_or(80).min(100);
        Some(Markdown::new(Look { width, colour: page.colour }))
    }

    /// Why standard output takes nothing more, if that has happened.
    pub(crate) fn lost(&self) -> Option<&io::Error> {
        self.lost.as_ref()
    }

    pub(crate) fn show(&mut self, shown: &Shown<'_>) {
        match self.manner {
            Manner::Json => {
                if let Some(event) = json::event(shown) {
                    self.print(&format!("{event}\n"));
                }
            }
            Manner::Plain | Manner::Screen(_) => self.show_lines(shown),
        }
    }

    pub(crate) fn warn(&mut self, words: &str) {
        self.show(&Shown::Warning(words));
    }

    pub(crate) fn note(&mut self, words: &str) {
        self.show(&Shown::Note(words));
    }

    /// Lines that were made to be seen, as they are. Not for programs.
    pub(crate) fn talk(&mut self, lines: &str) {
        if self.manner != Manner::Json {
            self.close_line();
            self.stop_waiting();
            self.say(lines);
        }
    }

    /// Says how it all ended, and gives the exit.
    pub(crate) fn conclude(&mut self, done: Result<Exit, Failure>, form: Form) -> Exit {
        self.close_line();
        self.stop_waiting();
        done.unwrap_or_else(|failure| failure.report(&mut self.err, form))
    }

    pub(crate) fn page(&self) -> Option<&Page> {
        if let Manner::Screen(page) = &self.manner { Some(page) } else { None }
    }

    fn show_lines(&mut self, shown: &Shown<'_>) {
        match shown {
            Shown::Text(words) => self.words(words),
            Shown::Thinking(words) if self.verbose => {
                let words = self.dim(&text::plain_lines(words));
                self.say(&words);
            }
            Shown::Thinking(_) | Shown::Opened { .. } => {}
            Shown::Asked => self.wait(),
            Shown::Replied { stop, .. } => {
                self.end_words();
                self.said = false;
                if let Some(line) = lines::stopped(stop) {
                    self.line(&line);
                }
            }
            Shown::Retract => {
                // What is held back was never seen.
                self.ink = Voice::ink(&self.manner);
                self.end_words();
                if std::mem::take(&mut self.said) {
                    self.line("(this reply was cut off and does not count)");
                }
            }
            Shown::Retrying { error, attempt, left } => self.count_down(error, *attempt, *left),
            Shown::Started { task } => {
                self.end_words();
                self.started = Some((task.id.clone(), Some(summary(task))));
                if lines::takes_time(task) && matches!(self.manner, Manner::Screen(_)) {
                    self.name_started();
                }
                if self.verbose {
                    let arguments = serde_json::Value::Object(task.arguments.clone()).to_string();
                    self.line(&format!("  {} {}", task.name, lines::excerpt(&arguments, 400)));
                }
            }
            Shown::Live(words) => self.live(words),
            Shown::Returned { task, result } => self.returned(task, result),
            Shown::Warning(words) => self.line(&format!("warning: {}", text::plain(words))),
            Shown::Note(words) => {
                let words = self.dim(&text::plain(words));
                self.line(&words);
            }
            Shown::Ended { spent, .. } => {
                self.end_words();
                let told = self.verbose || matches!(self.manner, Manner::Screen(_));
                if told && spent.requests > 0 {
                    let line = self.dim(&lines::spent(spent));
                    self.line(&format!(" {line}"));
                }
            }
        }
    }

    /// The model's words. On a screen they cannot drive it; a file gets them as they are.
    fn words(&mut self, words: &str) {
        let shown = match &mut self.ink {
            Some(ink) => ink.push(&text::plain_lines(words)),
            None => words.to_owned(),
        };
        if !shown.is_empty() {
            self.said = true;
            self.open = !shown.ends_with('\n');
            self.print(&shown);
        }
    }

    /// Each reply ends with a line's end.
    fn end_words(&mut self) {
        let rest = self.ink.as_mut().map(Markdown::finish).unwrap_or_default();
        if !rest.is_empty() {
            self.open = !rest.ends_with('\n');
            self.print(&rest);
        }
        if std::mem::take(&mut self.open) {
            self.print("\n");
        }
    }

    /// So that words on standard error stand on a line of their own where both streams are one screen.
    fn close_line(&mut self) {
        if matches!(self.manner, Manner::Screen(_)) {
            self.end_words();
        }
    }

    fn count_down(&mut self, error: &str, attempt: u32, left: Duration) {
        self.close_line();
        if std::mem::replace(&mut self.counting, attempt) != attempt {
            self.line(&format!(
                "{}; trying again in {} s (attempt {attempt})",
                text::plain(error),
                seconds(left)
            ));
        } else if self.page().is_some_and(|page| page.colour) {
            self.say(&format!("\r\x1b[Ktrying again in {} s\r", seconds(left)));
        }
    }

    fn live(&mut self, words: &str) {
        if !self.verbose && self.manner == Manner::Plain {
            return;
        }
        self.name_started();
        let lines = match self.verbose {
            true => text::plain_lines(words).lines().map(str::to_owned).collect(),
            false => self.live.push(words),
        };
        self.below(&lines);
    }

    /// Lines of a tool, below its name.
    fn below(&mut self, lines: &[String]) {
        for line in lines {
            let line = self.dim(&format!("    {line}"));
            self.line(&line);
        }
    }

    /// Says what runs now, once.
    fn name_started(&mut self) {
        if let Some(line) = self.started.as_mut().and_then(|(_, line)| line.take()) {
            let line = self.dim(&line);
            self.line(&line);
        }
    }

    fn returned(&mut self, task: &Task, result: &ToolResult) {
        let last = std::mem::take(&mut self.live).finish();
        self.below(&last);
        let told = lines::result(result);
        // Work that was watched has its name above it already, and its output.
        match self.started.take_if(|(id, line)| *id == task.id && line.is_none()) {
            Some(_) => self.line(&format!("    {}", lines::ending(result))),
            None if result.outcome == Outcome::Failed => self.line(&format!("{} {told}", summary(task))),
            // What went well matters less than what is said.
            None => {
                let line = self.dim(&format!("{} {told}", summary(task)));
                self.line(&line);
            }
        }
        if self.verbose && result.outcome == Outcome::Done {
            let shown = self.dim(&format!("    {}", lines::excerpt(&result.content, 400)));
            self.line(&shown);
        }
    }

    fn line(&mut self, line: &str) {
        self.close_line();
        self.stop_waiting();
        // Keys that were pressed while nobody read them stand there: `^C` most of all.
        let clean = if self.page().is_some_and(|page| page.colour) { "\r\x1b[K" } else { "" };
        self.say(&format!("{clean}{line}\n"));
    }

    fn dim(&self, words: &str) -> String {
        match &self.manner {
            Manner::Screen(page) => page.dim(words),
            Manner::Plain | Manner::Json => words.to_owned(),
        }
    }

    /// Something to look at until the first words are there.
    fn wait(&mut self) {
        self.close_line();
        if let Manner::Screen(page) = &self.manner
            && page.colour
        {
            // A countdown may stand there.
            let sign = format!("\r\x1b[K{}", page.dim("…"));
            self.say(&sign);
            self.waiting = true;
        }
    }

    fn stop_waiting(&mut self) {
        if std::mem::take(&mut self.waiting) {
            self.say("\r\x1b[K");
        }
    }

    /// Standard output. What cannot be written is remembered: whoever asks ends the turn.
    fn print(&mut self, words: &str) {
        self.stop_waiting();
        if self.lost.is_none() {
            let written = self.out.write_all(words.as_bytes()).and_then(|()| self.out.flush());
            self.lost = written.err();
        }
    }

    /// Standard error. Nobody listening is no reason to stop.
    fn say(&mut self, words: &str) {
        let _ = self.err.write_all(words.as_bytes()).and_then(|()| self.err.flush());
    }
}

fn seconds(time: Duration) -> u64 {
    // The last second is said as one.
    time.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}
