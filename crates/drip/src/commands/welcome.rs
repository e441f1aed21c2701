//! `drip` alone: what it has done for you so far, and where to go.

use kit::page::Column;
use kit::{Exit, Failure, Page, text};
use serde_json::json;

use super::{Call, signed, store_failure};
use crate::database::{Scope, Totals};

pub(crate) fn run(call: &mut Call) -> Result<Exit, Failure> {
    let totals = match call.here.stored()? {
        Some(database) => database.totals(Scope::Lifetime).map_err(|error| store_failure(&error))?,
        None => Totals::default(),
    };
    let answer = json!({"version": env!("CARGO_PKG_VERSION"), "total_reads": totals.sums.reads,
        "files_tracked": totals.files, "tokens_saved": totals.sums.saved()});
    call.show(&answer, |page| to_text(page, &totals))
}

fn to_text(page: &Page, totals: &Totals) -> String {
    let so_far = match totals.sums.reads {
        0 => "nothing was read through it yet".to_owned(),
        reads => format!(
            "{} tokens saved in {} reads of {} files",
            signed(totals.sums.saved()),
            text::thousands(reads),
            text::thousands(totals.files)
        ),
    };
    let rows = [
        ("init -g", "let your agent's reads go through it; `--dry-run` shows the change first"),
        ("read FILE", "what an agent would be sent"),
        ("meter", "what was saved, and what it cost"),
        ("doctor", "what works here and what does not"),
        ("--help", "everything else"),
    ]
    .map(|(command, about)| [format!("{} {command}", page.spoken), about.to_owned()]);
    format!(
        "drip {} · an agent that reads a file again gets what changed, not the file\n\n  {}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        page.bold(&so_far),
        page.aligned([Column::Left, Column::Dim], &rows)
    )
}
