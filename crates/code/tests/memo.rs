//! The memo by its own log: what an edit makes it do again, and what not.
#![allow(clippy::disallowed_methods, reason = "fixtures are plain files")]

use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Asked, Basis, Counters, Memo, Snapshot, Work};
use code::project::{Manifest, Said};
use code::query::semantic::{self, Semantic};
use code::query::whole::Shelf;
use code::query::{Part, calls, dead, structure};
use proptest::prelude::*;

type Change = (Arc<str>, Option<Held>);

fn file(path: &str, text: &str) -> Change {
    let language = Language::of_path(path).expect("a language");
    (Arc::from(path), Some(extract(language, path, text.as_bytes()).expect("facts").into()))
}

fn gone(path: &str) -> Change {
    (Arc::from(path), None)
}

/// Every edge, those of low confidence included, by what its ends are called; and every call that leads nowhere.
fn edges(memo: &mut Memo) -> String {
    edges_of(&memo.snapshot())
}

fn edges_of(snapshot: &Snapshot) -> String {
    let name = |place: code::project::Place| {
        let facts = snapshot.files.facts(place.file);
        format!(
            "{}:{}:{}",
            snapshot.files.path(place.file),
            facts.qualified(place.def),
            facts.def(place.def).line
        )
    };
    let mut lines: Vec<String> = Vec::new();
    for edge in snapshot.graph.edges() {
        let (from, to) = (name(edge.from), name(edge.to));
        lines.push(format!("{from} {} -> {to} {:?} {:?}", edge.line, edge.kind, edge.confidence));
    }
    for (id, entry) in snapshot.files.each() {
        for site in snapshot.graph.part(id).map_or(&[][..], |part| &part.unresolved) {
            lines.push(format!("{}:{} {}?", entry.path, site.line, site.name));
        }
    }
    lines.sort();
    lines.join("\n")
}

/// What is made of what was known before.
#[derive(Default)]
struct Kept {
    shelf: Shelf,
    words: semantic::Index,
}

impl Kept {
    fn told(&mut self, snapshot: &Snapshot) -> (Vec<String>, Semantic) {
        let part = Part::default();
        self.words = self.words.next(snapshot);
        let calls = self.shelf.calls(snapshot, &part);
        let structure = self.shelf.structure(snapshot, &part);
        let dead = dead::dead(snapshot, &part, &[]);
        let mut told = vec![calls.pieces.concat(), structure.pieces.concat(), json(&dead)];
        // A part does not disturb the whole.
        let part = Part { path: "m1.py".to_owned(), language: None };
        told.push(self.shelf.calls(snapshot, &part).pieces.concat());
        (told, self.words.search(snapshot, "a method of f and m1", 5, &Part::default()))
    }
}

/// The same, each made in one go.
fn told_afresh(snapshot: &Snapshot) -> (Vec<String>, Semantic) {
    let part = Part::default();
    let told = vec![
        json(&calls::calls(snapshot, &part)),
        json(&structure::structure(snapshot, &part)),
        json(&dead::dead(snapshot, &part, &[])),
        json(&calls::calls(snapshot, &Part { path: "m1.py".to_owned(), language: None })),
    ];
    let words = semantic::Index::build(snapshot);
    (told, words.search(snapshot, "a method of f and m1", 5, &part))
}

fn json<A: serde::Serialize>(answer: &A) -> String {
    serde_json::to_string(answer).expect("answers are JSON")
}

const A: &str = "from b import f\n\ndef main():\n    f()\n";
const B: &str = "def f():\n    return 1\n";
const C: &str = "def alone():\n    pass\n";

fn three() -> Memo {
    let mut memo = Memo::default();
    memo.update(vec![file("a.py", A), file("b.py", B), file("c.py", C)]);
    memo.snapshot();
    memo.take_log();
    memo
}

#[test]
fn a_new_function_concerns_only_those_who_looked_for_its_name() {
    let mut memo = three();
    memo.update(vec![file("c.py", "from b import *\n\ndef alone():\n    g()\n")]);
    memo.snapshot();
    memo.take_log();
    let before = memo.counters();
    memo.update(vec![file("b.py", "def g(n):\n    pass\n\ndef f():\n    g(2)\n    return 1\n")]);
    let now = edges(&mut memo);
    // `a` asked `b` for `f` alone, which only went to another line; `c` had asked for `g` and not found it.
    assert_eq!(memo.take_log(), ["changed b.py", "resolved b.py", "resolved c.py"]);
    let after = memo.counters();
    assert_eq!((after.hits - before.hits, after.recomputations - before.recomputations), (1, 2));
    assert!(now.contains("a.py:main:3 4 -> b.py:f:4 Call High"), "{now}");
    assert!(now.contains("c.py:alone:3 4 -> b.py:g:1"), "{now}");
}

#[test]
fn a_new_method_concerns_only_those_who_asked_the_class_for_it() {
    let class = "class K:\n    def go(self):\n        pass\n";
    let mut memo = Memo::default();
    memo.update(vec![
        file("k.py", class),
        file("a.py", "from k import K\n\ndef one():\n    K().go()\n"),
        file("b.py", "from k import K\n\ndef two():\n    K().run_it()\n"),
    ]);
    memo.snapshot();
    memo.take_log();
    memo.update(vec![file("k.py", &format!("{class}\n    def run_it(self):\n        pass\n"))]);
    let now = edges(&mut memo);
    assert_eq!(memo.take_log(), ["changed k.py", "resolved b.py", "resolved k.py"]);
    assert!(now.contains("b.py:two:3 4 -> k.py:K.run_it:5"), "{now}");
}

#[test]
fn a_file_that_comes_or_goes_concerns_only_those_who_looked_for_it() {
    let mut memo = Memo::default();
    memo.update(vec![
        file("p/__init__.py", ""),
        file("p/a.py", "from p.later import f\nfrom . import b\n\ndef main():\n    f()\n    b.g()\n"),
        file("p/b.py", "import os\n\ndef g():\n    os.getcwd()\n"),
        file("q/main.js", "import { h } from \"./later.js\";\nh();\n"),
    ]);
    memo.snapshot();
    memo.take_log();
    memo.update(vec![file("p/other.py", "def f():\n    pass\n")]);
    memo.snapshot();
    assert_eq!(memo.take_log(), ["changed p/other.py", "resolved p/other.py"]);
    memo.update(vec![file("p/later.py", "def f():\n    pass\n")]);
    assert!(edges(&mut memo).contains("p/a.py:main:4 5 -> p/later.py:f:1"));
    // The script asked for a file of that name as well, and its folder is not part of the question.
    assert_eq!(
        memo.take_log(),
        ["changed p/later.py", "resolved p/a.py", "resolved p/later.py", "resolved q/main.js"]
    );
    memo.update(vec![gone("p/other.py")]);
    memo.snapshot();
    assert_eq!(memo.take_log(), ["changed p/other.py"]);
    memo.update(vec![gone("p/later.py")]);
    assert!(!edges(&mut memo).contains("later.py:f"));
    assert_eq!(memo.take_log(), ["changed p/later.py", "resolved p/a.py", "resolved q/main.js"]);
}

#[test]
fn an_edit_that_shows_nothing_new_concerns_nobody_else() {
    let mut memo = three();
    memo.update(vec![file("b.py", "def f():\n    print(1)\n    return 1\n")]);
    memo.snapshot();
    assert_eq!(memo.take_log(), ["changed b.py", "resolved b.py"]);
}

#[test]
fn a_comment_at_the_end_of_a_line_is_no_change_at_all() {
    let mut memo = three();
    let before = memo.counters();
    memo.update(vec![file("b.py", "def f():\n    return 1  # one\n")]);
    memo.snapshot();
    assert_eq!(memo.take_log(), Vec::<String>::new());
    assert_eq!(memo.counters(), before);
}

#[test]
fn a_documentation_edit_leaves_the_graph_and_its_answers_alone() {
    let mut memo = three();
    memo.update(vec![file("b.py", "def f():\n    \"\"\"One.\"\"\"\n    return 1\n")]);
    memo.snapshot();
    memo.take_log();
    let ask = |memo: &mut Memo| {
        memo.answer("calls", Basis::Graph, |snapshot| {
            format!("{:?}", calls::calls(snapshot, &Part::default()))
        })
    };
    let shape = |memo: &mut Memo| {
        memo.answer("structure", Basis::Facts, |snapshot| {
            format!("{:?}", structure::structure(snapshot, &Part::default()))
        })
    };
    let first = ask(&mut memo);
    shape(&mut memo);
    memo.take_log();
    memo.update(vec![file("b.py", "def f():\n    \"\"\"Two.\"\"\"\n    return 1\n")]);
    let before = memo.counters();
    assert_eq!(ask(&mut memo), first);
    shape(&mut memo);
    assert_eq!(memo.take_log(), ["changed b.py", "resolved b.py", "computed structure"]);
    let after = memo.counters();
    // Hits: the files `a` and `c`, and the kept edges. Done again: the file `b`, and the structure.
    assert_eq!(
        (
            after.hits - before.hits,
            after.misses - before.misses,
            after.recomputations - before.recomputations
        ),
        (3, 0, 2)
    );
}

#[test]
fn a_new_file_can_be_what_an_import_was_waiting_for() {
    let mut memo = Memo::default();
    memo.update(vec![file("a.py", A)]);
    assert!(!edges(&mut memo).contains("b.py"));
    memo.update(vec![file("b.py", B)]);
    assert!(edges(&mut memo).contains("b.py"));
    memo.update(vec![gone("b.py")]);
    assert!(!edges(&mut memo).contains("b.py"));
}

#[test]
fn a_memo_comes_back_from_its_bytes_and_goes_on_where_it_was() {
    let mut memo = three();
    // A number that came late and a path that comes early.
    memo.update(vec![file("0.py", "from a import main\nmain()\n"), gone("c.py")]);
    let unfinished = memo.pack();
    let before = edges(&mut memo);
    let packed = memo.pack();
    let files: Vec<_> = memo
        .snapshot()
        .files
        .each()
        .map(|(_, entry)| (Arc::clone(&entry.path), entry.facts.clone()))
        .collect();
    let mut again = Memo::unpack(&files, &packed).expect("its own bytes");
    assert_eq!(edges(&mut again), before);
    assert_eq!(again.counters(), Counters::default(), "nothing was worked out again");
    again.update(vec![file("b.py", "def g():\n    pass\n\ndef f():\n    return 1\n")]);
    assert!(edges(&mut again).contains("a.py:main:3 4 -> b.py:f:4"));
    assert_eq!(again.take_log(), ["changed b.py", "resolved b.py"]);
    again.update(vec![file("b.py", "def g():\n    pass\n")]);
    again.snapshot();
    assert_eq!(again.take_log(), ["changed b.py", "resolved a.py", "resolved b.py"]);
    // What was not worked out yet is then, and nothing else.
    let mut rest = Memo::unpack(&files, &unfinished).expect("its own bytes");
    assert_eq!(edges(&mut rest), before);
    assert_eq!(rest.take_log(), ["resolved 0.py"]);
    // Bytes for other files, cut or longer ones are nobody's.
    assert!(Memo::unpack(&files[1..], &packed).is_none());
    for cut in 0..packed.len() {
        assert!(Memo::unpack(&files, &packed[..cut]).is_none(), "cut at {cut}");
    }
    assert!(Memo::unpack(&files, &[packed.as_slice(), &[0]].concat()).is_none());
}

#[test]
fn an_answer_for_one_file_does_not_ask_for_others() {
    let mut memo = three();
    let ask = |memo: &mut Memo| {
        memo.answer("extract c.py", Basis::File("c.py"), |snapshot| snapshot.files.len().to_string())
    };
    ask(&mut memo);
    memo.update(vec![file("b.py", "def f():\n    return 2\n\ndef h():\n    pass\n")]);
    memo.take_log();
    ask(&mut memo);
    assert!(!memo.take_log().contains(&"computed extract c.py".to_owned()));
    memo.update(vec![file("c.py", "def other():\n    pass\n")]);
    memo.take_log();
    ask(&mut memo);
    assert!(memo.take_log().contains(&"computed extract c.py".to_owned()));
}

#[test]
fn counters_start_at_nothing_and_count_first_asks_as_misses() {
    let mut memo = Memo::default();
    assert_eq!(memo.counters(), Counters::default());
    memo.update(vec![file("a.py", A), file("b.py", B)]);
    memo.snapshot();
    assert_eq!(memo.counters(), Counters { misses: 2, ..Counters::default() });
}

fn manifest(path: &str, text: &str) -> Said {
    (Arc::from(path), Manifest::read(path, text).map(Arc::new))
}

/// A project whose imports only its build files explain.
fn explained(files: Vec<Change>, manifests: Vec<Said>) -> (String, String) {
    let mut memo = Memo::default();
    memo.update(files);
    let before = edges(&mut memo);
    memo.update_manifests(manifests);
    let after = edges(&mut memo);
    // However often they say the same, it is no news.
    memo.take_log();
    memo.update_manifests(Vec::new());
    memo.snapshot();
    assert_eq!(memo.take_log(), Vec::<String>::new());
    (before, after)
}

#[test]
fn a_go_module_says_whose_an_import_is() {
    let (before, after) = explained(
        vec![
            file(
                "main.go",
                "package main\n\nimport (\n\t\"errors\"\n\t\"example.com/shop/cart\"\n\t\"example.com/shop\"\n)\n\nfunc main() {\n\terrors.New(\"x\")\n\tcart.Total()\n\tshop.Open()\n}\n",
            ),
            file("shop.go", "package shop\n\nfunc Open() {}\n"),
            file("cart/cart.go", "package cart\n\nfunc Total() int { return 1 }\n"),
            file("errors/errors.go", "package errors\n\nfunc New(text string) {}\n"),
        ],
        vec![manifest("go.mod", "module example.com/shop\n")],
    );
    // Without it the standard library's `errors` looks like ours.
    assert!(before.contains("-> errors/errors.go:New"), "{before}");
    assert!(!after.contains("-> errors/errors.go:New"), "{after}");
    assert!(after.contains("main.go:main:9 11 -> cart/cart.go:Total"), "{after}");
    assert!(after.contains("main.go:main:9 12 -> shop.go:Open"), "{after}");
}

#[test]
fn a_crate_goes_by_the_name_in_its_manifest() {
    let (before, after) = explained(
        vec![
            file("app/src/main.rs", "use shop_core::total;\n\nfn main() {\n    total();\n}\n"),
            file("libs/core/src/lib.rs", "pub fn total() {}\n"),
        ],
        vec![
            manifest("libs/core/Cargo.toml", "[package]\nname = \"shop-core\"\n"),
            manifest("app/Cargo.toml", "[package]\nname = \"app\"\n"),
        ],
    );
    assert!(!before.contains("-> libs"), "{before}");
    assert!(after.contains("app/src/main.rs:main:3 4 -> libs/core/src/lib.rs:total:1"), "{after}");
}

#[test]
fn a_configuration_takes_over_what_it_does_not_say_from_those_it_extends() {
    let main = "import { price } from \"@shop/prices\";\n\nexport function main() {\n  price();\n}\n";
    let paths = "\"compilerOptions\": {\"paths\": {\"@shop/*\": [\"../../shop/*\"]}}";
    let here = "{\"compilerOptions\": {\"paths\": {\"@shop/*\": [\"${configDir}/own/*\"]}}}";
    let own = "{\"extends\": \"./base\", \"compilerOptions\": {\"baseUrl\": \"../../own\", \"paths\": {\"@shop/*\": [\"*\"]}}}";
    let shared = format!("{{{paths}}}");
    let circle = format!("{{\"extends\": [\"../../web/tsconfig.json\", \"./missing\"], {paths}}}");
    for (extends, base, text, target) in [
        ("../shared/ts/tsconfig.base", "shared/ts/tsconfig.base.json", shared.as_str(), "shop/prices.ts"),
        ("../shared/ts", "shared/ts/tsconfig.json", &shared, "shop/prices.ts"),
        ("@acme/tsconfig/base.json", "libs/tsconfig/base.json", &shared, "shop/prices.ts"),
        ("@acme/tsconfig", "libs/tsconfig/tsconfig.json", &circle, "shop/prices.ts"),
        ("other", "node_modules/other/tsconfig.json", &shared, "shop/prices.ts"),
        ("other", "node_modules/other/tsconfig.json", here, "web/own/prices.ts"),
        ("../a/b/tsconfig.json", "a/b/tsconfig.json", own, "own/prices.ts"),
    ] {
        let (before, after) = explained(
            vec![
                file("web/main.ts", main),
                file("shop/prices.ts", "export function price() {}\n"),
                file("own/prices.ts", "export function price() {}\n"),
                file("web/own/prices.ts", "export function price() {}\n"),
            ],
            vec![
                manifest("web/tsconfig.json", &format!("{{\"extends\": \"{extends}\"}}")),
                manifest(base, text),
                manifest("libs/tsconfig/package.json", "{\"name\": \"@acme/tsconfig\"}"),
            ],
        );
        assert_eq!(before, "");
        assert!(after.contains(&format!("4 -> {target}:price")), "{extends}: {after}");
    }
}

#[test]
fn scripts_find_each_other_by_alias_and_by_package() {
    let (before, after) = explained(
        vec![
            file(
                "web/app/main.ts",
                "import { price } from \"@shop/prices\";\nimport { cart } from \"@acme/cart\";\nimport { log } from \"helpers/log\";\n\nexport function main() {\n  price();\n  cart();\n  log();\n}\n",
            ),
            file("web/src/shop/prices.ts", "export function price() {}\n"),
            file("web/src/helpers/log.ts", "export function log() {}\n"),
            file("packages/cart/src/index.ts", "export function cart() {}\n"),
        ],
        vec![
            manifest(
                "web/tsconfig.json",
                "{\"compilerOptions\": {\"baseUrl\": \"src\", \"paths\": {\"@shop/*\": [\"shop/*\"]}}}",
            ),
            manifest("packages/cart/package.json", "{\"name\": \"@acme/cart\"}"),
        ],
    );
    assert_eq!(before, "");
    for target in [
        "6 -> web/src/shop/prices.ts:price",
        "7 -> packages/cart/src/index.ts:cart",
        "8 -> web/src/helpers/log.ts:log",
    ] {
        assert!(after.contains(&format!("web/app/main.ts:main:5 {target}")), "{target}: {after}");
    }
}

/// Small texts that import, call and inherit from each other in many ways.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("from m0 import f0, K0"),
        Just("from m1 import f1, K1"),
        Just("from m2 import *"),
        Just("import m1"),
        Just("def f0():\n    return K0()"),
        Just("def f1(k: K1):\n    k.go()\n    m1.f1(k)"),
        Just("class K0:\n    def go(self):\n        self.step()\n    def step(self):\n        f0()"),
        Just("class K1(K0):\n    def step(self):\n        super().step()"),
        Just("k = K1()\nk.go()"),
        Just("f0().go()"),
        Just(
            "import functools\n\ndef deco(f):\n    @functools.wraps(f)\n    def inner(*a):\n        return f(*a)\n    return inner"
        ),
        Just("from m3 import deco\n\n@deco\ndef f3():\n    f0()"),
        Just(
            "class Z(K1):\n    one = K0()\n    def __init__(self):\n        self.two = f0()\n    def use(self):\n        self.one.go()\n        self.two.step()"
        ),
        Just("def outer():\n    class In(K0):\n        def go(self):\n            pass\n    return In()"),
        Just("outer().go()\nf3()"),
        Just("it.only_here()\n\nclass O:\n    def only_here(self):\n        pass"),
        Just("# nothing"),
    ];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n\n") + "\n")
}

/// A project that is edited, beside the texts that it is made of.
#[derive(Default)]
struct Edited {
    memo: Memo,
    texts: std::collections::BTreeMap<String, String>,
}

impl Edited {
    /// Writes a text, or removes it.
    fn step(&mut self, (number, text): (usize, Option<String>)) {
        let path = format!("m{number}.py");
        self.memo.update(vec![text.as_ref().map_or_else(|| gone(&path), |text| file(&path, text))]);
        match text {
            Some(text) => self.texts.insert(path, text),
            None => self.texts.remove(&path),
        };
    }

    /// The same project, read now.
    fn afresh(&self) -> Memo {
        let mut fresh = Memo::default();
        fresh.update(self.texts.iter().map(|(path, text)| file(path, text)).collect());
        fresh
    }
}

fn steps(fewest: usize) -> impl Strategy<Value = Vec<(usize, Option<String>)>> {
    prop::collection::vec((0..4_usize, prop::option::weighted(0.85, text())), fewest..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// However a project came to be what it is, the answer is that of a project read afresh.
    #[test]
    fn a_kept_answer_equals_a_fresh_one(steps in steps(1)) {
        let mut project = Edited::default();
        let mut kept = Kept::default();
        for step in steps {
            project.step(step);
            let mut fresh = project.afresh();
            prop_assert_eq!(edges(&mut project.memo), edges(&mut fresh));
            prop_assert_eq!(kept.told(&project.memo.snapshot()), told_afresh(&fresh.snapshot()));
        }
    }

    /// What is worked out while files change is about the files as they were, and nothing of it is believed that does not
    /// hold any more.
    #[test]
    fn what_changes_under_the_work_is_seen(steps in steps(2)) {
        let mut project = Edited::default();
        let mut out: Option<(Work, String)> = None;
        for step in steps {
            project.step(step);
            match out.take() {
                None => out = project.memo.work().map(|work| (work, edges(&mut project.afresh()))),
                Some((work, then)) => {
                    let worked = work.done();
                    prop_assert_eq!(edges_of(&worked.snapshot()), then);
                    project.memo.take(worked);
                    prop_assert_eq!(edges(&mut project.memo), edges(&mut project.afresh()));
                }
            }
        }
    }
}

#[test]
fn pieces_of_a_life_that_was_forgotten_are_of_no_other() {
    let (mut kept, mut memo) = (Kept::default(), three());
    kept.told(&memo.snapshot());
    memo.forget();
    // The same facts under numbers that meant other files.
    memo.update(vec![file("c.py", B), file("a.py", C), file("b.py", A)]);
    let snapshot = memo.snapshot();
    assert_eq!(kept.told(&snapshot), told_afresh(&snapshot));
    let files = Arc::downgrade(&snapshot.files);
    memo.forget();
    drop(snapshot);
    assert!(files.upgrade().is_some(), "pieces hold on to what they are about");
    kept.shelf.forget();
    kept.words = semantic::Index::default();
    assert!(files.upgrade().is_none());
}

#[test]
fn what_is_made_while_everything_is_forgotten_is_forgotten_too() {
    let mut memo = three();
    memo.update(vec![file("c.py", "from b import f\n\ndef alone():\n    f()\n")]);
    let Asked::Make(mut ticket) = memo.ask("calls", Basis::Facts) else { panic!("nothing was kept") };
    memo.forget();
    // The same number of changes as before, of other files.
    for number in 0..3 {
        memo.update(vec![file(&format!("z{number}.py"), B)]);
    }
    let worked = ticket.worked(Work::done).expect("a file had changed");
    memo.take(worked);
    assert_eq!(edges(&mut memo), "");
    memo.keep(ticket, ["of another life".into()].into());
    assert!(matches!(memo.ask("calls", Basis::Facts), Asked::Make(_)));
}

#[test]
fn a_build_file_that_changes_under_the_work_is_seen() {
    let mut memo = Memo::default();
    let module = |name: &str| -> Vec<Said> {
        let text = format!("module {name}\n");
        vec![(Arc::from("go.mod"), Manifest::read("go.mod", &text).map(Arc::new))]
    };
    memo.update_manifests(module("one.org/a"));
    memo.update(vec![
        file("u/u.go", "package u\n\nfunc F() {}\n"),
        file("m.go", "package main\n\nimport \"two.org/a/u\"\n\nfunc main() { u.F() }\n"),
    ]);
    let work = memo.work().expect("nothing is known yet");
    memo.update_manifests(module("two.org/a"));
    memo.take(work.done());
    assert!(edges(&mut memo).contains("m.go:main:5 5 -> u/u.go:F:3"), "{}", edges(&mut memo));
}

/// The programs of the fixtures, one language each.
fn programs() -> Vec<Vec<(String, String)>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut languages: Vec<_> =
        std::fs::read_dir(&root).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    languages.sort();
    languages.iter().map(|language| sources(language, language)).collect()
}

fn sources(root: &std::path::Path, below: &std::path::Path) -> Vec<(String, String)> {
    let mut entries: Vec<_> =
        std::fs::read_dir(below).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    let mut out = Vec::new();
    for path in entries {
        let name = path.strip_prefix(root).expect("below").to_str().expect("text").to_owned();
        if path.is_dir() {
            out.extend(sources(root, &path));
        } else if Language::of_path(&name).is_some() {
            out.push((name, std::fs::read_to_string(&path).expect("text")));
        }
    }
    out
}

/// What a step does to a file.
#[derive(Clone, Debug)]
enum Edit {
    Gone,
    Back,
    /// Without some of its lines.
    Cut(usize, usize),
    /// With some of its lines at its beginning once more.
    Twice(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        1 => Just(Edit::Gone),
        2 => Just(Edit::Back),
        3 => (0..80_usize, 1..6_usize).prop_map(|(from, count)| Edit::Cut(from, count)),
        3 => (0..80_usize, 1..12_usize).prop_map(|(from, count)| Edit::Twice(from, count)),
    ]
}

impl Edit {
    fn of(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.lines().collect();
        let part = |from: usize, count: usize| {
            let from = from % lines.len().max(1);
            from..(from + count).min(lines.len())
        };
        let kept: Vec<&str> = match self {
            Edit::Gone => return None,
            Edit::Back => lines,
            Edit::Cut(from, count) => {
                let cut = part(*from, *count);
                let numbered = lines.iter().enumerate().filter(|(at, _)| !cut.contains(at));
                numbered.map(|(_, line)| *line).collect()
            }
            Edit::Twice(from, count) => [&lines[part(*from, *count)], &lines[..]].concat(),
        };
        Some(kept.join("\n") + "\n")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// The same in every language: whatever is cut out of a program, doubled, taken away and brought back.
    #[test]
    fn a_kept_answer_equals_a_fresh_one_in_every_language(steps in prop::collection::vec((0..16_usize, edit()), 1..8)) {
        for program in programs() {
            let mut memo = Memo::default();
            let mut now: std::collections::BTreeMap<String, String> = program.iter().cloned().collect();
            memo.update(now.iter().map(|(path, text)| file(path, text)).collect());
            let mut kept = Kept::default();
            kept.told(&memo.snapshot());
            for (number, edit) in &steps {
                let (path, text) = &program[number % program.len()];
                match edit.of(text) {
                    Some(text) => {
                        memo.update(vec![file(path, &text)]);
                        now.insert(path.clone(), text);
                    }
                    None => {
                        memo.update(vec![gone(path)]);
                        now.remove(path);
                    }
                }
                let mut fresh = Memo::default();
                fresh.update(now.iter().map(|(path, text)| file(path, text)).collect());
                prop_assert_eq!(edges(&mut memo), edges(&mut fresh), "{} {:?}", path, edit);
                let told = kept.told(&memo.snapshot());
                prop_assert_eq!(told, told_afresh(&fresh.snapshot()), "{} {:?}", path, edit);
            }
        }
    }
}
