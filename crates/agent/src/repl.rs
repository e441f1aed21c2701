//! A conversation with a person at a terminal: a line, a turn, the next line. What is typed with a slash is an order to
//! us and never reaches the model.

mod line;
mod orders;
mod past;

use kit::{Exit, Failure, text};

use crate::session::Session;
use crate::voice::Shown;
use line::{Editor, Typed};

/// Runs until the person leaves. The first line says what is at hand.
pub(crate) fn run(session: &mut Session, banner: &str, history: &std::path::Path) -> Result<Exit, Failure> {
    let mut editor = Editor::new(history, session.desk.gate.hooks.project.clone())
        .map_err(|error| Failure::new("cannot read from the terminal").because(&error))?;
    session.desk.voice.talk(banner);
    recall(session);
    if session.history.open().is_some() {
        session.desk.voice.note("going on with the turn that was cut off");
        let done = session.resume();
        tell(session, done)?;
    }
    let mut warned = false;
    loop {
        let typed =
            editor.read().map_err(|error| Failure::new("cannot read from the terminal").because(&error))?;
        let line = match typed {
            Typed::Line(line) => line,
            Typed::End => return Ok(Exit::Done),
            Typed::Interrupt if warned => return Ok(Exit::Interrupted),
            Typed::Interrupt => {
                warned = true;
                session.desk.voice.note("Ctrl-C again, Ctrl-D or /exit to leave");
                continue;
            }
        };
        warned = false;
        match line.trim() {
            "" => continue,
            "exit" | "quit" => return Ok(Exit::Done),
            _ => {}
        }
        editor.remember(&line);
        let done = match orders::read(&line) {
            Some(order) => orders::obey(session, order),
            None => session.prompt(line).map(|()| orders::After::Stay),
        };
        match done {
            Ok(orders::After::Leave) => return Ok(Exit::Done),
            Ok(orders::After::Stay) => {}
            Err(failure) => tell(session, Err(failure))?,
        }
        if session.interrupt.wants_to_leave() {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Where a conversation that goes on has got to: the last thing that was asked, and the answer.
fn recall(session: &mut Session) {
    /// Of the answer: a screenful.
    const ENOUGH: usize = 2000;
    let all = session.history.exchanges();
    let Some(last) = all.last() else { return };
    let count = if all.len() == 1 { "1 exchange".to_owned() } else { format!("{} exchanges", all.len()) };
    let prompt = text::plain(text::head(last.prompt(), ENOUGH));
    let answer = last.answer().map(|answer| text::clip(&answer, ENOUGH, "")).unwrap_or_default();
    let voice = &mut session.desk.voice;
    voice.note(&format!("{count} so far; the last:"));
    voice.talk(&format!("> {prompt}\n"));
    voice.show(&Shown::Text(&answer));
    voice.talk("");
}

/// Says what failed; only a terminal that is gone ends the conversation.
fn tell(session: &mut Session, done: Result<(), Failure>) -> Result<(), Failure> {
    match done {
        Err(failure) if failure.exit() != Exit::Done => {
            session.desk.voice.talk(&format!("{failure}\n"));
            Ok(())
        }
        done => done,
    }
}
