//! The questions, each on a small program: what is found, what is said when nothing is, and what a budget leaves out.

use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Basis, Memo, Snapshot};
use code::query::diagnostics::{Checker, Severity};
use code::query::{Answer, Cut, Page, Part, budget, fit};
use code::query::{
    arch, calls, change, context, dead, diagnostics, impact, imports, search, semantic, structure, tree,
};
use proptest::prelude::*;

fn project(files: &[(&str, &str)]) -> Snapshot {
    memo(files).snapshot()
}

fn memo(files: &[(&str, &str)]) -> Memo {
    let mut memo = Memo::default();
    let facts = files.iter().map(|(path, text)| {
        let language = Language::of_path(path).expect("a language");
        (Arc::from(*path), extract(language, path, text.as_bytes()).map(Held::from))
    });
    memo.update(facts.collect());
    memo
}

fn shop() -> Snapshot {
    project(&[
        ("shop/__init__.py", "from .cart import Cart\n"),
        (
            "shop/cart.py",
            "from .prices import price\n\nclass Cart:\n    def __init__(self):\n        self.n = 0\n\n    def total(self):\n        \"\"\"Add up everything in the cart.\"\"\"\n        return price(1)\n\n    def show(self):\n        print(self.total())\n",
        ),
        (
            "shop/prices.py",
            "def price(n):\n    return lookup(n)\n\ndef lookup(n):\n    return n\n\ndef stale():\n    return stale()\n",
        ),
        ("other/prices.py", "def price(n):\n    return 0\n"),
        (
            "tests/test_cart.py",
            "from shop import Cart\n\ndef test_total():\n    Cart().total()\n\ndef test_nothing():\n    pass\n",
        ),
    ])
}

#[test]
fn impact_climbs_through_callers_and_names_lines() {
    let answer = impact::impact(&shop(), "lookup", 5, &Part::default()).expect("found");
    assert_eq!(
        answer.text(),
        "lookup (shop/prices.py:4)\n  <- price (shop/prices.py:2)\n    <- Cart.total (shop/cart.py:9)\n      <- Cart.show (shop/cart.py:12)\n      <- test_total (tests/test_cart.py:4)\n"
    );
    let short = impact::impact(&shop(), "lookup", 1, &Part::default()).expect("found");
    assert_eq!(short.callers[0].note, Some("depth reached"));
}

#[test]
fn what_only_a_name_speaks_for_is_counted_by_calls_and_shown_by_impact() {
    let snapshot = project(&[
        ("a.py", "class Pump:\n    def prime_the_pump(self):\n        pass\n"),
        ("b.py", "def go(it):\n    it.prime_the_pump()\n"),
    ]);
    let all = calls::calls(&snapshot, &Part::default());
    assert_eq!((all.edges.len(), all.possible, all.unresolved), (0, 1, 0));
    assert_eq!(all.text(), "0 edges, 1 more of low confidence, 0 calls unresolved\n");
    let answer = impact::impact(&snapshot, "prime_the_pump", 1, &Part::default()).expect("found");
    assert_eq!(answer.text(), "Pump.prime_the_pump (a.py:2)\n  <- go (b.py:2) (low confidence)\n");
}

#[test]
fn making_an_object_is_using_its_constructor() {
    let answer = impact::impact(&shop(), "Cart.__init__", 1, &Part::default()).expect("found");
    assert_eq!(answer.callers[0].function, "test_total");
}

#[test]
fn a_name_that_several_have_is_not_guessed() {
    let missing = impact::impact(&shop(), "price", 1, &Part::default()).expect_err("two of them");
    assert_eq!(missing.candidates, ["other/prices.py:price", "shop/prices.py:price"]);
    let answer = impact::impact(&shop(), "other/prices.py:price", 1, &Part::default()).expect("one of them");
    assert!(answer.callers.is_empty());
    assert_eq!(answer.file, "other/prices.py");
}

#[test]
fn a_name_that_nobody_has_gets_near_ones() {
    let missing = impact::impact(&shop(), "totl", 1, &Part::default()).expect_err("none");
    assert_eq!(missing.near, ["Cart.total"]);
    assert_eq!(missing.message(), "no function called totl; near is Cart.total");
}

#[test]
fn a_file_that_is_named_is_not_one_that_only_ends_like_it() {
    let source = "def save():\n    pass\n";
    let snapshot = project(&[("a.py", source), ("sub/a.py", source)]);
    let file = |name: &str| impact::impact(&snapshot, name, 1, &Part::default()).map(|answer| answer.file);
    let missing = file("save").expect_err("two");
    assert_eq!(missing.message(), "say which save is meant: a.py:save, sub/a.py:save");
    assert_eq!(
        missing.candidates.iter().map(|one| file(one)).collect::<Vec<_>>(),
        [Ok("a.py".to_owned()), Ok("sub/a.py".to_owned())]
    );
}

#[test]
fn a_tree_of_callers_that_does_not_fit_ends_higher_up_and_says_so() {
    let mut source = String::from("def f0():\n    pass\n");
    for n in 1..30 {
        source.push_str(&format!("\ndef f{n}():\n    f{}()\n", n - 1));
    }
    let answer = impact::impact(&project(&[("a.py", &source)]), "f0", 20, &Part::default()).expect("found");
    let page = Page { max_tokens: Some(150), ..Page::default() };
    let answer = fit(answer, page, budget::size);
    assert!(budget::size(&answer) <= 600);
    assert_eq!((answer.callers.len(), &answer.cut), (1, &Cut { truncated: false, total: 1, next: None }));
    let told = answer.text();
    assert!(
        told.contains("<- f3 ") && !told.contains("<- f9 ") && told.contains("(more than fits)"),
        "{told}"
    );
}

#[test]
fn calls_that_lead_nowhere_are_counted_under_their_name() {
    let snapshot =
        project(&[("a.py", "def save(x):\n    pass\n\ndef run(x):\n    x.save()\n    x.save()\n")]);
    let answer = impact::impact(&snapshot, "save", 1, &Part::default()).expect("found");
    assert_eq!((answer.callers.len(), answer.unresolved), (0, 2));
}

#[test]
fn same_named_functions_are_not_joined() {
    let shop = shop();
    let edges = calls::calls(&shop, &Part::default()).edges;
    assert!(edges.iter().all(|edge| edge.call().to_file != "other/prices.py"), "{edges:?}");
}

#[test]
fn dead_code_is_what_only_itself_uses() {
    let answer = dead::dead(&shop(), &Part::default(), &[]);
    let names: Vec<_> = answer.dead.iter().map(|one| one.name.as_str()).collect();
    // `price` of the other folder has the name of one that is used, so it is only suspected.
    assert_eq!(names, ["stale"]);
    let suspected: Vec<_> =
        answer.possibly_dead.iter().map(|one| (one.file.as_str(), one.evidence)).collect();
    let by_name = "the name is used on objects of unknown type, or imported";
    assert_eq!(suspected, [("other/prices.py", by_name), ("shop/cart.py", "exported: others may use it")]);
    let kept = dead::dead(&shop(), &Part::default(), &["stale".to_owned()]);
    assert!(kept.dead.is_empty());
}

#[test]
fn a_name_that_a_text_uses_is_only_suspected() {
    let snapshot = project(&[(
        "a.py",
        "EXPORTED = ['listed']\nTEMPLATE = '{% if loop.called(x) %}'\n\ndef listed():\n    pass\n\ndef called():\n    pass\n\ndef told():\n    'told, and not used'\n",
    )]);
    let answer = dead::dead(&snapshot, &Part::default(), &[]);
    let names = |list: &[dead::Unused]| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&answer.dead), ["told"]);
    assert_eq!(names(&answer.possibly_dead), ["listed", "called"]);
}

#[test]
fn a_change_is_followed_to_the_tests_that_see_it() {
    let diff = "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -4,2 +4,2 @@ def price(n):\n-x\n+y\n";
    let changed = change::parse_diff(diff);
    let answer = change::change_impact(&shop(), &changed, 10);
    let names = |list: &[change::Affected]| list.iter().map(|one| one.function.clone()).collect::<Vec<_>>();
    assert_eq!(names(&answer.changed_functions), ["lookup"]);
    assert_eq!(names(&answer.affected_tests), ["test_total"]);
    assert_eq!(answer.test_command, ["pytest", "tests/test_cart.py"]);
    let none = change::change_impact(&shop(), &change::parse_diff(""), 10);
    assert!(none.test_command.is_empty(), "no test affected is no test to run");
}

#[test]
fn a_diff_names_new_deleted_and_quoted_files() {
    let diff = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,3 @@\n+a\n--- a/old.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n";
    let changed = change::parse_diff(diff);
    assert_eq!((changed[0].file.as_str(), changed[0].lines[0]), ("new.py", (1, 3)));
    assert_eq!(changed[1].file, "old.py");
}

#[test]
fn importers_are_found_by_module_and_by_file() {
    let snapshot = shop();
    let files = |module: &str| {
        let answer = imports::importers(&snapshot, module, &Part::default());
        answer.importers.into_iter().map(|one| one.file).collect::<Vec<_>>()
    };
    assert_eq!(files("shop.prices"), ["shop/cart.py"]);
    assert_eq!(files("shop/prices.py"), ["shop/cart.py"]);
    assert_eq!(files("shop"), ["tests/test_cart.py"]);
    assert_eq!(files("prices"), Vec::<String>::new());
}

#[test]
fn a_module_is_meant_by_every_name_that_its_language_has_for_it() {
    let snapshot = project(&[
        ("kitchen/src/lib.rs", "pub mod tools;\n"),
        ("kitchen/src/tools.rs", "pub fn stir() {}\n"),
        ("cook/src/main.rs", "use kitchen::tools::stir;\n"),
        ("app/main.go", "package main\n\nimport \"example.com/x/app/store\"\n"),
        ("app/store/store.go", "package store\n"),
        ("app/store/store_test.go", "package store\n"),
        ("Data/Store.php", "<?php\nnamespace Shop\\Data;\nclass Store {}\n"),
        ("Cart.php", "<?php\nuse Shop\\Data\\Store;\n"),
        ("lib/router.js", "const layer = require('./layer');\n"),
        ("lib/layer.js", "module.exports = {};\n"),
    ]);
    let found = |module: &str| {
        let answer = imports::importers(&snapshot, module, &Part::default());
        answer
            .importers
            .into_iter()
            .map(|one| format!("{}:{}", one.file, one.import.line))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("kitchen::tools"), ["cook/src/main.rs:1", "kitchen/src/lib.rs:1"]);
    assert_eq!(found("crate::tools"), found("kitchen::tools"));
    assert_eq!(found("./kitchen/src/tools.rs"), found("kitchen::tools"));
    for other in ["kitch::tools", "kitchentools", "std::tools", "tools"] {
        assert_eq!(found(other), Vec::<String>::new(), "{other}");
    }
    for name in ["./layer", "lib/layer.js", "./lib/layer.js"] {
        assert_eq!(found(name), ["lib/router.js:1"], "{name}");
    }
    assert_eq!(found("app/store"), ["app/main.go:3"]);
    assert_eq!(found("app/store/store.go"), ["app/main.go:3"]);
    assert_eq!(found("app/store/store_test.go"), Vec::<String>::new());
    for name in ["Shop\\Data", "Shop\\Data\\Store", "Data/Store.php"] {
        assert_eq!(found(name), ["Cart.php:2"], "{name}");
    }
}

#[test]
fn where_nobody_imports_a_module_the_reason_or_a_near_name_is_said() {
    let snapshot = project(&[
        ("a.py", "import collections.abc\n"),
        ("shop/Cart.java", "package shop;\nclass Cart {}\n"),
        ("shop/Main.java", "package shop;\nclass Main { Cart cart; }\n"),
    ]);
    let nobody = |module: &str| imports::importers(&snapshot, module, &Part::default()).nobody(&snapshot);
    let near = vec!["collections.abc".to_owned()];
    assert_eq!(
        nobody("collection.abc"),
        ("nothing imports collection.abc; near is collections.abc".into(), near)
    );
    let (words, _) = nobody("shop/Cart.java");
    assert_eq!(
        words,
        "nothing imports shop/Cart.java; files of one package use each other without an import"
    );
    assert_eq!(nobody("zzz").0, "nothing imports zzz");
}

#[test]
fn imports_keep_dots_aliases_and_stars() {
    let source = "import a.b as c\nfrom . import x as y\nfrom ..p import (r, s as t)\nfrom z import *\n";
    let facts = extract(Language::Python, "a.py", source.as_bytes()).expect("facts");
    let answer = imports::imports("a.py", &facts);
    assert_eq!(answer.text(), "    1  a.b as c\n    2  .: x as y\n    3  ..p: r, s as t\n    4  z: *\n");
}

#[test]
fn context_goes_breadth_first_to_its_depth() {
    let answer = context::context(&shop(), "Cart.show", 2).expect("found");
    let names: Vec<_> = answer.functions.iter().map(|one| (one.name.as_str(), one.distance)).collect();
    assert_eq!(names, [("Cart.show", 0), ("Cart.total", 1), ("price", 2)]);
}

#[test]
fn folders_are_layered_and_circles_found() {
    let snapshot = project(&[
        ("high/a.py", "from low.b import f\ndef g():\n    f()\ndef back():\n    pass\n"),
        ("low/b.py", "def f():\n    from high.a import back\n    back()\n"),
        ("low/c.py", "def c():\n    pass\n"),
    ]);
    let answer = arch::arch(&snapshot, &Part::default());
    assert_eq!(answer.circular_dependencies, [["high/a.py", "low/b.py"]]);
    assert_eq!(answer.directories[0].depends_on, ["low"]);
}

#[test]
fn search_matches_line_by_line() {
    let pattern = search::Pattern::new("^def .*e\\(").expect("a pattern");
    let mut hits = pattern.hits("b.py", b"def price(n):\r\n    pass\nxdef price(\n");
    hits.extend(pattern.hits("a.py", b"\0def price("));
    let answer = pattern.answer(hits);
    assert_eq!(answer.text(), "b.py:1: def price(n):\n");
    assert!(search::Pattern::new("(").is_err());
}

#[test]
fn semantic_search_takes_names_apart() {
    let snapshot = shop();
    let index = semantic::Index::build(&snapshot);
    let answer = index.search(&snapshot, "adding up the cart", 3, &Part::default());
    assert_eq!(answer.results[0].name, "Cart.total");
    assert!(index.search(&snapshot, "", 3, &Part::default()).results.is_empty());
}

#[test]
fn checkers_are_read_in_their_own_formats() {
    let ruff = r#"[{"code":"F401","filename":"a.py","location":{"row":1,"column":8},"message":"unused"}]"#;
    let (found, unread) = diagnostics::parse(Checker::Ruff, "ruff", ruff);
    assert_eq!((found[0].line, found[0].severity, unread), (1, Severity::Warning, 0));
    let pyright = r#"{"generalDiagnostics":[{"file":"a.py","severity":"error","message":"m","range":{"start":{"line":0,"character":2}}}]}"#;
    assert_eq!(diagnostics::parse(Checker::Pyright, "pyright", pyright).0[0].line, 1);
    let mypy = "a.py:3: error: bad thing  [arg-type]\nFound 1 error in 1 file\n";
    let (found, unread) = diagnostics::parse(Checker::Lines, "mypy", mypy);
    assert_eq!(
        (found[0].code.as_deref(), found[0].message.as_str(), unread),
        (Some("arg-type"), "bad thing", 1)
    );
    let tsc = "src/a.ts(4,7): error TS2322: no\n";
    assert_eq!(diagnostics::parse(Checker::Tsc, "tsc", tsc).0[0].column, 7);
    assert_eq!(diagnostics::parse(Checker::Ruff, "ruff", "not JSON").1, 1);
    let answer = diagnostics::answer(found, vec!["mypy".to_owned()]);
    assert_eq!((answer.errors, answer.warnings), (1, 0));
}

#[test]
fn a_tree_is_nested_and_sorted() {
    let answer = tree::tree("root", ["b/c.py".to_owned(), "a.py".to_owned(), "b/a.py".to_owned()]);
    assert_eq!(answer.text(), "root/\n  a.py\n  b/\n    a.py\n    c.py\n");
}

#[test]
fn a_part_is_a_folder_and_not_a_beginning() {
    let part = Part { path: "shop".to_owned(), language: None };
    assert!(part.holds("shop/a.py", Language::Python) && !part.holds("shopping/a.py", Language::Python));
    let other = Part { language: Some(Language::Go), ..part };
    assert!(!other.holds("shop/a.py", Language::Python));
}

fn size(answer: &impl serde::Serialize) -> u64 {
    kit::text::tokens(serde_json::to_vec(answer).expect("JSON").len() as u64)
}

/// Asks page after page, and says what was given in all.
fn pages<A: Answer + Clone>(whole: &A, tokens: u64) -> usize {
    let (mut offset, mut given) = (0, 0);
    for _ in 0..500 {
        let page =
            fit(whole.clone(), Page { offset, max_tokens: Some(tokens), ..Page::default() }, budget::size);
        assert!(size(&page) <= tokens || page.count() == 0, "{} over {tokens}", size(&page));
        given += page.count();
        let json = serde_json::to_value(&page).expect("JSON");
        assert_eq!(json["total"], whole.count());
        match json["next"].as_u64() {
            Some(next) if usize::try_from(next).expect("small") > offset => {
                offset = usize::try_from(next).expect("small");
            }
            _ => break,
        }
    }
    given
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Pages never exceed their budget, and together give everything, if one item fits at all.
    #[test]
    fn budgets_hold_and_pages_add_up(tokens in 250_u64..2000) {
        let snapshot = shop();
        let part = Part::default();
        let edges = calls::calls(&snapshot, &part);
        prop_assert_eq!(pages(&edges, tokens), edges.count());
        let unused = dead::dead(&snapshot, &part, &[]);
        prop_assert_eq!(pages(&unused, tokens), unused.count());
        let shape = structure::structure(&snapshot, &part);
        prop_assert_eq!(pages(&shape, tokens.max(600)), shape.count());
        let files: Vec<String> = (0..200).map(|n| format!("folder{}/inner/file{n}.py", n % 7)).collect();
        let all = tree::tree("root", files);
        prop_assert_eq!(pages(&all, tokens), 200);
    }
}

#[test]
fn one_of_a_thing_is_told_as_one() {
    let counted = |number| code::query::counted(number, "file");
    assert_eq!([0, 1, 2, 2000].map(counted), ["0 files", "1 file", "2 files", "2,000 files"]);
    let snapshot = project(&[("a.py", "def one():\n    two()\n\ndef two(x):\n    x.three()\n")]);
    assert!(calls::calls(&snapshot, &Part::default()).text().ends_with("1 edge, 1 call unresolved\n"));
}

#[test]
fn of_several_with_a_name_the_one_in_the_part_that_is_asked_about_is_meant() {
    let part = Part { path: "shop".to_owned(), language: None };
    let answer = impact::impact(&shop(), "price", 1, &part).expect("one of them is there");
    assert_eq!((answer.file.as_str(), answer.callers.len()), ("shop/prices.py", 1));
    let many: Vec<String> = (0..20).map(|n| format!("d{n}/a.py")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "def f():\n    pass\n")).collect();
    let missing = impact::impact(&project(&many), "f", 1, &Part::default()).expect_err("twenty of them");
    assert_eq!(missing.candidates.len(), 20);
    assert!(missing.message().ends_with("d15/a.py:f and 12 more"), "{}", missing.message());
}

#[test]
fn a_guard_behind_a_pattern_without_names_calls_what_it_asks() {
    let text = "fn is_odd(n: u32) -> bool {\n    n % 2 == 1\n}\nfn main() {\n    match 3 {\n        _ if is_odd(3) => {}\n        _ => {}\n    }\n}\n";
    let answer = impact::impact(&project(&[("a.rs", text)]), "is_odd", 1, &Part::default()).expect("found");
    assert_eq!(answer.callers.iter().map(|one| one.lines.clone()).collect::<Vec<_>>(), [[6]]);
}

#[test]
fn overloads_are_one_function() {
    let text = "class Box {\n  take(n: number): void;\n  take(n: string): void;\n  take(n: any) {}\n  lost(n: number): void;\n  lost(n: any) {}\n}\nfunction run() {\n  new Box().take(1);\n}\nrun();\n";
    let answer = dead::dead(&project(&[("a.ts", text)]), &Part::default(), &[]);
    let names = |list: &[dead::Unused]| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!([names(&answer.dead), names(&answer.possibly_dead)].concat(), ["Box.lost"]);
}

#[test]
fn an_edge_that_was_found_in_another_file_is_told_where_it_starts() {
    let snapshot = project(&[
        (
            "a.py",
            "def deco(f):\n    def inner(*a):\n        return f(*a)\n    return inner\n\n\ndef last():\n    deco(1)\n",
        ),
        ("b.py", "from a import deco\n\n\n@deco\ndef f():\n    pass\n"),
    ]);
    let told = |path: &str| {
        let part = Part { path: path.to_owned(), language: None };
        let edges = calls::calls(&snapshot, &part).edges;
        let line =
            |call: code::graph::Call<'_>| format!("{}:{} {}", call.from_file, call.from_func, call.to_func);
        edges.iter().map(|edge| line(edge.call())).collect::<Vec<_>>()
    };
    assert_eq!(told("a.py"), ["a.py:deco inner", "a.py:inner f", "a.py:last deco"]);
    assert!(told("b.py").iter().all(|edge| edge.starts_with("b.py:")), "{:?}", told("b.py"));
    assert_eq!(told(""), [told("a.py"), told("b.py")].concat());
}

#[test]
fn an_attribute_that_only_the_compiler_reads_keeps_no_function_alive() {
    let text = "#[must_use]\n#[inline]\nfn lost() -> u8 { 1 }\n\n#[handler]\nfn kept() {}\n";
    let answer = dead::dead(&project(&[("src/main.rs", text)]), &Part::default(), &[]);
    let names = |list: &[dead::Unused]| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names(&answer.dead), names(&answer.possibly_dead)),
        (vec!["lost".into()], vec!["kept".into()])
    );
}

#[test]
fn a_method_that_is_called_is_not_the_field_of_its_name() {
    let text = "#[derive(Default)]\nstruct Rule {\n    strict: bool,\n}\n\nimpl Rule {\n    fn strict(&self) -> bool {\n        self.strict\n    }\n}\n\nfn check() -> bool {\n    let rule = Rule::default();\n    rule.strict()\n}\n\nfn read(rule: &Rule) -> bool {\n    rule.strict\n}\n";
    let snapshot = project(&[("src/lib.rs", text)]);
    let answer = impact::impact(&snapshot, "Rule.strict", 1, &Part::default()).expect("found");
    let callers: Vec<_> = answer.callers.iter().map(|one| one.function.as_str()).collect();
    assert_eq!(callers, ["check"]);
}

#[test]
fn a_form_of_a_type_is_of_that_type() {
    let text = "enum Fault {\n    Io(u8),\n    None,\n}\n\nimpl Fault {\n    fn at(self, n: u8) -> Self {\n        self\n    }\n}\n\nfn one() -> Fault {\n    Fault::Io(1).at(2)\n}\n\nfn other() -> Fault {\n    Fault::None.at(1)\n}\n";
    let snapshot = project(&[("src/lib.rs", text)]);
    let answer = impact::impact(&snapshot, "Fault.at", 1, &Part::default()).expect("found");
    let callers: Vec<_> = answer.callers.iter().map(|one| one.function.as_str()).collect();
    assert_eq!(callers, ["one", "other"]);
}

#[test]
fn what_runs_without_being_named_leaves_its_uses_open() {
    let text = "
class Shape:
    def area(self): return 0
    @property
    def size(self): return 1
    def __len__(self): return 2
    def __call__(self): return 3

class Square(Shape):
    def area(self): return 4

class Lonely:
    def area(self): return 5

class Circle: pass

def sum_up(shape: Shape, other, callback):
    shape.area()
    len(other)
    callback()
    return other.size

KINDS = {'round': Circle}
";
    let snapshot = project(&[("a.py", text)]);
    let open = |name| {
        let answer = impact::impact(&snapshot, name, 1, &Part::default()).expect("found");
        (answer.callers.len(), answer.unresolved)
    };
    for name in ["Square.area", "Shape.size", "Shape.__len__", "Shape.__call__", "Circle"] {
        assert_eq!(open(name), (0, 1), "{name}");
    }
    assert_eq!(open("Shape.area"), (1, 0));
    assert_eq!(open("Lonely.area"), (0, 0));
    let answer = impact::impact(&snapshot, "Shape.size", 1, &Part::default()).expect("found");
    assert_eq!(answer.text(), "Shape.size (a.py:4)\n  nobody calls it\n  unresolved uses of that name: 1\n");
}

#[test]
fn a_use_that_is_left_open_is_counted_after_an_edit() {
    let text = |more: &str| {
        format!("class A:\n    @property\n    def size(self): return 1\ndef f(it): return 2{more}\n")
    };
    let mut memo = memo(&[("a.py", &text(""))]);
    let ask = |memo: &mut Memo| {
        let told = memo.answer("impact", Basis::Graph, |snapshot| {
            impact::impact(snapshot, "A.size", 1, &Part::default()).expect("found").unresolved.to_string()
        });
        told.to_string()
    };
    assert_eq!(ask(&mut memo), "0");
    let facts = extract(Language::Python, "a.py", text(" + it.size").as_bytes());
    memo.update(vec![("a.py".into(), facts.map(Held::from))]);
    assert_eq!(ask(&mut memo), "1");
}
