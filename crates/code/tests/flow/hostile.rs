//! Names that mean nothing or too much, lines where nothing runs, broken and monstrous sources.

use code::flow::{Criterion, Direction, FlowError, control_flow, data_flow, functions, slice};
use code::language::Language;
use code::parse::{Parsed, parse};

fn python(source: &str) -> Parsed<'_> {
    parse(Language::Python, "a.py", source.as_bytes()).unwrap()
}

fn at(line: usize) -> Criterion {
    Criterion { line, direction: Direction::Backward, var: None }
}

#[test]
fn an_unknown_function_is_an_error_with_near_names() {
    let file = python("def compute_total():\n    pass\n\nclass Store:\n    def save(self):\n        pass\n");
    let error = control_flow(&file, "compute_totals").unwrap_err();
    assert_eq!(error.to_string(), "no function called compute_totals; near is compute_total");
    let error = data_flow(&file, "Store.sve").unwrap_err();
    assert_eq!(error.to_string(), "no function called Store.sve; near is Store.save");
    assert!(matches!(control_flow(&file, "").unwrap_err(), FlowError::NotFound { .. }));
}

#[test]
fn a_function_that_exists_several_times_is_asked_back() {
    let source = "class A:\n    def go(self):\n        return 1\n\nclass B:\n    def go(self):\n        return 2\n    go = 3\n    def go(self):\n        return 4\n";
    let file = python(source);
    assert_eq!(
        control_flow(&file, "go").unwrap_err().to_string(),
        "say which go is meant: A.go, B.go:6, B.go:9"
    );
    assert_eq!(control_flow(&file, "A.go").unwrap().function, "A.go");
    assert!(matches!(control_flow(&file, "B.go").unwrap_err(), FlowError::Ambiguous { .. }));
    assert_eq!(control_flow(&file, "B.go:9").unwrap().blocks[0].lines, [9, 10]);
}

#[test]
fn a_language_without_flow_says_so() {
    let file = parse(Language::Elixir, "a.ex", b"def f, do: 1\n").unwrap();
    assert_eq!(
        control_flow(&file, "f").unwrap_err().to_string(),
        "control and data flow are not offered for Elixir"
    );
}

#[test]
fn a_line_where_nothing_runs_names_its_neighbours() {
    let file = python("def f(a):\n    b = a\n\n    # nothing\n    return b\n\ndef g():\n    pass\n");
    let error = slice(&file, "f", &at(4)).unwrap_err();
    assert_eq!(error.to_string(), "nothing runs at line 4 of f; the nearest lines are 2 and 5");
    let error = slice(&file, "f", &at(8)).unwrap_err();
    assert_eq!(error.to_string(), "line 8 is outside of f, which is on lines 1 to 5");
}

#[test]
fn a_variable_narrows_a_slice_both_ways() {
    let source = "def f(a, b):\n    x = a\n    y = b\n    z = x + y\n    w = x\n    return z, w\n";
    let file = python(source);
    let lines = |line, direction, var: &str| {
        slice(&file, "f", &Criterion { line, direction, var: Some(var.to_owned()) }).unwrap().lines
    };
    assert_eq!(lines(4, Direction::Backward, "x"), [1, 2, 4]);
    assert_eq!(lines(4, Direction::Backward, "y"), [1, 3, 4]);
    assert_eq!(lines(6, Direction::Backward, "y"), [1, 3, 6], "a name that the line does not mention");
    assert_eq!(lines(2, Direction::Forward, "x"), [2, 4, 5, 6]);
    assert_eq!(lines(3, Direction::Forward, "y"), [3, 4, 6]);
    let criterion = Criterion { var: Some("xx".to_owned()), ..at(4) };
    let error = slice(&file, "f", &criterion).unwrap_err();
    assert_eq!(error.to_string(), "no variable xx in f; near is x");
}

#[test]
fn a_line_inside_a_long_statement_is_that_statement() {
    let file = python("def f(a):\n    b = {\n        'x': a,\n        'y': 1,\n    }\n    return b\n");
    assert_eq!(slice(&file, "f", &at(4)).unwrap().lines, [1, 2, 3, 4, 5]);
}

#[test]
fn the_code_of_a_module_can_be_asked_about() {
    let file = python("import os\n\nBASE = os.getcwd()\n\ndef f():\n    return BASE\n\nprint(f())\n");
    assert_eq!(slice(&file, "<module>", &at(8)).unwrap().lines, [1, 3, 5, 8]);
    assert_eq!(control_flow(&file, "<module>").unwrap().blocks.len(), 1);
}

#[test]
fn a_broken_source_gives_what_can_be_read_and_a_note() {
    let file = python("def f(a):\n    b = a +\n    if b:\n        return (b\n    c = 1\n    return c\n");
    let flow = control_flow(&file, "f").unwrap();
    assert!(flow.notes[0].starts_with("the source does not parse at line "), "{flow}");
    assert!(flow.blocks.iter().any(|it| it.lines[1] >= 3), "{flow}");
}

#[test]
fn a_hundred_thousand_levels_are_read_without_a_stack() {
    const DEEP: usize = 100_000;
    // Enough to break a walk that calls itself, and ten times quicker.
    const LESS: usize = 10_000;
    let nest = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    let cases = [
        ("a.js", format!("function f(a) {{ {} }}\n", nest("if (a) { ", "g(a); ", "} ", DEEP))),
        ("a.py", format!("def f(a):\n    return {}\n", nest("(", "a", ")", DEEP))),
        ("a.rs", format!("fn f(a: bool) {{ {} }}\n", nest("if a { ", "g(a); ", "} ", LESS))),
        ("a.py", format!("def f(a):\n    return {}\n", nest("g(", "a", ")", LESS))),
        ("a.js", format!("function f(a) {{ return {}; }}\n", nest("(() => ", "a", ")", LESS))),
        ("a.py", format!("def f(a):\n    return a{}\n", ".b()".repeat(LESS))),
        ("a.py", format!("def f(a):\n    return a{}\n", " + a".repeat(LESS))),
        ("a.c", format!("void f(int a) {{ {} {{}} }}\n", "if (a) g(); else ".repeat(LESS / 10))),
    ];
    for (at, (path, source)) in cases.iter().enumerate() {
        let file = parse(Language::of_path(path).unwrap(), path, source.as_bytes()).unwrap();
        let flow = control_flow(&file, "f").unwrap();
        assert!(!flow.blocks.is_empty(), "{path}");
        assert_eq!(
            flow.notes.iter().any(|it| it.contains("nests deeper")),
            [0, 2, 4].contains(&at),
            "{path} {at}"
        );
        if at > 1 {
            data_flow(&file, "f").unwrap();
        }
    }
}

#[test]
fn odd_texts_are_answered() {
    for source in [
        "",
        "\r\n",
        "def",
        "def f(",
        "def f():\r\n\tx = 1\r\n\treturn x\r\n",
        "def größe(ä):\n    return ä\n",
        "\u{feff}def f(): pass",
    ] {
        let file = python(source);
        for function in functions(&file) {
            control_flow(&file, &function.name).unwrap();
            data_flow(&file, &function.name).unwrap();
        }
        control_flow(&file, "<module>").unwrap();
    }
    let file = python("def größe(ä):\n    return ä\n");
    assert_eq!(data_flow(&file, "größe").unwrap().variables, ["ä"]);
}
