//! From a keyword to a function's name and body, one reader per way of writing it. A reader that meets what it does
//! not know answers nothing.

use super::{Code, FREE, Finder, GO_HEADER, Header, KOTLIN_HEADER, Place, RUST_HEADER, SWIFT_HEADER};

pub(super) type Reader = for<'a> fn(&mut Finder<'a>, usize) -> Option<Header>;

/// `fn name<T>(…) -> T where … {`
pub(super) fn rust_fn(finder: &mut Finder, at: usize) -> Option<Header> {
    let name = named(finder.code, at + 1)?;
    Some(Header { name, open: finder.body(at + 2, &RUST_HEADER)? })
}

/// `func name[T](…) (…) {` and `func (receiver) name(…) {`, at the top level only.
pub(super) fn go_func(finder: &mut Finder, at: usize) -> Option<Header> {
    let code = finder.code;
    let method = code.punct(at + 1) == b'(';
    let name_at = if method { code.after(at + 1) } else { at + 1 };
    let name = named(code, name_at)?;
    let types = ["chan", "func", "map", "interface", "struct"];
    let declares = matches!(code.punct(name_at + 1), b'(' | b'[') && !types.contains(&name.as_str());
    if !declares || code.around(at).is_some() {
        return None;
    }
    Some(Header { name, open: finder.body(name_at + 1, &GO_HEADER)? })
}

/// `fun <T> Receiver<T>.name(…): T {`
pub(super) fn kotlin_fun(finder: &mut Finder, at: usize) -> Option<Header> {
    let (code, mut next, mut angles) = (finder.code, at + 1, 0usize);
    for _ in 0..super::LONGEST_HEADER {
        match code.punct(next) {
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            b'(' if angles == 0 && next > at + 1 && code.is_word(next - 1) => {
                let name = named(code, next - 1)?;
                return Some(Header { name, open: finder.body(code.after(next), &KOTLIN_HEADER)? });
            }
            0 if next < code.len() => {}
            b'(' | b'.' | b'?' | b',' | b':' | b'*' | b'@' | b'-' => {}
            _ => return None,
        }
        next = code.after(next);
    }
    None
}

/// `func name<T>(…) async throws -> T where … {`, in which the name may be an operator.
pub(super) fn swift_func(finder: &mut Finder, at: usize) -> Option<Header> {
    let code = finder.code;
    let mut last = at + 1;
    while !code.is_word(at + 1) && code.adjacent(last) && !matches!(code.punct(last + 1), 0 | b'(') {
        last += 1;
    }
    if !code.is_word(at + 1) && matches!(code.punct(at + 1), 0 | b'(') {
        return None;
    }
    Some(Header { name: code.span(at + 1, last).to_owned(), open: finder.body(last + 1, &SWIFT_HEADER)? })
}

/// A constructor: its keyword is its name, its place is among members, and parameters follow.
pub(super) fn member(finder: &mut Finder, at: usize) -> Option<Header> {
    let code = finder.code;
    let next = (at + 1..at + 3).find(|next| !matches!(code.punct(*next), b'?' | b'!'))?;
    if finder.place_around(at) != Some(&Place::Members) || !matches!(code.punct(next), b'(' | b'<') {
        return None;
    }
    Some(Header { name: code.word(at).to_owned(), open: finder.body(at + 1, &SWIFT_HEADER)? })
}

/// `constructor(…) : this(…) {`. After the name of a class the same keyword belongs to the class.
pub(super) fn kotlin_constructor(finder: &mut Finder, at: usize) -> Option<Header> {
    let first = super::start(finder.code, &super::KOTLIN, at);
    if matches!(finder.code.punct_before(first), b'{' | b'}' | b';') { member(finder, at) } else { None }
}

/// `init {` and `deinit {` among members.
pub(super) fn bare_member(finder: &mut Finder, at: usize) -> Option<Header> {
    let among_members = finder.place_around(at) == Some(&Place::Members);
    let braced = finder.code.punct(at + 1) == b'{';
    (among_members && braced).then(|| Header { name: finder.code.word(at).to_owned(), open: at + 1 })
}

/// `var name: T {` and `subscript(…) -> T {`: either a getter's body or a list of accessors.
pub(super) fn swift_property(finder: &mut Finder, at: usize) -> Option<Header> {
    let code = finder.code;
    let subscript = code.word(at) == "subscript";
    let (name_at, sign) = if subscript { (at, b'(') } else { (at + 1, b':') };
    let name = named(code, name_at)?;
    let outside = code.around(at).is_none() || finder.place_around(at) == Some(&Place::Members);
    let generic = subscript && code.punct(name_at + 1) == b'<';
    if !outside || !(code.punct(name_at + 1) == sign || generic) {
        return None;
    }
    let open = finder.body(name_at + 1, &SWIFT_HEADER)?;
    let accessors =
        ["get", "set", "willSet", "didSet", "mutating", "nonmutating", "_read", "_modify", "unsafeAddress"];
    if accessors.contains(&code.word(open + 1)) || code.punct(open + 1) == b'@' {
        finder.places.insert(open, Place::Accessors(name));
        return None;
    }
    Some(Header { name, open })
}

/// `get {` and `set(value) {` among the accessors of a property.
pub(super) fn swift_accessor(finder: &mut Finder, at: usize) -> Option<Header> {
    let Some(Place::Accessors(property)) = finder.place_around(at) else { return None };
    let name = property.clone();
    Some(Header { name, open: finder.body(at + 1, &SWIFT_HEADER)? })
}

/// `def name[T](…)(…): T = {` and the older `def name(…) {`.
pub(super) fn scala_def(finder: &mut Finder, at: usize) -> Option<Header> {
    let code = finder.code;
    let (name, mut next) = scala_name(code, at + 1)?;
    while matches!(code.punct(next), b'(' | b'[') && !code.starts_line(next) {
        next = code.after(next);
    }
    if code.punct(next) == b'{' && !code.starts_line(next) {
        return Some(Header { name, open: next });
    }
    let equals = match code.punct(next) {
        b':' => scala_result(code, next + 1)?,
        b'=' => next,
        _ => return None,
    };
    let open = equals + 1;
    let after = code.after(open);
    // `= { … } + 1` has more than one piece, and the braces are only one of them.
    let whole = after >= code.len() || code.starts_line(after) || matches!(code.punct(after), b'}' | b')');
    (code.punct(open) == b'{' && whole).then_some(Header { name, open })
}

/// A name, or the signs of an operator that stand together.
fn scala_name(code: &Code, at: usize) -> Option<(String, usize)> {
    if let Some(name) = named(code, at) {
        return Some((name, at + 1));
    }
    let mut end = at;
    while !matches!(code.punct(end), 0 | b'(' | b')' | b'[' | b'{' | b'}') && code.adjacent(end) {
        end += 1;
    }
    (end > at).then(|| (code.span(at, end - 1).to_owned(), end))
}

/// The `=` after a result type.
fn scala_result(code: &Code, from: usize) -> Option<usize> {
    let mut at = from;
    for _ in 0..super::LONGEST_HEADER {
        let goes_on =
            code.punct(at) == b'=' || matches!(code.punct_before(at), b':' | b'>' | b',' | b'|' | b'&');
        if code.starts_line(at) && !goes_on {
            return None;
        }
        match code.punct(at) {
            b'=' if code.pair(at, *b"=>") => at += 2,
            b'=' => return Some(at),
            b'{' | b'}' | b')' | b']' | b';' => return None,
            _ if at >= code.len() => return None,
            _ => at = code.after(at),
        }
    }
    None
}

/// `function &name(…): T {`
pub(super) fn php_function(finder: &mut Finder, at: usize) -> Option<Header> {
    let name_at = if finder.code.punct(at + 1) == b'&' { at + 2 } else { at + 1 };
    let name = named(finder.code, name_at)?;
    if finder.code.punct(name_at + 1) != b'(' {
        return None;
    }
    Some(Header { name, open: finder.body(name_at + 1, &FREE)? })
}

fn named(code: &Code, at: usize) -> Option<String> {
    Some(code.word(at)).filter(|word| !word.is_empty()).map(str::to_owned)
}
