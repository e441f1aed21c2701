//! Chooses what to hide and writes the file without it. Knows lines and limits; knows no language.

use std::collections::HashMap;

use super::definition::{Definition, Doc, Kind, Outline};
use super::{Elided, Hides, Limits, Stub};

/// Lines to leave out, and the line to write instead.
struct Cut {
    first: usize,
    last: usize,
    symbol: String,
    hides: Hides,
    line: String,
}

pub(super) fn cut(text: &str, outline: &Outline, form: (&str, &str), limits: &Limits) -> Option<Elided> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let least = limits.min_body.max(Limits::FLOOR);
    let mut cuts = bodies(&lines, outline, form, least);
    if limits.doc_comments {
        let hides = |doc: &&Doc| hidden_lines(doc.hidden) >= least && !is_inside(&cuts, doc.hidden);
        let docs: Vec<Cut> =
            outline.docs.iter().filter(hides).map(|doc| comment(&lines, outline, doc)).collect();
        cuts.extend(docs);
        cuts.sort_by_key(|cut| cut.first);
    }
    // Should two readings of one body ever come this far, the first one is as good as the other.
    let mut free = 1;
    cuts.retain(|cut| {
        let apart = cut.first >= free;
        free = free.max(cut.last + 1);
        apart
    });
    cuts.retain(|cut| cut.line.len() < lines[cut.first - 1..cut.last].iter().map(|line| line.len()).sum());
    (!cuts.is_empty()).then(|| write(text, &lines, cuts))
}

fn hidden_lines((first, last): (usize, usize)) -> usize {
    (last + 1).saturating_sub(first)
}

fn is_inside(cuts: &[Cut], (first, _): (usize, usize)) -> bool {
    let next = cuts.partition_point(|cut| cut.first <= first);
    next > 0 && first <= cuts[next - 1].last
}

/// The long bodies in which nothing stands that must stay visible.
fn bodies(lines: &[&str], outline: &Outline, form: (&str, &str), least: usize) -> Vec<Cut> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for definition in &outline.definitions {
        *names.entry(&definition.name).or_default() += 1;
    }
    // From the last definition back, so that what a body holds has been seen before the body itself. The lines where
    // something begins that must stay visible are collected in falling order.
    let mut visible: Vec<usize> = Vec::new();
    let mut cuts = Vec::new();
    for definition in outline.definitions.iter().rev() {
        let long = definition.body.filter(|body| hidden_lines(*body) >= least);
        if let Some((first, last)) = long {
            let inner =
                visible.partition_point(|line| *line >= first).checked_sub(1).map(|index| visible[index]);
            let pin = outline.pinned.get(outline.pinned.partition_point(|line| *line < first)).copied();
            if ![inner, pin].into_iter().flatten().any(|line| line <= last)
                && can_stand_in_comment(&definition.name)
            {
                cuts.push(body(lines, definition, (first, last), names[definition.name.as_str()], form));
            }
        }
        if definition.kind == Kind::Declared || long.is_some() {
            visible.push(definition.first_line);
        }
    }
    cuts.reverse();
    cuts
}

/// An operator may be called like the sign that ends the stub's comment.
fn can_stand_in_comment(name: &str) -> bool {
    !name.contains("*/") && !name.contains("/*") && !name.contains('\n')
}

/// A name that several definitions share cannot be asked for; its lines can.
fn body(
    lines: &[&str],
    definition: &Definition,
    (first, last): (usize, usize),
    namesakes: usize,
    form: (&str, &str),
) -> Cut {
    let (symbol, count) = (definition.name.clone(), last + 1 - first);
    let how = if namesakes == 1 { format!("--symbol {symbol}") } else { format!("--lines {first}-{last}") };
    let words = format!("[DRIP-elided {symbol}: lines {first}-{last}, {count} lines | drip read {how}]");
    let indent = indent_of(lines[first - 1..last].iter().find(|line| !line.trim().is_empty()));
    let line = format!("{indent}{}{words}{}{}", form.0, form.1, line_end(lines[last - 1]));
    Cut { first, last, symbol, hides: Hides::Body, line }
}

/// What a comment describes is inside it, or begins on the next line.
fn comment(lines: &[&str], outline: &Outline, doc: &Doc) -> Cut {
    let (first, last) = doc.hidden;
    let next = outline.definitions.partition_point(|definition| definition.first_line <= doc.last_line);
    let below = outline.definitions.get(next).filter(|definition| definition.first_line == doc.last_line + 1);
    let described = doc.describes.as_ref().or(below.map(|definition| &definition.name));
    let described = described.filter(|name| can_stand_in_comment(name));
    let symbol = described.map_or("comment", String::as_str).to_owned();
    let count = last + 1 - first;
    let how = format!("drip read --lines {first}-{last}");
    let words = format!("[DRIP-elided doc of {symbol}: lines {first}-{last}, {count} lines | {how}]");
    let indent = indent_of(lines[first - 1..last].iter().find(|line| !line.trim().is_empty()));
    let line = format!("{indent}{}{words}{}", doc.lead, line_end(lines[last - 1]));
    Cut { first, last, symbol, hides: Hides::DocComment, line }
}

fn indent_of(line: Option<&&str>) -> String {
    line.map_or(String::new(), |line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect())
}

fn line_end(line: &str) -> &str {
    &line[line.trim_end_matches(['\n', '\r']).len()..]
}

fn write(text: &str, lines: &[&str], cuts: Vec<Cut>) -> Elided {
    let mut out = Elided { text: String::with_capacity(text.len()), stubs: Vec::new(), lines_hidden: 0 };
    let mut next = 1;
    for Cut { first, last, symbol, hides, line } in cuts {
        out.text.extend(lines[next - 1..first - 1].iter().copied());
        out.text.push_str(&line);
        // Every earlier stub took the place of its lines and is a line itself.
        let line_in_output = first - out.lines_hidden + out.stubs.len();
        out.lines_hidden += last + 1 - first;
        out.stubs.push(Stub { symbol, first_line: first, last_line: last, line_in_output, hides });
        next = last + 1;
    }
    out.text.extend(lines[next - 1..].iter().copied());
    out
}
