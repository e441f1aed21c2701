//! Rows in columns. Knows widths and emphasis, not what the cells mean.

use kit::text;

use super::Page;

/// How a column stands and looks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Column {
    Left,
    Right,
    /// Left, and less important.
    Dim,
    /// Right, and less important.
    DimRight,
}

/// The rows, each on a line of its own, two spaces before and between. On a terminal a line that is too long is cut.
pub(super) fn aligned<const N: usize>(page: &Page, columns: [Column; N], rows: &[[String; N]]) -> String {
    let cells: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| text::plain(cell))).collect();
    let widths: [usize; N] =
        std::array::from_fn(|index| cells.iter().map(|row| row[index].chars().count()).max().unwrap_or(0));
    let mut out = String::new();
    for row in &cells {
        let mut room = page.width.unwrap_or(usize::MAX);
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            let width = widths[index];
            // Nothing follows the last column that would need the spaces.
            let padded = match columns[index] {
                Column::Right | Column::DimRight => format!("{cell:>width$}"),
                _ if index + 1 == N => cell.clone(),
                _ => format!("{cell:<width$}"),
            };
            let cut = fitted(&format!("  {padded}"), room);
            room -= cut.chars().count().min(room);
            line.push_str(&match columns[index] {
                Column::Dim | Column::DimRight => page.dim(&cut),
                Column::Left | Column::Right => cut,
            });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// As much of `text` as fits, with a mark where something is missing.
fn fitted(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(room.saturating_sub(1)).collect();
    if room > 0 {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: Option<usize>, colour: bool) -> Page {
        Page { colour, width, now: 0, spoken: "clai".into() }
    }

    fn rows() -> Vec<[String; 3]> {
        vec![
            ["a".into(), "1".into(), "short".into()],
            ["bbb".into(), "22".into(), "long\u{1b}[2J\nlonger".into()],
        ]
    }

    #[test]
    fn columns_are_aligned_and_cannot_drive_the_terminal() {
        let text = aligned(&page(None, false), [Column::Left, Column::Right, Column::Left], &rows());
        assert_eq!(text, "  a     1  short\n  bbb  22  long[2J longer\n");
    }

    #[test]
    fn a_line_is_cut_at_the_width_of_the_terminal() {
        let text = aligned(&page(Some(14), false), [Column::Left, Column::Right, Column::Left], &rows());
        assert_eq!(text, "  a     1  sh…\n  bbb  22  lo…\n");
        for width in 0..14 {
            let text =
                aligned(&page(Some(width), false), [Column::Dim, Column::Right, Column::Left], &rows());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text:?}");
        }
    }

    #[test]
    fn what_matters_less_is_dim_where_colour_is_wanted() {
        let text = aligned(&page(None, true), [Column::Left, Column::DimRight, Column::Left], &rows()[..1]);
        assert_eq!(text, "  a\u{1b}[2m  1\u{1b}[m  short\n");
    }
}
