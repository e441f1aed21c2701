//! Elixir. Its grammar knows calls only; what defines a module or a function is told by the hook.

use super::{Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "elixir",
    title: "Elixir",
    dialects: &[("ex", grammar), ("exs", grammar)],
    rules: &[
        ("call", Rule::of(Role::Special)),
        ("dot", Rule::member("left", "right")),
        ("anonymous_function", Rule::of(Role::Lambda)),
        ("unary_operator", Rule::of(Role::Special)),
        ("binary_operator", Rule::of(Role::Special)),
        ("identifier", Rule::of(Role::Identifier)),
        ("alias", Rule::of(Role::Identifier)),
        ("string", Rule::of(Role::Text)),
        ("sigil", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
    ],
    self_names: &["__MODULE__"],
    super_names: &[],
    constructors: &[],
    reach: Reach::Project,
    members_are_bare: true,
    entry_points: &[
        "main",
        "start",
        "init",
        "start_link",
        "child_spec",
        "handle_call",
        "handle_cast",
        "handle_info",
    ],
    tests: Tests {
        file_starts: &[],
        file_ends: &["_test"],
        function_starts: &["test"],
        marks: &[],
        runner: &["mix", "test"],
    },
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_elixir::LANGUAGE.into()
}
