//! What happens to a history, one by one, as it is kept: a front writes each in its own form and reads them again.
//! Knows no file.

use llm::{Block, Usage};
use serde::{Deserialize, Serialize};

use super::{ExchangeId, Returned};

/// One thing that happened. Written before whatever comes after it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    Opening {
        text: String,
    },
    /// What a reply cost, before the reply itself; also of one that is not kept. The history does not need it.
    Usage(Usage),
    Prompt {
        id: ExchangeId,
        text: String,
    },
    /// What the model said. If it has calls, their results follow, each when it is there.
    Reply {
        blocks: Vec<Block>,
        ending: Ending,
    },
    Result(Returned),
    /// Words of ours in the user's place.
    Note {
        text: String,
    },
    /// The open exchange failed before it had any effect, and is no part of the history.
    Dropped {
        reason: String,
    },
    Pinned {
        id: ExchangeId,
    },
    Unpinned {
        id: ExchangeId,
    },
    /// These exchanges were replaced by this summary.
    Compacted {
        archived: Vec<ExchangeId>,
        summary: String,
    },
    /// The last compaction was undone.
    Restored,
    /// This exchange and all later ones were taken away.
    Rewound {
        from: ExchangeId,
    },
}

/// Whether a reply is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    Complete,
    /// The provider will go on with it.
    Paused,
    /// No reply at all: a note of ours in its place.
    Closing,
}
