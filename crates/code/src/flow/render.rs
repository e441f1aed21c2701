//! The answers as text for people. Nothing here computes.

use std::fmt::{self, Display, Formatter};

use super::view::{ControlFlow, DataFlow, RefKind, Slice, SliceLine};
use super::{Dependency, Direction};
use crate::query::{Cut, budget, counted};

impl Display for ControlFlow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {}, complexity {}",
            self.function,
            counted(self.cut.total, "block"),
            self.cyclomatic_complexity
        )?;
        for block in &self.blocks {
            write!(f, "  {:>3}  {:<11}  {}", block.id, word(&block.kind), range(block.lines))?;
            if !block.calls.is_empty() {
                write!(f, "  calls {}", block.calls.join(", "))?;
            }
            if self.exit_blocks.contains(&block.id) {
                write!(f, "  (leaves)")?;
            }
            writeln!(f)?;
            for edge in self.edges.iter().filter(|edge| edge.from == block.id) {
                write!(f, "       → {} {}", edge.to, word(&edge.kind))?;
                match &edge.condition {
                    Some(condition) => writeln!(f, ": {condition}")?,
                    None => writeln!(f)?,
                }
            }
        }
        end(&self.notes, &self.cut, f)
    }
}

impl Display for DataFlow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (variables, flows) = (counted(self.cut.total, "variable"), counted(self.edges.len(), "flow"));
        writeln!(f, "{}: {variables}, {flows}", self.function)?;
        for name in &self.variables {
            let lines = |kind: RefKind| {
                let mut lines: Vec<usize> = self
                    .refs
                    .iter()
                    .filter(|it| it.name == *name && it.kind == kind)
                    .map(|it| it.line)
                    .collect();
                lines.dedup();
                lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            write!(f, "  {name}")?;
            for (kind, verb) in
                [(RefKind::Definition, "defined"), (RefKind::Update, "updated"), (RefKind::Use, "used")]
            {
                let lines = lines(kind);
                if !lines.is_empty() {
                    write!(f, "  {verb} {lines}")?;
                }
            }
            writeln!(f)?;
            let mut pairs: Vec<(usize, usize)> =
                self.edges.iter().filter(|it| it.var == *name).map(|it| (it.def_line, it.use_line)).collect();
            pairs.dedup();
            for (from, to) in pairs {
                writeln!(f, "       {from} → {to}")?;
            }
        }
        end(&self.notes, &self.cut, f)
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let way = match self.direction {
            Direction::Backward => "what it depends on",
            Direction::Forward => "what depends on it",
        };
        let var = self.var.as_ref().map(|var| format!(", {var}")).unwrap_or_default();
        let lines = counted(self.cut.total, "line");
        writeln!(f, "{} line {}{var}: {way}, {lines}", self.function, self.criterion)?;
        let reasons: Vec<String> = self.slice_lines.iter().map(reason).collect();
        let width = reasons.iter().map(|reason| reason.chars().count()).max().unwrap_or(0);
        for (line, reason) in self.slice_lines.iter().zip(reasons) {
            writeln!(f, "{:>6}  {reason:<width$}  {}", line.line, line.content)?;
        }
        end(&self.notes, &self.cut, f)
    }
}

/// Why a line is in a slice.
fn reason(line: &SliceLine) -> String {
    match (line.dependency, &line.var, line.of) {
        (Dependency::Criterion, ..) => "criterion".to_owned(),
        (Dependency::Data, Some(var), Some(of)) => format!("{var} ({of})"),
        (Dependency::Data, None, Some(of)) => format!("value ({of})"),
        (_, _, Some(of)) => format!("decides ({of})"),
        (_, _, None) => String::new(),
    }
}

fn end(notes: &[String], cut: &Cut, f: &mut Formatter<'_>) -> fmt::Result {
    notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
    f.write_str(&budget::tail(cut))
}

fn range([first, last]: [usize; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// A kind in the word that JSON has for it.
fn word(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
}
