//! The three dialects. Each turns a stream into requests and answers into bytes; none knows what a request does.

pub(super) mod http;
pub(super) mod ndjson;
pub(super) mod raw;
