//! Planted programs with known answers.

use super::*;
use crate::parse::parse;

#[test]
fn an_if_has_two_ways_and_a_join() {
    let source = b"def f(a):\n    if a:\n        b = 1\n    else:\n        b = 2\n    return b\n";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let cfg = control_flow(&file, "f").unwrap();
    assert_eq!(cfg.cyclomatic_complexity, 2, "{cfg}");
    assert_eq!(cfg.blocks.len(), 4, "{cfg}");
    let back = slice(&file, "f", &Criterion { line: 6, direction: Direction::Backward, var: None }).unwrap();
    assert_eq!(back.lines, [1, 2, 3, 5, 6], "{back}");
}

/// The function on which others lost lines, branches and definitions, and whose slices were nearly all of it.
const FLOW: &str = "\
def flow(a, b, items):
    if a > b:
        e = a
    else:
        e = b
    try:
        f = helper(e)
    except ValueError:
        f = 0
    with open('x') as h:
        h.write(f)
    while f > 0:
        f = f - 1
        if f == 3:
            break
    return [x * f for x in items if x]
";

#[test]
fn every_line_is_in_a_block_and_every_decision_counts() {
    let file = parse(Language::Python, "a.py", FLOW.as_bytes()).unwrap();
    let cfg = control_flow(&file, "flow").unwrap();
    for line in (1..=16).filter(|line| *line != 4) {
        assert!(cfg.blocks.iter().any(|it| it.lines[0] <= line && line <= it.lines[1]), "line {line}: {cfg}");
    }
    let targets: Vec<usize> = cfg.edges.iter().map(|it| it.to).collect();
    assert!(cfg.blocks.iter().skip(1).all(|it| targets.contains(&it.id)), "{cfg}");
    // One way through, `if`, `except`, `while`, `if`, and the loop of the comprehension.
    assert_eq!(cfg.cyclomatic_complexity, 6, "{cfg}");
}

#[test]
fn both_branches_and_a_guarded_body_define() {
    let file = parse(Language::Python, "a.py", FLOW.as_bytes()).unwrap();
    let dfg = data_flow(&file, "flow").unwrap();
    let sees = |var: &str, line: usize| -> Vec<usize> {
        dfg.edges.iter().filter(|it| it.var == var && it.use_line == line).map(|it| it.def_line).collect()
    };
    assert_eq!(sees("e", 7), [3, 5], "{dfg}");
    assert_eq!(sees("f", 12), [7, 9, 13], "{dfg}");
}

#[test]
fn a_slice_leaves_out_what_has_no_part_in_it() {
    let file = parse(Language::Python, "a.py", FLOW.as_bytes()).unwrap();
    let at = |line, var: Option<&str>| {
        let criterion = Criterion { line, direction: Direction::Backward, var: var.map(str::to_owned) };
        slice(&file, "flow", &criterion).unwrap().lines
    };
    assert_eq!(at(14, None), [1, 2, 3, 5, 7, 8, 9, 12, 13, 14], "neither the resource nor the break");
    assert_eq!(at(7, Some("e")), [1, 2, 3, 5, 7]);
    assert_eq!(at(16, Some("items")), [1, 16]);
}

#[test]
fn a_field_is_not_its_neighbour() {
    let source = b"def f(self):\n    self.a = 1\n    self.b = 2\n    x = self.a\n    self.go()\n    return self.a, x\n";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let at = |line| {
        slice(&file, "f", &Criterion { line, direction: Direction::Backward, var: None }).unwrap().lines
    };
    assert_eq!(at(4), [1, 2, 4]);
    assert_eq!(at(6), [1, 2, 3, 4, 5, 6], "a method may have changed any field from any other");
}

#[test]
fn a_closure_reads_where_it_is_called_and_writes_what_it_shares() {
    let source = b"\
def f(start):
    total = start
    step = 1
    def add(n):
        nonlocal total
        total += n * step
    step = 5
    add(2)
    return total
";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let back = slice(&file, "f", &Criterion { line: 9, direction: Direction::Backward, var: None }).unwrap();
    assert_eq!(back.lines, [1, 2, 3, 4, 7, 8, 9], "{back}");
}

#[test]
fn clean_up_runs_on_every_way_out() {
    let source = b"\
def f(xs):
    for x in xs:
        try:
            if x:
                return 1
            if x is None:
                continue
        finally:
            done()
    last()
";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let cfg = control_flow(&file, "f").unwrap();
    let finally = cfg.blocks.iter().find(|it| it.kind == BlockKind::Finally).unwrap().id;
    let ways: Vec<EdgeKind> = cfg.edges.iter().filter(|it| it.from == finally).map(|it| it.kind).collect();
    assert_eq!(ways, [EdgeKind::BackEdge, EdgeKind::Continue], "{cfg}");
    assert!(cfg.exit_blocks.contains(&finally), "{cfg}");
    assert_eq!(cfg.exit_blocks.len(), 2, "{cfg}");
}

#[test]
fn what_is_compiled_or_not_is_reachable_either_way() {
    let c = b"int f(void) {\n#ifdef FAST\n    return 1;\n#else\n    return 2;\n#endif\n}\n";
    let rust = b"fn f() -> u8 {\n    #[cfg(unix)]\n    return g();\n    #[cfg(not(unix))]\n    2\n}\n";
    let js = b"function f() {\n    return g();\n    function g() {\n        return 1;\n    }\n}\n";
    for (path, source) in [("a.c", c.as_slice()), ("a.rs", rust), ("a.js", js)] {
        let file = parse(Language::of_path(path).unwrap(), path, source).unwrap();
        let cfg = control_flow(&file, "f").unwrap();
        assert!(cfg.blocks.iter().all(|it| it.kind != BlockKind::Unreachable), "{path}: {cfg}");
        assert_eq!(cfg.cyclomatic_complexity, 1, "{path}: {cfg}");
    }
}

#[test]
fn code_behind_a_return_is_shown_and_called_unreachable() {
    let file = parse(Language::Go, "a.go", b"package a\nfunc f() int {\n\treturn 1\n\tg()\n}\n").unwrap();
    let cfg = control_flow(&file, "f").unwrap();
    let dead: Vec<_> =
        cfg.blocks.iter().filter(|it| it.kind == BlockKind::Unreachable).map(|it| it.lines).collect();
    assert_eq!(dead, [[4, 4]], "{cfg}");
}

#[test]
fn what_a_constant_rules_out_cannot_run() {
    let source = b"def f(x):\n    match x:\n        case 0 if False:\n            a = 1\n        case 0 if 1:\n            b = 2\n    try:\n        assert 0, x\n        c = 3\n    except AssertionError:\n        return 4\n";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let cfg = control_flow(&file, "f").unwrap();
    let dead: Vec<_> =
        cfg.blocks.iter().filter(|it| it.kind == BlockKind::Unreachable).map(|it| it.lines).collect();
    assert_eq!(dead, [[4, 4], [9, 9]], "{cfg}");
}

#[test]
fn of_overloads_the_one_that_runs_is_meant_and_a_line_picks_among_namesakes() {
    let source = b"@overload\ndef f(a: int): ...\n@t.overload\ndef f(a: str): ...\ndef f(a):\n    return a\n\nclass A:\n    def g(self):\n        return 1\nclass B:\n    def g(self):\n        return 2\n";
    let file = parse(Language::Python, "a.py", source).unwrap();
    let first = |asked: &str| control_flow(&file, asked).map(|cfg| cfg.blocks[0].lines[0]);
    assert_eq!((first("f"), first("f:1"), first("f:2")), (Ok(5), Ok(2), Ok(2)));
    assert!(matches!(first("g"), Err(FlowError::Ambiguous { .. })));
    let criterion = Criterion { line: 13, direction: Direction::Backward, var: None };
    assert_eq!(slice(&file, "g", &criterion).unwrap().function, "B.g");
}

#[test]
fn a_line_of_a_callback_depends_on_its_own_function_and_on_what_that_was_made_from() {
    let source = b"\
function f(xs, limit) {
  const seen = new Set();
  const other = 1;
  xs.forEach((x) => {
    const key = x.id;
    const unused = 2;
    if (key > limit) {
      seen.add(key);
    }
  });
  return other;
}
";
    let file = parse(Language::JavaScript, "a.js", source).unwrap();
    let at = |direction, var: Option<&str>| {
        slice(&file, "f", &Criterion { line: 8, direction, var: var.map(str::to_owned) }).map(|it| it.lines)
    };
    assert_eq!(at(Direction::Backward, None), Ok(vec![1, 2, 4, 5, 7, 8]));
    assert_eq!(at(Direction::Backward, Some("key")), Ok(vec![1, 2, 4, 5, 7, 8]));
    assert!(matches!(at(Direction::Backward, Some("nobody")), Err(FlowError::NoVariable { .. })));
    let shown = slice(&file, "f", &Criterion { line: 8, direction: Direction::Backward, var: None }).unwrap();
    let kinds: Vec<_> =
        shown.slice_lines.iter().filter(|it| it.dependency == Dependency::Criterion).collect();
    assert_eq!(kinds.iter().map(|it| it.line).collect::<Vec<_>>(), [8], "{shown}");
}
