//! Real programs in a real terminal: a pseudo-terminal with a screen that a test can look at while it types.
//! Knows nothing of shells, see `shell`.

mod key;
mod shell;

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{Home, until};

pub use key::Key;
pub use shell::Shell;

/// A program in a terminal. Going out of scope it is killed, with the job in the foreground.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Writer,
    shared: Arc<Mutex<Shown>>,
}

type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub rows: u16,
    pub cols: u16,
}

impl Default for Size {
    fn default() -> Self {
        Size { rows: 24, cols: 80 }
    }
}

/// How a text looks on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
    pub colour: vt100::Color,
}

impl Style {
    /// Dim, or in the dark grey that shells use for what was not typed.
    pub fn is_faint(&self) -> bool {
        self.dim || self.colour == vt100::Color::Idx(8)
    }
}

/// What [`Terminal::wait_for`] waits for: a text, or any condition on the text of the screen.
pub trait Wanted {
    fn is_on(&mut self, screen: &str) -> bool;
    fn describe(&self) -> String;
}

impl Wanted for &str {
    fn is_on(&mut self, screen: &str) -> bool {
        screen.contains(*self)
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl<F: FnMut(&str) -> bool> Wanted for F {
    fn is_on(&mut self, screen: &str) -> bool {
        self(screen)
    }

    fn describe(&self) -> String {
        "the wanted condition".to_owned()
    }
}

impl Terminal {
    /// Starts a program in the environment of `home`, see [`Home::environment`].
    #[track_caller]
    pub fn spawn(home: &Home, program: impl AsRef<std::ffi::OsStr>, args: &[&str], size: Size) -> Terminal {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        Terminal::start(home, command, &[], size)
    }

    #[track_caller]
    fn start(home: &Home, mut command: CommandBuilder, extra: &[(&str, &str)], size: Size) -> Terminal {
        command.env_clear();
        home.environment().into_iter().for_each(|(name, value)| command.env(name, value));
        command.env("SHELL", "/bin/sh");
        extra.iter().for_each(|(name, value)| command.env(name, value));
        command.cwd(home.path());
        let pair =
            native_pty_system().openpty(pty_size(size)).expect("the system has a pseudo-terminal left");
        let child =
            pair.slave.spawn_command(command).unwrap_or_else(|error| panic!("cannot start: {error:#}"));
        let mut reader = pair.master.try_clone_reader().expect("a terminal can be read");
        let writer: Writer =
            Arc::new(Mutex::new(pair.master.take_writer().expect("a terminal can be written once")));
        let (rows, cols) = whole(size);
        let parser = vt100::Parser::new_with_callbacks(rows, cols, 0, Answers::default());
        let shared = Arc::new(Mutex::new(Shown { parser, ended: false }));
        thread::spawn({
            let (shared, writer) = (Arc::clone(&shared), Arc::clone(&writer));
            move || watch(&mut *reader, &shared, &writer)
        });
        Terminal { master: pair.master, child, writer, shared }
    }

    /// Types.
    #[track_caller]
    pub fn send(&self, text: &str) {
        let mut writer = lock(&self.writer);
        let written = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
        written.unwrap_or_else(|error| panic!("nobody reads the terminal: {error}\n{}", self.picture()));
    }

    #[track_caller]
    pub fn key(&self, key: Key) {
        let application_cursor = self.shown().parser.screen().application_cursor();
        self.send(&key.bytes(application_cursor));
    }

    /// The text of the screen as it was drawn: blanks at the end of a line are there if they were printed.
    pub fn screen(&self) -> String {
        self.rows().join("\n").trim_end_matches('\n').to_owned()
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.shown().parser.screen().cursor_position()
    }

    /// Waits until it is on the screen and gives the screen. Panics with a picture of it after `patience`.
    #[track_caller]
    pub fn wait_for(&self, mut wanted: impl Wanted, patience: Duration) -> String {
        if !until(patience, || wanted.is_on(&self.screen())) {
            panic!("waited {patience:?} for {}\n{}", wanted.describe(), self.picture());
        }
        self.screen()
    }

    /// How the last occurrence of `text` on the screen looks. Panics if it is not there or looks different from
    /// character to character.
    #[track_caller]
    pub fn style_of(&self, text: &str) -> Style {
        let styles = self.styles_of(text);
        let first = *styles.first().unwrap_or_else(|| panic!("no {text:?}\n{}", self.picture()));
        assert!(styles.iter().all(|style| *style == first), "{text:?} has several styles: {styles:?}");
        first
    }

    #[track_caller]
    pub fn resize(&self, size: Size) {
        let (rows, cols) = whole(size);
        self.shown().parser.set_size(rows, cols);
        self.master.resize(pty_size(size)).expect("a terminal can be resized");
    }

    /// Waits for the end of the program and of its output. Panics with a picture of the screen after `patience`.
    #[track_caller]
    pub fn exit_code(&mut self, patience: Duration) -> i32 {
        let mut status = None;
        let ended = until(patience, || {
            status =
                status.take().or_else(|| self.child.try_wait().expect("our own child can be waited for"));
            status.is_some() && lock(&self.shared).ended
        });
        if !ended {
            panic!("waited {patience:?} for the end: {status:?}\n{}", self.picture());
        }
        let code = status.expect("just seen").exit_code();
        i32::try_from(code).expect("exit codes are small")
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        lock(&self.shared)
    }

    fn rows(&self) -> Vec<String> {
        let shown = self.shown();
        let (_, cols) = shown.parser.screen().size();
        shown.parser.screen().rows(0, cols.get()).collect()
    }

    fn styles_of(&self, text: &str) -> Vec<Style> {
        let shown = self.shown();
        let screen = shown.parser.screen();
        let (rows, cols) = screen.size();
        for row in (0..rows.get()).rev() {
            let cells = (0..cols.get()).filter_map(|col| screen.cell(row, col));
            let (mut line, mut styles) = (String::new(), Vec::new());
            for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
                let symbol = if cell.has_contents() { cell.contents() } else { " " };
                line.push_str(symbol);
                // One for each byte, so that places in the line are places in the styles.
                styles.extend(std::iter::repeat_n(style(cell), symbol.len()));
            }
            if let Some(start) = line.rfind(text) {
                return styles[start..start + text.len()].to_vec();
            }
        }
        Vec::new()
    }

    /// The screen in a frame, for messages.
    fn picture(&self) -> String {
        let rows = self.rows();
        let width = rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        let frame = format!("+{}+", "-".repeat(width + 2));
        let lines: String = rows.iter().map(|row| format!("| {row:<width$} |\n")).collect();
        format!("{frame}\n{lines}{frame} cursor at {:?}", self.cursor())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let job = self.master.process_group_leader();
        let leader = self.child.process_id().and_then(|id| i32::try_from(id).ok());
        for group in [job, leader].into_iter().flatten().filter_map(Pid::from_raw) {
            // A group that is already gone is what we wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// What the program has drawn so far.
struct Shown {
    parser: vt100::Parser<Answers>,
    ended: bool,
}

/// What a terminal is asked and has to answer: without it, programs wait or give up on features.
#[derive(Default)]
struct Answers {
    pending: Vec<u8>,
    /// How often our own prompt was drawn, see `shell`.
    prompts: usize,
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        intermediate: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        let first = params.first().and_then(|values| values.first()).copied().unwrap_or(0);
        match (intermediate, first, c) {
            // Where is the cursor?
            (None, 6, 'n') => {
                let (row, col) = screen.cursor_position();
                self.pending.extend(format!("\x1b[{};{}R", row + 1, col + 1).bytes());
            }
            // What are you? A VT220 with colours.
            (None, 0, 'c') => self.pending.extend(b"\x1b[?62;22c"),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        if params.first() == Some(&shell::PROMPT_MARK.as_bytes()) {
            self.prompts += 1;
        }
    }
}

fn watch(reader: &mut dyn Read, shared: &Mutex<Shown>, writer: &Writer) {
    let mut buffer = [0; 8192];
    // The other side being gone is an error on Linux and an end elsewhere.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        let answers = {
            let mut shown = lock(shared);
            shown.parser.process(&buffer[..count]);
            std::mem::take(&mut shown.parser.callbacks_mut().pending)
        };
        if !answers.is_empty() {
            let _ = lock(writer).write_all(&answers);
        }
    }
    lock(shared).ended = true;
}

fn style(cell: &vt100::Cell) -> Style {
    Style {
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
        inverse: cell.inverse(),
        colour: cell.fgcolor(),
    }
}

fn pty_size(size: Size) -> PtySize {
    PtySize { rows: size.rows, cols: size.cols, pixel_width: 0, pixel_height: 0 }
}

fn whole(size: Size) -> (NonZeroU16, NonZeroU16) {
    let whole = |number| NonZeroU16::new(number).expect("a terminal has rows and columns");
    (whole(size.rows), whole(size.cols))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
