//! The protocol from outside: transcripts, hostile bytes, properties, and rmcp as the peer in both roles.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "protocol/bench.rs"]
mod bench;
#[path = "protocol/client.rs"]
mod client;
#[path = "protocol/hostile.rs"]
mod hostile;
#[path = "protocol/properties.rs"]
mod properties;
#[path = "protocol/rmcp.rs"]
mod rmcp_peer;
#[path = "protocol/served.rs"]
mod served;
#[path = "protocol/transcript.rs"]
mod transcript;
