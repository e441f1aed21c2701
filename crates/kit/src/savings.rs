//! What was saved, counted once by the tool that rendered the bytes. A row can be a loss, and then says so.

use crate::text;

/// Tokens that would have been sent without us, and what was sent instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub tool: String,
    pub what: String,
    pub without: u64,
    pub with: u64,
}

impl Row {
    /// `86 % less`, `12 % more`, or `no gain`.
    pub fn verdict(&self) -> String {
        verdict(self.without, self.with)
    }
}

/// The rows and, when there are several, their sum.
pub fn to_text(rows: &[Row]) -> String {
    let mut table: Vec<[String; 5]> = rows
        .iter()
        .map(|row| {
            let (without, with) = (text::thousands(row.without), text::thousands(row.with));
            [text::plain(&row.tool), text::plain(&row.what), without, with, row.verdict()]
        })
        .collect();
    if rows.len() > 1 {
        let (without, with) = total(rows);
        let sums = (text::thousands(without), text::thousands(with));
        table.push(["total".into(), String::new(), sums.0, sums.1, verdict(without, with)]);
    }
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    let mut out = String::new();
    for [tool, what, without, with, verdict] in &table {
        out.push_str(&format!(
            "{tool:<w0$}  {what:<w1$}  {without:>w2$} tokens -> {with:>w3$}  {verdict}\n",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
        ));
    }
    out
}

/// `{"rows":[{"tool":…,"what":…,"without":…,"with":…}],"without":…,"with":…}`.
pub fn to_json(rows: &[Row]) -> String {
    let (without, with) = total(rows);
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let (tool, what) = (text::json_string(&row.tool), text::json_string(&row.what));
            format!("{{\"tool\":{tool},\"what\":{what},\"without\":{},\"with\":{}}}", row.without, row.with)
        })
        .collect();
    format!("{{\"rows\":[{}],\"without\":{without},\"with\":{with}}}\n", rows.join(","))
}

fn total(rows: &[Row]) -> (u64, u64) {
    rows.iter().fold((0, 0), |(without, with), row| (without + row.without, with + row.with))
}

fn verdict(without: u64, with: u64) -> String {
    if without == 0 || without == with {
        return "no gain".to_owned();
    }
    let percent = without.abs_diff(with) as f64 / without as f64 * 100.0;
    let word = if with < without { "less" } else { "more" };
    format!("{percent:.0} % {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tool: &str, without: u64, with: u64) -> Row {
        Row { tool: tool.into(), what: "re-reads".into(), without, with }
    }

    #[test]
    fn gains_and_losses_are_told_alike() {
        assert_eq!(row("a", 100, 14).verdict(), "86 % less");
        assert_eq!(row("a", 100, 112).verdict(), "12 % more");
        assert_eq!(row("a", 0, 5).verdict(), "no gain");
    }

    #[test]
    fn the_table_is_aligned_and_summed() {
        let rows = [row("drip", 412_310, 58_942), row("tldr", 100, 200)];
        assert_eq!(
            to_text(&rows),
            "drip   re-reads  412,310 tokens -> 58,942  86 % less\n\
             tldr   re-reads      100 tokens ->    200  100 % more\n\
             total            412,410 tokens -> 59,142  86 % less\n"
        );
        assert_eq!(to_text(&[]), "");
        assert!(to_json(&rows).ends_with("\"without\":412410,\"with\":59142}\n"));
    }
}
