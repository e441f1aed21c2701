//! What a word is to the search, on both sides: a run of letters and digits, in whatever case. Scripts that put no space
//! between words are searched by their characters. Pure.

/// What is searched for: entries that have all of these words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Folded, each once, the rarest looking first.
    words: Vec<String>,
}

impl Query {
    /// Without a word in it, it finds nothing.
    pub fn new(text: &str) -> Query {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let mut seen = std::collections::HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        Query { words }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn matches(&self, text: &str) -> bool {
        let mut left: Vec<&String> = self.words.iter().collect();
        let any = !left.is_empty();
        each(text, |word| left.retain(|wanted| *wanted != word));
        any && left.is_empty()
    }
}

/// Calls `with` for each word of `text`, folded.
pub(super) fn each(text: &str, mut with: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
            c if c.is_ascii() || !c.is_alphanumeric() => end(&mut word, &mut with),
            c if stands_alone(c) => {
                end(&mut word, &mut with);
                word.push(c);
                end(&mut word, &mut with);
            }
            // To capitals and back: `ß` is `ss`, a final sigma is a sigma; marks that come off on the way are no letters.
            c => {
                let folded = c.to_uppercase().flat_map(char::to_lowercase);
                word.extend(folded.filter(|c| c.is_alphanumeric()));
            }
        }
    }
    end(&mut word, &mut with);
}

fn end(word: &mut String, with: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        with(word);
        word.clear();
    }
}

/// Kana and Han characters: a run of them is a sentence, which nobody searches for as a whole.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_any_case() {
        assert_eq!(
            words("Don't  re-read foo_bar.rs; a1 ÄÖ"),
            ["don", "t", "re", "read", "foo", "bar", "rs", "a1", "äö"]
        );
        assert_eq!(
            words("STRASSE Straße ΣΟΦΟΣ σοφος \u{212a}elvin"),
            ["strasse", "strasse", "σοφοσ", "σοφοσ", "kelvin"]
        );
        assert_eq!(words("東京へ行くLinuxで"), ["東", "京", "へ", "行", "く", "linux", "で"]);
        assert!(words(" \n\t—…!").is_empty());
    }

    #[test]
    fn all_words_must_be_there_and_whole() {
        let text = "The quick-brown Fox";
        assert!(
            ["fox", "FOX quick", "brown the fox", "quick brown"]
                .iter()
                .all(|query| Query::new(query).matches(text))
        );
        assert!(
            ["fo", "fox dog", "", "!", "quickbrown"].iter().all(|query| !Query::new(query).matches(text))
        );
    }

    proptest! {
        #[test]
        fn every_text_matches_each_of_its_words_in_any_case(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(Query::new(&word).matches(&text));
                prop_assert!(Query::new(&text).matches(&text));
            }
        }
    }
}
