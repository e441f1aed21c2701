//! What changed between two texts, as lines, and the two ways to write it down for a reader: a unified diff, and
//! replacements that carry only the new side. Both can be applied again (see `reader`). Knows no reader and no file.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp};

use crate::elide::Symbol;
use crate::lines::{Ranges, Span, Text};

/// After this long `similar` settles for a coarser, still correct, result. Its worst case on 50,000 lines was measured
/// at 0.2 s without a limit, a usual change at 10 ms.
const PATIENCE: Duration = Duration::from_millis(50);

/// Said by diff and patch of a last line without a line end.
pub(crate) const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Old lines that became new lines; counted from 0, ends excluded. One side may be empty, never both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Changes close to each other with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub changes: Vec<Change>,
    /// The definition it begins in, where that is known.
    pub symbol: Option<String>,
}

/// How a change is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// A unified diff with this many lines of context.
    Unified(usize),
    /// The new lines alone, with their numbers, and which old lines they replace; with this many lines of context.
    Replaced(usize),
    /// The same, but every definition that was touched is sent whole.
    Symbols,
}

/// All changes between two texts, in order, with at least one equal line between them.
pub fn changes(old: &Text, new: &Text) -> Vec<Change> {
    let deadline = Some(Instant::now() + PATIENCE);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old.lines(), &new.lines(), deadline);
    let mut changes: Vec<Change> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        match changes.last_mut() {
            Some(last) if last.old.end == op.old_range().start && last.new.end == op.new_range().start => {
                last.old.end = op.old_range().end;
                last.new.end = op.new_range().end;
            }
            _ => changes.push(Change { old: op.old_range(), new: op.new_range() }),
        }
    }
    changes
}

/// Whether everything outside of these changes is the same in both texts, and the changes are in order. What somebody
/// compared before is believed only then.
pub fn explains(changes: &[Change], old: &Text, new: &Text) -> bool {
    let (old, new) = (old.lines(), new.lines());
    let same = |in_old: Range<usize>, in_new: Range<usize>| {
        old.get(in_old).zip(new.get(in_new)).is_some_and(|(old, new)| old == new)
    };
    let mut at = (0, 0);
    for change in changes {
        let is_apart = at == (0, 0) || change.old.start > at.0;
        let is_inside = old.get(change.old.clone()).is_some() && new.get(change.new.clone()).is_some();
        let is_change = !change.old.is_empty() || !change.new.is_empty();
        let reaches = same(at.0..change.old.start, at.1..change.new.start);
        if !(is_apart && is_inside && is_change && reaches) {
            return false;
        }
        at = (change.old.end, change.new.end);
    }
    same(at.0..old.len(), at.1..new.len())
}

/// Changes with lines around them; those whose surroundings meet share a hunk.
pub fn hunks(changes: &[Change], context: usize, old: &Text, symbols: &[Symbol]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for change in changes {
        let before = context.min(change.old.start);
        let after = context.min(old.count() - change.old.end);
        match hunks.last_mut() {
            Some(last) if change.old.start - before <= last.old.end => {
                last.old.end = change.old.end + after;
                last.new.end = change.new.end + after;
                last.changes.push(change.clone());
            }
            _ => hunks.push(Hunk {
                old: change.old.start - before..change.old.end + after,
                new: change.new.start - before..change.new.end + after,
                changes: vec![change.clone()],
                symbol: innermost(symbols, &change.new).map(|symbol| symbol.name.clone()),
            }),
        }
    }
    hunks
}

/// Changes with all lines of the innermost definition that each lies in; alone where there is none.
pub fn symbol_hunks(changes: &[Change], symbols: &[Symbol]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for change in changes {
        let symbol = innermost(symbols, &change.new);
        let mut reach = symbol.map_or(change.new.clone(), |symbol| symbol.first_line - 1..symbol.last_line);
        let mut joined = Vec::new();
        while let Some(last) = hunks.pop_if(|last| reach.start < last.new.end) {
            reach = reach.start.min(last.new.start)..reach.end.max(last.new.end);
            joined.splice(0..0, last.changes);
        }
        joined.push(change.clone());
        let symbol = symbol.map(|symbol| symbol.name.clone());
        hunks.push(Hunk { old: old_side(&reach, &joined), new: reach, changes: joined, symbol });
    }
    hunks
}

/// The old lines of a piece of the new text whose borders were not changed.
fn old_side(new: &Range<usize>, changes: &[Change]) -> Range<usize> {
    let (first, last) = (changes.first().expect("a hunk has a change"), changes.last().expect("as above"));
    first.old.start - (first.new.start - new.start)..last.old.end + (new.end - last.new.end)
}

/// The smallest definition that holds new lines, or the place where lines were.
fn innermost<'a>(symbols: &'a [Symbol], new: &Range<usize>) -> Option<&'a Symbol> {
    let holds = |symbol: &&Symbol| match new.is_empty() {
        true => symbol.first_line <= new.start && new.start < symbol.last_line,
        false => symbol.first_line <= new.start + 1 && new.end <= symbol.last_line,
    };
    symbols.iter().filter(holds).min_by_key(|symbol| symbol.last_line - symbol.first_line)
}

/// The new lines that a set of hunks puts before the reader's eyes.
pub fn shown(hunks: &[Hunk]) -> Ranges {
    hunks.iter().filter_map(|hunk| Span::from_indices(&hunk.new)).collect()
}

/// Where lines of the old text are found in the new one; what was changed is not found.
pub fn carry(lines: &Ranges, changes: &[Change], old: &Text, new: &Text) -> Ranges {
    let mut carried = Ranges::new();
    let mut equal = |from: (usize, usize), until: usize| {
        let Some(span) = Span::from_indices(&(from.0..until)) else { return };
        for kept in lines.within(span).iter() {
            let move_by = |line: usize| line - 1 - from.0 + from.1 + 1;
            carried.insert(Span { first: move_by(kept.first), last: move_by(kept.last) });
        }
    };
    let mut from = (0, 0);
    for change in changes {
        equal(from, change.old.start);
        from = (change.old.end, change.new.end);
    }
    equal(from, old.count());
    debug_assert!(
        carried.iter().all(|span| span.last <= new.count()),
        "only lines of the new text are carried"
    );
    carried
}

/// The body of a delta. `name` is the file's own name, without its folders.
pub fn encode(encoding: Encoding, hunks: &[Hunk], old: &Text, new: &Text, name: &str) -> String {
    match encoding {
        Encoding::Unified(_) => unified(hunks, old, new, name),
        Encoding::Replaced(_) | Encoding::Symbols => replaced(hunks, new),
    }
}

/// `@@ -a,b +c,d @@ symbol` as `diff -u` numbers it: an empty side names the line before it.
pub fn place(hunk: &Hunk) -> String {
    let side = |range: &Range<usize>| match range.len() {
        0 => format!("{},0", range.start),
        count => format!("{},{count}", range.start + 1),
    };
    let symbol = hunk.symbol.as_deref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    format!("@@ -{} +{} @@{symbol}", side(&hunk.old), side(&hunk.new))
}

fn unified(hunks: &[Hunk], old: &Text, new: &Text, name: &str) -> String {
    let mut out = format!("--- {name} (last read)\n+++ {name} (current)\n");
    let (old, new) = (old.lines(), new.lines());
    for hunk in hunks {
        out += &place(hunk);
        out.push('\n');
        let mut at = hunk.old.start;
        for change in &hunk.changes {
            push_lines(&mut out, ' ', &old[at..change.old.start]);
            push_lines(&mut out, '-', &old[change.old.clone()]);
            push_lines(&mut out, '+', &new[change.new.clone()]);
            at = change.old.end;
        }
        push_lines(&mut out, ' ', &old[at..hunk.old.end]);
    }
    out
}

fn push_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push('\n');
            out.push_str(NO_NEWLINE);
            out.push('\n');
        }
    }
}

/// New lines with their numbers, hunk by hunk.
pub fn replaced(hunks: &[Hunk], new: &Text) -> String {
    let mut out = String::new();
    for hunk in hunks {
        out += &place(hunk);
        out.push('\n');
        out += &numbered(new, Span::from_indices(&hunk.new));
    }
    out
}

/// Lines with their numbers, as the reading tools of coding agents show them.
pub fn numbered(text: &Text, span: Option<Span>) -> String {
    let mut out = String::new();
    let span = span.and_then(|span| text.clip(span));
    for number in span.into_iter().flat_map(|span| span.first..=span.last) {
        let line = text.line(number).expect("the span was clipped to the text");
        let _ = write!(out, "{number}\t{line}");
        if !line.ends_with('\n') {
            out.push('\n');
            out.push_str(NO_NEWLINE);
            out.push('\n');
        }
    }
    out
}
