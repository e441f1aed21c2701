//! As much of git's configuration format as it takes to find a remote. Files that it includes are not followed.

/// Where `origin` is fetched from, else the first remote that has an address.
pub(super) fn remote_url(text: &str) -> Option<String> {
    let mut first = None;
    for (section, key, value) in settings(text) {
        let Section::Remote(name) = section else { continue };
        if !key.eq_ignore_ascii_case("url") || value.is_empty() {
            continue;
        }
        if name == "origin" {
            return Some(value);
        }
        first = first.or(Some(value));
    }
    first
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    Remote(String),
    Other,
}

fn settings(text: &str) -> Vec<(Section, String, String)> {
    let mut found = Vec::new();
    let mut section = Section::Other;
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            (section, rest) = read_header(header);
        } else if rest.starts_with(['#', ';']) {
            rest = next_line(rest);
        } else {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            match after.trim_start_matches([' ', '\t']).strip_prefix('=') {
                Some(value) => {
                    let (value, after) = read_value(value);
                    found.push((section.clone(), key.to_owned(), value));
                    rest = after;
                }
                // A switch without a value, or no configuration at all.
                None => rest = next_line(after),
            }
        }
    }
    found
}

/// `remote "origin"]` or, as it was written long ago, `remote.origin]`; and what follows.
fn read_header(text: &str) -> (Section, &str) {
    let mut name = String::new();
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return (Section::Other, &text[at..]),
            ']' if !quoted => {
                let remote =
                    name.get(..6).filter(|kind| kind.eq_ignore_ascii_case("remote")).map(|_| &name[6..]);
                let remote = remote.and_then(|name| name.strip_prefix(['\u{1}', '.']));
                let section = remote.map_or(Section::Other, |name| Section::Remote(name.to_owned()));
                return (section, &text[at + 1..]);
            }
            '"' => {
                // Marks where the name begins: it may begin with a dot or a space of its own.
                if !quoted {
                    name.truncate(name.trim_end().len());
                    name.push('\u{1}');
                }
                quoted = !quoted;
            }
            '\\' if quoted => name.extend(chars.next().map(|(_, c)| c).filter(|c| *c != '\n')),
            c => name.push(c),
        }
    }
    (Section::Other, "")
}

/// A value with its quotes, escapes and continued lines resolved; and what follows it.
fn read_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    // As long as the value is if it ends here: blanks at the end count only inside quotes.
    let mut kept = 0;
    let mut quoted = false;
    let mut chars = text.char_indices();
    let mut rest = "";
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => {
                rest = &text[at..];
                break;
            }
            '#' | ';' if !quoted => {
                rest = next_line(&text[at..]);
                break;
            }
            '"' => {
                quoted = !quoted;
                kept = value.len();
            }
            '\\' => {
                match chars.next().map(|(_, c)| c) {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some('\n') | None => {}
                    Some(c) => value.push(c),
                }
                kept = value.len();
            }
            '\r' if text[at + 1..].starts_with('\n') => {}
            c if c.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
            }
            c => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, rest)
}

fn next_line(text: &str) -> &str {
    text.find('\n').map_or("", |end| &text[end + 1..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(config: &str, expected: Option<&str>) {
        assert_eq!(remote_url(config).as_deref(), expected, "{config}");
    }

    #[test]
    fn origin_comes_before_the_first_remote() {
        let fork = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = a@b:fork\n";
        check(fork, Some("a@b:fork"));
        let both = format!("{fork}[remote \"origin\"]\n\turl = https://h/p.git\n\tfetch = +refs/*:refs/*\n");
        check(&both, Some("https://h/p.git"));
        check(&format!("{both}\turl = second\n"), Some("https://h/p.git"));
        check("[branch \"main\"]\n\tremote = origin\n[url \"x\"]\n\turl = y\n", None);
        check("", None);
    }

    #[test]
    fn the_format_has_its_oddities() {
        check("[remote \"origin\"] url = one # two\n", Some("one"));
        check("[REMOTE \"origin\"]\nURL=\"a # b\" ; c\n", Some("a # b"));
        check("[remote.origin]\nurl = old\n", Some("old"));
        check("[remote \"origin\"]\nurl = a\\\nb\n", Some("ab"));
        check("[remote \"origin\"]\r\nurl = x\r\n", Some("x"));
        check("[remote \"origin\"]\npushurl = p\nmirror\nurl = \n", None);
        check("[remote \"a \\\"b]\"]\nurl = x\n", Some("x"));
        check("; [remote \"origin\"]\n[remote \"ORIGIN\"]\nurl=other\n[remote \"origin\"]\nurl=x", Some("x"));
        // What looks like a section is the continued value of something else.
        check("[core]\neditor = vi \\\n[remote \"origin\"]\nurl = x\n", None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "(?s)([\\[\\]\"\\\\\n\r#;= a-z]|.){0,200}") {
            let _ = remote_url(&text);
        }
    }
}
