//! A text file as a model sees it: without a byte order mark, with line ends that it can write; and back to the bytes.
//! Knows no file and no reader.

use drip::lines::{Hash, Text};

const BOM: char = '\u{feff}';

/// A text, and what was taken from it so that it reads well.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub text: Text,
    pub form: Form,
}

/// What the bytes have that the text does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Form {
    pub mark: Mark,
    pub ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mark {
    #[default]
    Absent,
    Bom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// As they stand in the text; a file with both kinds shows them.
    #[default]
    AsShown,
    /// Every one is CR LF, and shown as LF.
    CrLf,
}

/// Enough of a file's hash to tell its versions apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(String);

impl Tag {
    /// Eight hexadecimal digits: two versions of one file that share them are one in four thousand million.
    const DIGITS: usize = 8;

    pub fn of(bytes: &[u8]) -> Tag {
        Tag(Hash::of(bytes).as_str()[..Self::DIGITS].to_owned())
    }

    pub fn read(text: &str) -> Option<Tag> {
        let plain = text.len() == Self::DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| Tag(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Page {
    pub fn of(raw: &str) -> Page {
        let (mark, raw) = match raw.strip_prefix(BOM) {
            Some(rest) => (Mark::Bom, rest),
            None => (Mark::Absent, raw),
        };
        let newlines = raw.matches('\n').count();
        let ends =
            if newlines > 0 && raw.matches("\r\n").count() == newlines { Ends::CrLf } else { Ends::AsShown };
        Page::new(&shown(raw, ends), Form { mark, ends })
    }

    pub fn new(text: &str, form: Form) -> Page {
        Page { text: Text::new(text), form }
    }

    /// The file's bytes.
    pub fn raw(&self) -> String {
        let mark = if self.form.mark == Mark::Bom { "\u{feff}" } else { "" };
        match self.form.ends {
            Ends::AsShown => format!("{mark}{}", self.text.as_str()),
            Ends::CrLf => format!("{mark}{}", self.text.as_str().replace('\n', "\r\n")),
        }
    }

    pub fn tag(&self) -> Tag {
        match self.form {
            Form { mark: Mark::Absent, ends: Ends::AsShown } => Tag::of(self.text.as_str().as_bytes()),
            _ => Tag::of(self.raw().as_bytes()),
        }
    }
}

/// A piece of a model's, as it would stand in a text with such line ends.
pub(crate) fn shown(piece: &str, ends: Ends) -> String {
    match ends {
        Ends::AsShown => piece.to_owned(),
        Ends::CrLf => piece.replace("\r\n", "\n"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_was(raw in "(\u{feff}|a|\r|\n|\r\n|é){0,12}") {
            prop_assert_eq!(Page::of(&raw).raw(), raw);
        }
    }

    #[test]
    fn only_a_text_with_one_kind_of_line_end_hides_it() {
        let page = Page::of("\u{feff}a\r\nb\r\n");
        assert_eq!((page.text.as_str(), page.form), ("a\nb\n", Form { mark: Mark::Bom, ends: Ends::CrLf }));
        assert_eq!(Page::of("a\r\nb\n").text.as_str(), "a\r\nb\n");
        assert_eq!(Page::of("a\r").form, Form::default());
    }
}
