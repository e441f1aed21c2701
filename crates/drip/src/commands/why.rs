//! `drip why`: the last decision about a file, in one line with its numbers.

use kit::{Exit, Failure, text};
use serde::Serialize;

use super::times::ago;
use super::{Call, Here, picked, read::failure, store_failure};
use crate::database::Event;
use crate::lines::Ranges;
use crate::plan::Limits;
use crate::read;
use crate::render::Kind;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    file: String,
    /// In this session only
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

#[derive(Serialize)]
struct Because<'a> {
    file: &'a str,
    session_id: &'a str,
    agent_id: &'a str,
    occurred_at: i64,
    outcome_kind: &'a str,
    fallback_reason: Option<&'a str>,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    hunks: Option<u64>,
    policy: Option<&'a str>,
    shown_before: Option<&'a Ranges>,
    shown_at: Option<i64>,
    because: &'a str,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let located = read::locate(&args.file, &call.here.cwd).map_err(|error| failure(&error, &call.here))?;
    let (event, whose) = find(&call.here, args, &located.key)?.ok_or_else(|| {
        let spoken = call.here.program.spoken();
        let file = kit::places::shell_word(args.file.as_ref());
        Failure::new(format!("nothing was sent about {}", located.key))
            .hint(format!("`{spoken} read --dry-run {file}` says what would be"))
    })?;
    let because = explain(&event, &call.here.settings.limits, call.here.now(), &whose);
    let answer = Because {
        file: &event.path,
        session_id: &event.session,
        agent_id: &event.agent,
        occurred_at: event.occurred_at,
        outcome_kind: &event.kind,
        fallback_reason: event.reason.as_deref(),
        tokens_full: event.cost.full,
        tokens_sent: event.cost.sent,
        overhead_tokens: event.cost.overhead,
        hunks: event.hunks,
        policy: event.policy.as_deref(),
        shown_before: event.shown_before.as_ref(),
        shown_at: event.shown_at,
        because: &because,
    };
    call.show(&answer, |_| format!("{}\n", text::plain(&because)))
}

/// The event and whose it was.
fn find(here: &Here, args: &Args, path: &str) -> Result<Option<(Event, String)>, Failure> {
    let Some(database) = here.stored()? else { return Ok(None) };
    let picked = picked::session(here, &database, args.session.as_deref())?;
    let picked = picked.map(|picked| picked.roll.id);
    let mine = match &picked {
        Some(id) => database.last_event(path, Some(id)).map_err(|error| store_failure(&error))?,
        None => None,
    };
    let event = match mine {
        None if args.session.is_none() => {
            database.last_event(path, None).map_err(|error| store_failure(&error))?
        }
        mine => mine,
    };
    Ok(event.map(|event| {
        let whose = match picked.is_some_and(|id| id.as_str() == event.session) {
            true => "this session".to_owned(),
            false => format!("session {}", event.session),
        };
        (event, whose)
    }))
}

/// What was sent, what had been shown before, by which policy, and what would have made it otherwise.
fn explain(event: &Event, limits: &Limits, now: i64, whose: &str) -> String {
    let kind = Kind::stored(&event.kind);
    let count = |tokens: u64| text::thousands(tokens);
    let mut what = event.reason.clone().unwrap_or_else(|| event.kind.clone());
    if let Some(hunks) = event.hunks {
        what += &format!(": {hunks} hunk{},", if hunks == 1 { "" } else { "s" });
    } else {
        what.push(':');
    }
    let reader = match event.agent.as_str() {
        "" => whose.to_owned(),
        agent => format!("{whose}, agent {agent}"),
    };
    let mut said = vec![format!(
        "{what} {} of {} tokens, and {} of our own words, {}",
        count(event.cost.sent),
        count(event.cost.full),
        count(event.cost.overhead),
        ago(event.occurred_at, now)
    )];
    said.push(match (&event.shown_before, event.shown_at) {
        (Some(shown), Some(at)) if !shown.is_empty() => {
            format!("Shown before: {} {} ({reader})", lines(shown), ago(at, now))
        }
        _ => format!("Not shown before ({reader})"),
    });
    said.extend(event.policy.as_ref().map(|policy| format!("Policy: {policy}")));
    said.extend(kind.and_then(|kind| otherwise(kind, event, limits)));
    format!("{}.", said.join(". "))
}

/// What would have tipped it.
fn otherwise(kind: Kind, event: &Event, limits: &Limits) -> Option<String> {
    let gated = event.policy.as_deref() == Some("gated");
    let share = (limits.max_changed * 100.0).round();
    let some = |text: &str| Some(text.to_owned());
    match kind {
        Kind::First if event.shown_before.is_some() => {
            some("A delta is sent only to a reader that was shown every line")
        }
        Kind::First => some("The same text again would have been one line"),
        Kind::Elided => some("Bodies come with `--full`, `--symbol NAME` or `--lines A-B`"),
        Kind::Unchanged | Kind::PartUnchanged => some("A changed line would have been sent as a delta"),
        Kind::Delta | Kind::PartDelta if gated => Some(format!(
            "Full would have been sent above {} hunks, {share} % changed lines or {} bytes",
            limits.max_hunks,
            text::thousands(limits.max_bytes as u64)
        )),
        Kind::Delta | Kind::PartDelta => some("Full would have been sent if it were shorter"),
        Kind::Part => some("A delta of these lines needs all of them shown, and every change in them"),
        Kind::Certificate => {
            some("The file is as the reader's own edit left it; another hash would have sent it")
        }
        Kind::Renamed => some("The same text was shown under a name that is gone"),
        Kind::Passthrough => {
            some("The first read after an edit of its own, and not all of the file was shown")
        }
        Kind::Native => some("The client showed its own text"),
        Kind::Deleted => None,
        Kind::Fallback => fallback(event.reason.as_deref().unwrap_or_default(), limits),
    }
}

fn fallback(reason: &str, limits: &Limits) -> Option<String> {
    let instead = "`DRIP_DIFF_POLICY=cheapest` would have compared it";
    Some(match reason {
        "large file" => {
            format!("A delta is sent up to {} bytes; {instead}", text::thousands(limits.max_bytes as u64))
        }
        "truncated" => format!("Less than half of it is left; {instead}"),
        "diff would cost more than the file itself" => {
            "Fewer changes would have been sent as a delta".to_owned()
        }
        "DRIP marker would cost more than native read" => {
            "The file is shorter than the words about it".to_owned()
        }
        reason if reason.starts_with("diff complexity") => format!(
            "A delta is sent up to {} hunks and {:.0} % changed lines, or 3 hunks if they are more than {} lines \
             apart; {instead}",
            limits.max_hunks,
            limits.max_changed * 100.0,
            limits.max_spread
        ),
        _ => return None,
    })
}

/// `lines 1-820`, and not more than three pieces.
fn lines(shown: &Ranges) -> String {
    const NAMED: usize = 3;
    let spans: Vec<String> =
        shown.iter().take(NAMED).map(|span| format!("{}-{}", span.first, span.last)).collect();
    let more = match shown.iter().count().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more pieces"),
    };
    format!("lines {}{more}", spans.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Span;
    use crate::render::Cost;

    fn event(kind: Kind) -> Event {
        Event {
            session: "s".into(),
            agent: String::new(),
            path: "/a".into(),
            occurred_at: 1_000,
            kind: kind.as_str().into(),
            reason: None,
            cost: Cost { full: 9_870, sent: 412, overhead: 21 },
            hunks: Some(3),
            policy: Some("gated".into()),
            shown_before: Some(Span { first: 1, last: 820 }.into()),
            shown_at: Some(400),
            rendered: String::new(),
        }
    }

    #[test]
    fn a_delta_tells_its_numbers_and_what_would_have_tipped_it() {
        let said = explain(&event(Kind::Delta), &Limits::default(), 1_003, "this session");
        assert_eq!(
            said,
            "delta: 3 hunks, 412 of 9,870 tokens, and 21 of our own words, 3s ago. Shown before: lines 1-820 10m ago \
             (this session). Policy: gated. Full would have been sent above 6 hunks, 40 % changed lines or 100,000 bytes."
        );
    }

    #[test]
    fn every_kind_is_one_line_that_begins_with_itself() {
        for kind in Kind::ALL {
            let said = explain(&event(kind), &Limits::default(), 2_000, "this session");
            assert!(said.starts_with(kind.as_str()) && said.ends_with('.') && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn many_pieces_are_counted() {
        let shown: Ranges = (0..6).map(|n| Span { first: n * 10 + 1, last: n * 10 + 2 }).collect();
        assert_eq!(lines(&shown), "lines 1-2, 11-12, 21-22 and 3 more pieces");
    }
}
