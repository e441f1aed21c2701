//! Python says little about what a value is. Who calls whom all the same: by the package a name came through, by what is
//! asked of a value, by what a caller hands over. Each with what it must not find.

use std::collections::BTreeSet;
use std::sync::Arc;

use code::facts::extract;
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Part, calls};

/// Files one after the other, each after a line `# path`.
fn snapshot(project: &str) -> Snapshot {
    let mut memo = Memo::default();
    let files = project.split("\n# ").filter_map(|file| file.split_once('\n')).map(|(path, text)| {
        (Arc::from(path), extract(Language::Python, path, text.as_bytes()).map(Arc::new))
    });
    memo.update(files.collect());
    memo.snapshot()
}

/// All that one function uses, by name.
fn used_by(from: &str, project: &str) -> BTreeSet<String> {
    let snapshot = snapshot(project);
    let edges = calls::calls(&snapshot, &Part::default()).edges;
    let ours = edges.iter().map(calls::Link::call).filter(|call| call.from_func == from);
    ours.map(|call| call.to_func.into_owned()).collect()
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_package_that_takes_a_module_out_of_itself_has_that_module() {
    let project = "
# shop/__init__.py
from shop import prices
# shop/prices.py
def total(): return 1
# shop/cart.py
from shop import prices
def pay(): return prices.total()
";
    assert_eq!(used_by("pay", project), names(&["total"]));
}

const TOKENS: &str = "
# a.py
class Token:
    def __init__(self): self.ttype = None
    def token_next(self): pass
    def group_up(self): pass

class Loud(Token):
    def token_next(self): pass
    def group_up(self): pass

class Other:
    def token_next(self): pass
    def token_last(self): pass

class Another:
    def token_next(self): pass
    def token_last(self): pass

class Crowd:
    def join(self, it): pass
    def split(self): pass

def both(it):
    it.group_up()
    return it.token_next()

def either(it): return it.token_next() or it.token_last()

def attribute(it): return it.ttype or it.group_up()

def missing(it): return it.group_up() or it.of_nobody()

def usual(it): return it.join(it.split())

def declared(it: int): return it.group_up() or it.token_next()

def looped(them):
    for it in them:
        it.group_up(it.ttype)

def once(it): it.group_up()
";

#[test]
fn what_is_asked_of_a_value_tells_the_class_that_has_it_all() {
    assert_eq!(used_by("both", TOKENS), names(&["Token.group_up", "Token.token_next"]));
    assert_eq!(used_by("attribute", TOKENS), names(&["Token.group_up"]));
    assert_eq!(used_by("looped", TOKENS), names(&["Token.group_up"]));
}

#[test]
fn one_member_alone_and_what_two_classes_or_none_or_everybody_have_tell_nothing() {
    for from in ["once", "either", "missing", "usual", "declared"] {
        assert_eq!(used_by(from, TOKENS), names(&[]), "{from}");
    }
}
