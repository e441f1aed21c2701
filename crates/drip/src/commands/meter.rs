//! `drip meter`: what was saved, and what it cost. It can be a loss, and then says so.

mod words;

use std::path::Path;

use kit::{Exit, Failure};
use serde::Serialize;

use super::{Call, Here, picked, rounded, store_failure};
use crate::database::{Compactions, Database, Named, Scope, Storage, Sums, Totals};
use crate::session::{Session, SessionId};
use crate::settings::Settings;

/// What `--history` looks back.
const DAYS: i64 = 30;

/// Files in the list of those that saved most.
const TOP: usize = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The last 30 days, day by day
    #[arg(long)]
    history: bool,
    /// The same as bars
    #[arg(long)]
    graph: bool,
    /// One session: yours, or the one whose id begins like this
    #[arg(long, value_name = "ID")]
    session: Option<Option<String>>,
    /// Take files that are gone out of the sums first
    #[arg(long, conflicts_with = "session")]
    prune: bool,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    scope: &'static str,
    session_id: String,
    started_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_reset_at: Option<i64>,
    elapsed_secs: i64,
    files_tracked: u64,
    total_reads: u64,
    files_edited: u64,
    total_edits: u64,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    tokens_saved: i64,
    reduction_pct: f64,
    dollars_saved: f64,
    price_per_mtok: f64,
    co2_g_saved: f64,
    co2_g_per_ktok: f64,
    top: Vec<TopFile>,
    history: Option<Vec<Day>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ghost_pollution: Option<Ghosts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<Storage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<Compacted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_edit_refreshes: Option<Outside>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_picked_session: Option<AutoPicked>,
}

#[derive(Debug, Serialize)]
struct TopFile {
    file: String,
    #[serde(flatten)]
    counted: Counted,
}

#[derive(Debug, Serialize)]
struct Day {
    day: String,
    #[serde(flatten)]
    counted: Counted,
}

#[derive(Debug, Serialize)]
struct Counted {
    reads: u64,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    tokens_saved: i64,
    reduction_pct: f64,
}

/// Files that were counted and are gone.
#[derive(Debug, Serialize)]
struct Ghosts {
    files: usize,
    pct_of_files: f64,
}

#[derive(Debug, Serialize)]
struct Compacted {
    total_compactions: u64,
    last_compaction_at: Option<i64>,
    last_compaction_age: Option<String>,
    tokens_resent_after_compaction: u64,
}

#[derive(Debug, Serialize)]
struct Outside {
    count: u64,
    pct_of_reads: f64,
}

#[derive(Debug, Serialize)]
struct AutoPicked {
    session_id: String,
    agent: Option<String>,
    strategy: String,
}

#[derive(Debug, Serialize)]
struct Pruned {
    files_pruned: usize,
    reads_reclaimed: u64,
    tokens_full_reclaimed: u64,
    tokens_sent_reclaimed: u64,
    paths: Vec<String>,
}

#[derive(Serialize)]
struct WithPrune<'a> {
    prune: &'a Pruned,
    report: &'a Report,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let mut pruned = None;
    let report = match call.here.stored()? {
        None => empty(&call.here),
        Some(mut database) => {
            let failed = |error| store_failure(&error);
            if args.prune {
                pruned = Some(prune(&mut database).map_err(failed)?);
            }
            match &args.session {
                None => lifetime(&call.here, &database, args).map_err(failed)?,
                Some(named) => session(&call.here, &database, named.as_deref(), args)?,
            }
        }
    };
    let files: Vec<String> = report.top.iter().map(|top| call.here.short(Path::new(&top.file))).collect();
    let style = words::Style { graph: args.graph, ghost_hint: call.here.settings.ghost_hint, files: &files };
    let text = |page: &kit::Page| words::to_text(page, &report, &style);
    match (pruned, args.prune) {
        (Some(pruned), _) => {
            let both = WithPrune { prune: &pruned, report: &report };
            call.show(&both, |page| format!("{}{}", words::pruned(&pruned), text(page)))
        }
        (None, true) => {
            let pruned = Pruned::of(&[]);
            call.show(&WithPrune { prune: &pruned, report: &report }, text)
        }
        (None, false) => call.show(&report, text),
    }
}

/// Nothing was ever read here.
fn empty(here: &Here) -> Report {
    let now = here.now();
    let own = here.caller().session;
    let nothing = Totals { since: now, ..Totals::default() };
    Report { session_id: own.id.to_string(), ..priced(&here.settings, &nothing, now) }
}

fn lifetime(here: &Here, database: &Database, args: &Args) -> crate::database::Result<Report> {
    let now = here.now();
    let totals = database.totals(Scope::Lifetime)?;
    let ghosts = database.vanished()?;
    let outside = Outside {
        count: totals.outside_changes,
        pct_of_reads: share(totals.outside_changes, totals.sums.reads),
    };
    Ok(Report {
        session_id: here.caller().session.id.to_string(),
        last_reset_at: database.last_reset()?,
        ghost_pollution: (!ghosts.is_empty())
            .then(|| Ghosts { files: ghosts.len(), pct_of_files: share(ghosts.len() as u64, totals.files) }),
        external_edit_refreshes: (outside.count > 0).then_some(outside),
        ..filled(here, database, Scope::Lifetime, &totals, args, now)?
    })
}

fn session(here: &Here, database: &Database, named: Option<&str>, args: &Args) -> Result<Report, Failure> {
    let failed = |error| store_failure(&error);
    let now = here.now();
    let picked = picked::session(here, database, named)?;
    let (id, strategy, context, auto) = match picked {
        None => {
            let Session { id, strategy, context } = here.caller().session;
            (id, strategy.word().to_owned(), context, None)
        }
        Some(picked::Picked { roll, by }) => {
            let auto = AutoPicked {
                session_id: roll.id.to_string(),
                agent: roll.agent,
                strategy: roll.strategy.clone(),
            };
            (roll.id, roll.strategy, roll.context, (by == picked::By::Guess).then_some(auto))
        }
    };
    let scope = Scope::Session(&id);
    let totals = database.totals(scope).map_err(failed)?;
    Ok(Report {
        scope: "session",
        session_id: SessionId::to_string(&id),
        session_strategy: Some(strategy),
        session_context: Some(context),
        auto_picked_session: auto,
        ..filled(here, database, scope, &totals, args, now).map_err(failed)?
    })
}

/// What both scopes tell.
fn filled(
    here: &Here,
    database: &Database,
    scope: Scope,
    totals: &Totals,
    args: &Args,
    now: i64,
) -> crate::database::Result<Report> {
    let days = match args.history || args.graph {
        true => Some(
            database
                .days(scope, DAYS)?
                .into_iter()
                .map(|(day, sums)| Day { day, counted: sums.into() })
                .collect(),
        ),
        false => None,
    };
    Ok(Report {
        top: database
            .top_files(scope, TOP)?
            .into_iter()
            .map(|(file, sums)| TopFile { file, counted: sums.into() })
            .collect(),
        history: days,
        storage: Some(database.storage()?),
        compaction: compacted(totals.compactions, now),
        ..priced(&here.settings, totals, now)
    })
}

fn priced(settings: &Settings, totals: &Totals, now: i64) -> Report {
    let (sums, price) = (totals.sums, settings.price);
    let saved = sums.saved() as f64;
    Report {
        scope: "lifetime",
        started_at: totals.since,
        elapsed_secs: (now - totals.since).max(0),
        files_tracked: totals.files,
        total_reads: sums.reads,
        files_edited: totals.edited_files,
        total_edits: totals.edits,
        tokens_full: sums.full,
        tokens_sent: sums.sent,
        overhead_tokens: sums.overhead,
        tokens_saved: sums.saved(),
        reduction_pct: rounded(sums.reduction()),
        dollars_saved: saved / 1e6 * price.dollars_per_mtok,
        price_per_mtok: price.dollars_per_mtok,
        co2_g_saved: saved / 1e3 * price.co2_grams_per_ktok,
        co2_g_per_ktok: price.co2_grams_per_ktok,
        ..Report::default()
    }
}

fn compacted(compactions: Compactions, now: i64) -> Option<Compacted> {
    (compactions.count > 0).then(|| Compacted {
        total_compactions: compactions.count,
        last_compaction_at: compactions.last_at,
        last_compaction_age: compactions.last_at.map(|at| super::times::ago(at, now)),
        tokens_resent_after_compaction: compactions.tokens_resent,
    })
}

fn prune(database: &mut Database) -> crate::database::Result<Pruned> {
    let gone = database.vanished()?;
    database.discount(&gone)?;
    Ok(Pruned::of(&gone))
}

impl Pruned {
    fn of(gone: &[Named]) -> Pruned {
        let sum = |of: fn(&Sums) -> u64| gone.iter().map(|(_, sums)| of(sums)).sum();
        Pruned {
            files_pruned: gone.len(),
            reads_reclaimed: sum(|sums| sums.reads),
            tokens_full_reclaimed: sum(|sums| sums.full),
            tokens_sent_reclaimed: sum(|sums| sums.sent),
            paths: gone.iter().map(|(path, _)| path.clone()).collect(),
        }
    }
}

impl From<Sums> for Counted {
    fn from(sums: Sums) -> Counted {
        Counted {
            reads: sums.reads,
            tokens_full: sums.full,
            tokens_sent: sums.sent,
            overhead_tokens: sums.overhead,
            tokens_saved: sums.saved(),
            reduction_pct: rounded(sums.reduction()),
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 * 100.0 / whole as f64) }
}
