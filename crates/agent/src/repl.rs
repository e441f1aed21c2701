//! A conversation with a person at a terminal: a line, a turn, the next line. What is typed with a slash is an order to
//! us and never reaches the model.

mod line;
mod orders;
mod past;

use kit::{Exit, Failure};

use crate::session::Session;
use line::{Editor, Typed};

/// Runs until the person leaves. The first line says what is at hand.
pub(crate) fn run(session: &mut Session, banner: &str, history: &std::path::Path) -> Result<Exit, Failure> {
    let mut editor = Editor::new(history, session.desk.gate.hooks.project.clone())
        .map_err(|error| Failure::new("cannot read from the terminal").because(&error))?;
    session.desk.voice.talk(banner);
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
