//! Facts as others hold them: shared, and perhaps still the bytes that an earlier process kept. Whoever looks at them has
//! them unpacked, once; a daemon that starts need not do that for files that nobody asks about yet.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::{Facts, extract};
use crate::language::Language;

#[derive(Clone)]
pub struct Held(Arc<Inner>);

struct Inner {
    language: Language,
    facts: LazyLock<Facts, Box<dyn FnOnce() -> Facts + Send>>,
}

impl Held {
    /// Facts that `bytes` gives when somebody looks at them. Bytes that are none of ours say nothing of the file.
    pub fn packed<B: AsRef<[u8]> + Send + 'static>(language: Language, bytes: B) -> Self {
        let nothing = move || extract(language, "", b"").expect("no text is a program");
        let unpack = move || Facts::unpack(bytes.as_ref()).unwrap_or_else(nothing);
        Self(Arc::new(Inner { language, facts: LazyLock::new(Box::new(unpack)) }))
    }

    /// Without looking at the rest.
    pub fn language(&self) -> Language {
        self.0.language
    }

    /// Whether both are one.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl From<Facts> for Held {
    fn from(facts: Facts) -> Self {
        let language = facts.language;
        let held = Self(Arc::new(Inner { language, facts: LazyLock::new(Box::new(|| facts)) }));
        LazyLock::force(&held.0.facts);
        held
    }
}

impl Deref for Held {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0.facts
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || **self == **other
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
