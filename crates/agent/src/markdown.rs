//! The model's Markdown on a screen, as it comes in. Only a writer: what is shown and when is the voice's.

use kit::Page;

/// Turns words into what a screen shows. Words that could still become something else are held back until the next.
pub(crate) struct Ink;

impl Ink {
    pub(crate) fn new(_: &Page) -> Ink {
        Ink
    }

    pub(crate) fn none() -> Ink {
        Ink
    }

    pub(crate) fn feed(&mut self, words: &str) -> String {
        words.to_owned()
    }

    /// What was held back.
    pub(crate) fn finish(&mut self) -> String {
        String::new()
    }
}
