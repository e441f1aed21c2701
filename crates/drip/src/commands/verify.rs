//! `drip verify`: whether the answers on record, applied in their order, give the contents on record.

use kit::{Exit, Failure, Page, text};
use serde_json::json;

use super::{Call, picked, store_failure};
use crate::session::SessionId;
use crate::verify::{self, Verdict};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// This session only, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let verdict = match call.here.stored()? {
        None => Verdict::default(),
        Some(database) => {
            let named = match args.session.as_deref() {
                None => None,
                named => picked::session(&call.here, &database, named)?.map(|picked| picked.roll.id),
            };
            let id = named.as_ref().map(SessionId::as_str);
            verify::verify(&database, id).map_err(|error| store_failure(&error))?
        }
    };
    let wrong: Vec<_> = verdict
        .wrong
        .iter()
        .map(|wrong| {
            json!({"session_id": wrong.session, "file_path": wrong.path, "delivery": wrong.delivery,
                "outcome_kind": wrong.kind, "why": wrong.why})
        })
        .collect();
    let answer = json!({"ok": wrong.is_empty(), "files": verdict.files, "deliveries": verdict.deliveries,
        "proven": verdict.proven, "unprovable": verdict.unprovable, "wrong": wrong});
    call.show(&answer, |page| to_text(page, &verdict))?;
    Ok(if verdict.wrong.is_empty() { Exit::Done } else { Exit::Failed })
}

fn to_text(page: &Page, verdict: &Verdict) -> String {
    let count = |number: usize| text::thousands(number as u64);
    let mut out = format!(
        "{} of {} answers about {} {} are consistent with what was recorded: a reader that applied them holds the recorded \
         bytes\n",
        count(verdict.proven),
        count(verdict.deliveries),
        count(verdict.files),
        if verdict.files == 1 { "file" } else { "files" }
    );
    if verdict.unprovable > 0 {
        out += &format!("{} build on what is no longer kept\n", count(verdict.unprovable));
    }
    for wrong in &verdict.wrong {
        let line = format!("wrong: {} of {} in {}: {}", wrong.kind, wrong.path, wrong.session, wrong.why);
        out += &format!("{}\n", page.bad(&text::plain(&line)));
    }
    out + &page.next("replay --full", "the very words that were sent")
}
