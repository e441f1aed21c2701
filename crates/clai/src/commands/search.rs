//! `clai search`: lines that contain a text, each once.

use std::collections::HashMap;

use kit::page::Column;
use kit::{Exit, Failure, text};
use serde::Serialize;

use super::history::{self, Filter};
use super::{Call, Page, times};
use crate::database::{Found, Query};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What the line contains
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
    #[command(flatten)]
    filter: Filter,
}

/// A line with how often it was run.
#[derive(Debug, Serialize)]
struct Hit {
    cmd: String,
    count: u64,
    failed: u64,
    last_ts: i64,
    last_cwd: String,
}

/// A search that finds nothing is "not found" for a script.
pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let text = args.words.join(" ");
    let query = Query { text: Some(text.clone()), ..args.filter.query(call)? };
    let mut hits = hits(history::find(call, &query)?);
    let all = hits.len();
    hits.truncate(usize::try_from(args.filter.limit()).unwrap_or(usize::MAX));
    hits.reverse();
    call.show(&hits, |page| to_text(page, &text, &hits, all))?;
    Ok(if hits.is_empty() { Exit::Failed } else { Exit::Done })
}

/// Newest first in, newest first out.
fn hits(found: Vec<Found>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for it in found {
        let index = *places.entry(it.cmd.clone()).or_insert(hits.len());
        if index == hits.len() {
            hits.push(Hit { cmd: it.cmd, count: 0, failed: 0, last_ts: it.ts, last_cwd: it.cwd });
        }
        hits[index].count += 1;
        hits[index].failed += u64::from(!matches!(it.exit_code, None | Some(0 | 130)));
    }
    hits
}

fn to_text(page: &Page, text: &str, hits: &[Hit], all: usize) -> String {
    if hits.is_empty() {
        let plain = text::plain(text);
        return format!(
            "no line with `{plain}` was kept\n{}",
            page.next("why-not", "what was left out, and why")
        );
    }
    let rows: Vec<[String; 3]> = hits
        .iter()
        .map(|it| {
            let times = match it.failed {
                0 => format!("{}×", text::thousands(it.count)),
                failed => format!("{}×, {} failed", text::thousands(it.count), text::thousands(failed)),
            };
            [times::age(it.last_ts, page.now), times, it.cmd.clone()]
        })
        .collect();
    let mut out = page.aligned([Column::DimRight, Column::DimRight, Column::Left], &rows);
    if all > hits.len() {
        out.push_str(&format!(
            "  {} more; `-n {all}` shows them\n",
            text::thousands((all - hits.len()) as u64)
        ));
    }
    out + &page.next("forget TEXT", "if they should never have been kept")
}
