//! Calls that no name in the text leads to, and that run all the same: what a subclass puts in place of a method, what the
//! language calls by itself, and what a property or a table of functions stands for. Each with what it must not find.

use std::collections::BTreeSet;
use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::query::{Part, calls};

fn snapshot(text: &str) -> Snapshot {
    let mut memo = Memo::default();
    let facts = extract(Language::Python, "a.py", text.as_bytes()).map(Held::from);
    memo.update(vec![(Arc::from("a.py"), facts)]);
    memo.snapshot()
}

/// How many uses of low confidence there are.
fn possible(text: &str) -> usize {
    calls::calls(&snapshot(text), &Part::default()).possible
}

/// All that one function uses, by name.
fn used_by(from: &str, text: &str) -> BTreeSet<String> {
    let snapshot = snapshot(text);
    let edges = calls::calls(&snapshot, &Part::default()).edges;
    let ours = edges.iter().map(calls::Link::call).filter(|call| call.from_func == from);
    ours.map(|call| call.to_func.into_owned()).collect()
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}

const TASKS: &str = "
class Task:
    def run(self):
        self.step()
    def step(self):
        return 1

class Loud(Task):
    def step(self):
        return 2

class Other(Task):
    def run(self):
        pass
    def step(self):
        return 3

class Unrelated:
    def step(self):
        return 4

def go(task: Task):
    task.step()
";

#[test]
fn what_a_method_calls_on_itself_may_be_replaced_below() {
    assert_eq!(used_by("Task.run", TASKS), names(&["Task.step", "Loud.step"]));
}

#[test]
fn an_object_of_a_class_that_does_the_work_is_taken_for_one() {
    assert_eq!(used_by("go", TASKS), names(&["Task.step"]));
}

#[test]
fn a_method_that_leaves_the_work_to_a_few_stands_for_them() {
    let text = "
class Shape:
    def area(self):
        raise NotImplementedError

class Square(Shape):
    def area(self):
        return 1

class Circle(Shape):
    def area(self):
        return 3

def sum_up(shape: Shape):
    return shape.area()

def make():
    shape = Shape()
    return shape.area()
";
    assert_eq!(used_by("sum_up", text), names(&["Shape.area", "Square.area", "Circle.area"]));
    assert_eq!(used_by("make", text), names(&["Shape", "Shape.area"]));
}

#[test]
fn functions_and_operators_of_the_language_call_methods() {
    let text = "
class Bag:
    def __len__(self): return 1
    def __next__(self): return 1
    def __iter__(self): return self
    def __repr__(self): return ''
    def __contains__(self, it): return True
    def __delitem__(self, it): pass
    def __getitem__(self, it): pass

def length(bag: Bag): return len(bag)
def take(bag: Bag): return next(bag)
def every(bag: Bag): return sorted(bag)
def words(bag: Bag): return str(bag)
def has(bag: Bag): return 1 not in bag
def drop(bag: Bag): del bag[1]
def other(bag: Bag): return bag is None
";
    assert_eq!(used_by("length", text), names(&["Bag.__len__"]));
    assert_eq!(used_by("take", text), names(&["Bag.__next__"]));
    assert_eq!(used_by("every", text), names(&["Bag.__iter__", "Bag.__next__"]));
    assert_eq!(used_by("words", text), names(&["Bag.__repr__"]));
    assert_eq!(used_by("has", text), names(&["Bag.__contains__"]));
    assert_eq!(used_by("drop", text), names(&["Bag.__delitem__"]));
    assert_eq!(used_by("other", text), names(&[]));
}

const ATTRIBUTES: &str = "
class Setting:
    def __get__(self, it, owner): return 1
    def __set__(self, it, value): pass

class cached_property:
    def __init__(self, of): self.of = of
    def __get__(self, it, owner): return self.of(it)

class App:
    debug = Setting()
    plain = 1

    @cached_property
    def url(self): return ''

def read(app: App): return app.debug, app.plain
def write(app: App): app.debug = 2
def cached(app: App): return app.url
";

#[test]
fn an_attribute_that_an_object_stands_for_runs_its_code() {
    assert_eq!(used_by("read", ATTRIBUTES), names(&["Setting.__get__"]));
    assert_eq!(used_by("write", ATTRIBUTES), names(&["Setting.__set__"]));
}

#[test]
fn a_class_that_makes_properties_stands_between_reader_and_method() {
    assert_eq!(used_by("cached", ATTRIBUTES), names(&["App.url", "cached_property.__get__"]));
    assert_eq!(used_by("cached_property.__get__", ATTRIBUTES), names(&["App.url"]));
}

#[test]
fn a_small_table_of_functions_is_called_through_its_keys() {
    let text = "
def one(): pass
def two(): pass
TABLE = {'one': one, 'two': two}
def go(key): TABLE[key]()
def soft(key): TABLE.get(key)()
";
    assert_eq!(used_by("go", text), names(&["one", "two"]));
    assert_eq!(used_by("soft", text), names(&["one", "two"]));
    let many: String = (0..9).map(|n| format!("def f{n}(): pass\n")).collect();
    let table: String = (0..9).map(|n| format!("{n}: f{n}, ")).collect();
    let text = format!("{many}TABLE = {{{table}}}\ndef go(key): TABLE[key]()\n");
    assert_eq!(used_by("go", &text), names(&[]));
}

#[test]
fn an_object_is_set_up_by_what_its_class_has_from_a_parent() {
    let text = "
class Node:
    def __init__(self):
        pass

class Leaf(Node):
    pass

class Own(Node):
    def __init__(self):
        pass

@dataclass
class Point:
    x: int
    def __post_init__(self):
        pass

class Maker:
    def again(self):
        return self.__class__(), type(self)()
    @classmethod
    def new(cls):
        return cls()

def make():
    Leaf()
    Own()
    Point(1)
";
    assert_eq!(
        used_by("make", text),
        names(&["Leaf", "Node.__init__", "Own", "Point", "Point.__post_init__"])
    );
    assert_eq!(used_by("Maker.again", text), names(&["Maker"]));
    assert_eq!(used_by("Maker.new", text), names(&["Maker"]));
}

const VISITOR: &str = "
class Visitor:
    def visit(self, node):
        found = self.visitor(node)
        return found(node)
    def visitor(self, node) -> Optional[Callable]:
        return getattr(self, f'visit_{node.kind}', None)
    def read(self, name):
        return getattr(self, 'get_' + name)()
    def get_name(self):
        pass
    def run(self):
        getattr(self, 'visit_all')()
    def visit_all(self):
        pass

class Printer(Visitor):
    def visit_leaf(self, node):
        pass
    def other_leaf(self, node):
        pass

class Unrelated:
    def visit_leaf(self, node):
        pass
";

#[test]
fn a_method_looked_up_by_a_name_that_is_put_together_is_one_of_those_that_begin_so() {
    assert_eq!(used_by("Visitor.visit", VISITOR), names(&["Printer.visit_leaf", "Visitor.visitor"]));
    assert_eq!(used_by("Visitor.run", VISITOR), names(&["Visitor.visit_all"]));
}

#[test]
fn a_beginning_that_every_class_has_is_no_more_than_a_possibility() {
    assert_eq!(used_by("Visitor.read", VISITOR), names(&[]));
}

#[test]
fn a_method_that_comes_later_is_found_by_the_beginning_of_its_name() {
    let mut memo = Memo::default();
    let facts = |text: &str| extract(Language::Python, "a.py", text.as_bytes()).map(Held::from);
    let later = "from a import Visitor\nclass Late(Visitor):\n    def NAME(self, node):\n        pass\n";
    memo.update(vec![(Arc::from("a.py"), facts(VISITOR))]);
    let mut seen = Vec::new();
    for name in ["visit_late", "other_late", "visit_last"] {
        memo.update(vec![(Arc::from("b.py"), facts(&later.replace("NAME", name)))]);
        let snapshot = memo.snapshot();
        let edges = calls::calls(&snapshot, &Part::default()).edges;
        let to = edges.iter().map(calls::Link::call).filter(|call| call.to_file == "b.py");
        seen.push(to.map(|call| call.to_func.into_owned()).collect::<Vec<_>>());
    }
    assert_eq!(seen, [vec!["Late.visit_late".to_owned()], vec![], vec!["Late.visit_last".to_owned()]]);
}

#[test]
fn what_is_asked_whether_it_is_true_or_equal_answers_itself() {
    let text = "
class Flag:
    def __bool__(self):
        return True
    def __eq__(self, other):
        return True

class Bag:
    def __len__(self):
        return 0

class Proxy:
    own = 1
    def __getattr__(self, name):
        return name

def ask(flag: Flag, bag: Bag):
    if not flag:
        pass
    while bag:
        pass

def compare(flag: Flag, bag: Bag):
    return flag == bag

def read(proxy: Proxy):
    return proxy.other

def read_own(proxy: Proxy):
    return proxy.own, proxy.__dict__
";
    assert_eq!(used_by("ask", text), names(&["Flag.__bool__", "Bag.__len__"]));
    assert_eq!(used_by("compare", text), names(&["Flag.__eq__"]));
    // Somebody may have given it the attribute, so it is only possible.
    assert_eq!(used_by("read", text), names(&[]));
    assert_eq!(possible(text), 1);
    assert_eq!(used_by("read_own", text), names(&[]));
}
