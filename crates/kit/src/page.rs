//! What lines for people are written on: how wide it is, whether it has colour, and rows in columns. Knows nothing of
//! what the cells mean.

use std::io;

use crate::{Invocation, text};

/// Standard output, as a command wants to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub colour: bool,
    /// Only a terminal has one.
    pub width: Option<usize>,
    pub glyphs: Glyphs,
    /// How this program is called.
    pub spoken: String,
}

/// What the reader's locale can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    Unicode,
    Ascii,
}

/// How a column stands and looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Left,
    Right,
    /// Left, and less important.
    Dim,
    /// Right, and less important.
    DimRight,
}

impl Page {
    pub fn of(invocation: &Invocation) -> Page {
        let terminal = invocation.terminal.stdout;
        let size = terminal.then(|| rustix::termios::tcgetwinsize(io::stdout()).ok()).flatten();
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| invocation.env.text(name));
        let speaks_unicode = locale.is_none_or(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        });
        Page {
            colour: terminal
                && invocation.env.text("NO_COLOR").is_none()
                && invocation.env.text("TERM") != Some("dumb"),
            width: size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0),
            glyphs: if speaks_unicode { Glyphs::Unicode } else { Glyphs::Ascii },
            spoken: invocation.program.spoken(),
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.painted("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.painted("2", text)
    }

    /// Lost, failed.
    pub fn bad(&self, text: &str) -> String {
        self.painted("31", text)
    }

    /// The end of a screen: what to do next.
    pub fn next(&self, command: &str, about: &str) -> String {
        format!("\nNext:  {} {command}    {about}\n", self.spoken)
    }

    /// A share of `width` cells, filled from the left.
    pub fn bar(&self, share: f64, width: usize) -> String {
        let filled = ((share.clamp(0.0, 1.0) * width as f64).round() as usize).min(width);
        let (full, empty) = match self.glyphs {
            Glyphs::Unicode => ("█", "░"),
            Glyphs::Ascii => ("#", "."),
        };
        format!("{}{}", full.repeat(filled), empty.repeat(width - filled))
    }

    /// Rows, each on a line of its own, two spaces before and between. On a terminal a line that is too long is cut.
    pub fn aligned<const N: usize>(&self, columns: [Column; N], rows: &[[String; N]]) -> String {
        let cells: Vec<[String; N]> =
            rows.iter().map(|row| row.each_ref().map(|cell| text::plain(cell))).collect();
        let widths: [usize; N] = std::array::from_fn(|index| {
            cells.iter().map(|row| row[index].chars().count()).max().unwrap_or(0)
        });
        cells.iter().map(|row| self.line(&columns, &widths, row)).collect()
    }

    fn line<const N: usize>(&self, columns: &[Column; N], widths: &[usize; N], row: &[String; N]) -> String {
        let mut room = self.width.unwrap_or(usize::MAX);
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
                Column::Dim | Column::DimRight => self.dim(&cut),
                Column::Left | Column::Right => cut,
            });
        }
        format!("{}\n", line.trim_end())
    }

    fn painted(&self, code: &str, text: &str) -> String {
        // Nobody sees the colour of spaces.
        match self.colour && !text.trim().is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[m"),
            false => text.to_owned(),
        }
    }
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
        Page { colour, width, glyphs: Glyphs::Unicode, spoken: "drip".into() }
    }

    fn rows() -> Vec<[String; 3]> {
        vec![
            ["a".into(), "1".into(), "short".into()],
            ["bbb".into(), "22".into(), "long\u{1b}[2J\nlonger".into()],
        ]
    }

    #[test]
    fn columns_are_aligned_and_cannot_drive_the_terminal() {
        let text = page(None, false).aligned([Column::Left, Column::Right, Column::Left], &rows());
        assert_eq!(text, "  a     1  short\n  bbb  22  long[2J longer\n");
    }

    #[test]
    fn a_line_is_cut_at_the_width_of_the_terminal() {
        let text = page(Some(14), false).aligned([Column::Left, Column::Right, Column::Left], &rows());
        assert_eq!(text, "  a     1  sh…\n  bbb  22  lo…\n");
        for width in 0..14 {
            let text = page(Some(width), false).aligned([Column::Dim, Column::Right, Column::Left], &rows());
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text:?}");
        }
    }

    #[test]
    fn what_matters_less_is_dim_where_colour_is_wanted() {
        let text = page(None, true).aligned([Column::Left, Column::DimRight, Column::Left], &rows()[..1]);
        assert_eq!(text, "  a\u{1b}[2m  1\u{1b}[m  short\n");
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_longer_than_its_place() {
        assert_eq!(page(None, false).bar(0.5, 4), "██░░");
        assert_eq!(page(None, false).bar(7.0, 3), "███");
        let ascii = Page { glyphs: Glyphs::Ascii, ..page(None, false) };
        assert_eq!([ascii.bar(-1.0, 3), ascii.bar(f64::NAN, 3)], ["...", "..."]);
    }
}
