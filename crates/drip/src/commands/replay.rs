//! `drip replay`: what was sent, answer by answer.

use std::path::Path;

use kit::page::{Column, Glyphs};
use kit::{Exit, Failure, Page, text};
use serde::Serialize;

use super::times;
use super::{Call, Here, picked, rounded, signed, store_failure};
use crate::database::{Event, Roll, Sums, Which};
use crate::read::age;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// This session, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what is not older: 30s, 5m, 1h, 2d
    #[arg(long, value_name = "TIME", value_parser = times::seconds)]
    since: Option<i64>,
    /// Only files whose path contains this
    #[arg(long, value_name = "TEXT")]
    file: Option<String>,
    /// The newest so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print what was sent, too
    #[arg(long)]
    full: bool,
}

#[derive(Serialize)]
struct Replayed<'a> {
    session_id: Option<&'a str>,
    session_started_at: Option<i64>,
    event_count: usize,
    events: Vec<Shown<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Shown<'a> {
    n: usize,
    occurred_at: i64,
    age_secs: i64,
    file_path: &'a str,
    agent_id: &'a str,
    outcome_kind: &'a str,
    fallback_reason: Option<&'a str>,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    tokens_saved: i64,
    rendered: &'a str,
}

#[derive(Serialize)]
struct Summary {
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    tokens_saved: i64,
    reduction_pct: f64,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let now = call.here.now();
    let (roll, events) = match find(&call.here, args, now)? {
        Some((roll, events)) => (Some(roll), events),
        None => (None, Vec::new()),
    };
    let sums = sum(&events);
    let replayed = Replayed {
        session_id: roll.as_ref().map(|roll| roll.id.as_str()),
        session_started_at: roll.as_ref().map(|roll| roll.started_at),
        event_count: events.len(),
        events: events.iter().enumerate().map(|(index, event)| shown(index + 1, event, now)).collect(),
        summary: Summary {
            tokens_full: sums.full,
            tokens_sent: sums.sent,
            overhead_tokens: sums.overhead,
            tokens_saved: sums.saved(),
            reduction_pct: rounded(sums.reduction()),
        },
    };
    let shortened: Vec<String> = events.iter().map(|event| call.here.short(Path::new(&event.path))).collect();
    call.show(&replayed, |page| to_text(page, &replayed, &shortened, args.full))
}

fn find(here: &Here, args: &Args, now: i64) -> Result<Option<(Roll, Vec<Event>)>, Failure> {
    let Some(database) = here.stored()? else { return Ok(None) };
    let roll = match picked::session(here, &database, args.session.as_deref())? {
        Some(picked) => Some(picked.roll),
        // Whoever asks what was sent wants to see something.
        None => database.session_with_events().map_err(|error| store_failure(&error))?,
    };
    let Some(roll) = roll else { return Ok(None) };
    let which = Which {
        session: &roll.id,
        since: args.since.map(|since| now.saturating_sub(since)),
        file: args.file.as_deref(),
        limit: args.limit,
    };
    let events = database.events(&which).map_err(|error| store_failure(&error))?;
    Ok(Some((roll, events)))
}

fn shown(n: usize, event: &Event, now: i64) -> Shown<'_> {
    Shown {
        n,
        occurred_at: event.occurred_at,
        age_secs: (now - event.occurred_at).max(0),
        file_path: &event.path,
        agent_id: &event.agent,
        outcome_kind: &event.kind,
        fallback_reason: event.reason.as_deref(),
        tokens_full: event.cost.full,
        tokens_sent: event.cost.sent,
        overhead_tokens: event.cost.overhead,
        tokens_saved: sum(std::slice::from_ref(event)).saved(),
        rendered: &event.rendered,
    }
}

fn sum(events: &[Event]) -> Sums {
    events.iter().fold(Sums::default(), |sums, event| Sums {
        reads: sums.reads + 1,
        full: sums.full + event.cost.full,
        sent: sums.sent + event.cost.sent,
        overhead: sums.overhead + event.cost.overhead,
    })
}

fn to_text(page: &Page, replayed: &Replayed, files: &[String], full: bool) -> String {
    if replayed.events.is_empty() {
        return format!(
            "nothing was sent, or nothing of it is kept\n{}",
            page.next("sessions", "the sessions there are")
        );
    }
    let mut rows = vec![["#", "AGE", "FILE", "OUTCOME", "FULL", "SENT"].map(str::to_owned)];
    rows.extend(replayed.events.iter().zip(files).map(|(event, file)| {
        let outcome = match event.fallback_reason {
            Some(reason) => format!("{}: {reason}", event.outcome_kind),
            None => event.outcome_kind.to_owned(),
        };
        [
            event.n.to_string(),
            age(event.age_secs),
            file.clone(),
            outcome,
            text::thousands(event.tokens_full),
            text::thousands(event.tokens_sent + event.overhead_tokens),
        ]
    }));
    let columns =
        [Column::DimRight, Column::DimRight, Column::Left, Column::Left, Column::Right, Column::Right];
    let mut out = page.aligned(columns, &rows);
    let sums = &replayed.summary;
    out += &format!(
        "\n{} tokens instead of {}: {} saved\n",
        text::thousands(sums.tokens_sent + sums.overhead_tokens),
        text::thousands(sums.tokens_full),
        signed(sums.tokens_saved)
    );
    if full {
        out += &rendered(page, replayed, files);
        return out;
    }
    out + &page.next("replay --full", "the very words")
}

fn rendered(page: &Page, replayed: &Replayed, files: &[String]) -> String {
    let rule = if page.glyphs == Glyphs::Unicode { "──" } else { "--" };
    let mut out = format!("\n{rule} Replay (rendered output per event) {rule}\n");
    for (event, file) in replayed.events.iter().zip(files) {
        let heading = format!("#{} {} {}", event.n, event.outcome_kind, text::plain(file));
        out += &format!("\n{}\n{}", page.bold(&heading), text::plain_lines(event.rendered));
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}
