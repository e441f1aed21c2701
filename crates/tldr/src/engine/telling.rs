//! How an answer is written: within its budget, as JSON or for people, and with the files that it stands for.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use code::query::whole::Whole;
use code::query::{Answer, Page, fit};
use kit::text::{head, tokens};
use serde_json::json;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};
use wire::tldr::{DaemonResponse, Format, Refusal, Request};

/// What `status` and `as_of` take of an answer's budget.
const ENVELOPE_TOKENS: u64 = 18;

#[derive(Clone, Copy)]
pub(super) struct Telling {
    page: Page,
    format: Format,
}

/// An answer as JSON, in pieces, and the files that it stands for.
pub(super) struct Told {
    pub(super) json: Vec<Arc<str>>,
    pub(super) files: HashSet<String>,
}

impl Told {
    pub(super) fn new(json: &str, files: HashSet<String>) -> Told {
        Told { json: vec![json.into()], files }
    }
}

impl From<Whole<'_>> for Told {
    fn from(whole: Whole<'_>) -> Told {
        Told { json: whole.pieces, files: whole.files.into_iter().map(str::to_owned).collect() }
    }
}

impl Telling {
    pub(super) fn of(request: &Request) -> Telling {
        let max_tokens = request.max_tokens.map(|most| most.saturating_sub(ENVELOPE_TOKENS));
        let page = Page { offset: request.offset.unwrap_or(0), max_items: None, max_tokens };
        Telling { page, format: request.format }
    }

    /// The same for no more than so many items.
    pub(super) fn at_most(self, max_items: Option<usize>) -> Telling {
        Telling { page: Page { max_items, ..self.page }, ..self }
    }

    /// Whether nothing is to be left out, and a program will read it.
    pub(super) fn is_whole(&self) -> bool {
        self.page == Page::default() && self.format == Format::Json
    }

    /// An answer that stands for the files that it names.
    pub(super) fn about<A: Answer>(&self, answer: A) -> Told {
        let answer = self.cut(answer);
        let (json, files) = noted(&answer);
        match self.format {
            Format::Json => Told::new(&json, files),
            Format::Text => Told::new(&self.written(&answer), files),
        }
    }

    pub(super) fn about_file<A: Answer>(&self, file: &str, answer: A) -> Told {
        Told::new(&self.written(&self.cut(answer)), HashSet::from([file.to_owned()]))
    }

    /// An answer that nobody would read files for.
    pub(super) fn about_nothing<A: Answer>(&self, answer: A) -> Told {
        Told::new(&self.written(&self.cut(answer)), HashSet::new())
    }

    fn cut<A: Answer>(&self, answer: A) -> A {
        fit(answer, self.page, |answer| self.written(answer).len())
    }

    fn written<A: Answer>(&self, answer: &A) -> String {
        match self.format {
            Format::Json => serde_json::to_string(answer).expect("answers have text for keys"),
            Format::Text => json!({"text": answer.text()}).to_string(),
        }
    }
}

/// A refusal that fits as well: what would help goes first, then the end of the words.
pub(super) fn within(mut refusal: Refusal, max_tokens: Option<u64>) -> Refusal {
    let most = max_tokens.unwrap_or(u64::MAX);
    let size = |refusal: &Refusal| {
        let line = serde_json::to_vec(&DaemonResponse::Error(refusal.clone()));
        tokens(line.expect("answers have text for keys").len() as u64)
    };
    if size(&refusal) > most {
        refusal.data.clear();
    }
    while size(&refusal) > most && !refusal.message.is_empty() {
        refusal.message = head(&refusal.message, refusal.message.len() * 3 / 4).to_owned();
    }
    refusal
}

/// An answer as JSON, and every file that it names. Found while it is written: an answer can be larger than the index.
fn noted<A: Answer>(answer: &A) -> (String, HashSet<String>) {
    let mut files = HashSet::new();
    let mut json = Vec::new();
    let noting = Noting { at: At::Elsewhere, text: String::new(), files: &mut files };
    answer.serialize(&mut Serializer::with_formatter(&mut json, noting)).expect("answers have text for keys");
    (String::from_utf8(json).expect("JSON is text"), files)
}

/// Writes without spaces, and notes the texts that files are named with.
struct Noting<'f> {
    at: At,
    /// The key or the file that is being written.
    text: String,
    files: &'f mut HashSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Elsewhere,
    Key,
    /// Behind a key that names a file.
    File,
}

const KEYS: [&str; 5] = ["file", "path", "from_file", "to_file", "file_path"];

impl Formatter for Noting<'_> {
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.at = At::Key;
        self.text.clear();
        CompactFormatter.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.at = if KEYS.contains(&self.text.as_str()) { At::File } else { At::Elsewhere };
        self.text.clear();
        CompactFormatter.begin_object_value(writer)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.at = At::Elsewhere;
        CompactFormatter.begin_array(writer)
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, part: &str) -> io::Result<()> {
        if self.at != At::Elsewhere {
            self.text.push_str(part);
        }
        CompactFormatter.write_string_fragment(writer, part)
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        self.text.push(match escape {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(byte),
        });
        CompactFormatter.write_char_escape(writer, escape)
    }

    fn end_string<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.at == At::File && !self.files.contains(&self.text) {
            self.files.insert(self.text.clone());
        }
        CompactFormatter.end_string(writer)
    }
}

#[cfg(test)]
mod tests {
    use code::query::Cut;

    use super::*;

    #[derive(serde::Serialize)]
    struct Sample(serde_json::Value);

    impl Answer for Sample {
        fn count(&self) -> usize {
            0
        }

        fn weight(&self, _: usize) -> usize {
            0
        }

        fn envelope(&mut self) -> usize {
            0
        }

        fn keep(&mut self, _: usize, _: usize, _: Cut) {}

        fn text(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn files_are_noted_by_their_keys_and_the_words_are_those_of_anybody() {
        let value = json!({
            "file": "a \"b\"\\\n\u{1}é.py",
            "path": ["not", {"from_file": "c.py", "line": 3, "file": null}, "file"],
            "name": "file",
            "to_file": {"file_path": "d/e.py", "x": "not"},
            "content": "\tnot\n",
        });
        let (json, files) = noted(&Sample(value.clone()));
        assert_eq!(json, value.to_string());
        let mut files: Vec<String> = files.into_iter().collect();
        files.sort();
        assert_eq!(files, ["a \"b\"\\\n\u{1}é.py", "c.py", "d/e.py"]);
    }
}
