//! Python says little about what a value is. Who calls whom all the same: by the package a name came through, by what is
//! asked of a value, by what a caller hands over. Each with what it must not find.

use std::collections::BTreeSet;
use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Answer as _, Part, calls};

/// Files one after the other, each after a line `# path`.
fn files(project: &str) -> Vec<(Arc<str>, Option<Held>)> {
    let files = project.split("\n# ").filter_map(|file| file.split_once('\n'));
    let facts = |path, text: &str| extract(Language::Python, path, text.as_bytes()).map(Held::from);
    files.map(|(path, text)| (Arc::from(path), facts(path, text))).collect()
}

fn snapshot(project: &str) -> Snapshot {
    let mut memo = Memo::default();
    memo.update(files(project));
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

const HANDED: &str = "
# a.py
from b import Button, each, twice, with_name

def double(it): return it
def triple(it): return it
def quiet(it): return it

class Pen:
    def draw(self): pass

def start():
    each([1], double)
    twice(with_it=triple)
    with_name(len, *[1], quiet)
    Button(quiet)
    Pen.paint = each
    twice(Pen())
# b.py
def each(them, function):
    def inner():
        return [function(it) for it in them]
    return inner()

def twice(with_it):
    each([], with_it)
    with_it.draw()

def with_name(*names): names[0]()

class Button:
    def __init__(self, pressed=None):
        self.pressed = pressed or print
        self.label = ''

    def press(self): self.pressed(self.label())
";

#[test]
fn a_function_that_is_handed_over_is_called_where_it_arrives() {
    assert_eq!(used_by("inner", HANDED), names(&["double", "triple"]));
}

#[test]
fn a_method_is_asked_of_the_object_that_was_handed_over() {
    assert_eq!(used_by("twice", HANDED), names(&["each", "Pen.draw"]));
}

#[test]
fn what_a_constructor_keeps_is_called_by_the_other_methods() {
    assert_eq!(used_by("Button.press", HANDED), names(&["quiet"]));
}

#[test]
fn what_arrives_in_a_list_of_arguments_is_not_followed() {
    assert_eq!(used_by("with_name", HANDED), names(&[]));
}

#[test]
fn a_handed_over_function_is_found_where_it_is_called_after_an_edit_there() {
    let shifted = HANDED
        .replace("# b.py\n", "# b.py\n\n\n")
        .replace("    def inner():\n", "    def inner():\n        # one\n");
    let mut memo = Memo::default();
    memo.update(files(HANDED));
    memo.snapshot();
    memo.update(files(&shifted));
    let (kept, fresh) = (memo.snapshot(), snapshot(&shifted));
    let text = |snapshot: &Snapshot| calls::calls(snapshot, &Part::default()).text();
    assert_eq!(text(&kept), text(&fresh));
    assert_ne!(text(&kept), text(&snapshot(HANDED)));
    assert_eq!(memo.counters().recomputations, 1, "only the edited file is looked at again");
}

#[test]
fn a_name_put_together_before_it_is_looked_up_is_one_of_those_that_begin_so() {
    let project = "
# a.py
class Printer:
    def show_number(self): pass
    def show_text(self): pass
    def other(self): pass
    def show(self, it):
        name = 'show_{}'.format(type(it).__name__)
        return getattr(self, name.lower(), None)()
    def late(self, name):
        found = getattr(self, name)()
        name = 'show_{}'.format(found)
";
    assert_eq!(used_by("Printer.show", project), names(&["Printer.show_number", "Printer.show_text"]));
    assert_eq!(used_by("Printer.late", project), names(&[]));
}

#[test]
fn a_class_that_came_as_a_value_is_one_of_those_below() {
    let project = "
# a.py
from abc import abstractmethod

class Base:
    @classmethod
    @abstractmethod
    def make(cls): pass

class Real(Base):
    @classmethod
    def make(cls): return 1

class Wrapping(Base):
    def __init__(self, inner: Base): self.inner = inner
    def make(self): return self.inner.make()

def find() -> type[Base]: pass
def through(): return find().make()
def named(): return Base.make()
";
    assert_eq!(used_by("through", project), names(&["find", "Base.make", "Real.make", "Wrapping.make"]));
    assert_eq!(used_by("named", project), names(&["Base.make"]));
    assert_eq!(used_by("Wrapping.make", project), names(&["Base.make", "Real.make"]));
}

#[test]
fn a_default_is_made_where_the_function_is_defined() {
    let project = "
# a.py
class Option: pass
def made(): pass
class Command:
    def run(self, it=Option(), *, other: int = made()):
        return made
def outer():
    def inner(it=made()): pass
";
    assert_eq!(used_by("Command.run", project), names(&["made"]));
    assert_eq!(used_by("<module>", project), names(&["Option", "made"]));
    assert_eq!(used_by("outer", project), names(&["made"]));
    assert_eq!(used_by("inner", project), names(&[]));
}

#[test]
fn a_decorator_with_arguments_hands_them_over() {
    let project = "
# a.py
def instead_of(plain):
    def decorate(function):
        def wrapper(*args):
            return plain() or function()
        return wrapper
    return decorate

def plain(): pass

@instead_of(plain)
def fancy(): pass
";
    assert_eq!(used_by("wrapper", project), names(&["fancy", "plain"]));
}

#[test]
fn what_is_of_any_type_may_be_ours() {
    let project = "
# a.py
from typing import TypeVar
T = TypeVar('T')
class Token:
    def token_next(self): pass
    def group_up(self): pass
def give(it) -> T: return it
def go():
    it = give(1)
    it.group_up(it.token_next())
";
    assert_eq!(used_by("go", project), names(&["Token.group_up", "Token.token_next", "give"]));
}

#[test]
fn functions_that_hand_everything_on_to_each_other_come_to_an_end() {
    let all: Vec<String> = (0..40).map(|n| format!("f{n}(it)")).collect();
    let bodies = (0..40).map(|n| format!("def f{n}(it):\n    it()\n    {}\n", all.join("; ")));
    let project = format!("\n# a.py\ndef last(): pass\n{}f0(last)\n", bodies.collect::<String>());
    assert!(used_by("f0", &project).contains("last"));
}
