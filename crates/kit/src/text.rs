//! Text as we measure, cut and show it. Pure functions; nothing here knows where text comes from.

/// The estimate of tokens that every tool uses: `ceil(bytes / 4)`.
pub fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

/// The longest prefix of at most `max` bytes that ends on a character boundary.
pub fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The longest suffix of at most `max` bytes that starts on a character boundary.
pub fn tail(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// At most `max` bytes of `text`: unchanged if it fits, else its beginning and its end around a marker line
/// that says how much is missing. `more` says how to get the rest. The marker itself comes on top of `max`.
pub fn clip(text: &str, max: usize, more: &str) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let first = head(text, max.div_ceil(2));
    let last = tail(text, max - first.len());
    let missing = text.len() - first.len() - last.len();
    format!("{first}{}{last}", marker(missing as u64, more))
}

/// The line that stands where bytes were left out.
pub fn marker(missing: u64, more: &str) -> String {
    let separator = if more.is_empty() { "" } else { "; " };
    format!("\n[… {} bytes left out{separator}{more} …]\n", thousands(missing))
}

/// One line that cannot drive a terminal: control characters (C0, DEL, C1), bidirectional overrides,
/// zero-width marks and line separators are dropped; a tab or newline becomes a space.
pub fn plain(text: &str) -> String {
    text.chars().filter_map(|c| if matches!(c, '\n' | '\t') { Some(' ') } else { visible(c) }).collect()
}

/// Like [`plain`], but tabs and newlines stay.
pub fn plain_lines(text: &str) -> String {
    text.chars().filter_map(|c| if matches!(c, '\n' | '\t') { Some(c) } else { visible(c) }).collect()
}

fn visible(c: char) -> Option<char> {
    let hidden = c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    (!hidden).then_some(c)
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A JSON string literal, quotes included. For the few lines of JSON that a crate without serde writes.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The nearest of `known` to what was typed, if it is near enough to be meant.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (typed.chars().count() / 2).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (distance(typed, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance in characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_round_up() {
        assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
    }

    #[test]
    fn cuts_never_split_a_character_and_never_exceed_the_cap() {
        let text = "añ日🦀z";
        for max in 0..=text.len() + 2 {
            assert!(head(text, max).len() <= max && text.starts_with(head(text, max)));
            assert!(tail(text, max).len() <= max && text.ends_with(tail(text, max)));
        }
    }

    #[test]
    fn a_clip_keeps_both_ends_and_says_what_is_missing() {
        assert_eq!(clip("short", 10, "x"), "short");
        assert_eq!(
            clip(&"ab".repeat(1000), 8, "read it all"),
            "abab\n[… 1,992 bytes left out; read it all …]\nabab"
        );
        assert_eq!(clip("日日日", 4, ""), "\n[… 6 bytes left out …]\n日");
    }

    #[test]
    fn plain_text_has_nothing_that_drives_a_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\tc\nd\u{9b}e\u{202e}f\u{feff}"), "a[31mb c def");
        assert_eq!(plain_lines("a\r\n\tb\u{7}"), "a\n\tb");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn json_strings_escape_what_json_asks_for() {
        assert_eq!(json_string("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\u0001é\"");
    }

    #[test]
    fn a_typo_finds_its_word_and_nonsense_finds_none() {
        let known = ["doctor", "savings", "tour"];
        assert_eq!(nearest("docotr", known), Some("doctor"));
        assert_eq!(nearest("tuor", known), Some("tour"));
        assert_eq!(nearest("tur", known), Some("tour"));
        assert_eq!(nearest("zzzz", known), None);
    }
}
