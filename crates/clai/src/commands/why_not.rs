//! `clai why-not`: what was not kept, or not as it was, and how often.

use kit::page::Column;
use kit::{Exit, Failure, text};

use super::{Call, Page, times};
use crate::daemon::{AskFailure, Request, WhyNot};
use crate::database::{LeftOut, Reason};

pub(super) fn run(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let why_not = match call.ask(&Request::WhyNot) {
        Ok(why_not) => why_not,
        Err(AskFailure::Absent) => without_daemon(call)?,
        Err(other) => return Err(other.into()),
    };
    call.show(&why_not, |page| to_text(page, &why_not))
}

fn without_daemon(call: &Call<'_>) -> Result<WhyNot, Failure> {
    let left_out = match call.reader()? {
        Some(reader) => {
            reader.left_out().map_err(|error| super::database_failure("cannot read the history", &error))?
        }
        None => Vec::new(),
    };
    Ok(WhyNot { left_out, paused_until: None })
}

fn to_text(page: &Page, why_not: &WhyNot) -> String {
    let mut out = String::new();
    if let Some(until) = why_not.paused_until {
        out.push_str(&format!(
            "{}; `{} resume` ends it\n\n",
            super::pause::words(until, page.now),
            page.spoken
        ));
    }
    if why_not.left_out.is_empty() {
        return out
            + "nothing was left out: every command that reached the daemon was kept as it was typed\n";
    }
    let rows: Vec<[String; 4]> = why_not
        .left_out
        .iter()
        .map(|it| {
            let count = text::thousands(it.count);
            [count, words(it), it.detail.clone(), format!("last {}", times::ago(it.last_ts, page.now))]
        })
        .collect();
    out.push_str(&page.aligned([Column::Right, Column::Left, Column::Left, Column::Dim], &rows));
    out + &page.next("config show --explain", "the rules, and where each comes from")
}

fn words(left_out: &LeftOut) -> String {
    const WORDS: [(Reason, &str); 9] = [
        (Reason::SecretRedacted, "kept, with a secret taken out"),
        (Reason::SecretDropped, "not kept: a secret in it (secrets = \"drop\")"),
        (Reason::IgnoredLine, "not kept: matches a pattern of `ignore`"),
        (Reason::IgnoredDirectory, "not kept: in a directory of `ignore_dirs`"),
        (Reason::Paused, "not kept: paused"),
        (Reason::Agent, "not kept: typed by a program (agents = \"drop\")"),
        (Reason::TooLong, "not kept: longer than a message may be"),
        (Reason::Overflow, "not kept: more came than could be written"),
        (Reason::Malformed, "not kept: not understood"),
    ];
    let known = WORDS.iter().find(|(reason, _)| reason.word() == left_out.reason);
    known.map_or_else(|| left_out.reason.clone(), |(_, words)| (*words).to_owned())
}
