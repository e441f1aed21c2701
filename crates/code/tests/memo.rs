//! The memo by its own log: what an edit makes it do again, and what not.

use std::sync::Arc;

use code::facts::extract;
use code::language::Language;
use code::memo::{Basis, Counters, Memo};
use code::query::{Part, calls, structure};
use proptest::prelude::*;

type Change = (Arc<str>, Option<Arc<code::facts::Facts>>);

fn file(path: &str, text: &str) -> Change {
    let language = Language::of_path(path).expect("a language");
    (Arc::from(path), Some(Arc::new(extract(language, path, text.as_bytes()).expect("facts"))))
}

fn gone(path: &str) -> Change {
    (Arc::from(path), None)
}

fn edges(memo: &mut Memo) -> String {
    let snapshot = memo.snapshot();
    serde_json::to_string(&calls::calls(&snapshot, &Part::default())).expect("JSON")
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
fn a_body_edit_resolves_only_its_own_file() {
    let mut memo = three();
    memo.update(vec![file("b.py", "def f():\n    g(2)\n    return 1\n\ndef g(n):\n    pass\n")]);
    let before = memo.counters();
    memo.snapshot();
    // `g` is new, so what `b` shows changed, and `a` looked at it; `c` did not.
    assert_eq!(memo.take_log(), ["changed b.py", "resolved a.py", "resolved b.py"]);
    let after = memo.counters();
    assert_eq!((after.hits - before.hits, after.recomputations - before.recomputations), (1, 2));
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
        Just("# nothing"),
    ];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n\n") + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// However a project came to be what it is, the answer is that of a project read afresh.
    #[test]
    fn a_kept_answer_equals_a_fresh_one(steps in prop::collection::vec((0..4_usize, prop::option::weighted(0.85, text())), 1..12)) {
        let mut memo = Memo::default();
        let mut now: std::collections::BTreeMap<String, String> = Default::default();
        for (number, text) in steps {
            let path = format!("m{number}.py");
            match text {
                Some(text) => {
                    memo.update(vec![file(&path, &text)]);
                    now.insert(path, text);
                }
                None => {
                    memo.update(vec![gone(&path)]);
                    now.remove(&path);
                }
            }
            let mut fresh = Memo::default();
            fresh.update(now.iter().map(|(path, text)| file(path, text)).collect());
            prop_assert_eq!(edges(&mut memo), edges(&mut fresh));
        }
    }
}
