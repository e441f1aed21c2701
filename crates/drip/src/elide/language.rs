//! The languages as data: how each writes strings and comments, and what introduces a function. Knows no text.

use super::declared::{self, DeclaredTable};
use super::introduced::{self, IntroducedTable};
use super::lex::special::{self, Hook};
use super::lex::{Hole, Quote};

/// A language whose bodies can be elided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    Python,
    Rust,
    JavaScript,
    TypeScript,
    /// TypeScript with markup, in which a type assertion cannot be written with `<`.
    Tsx,
    Go,
    Java,
    C,
    Cpp,
    CSharp,
    Kotlin,
    Swift,
    Scala,
    Php,
}

impl Language {
    /// By the end of a file's name, without the dot.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let (_, language) = EXTENSIONS.iter().find(|(known, _)| known.contains(&extension))?;
        Some(*language)
    }

    pub(super) fn spec(self) -> &'static Spec {
        match self {
            Self::Python => &PYTHON,
            Self::Rust => &RUST,
            Self::JavaScript | Self::Tsx => &MARKUP_SCRIPT,
            Self::TypeScript => &SCRIPT,
            Self::Go => &GO,
            Self::Java => &JAVA,
            Self::C | Self::Cpp => &C_FAMILY,
            Self::CSharp => &CSHARP,
            Self::Kotlin => &KOTLIN,
            Self::Swift => &SWIFT,
            Self::Scala => &SCALA,
            Self::Php => &PHP,
        }
    }
}

const EXTENSIONS: &[(&[&str], Language)] = &[
    (&["py"], Language::Python),
    (&["rs"], Language::Rust),
    (&["js", "mjs", "cjs", "jsx"], Language::JavaScript),
    (&["ts"], Language::TypeScript),
    (&["tsx"], Language::Tsx),
    (&["go"], Language::Go),
    (&["java"], Language::Java),
    (&["c", "h"], Language::C),
    (&["cpp", "cc", "cxx", "hpp", "hh", "hxx"], Language::Cpp),
    (&["cs"], Language::CSharp),
    (&["kt", "kts"], Language::Kotlin),
    (&["swift"], Language::Swift),
    (&["scala", "sc"], Language::Scala),
    (&["php", "phtml"], Language::Php),
];

pub(super) struct Spec {
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: bool,
    pub(super) nested_comments: bool,
    /// Whether `///` and `//!` document what follows.
    pub(super) line_docs: bool,
    /// Longer openings first.
    pub(super) strings: &'static [(&'static str, Quote)],
    pub(super) special: Hook,
    /// Lines that begin with `#` belong to a preprocessor.
    pub(super) directives: bool,
    pub(super) backtick_words: bool,
    pub(super) dollar_words: bool,
    pub(super) quotes_in_numbers: bool,
    /// Whether elements may stand where values do.
    pub(super) markup: bool,
    /// Code stands between tags in other text.
    pub(super) inside_html: bool,
    /// A file with one of these is left whole: they change what quotes, comments or line ends mean.
    pub(super) poison: &'static [&'static str],
    /// What a stub stands between.
    pub(super) stub: (&'static str, &'static str),
    pub(super) shape: Shape,
}

/// How functions are recognised.
pub(super) enum Shape {
    /// By a keyword of their own.
    Introduced(&'static IntroducedTable),
    /// By their declaration: a type, a name, parameters.
    Declared(&'static DeclaredTable),
    /// By a keyword, an assignment or their place in a class or an object.
    Script,
    /// By a keyword, and ended by indentation.
    Indented,
}

/// What most of them share.
const BRACES: Spec = Spec {
    line_comments: &["//"],
    block_comments: true,
    nested_comments: false,
    line_docs: false,
    strings: &[("\"", Quote::plain(b'"')), ("'", Quote::plain(b'\''))],
    special: special::nothing,
    directives: false,
    backtick_words: false,
    dollar_words: true,
    quotes_in_numbers: false,
    markup: false,
    inside_html: false,
    poison: &[],
    stub: ("/* ", " */"),
    shape: Shape::Script,
};

const PYTHON: Spec = Spec { stub: ("...  # ", ""), shape: Shape::Indented, ..BRACES };

const RUST: Spec = Spec {
    nested_comments: true,
    line_docs: true,
    strings: &[("\"", Quote::long(b'"'))],
    special: special::rust,
    dollar_words: false,
    shape: Shape::Introduced(&introduced::RUST),
    ..BRACES
};

const SCRIPT: Spec = Spec {
    strings: &[
        ("\"", Quote::plain(b'"')),
        ("'", Quote::plain(b'\'')),
        ("`", Quote::long(b'`').with(Hole::Dollar)),
    ],
    special: special::script,
    // Two characters that end a line, and a comment with it, without looking like it.
    poison: &["\u{2028}", "\u{2029}"],
    ..BRACES
};

const MARKUP_SCRIPT: Spec = Spec { markup: true, ..SCRIPT };

const GO: Spec = Spec {
    strings: &[("\"", Quote::plain(b'"')), ("'", Quote::plain(b'\'')), ("`", Quote::long(b'`').raw())],
    shape: Shape::Introduced(&introduced::GO),
    ..BRACES
};

const JAVA: Spec = Spec {
    strings: &[("\"\"\"", Quote::triple()), ("\"", Quote::plain(b'"')), ("'", Quote::plain(b'\''))],
    // Escapes for quotes, backslashes, line ends, braces and comment signs are undone before anything is read.
    #[rustfmt::skip]
    poison: &[
        "\\u0022", "\\u0027", "\\u005c", "\\u005C", "\\u000a", "\\u000A", "\\u000d", "\\u000D", "\\u007b", "\\u007B",
        "\\u007d", "\\u007D", "\\u002a", "\\u002A", "\\u002f", "\\u002F", "\\uu",
    ],
    shape: Shape::Declared(&declared::JAVA),
    ..BRACES
};

/// C and C++: a header does not say which of them it is, and what only C++ has does no harm in C.
const C_FAMILY: Spec = Spec {
    directives: true,
    line_docs: true,
    quotes_in_numbers: true,
    special: special::cpp,
    // Other spellings of brackets, backslashes and hashes.
    poison: &["??/", "??<", "??>", "??(", "??)", "??=", "<%", "%>", "%:"],
    shape: Shape::Declared(&declared::C_FAMILY),
    ..BRACES
};

const CSHARP: Spec = Spec {
    directives: true,
    line_docs: true,
    dollar_words: false,
    strings: &[("'", Quote::plain(b'\''))],
    special: special::csharp,
    shape: Shape::Declared(&declared::CSHARP),
    ..BRACES
};

const KOTLIN: Spec = Spec {
    nested_comments: true,
    strings: &[
        ("\"\"\"", Quote::triple().raw().greedy().with(Hole::Dollar)),
        ("\"", Quote::plain(b'"').with(Hole::Dollar)),
        ("'", Quote::plain(b'\'')),
    ],
    special: special::kotlin,
    backtick_words: true,
    shape: Shape::Introduced(&introduced::KOTLIN),
    ..BRACES
};

const SWIFT: Spec = Spec {
    nested_comments: true,
    line_docs: true,
    strings: &[("\"\"\"", Quote::triple().with(Hole::Swift)), ("\"", Quote::plain(b'"').with(Hole::Swift))],
    special: special::swift,
    backtick_words: true,
    shape: Shape::Introduced(&introduced::SWIFT),
    ..BRACES
};

const SCALA: Spec = Spec {
    nested_comments: true,
    strings: &[("\"\"\"", Quote::triple().raw().greedy()), ("\"", Quote::plain(b'"'))],
    special: special::scala,
    backtick_words: true,
    shape: Shape::Introduced(&introduced::SCALA),
    ..BRACES
};

const PHP: Spec = Spec {
    line_comments: &["//", "#"],
    strings: &[
        ("\"", Quote::long(b'"').with(Hole::Php)),
        ("'", Quote::long(b'\'')),
        ("`", Quote::long(b'`').with(Hole::Php)),
    ],
    special: special::php,
    inside_html: true,
    shape: Shape::Introduced(&introduced::PHP),
    ..BRACES
};
