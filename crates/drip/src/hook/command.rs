//! A shell command that does nothing but show a file: a lone `cat`, `head`, `tail` or `sed -n`. Pure, and strict: where
//! the shell would do anything to a word but take its quotes off, the command is not ours to answer.

use crate::lines::Span;

/// A file, and which lines of it the command prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shows {
    pub(super) path: String,
    pub(super) lines: Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    All,
    First(usize),
    Last(usize),
    From(usize),
    Span(Span),
}

impl Lines {
    /// The lines that are asked for of a text with this many; nothing means all.
    pub(super) fn asked(self, count: usize) -> Option<Span> {
        const END: usize = usize::MAX - 1;
        match self {
            Lines::All => None,
            Lines::First(most) => Span::new(1, most),
            Lines::Last(most) => Span::new(count.saturating_sub(most) + 1, END),
            Lines::From(first) => Span::new(first, END),
            Lines::Span(span) => Some(span),
        }
    }
}

/// What a command shows, if that is all it does.
pub(super) fn parse(command: &str) -> Option<Shows> {
    let words = words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (program, args) = words.split_first()?;
    let (lines, rest) = match *program {
        "cat" => (Lines::All, args),
        "head" => count(args, |number| number.parse().ok().map(Lines::First))?,
        "tail" => count(args, |number| match number.strip_prefix('+') {
            Some(first) => first.parse().ok().map(|first: usize| Lines::From(first.max(1))),
            None => number.parse().ok().map(Lines::Last),
        })?,
        "sed" => match args {
            ["-n", script, rest @ ..] => (script_lines(script)?, rest),
            _ => return None,
        },
        _ => return None,
    };
    let path = match rest {
        ["--", path] => path,
        [path] if !path.starts_with('-') => path,
        _ => return None,
    };
    let lines = match lines {
        // Nothing is shown by these, and nothing can be said about it.
        Lines::First(0) | Lines::Last(0) => return None,
        Lines::First(_) | Lines::Last(_) | Lines::From(_) | Lines::Span(_) | Lines::All => lines,
    };
    (!path.is_empty() && *path != "-").then(|| Shows { path: (*path).to_owned(), lines })
}

/// `-n N`, `-nN`, `-N`, `--lines=N` or nothing, and what follows.
fn count<'a>(args: &'a [&'a str], lines: impl Fn(&str) -> Option<Lines>) -> Option<(Lines, &'a [&'a str])> {
    // `parse` would take a sign, and these commands give it another meaning.
    let number = |text: &str| {
        let digits = text.strip_prefix('+').unwrap_or(text);
        digits.starts_with(|c: char| c.is_ascii_digit()).then(|| lines(text)).flatten()
    };
    match args {
        ["-n" | "--lines", count, rest @ ..] => Some((number(count)?, rest)),
        [flag, rest @ ..] if flag.starts_with('-') && *flag != "--" => {
            let count = ["--lines=", "-n", "-"].iter().find_map(|prefix| flag.strip_prefix(prefix))?;
            Some((number(count)?, rest))
        }
        _ => Some((lines("10")?, args)),
    }
}

/// `Ap`, `A,Bp` or `A,$p`.
fn script_lines(script: &str) -> Option<Lines> {
    let digits = |text: &str| -> Option<usize> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    };
    let range = script.strip_suffix('p')?;
    match range.split_once(',') {
        None => digits(range).and_then(|line| Span::new(line, line)).map(Lines::Span),
        Some((first, "$")) => digits(first).filter(|first| *first > 0).map(Lines::From),
        Some((first, last)) => Span::new(digits(first)?, digits(last)?).map(Lines::Span),
    }
}

/// The words of a command in which the shell finds nothing to do but quotes.
fn words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.trim_matches([' ', '\t', '\n']).chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' | '!' if c == '"' => return None,
                        '\0' | '\n' | '\r' => return None,
                        quoted => word.push(quoted),
                    }
                }
            }
            // At the beginning of a word it means something to some shells.
            '=' if word.is_some() => word.get_or_insert_default().push(c),
            c if c.is_alphanumeric() || "/._-+:@%,".contains(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(command: &str) -> Option<(String, Lines)> {
        parse(command).map(|Shows { path, lines }| (path, lines))
    }

    #[test]
    fn lone_reading_commands_are_understood() {
        let span = |first, last| Lines::Span(Span { first, last });
        for (command, path, lines) in [
            ("cat a.txt", "a.txt", Lines::All),
            ("  cat   /x/a.txt \n", "/x/a.txt", Lines::All),
            ("cat 'my file'", "my file", Lines::All),
            ("cat \"it's\"", "it's", Lines::All),
            ("cat -- -odd", "-odd", Lines::All),
            ("cat src/'a b'.rs", "src/a b.rs", Lines::All),
            ("head a", "a", Lines::First(10)),
            ("head -n 5 a", "a", Lines::First(5)),
            ("head -n5 a", "a", Lines::First(5)),
            ("head -5 a", "a", Lines::First(5)),
            ("head --lines=5 a", "a", Lines::First(5)),
            ("tail a", "a", Lines::Last(10)),
            ("tail -n 3 -- a", "a", Lines::Last(3)),
            ("tail -n +7 a", "a", Lines::From(7)),
            ("sed -n 3,9p a", "a", span(3, 9)),
            ("sed -n '3,9p' a", "a", span(3, 9)),
            ("sed -n 4p a", "a", span(4, 4)),
            ("sed -n '4,$p' a", "a", Lines::From(4)),
        ] {
            assert_eq!(shows(command), Some((path.to_owned(), lines)), "{command}");
        }
    }

    #[test]
    fn whatever_else_a_shell_might_do_is_left_alone() {
        for command in [
            "",
            "cat",
            "cat a b",
            "cat -n a",
            "cat -",
            "cat ''",
            "cat a | wc",
            "cat a > b",
            "cat < a",
            "cat a; ls",
            "cat a && ls",
            "cat a &",
            "cat *.rs",
            "cat a?",
            "cat [ab]",
            "cat {a,b}",
            "cat $HOME/a",
            "cat \"$HOME/a\"",
            "cat `ls`",
            "cat ~/a",
            "cat a\\ b",
            "cat 'a",
            "cat a # no",
            "cat a\nls",
            "X=1 cat a",
            "cat =ls",
            "(cat a)",
            "! cat a",
            "sudo cat a",
            "head -c 5 a",
            "head -n -5 a",
            "head -n 0 a",
            "head -q a",
            "head -n 99999999999999999999999 a",
            "tail -f a",
            "tail -n 2 a b",
            "sed 3p a",
            "sed -n a",
            "sed -n /x/p a",
            "sed -n 9,3p a",
            "sed -n 0p a",
            "sed -n '3p;5p' a",
            "sed -n 3,+2p a",
            "sed -i -n 3p a",
            "bat a",
        ] {
            assert_eq!(shows(command), None, "{command}");
        }
    }

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        let asked = |lines: Lines| lines.asked(20).map(|span| (span.first, span.last.min(20)));
        assert_eq!(asked(Lines::Last(5)), Some((16, 20)));
        assert_eq!(asked(Lines::Last(50)), Some((1, 20)));
        assert_eq!(asked(Lines::From(18)), Some((18, 20)));
        assert_eq!(asked(Lines::All), None);
    }
}
