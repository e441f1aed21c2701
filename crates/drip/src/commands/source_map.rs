//! `drip source-map`: which lines of the file the lines of a shortened read stand for.

use std::path::Path;

use kit::{Exit, Failure, text};
use serde::Serialize;

use super::{Call, Here, picked, read::failure, store_failure};
use crate::database::SourceMap;
use crate::elide::{Elided, Stub};
use crate::read;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    file: String,
    /// Only this line of what was sent: 12 or L12
    #[arg(long, value_name = "N", value_parser = parse_line)]
    line: Option<u32>,
    /// Of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Lines of what was sent, and those of the file that they show or stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Entry {
    compressed_line: usize,
    original_start: usize,
    original_end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_name: Option<String>,
    elided: bool,
}

#[derive(Serialize)]
struct Unmapped {
    compressed_line: u32,
    unmapped: bool,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let located = read::locate(&args.file, &call.here.cwd).map_err(|error| failure(&error, &call.here))?;
    let map = find(&call.here, args, &located.key)?;
    let file = call.here.short(Path::new(&located.key));
    let entries = map.as_ref().map(entries).unwrap_or_default();
    let Some(line) = args.line else {
        return call.show(&entries, |_| match (&map, entries.is_empty()) {
            (Some(_), false) => entries.iter().map(|entry| entry.to_line(&file)).collect(),
            (map, _) => missing(&file, map.is_some()),
        });
    };
    match map.as_ref().and_then(|map| at(map, line)) {
        Some(entry) => call.show(&entry, |_| entry.to_line(&file)),
        None => {
            call.show(&Unmapped { compressed_line: line, unmapped: true }, |_| match entries.is_empty() {
                true => missing(&file, map.is_some()),
                false => format!("compressed L{line} is not in what was sent ({file})\n"),
            })
        }
    }
}

fn find(here: &Here, args: &Args, path: &str) -> Result<Option<SourceMap>, Failure> {
    let Some(database) = here.stored()? else { return Ok(None) };
    let Some(picked) = picked::session(here, &database, args.session.as_deref())? else { return Ok(None) };
    database.source_map(&picked.roll.id, path).map_err(|error| store_failure(&error))
}

fn missing(file: &str, was_read: bool) -> String {
    let why = match was_read {
        true => "no compression fired on what was read last: its lines are the file's own",
        false => "no read tracked in this session",
    };
    format!("No source map for {file}\n{why}\n")
}

/// Every stub, and the blocks between them.
fn entries(map: &SourceMap) -> Vec<Entry> {
    let mut entries = Vec::new();
    if map.stubs.is_empty() {
        return entries;
    }
    let (mut line, mut original) = (1, 1);
    for stub in &map.stubs {
        if original < stub.first_line {
            entries.push(Entry::block(line, original, stub.first_line - 1));
        }
        entries.push(Entry::stub(stub));
        (line, original) = (stub.line_in_output + 1, stub.last_line + 1);
    }
    if let Some(last) = map.lines.filter(|last| *last >= original) {
        entries.push(Entry::block(line, original, last));
    }
    entries
}

impl Entry {
    fn block(compressed_line: usize, original_start: usize, original_end: usize) -> Entry {
        Entry { compressed_line, original_start, original_end, symbol_name: None, elided: false }
    }

    fn stub(stub: &Stub) -> Entry {
        Entry {
            compressed_line: stub.line_in_output,
            original_start: stub.first_line,
            original_end: stub.last_line,
            symbol_name: Some(stub.symbol.clone()).filter(|symbol| !symbol.is_empty()),
            elided: true,
        }
    }

    fn to_line(&self, file: &str) -> String {
        let symbol = self.symbol_name.as_ref().map(|symbol| format!(" ({symbol})")).unwrap_or_default();
        let elided = if self.elided { " [elided]" } else { "" };
        let line = format!(
            "compressed L{} → original L{}-L{}{symbol}{elided} ({file})",
            self.compressed_line, self.original_start, self.original_end
        );
        format!("{}\n", text::plain(&line))
    }
}

/// The one line of what was sent; none if it has no such line.
fn at(map: &SourceMap, line: u32) -> Option<Entry> {
    let line = line as usize;
    if map.stubs.is_empty() {
        return None;
    }
    if let Some(stub) = map.stubs.iter().find(|stub| stub.line_in_output == line) {
        return Some(Entry::stub(stub));
    }
    let elided = Elided { text: String::new(), stubs: map.stubs.clone(), lines_hidden: 0 };
    let original = *elided.original(line).start();
    let exists = line > 0 && map.lines.is_none_or(|lines| original <= lines);
    exists.then(|| Entry::block(line, original, original))
}

fn parse_line(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix(['L', 'l']).unwrap_or(text).parse().ok();
    number.filter(|line| *line > 0).ok_or_else(|| "a line is given as 12 or L12, from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elide::Hides;

    fn map() -> SourceMap {
        let stub = |symbol: &str, first_line, last_line, line_in_output| Stub {
            symbol: symbol.to_owned(),
            first_line,
            last_line,
            line_in_output,
            hides: Hides::Body,
        };
        SourceMap { stubs: vec![stub("f", 3, 22, 3), stub("g", 24, 43, 5)], lines: Some(45) }
    }

    #[test]
    fn stubs_and_the_blocks_between_them_make_the_whole_file() {
        let entries = entries(&map());
        let spans: Vec<_> = entries
            .iter()
            .map(|entry| (entry.compressed_line, entry.original_start, entry.original_end))
            .collect();
        assert_eq!(spans, [(1, 1, 2), (3, 3, 22), (4, 23, 23), (5, 24, 43), (6, 44, 45)]);
    }

    #[test]
    fn a_line_is_found_or_not_there() {
        let at =
            |line| at(&map(), line).map(|entry| (entry.original_start, entry.original_end, entry.elided));
        assert_eq!(at(2), Some((2, 2, false)));
        assert_eq!(at(5), Some((24, 43, true)));
        assert_eq!(at(7), Some((45, 45, false)));
        assert_eq!([at(0), at(8), at(u32::MAX)], [None, None, None]);
    }

    #[test]
    fn lines_are_typed_with_or_without_their_letter() {
        assert_eq!([parse_line("12"), parse_line("L12")], [Ok(12), Ok(12)]);
        for wrong in ["", "L", "0", "é", "LL1", "-1"] {
            assert!(parse_line(wrong).is_err(), "{wrong}");
        }
    }
}
