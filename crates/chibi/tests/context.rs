//! What chibi keeps on disk, seen from outside: files as the original writes them go in, files it could read come out.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: writes plain files, starts children, fails by panicking"
)]

#[path = "context/again.rs"]
mod again;
#[path = "context/crash.rs"]
mod crash;
#[path = "context/cuts.rs"]
mod cuts;
#[path = "context/damage.rs"]
mod damage;
#[path = "context/desk.rs"]
mod desk;
#[path = "context/finding.rs"]
mod finding;
#[path = "context/handing.rs"]
mod handing;
#[path = "context/inherited.rs"]
mod inherited;
#[path = "context/keeping.rs"]
mod keeping;
#[path = "context/life.rs"]
mod life;
#[path = "context/together.rs"]
mod together;
