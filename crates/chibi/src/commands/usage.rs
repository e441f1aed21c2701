//! `--usage`: what was spent, by context and by day.

use kit::{Failure, text};
use serde_json::{Value, json};

use crate::context::usage::{self, Spending, Total};
use crate::moment::Moment;
use crate::run::Run;

/// Days that are shown; the sums know all.
const DAYS: usize = 14;

pub(super) fn show(run: &mut Run) -> Result<(), Failure> {
    let spent = usage::all(&run.home)?;
    if spent.is_empty() {
        run.out.rows("Nothing was spent yet.\n", &json!({"contexts": [], "days": []}));
        return Ok(());
    }
    let offset = run.offset();
    let day = |spending: &Spending| {
        Moment::new(i64::try_from(spending.timestamp).unwrap_or(i64::MAX), offset).day()
    };
    let contexts = rows(usage::totals(&spent, |spending| spending.context.as_str().to_owned()));
    let days = rows(usage::totals(&spent, day));
    let all = rows(usage::totals(&spent, |_| "total".to_owned()));
    let recent = days[days.len().saturating_sub(DAYS)..].to_vec();
    let table: Vec<(String, Total)> = contexts.iter().cloned().chain(recent).chain(all).collect();
    let json = |rows: &[(String, Total)]| rows.iter().map(row).collect::<Vec<Value>>();
    let value = json!({"contexts": json(&contexts), "days": json(&days)});
    run.out.rows(&aligned(&table, &[contexts.len(), table.len() - 1]), &value);
    Ok(())
}

fn rows(totals: std::collections::BTreeMap<String, Total>) -> Vec<(String, Total)> {
    totals.into_iter().collect()
}

/// The rows with an empty line before those at `breaks`.
fn aligned(rows: &[(String, Total)], breaks: &[usize]) -> String {
    let mut cells = vec![["", "replies", "input", "cached", "output", "cost"].map(str::to_owned)];
    cells.extend(rows.iter().map(|(name, total)| {
        let usage = &total.usage;
        let cost = match (usage.cost, total.unpriced) {
            (None, _) => "unknown".to_owned(),
            (Some(cost), 0) => cost.to_string(),
            (Some(cost), some) => format!("{cost} + {some} unknown"),
        };
        let numbers = [total.replies, usage.input + usage.cache_write, usage.cache_read, usage.output];
        let [replies, input, cached, output] = numbers.map(text::thousands);
        [name.clone(), replies, input, cached, output, cost]
    }));
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut out = String::new();
    for (place, [name, numbers @ .., cost]) in cells.iter().enumerate() {
        if place > 0 && breaks.contains(&(place - 1)) {
            out.push('\n');
        }
        let mut line = format!("{name:<w$}", w = widths[0]);
        for (number, width) in numbers.iter().zip(&widths[1..]) {
            line.push_str(&format!("  {number:>width$}"));
        }
        out.push_str(format!("{line}  {cost}").trim_end());
        out.push('\n');
    }
    out
}

fn row((name, total): &(String, Total)) -> Value {
    json!({
        "name": name, "replies": total.replies, "usage": total.usage, "unpriced": total.unpriced,
    })
}
