//! What is said to and by the code daemon. The JSON is fixed by tldr's specification to the letter; what a command
//! computes is not known here.

mod reply;
mod request;

pub use reply::{
    AllSessionsSummary, Answer, DaemonResponse, DaemonStatus, DedupStats, Embedded, FullStatus, HookStats,
    Notified, Refusal, SalsaCacheStats, SessionStats, SimpleStatus, Tracked,
};
pub use request::{DaemonCommand, Direction, Format, Request, RequestError, SessionId};

use crate::frame::Cap;

/// The longest request that the daemon takes.
pub const REQUEST_CAP: Cap = Cap(64 * 1024);

/// The longest reply that a client takes: answers about a large project are megabytes, a peer gone mad is more.
pub const REPLY_CAP: Cap = Cap(64 * 1024 * 1024);
