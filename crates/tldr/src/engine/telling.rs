//! How an answer is written: within its budget, as JSON or for people, and with the files that it stands for.

use std::collections::BTreeSet;

use code::query::{Answer, Page, fit};
use kit::text::{head, tokens};
use serde_json::{Value, json};
use wire::tldr::{DaemonResponse, Format, Refusal, Request};

/// What `status` and `as_of` take of an answer's budget.
const ENVELOPE_TOKENS: u64 = 18;

#[derive(Clone, Copy)]
pub(super) struct Telling {
    page: Page,
    format: Format,
}

/// An answer as JSON, and the files that it stands for.
pub(super) struct Told {
    pub(super) json: String,
    pub(super) files: BTreeSet<String>,
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

    /// An answer that stands for the files that it names.
    pub(super) fn about<A: Answer>(&self, answer: A) -> Told {
        let answer = self.cut(answer);
        let mut files = BTreeSet::new();
        mentioned(&serde_json::to_value(&answer).expect("answers have text for keys"), &mut files);
        Told { json: self.written(&answer), files }
    }

    pub(super) fn about_file<A: Answer>(&self, file: &str, answer: A) -> Told {
        Told { json: self.written(&self.cut(answer)), files: BTreeSet::from([file.to_owned()]) }
    }

    /// An answer that nobody would read files for.
    pub(super) fn about_nothing<A: Answer>(&self, answer: A) -> Told {
        Told { json: self.written(&self.cut(answer)), files: BTreeSet::new() }
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

/// Every file that an answer names.
fn mentioned(value: &Value, into: &mut BTreeSet<String>) {
    const KEYS: [&str; 5] = ["file", "path", "from_file", "to_file", "file_path"];
    match value {
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, into)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(file) if KEYS.contains(&key.as_str()) => drop(into.insert(file.clone())),
                    value => mentioned(value, into),
                }
            }
        }
        _ => {}
    }
}
