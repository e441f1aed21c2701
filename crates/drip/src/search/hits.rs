//! What ripgrep prints, read: names ended by NUL, or one JSON object per line. Pure. An end that was cut off is left
//! out, never guessed.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::Deserialize;

/// A file with something found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) path: PathBuf,
    found: Found,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Something,
    Count(usize),
    Lines(Vec<Line>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    number: u64,
    text: String,
    /// Or one around it.
    matches: bool,
}

/// What stands beside a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) names: bool,
    pub(super) numbers: bool,
    /// `--` where lines are left out, which only makes sense if there are lines around hits.
    pub(super) gaps: bool,
}

impl Hit {
    /// The path as it is shown.
    pub(super) fn name(&self) -> String {
        self.path.strip_prefix(".").unwrap_or(&self.path).to_string_lossy().into_owned()
    }

    /// How many lines match, as far as that was asked for.
    pub(super) fn matches(&self) -> usize {
        match &self.found {
            Found::Something => 0,
            Found::Count(count) => *count,
            Found::Lines(lines) => lines.iter().filter(|line| line.matches).count(),
        }
    }
}

/// `--files-with-matches --null`.
pub(super) fn names(output: &[u8]) -> Vec<Hit> {
    let ended = output.iter().rposition(|byte| *byte == 0).unwrap_or(0);
    let names = output[..ended].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| Hit { path: path_of(name.to_vec()), found: Found::Something }).collect()
}

/// `--count --with-filename --null`: a name, NUL, a number, a line end.
pub(super) fn counts(output: &[u8]) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut rest = output;
    while let Some(name_ends) = rest.iter().position(|byte| *byte == 0) {
        let (name, after) = (&rest[..name_ends], &rest[name_ends + 1..]);
        let Some(number_ends) = after.iter().position(|byte| *byte == b'\n') else { break };
        let number = std::str::from_utf8(&after[..number_ends]).ok().and_then(|number| number.parse().ok());
        let Some(count) = number else { break };
        hits.push(Hit { path: path_of(name.to_vec()), found: Found::Count(count) });
        rest = &after[number_ends + 1..];
    }
    hits
}

/// `--json --line-number`.
pub(super) fn lines(output: &[u8]) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for object in output.split(|byte| *byte == b'\n') {
        // Beginnings, ends and the summary tell nothing that the lines between do not.
        let (data, matches) = match serde_json::from_slice(object) {
            Ok(Message::Match(data)) => (data, true),
            Ok(Message::Context(data)) => (data, false),
            _ => continue,
        };
        let (path, text) = (path_of(data.path.into_bytes()), data.lines.into_bytes());
        let first = data.line_number.unwrap_or(0);
        let text = String::from_utf8_lossy(&text);
        let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n').zip(first..);
        let lines = lines.map(|(text, number)| Line { number, text: text.to_owned(), matches });
        // Ripgrep prints one file after the other.
        match hits.last_mut() {
            Some(Hit { path: last, found: Found::Lines(found) }) if *last == path => found.extend(lines),
            _ => hits.push(Hit { path, found: Found::Lines(lines.collect()) }),
        }
    }
    hits
}

/// As ripgrep prints it to a pipe: `path:7:line` for hits, `path-7-line` around them, `--` between groups.
pub(super) fn render(hits: &[Hit], style: Style) -> Vec<String> {
    let mut out = Vec::new();
    for hit in hits {
        let Found::Lines(lines) = &hit.found else { continue };
        let name = hit.name();
        let mut expected = None;
        for line in lines {
            if style.gaps && !out.is_empty() && expected != Some(line.number) {
                out.push("--".to_owned());
            }
            expected = Some(line.number + 1);
            let sign = if line.matches { ':' } else { '-' };
            let mut shown = String::new();
            if style.names {
                shown = format!("{name}{sign}");
            }
            if style.numbers {
                shown.push_str(&format!("{}{sign}", line.number));
            }
            shown.push_str(&line.text);
            out.push(shown);
        }
    }
    out
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
enum Message {
    Match(Data),
    Context(Data),
}

#[derive(Deserialize)]
struct Data {
    path: Text,
    lines: Text,
    line_number: Option<u64>,
}

/// What is not UTF-8 comes in base 64.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Text {
    Text(String),
    Bytes(String),
}

impl Text {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Text::Text(text) => text.into_bytes(),
            Text::Bytes(encoded) => base64(&encoded),
        }
    }
}

/// Decodes the standard alphabet; anything else ends it.
fn base64(encoded: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = encoded.bytes().map_while(|byte| ALPHABET.iter().position(|digit| *digit == byte));
    let (mut out, mut bits, mut held) = (Vec::new(), 0usize, 0);
    for digit in digits {
        bits = (bits << 6 | digit) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn base_64_is_decoded() {
        for (encoded, decoded) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")]
        {
            assert_eq!(base64(encoded), decoded.as_bytes());
        }
        assert_eq!(base64("/+8="), b"\xff\xef");
    }

    #[test]
    fn names_and_counts_survive_any_byte_but_nul_and_a_cut_end_is_left_out() {
        let paths =
            |hits: Vec<Hit>| hits.into_iter().map(|hit| (hit.name(), hit.matches())).collect::<Vec<_>>();
        let wanted = vec![("a\nb: 3".to_owned(), 0), ("c".to_owned(), 0)];
        assert_eq!(paths(names(b"a\nb: 3\0./c\0half")), wanted);
        let wanted = vec![("a\nb:7".to_owned(), 2), ("c".to_owned(), 10)];
        assert_eq!(paths(counts(b"a\nb:7\x002\nc\x0010\nd\x001")), wanted);
    }

    proptest! {
        #[test]
        fn nothing_that_is_printed_can_upset_the_reading(output: Vec<u8>) {
            names(&output);
            counts(&output);
            let hits = lines(&output);
            render(&hits, Style { names: true, numbers: true, gaps: true });
        }
    }
}
