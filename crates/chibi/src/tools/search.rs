//! What was said before, found again.

use kit::text;
use serde_json::{Map, Value};

use super::{Desk, Hit, Refused, argument};

/// Entries that are shown.
const MOST: usize = 20;

/// Of each entry: enough to see whether it is the one.
const EXCERPT: usize = 1_000;

pub(super) fn search(arguments: &Map<String, Value>, desk: &mut dyn Desk) -> Result<String, Refused> {
    let query = argument(arguments, "query")?;
    if !query.contains(char::is_alphanumeric) {
        return Err(Refused("`query` has no word in it".to_owned()));
    }
    let hits = desk.search(query, MOST)?;
    if hits.is_empty() {
        return Ok("Nothing found.".to_owned());
    }
    Ok(hits.iter().map(shown).collect::<Vec<_>>().join("\n\n"))
}

fn shown(hit: &Hit) -> String {
    let Hit { id, when, from, content } = hit;
    format!("[{when}, {}, id {id}]\n{}", text::plain(from), text::clip(content, EXCERPT, ""))
}
