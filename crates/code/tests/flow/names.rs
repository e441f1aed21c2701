//! A function is asked about by the name under which every other answer tells of it.

use std::path::{Path, PathBuf};

use code::facts;
use code::flow::{FlowError, control_flow, supports};
use code::language::Language;
use code::parse::parse;

/// The names that `structure` tells of, each with what its flow is told under.
fn named(path: &str, source: &[u8]) -> Vec<(String, Result<String, FlowError>)> {
    let language = Language::of_path(path).unwrap();
    let facts = facts::extract(language, path, source).unwrap();
    let file = parse(language, path, source).unwrap();
    let running = facts.each_def().filter(|(_, def)| def.kind.runs());
    let names = running.map(|(id, _)| facts.qualified(id).into_owned());
    names.map(|name| (name.clone(), control_flow(&file, &name).map(|flow| flow.function))).collect()
}

#[test]
fn every_function_that_the_index_knows_has_a_flow_under_that_name() {
    let mut asked = 0;
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
    for path in ["fixtures", "flow/fixtures"].iter().flat_map(|folder| files(&tests.join(folder))) {
        let source = std::fs::read(&path).unwrap();
        for (name, told) in named(path.to_str().unwrap(), &source) {
            asked += 1;
            match told {
                Ok(told) => assert_eq!(told, name, "{}", path.display()),
                Err(FlowError::NoBody { function }) => assert_eq!(function, name),
                Err(FlowError::Ambiguous { .. }) => {}
                Err(error) => panic!("{}: {name}: {error}", path.display()),
            }
        }
    }
    assert!(asked > 100, "{asked}");
}

/// The programs below a folder whose languages have flows.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match Language::of_path(path.to_str().unwrap()) {
            _ if path.is_dir() => files(&path),
            Some(language) if supports(language) => vec![path],
            _ => Vec::new(),
        })
        .collect()
}

#[test]
fn functions_that_are_assigned_received_and_nested_go_by_their_names_everywhere() {
    let told = |path: &str, source: &str| {
        let named = named(path, source.as_bytes()).into_iter();
        named.map(|(name, flow)| (name, flow.map_err(|error| error.to_string()))).collect::<Vec<_>>()
    };
    let same = |name: &str| (name.to_owned(), Ok(name.to_owned()));
    assert_eq!(
        told(
            "a.js",
            "proto.handle = function handle(a) { function next() {} };\nconst o = { get: () => 1 };\n"
        ),
        [same("proto.handle"), same("next"), same("o.get")]
    );
    assert_eq!(
        told("a.go", "package a\ntype I interface{ Get() int }\nfunc (s *S[T]) Get() int { return 1 }\n"),
        [("I.Get".to_owned(), Err("I.Get has no body here".to_owned())), same("S.Get")]
    );
    assert_eq!(
        told("a.rs", "impl Default for &'_ S { fn default() -> Self { let f = |a| a; f(S) } }\n"),
        [same("S.default")]
    );
    assert_eq!(told("a.py", "class A:\n    def f(self):\n        def g(): pass\n"), [same("A.f"), same("g")]);
}

#[test]
fn bytes_that_are_no_text_do_not_move_names() {
    let source = b"# \xff\xfe\xff caf\xc3\xa9\ndef first(): return 1\ndef second(): return 2\n";
    let file = parse(Language::Python, "a.py", source).unwrap();
    assert_eq!(control_flow(&file, "second").unwrap().blocks[0].lines, [3, 3]);
}
