//! What a caller of the elision sees: stubs, limits, symbols and the map between the two texts.
#![allow(clippy::unwrap_used, reason = "a test")]

use drip::elide::{Elided, Hides, Language, Limits, Symbol, elide, symbols};

const SMALL: Limits = Limits { min_bytes: 0, min_body: 0, doc_comments: true };

fn statements(count: usize, indent: &str, end: &str) -> String {
    (1..=count).map(|index| format!("{indent}let value_{index} = compute_something({index});{end}")).collect()
}

fn rust(count: usize) -> String {
    format!(
        "fn work(a: u8) -> u8 {{\n{}    a\n}}\n\nconst AFTER: u8 = 1;\n",
        statements(count - 1, "    ", "\n")
    )
}

fn lines(elided: &Elided) -> Vec<&str> {
    elided.text.lines().collect()
}

#[test]
fn a_stub_names_its_symbol_its_lines_and_the_way_back() {
    let elided = elide(Language::Rust, &rust(20), &SMALL).unwrap();
    assert_eq!(
        lines(&elided),
        [
            "fn work(a: u8) -> u8 {",
            "    /* [DRIP-elided work: lines 2-21, 20 lines | drip read --symbol work] */",
            "}",
            "",
            "const AFTER: u8 = 1;",
        ]
    );
    assert_eq!(elided.lines_hidden, 20);
}

#[test]
fn a_python_stub_is_a_body_and_the_docstring_stays() {
    let body = "    value = compute_something_with_a_long_name(1)\n".repeat(5);
    let text = format!("@cached\nasync def work(a):\n    \"\"\"Works.\"\"\"\n{body}\nAFTER = 1");
    let elided = elide(Language::Python, &text, &SMALL).unwrap();
    assert_eq!(
        lines(&elided),
        [
            "@cached",
            "async def work(a):",
            "    \"\"\"Works.\"\"\"",
            "    ...  # [DRIP-elided work: lines 4-8, 5 lines | drip read --symbol work]",
            "",
            "AFTER = 1",
        ]
    );
}

#[test]
fn a_name_that_two_definitions_share_is_asked_for_by_its_lines() {
    let body = statements(5, "        ", "\n");
    let text = format!(
        "impl A {{\n    fn new() {{\n{body}    }}\n}}\nimpl B {{\n    fn new() {{\n{body}    }}\n}}\n"
    );
    let elided = elide(Language::Rust, &text, &SMALL).unwrap();
    assert_eq!(
        lines(&elided)[2],
        "        /* [DRIP-elided new: lines 3-7, 5 lines | drip read --lines 3-7] */"
    );
    assert_eq!(
        lines(&elided)[7],
        "        /* [DRIP-elided new: lines 12-16, 5 lines | drip read --lines 12-16] */"
    );
}

#[test]
fn a_doc_comment_keeps_its_first_line_of_words() {
    let text = format!(
        "/**\n * Says what it is.\n{} */\nclass Thing {{\n}}\n",
        " * A long line of documentation, which is long enough to count.\n".repeat(16)
    );
    let elided = elide(Language::Java, &text, &Limits { min_bytes: 0, ..Limits::default() }).unwrap();
    assert_eq!(lines(&elided)[1], " * Says what it is.");
    assert_eq!(
        lines(&elided)[2],
        " * [DRIP-elided doc of Thing: lines 3-18, 16 lines | drip read --lines 3-18]"
    );
    assert_eq!(lines(&elided)[3], " */");
    assert_eq!(elided.stubs[0].hides, Hides::DocComment);
    assert_eq!(
        elide(Language::Java, &text, &Limits { min_bytes: 0, doc_comments: false, ..Limits::default() }),
        None
    );
}

#[test]
fn the_map_leads_from_each_text_to_the_other() {
    let text = format!("{}{}", rust(6), rust(8).replace("work", "more"));
    let elided = elide(Language::Rust, &text, &SMALL).unwrap();
    assert_eq!(elided.original(1), 1..=1);
    assert_eq!(elided.original(2), 2..=7);
    assert_eq!(elided.original(3), 8..=8);
    assert_eq!(elided.original(7), 12..=19);
    assert_eq!([1, 2, 7, 8, 11, 12, 19, 20].map(|line| elided.output(line)), [1, 2, 2, 3, 6, 7, 7, 8]);
}

#[test]
fn small_files_and_short_bodies_stay() {
    let limits = Limits { min_bytes: 0, ..Limits::default() };
    assert!(elide(Language::Rust, &rust(15), &limits).is_some());
    assert_eq!(elide(Language::Rust, &rust(14), &limits), None);
    let text = rust(15);
    assert!(elide(Language::Rust, &text, &Limits { min_bytes: text.len(), ..limits }).is_some());
    assert_eq!(elide(Language::Rust, &text, &Limits { min_bytes: text.len() + 1, ..limits }), None);
}

#[test]
fn no_limit_hides_fewer_than_four_lines() {
    assert!(elide(Language::Rust, &rust(4), &SMALL).is_some());
    assert_eq!(elide(Language::Rust, &rust(3), &SMALL), None);
}

#[test]
fn a_stub_is_never_longer_than_what_it_hides() {
    assert_eq!(elide(Language::Rust, "fn f() {\n    a();\n    b();\n    c();\n    d();\n}\n", &SMALL), None);
}

#[test]
fn line_ends_stay_what_they_were() {
    let text = rust(8).replace('\n', "\r\n");
    let elided = elide(Language::Rust, &text, &SMALL).unwrap();
    assert_eq!(elided.text.matches('\n').count(), elided.text.matches("\r\n").count());
    let cut = text.trim_end().trim_end_matches("const AFTER: u8 = 1;").trim_end();
    assert!(!elide(Language::Rust, cut, &SMALL).unwrap().text.ends_with('\n'));
}

#[test]
fn a_file_with_old_line_ends_stays_whole() {
    assert_eq!(elide(Language::Rust, &rust(20).replace('\n', "\r"), &SMALL), None);
}

#[test]
fn symbols_cover_attributes_and_bodies_and_name_containers() {
    let text =
        "#[test]\nfn one() {\n}\n\npub struct Two {\n    a: u8,\n}\n\nmod three {\n    pub fn four() {}\n}\n";
    let symbol = |name: &str, first_line, last_line| Symbol { name: name.to_owned(), first_line, last_line };
    let expected = [symbol("one", 1, 3), symbol("Two", 5, 7), symbol("three", 9, 11), symbol("four", 10, 10)];
    assert_eq!(symbols(Language::Rust, text), expected);
    let text = "@a\n@b(\n  1)\ndef one():\n    def two(): pass\n    return 1\n\nclass Three:\n    x = 1\n";
    let expected = [symbol("one", 1, 6), symbol("two", 5, 5), symbol("Three", 8, 9)];
    assert_eq!(symbols(Language::Python, text), expected);
    assert_eq!(symbols(Language::Rust, "fn broken() {"), []);
    assert_eq!(symbols(Language::Php, "<?php\n$a = new class extends B {\n};\n"), []);
}

#[test]
fn every_extension_has_its_language() {
    let known =
        "py rs js mjs cjs jsx ts tsx go java c h cpp cc cxx hpp hh hxx cs kt kts swift scala sc php phtml";
    for extension in known.split(' ') {
        assert!(Language::from_extension(extension).is_some(), "{extension}");
    }
    for extension in ["", "txt", "RS", "d.ts", "pyc", "rb"] {
        assert_eq!(Language::from_extension(extension), None, "{extension}");
    }
}
