//! Calls in languages whose types tell what a name stands for, found where the type is not beside the name: TypeScript, Go and
//! Rust. Each with what it must not find.

use std::collections::BTreeSet;
use std::sync::Arc;

use code::facts::{Held, extract};
use code::language::Language;
use code::memo::{Memo, Snapshot};
use code::project::Manifest;
use code::query::{Part, calls};

fn project(files: &[(&str, &str)]) -> Snapshot {
    let mut memo = Memo::default();
    let sources = files.iter().filter_map(|(path, text)| Some((Language::of_path(path)?, path, text)));
    let facts = sources.map(|(language, path, text)| {
        (Arc::from(*path), extract(language, path, text.as_bytes()).map(Held::from))
    });
    memo.update(facts.collect());
    let said = files.iter().map(|(path, text)| (Arc::from(*path), Manifest::read(path, text).map(Arc::new)));
    memo.update_manifests(said.collect());
    memo.snapshot()
}

/// All that one function uses, by name.
fn used_by(from: &str, files: &[(&str, &str)]) -> BTreeSet<String> {
    let snapshot = project(files);
    let edges = calls::calls(&snapshot, &Part::default()).edges;
    let ours = edges.iter().map(calls::Link::call).filter(|call| call.from_func == from);
    ours.map(|call| call.to_func.into_owned()).collect()
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}

const PIPES: &str = "
export class Sink { put(value: number) {} close() {} }
export class Pipe {
  constructor(run: (this: Pipe, sink: Sink) => void) {}
  each(step: Step) {}
}
export type Step = (sink: Sink, place: number) => void;
export function operate(init: (from: Pipe, to: Sink) => void) {}
";

#[test]
fn a_function_without_a_name_takes_what_it_is_given_to_says() {
    let main = "
import { Pipe, operate } from './pipes';
export function plain() { operate((from, to) => { to.put(1); from.each((sink) => sink.close()); }); }
export function made() { return new Pipe((sink) => sink.close()); }
";
    let files = [("pipes.ts", PIPES), ("main.ts", main)];
    assert_eq!(used_by("plain", &files), names(&["operate", "Sink.put", "Pipe.each", "Sink.close"]));
    assert_eq!(used_by("made", &files), names(&["Pipe", "Sink.close"]));
}

#[test]
fn a_function_in_an_object_that_nobody_named_is_part_of_what_is_around() {
    let text = "
function next(value) { return value; }
function watch(source) { source.on({ next: (value) => helper(value), done() { next(1); } }); }
function helper(value) { return value; }
function wire(socket) { socket.onopen = () => helper(2); }
module.exports = { shown() { helper(3); } };
";
    let files = [("a.js", text)];
    assert_eq!(used_by("watch", &files), names(&["helper", "next"]));
    assert_eq!(used_by("wire", &files), names(&["helper"]));
    assert_eq!(used_by("shown", &files), names(&["helper"]));
    assert_eq!(used_by("next", &files), names(&[]));
}

#[test]
fn a_function_goes_by_the_name_that_it_has_for_itself() {
    let text = "
type Runner = { helper(value: number): void };
function helper(value: number) {}
export const later = wrap(function tick() { helper(1); tick(); });
function wrap(run: () => void) { return run; }
";
    let files = [("a.ts", text)];
    assert_eq!(used_by("tick", &files), names(&["helper", "tick"]));
    assert_eq!(used_by("<module>", &files), names(&["wrap"]));
}

#[test]
fn a_name_is_given_on_by_the_module_that_has_it_and_not_by_one_that_takes_it() {
    let files = [
        ("all.ts", "export * from './first';\nexport * from './second';\n"),
        ("first.ts", "import { help } from './all';\nexport function one() { help(); }\n"),
        ("second.ts", "export function help() {}\n"),
        ("main.ts", "import { help, one } from './all';\nexport function main() { help(); one(); }\n"),
    ];
    assert_eq!(used_by("main", &files), names(&["help", "one"]));
    assert_eq!(used_by("one", &files), names(&["help"]));
}

#[test]
fn in_a_branch_of_a_switch_over_types_a_name_is_of_that_type() {
    let text = "
package a

type cat struct{}
type dog struct{}

func (c cat) call() {}
func (d *dog) call() {}
func (d *dog) walk() {}

func each(x any) {
	switch one := x.(type) {
	case cat:
		one.call()
	case *dog:
		one.walk()
	}
}
";
    assert_eq!(used_by("each", &[("a/a.go", text)]), names(&["cat.call", "dog.walk"]));
}

#[test]
fn a_function_that_a_variable_of_go_holds_is_part_of_what_is_around() {
    let text = "
package a

type table struct{ run func() }

func help() {}

func build() *table {
	t := &table{}
	t.run = func() { help() }
	op := func() { help() }
	op()
	return t
}
";
    assert_eq!(used_by("build", &[("a/a.go", text)]), names(&["help"]));
}

#[test]
fn the_packages_of_go_itself_go_by_their_folders() {
    let files = [
        ("src/go.mod", "module std\n"),
        ("src/text/scan/scan.go", "package scan\nfunc Next() {}\n"),
        ("src/fmt/fmt.go", "package fmt\nimport \"text/scan\"\nfunc Print() { scan.Next() }\n"),
    ];
    assert_eq!(used_by("Print", &files), names(&["Next"]));
}

#[test]
fn a_package_of_go_is_asked_for_its_own_names_only() {
    let files = [
        ("go.mod", "module m\n"),
        (
            "a/a.go",
            "package a\nvar Level = New()\ntype T struct{}\nfunc New() T { return T{} }\nfunc (t T) Set() {}\n",
        ),
        ("a/b.go", "package a\nfunc use() { Level.Set(); New() }\n"),
        (
            "b/b.go",
            "package b\nvar Level = 1\ntype T struct{}\nfunc New() T { return T{} }\nfunc (t T) Set() {}\n",
        ),
    ];
    let snapshot = project(&files);
    let edges = calls::calls(&snapshot, &Part::default()).edges;
    let from_use = edges.iter().map(calls::Link::call).filter(|call| call.from_func == "use");
    let found: BTreeSet<_> = from_use.map(|call| format!("{}:{}", call.to_file, call.to_func)).collect();
    assert_eq!(found, names(&["a/a.go:New", "a/a.go:T.Set"]));
}

const FORMS: &str = "
enum Shape { Round(Circle), Flat { side: Square }, Far(Box<Shape>), Nothing }
struct Circle;
struct Square;
struct Wrapped(Circle);
impl Circle { fn area(&self) {} fn turn(&self) {} }
impl Square { fn area(&self) {} }
impl Shape {
    fn area(&self) {
        match *self {
            Shape::Round(ref it) => it.area(),
            Shape::Flat { ref side } => side.area(),
            Shape::Far(ref far) => far.area(),
            Shape::Nothing => {}
        }
    }
    fn turn(&self) {
        match self {
            Shape::Round(it) => it.turn(),
            Shape::Far(it) => drop(it),
            _ => {}
        }
    }
}
impl Wrapped { fn area(&self) { self.0.area() } }
fn unwrap(found: Option<Wrapped>) {
    let one = match found { Some(one) => one, None => return };
    one.area();
    if let Some(Wrapped(inner)) = found { inner.turn() }
}
";

#[test]
fn what_a_form_of_a_type_holds_is_known_where_it_is_taken_apart() {
    let files = [("src/lib.rs", FORMS)];
    assert_eq!(used_by("Shape.area", &files), names(&["Circle.area", "Square.area", "Shape.area"]));
    assert_eq!(used_by("Wrapped.area", &files), names(&["Circle.area"]));
    assert_eq!(used_by("unwrap", &files), names(&["Wrapped.area", "Circle.turn"]));
}

#[test]
fn a_name_of_one_branch_is_not_that_of_the_next() {
    let found = used_by("Shape.turn", &[("src/lib.rs", FORMS)]);
    assert_eq!(found, names(&["Circle.turn"]), "the other branch's name is of another type");
}

#[test]
fn what_is_left_open_is_what_its_bounds_say() {
    let text = "
trait Visit { fn visit(&self); }
struct Walk<V> { visitor: V }
impl<V: Visit> Walk<V> { fn go(&self, one: V) { one.visit() } }
fn all<V>(each: &[V]) where V: Visit { for one in each { one.visit() } }
fn any(one: &dyn Visit, other: impl Visit) { one.visit(); other.visit() }
fn free<V>(one: V) { one.visit() }
";
    let files = [("src/lib.rs", text)];
    for caller in ["Walk.go", "all", "any"] {
        assert_eq!(used_by(caller, &files), names(&["Visit.visit"]), "{caller}");
    }
    assert_eq!(used_by("free", &files), names(&[]));
}

#[test]
fn a_closure_takes_what_its_collection_or_wrapping_holds() {
    let text = "
struct Item;
impl Item { fn price(&self) -> u32 { 1 } fn name(&self) {} }
struct Other;
impl Other { fn price(&self) -> u32 { 2 } }
fn total(items: Vec<Item>) -> u32 { items.iter().map(|item| item.price()).sum() }
fn first(item: Option<Item>) { item.map(|item| item.name()); }
fn each(run: impl Fn(&Other)) {}
fn run() { each(|other| { other.price(); }) }
";
    let files = [("src/lib.rs", text)];
    assert_eq!(used_by("total", &files), names(&["Item.price"]));
    assert_eq!(used_by("first", &files), names(&["Item.name"]));
    assert_eq!(used_by("run", &files), names(&["each", "Other.price"]));
}

#[test]
fn a_method_that_a_type_does_not_have_is_asked_of_what_it_stands_for() {
    let text = "
use std::ops::Deref;
struct Inner;
impl Inner { fn size(&self) {} }
struct Outer { inner: Inner }
impl Deref for Outer { type Target = Inner; fn deref(&self) -> &Inner { &self.inner } }
impl Outer { fn own(&self) {} }
fn through(one: Outer) { one.size() }
fn own(one: Option<Outer>) { one.unwrap().own() }
";
    let files = [("src/lib.rs", text)];
    assert_eq!(used_by("through", &files), names(&["Outer.deref", "Inner.size"]));
    assert_eq!(used_by("own", &files), names(&["Outer.own"]));
}

#[test]
fn the_name_of_a_class_is_not_the_method_that_makes_its_objects() {
    let files = [
        ("Task.cs", "namespace T { public partial class Task { public Task(int n) {} } }"),
        (
            "Run.cs",
            "namespace T { public partial class Task { static void Run(Func<Task> make) { new Task(1); } } }",
        ),
    ];
    assert_eq!(used_by("Task.Run", &files), names(&["Task"]));
}

#[test]
fn a_header_of_c_plus_plus_is_read_as_one_and_one_of_c_is_not() {
    let files = [
        ("any.h", "namespace n {\nclass Any : public Base {\npublic:\n  Any(int n);\n  int size();\n};\n}\n"),
        (
            "any.cpp",
            "#include \"any.h\"\nint n::Any::size() { return 1; }\nint ask(n::Any one) { return one.size(); }\nint far(std::Any one) { return one.size(); }\n",
        ),
        ("plain.h", "/* the class of all\n class of those */\nint plain(int class_of);\n"),
    ];
    let snapshot = project(&files);
    let language = |path: &str| snapshot.files.facts(snapshot.files.find(path).expect("a file")).language;
    assert_eq!(language("any.h"), Language::Cpp);
    assert_eq!(language("plain.h"), Language::C);
    assert_eq!(used_by("ask", &files), names(&["Any.size"]));
    assert_eq!(used_by("far", &files), names(&[]), "a namespace that is not ours");
}

#[test]
fn what_a_file_of_swift_keeps_to_itself_no_other_calls() {
    let files = [
        ("Log.swift", "private func describe(value: Any) {}\nfunc log() { describe(value: 1) }\n"),
        ("Spec.swift", "func spec() { describe(\"a thing\") { log() } }\n"),
    ];
    assert_eq!(used_by("log", &files), names(&["describe"]));
    assert_eq!(used_by("spec", &files), names(&["log"]));
}
