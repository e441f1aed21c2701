//! Languages in which a function is declared by a type, a name and parameters: whatever stands before a brace is
//! taken apart, and a header with anything unknown in it declares nothing. Only containers are entered, so that
//! statements are never mistaken for declarations.

mod header;

use super::code::{Code, LONGEST_HEADER};
use super::definition::{Definition, Kind};
use header::Meaning;

pub(super) struct DeclaredTable {
    /// Keywords before a name and members.
    containers: &'static [&'static str],
    /// Words that no declaration holds.
    statements: &'static [&'static str],
    /// Words before a declaration that are neither its type nor its name.
    modifiers: &'static [&'static str],
    /// Words before parentheses that are no parameters.
    attributes: &'static [&'static str],
    /// Words that may stand between the parameters and the body.
    trailers: &'static [&'static str],
    /// Macros that make a function of their last argument.
    tests: &'static [&'static str],
    /// Words before the bodies of a property.
    accessors: &'static [&'static str],
    /// Words before the declaration of a type without a body of its own.
    aliases: &'static [&'static str],
    /// Whether functions can be declared inside functions.
    nested: bool,
    /// Words that a colon follows among members.
    labels: &'static [&'static str],
    /// Whether constructors can initialise members before their body.
    initialisers: bool,
    /// Whether a type's name may come with macros and qualifiers, so that the last word is the name.
    last_word_names: bool,
}

/// A stretch of declarations.
struct Members<'a> {
    from: usize,
    to: usize,
    /// The container's or the property's name.
    name: &'a str,
    accessors: bool,
}

/// The definitions, and the lines of others whose ends we do not know.
pub(super) fn find(code: &Code, table: &'static DeclaredTable) -> (Vec<Definition>, Vec<usize>) {
    let mut found = Vec::new();
    let mut left = vec![Members { from: 0, to: code.len(), name: "", accessors: false }];
    while let Some(members) = left.pop() {
        scan(code, table, &members, &mut found, &mut left);
    }
    let local =
        |at: &usize| is_alias(code, table, *at) || (table.nested && is_local_function(code, table, *at));
    let pinned = (0..code.len()).filter(local).map(|at| code.line(at)).collect();
    (found, pinned)
}

fn scan<'a>(
    code: &Code<'a>,
    table: &'static DeclaredTable,
    members: &Members<'a>,
    found: &mut Vec<Definition>,
    left: &mut Vec<Members<'a>>,
) {
    let (mut first, mut at) = (members.from, members.from);
    while at < members.to {
        let next = code.after(at);
        match code.punct(at) {
            b';' => first = next,
            b':' if table.labels.contains(&code.word_before(at)) => first = next,
            b'{' => {
                first = if table.last_word_names { after_macro_calls(code, first) } else { first };
                let to = code.partner(at);
                match header::meaning(code, table, members, first, at) {
                    Meaning::Initialiser => {
                        at = next;
                        continue;
                    }
                    Meaning::Function(name) => {
                        found.push(code.definition(name, Kind::Declared, first, at));
                        find_local_types(code, table, at, found);
                    }
                    Meaning::Container(name) => {
                        if !name.is_empty() {
                            found.push(code.container(name, first, at));
                        }
                        left.push(Members { from: at + 1, to, name, accessors: false });
                    }
                    Meaning::Property(name) => {
                        left.push(Members { from: at + 1, to, name, accessors: true });
                    }
                    Meaning::Unknown => {}
                }
                first = next;
            }
            _ => {}
        }
        at = next;
    }
}

/// Macros called like functions on lines of their own stand before a declaration without belonging to it.
fn after_macro_calls(code: &Code, first: usize) -> usize {
    let mut first = first;
    while code.is_word(first) && code.punct(first + 1) == b'(' {
        let next = code.after(first + 1);
        if !code.is_word(next) || !code.starts_line(next) {
            break;
        }
        first = next;
    }
    first
}

/// Types declared inside a body: they keep it open.
fn find_local_types(code: &Code, table: &DeclaredTable, open: usize, found: &mut Vec<Definition>) {
    for at in open + 1..code.partner(open) {
        if !table.containers.contains(&code.word(at))
            || !code.is_word(at + 1)
            || code.punct_before(at) == b'.'
        {
            continue;
        }
        let mut next = at + 2;
        // Far enough for any list of interfaces, near enough to stay linear.
        for _ in 0..64 {
            match code.punct(next) {
                b'{' => {
                    found.push(code.container(code.word(at + 1), at, next));
                    break;
                }
                b';' | b'=' | b')' | b']' | b'}' => break,
                _ => next = code.after(next),
            }
        }
    }
}

/// `typedef … Name` and `using Name = …`.
fn is_alias(code: &Code, table: &DeclaredTable, at: usize) -> bool {
    table.aliases.contains(&code.word(at)) && (code.word(at) != "using" || code.punct(at + 2) == b'=')
}

/// `Type name<T>(…) {`, also with an arrow or constraints. Among members it is a method, and no harm is done.
fn is_local_function(code: &Code, table: &DeclaredTable, at: usize) -> bool {
    let typed = match code.word_before(at) {
        "" => matches!(code.punct_before(at), b'>' | b']' | b'?' | b'*' | b')'),
        word => !table.statements.contains(&word) && !["new", "is", "and", "or", "not"].contains(&word),
    };
    if !code.is_word(at) || table.statements.contains(&code.word(at)) || !typed {
        return false;
    }
    let parameters = match code.punct(at + 1) {
        b'<' => header::after_angles(code, at + 1, code.len().min(at + LONGEST_HEADER)),
        _ => Some(at + 1),
    };
    let Some(parameters) = parameters.filter(|at| code.punct(*at) == b'(') else { return false };
    let next = code.after(parameters);
    code.punct(next) == b'{' || code.pair(next, *b"=>") || code.word(next) == "where"
}

#[rustfmt::skip]
pub(super) const C_FAMILY: DeclaredTable = DeclaredTable {
    containers: &["struct", "union", "enum", "class", "namespace"],
    statements: &[
        "if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue", "sizeof",
        "typedef", "try", "catch", "new", "delete", "using", "concept", "requires", "co_return", "co_await",
        "co_yield", "static_assert", "import", "module", "asm",
    ],
    modifiers: &[
        "static", "extern", "inline", "const", "volatile", "register", "__inline", "__inline__", "__forceinline",
        "unsigned", "signed", "struct", "union", "enum", "class", "typename", "int", "char", "long", "short", "void",
        "double", "float", "bool", "auto", "constexpr", "consteval", "constinit", "virtual", "explicit", "friend",
        "mutable", "template", "export", "thread_local", "_Noreturn", "restrict",
    ],
    attributes: &[
        "__attribute__", "__declspec", "alignas", "_Alignas", "decltype", "noexcept", "explicit", "throw", "typeof",
        "__typeof__", "__asm__",
    ],
    trailers: &["const", "volatile", "noexcept", "override", "final", "mutable", "throw"],
    tests: &["TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"],
    accessors: &[],
    aliases: &["typedef", "using"],
    nested: false,
    labels: &["public", "private", "protected", "signals", "slots", "Q_SIGNALS", "Q_SLOTS"],
    initialisers: true,
    last_word_names: true,
};

#[rustfmt::skip]
pub(super) const JAVA: DeclaredTable = DeclaredTable {
    containers: &["class", "interface", "enum", "record"],
    statements: &[
        "if", "else", "for", "while", "do", "switch", "case", "return", "throw", "try", "catch", "finally", "new",
        "break", "continue", "assert", "yield", "import", "package",
    ],
    modifiers: &[
        "public", "private", "protected", "static", "final", "abstract", "synchronized", "native", "strictfp", "default",
        "transient", "volatile", "sealed", "non",
    ],
    attributes: &[],
    trailers: &["throws"],
    tests: &[],
    accessors: &[],
    aliases: &[],
    nested: false,
    labels: &[],
    initialisers: false,
    last_word_names: false,
};

#[rustfmt::skip]
pub(super) const CSHARP: DeclaredTable = DeclaredTable {
    containers: &["class", "interface", "enum", "record", "struct", "namespace"],
    statements: &[
        "if", "else", "for", "foreach", "while", "do", "switch", "case", "return", "throw", "try", "catch", "finally",
        "break", "continue", "goto", "using", "lock", "fixed", "checked", "unchecked", "yield", "await", "when", "stackalloc",
        "delegate",
    ],
    modifiers: &[
        "public", "private", "protected", "internal", "static", "readonly", "sealed", "abstract", "virtual", "override",
        "extern", "async", "partial", "unsafe", "volatile", "new", "ref", "required", "file", "const", "event", "implicit",
        "explicit",
    ],
    attributes: &[],
    trailers: &["where"],
    tests: &[],
    accessors: &["get", "set", "init", "add", "remove"],
    aliases: &[],
    nested: true,
    labels: &[],
    initialisers: true,
    last_word_names: false,
};
