//! The Model Context Protocol over any stream of bytes, as server and as client: JSON-RPC 2.0, one message per
//! line, threads and channels.
//!
//! Nothing here knows a tool of ours, starts a process, opens a socket, prints, or reads the environment.
#![forbid(unsafe_code)]

pub mod client;
mod message;
mod part;
mod queue;
mod server;
mod tool;
mod version;

pub use client::Client;
pub use message::RpcError;
pub use part::{Opened, Part};
pub use server::{ServeError, Server, ServerInfo, serve};
pub use tool::{BadArguments, Call, Cancel, Content, Tool, ToolResult};
pub use version::Version;
pub use wire::Deadline;

/// The longest line that either side takes. A server of ours sends none that is longer either: see [`serve`].
pub const LINE_CAP: wire::frame::Cap = wire::frame::Cap(4 << 20);
