//! Languages in which a keyword introduces every function: from the keyword the header is read forward, to the brace
//! that opens the body or to what shows that there is none. What each language does is its table and its readers.

mod readers;

use std::collections::HashMap;

use super::code::{Code, LONGEST_HEADER};
use super::definition::{Definition, Kind};
use readers::Reader;

pub(super) struct IntroducedTable {
    functions: &'static [(&'static str, Reader)],
    /// Keywords of functions and types that may have no braces, so that we do not know where they end.
    braceless: &'static [&'static str],
    /// Keywords before a name and members.
    containers: &'static [&'static str],
    container_header: Rule,
    /// Words that may stand before either and belong to it.
    modifiers: &'static [&'static str],
    /// Whether `->` stands before the names of members.
    arrow_members: bool,
    /// Groups that are not code, by the index at which one begins; answers the index after it.
    skip: fn(&Code, usize) -> Option<usize>,
}

/// How a header goes on from a name to its brace.
struct Rule {
    /// Punctuation that shows that no body comes.
    stops: &'static [u8],
    /// Whether braces between `<` and `>` belong to types.
    angles: bool,
    lines: Lines,
    /// Words after which a brace belongs to a type.
    type_words: &'static [&'static str],
}

enum Lines {
    Free,
    /// A line end ends the header, unless the token after or before it shows that it goes on.
    End {
        next: &'static [&'static str],
        previous: &'static [&'static str],
    },
}

/// A function's name and the index of its opening brace.
struct Header {
    name: String,
    open: usize,
}

/// What a pair of braces holds, where that decides what a word inside means.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    Members,
    /// The accessors of a property with this name.
    Accessors(String),
}

struct Finder<'a> {
    code: &'a Code<'a>,
    places: HashMap<usize, Place>,
}

/// The definitions, and the lines of others whose ends we do not know.
pub(super) fn find(code: &Code, table: &'static IntroducedTable) -> (Vec<Definition>, Vec<usize>) {
    let mut finder = Finder { code, places: HashMap::new() };
    let (mut found, mut pinned) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < code.len() {
        let word = code.word(at);
        if !word.is_empty() && !is_member(code, table, at) {
            if let Some((_, reader)) = table.functions.iter().find(|(keyword, _)| *keyword == word) {
                match reader(&mut finder, at) {
                    Some(Header { name, open }) => {
                        let first = start(code, table, at);
                        found.push(code.definition(&name, Kind::Declared, first, open));
                    }
                    None if table.braceless.contains(&word) => pinned.push(code.line(at)),
                    None => {}
                }
            } else if table.braceless.contains(&word) {
                pinned.push(code.line(at));
            } else if table.containers.contains(&word) {
                match finder.container(table, at) {
                    Some((name, open)) => found.push(code.container(name, start(code, table, at), open)),
                    None if code.is_word(at + 1) || code.punct(at + 1) == b'(' => pinned.push(code.line(at)),
                    None => {}
                }
            }
        }
        at = (table.skip)(code, at).unwrap_or(at + 1);
    }
    (found, pinned)
}

/// Whether a word is the name of something inside something else, and so no keyword.
fn is_member(code: &Code, table: &IntroducedTable, at: usize) -> bool {
    let after = |pair: [u8; 2]| at > 1 && code.pair(at - 2, pair);
    let arrow = table.arrow_members && after(*b"->");
    arrow || after(*b"::") || matches!(code.punct_before(at), b'.' | b'\\')
}

impl<'a> Finder<'a> {
    /// The name and the brace of a class and its like. Remembers the brace as one with members.
    fn container(&mut self, table: &IntroducedTable, at: usize) -> Option<(&'a str, usize)> {
        let name_at = if self.code.punct(at + 1) == b'!' { at + 2 } else { at + 1 };
        let name = self.code.word(name_at);
        if table.containers.contains(&name) || table.functions.iter().any(|(word, _)| *word == name) {
            return None;
        }
        let open = match self.code.punct(name_at + 1) {
            // A macro's rules may stand in any brackets.
            b'(' | b'[' if name_at > at + 1 => name_at + 1,
            _ => self.body(name_at, &table.container_header)?,
        };
        self.places.insert(open, Place::Members);
        // A class without a name may still have ancestors.
        (!matches!(name, "" | "extends" | "implements")).then_some((name, open))
    }

    /// The brace that ends a header, from somewhere inside it on.
    fn body(&self, from: usize, rule: &Rule) -> Option<usize> {
        let (code, mut at, mut angles) = (self.code, from, 0usize);
        for _ in 0..LONGEST_HEADER {
            if at >= code.len() || rule.ends_before(code, at) {
                return None;
            }
            match code.punct(at) {
                b'{' if angles == 0 && !rule.type_words.contains(&code.word_before(at)) => return Some(at),
                b'<' if rule.angles => angles += 1,
                b'>' if rule.angles && !matches!(code.punct_before(at), b'-' | b'=') => {
                    angles = angles.saturating_sub(1);
                }
                b')' | b']' | b'}' => return None,
                byte if angles == 0 && rule.stops.contains(&byte) => return None,
                _ => {}
            }
            at = code.after(at);
        }
        None
    }

    fn place_around(&self, at: usize) -> Option<&Place> {
        self.places.get(&self.code.around(at)?)
    }
}

impl Rule {
    fn ends_before(&self, code: &Code, at: usize) -> bool {
        match &self.lines {
            Lines::End { next, previous } if code.starts_line(at) => {
                !next.contains(&code.span(at, at)) && !previous.contains(&code.span(at - 1, at - 1))
            }
            _ => false,
        }
    }
}

/// Where a definition begins, with its attributes and modifiers.
fn start(code: &Code, table: &IntroducedTable, keyword: usize) -> usize {
    let mut first = keyword;
    while let Some(last) = first.checked_sub(1) {
        let group = code.back(last);
        let before_group = group.checked_sub(1);
        let annotation = |at: usize| code.is_word(at) && code.punct_before(at) == b'@';
        first = if table.modifiers.contains(&code.word(last)) {
            last
        } else if annotation(last) {
            last - 1
        } else if let (b')', Some(before)) = (code.punct(last), before_group) {
            match () {
                () if annotation(before) => before - 1,
                () if table.modifiers.contains(&code.word(before)) => before,
                () => break,
            }
        } else if code.punct(last) == b']' && before_group.is_some_and(|before| code.punct(before) == b'#') {
            group - 1
        } else if code.is_literal(last) && code.word_before(last) == "extern" {
            last - 1
        } else {
            break;
        };
    }
    first
}

fn skip_nothing(_: &Code, _: usize) -> Option<usize> {
    None
}

/// The arguments of a macro are whatever the macro makes of them.
fn skip_macro_call(code: &Code, at: usize) -> Option<usize> {
    let bang = at + 1;
    if !code.is_word(at) || code.punct(bang) != b'!' || !code.adjacent(at) {
        return None;
    }
    let group = if code.is_word(bang + 1) { bang + 2 } else { bang + 1 };
    matches!(code.punct(group), b'(' | b'[' | b'{').then(|| code.after(group))
}

const FREE: Rule = Rule { stops: b";", angles: false, lines: Lines::Free, type_words: &[] };
const RUST_HEADER: Rule = Rule { angles: true, ..FREE };
const GO_HEADER: Rule = Rule {
    stops: b";=",
    lines: Lines::End { next: &[], previous: &[] },
    type_words: &["interface", "struct"],
    ..FREE
};
/// After the name of a type its own `struct` or `interface` comes.
const GO_TYPE: Rule = Rule { type_words: &[], ..GO_HEADER };
const KOTLIN_HEADER: Rule = Rule {
    stops: b";=",
    lines: Lines::End {
        next: &["{", ":", "where", "=", ",", "(", "constructor"],
        previous: &[":", ",", "where", "constructor"],
    },
    ..FREE
};
const SWIFT_HEADER: Rule = Rule {
    stops: b";=",
    lines: Lines::End {
        next: &["{", ":", "-", "where", "async", "throws", "rethrows", ",", "&"],
        previous: &[":", ",", "where", "&", "throws", "async"],
    },
    ..FREE
};
const SCALA_HEADER: Rule = Rule {
    stops: b";=",
    lines: Lines::End {
        next: &["{", "extends", "with", "derives", "(", ","],
        previous: &["extends", "with", "derives", ","],
    },
    ..FREE
};

pub(super) const RUST: IntroducedTable = IntroducedTable {
    functions: &[("fn", readers::rust_fn)],
    braceless: &["type"],
    containers: &["struct", "enum", "union", "trait", "mod", "macro_rules"],
    container_header: RUST_HEADER,
    modifiers: &["pub", "const", "async", "unsafe", "extern", "default", "safe", "auto", "gen"],
    arrow_members: false,
    skip: skip_macro_call,
};

pub(super) const GO: IntroducedTable = IntroducedTable {
    functions: &[("func", readers::go_func)],
    braceless: &[],
    containers: &["type"],
    container_header: GO_TYPE,
    modifiers: &[],
    arrow_members: false,
    skip: skip_nothing,
};

#[rustfmt::skip]
pub(super) const KOTLIN: IntroducedTable = IntroducedTable {
    functions: &[
        ("fun", readers::kotlin_fun), ("init", readers::bare_member), ("constructor", readers::kotlin_constructor),
    ],
    braceless: &["fun"],
    containers: &["class", "interface", "object"],
    container_header: KOTLIN_HEADER,
    modifiers: &[
        "public", "private", "protected", "internal", "open", "abstract", "final", "override", "suspend", "inline",
        "tailrec", "operator", "infix", "external", "data", "sealed", "enum", "annotation", "inner", "value", "companion",
        "expect", "actual", "fun", "const", "lateinit", "noinline", "crossinline",
    ],
    arrow_members: false,
    skip: skip_nothing,
};

#[rustfmt::skip]
pub(super) const SWIFT: IntroducedTable = IntroducedTable {
    functions: &[
        ("func", readers::swift_func), ("init", readers::member), ("deinit", readers::bare_member),
        ("var", readers::swift_property), ("subscript", readers::swift_property), ("get", readers::swift_accessor),
        ("set", readers::swift_accessor), ("willSet", readers::swift_accessor), ("didSet", readers::swift_accessor),
    ],
    braceless: &["typealias"],
    containers: &["class", "struct", "enum", "protocol", "extension", "actor"],
    container_header: SWIFT_HEADER,
    modifiers: &[
        "public", "private", "fileprivate", "internal", "open", "package", "static", "class", "final", "override",
        "mutating", "nonmutating", "required", "convenience", "indirect", "lazy", "weak", "unowned", "dynamic",
        "optional", "prefix", "postfix", "infix", "nonisolated", "isolated", "distributed", "consuming", "borrowing",
    ],
    arrow_members: false,
    skip: skip_nothing,
};

#[rustfmt::skip]
pub(super) const SCALA: IntroducedTable = IntroducedTable {
    functions: &[("def", readers::scala_def)],
    braceless: &["def", "type"],
    containers: &["class", "trait", "object", "enum"],
    container_header: SCALA_HEADER,
    modifiers: &[
        "private", "protected", "override", "final", "sealed", "abstract", "implicit", "lazy", "case", "inline",
        "transparent", "open", "infix", "opaque",
    ],
    arrow_members: false,
    skip: skip_nothing,
};

pub(super) const PHP: IntroducedTable = IntroducedTable {
    functions: &[("function", readers::php_function)],
    braceless: &[],
    containers: &["class", "interface", "trait", "enum"],
    container_header: FREE,
    modifiers: &["public", "private", "protected", "static", "abstract", "final", "readonly"],
    arrow_members: true,
    skip: skip_nothing,
};
