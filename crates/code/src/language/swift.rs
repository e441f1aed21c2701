//! Swift.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "swift",
    title: "Swift",
    dialects: &[("swift", grammar)],
    rules: &[
        ("class_declaration", Rule::class()),
        ("protocol_declaration", Rule::class()),
        ("function_declaration", Rule::of(Role::Function).name("name").body("body")),
        ("protocol_function_declaration", Rule::of(Role::Function).name("name")),
        ("init_declaration", Rule::of(Role::Function).name("name").body("body")),
        ("lambda_literal", Rule::of(Role::Lambda)),
        (
            "call_expression",
            Rule::of(Role::Call).value_at(Part::Nth(0)).params_at(Part::Child("call_suffix")),
        ),
        ("constructor_expression", Rule::of(Role::New).ty("constructed_type")),
        ("navigation_expression", Rule::member("target", "suffix")),
        ("navigation_suffix", Rule::of(Role::Through).value("suffix")),
        ("property_declaration", Rule::variable("name", "value").ty_at(Part::Child("type_annotation"))),
        ("type_annotation", Rule::through()),
        ("optional_type", Rule::through()),
        ("pattern", Rule::of(Role::Through).value("bound_identifier")),
        ("parameter", Rule::parameter("name").ty_at(Part::Last)),
        ("for_statement", Rule::of(Role::Loop).name("item").value("collection")),
        ("assignment", Rule::assign("target", "result")),
        ("directly_assignable_expression", Rule::through()),
        ("array_type", Rule::of(Role::Collection)),
        ("array_literal", Rule::of(Role::Collection)),
        ("as_expression", Rule::of(Role::Cast).value("expr").ty("type")),
        ("ternary_expression", Rule::of(Role::Either).name("if_true").value("if_false")),
        ("try_expression", Rule::of(Role::Through).value("expr")),
        ("await_expression", Rule::of(Role::Through).value("expr")),
        ("postfix_expression", Rule::of(Role::Through).value("target")),
        ("user_type", Rule::of(Role::Index).value_at(Part::Nth(0))),
        ("inheritance_specifier", Rule::of(Role::Through).value("inherits_from")),
        ("control_transfer_statement", Rule::of(Role::Return).value("result")),
        ("simple_identifier", Rule::of(Role::Identifier)),
        ("type_identifier", Rule::of(Role::TypeName)),
        ("self_expression", Rule::of(Role::SelfWord)),
        ("super_expression", Rule::of(Role::SuperWord)),
        ("line_string_literal", Rule::of(Role::Text)),
        ("multi_line_string_literal", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("multiline_comment", Rule::of(Role::Comment)),
        ("attribute", Rule::of(Role::Decorator).value_at(Part::Nth(0))),
        ("import_declaration", Rule::of(Role::Import)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &["init"],
    reach: Reach::Project,
    members_are_bare: true,
    entry_points: &["main", "init", "deinit", "body", "application", "viewDidLoad"],
    tests: Tests {
        file_starts: &[],
        file_ends: &["Test", "Tests", "Spec"],
        function_starts: &["test"],
        marks: &["Test"],
        runner: &["swift", "test", "--filter"],
    },
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_swift::LANGUAGE.into()
}
