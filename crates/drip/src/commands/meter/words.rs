//! The report in lines for people.

use kit::page::Column;
use kit::{Page, text};

use super::{Counted, Day, Pruned, Report};
use crate::commands::signed;
use crate::read::age;

/// Cells of the efficiency bar, and at most of a day's.
const BAR: usize = 24;

/// How a report is to be shown.
pub(super) struct Style<'a> {
    pub(super) graph: bool,
    /// From which share of vanished files on it is worth a word.
    pub(super) ghost_hint: u32,
    /// The top files, as somebody who is here would call them.
    pub(super) files: &'a [String],
}

pub(super) fn to_text(page: &Page, report: &Report, style: &Style) -> String {
    let since = match (report.scope, report.last_reset_at) {
        ("session", _) => ("Current Session", "Session age:"),
        (_, Some(_)) => ("Since Reset", "Since reset:"),
        (_, None) => ("Since Install", "Since install:"),
    };
    let mut out = format!("{}\n\n", page.bold(&format!("DRIP Token Savings ({})", since.0)));
    let mut rows = rows(report, since.1);
    let bar = page.bar(report.reduction_pct / 100.0, BAR);
    rows.push(["Efficiency meter:".into(), format!("{:.1} %", report.reduction_pct), bar]);
    out += &page.aligned([Column::Dim, Column::Right, Column::Left], &rows);
    if let Some(picked) = &report.auto_picked_session {
        let agent = picked.agent.as_deref().unwrap_or("a client");
        out += &format!(
            "\nThis is session {} of {agent}; yours has read nothing.\n",
            text::plain(&picked.session_id)
        );
    }
    out += &top(page, report, style.files);
    out += &history(page, report.history.as_deref().unwrap_or_default(), style.graph);
    out + &next(page, report, style.ghost_hint)
}

/// What went out of the sums.
pub(super) fn pruned(pruned: &Pruned) -> String {
    let mut out: String = pruned.paths.iter().map(|path| format!("gone: {}\n", text::plain(path))).collect();
    out += &format!(
        "{} file(s), {} read(s) and {} tokens taken out of the sums\n\n",
        pruned.files_pruned,
        text::thousands(pruned.reads_reclaimed),
        text::thousands(pruned.tokens_full_reclaimed)
    );
    out
}

fn rows(report: &Report, since: &str) -> Vec<[String; 3]> {
    let count = |number: u64| text::thousands(number);
    let loss = if report.tokens_saved < 0 { "(loss) " } else { "" };
    let mut rows = vec![
        ["Files tracked:".into(), count(report.files_tracked), String::new()],
        ["Total reads:".into(), count(report.total_reads), String::new()],
        ["Files edited:".into(), count(report.files_edited), plural(report.total_edits, "edit")],
        ["Tokens full:".into(), count(report.tokens_full), "without drip".into()],
        ["Tokens sent:".into(), count(report.tokens_sent), "of the files, in any form".into()],
        ["Overhead:".into(), count(report.overhead_tokens), "our own words".into()],
        [
            "Tokens saved:".into(),
            signed(report.tokens_saved),
            format!("{loss}{}", percent(report.reduction_pct)),
        ],
        [
            "$ saved:".into(),
            format!("{:.2}", report.dollars_saved),
            format!("at {:.2} for a million tokens", report.price_per_mtok),
        ],
        [
            "CO₂ avoided:".into(),
            format!("{:.1} g", report.co2_g_saved),
            format!("at {} g for a thousand tokens", report.co2_g_per_ktok),
        ],
        [since.into(), age(report.elapsed_secs), String::new()],
    ];
    if let Some(compaction) = &report.compaction {
        let last = compaction.last_compaction_age.as_deref().unwrap_or("at an unknown time");
        let again = count(compaction.tokens_resent_after_compaction);
        rows.push([
            "Compactions:".into(),
            count(compaction.total_compactions),
            format!("the last {last}; {again} tokens sent again since"),
        ]);
    }
    if let Some(outside) = &report.external_edit_refreshes {
        rows.push([
            "Native refresh:".into(),
            count(outside.count),
            format!("{} % of reads met a change from outside", outside.pct_of_reads),
        ]);
    }
    rows
}

fn top(page: &Page, report: &Report, files: &[String]) -> String {
    if report.top.is_empty() {
        return String::new();
    }
    let rows = report
        .top
        .iter()
        .zip(files)
        .map(|(top, name)| counted(name, &top.counted, percent(top.counted.reduction_pct)));
    format!("\n{}\n{}", page.bold("Top Files"), table(page, "FILE", rows))
}

fn history(page: &Page, days: &[Day], graph: bool) -> String {
    if days.is_empty() {
        return String::new();
    }
    let most = days.iter().map(|day| day.counted.tokens_saved).max().unwrap_or(0).max(1);
    let rows = days.iter().map(|Day { day, counted: sums }| {
        let last = match graph {
            true => page.bar(sums.tokens_saved as f64 / most as f64, BAR),
            false => percent(sums.reduction_pct),
        };
        counted(day, sums, last)
    });
    format!("\n{}\n{}", page.bold("Last 30 Days"), table(page, "DAY", rows))
}

fn counted(name: &str, counted: &Counted, last: String) -> [String; 6] {
    [
        name.to_owned(),
        text::thousands(counted.reads),
        text::thousands(counted.tokens_full),
        text::thousands(counted.tokens_sent + counted.overhead_tokens),
        signed(counted.tokens_saved),
        last,
    ]
}

fn table(page: &Page, what: &str, rows: impl Iterator<Item = [String; 6]>) -> String {
    let head = [what, "READS", "FULL", "SENT", "SAVED", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let columns = [Column::Left, Column::Right, Column::Right, Column::Right, Column::Right, Column::Dim];
    page.aligned(columns, &rows)
}

fn next(page: &Page, report: &Report, ghost_hint: u32) -> String {
    match &report.ghost_pollution {
        _ if report.total_reads == 0 => {
            page.next("init -g", "let your agent's reads go through drip; `--dry-run` shows the change first")
        }
        Some(ghosts) if ghosts.pct_of_files >= f64::from(ghost_hint) => page.next(
            "meter --prune",
            &format!("{} of these files are gone: take them out of the sums", ghosts.files),
        ),
        _ => page.next("replay", "what was sent, answer by answer"),
    }
}

fn percent(share: f64) -> String {
    match share < 0.0 {
        true => format!("{:.1} % more", -share),
        false => format!("{share:.1} % less"),
    }
}

fn plural(count: u64, what: &str) -> String {
    format!("{} {what}{}", text::thousands(count), if count == 1 { "" } else { "s" })
}
