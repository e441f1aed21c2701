//! The way to hang up on a request from another thread, at any moment of its life. Knows nothing of what is said.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ureq::Agent;

use crate::error::Error;

#[derive(Debug, Default)]
pub(super) struct Line(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// Nobody is connected yet.
    #[default]
    Idle,
    /// This agent serves this request alone, so that shutting it down harms no other.
    Open(Agent),
    /// The request is over; the agent may serve another.
    Closed,
    HungUp,
}

impl Line {
    /// From now on hanging up ends what the agent does. Fails if that has happened already.
    pub(super) fn open(&self, agent: &Agent) -> Result<(), Error> {
        let mut state = self.state();
        match *state {
            State::HungUp => Err(Error::Cancelled),
            _ => {
                *state = State::Open(agent.clone());
                Ok(())
            }
        }
    }

    /// The request is over. Whether the agent is still good.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state();
        let good = !matches!(*state, State::HungUp);
        if good {
            *state = State::Closed;
        }
        good
    }

    /// Ends the request, whatever it waits for. Name resolution and connecting cannot be ended; they fail when they are
    /// through, and nobody waits for that.
    pub(super) fn hang_up(&self) {
        let before = std::mem::replace(&mut *self.state(), State::HungUp);
        if let State::Open(agent) = before {
            agent.shutdown();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
