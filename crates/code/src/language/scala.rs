//! Scala.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "scala",
    title: "Scala",
    dialects: &[("scala", grammar), ("sc", grammar)],
    rules: &[
        ("class_definition", CLASS),
        ("object_definition", CLASS),
        ("trait_definition", CLASS),
        ("enum_definition", CLASS),
        ("function_definition", Rule::function().ty("return_type")),
        ("function_declaration", Rule::function().ty("return_type")),
        ("lambda_expression", Rule::of(Role::Lambda).params("parameters")),
        ("call_expression", Rule::call("function")),
        ("infix_expression", Rule::invoke("left", "operator").params("right")),
        ("instance_expression", Rule::of(Role::New).ty_at(Part::Nth(0))),
        ("field_expression", Rule::member("value", "field")),
        ("generic_type", Rule::of(Role::Index).value("type")),
        ("generic_function", Rule::of(Role::Through).value("function")),
        ("val_definition", Rule::variable("pattern", "value").ty("type")),
        ("var_definition", Rule::variable("pattern", "value").ty("type")),
        ("val_declaration", Rule::of(Role::Variable).name("name").ty("type")),
        ("type_definition", Rule::variable("name", "type")),
        ("class_parameter", Rule::parameter("name").ty("type")),
        ("parameter", Rule::parameter("name").ty("type").value("default_value")),
        ("enumerator", Rule::of(Role::Loop).name_at(Part::Nth(0)).value_at(Part::Nth(1))),
        ("assignment_expression", Rule::assign("left", "right")),
        ("parenthesized_expression", Rule::through()),
        ("return_expression", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("type_identifier", Rule::of(Role::TypeName)),
        ("string", Rule::of(Role::Text)),
        ("interpolated_string_expression", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("block_comment", Rule::of(Role::Comment)),
        ("annotation", Rule::of(Role::Decorator).value("name")),
        ("package_clause", Rule::of(Role::Package).name("name")),
        ("import_declaration", Rule::of(Role::Import)),
    ],
    self_names: &["this"],
    super_names: &["super"],
    constructors: &[],
    reach: Reach::Package,
    members_are_bare: true,
    entry_points: &["main", "apply", "unapply", "toString"],
    tests: Tests {
        file_starts: &[],
        file_ends: &["Test", "Tests", "Spec", "Suite"],
        function_starts: &["test"],
        marks: &["Test"],
        runner: &["sbt", "testOnly"],
    },
};

const CLASS: Rule = Rule::class().value("extend").params("class_parameters");

fn grammar() -> tree_sitter::Language {
    tree_sitter_scala::LANGUAGE.into()
}
