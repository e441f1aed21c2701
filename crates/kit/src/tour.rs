//! One stop of the tour: a tool shows what it does here, in a few lines with numbers of this very run.

use std::path::Path;
use std::time::Duration;

use crate::invocation::Environment;
use crate::{Failure, text};

/// What a tool may use while it shows itself.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// Where the tour was started: to be read, never written.
    pub here: &'a Path,
    /// Where the person keeps things: to be read, never written.
    pub env: &'a Environment,
    /// A private directory that goes away afterwards: the only place to write.
    pub scratch: &'a Path,
    /// What one stop may take. A stop that cannot finish shows what it has.
    pub patience: Duration,
}

/// What was seen at a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    pub title: String,
    pub lines: Vec<String>,
}

/// How a tool is asked for its stop.
pub type Stop = fn(&Stage<'_>) -> Result<Sight, Failure>;

/// The stop as it stands on the screen: a number, the title, and the lines in one column.
pub fn to_text(number: usize, sight: &Sight) -> String {
    let mut out = String::new();
    for (index, line) in sight.lines.iter().enumerate() {
        let line = text::plain(line);
        if index == 0 {
            out.push_str(&format!("{number:<2} {:<9} {line}\n", text::plain(&sight.title)));
        } else {
            out.push_str(&format!("{:13}{line}\n", ""));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_in_one_column() {
        let sight = Sight { title: "Reads".into(), lines: vec!["native  412".into(), "drip  58".into()] };
        assert_eq!(to_text(1, &sight), "1  Reads     native  412\n             drip  58\n");
    }
}
