//! Java.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "java",
    title: "Java",
    dialects: &[("java", grammar)],
    rules: &[
        ("class_declaration", Rule::class().value("superclass").ty("interfaces")),
        ("enum_declaration", Rule::class().value("interfaces")),
        ("record_declaration", Rule::class().value("interfaces").params("parameters")),
        ("interface_declaration", Rule::class().value_at(Part::Child("extends_interfaces"))),
        ("annotation_type_declaration", Rule::class()),
        ("method_declaration", Rule::function().ty("type")),
        ("constructor_declaration", Rule::function()),
        ("lambda_expression", Rule::lambda()),
        ("method_invocation", Rule::invoke("object", "name")),
        ("explicit_constructor_invocation", Rule::call("constructor")),
        ("object_creation_expression", Rule::of(Role::New).ty("type").params("arguments")),
        ("field_access", Rule::member("object", "field")),
        ("scoped_identifier", Rule::member("scope", "name")),
        ("scoped_type_identifier", Rule::of(Role::Member).value_at(Part::Nth(0)).name_at(Part::Last)),
        ("method_reference", Rule::of(Role::Member).value_at(Part::Nth(0)).name_at(Part::Last)),
        ("array_access", Rule::of(Role::Index).value("array")),
        ("generic_type", Rule::of(Role::Index).value_at(Part::Nth(0))),
        ("array_type", Rule::of(Role::Collection).value("element")),
        ("local_variable_declaration", Rule::of(Role::Declaration).ty("type")),
        ("field_declaration", Rule::of(Role::Declaration).ty("type")),
        ("variable_declarator", Rule::variable("name", "value")),
        ("enum_constant", Rule::of(Role::Variable).name("name")),
        ("resource", Rule::variable("name", "value").ty("type")),
        ("formal_parameter", Rule::parameter("name").ty("type")),
        ("catch_formal_parameter", Rule::parameter("name")),
        ("spread_parameter", Rule::of(Role::Parameter).name_at(Part::Last).ty_at(Part::Nth(0))),
        ("enhanced_for_statement", Rule::of(Role::Loop).name("name").value("value").ty("type")),
        ("assignment_expression", Rule::assign("left", "right")),
        ("cast_expression", Rule::of(Role::Cast).value("value").ty("type")),
        ("ternary_expression", Rule::of(Role::Either).name("consequence").value("alternative")),
        ("parenthesized_expression", Rule::through()),
        ("return_statement", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("type_identifier", Rule::of(Role::TypeName)),
        ("this", Rule::of(Role::SelfWord)),
        ("super", Rule::of(Role::SuperWord)),
        ("string_literal", Rule::of(Role::Text)),
        ("line_comment", Rule::of(Role::Comment)),
        ("block_comment", Rule::of(Role::Comment)),
        ("marker_annotation", Rule::of(Role::Decorator).value("name")),
        ("annotation", Rule::of(Role::Decorator).value("name")),
        ("package_declaration", Rule::of(Role::Package).name_at(Part::Nth(0))),
        ("import_declaration", Rule::of(Role::Import)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &[],
    reach: Reach::Package,
    members_are_bare: true,
    entry_points: &["main"],
    tests: TESTS,
};

/// JUnit and those that follow it.
pub(super) const TESTS: Tests = Tests {
    file_starts: &["Test"],
    file_ends: &["Test", "Tests", "IT", "Spec"],
    function_starts: &["test"],
    marks: &["Test", "ParameterizedTest", "RepeatedTest", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll"],
    runner: &["gradle", "test", "--tests"],
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_java::LANGUAGE.into()
}
