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
