//! Ctrl-C and its relatives. While a turn runs, the first ends the turn and the second the program, and nothing is killed
//! in the middle of a write; while none runs, a signal does what it always does. Knows nothing of what it ends.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use kit::process::Cancel;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Who wants us to end, and how much.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What the turn that is running looks at.
    turn: Option<Cancel>,
    leave: bool,
}

impl Interrupt {
    /// Listens to the signals from now on.
    pub(crate) fn listening() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let heard = interrupt.clone();
        // A line editor may have changed it when we have to go.
        let terminal = tcgetattr(io::stdin().as_fd()).ok();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                if !heard.raise(if signal == SIGINT { Wish::EndTurn } else { Wish::Leave }) {
                    go(signal, terminal.as_ref());
                }
            }
        })?;
        Ok(interrupt)
    }

    /// What a turn that starts now has to look at.
    pub(crate) fn turn(&self) -> Cancel {
        let mut state = self.state();
        let cancel = Cancel::default();
        if state.leave {
            cancel.cancel();
        }
        state.turn = Some(cancel.clone());
        cancel
    }

    /// The turn is over.
    pub(crate) fn rest(&self) {
        self.state().turn = None;
    }

    /// Whether the program shall end, too.
    pub(crate) fn wants_to_leave(&self) -> bool {
        self.state().leave
    }

    /// Says whether there is a turn that will heed it.
    fn raise(&self, wish: Wish) -> bool {
        let mut state = self.state();
        let Some(turn) = state.turn.clone() else { return false };
        state.leave |= wish == Wish::Leave || turn.is_cancelled();
        turn.cancel();
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    EndTurn,
    Leave,
}

/// Ends the program as the signal would have, with the terminal as it was found.
fn go(signal: i32, terminal: Option<&Termios>) {
    if let Some(before) = terminal {
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Now, before);
    }
    let _ = emulate_default_handler(signal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_ends_the_turn_and_twice_the_program() {
        let interrupt = Interrupt::default();
        let first = interrupt.turn();
        assert!(interrupt.raise(Wish::EndTurn));
        assert!(first.is_cancelled() && !interrupt.wants_to_leave());
        let second = interrupt.turn();
        assert!(!second.is_cancelled(), "the next turn starts afresh");
        assert!(interrupt.raise(Wish::EndTurn) && interrupt.raise(Wish::EndTurn));
        assert!(interrupt.wants_to_leave());
        assert!(interrupt.turn().is_cancelled(), "nothing starts any more");
    }

    #[test]
    fn a_request_to_end_ends_everything_at_once() {
        let interrupt = Interrupt::default();
        let turn = interrupt.turn();
        assert!(interrupt.raise(Wish::Leave));
        assert!(turn.is_cancelled() && interrupt.wants_to_leave());
    }

    #[test]
    fn between_turns_a_signal_is_not_swallowed() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.raise(Wish::Leave));
        drop(interrupt.turn());
        interrupt.rest();
        assert!(!interrupt.raise(Wish::EndTurn));
    }
}
