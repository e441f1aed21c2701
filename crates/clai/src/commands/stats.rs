//! `clai stats`: what the history holds, in numbers.

use kit::page::Column;
use kit::{Exit, Failure, text};

use super::{Call, Page, counted, database_failure, times};
use crate::database::Stats;

pub(super) fn run(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let stats = match call.reader()? {
        None => None,
        Some(reader) => {
            let stats =
                reader.stats().map_err(|error| database_failure("cannot read the history", &error))?;
            Some(stats).filter(|stats| stats.commands > 0)
        }
    };
    call.show(&stats, |page| match &stats {
        Some(stats) => to_text(page, stats),
        None => {
            format!("nothing is kept yet\n{}", page.next("import bash", "start with the history you have"))
        }
    })
}

fn to_text(page: &Page, stats: &Stats) -> String {
    let number = |number: u64| text::thousands(number);
    let when = |ts: Option<i64>| ts.map_or(String::new(), |ts| times::ago(ts, page.now));
    let share = stats.failed as f64 / stats.commands as f64 * 100.0;
    let rows = [
        [
            "commands",
            &number(stats.commands),
            &format!("the first {}, the last {}", when(stats.first_ts), when(stats.last_ts)),
        ],
        ["lines", &number(stats.lines), &format!("different ones, of {} templates", number(stats.templates))],
        ["failed", &number(stats.failed), &format!("{share:.0} % of what was run")],
        ["by agents", &number(stats.by_agents), "kept apart from yours"],
        ["sessions", &number(stats.sessions), &format!("in {}", counted(stats.repos, "repo"))],
        ["on disk", &format!("{} KB", number(stats.bytes.div_ceil(1024))), ""],
    ]
    .map(|row| row.map(str::to_owned));
    let mut out = page.aligned([Column::Dim, Column::Right, Column::Dim], &rows);
    out.push_str("\nmost often\n");
    let top: Vec<[String; 2]> =
        stats.top.iter().map(|(template, count)| [number(*count), template.clone()]).collect();
    out.push_str(&page.aligned([Column::Right, Column::Left], &top));
    out + &page.next("replay", "how well this could have been foreseen")
}
