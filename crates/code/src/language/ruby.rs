//! Ruby.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "ruby",
    title: "Ruby",
    dialects: &[("rb", grammar), ("rake", grammar), ("gemspec", grammar)],
    rules: &[
        ("class", Rule::class().value("superclass")),
        ("module", Rule::class()),
        ("singleton_class", Rule::of(Role::Special)),
        ("method", Rule::function()),
        ("singleton_method", Rule::function()),
        ("block", Rule::lambda()),
        ("do_block", Rule::lambda()),
        ("lambda", Rule::of(Role::Special)),
        ("call", Rule::invoke("receiver", "method")),
        ("scope_resolution", Rule::member("scope", "name")),
        ("element_reference", Rule::of(Role::Index).value("object")),
        ("assignment", Rule::assign("left", "right")),
        ("operator_assignment", Rule::assign("left", "right")),
        ("optional_parameter", Rule::parameter("name").value("value")),
        ("keyword_parameter", Rule::parameter("name").value("value")),
        ("splat_parameter", Rule::parameter("name")),
        ("hash_splat_parameter", Rule::parameter("name")),
        ("block_parameter", Rule::parameter("name")),
        ("for", Rule::of(Role::Loop).name("pattern").value("value")),
        ("conditional", Rule::of(Role::Either).name("consequence").value("alternative")),
        ("array", Rule::of(Role::Collection)),
        ("superclass", Rule::through()),
        ("parenthesized_statements", Rule::through()),
        ("return", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("constant", Rule::of(Role::Identifier)),
        ("instance_variable", Rule::of(Role::Identifier)),
        ("class_variable", Rule::of(Role::Identifier)),
        ("global_variable", Rule::of(Role::Identifier)),
        ("self", Rule::of(Role::SelfWord)),
        ("super", Rule::of(Role::SuperWord)),
        ("string", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("body_statement", Rule::of(Role::Special)),
        ("alias", Rule::of(Role::Variable).name("name").value_at(Part::Field("alias"))),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &["initialize"],
    reach: Reach::Project,
    members_are_bare: true,
    entry_points: &["initialize", "to_s", "inspect", "method_missing", "respond_to_missing?", "included"],
    tests: Tests {
        file_starts: &["test_"],
        file_ends: &["_test", "_spec"],
        function_starts: &["test_"],
        marks: &[],
        runner: &["bundle", "exec", "rspec"],
    },
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_ruby::LANGUAGE.into()
}
