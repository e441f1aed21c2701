//! Everything that chibi keeps on disk: contexts with their transcripts and windows, the list of them, documents, the
//! inbox, what replies cost. Knows no command line, no plugin and no provider; the time and fresh ids come with
//! [`ChibiHome`]. The agent keeps its conversations here too.
//!
//! The *transcript* is the authority: append-only, one line per entry, for ever. The *window* (`context.jsonl`) is what a
//! model is shown; it can be made again from the transcript at any time.

mod cut;
mod documents;
mod entry;
mod export;
mod fault;
mod fork;
mod hold;
mod home;
pub mod import;
pub mod inbox;
mod lifecycle;
mod local;
mod markdown;
mod meta;
mod migrate;
mod name;
mod open;
mod reader;
pub mod records;
mod state;
mod transcript;
pub mod usage;
mod window;
mod words;

pub use cut::{Compaction, Receipt, Replaced};
pub use documents::Document;
pub use entry::{Entry, EntryId, EntryKind, Metadata, Speaker};
pub use fault::ContextError;
pub(crate) use fault::read;
pub use hold::{Status, Wait};
pub use home::{ChibiHome, Ids, Prompt};
pub use lifecycle::Listed;
pub use meta::Meta;
pub use name::{ContextName, NameError};
pub use open::Context;
pub use reader::Reader;
pub use state::State;
pub use transcript::{Filters, Policy};
pub(crate) use window::pins;
pub use words::Query;
