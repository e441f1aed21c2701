//! How an answer is written: within its budget, as JSON or for people, and with the files that it stands for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Formatter};

use code::query::{Answer, Page, fit};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::json;
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
        let mut told = self.whole(&answer, || answer.text(), BTreeSet::new())?;
        told.files = match self.format {
            Format::Json => mentioned(&told.json),
            Format::Text => mentioned(&serde_json::to_string(&answer).expect("answers have text for keys")),
        };
        Ok(told)
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

/// Every file that an answer names. Read from its text, piece by piece: an answer can be larger than the index.
fn mentioned(json: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut reader = serde_json::Deserializer::from_str(json);
    Mentions { named: false, into: &mut files }.deserialize(&mut reader).expect("answers are JSON");
    files
}

/// Whether a text here is a file, and where to put it.
struct Mentions<'f> {
    named: bool,
    into: &'f mut BTreeSet<String>,
}

const KEYS: [&str; 5] = ["file", "path", "from_file", "to_file", "file_path"];

impl<'de> DeserializeSeed<'de> for Mentions<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Mentions<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("an answer")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.named && !self.into.contains(text) {
            self.into.insert(text.to_owned());
        }
        Ok(())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            map.next_value_seed(Mentions { named: KEYS.contains(&&*key), into: &mut *self.into })?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        while items.next_element_seed(Mentions { named: false, into: &mut *self.into })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
