//! Plugins as they are: bash and Python programs in a folder, found, asked, called and told. Real processes, real files.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests: they write scripts with plain files, are given fresh JSON, and fail by panicking"
)]

#[path = "plugins/bench.rs"]
mod bench;
#[path = "plugins/calls.rs"]
mod calls;
#[path = "plugins/folder.rs"]
mod folder;
#[path = "plugins/handed.rs"]
mod handed;
#[path = "plugins/hooks.rs"]
mod hooks;
#[path = "plugins/schemas.rs"]
mod schemas;
#[path = "plugins/shipped.rs"]
mod shipped;
