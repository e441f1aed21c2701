//! Files that nobody wrote in good faith: they give facts or nothing, never a crash, and never take long.

use std::sync::Arc;

use code::facts::{Facts, Held, extract};
use code::language::Language;
use code::memo::Memo;
use code::query::{Part, calls, dead};
use testkit::Random;

fn path(language: Language) -> String {
    format!("a.{}", language.table().dialects[0].0)
}

#[test]
fn nesting_of_any_depth_takes_no_stack() {
    for language in Language::ALL {
        let path = path(language);
        // Some grammars take long to repair such a text, so most are tried with less.
        let deep = if language == Language::Python { 10_000 } else { 1_000 };
        for (open, close) in
            [("f(", ")"), ("a.b(", ")"), ("[", "]"), ("{", "}"), ("(", ")"), ("a.", ""), ("a[", "]")]
        {
            let text = format!("x = {}1{}\n", open.repeat(deep), close.repeat(deep));
            assert!(extract(language, &path, text.as_bytes()).is_some(), "{path} {open}");
        }
        let blocks = "if x {\n".repeat(1000) + &"}\n".repeat(1000);
        assert!(extract(language, &path, blocks.as_bytes()).is_some());
    }
    let functions: String = (0..90).map(|n| format!("{}def f{n}():\n", " ".repeat(n))).collect();
    let facts = extract(Language::Python, "a.py", (functions + &" ".repeat(91) + "pass\n").as_bytes())
        .expect("facts");
    assert!(facts.defs.len() == 91);
}

#[test]
fn what_is_no_text_has_no_facts_and_broken_text_has_some() {
    assert!(extract(Language::Python, "a.py", b"\x7fELF\0\0").is_none());
    assert!(extract(Language::C, "a.c", &vec![b'x'; 5 << 20]).is_none());
    let latin = extract(Language::Python, "a.py", b"# caf\xe9\ndef f():\n    g()\n").expect("facts");
    assert_eq!(latin.defs.len(), 2);
    let marked =
        extract(Language::Python, "a.py", "\u{feff}def f():\r\n\tpass\r\n".as_bytes()).expect("facts");
    assert_eq!(marked.qualified(code::facts::DefId(1)), "f");
    let broken = extract(Language::Rust, "a.rs", b"fn whole() {}\nfn half( {\nfn third() {}").expect("facts");
    assert!(broken.each_def().any(|(id, _)| broken.qualified(id) == "whole"));
}

#[test]
fn names_may_be_of_any_script() {
    let text = "class Größe:\n    def 長さ(self):\n        return self.長さ()\n";
    let facts = extract(Language::Python, "a.py", text.as_bytes()).expect("facts");
    assert_eq!(facts.qualified(code::facts::DefId(2)), "Größe.長さ");
}

#[test]
fn a_program_that_leads_in_circles_comes_to_an_end() {
    let mut memo = Memo::default();
    let file = |path: &str, text: &str| {
        (Arc::from(path), extract(Language::Python, path, text.as_bytes()).map(Held::from))
    };
    memo.update(vec![
        file("a.py", "from b import *\nfrom c import *\nclass A(B):\n    x = y\n    def f(self):\n        return self.f().f()\n"),
        file("b.py", "from a import *\nfrom c import *\nclass B(A):\n    def g(self):\n        return self.f().g()\n"),
        file("c.py", "from a import *\nfrom b import *\ny = z\nz = y\nA().f().g().h()\n"),
    ]);
    let snapshot = memo.snapshot();
    let edges = calls::calls(&snapshot, &Part::default());
    assert!(edges.edges.iter().any(|edge| edge.call().to_func == "A.f"), "{edges:?}");
}

#[test]
fn a_long_chain_and_a_wide_class_are_quick() {
    let mut text = String::from("class K:\n    def m0(self):\n        return self\n");
    for n in 1..2000 {
        text.push_str(&format!("    def m{n}(self):\n        return self.m{}().m{}()\n", n - 1, n / 2));
    }
    let mut memo = Memo::default();
    memo.update(vec![(
        Arc::from("a.py"),
        extract(Language::Python, "a.py", text.as_bytes()).map(Held::from),
    )]);
    let snapshot = memo.snapshot();
    assert!(calls::calls(&snapshot, &Part::default()).edges.len() > 2000);
    dead::dead(&snapshot, &Part::default(), &[]);
}

#[test]
fn packed_facts_that_were_changed_are_refused_or_sound() {
    let text = include_bytes!("fixtures/python/shop/cart.py");
    let facts = extract(Language::Python, "cart.py", text).expect("facts");
    let packed = facts.pack();
    assert_eq!(Facts::unpack(&packed), Some(facts));
    assert!(Facts::unpack(&packed[..packed.len() - 1]).is_none());
    assert!(Facts::unpack(b"").is_none());
    // Whoever holds such bytes holds a file that says nothing.
    let none = Held::packed(Language::Python, packed[..packed.len() - 1].to_vec());
    assert_eq!((none.language(), none.defs.len()), (Language::Python, 1));
    let mut random = Random::new(7);
    for _ in 0..3000 {
        let mut bent = packed.clone();
        let at = random.below(bent.len());
        bent[at] = random.number().to_le_bytes()[0];
        // Whatever was bent, reading and asking do not panic.
        if let Some(facts) = Facts::unpack(&bent) {
            let mut memo = Memo::default();
            memo.update(vec![(Arc::from("a.py"), Some(facts.into()))]);
            calls::calls(&memo.snapshot(), &Part::default());
        }
    }
}

#[test]
fn any_mix_of_words_is_a_program_of_some_kind() {
    const WORDS: &[&str] = &[
        "def",
        "class",
        "fn",
        "func",
        "function",
        "import",
        "from",
        "export",
        "use",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ":",
        ";",
        ",",
        ".",
        "=",
        "->",
        "=>",
        "\n",
        "    ",
        "x",
        "self",
        "this",
        "super",
        "\"",
        "'",
        "`",
        "#",
        "//",
        "/*",
        "@",
        "*",
        "async",
        "return",
        "for",
        "in",
        "end",
        "do",
        "é",
        "impl",
        "trait",
        "struct",
        "new",
        "::",
        "<",
        ">",
        "$x",
        "@y",
        "defmodule",
        "lambda",
        "with",
        "as",
    ];
    let mut random = Random::new(11);
    for round in 0..600 {
        let language = Language::ALL[round % Language::ALL.len()];
        let text: String = (0..60).map(|_| [WORDS[random.below(WORDS.len())], " "].concat()).collect();
        let path = path(language);
        let facts = extract(language, &path, text.as_bytes()).expect("facts");
        assert_eq!(Facts::unpack(&facts.pack()).as_ref(), Some(&facts), "{text}");
        let mut memo = Memo::default();
        memo.update(vec![(Arc::from(path.as_str()), Some(facts.into()))]);
        memo.snapshot();
    }
}

#[test]
fn a_choice_of_very_many_branches_is_quick() {
    let arms: String = (0..10_000).map(|arm| format!("        F::A{arm}(x) => x.run(),\n")).collect();
    let rust = format!("fn f(of: F) {{\n    match of {{\n{arms}    }}\n}}\n");
    let cases: String = (0..10_000).map(|case| format!("\tcase *T{case}:\n\t\tx.run()\n")).collect();
    let go = format!("package a\nfunc f(of any) {{\n\tswitch x := of.(type) {{\n{cases}\t}}\n}}\n");
    let pairs: String = (0..10_000).map(|pair| format!("  k{pair}: () => f(),\n")).collect();
    let script = format!("module.exports = {{\n{pairs}}};\n");
    for (language, path, text) in
        [(Language::Rust, "a.rs", rust), (Language::Go, "a.go", go), (Language::JavaScript, "a.js", script)]
    {
        let facts = extract(language, path, text.as_bytes()).expect("a program");
        assert!(facts.defs.len() > 10_000, "{path}");
    }
}
