//! Kotlin. Its grammar names few fields, so parts are found by kind.

use super::java::TESTS;
use super::{Part, Reach, Role, Rule, Table};

pub(super) static TABLE: Table = Table {
    name: "kotlin",
    title: "Kotlin",
    dialects: &[("kt", grammar), ("kts", grammar)],
    rules: &[
        ("class_declaration", CLASS.params_at(Part::Child("primary_constructor"))),
        ("object_declaration", CLASS),
        ("companion_object", Rule::of(Role::Special)),
        ("function_declaration", FUNCTION.name("name").ty_at(Part::Child("user_type"))),
        ("secondary_constructor", FUNCTION.body_at(Part::Child("block"))),
        ("getter", Rule::of(Role::Lambda).body_at(Part::Child("function_body"))),
        ("setter", Rule::of(Role::Lambda).body_at(Part::Child("function_body"))),
        ("lambda_literal", Rule::of(Role::Lambda).params_at(Part::Child("lambda_parameters"))),
        ("anonymous_function", FUNCTION.role(Role::Lambda)),
        (
            "call_expression",
            Rule::of(Role::Call).value_at(Part::Nth(0)).params_at(Part::Child("value_arguments")),
        ),
        ("navigation_expression", MEMBER),
        ("callable_reference", MEMBER),
        ("index_expression", Rule::of(Role::Index).value_at(Part::Nth(0))),
        ("property_declaration", Rule::of(Role::Variable).name_at(Part::Nth(0)).value_at(Part::Last)),
        ("variable_declaration", Rule::of(Role::Declaration)),
        ("enum_entry", Rule::of(Role::Variable).name_at(Part::Child("identifier"))),
        (
            "class_parameter",
            Rule::of(Role::Parameter).name_at(Part::Child("identifier")).ty_at(Part::Child("user_type")),
        ),
        ("parameter", Rule::of(Role::Parameter).name_at(Part::Child("identifier")).ty_at(Part::Last)),
        ("for_statement", Rule::of(Role::Loop).name_at(Part::Nth(0)).value_at(Part::Nth(1))),
        ("assignment", Rule::assign("left", "right")),
        ("as_expression", Rule::of(Role::Cast).value_at(Part::Nth(0)).ty_at(Part::Last)),
        ("parenthesized_expression", Rule::through()),
        ("nullable_type", Rule::through()),
        ("unary_expression", Rule::through()),
        ("user_type", Rule::of(Role::Index).value_at(Part::Nth(0))),
        ("constructor_invocation", Rule::of(Role::Call).value_at(Part::Nth(0))),
        ("return_expression", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("this_expression", Rule::of(Role::SelfWord)),
        ("super_expression", Rule::of(Role::SuperWord)),
        ("string_literal", Rule::of(Role::Text)),
        ("line_comment", Rule::of(Role::Comment)),
        ("block_comment", Rule::of(Role::Comment)),
        ("annotation", Rule::of(Role::Decorator).value_at(Part::Nth(0))),
        ("package_header", Rule::of(Role::Package).name_at(Part::Nth(0))),
        ("import", Rule::of(Role::Import)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &[],
    reach: Reach::Package,
    members_are_bare: true,
    entry_points: &["main", "onCreate", "toString", "equals", "hashCode"],
    tests: TESTS,
};

const CLASS: Rule = Rule::of(Role::Class)
    .name("name")
    .value_at(Part::Child("delegation_specifiers"))
    .body_at(Part::Child("class_body"));
const FUNCTION: Rule = Rule::of(Role::Function)
    .params_at(Part::Child("function_value_parameters"))
    .body_at(Part::Child("function_body"));
const MEMBER: Rule = Rule::of(Role::Member).value_at(Part::Nth(0)).name_at(Part::Last);

fn grammar() -> tree_sitter::Language {
    tree_sitter_kotlin_ng::LANGUAGE.into()
}
