//! What tldr was asked in all projects, in `~/.tldr/stats.jsonl`: one line for each handful of requests, with what was
//! added since the line before, so that the sum over all lines is the truth.

use std::path::PathBuf;

use kit::places::private_dir;
use kit::{Failure, Places, text};
use serde::{Deserialize, Serialize};
use store::Durability;
use store::journal::{self, Journal};
use wire::tldr::HookStats;

/// What one line says: how much was asked since the last one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Increment {
    /// In seconds since 1970.
    #[serde(default)]
    pub timestamp: i64,
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub project: String,
    #[serde(default)]
    pub requests: u64,
    #[serde(default)]
    pub raw_tokens: u64,
    #[serde(default)]
    pub tldr_tokens: u64,
    /// What a hook did since; such a line counts no request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookStats>,
}

/// All lines together.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Totals {
    pub total_invocations: u64,
    pub estimated_tokens_saved: i64,
    pub raw_tokens_total: u64,
    pub tldr_tokens_total: u64,
    pub savings_percent: f64,
}

pub fn file(places: &Places) -> PathBuf {
    places.home.join(".tldr/stats.jsonl")
}

/// Adds lines. Called with nothing, it touches nothing.
pub fn record(places: &Places, increments: &[Increment]) -> Result<(), Failure> {
    if increments.is_empty() {
        return Ok(());
    }
    let path = file(places);
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot write `{}`", places.tilde(&path))).because(error)
    };
    let folder = path.parent().expect("it is below the home directory");
    private_dir(folder, places.uid).map_err(|error| failed(&error))?;
    let (mut journal, _) = Journal::open(&path, Durability::Cached).map_err(|error| failed(&error))?;
    for increment in increments {
        let line = serde_json::to_vec(increment).expect("numbers and text are JSON");
        journal.append(&line).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// The sum of all lines; nothing if there is none. A line that is none of ours counts nothing.
pub fn totals(places: &Places) -> Result<Option<Totals>, Failure> {
    let path = file(places);
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot read `{}`", places.tilde(&path))).because(error)
    };
    if !path.exists() {
        return Ok(None);
    }
    let mut totals = Totals::default();
    let mut lines = 0;
    for line in journal::lines(&path, 0).map_err(|error| failed(&error))? {
        let line = line.map_err(|error| failed(&error))?;
        let Ok(increment) = serde_json::from_slice::<Increment>(&line.bytes) else { continue };
        lines += usize::from(increment.requests > 0);
        totals.total_invocations = totals.total_invocations.saturating_add(increment.requests);
        totals.raw_tokens_total = totals.raw_tokens_total.saturating_add(increment.raw_tokens);
        totals.tldr_tokens_total = totals.tldr_tokens_total.saturating_add(increment.tldr_tokens);
    }
    let (raw, ours) = (totals.raw_tokens_total, totals.tldr_tokens_total);
    totals.estimated_tokens_saved = i64::try_from(i128::from(raw) - i128::from(ours)).unwrap_or(i64::MAX);
    totals.savings_percent = percent(totals.estimated_tokens_saved, raw);
    Ok((lines > 0).then_some(totals))
}

impl Totals {
    pub fn to_text(&self) -> String {
        let heading = "TLDR Usage Statistics";
        format!(
            "{heading}\n{}\nTotal Invocations: {}\nTokens Saved: {} ({:.1}%)\nRaw Tokens Processed: {}\n\
             TLDR Tokens Returned: {}\n",
            "=".repeat(heading.len()),
            text::thousands(self.total_invocations),
            signed(self.estimated_tokens_saved),
            self.savings_percent,
            text::thousands(self.raw_tokens_total),
            text::thousands(self.tldr_tokens_total),
        )
    }
}

pub(crate) fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", text::thousands(number.unsigned_abs()))
}

/// With one decimal; 0 of nothing.
fn percent(part: i64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64 * 1000.0).round() / 10.0
}
