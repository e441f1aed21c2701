//! Functions in scripts: declared by a keyword, assigned to a name, or members of a class or an object. A callback
//! without a name is never hidden, only searched. Knows types as far as a brace may belong to one.

use std::collections::HashMap;

use super::code::{Code, LONGEST_HEADER};
use super::definition::{Definition, Kind};

/// What a pair of braces holds, where that decides whether a name and parentheses declare a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Class,
    Object,
}

/// A name, and the index of the opening brace of its body.
type Named = (String, usize);

struct Finder<'a> {
    code: &'a Code<'a>,
    places: HashMap<usize, Place>,
}

/// The definitions, and the lines of types that have no braces of their own.
pub(super) fn find(code: &Code) -> (Vec<Definition>, Vec<usize>) {
    let mut finder = Finder { code, places: HashMap::new() };
    let (mut found, mut pinned) = (Vec::new(), Vec::new());
    for at in 0..code.len() {
        if let Some(place) = finder.member_place(at) {
            let kind = if place == Place::Class { Kind::Declared } else { Kind::Assigned };
            let member = finder.member(at, place);
            found.extend(member.map(|(name, open)| code.definition(&name, kind, at, open)));
        }
        let after_dot = code.punct_before(at) == b'.';
        match (code.word(at), code.punct(at)) {
            (_, b'{') => finder.note_object(at),
            (_, b'=' | b':') => {
                let arrow = finder.arrow(at + 1).and_then(|open| Some((finder.value_name(at + 1)?, open)));
                found.extend(arrow.map(|(name, open)| code.definition(&name, Kind::Assigned, at - 1, open)));
            }
            ("function", _) if !after_dot => {
                let function = finder.function(at);
                found.extend(
                    function.map(|(name, kind, open)| code.definition(&name, kind, start(code, at), open)),
                );
            }
            ("class", _) if !after_dot => {
                if let Some(open) = finder.class(at) {
                    let name = Some(code.word(at + 1)).filter(|name| !matches!(*name, "" | "extends"));
                    found.extend(name.map(|name| code.container(name, start(code, at), open)));
                }
            }
            ("interface" | "enum" | "namespace", _) if !after_dot && code.is_word(at + 1) => {
                found.extend(
                    finder.body(at + 2).map(|open| code.container(code.word(at + 1), start(code, at), open)),
                );
            }
            ("type", _) if code.is_word(at + 1) && matches!(code.punct(at + 2), b'=' | b'<') => {
                pinned.push(code.line(at));
            }
            _ => {}
        }
    }
    (found, pinned)
}

impl Finder<'_> {
    /// `function* name<T>(…): T {`, or a name from what it is assigned to.
    fn function(&self, at: usize) -> Option<(String, Kind, usize)> {
        let code = self.code;
        let next = if code.punct(at + 1) == b'*' { at + 2 } else { at + 1 };
        let value = if code.word_before(at) == "async" { at - 1 } else { at };
        let (name, kind, next) = match code.word(next) {
            "" => (self.value_name(value)?, Kind::Assigned, next),
            name => (name.to_owned(), Kind::Declared, next + 1),
        };
        Some((name, kind, self.parameters_and_body(next)?))
    }

    /// Remembers the braces of a class.
    fn class(&mut self, at: usize) -> Option<usize> {
        if !self.code.is_word(at + 1) && self.code.punct(at + 1) != b'{' {
            return None;
        }
        let open = self.body(at + 1)?;
        self.places.insert(open, Place::Class);
        Some(open)
    }

    /// Remembers braces that hold an object: where only a value can stand, or as a value inside another object.
    fn note_object(&mut self, at: usize) {
        let code = self.code;
        let before = at.saturating_sub(1);
        let object = match (code.word_before(at), code.punct_before(at)) {
            ("return" | "default", _) | (_, b'(' | b'[') => true,
            (_, b',') => self.among_arguments(before),
            (_, b'=') => !self.begins_type(before) && !code.pair(at.saturating_sub(2), *b"=>"),
            (_, b':') => self.is_key(before),
            _ => false,
        };
        if object && !self.places.contains_key(&at) {
            self.places.insert(at, Place::Object);
        }
    }

    /// Whether a comma separates arguments or elements, and not the parameters of a type.
    fn among_arguments(&self, comma: usize) -> bool {
        let Some(open) = self.code.around(comma) else { return false };
        let (mut at, mut angles) = (open + 1, 0);
        for _ in 0..LONGEST_HEADER {
            match self.code.punct(at) {
                _ if at >= comma => return angles == 0 && self.code.punct(open) != b'{',
                b'<' => angles += 1,
                b'>' if self.code.punct_before(at) != b'=' => angles -= 1,
                _ => {}
            }
            at = self.code.after(at);
        }
        false
    }

    /// Whether a colon follows a key of an object.
    fn is_key(&self, colon: usize) -> bool {
        let Some(last) = colon.checked_sub(1) else { return false };
        let before = self.code.punct_before(self.code.back(last));
        self.place_around(colon) == Some(Place::Object) && matches!(before, b'{' | b',')
    }

    /// Whether an equals sign belongs to `type Name =` or to the default of a type parameter.
    fn begins_type(&self, equals: usize) -> bool {
        let code = self.code;
        let Some(mut at) = equals.checked_sub(1) else { return false };
        if at > 0 && matches!(code.punct(at - 1), b'<' | b',') {
            return true;
        }
        for _ in 0..LONGEST_HEADER {
            match (code.word(at), code.punct(at)) {
                ("type", _) => return true,
                ("const" | "let" | "var", _) | (_, b';' | b'{' | b'(' | b'[') => return false,
                _ => {}
            }
            match code.back(at).checked_sub(1) {
                Some(before) => at = before,
                None => return false,
            }
        }
        true
    }

    /// The name that a value gets from the `=`, the `:` or the `export default` before it.
    fn value_name(&self, value: usize) -> Option<String> {
        let code = self.code;
        let sign = value.checked_sub(1)?;
        if code.word(sign) == "default" {
            return Some("default".to_owned());
        }
        let key = sign.checked_sub(1)?;
        match code.punct(sign) {
            b':' if self.is_key(sign) => {
                Some(code.span(code.back(key), key).trim_matches(['"', '\'']).to_owned())
            }
            b'=' if code.pair(sign, *b"==") || code.pair(sign, *b"=>") || self.begins_type(sign) => None,
            b'=' if code.is_word(key) && !self.ends_annotation(key) => Some(code.word(key).to_owned()),
            b'=' => self.declared_name(key),
            _ => None,
        }
    }

    /// Whether a word is the end of `: some.Type`.
    fn ends_annotation(&self, word: usize) -> bool {
        let mut first = word;
        while first >= 2 && self.code.punct_before(first) == b'.' {
            first -= 2;
        }
        matches!(self.code.punct_before(first), b':' | b'|' | b'&' | b'>')
    }

    /// The name in `const name: Type =`, from the end of the type.
    fn declared_name(&self, type_end: usize) -> Option<String> {
        let (code, mut at) = (self.code, type_end);
        for _ in 0..LONGEST_HEADER {
            if matches!(code.word_before(at), "const" | "let" | "var") {
                return Some(code.word(at)).filter(|name| !name.is_empty()).map(str::to_owned);
            }
            if matches!(code.punct(at), b';' | b'{' | b'(')
                || (code.punct(at) == b'=' && !code.pair(at, *b"=>"))
            {
                return None;
            }
            at = code.back(at).checked_sub(1)?;
        }
        None
    }

    /// `async <T>(…): T => {` or `x => {`.
    fn arrow(&self, at: usize) -> Option<usize> {
        let code = self.code;
        let next = if code.word(at) == "async" && code.punct(at + 1) != b'=' { at + 1 } else { at };
        let next = self.after_angles(next)?;
        let mut at = match code.punct(next) {
            b'(' => code.after(next),
            _ if code.is_word(next) => next + 1,
            _ => return None,
        };
        // A result type stands between the parameters and the arrow. If that type has an arrow of its own, we stop there.
        let typed = code.punct(next) == b'(' && code.punct(at) == b':';
        for _ in 0..LONGEST_HEADER {
            if code.pair(at, *b"=>") {
                let body = Some(at + 2).filter(|open| code.punct(*open) == b'{');
                return body.filter(|open| !code.pair(code.after(*open), *b"=>"));
            }
            if !typed || at >= code.len() || matches!(code.punct(at), b';' | b'=' | b')' | b']' | b'}') {
                return None;
            }
            at = code.after(at);
        }
        None
    }

    /// The class or object in which a member may begin here.
    fn member_place(&self, at: usize) -> Option<Place> {
        let place = self.place_around(at)?;
        let begins = match self.code.punct_before(at) {
            b'{' => true,
            b',' => place == Place::Object,
            b';' | b'}' => place == Place::Class,
            _ => place == Place::Class && self.code.starts_line(at),
        };
        begins.then_some(place)
    }

    /// `@decorated static async *name<T>(…): T {`
    fn member(&self, at: usize, place: Place) -> Option<Named> {
        let (code, mut at) = (self.code, at);
        while code.punct(at) == b'@' && code.is_word(at + 1) {
            at += 2;
            while code.punct(at) == b'.' {
                at += 2;
            }
            at = if code.punct(at) == b'(' { code.after(at) } else { at };
        }
        let names = |at: usize| {
            code.is_word(at) || code.is_literal(at) || matches!(code.punct(at), b'*' | b'#' | b'[')
        };
        while MEMBER_MODIFIERS.contains(&code.word(at)) && names(at + 1) {
            at += 1;
        }
        at += usize::from(code.punct(at) == b'*');
        let (first, last) = match code.punct(at) {
            b'#' if code.is_word(at + 1) => (at, at + 1),
            b'[' => (at, code.partner(at)),
            0 if at < code.len() && !NO_MEMBER.contains(&code.word(at)) => (at, at),
            _ => return None,
        };
        let next = last + 1 + usize::from(matches!(code.punct(last + 1), b'?' | b'!'));
        let open = self.parameters_and_body(next)?;
        // After a call on the line before, a brace can begin a block; in a class there are no calls.
        let name = code.span(first, last).trim_matches(['"', '\'']).to_owned();
        (place == Place::Class || !code.starts_line(open)).then_some((name, open))
    }

    fn parameters_and_body(&self, at: usize) -> Option<usize> {
        let code = self.code;
        let parameters = self.after_angles(at)?;
        if code.punct(parameters) != b'(' {
            return None;
        }
        let next = code.after(parameters);
        match code.punct(next) {
            b'{' => Some(next),
            b':' => self.body(next + 1),
            _ => None,
        }
    }

    /// The first brace that does not belong to a type, before anything shows that there is no body.
    fn body(&self, from: usize) -> Option<usize> {
        let (code, mut at) = (self.code, from);
        for _ in 0..LONGEST_HEADER {
            let before = at.checked_sub(1)?;
            let arrow_before = before > 0 && code.pair(before - 1, *b"=>");
            let open_type = arrow_before
                || matches!(code.punct(before), b':' | b'<' | b'|' | b'&' | b',' | b'?' | b'=')
                || TYPE_WORDS.contains(&code.word(before));
            match code.punct(at) {
                b'{' if !open_type => return Some(at),
                b';' | b')' | b']' | b'}' => return None,
                _ if at >= code.len() => return None,
                byte => {
                    let goes_on = open_type
                        || matches!(byte, b'{' | b'|' | b'&' | b'?' | b':' | b'=' | b'<' | b'>' | b',')
                        || matches!(code.word(at), "extends" | "implements" | "is");
                    if code.starts_line(at) && !goes_on {
                        return None;
                    }
                }
            }
            at = code.after(at);
        }
        None
    }

    /// The index after `<…>`, or the same one if none begins there.
    fn after_angles(&self, at: usize) -> Option<usize> {
        let (code, mut at, mut angles) = (self.code, at, 0usize);
        for _ in 0..LONGEST_HEADER {
            match code.punct(at) {
                b'<' => angles += 1,
                b'>' if code.punct_before(at) != b'=' => angles = angles.checked_sub(1)?,
                b';' | b')' | b']' | b'}' => return None,
                _ if angles == 0 => return Some(at),
                _ if at >= code.len() => return None,
                _ => {}
            }
            at = code.after(at);
        }
        None
    }

    fn place_around(&self, at: usize) -> Option<Place> {
        self.places.get(&self.code.around(at)?).copied()
    }
}

/// Where a declaration begins, with what may stand before its keyword.
fn start(code: &Code, keyword: usize) -> usize {
    let mut first = keyword;
    while matches!(code.word_before(first), "export" | "default" | "async" | "abstract" | "declare") {
        first -= 1;
    }
    first
}

#[rustfmt::skip]
const MEMBER_MODIFIERS: &[&str] = &[
    "static", "async", "get", "set", "public", "private", "protected", "readonly", "override", "abstract", "accessor",
    "declare",
];

/// Words that never name a method that we would hide.
const NO_MEMBER: &[&str] = &[
    "if", "for", "while", "switch", "with", "function", "return", "do", "else", "try", "class", "new",
    "await",
];

/// Words after which a type goes on.
#[rustfmt::skip]
const TYPE_WORDS: &[&str] = &[
    "is", "keyof", "typeof", "extends", "infer", "readonly", "unique", "asserts", "implements", "as", "in",
];
