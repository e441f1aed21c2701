//! What the tokens before a brace declare. Every token must be accounted for; one that is not makes the header unknown.

use super::{Code, DeclaredTable, LONGEST_HEADER, Members};

pub(super) enum Meaning<'a> {
    Function(&'a str),
    /// The name is empty where there is none.
    Container(&'a str),
    Property(&'a str),
    /// The brace belongs to a member's initial value in a header that goes on.
    Initialiser,
    Unknown,
}

/// The indices of a header's tokens: without annotations, template parameters and type arguments, and with every
/// bracketed group as its opening bracket alone.
struct Header<'c, 'a> {
    code: &'c Code<'a>,
    table: &'static DeclaredTable,
    items: Vec<usize>,
}

pub(super) fn meaning<'a>(
    code: &Code<'a>,
    table: &'static DeclaredTable,
    members: &Members<'a>,
    first: usize,
    open: usize,
) -> Meaning<'a> {
    let Some(header) = Header::new(code, table, first, open) else { return Meaning::Unknown };
    if header.items.is_empty() || header.any_word(table.statements) {
        return Meaning::Unknown;
    }
    if members.accessors {
        return if header.is_accessor() { Meaning::Function(members.name) } else { Meaning::Unknown };
    }
    let known = header.test().or_else(|| header.container()).or_else(|| header.function(members.name, open));
    known.unwrap_or_else(|| header.property())
}

impl<'a> Header<'_, 'a> {
    fn new<'c>(
        code: &'c Code<'a>,
        table: &'static DeclaredTable,
        first: usize,
        open: usize,
    ) -> Option<Header<'c, 'a>> {
        let (mut items, mut at) = (Vec::new(), first);
        while at < open {
            // In `operator<<` and `operator[]` the signs are the name.
            let named = items.iter().rev().take_while(|item| code.punct(**item) != b'(');
            let operator = table.initialisers && named.take(4).any(|item| code.word(*item) == "operator");
            match code.punct(at) {
                b'@' if code.word(at + 1) != "interface" => {
                    at = after_annotation(code, at);
                    continue;
                }
                b'@' => {}
                b'<' if !operator => {
                    at = after_angles(code, at, open)?;
                    continue;
                }
                b'[' if !operator => {}
                _ => items.push(at),
            }
            if items.len() > LONGEST_HEADER {
                return None;
            }
            at = code.after(at);
        }
        Some(Header { code, table, items })
    }

    fn word(&self, item: usize) -> &'a str {
        self.items.get(item).map_or("", |at| self.code.word(*at))
    }

    fn punct(&self, item: usize) -> u8 {
        self.items.get(item).map_or(0, |at| self.code.punct(*at))
    }

    fn any_word(&self, words: &[&str]) -> bool {
        self.items.iter().any(|at| words.contains(&self.code.word(*at)))
    }

    /// Nothing but modifiers before `get` and its like.
    fn is_accessor(&self) -> bool {
        let last = self.items.len() - 1;
        self.table.accessors.contains(&self.word(last))
            && (0..last).all(|item| self.table.modifiers.contains(&self.word(item)))
    }

    /// `TEST_F(Suite, name) {`
    fn test(&self) -> Option<Meaning<'a>> {
        let [called, arguments] = self.items[..] else { return None };
        let name = self.code.partner(arguments).checked_sub(1)?;
        let named = self.code.punct(arguments) == b'(' && self.code.punct_before(name) == b',';
        let test = self.table.tests.contains(&self.code.word(called)) && named && self.code.is_word(name);
        test.then(|| Meaning::Function(self.code.word(name)))
    }

    /// `class Name … {`, `namespace a::b {`, `extern "C" {`
    fn container(&self) -> Option<Meaning<'a>> {
        let (code, table) = (self.code, self.table);
        if self.word(0) == "extern" && self.items.len() == 2 && code.is_literal(self.items[1]) {
            return Some(Meaning::Container(""));
        }
        let keyword = (0..self.items.len()).find(|item| table.containers.contains(&self.word(*item)))?;
        let harmless =
            |item: usize| self.is_modifier(item) || self.is_attribute(item) || self.is_argument(item);
        if !(0..keyword).all(harmless) {
            return None;
        }
        let mut name = keyword + 1;
        while table.containers.contains(&self.word(name)) {
            name += 1;
        }
        if table.last_word_names {
            // Parentheses after anything but an attribute are parameters: a function that returns a struct.
            let parameters = |item: usize| self.punct(item) == b'(' && !self.is_argument(item);
            if (1..self.items.len()).any(parameters) || self.punct_anywhere(b'=') {
                return None;
            }
            let named = |item: &usize| !matches!(self.word(*item), "" | "final");
            let base =
                (name..self.items.len()).find(|item| self.is_single_colon(*item)).unwrap_or(self.items.len());
            name = (name..base).rev().find(named).unwrap_or(self.items.len());
        }
        Some(Meaning::Container(self.word(name)))
    }

    /// A type, a name, parameters and what may follow them; the type may be missing for constructors.
    fn function(&self, container: &str, open: usize) -> Option<Meaning<'a>> {
        let (name, parameters) = self.name_and_parameters()?;
        let before_ok = (0..name).all(|item| {
            self.is_modifier(item)
                || !self.word(item).is_empty()
                || matches!(self.punct(item), b'*' | b'&' | b'.' | b'?' | b'~')
                || (self.punct(item) == b':' && !self.is_single_colon(item))
                || self.is_argument(item)
                || self.is_tuple(item)
        });
        if !before_ok {
            return None;
        }
        let text = self.word(name);
        let qualified = name >= 3 && self.punct(name - 1) == b':' && self.word(name - 3) == text;
        let destroys = name >= 1 && self.punct(name - 1) == b'~';
        let is_type = |item: usize| !self.word(item).is_empty() && !self.is_qualifier(item, name);
        let typed = (0..name).any(|item| is_type(item) || self.is_tuple(item));
        if !(text == container || qualified || destroys || text == "operator" || typed) {
            return None;
        }
        let first = self.items[if destroys { name - 1 } else { name }];
        let symbol = self.code.span(first, self.code.after(self.items[parameters - 1]) - 1);
        match self.trailer(parameters + 1, open)? {
            true => Some(Meaning::Function(symbol)),
            false => Some(Meaning::Initialiser),
        }
    }

    /// The first word before parentheses that are parameters; for operators, what they are called.
    fn name_and_parameters(&self) -> Option<(usize, usize)> {
        if let Some(operator) = (0..self.items.len()).find(|item| self.word(*item) == "operator") {
            let called = self.punct(operator + 1) == b'(' && self.punct(operator + 2) == b'(';
            let from = if called { operator + 2 } else { operator + 1 };
            let parameters = (from..self.items.len()).find(|item| self.punct(*item) == b'(')?;
            return Some((operator, parameters));
        }
        let named = |item: &usize| {
            let word = self.word(item - 1);
            self.punct(*item) == b'('
                && !word.is_empty()
                && !self.is_attribute(item - 1)
                && !self.is_modifier(item - 1)
        };
        (1..self.items.len()).find(named).map(|parameters| (parameters - 1, parameters))
    }

    /// Whether what follows the parameters leads to a body (true) or into a list of initial values (false).
    fn trailer(&self, from: usize, open: usize) -> Option<bool> {
        let mut item = from;
        while item < self.items.len() {
            let (word, punct) = (self.word(item), self.punct(item));
            match (word, punct) {
                // The rest of these is types and constraints, which have no bodies.
                ("throws" | "where", _) if self.table.trailers.contains(&word) => {
                    return (!self.items[item..].iter().any(|at| self.code.punct(*at) == b'='))
                        .then_some(true);
                }
                (_, b':') if self.table.initialisers && self.is_single_colon(item) => {
                    let before = open.checked_sub(1)?;
                    let member = self.code.is_word(before) || self.code.punct(before) == b'>';
                    return Some(!member || self.word(item + 1) == "where");
                }
                (_, b'-') if self.punct(item + 1) == b'>' => return Some(true),
                (_, b'&') => {}
                _ if self.is_argument(item) => {}
                _ if self.table.trailers.contains(&word) || self.is_attribute(item) => {}
                _ => return None,
            }
            item += 1;
        }
        Some(true)
    }

    /// `Type Name {`, where accessors follow.
    fn property(&self) -> Meaning<'a> {
        let name = self.word(self.items.len() - 1);
        let plain =
            |at: &usize| self.code.is_word(*at) || matches!(self.code.punct(*at), b'.' | b'?' | b'(' | b':');
        if self.table.accessors.is_empty() || name.is_empty() || !self.items.iter().all(plain) {
            return Meaning::Unknown;
        }
        Meaning::Property(name)
    }

    fn is_modifier(&self, item: usize) -> bool {
        let annotated = self.punct(item) == b'-' || self.code.is_literal(self.items[item]);
        self.table.modifiers.contains(&self.word(item)) || annotated
    }

    /// Words that alone do not make a type: what stands before a `::`, and what can stand before a constructor.
    fn is_qualifier(&self, item: usize, name: usize) -> bool {
        let scope = item + 1 < name && self.punct(item + 1) == b':';
        let weak =
            ["static", "extern", "inline", "virtual", "explicit", "friend", "public", "private", "protected"];
        scope || weak.contains(&self.word(item))
    }

    /// A known attribute, or a word that is written like a macro.
    fn is_attribute(&self, item: usize) -> bool {
        let word = self.word(item);
        let shouts = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        self.table.attributes.contains(&word)
            || (self.table.last_word_names && word.len() > 2 && word.bytes().all(shouts))
    }

    /// The parentheses after an attribute.
    fn is_argument(&self, item: usize) -> bool {
        self.punct(item) == b'(' && item > 0 && self.is_attribute(item - 1)
    }

    /// Where there are properties, types in parentheses are a type.
    fn is_tuple(&self, item: usize) -> bool {
        self.punct(item) == b'(' && !self.table.accessors.is_empty()
    }

    fn is_single_colon(&self, item: usize) -> bool {
        let colon = |item: usize| self.punct(item) == b':';
        colon(item) && !colon(item + 1) && !(item > 0 && colon(item - 1))
    }

    fn punct_anywhere(&self, byte: u8) -> bool {
        self.items.iter().any(|at| self.code.punct(*at) == byte)
    }
}

/// `@name.of(…)`
fn after_annotation(code: &Code, at: usize) -> usize {
    let mut next = at + 2;
    while code.punct(next) == b'.' {
        next += 2;
    }
    if code.punct(next) == b'(' { code.after(next) } else { next }
}

/// The index after `<…>`, if it ends before the brace.
pub(super) fn after_angles(code: &Code, from: usize, open: usize) -> Option<usize> {
    let (mut at, mut angles) = (from, 0usize);
    while at < open {
        match code.punct(at) {
            b'<' => angles += 1,
            b'>' if code.punct_before(at) != b'-' => angles -= 1,
            b';' => return None,
            _ => {}
        }
        at = code.after(at);
        if angles == 0 {
            return Some(at);
        }
    }
    None
}
