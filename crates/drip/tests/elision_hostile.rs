//! Elision of what nobody wrote: pieces of fixtures in any order, bytes changed, and inputs made to be slow.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test: reads fixtures")]

#[path = "elision/oracle.rs"]
#[allow(dead_code, reason = "only the check of the map is used here")]
mod oracle;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use drip::elide::{Language, Limits, elide, symbols};
use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

const SMALL: Limits = Limits { min_bytes: 0, min_body: Limits::FLOOR, doc_comments: true };

const LANGUAGES: [Language; 14] = [
    Language::Python,
    Language::Rust,
    Language::JavaScript,
    Language::TypeScript,
    Language::Tsx,
    Language::Go,
    Language::Java,
    Language::C,
    Language::Cpp,
    Language::CSharp,
    Language::Kotlin,
    Language::Swift,
    Language::Scala,
    Language::Php,
];

/// What means something to at least one of the lexers.
#[rustfmt::skip]
const SIGNS: [&str; 48] = [
    "{", "}", "(", ")", "[", "]", "<", ">", "\"", "'", "`", "\"\"\"", "'''", "/*", "*/", "//", "#", "\n", "\r\n", "\r",
    "\\", "\\\n", "${", "{$", "\\(", "$\"", "@\"", "#\"", "r#\"", "R\"(", ")\"", "<?php", "?>", "<<<A\n", "A;\n", "#if\n",
    "#else\n", "#endif\n", "/", "=>", "=", ":", "<a>", "</a>", "fn f() {", "def f():\n", "é", "\u{2028}",
];

static PIECES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/elision");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut paths: Vec<_> =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).filter(|text| !text.is_empty()).collect()
});

/// Whatever the text: no panic, a map that holds, and the same answer twice.
fn check(language: Language, text: &str) -> Result<(), TestCaseError> {
    let elided = elide(language, text, &SMALL);
    prop_assert_eq!(&elided, &elide(language, text, &SMALL));
    for symbol in symbols(language, text) {
        prop_assert!(symbol.first_line <= symbol.last_line && symbol.last_line <= text.lines().count());
    }
    let Some(elided) = elided else { return Ok(()) };
    prop_assert!(elided.text.len() < text.len());
    oracle::check_map(text, &elided).map_err(TestCaseError::fail)
}

/// A part of one fixture, cut anywhere.
fn piece() -> impl Strategy<Value = String> {
    (0..PIECES.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
        |(index, from, to)| {
            let text = &PIECES[index];
            let (from, to) = (from.index(text.len()), to.index(text.len() + 1));
            text[text.floor_char_boundary(from.min(to))..text.floor_char_boundary(from.max(to))].to_owned()
        },
    )
}

fn whole() -> impl Strategy<Value = String> {
    (0..PIECES.len()).prop_map(|index| PIECES[index].clone())
}

fn language() -> impl Strategy<Value = Language> {
    prop::sample::select(LANGUAGES.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn pieces_of_any_language_in_any_order_never_break_the_map(language in language(), pieces in prop::collection::vec(piece(), 0..5)) {
        check(language, &pieces.concat())?;
    }

    #[test]
    fn whole_files_with_signs_thrown_in_never_break_the_map(
        language in language(),
        text in whole(),
        signs in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(SIGNS.to_vec())), 0..4),
    ) {
        let mut text = text;
        for (at, sign) in signs {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            text.insert_str(at, sign);
        }
        check(language, &text)?;
    }

    #[test]
    fn signs_alone_never_break_the_map(language in language(), signs in prop::collection::vec(prop::sample::select(SIGNS.to_vec()), 0..60)) {
        check(language, &signs.concat())?;
    }

    #[test]
    fn any_text_is_read(language in language(), text in any::<String>()) {
        check(language, &text)?;
    }
}

/// What makes a reader look far ahead or far back, in vain.
#[rustfmt::skip]
const BEGINNINGS: [&str; 31] = [
    "fn f<", "fn f(", "f = (", "f: (", "type a =", "const a: b = x => ", "a, {", "class A ", "class A {", "int f() {",
    "#if a\n{\n", "`${`", "\"\\(\"", "$\"{", "def f(", "    def f():\n", "function f() {\n", "f() {\n",
    "x = function () {\n", "a(b) c\n", "@a ", "fun <", "var a: b", "/** a\n", "/// a\n", "' ", "<a b={", "operator ",
    "template <", "struct a : b ", "int f(a) : b{c}, ",
];

/// Long enough that looking at every byte from every byte costs thousands of times as much as looking at each once.
const LONG: usize = 16 * 1024;

/// How many times as much as plain code any text may cost: a header of hundreds of tokens is looked at from each of them.
const MOST: u32 = 100;

#[test]
fn no_text_takes_more_than_linear_time() {
    // The others have the same tables.
    let other = [Language::TypeScript, Language::Tsx, Language::Cpp];
    for language in LANGUAGES.into_iter().filter(|language| !other.contains(language)) {
        let plain = (0..3).map(|_| cost(language, "a = b\n")).min().unwrap();
        for sign in SIGNS.iter().chain(&BEGINNINGS) {
            let cost = cost(language, sign);
            assert!(cost < plain * MOST, "{language:?}, {sign:?}: {cost:?}, beside {plain:?}");
        }
    }
}

/// Of this thread alone, so that nothing else on the machine counts.
fn cost(language: Language, sign: &str) -> Duration {
    let text = sign.repeat(LONG / sign.len());
    let start = clock_gettime(ClockId::ThreadCPUTime);
    elide(language, &text, &SMALL);
    let spent = clock_gettime(ClockId::ThreadCPUTime) - start;
    spent.try_into().expect("time does not run backwards")
}
