//! Ctrl-C while a turn runs. The first ends the turn, the second the program; nothing is killed in the middle of a
//! write. Knows signals, and nothing of what they end.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kit::process::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Who wants us to end, and how much.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// What the turn that is running looks at.
    turn: Cancel,
    leave: bool,
}

impl Interrupt {
    /// Listens to the signals from now on.
    pub(crate) fn listening() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let heard = interrupt.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                heard.raise(if signal == SIGINT { Wish::EndTurn } else { Wish::Leave });
            }
        })?;
        Ok(interrupt)
    }

    /// What a turn that starts now has to look at.
    pub(crate) fn turn(&self) -> Cancel {
        let mut state = self.state();
        if !state.leave {
            state.turn = Cancel::default();
        }
        state.turn.clone()
    }

    /// Whether the program shall end, too.
    pub(crate) fn wants_to_leave(&self) -> bool {
        self.state().leave
    }

    fn raise(&self, wish: Wish) {
        let mut state = self.state();
        state.leave |= wish == Wish::Leave || state.turn.is_cancelled();
        state.turn.cancel();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    EndTurn,
    Leave,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_ends_the_turn_and_twice_the_program() {
        let interrupt = Interrupt::default();
        let first = interrupt.turn();
        interrupt.raise(Wish::EndTurn);
        assert!(first.is_cancelled() && !interrupt.wants_to_leave());
        let second = interrupt.turn();
        assert!(!second.is_cancelled(), "the next turn starts afresh");
        interrupt.raise(Wish::EndTurn);
        interrupt.raise(Wish::EndTurn);
        assert!(interrupt.wants_to_leave());
        assert!(interrupt.turn().is_cancelled(), "nothing starts any more");
    }

    #[test]
    fn a_request_to_end_ends_everything_at_once() {
        let interrupt = Interrupt::default();
        let turn = interrupt.turn();
        interrupt.raise(Wish::Leave);
        assert!(turn.is_cancelled() && interrupt.wants_to_leave());
    }
}
