//! How an answer is written: within its budget, as JSON or for people, and with the files that it stands for.

use std::collections::BTreeSet;

use code::query::{Answer, Page, fit};
use serde::Serialize;
use serde_json::{Value, json};
use wire::tldr::{Format, Refusal, Request};

use super::refuse_with;

/// What `status` and `as_of` take of an answer's budget.
const ENVELOPE_TOKENS: u64 = 18;

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
        Telling { page: Page { offset: 0, max_tokens }, format: request.format }
    }

    /// An answer that stands for the files that it names.
    pub(super) fn about<A: Answer>(&self, answer: A) -> Result<Told, Box<Refusal>> {
        let answer = fit(answer, self.page);
        let mut files = BTreeSet::new();
        mentioned(&serde_json::to_value(&answer).expect("answers have text for keys"), &mut files);
        self.whole(&answer, || answer.text(), files)
    }

    pub(super) fn about_file<A: Answer>(&self, file: &str, answer: A) -> Result<Told, Box<Refusal>> {
        let answer = fit(answer, self.page);
        self.whole(&answer, || answer.text(), BTreeSet::from([file.to_owned()]))
    }

    /// An answer that nobody would read files for.
    pub(super) fn about_nothing<A: Answer>(&self, answer: A) -> Result<Told, Box<Refusal>> {
        let answer = fit(answer, self.page);
        self.whole(&answer, || answer.text(), BTreeSet::new())
    }

    /// Refused where it does not fit and cannot be cut: half of it would be wrong.
    pub(super) fn whole(
        &self,
        answer: &impl Serialize,
        text: impl FnOnce() -> String,
        files: BTreeSet<String>,
    ) -> Result<Told, Box<Refusal>> {
        let json = match self.format {
            Format::Json => serde_json::to_string(answer).expect("answers have text for keys"),
            Format::Text => json!({"text": text()}).to_string(),
        };
        let tokens = kit::text::tokens(json.len() as u64);
        match self.page.max_tokens {
            Some(most) if tokens > most => {
                let needed = tokens + ENVELOPE_TOKENS;
                Err(refuse_with(format!("the answer needs {needed} tokens"), "needed_tokens", json!(needed)))
            }
            _ => Ok(Told { json, files }),
        }
    }
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
