//! Lines that match a pattern. The texts come from the caller.

use serde::Serialize;

use super::Cut;
use super::budget::{self, list_answer};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Search {
    pub pattern: String,
    pub results: Vec<Hit>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub file: String,
    pub line: u32,
    pub content: String,
}

/// A longer line is cut: it is minified or data.
const LINE: usize = 500;

/// A pattern that is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("bad pattern: {0}")]
pub struct BadPattern(String);

/// A pattern, ready to be tried on many texts.
pub struct Pattern {
    text: String,
    regex: regex::bytes::Regex,
}

impl Pattern {
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        let built = regex::bytes::RegexBuilder::new(pattern).size_limit(8 << 20).build();
        let regex = built.map_err(|error| BadPattern(error.to_string().replace('\n', " ")))?;
        Ok(Self { text: pattern.to_owned(), regex })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines of a text that match. A text with a NUL byte is no text.
    pub fn hits(&self, file: &str, text: &[u8]) -> Vec<Hit> {
        if text.contains(&0) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.regex.is_match(line) {
                let content = String::from_utf8_lossy(line);
                let content = kit::text::head(content.trim(), LINE).to_owned();
                out.push(Hit { file: file.to_owned(), line: number, content });
            }
        }
        out
    }

    /// The answer made of hits, in the order of files and lines.
    pub fn answer(&self, mut results: Vec<Hit>) -> Search {
        results.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
        let cut = Cut { total: results.len(), ..Cut::default() };
        Search { pattern: self.text.clone(), results, cut }
    }
}

list_answer!(Search, results, |answer| {
    if answer.cut.total == 0 {
        return format!("no line matches {}\n", kit::text::plain(&answer.pattern));
    }
    let line = |hit: &Hit| format!("{}:{}: {}\n", hit.file, hit.line, kit::text::plain(&hit.content));
    answer.results.iter().map(line).collect::<String>() + &budget::tail(&answer.cut)
});
