//! How an answer is written: within its budget, as JSON or for people, and with the files that it stands for.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Formatter};

use code::query::{Answer, Page, fit};
use kit::text::{head, tokens};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::json;
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
        let json = self.written(&answer);
        let files = match self.format {
            Format::Json => mentioned(&json),
            Format::Text => mentioned(&serde_json::to_string(&answer).expect("answers have text for keys")),
        };
        Told { json, files }
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
