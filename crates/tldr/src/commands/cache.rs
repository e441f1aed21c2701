//! `tldr cache`: what is kept in a project, and how to be rid of it.

use kit::text::thousands;
use kit::{Exit, Failure, Invocation};
use serde_json::json;
use wire::tldr::{DaemonCommand, Request};

use super::{message, show};
use crate::cache::{self, Contents};
use crate::cli::{Cache, Where};
use crate::client;
use crate::root::Root;

pub(super) fn run(invocation: &mut Invocation, args: &Cache) -> Result<Exit, Failure> {
    match args {
        Cache::Stats(place) => stats(invocation, place),
        Cache::Clear(place) => clear(invocation, place),
    }
}

fn stats(invocation: &mut Invocation, place: &Where) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&place.project))?;
    match cache::contents(&root) {
        Some(contents) => show(invocation, place.format.format, &contents, || to_text(&contents)),
        None => message(invocation, place.format.format, "No cache statistics found"),
    }
}

fn clear(invocation: &mut Invocation, place: &Where) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&place.project))?;
    let places = invocation.places()?;
    // What a daemon holds would be written again when it ends.
    let clear = Request::new(DaemonCommand::Clear);
    client::ask(&root, &places, &clear, client::PATIENCE)?;
    let Some(removed) = cache::clear(&root)? else {
        return message(invocation, place.format.format, "No cache directory found");
    };
    let words = format!("Cache cleared: {removed} file(s) removed");
    let answer = json!({"status": "ok", "files_removed": removed, "message": words});
    show(invocation, place.format.format, &answer, || format!("{words}\n"))
}

fn to_text(contents: &Contents) -> String {
    let mut text = String::from("Cache Statistics\n================\n");
    if let Some(salsa) = &contents.salsa_stats {
        text.push_str(&format!(
            "Salsa Cache:\n  Hits: {}\n  Misses: {}\n  Hit Rate: {:.2}%\n  Invalidations: {}\n  Recomputations: {}\n",
            thousands(salsa.hits),
            thousands(salsa.misses),
            salsa.hit_rate(),
            thousands(salsa.invalidations),
            thousands(salsa.recomputations),
        ));
    }
    let files = &contents.cache_files;
    text.push_str(&format!(
        "Cache Files:\n  Count: {} files\n  Size: {}\n",
        thousands(files.file_count as u64),
        files.total_size_human
    ));
    text
}
