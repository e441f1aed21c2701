//! One request in, one stream of events out, any provider. The only home of HTTP and TLS.
//!
//! Nothing here knows a conversation, a tool or a terminal; nothing reads the environment or prints. What can be decided
//! without a connection is decided without one: [`provider::resolve`], [`Decoder`], [`retry::next`] are pure.
#![forbid(unsafe_code)]

pub mod anthropic;
mod block;
mod client;
mod decode;
mod error;
mod event;
pub mod key;
mod openai;
pub mod price;
pub mod provider;
pub mod proxy;
mod request;
pub mod retry;
pub mod script;
pub mod sse;
mod wire;

pub use block::{Block, Call, CallId, Input, View, Wire};
pub use client::{Certificates, Client, Reply, Setup, Stream, Timeouts};
pub use decode::Decoder;
pub use error::{Advice, Again, Complaint, Error, Kind};
pub use event::{Done, Event, Note, Stop, StopKind, Usage};
pub use key::{Key, KeySource};
pub use price::Cost;
pub use provider::Provider;
pub use request::{
    Cache, Effort, Format, Message, Options, Outcome, Reasoning, Request, Tool, ToolChoice, ToolResult,
};
