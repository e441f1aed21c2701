//! A text as the numbers of known pieces of words: the way these models were taught to read. Words are split at spaces and
//! punctuation, and each is taken as the longest pieces that the vocabulary has.

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::ModelError;

/// A word of more letters is not taken apart: it is data.
const LONGEST_WORD: usize = 100;

pub(crate) struct WordPiece {
    pieces: HashMap<Box<str>, u32>,
    case: Case,
    unknown: u32,
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// The vocabulary has no capitals and no accents.
    Ignored,
    Kept,
}

impl WordPiece {
    /// From a `tokenizer.json`, or from lines of which each is a piece.
    pub(crate) fn new(bytes: &[u8]) -> Result<WordPiece, ModelError> {
        let text = str::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
        let (pieces, case) = match text.trim_start().starts_with('{') {
            true => from_json(&serde_json::from_str(text).map_err(|error| failed(error.to_string()))?)?,
            false => from_lines(text),
        };
        let mark = |name: &str| pieces.get(name).copied().ok_or_else(|| failed(format!("it has no {name}")));
        let (unknown, first, last) = (mark("[UNK]")?, mark("[CLS]")?, mark("[SEP]")?);
        Ok(WordPiece { pieces, case, unknown, first, last })
    }

    /// The largest number of a piece.
    pub(crate) fn largest(&self) -> u32 {
        self.pieces.values().copied().max().unwrap_or(0)
    }

    /// At most `most` numbers, the marks at both ends included; what is beyond is left out.
    pub(crate) fn tokens(&self, text: &str, most: usize) -> Vec<u32> {
        let mut tokens = vec![self.first];
        for word in split(text, self.case) {
            if tokens.len() + 1 >= most {
                break;
            }
            self.take_apart(&word, &mut tokens);
        }
        tokens.truncate(most.max(2) - 1);
        tokens.push(self.last);
        tokens
    }

    fn take_apart(&self, word: &str, into: &mut Vec<u32>) {
        let before = into.len();
        let mut rest = word;
        if word.chars().count() > LONGEST_WORD {
            into.push(self.unknown);
            return;
        }
        while !rest.is_empty() {
            let inner = if into.len() == before { "" } else { "##" };
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let longest = ends.into_iter().find_map(|end| {
                let piece = self.pieces.get(format!("{inner}{}", &rest[..end]).as_str())?;
                Some((*piece, end))
            });
            match longest {
                Some((piece, end)) => {
                    into.push(piece);
                    rest = &rest[end..];
                }
                // A word of which a part is unknown is unknown.
                None => {
                    into.truncate(before);
                    into.push(self.unknown);
                    return;
                }
            }
        }
    }
}

type Vocabulary = (HashMap<Box<str>, u32>, Case);

fn from_json(json: &Value) -> Result<Vocabulary, ModelError> {
    let model = &json["model"];
    if model["type"].as_str().is_some_and(|kind| kind != "WordPiece") {
        return Err(failed("it is not made of word pieces"));
    }
    let entries = model["vocab"].as_object().ok_or_else(|| failed("it has no vocabulary"))?;
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let pieces = entries.iter().map(|(piece, value)| Some((Box::from(piece.as_str()), number(value)?)));
    let pieces: Option<_> = pieces.collect();
    let case = match json["normalizer"]["lowercase"].as_bool() {
        Some(false) => Case::Kept,
        _ => Case::Ignored,
    };
    Ok((pieces.ok_or_else(|| failed("a piece has no number"))?, case))
}

fn from_lines(text: &str) -> Vocabulary {
    let pieces: HashMap<Box<str>, u32> =
        (0..).zip(text.lines()).map(|(number, line)| (line.trim_end().into(), number)).collect();
    // A vocabulary with words in capitals is one that tells them apart.
    let has_capitals =
        pieces.keys().any(|piece| !piece.starts_with('[') && piece.chars().any(char::is_uppercase));
    (pieces, if has_capitals { Case::Kept } else { Case::Ignored })
}

/// Words and single signs.
fn split(text: &str, case: Case) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut letter = |c: char| {
        let stands_alone = is_sign(c) || is_ideograph(c);
        if (c.is_whitespace() || stands_alone) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if stands_alone {
            words.push(c.to_string());
        } else if !c.is_whitespace() {
            word.push(c);
        }
    };
    // What cannot be seen is no part of a word.
    let seen = text.chars().filter(|c| c.is_whitespace() || !c.is_control() && *c != '\u{fffd}');
    match case {
        Case::Kept => seen.for_each(&mut letter),
        Case::Ignored => {
            let bare = seen.flat_map(char::to_lowercase).nfd().filter(|c| !is_combining_mark(*c));
            bare.for_each(&mut letter);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}')
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}')
}

/// Languages without spaces: every sign is a word.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

fn failed(why: impl Into<String>) -> ModelError {
    ModelError::Vocabulary(why.into())
}
