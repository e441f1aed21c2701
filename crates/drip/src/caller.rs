//! Who asks: the conversation, the agent in it, and the place it works in.

use std::path::PathBuf;

use crate::session::{AgentId, Eyes, Session, Strategy};
use crate::settings::Agent;

/// One reader, as the store wants to know it.
#[derive(Debug, Clone)]
pub struct Caller {
    pub session: Session,
    pub agent: AgentId,
    pub cwd: PathBuf,
    /// The client it runs in, if that is known.
    pub client: Option<Agent>,
    /// The client's name for this call of a tool, if it has one: hooks may hear of it twice.
    pub call: Option<String>,
}

impl Caller {
    pub fn eyes(&self) -> Eyes {
        Eyes { session: self.session.id.clone(), agent: self.agent.clone() }
    }

    /// The branch that the session was found by.
    pub fn branch(&self) -> Option<&str> {
        (self.session.strategy == Strategy::Git).then_some(self.session.context.as_str())
    }
}
