//! C#.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "csharp",
    title: "C#",
    dialects: &[("cs", grammar)],
    rules: &[
        ("class_declaration", CLASS),
        ("struct_declaration", CLASS),
        ("record_declaration", CLASS.params_at(Part::Child("parameter_list"))),
        ("interface_declaration", CLASS),
        ("enum_declaration", Rule::class()),
        ("namespace_declaration", Rule::of(Role::Namespace).name("name").body("body")),
        ("file_scoped_namespace_declaration", Rule::of(Role::Package).name("name")),
        ("method_declaration", Rule::function().ty("returns")),
        ("constructor_declaration", Rule::function()),
        ("local_function_statement", Rule::function().ty("type")),
        ("property_declaration", Rule::of(Role::Property).name("name").ty("type").body("accessors")),
        ("lambda_expression", Rule::lambda()),
        ("anonymous_method_expression", Rule::lambda()),
        ("invocation_expression", Rule::call("function")),
        ("object_creation_expression", Rule::of(Role::New).ty("type").params("arguments")),
        ("member_access_expression", Rule::member("expression", "name")),
        ("conditional_access_expression", Rule::of(Role::Member).value("condition").name_at(Part::Last)),
        ("member_binding_expression", Rule::of(Role::Through).value("name")),
        ("qualified_name", Rule::member("qualifier", "name")),
        ("element_access_expression", Rule::of(Role::Index).value("expression")),
        ("generic_name", Rule::of(Role::Index).value_at(Part::Nth(0))),
        ("array_type", Rule::of(Role::Collection).value("type")),
        ("nullable_type", Rule::of(Role::Through).value("type")),
        ("variable_declaration", Rule::of(Role::Declaration).ty("type")),
        ("variable_declarator", Rule::of(Role::Variable).name("name").value_at(Part::Last)),
        ("enum_member_declaration", Rule::of(Role::Variable).name("name")),
        ("parameter", Rule::parameter("name").ty("type")),
        ("foreach_statement", Rule::of(Role::Loop).name("left").value("right").ty("type")),
        ("assignment_expression", Rule::assign("left", "right")),
        ("cast_expression", Rule::of(Role::Cast).value("value").ty("type")),
        ("as_expression", Rule::of(Role::Cast).value("left").ty("right")),
        ("conditional_expression", Rule::of(Role::Either).name("consequence").value("alternative")),
        ("parenthesized_expression", Rule::through()),
        ("await_expression", Rule::through()),
        ("return_statement", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("this", Rule::of(Role::SelfWord)),
        ("base", Rule::of(Role::SuperWord)),
        ("string_literal", Rule::of(Role::Text)),
        ("verbatim_string_literal", Rule::of(Role::Text)),
        ("interpolated_string_expression", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("attribute", Rule::of(Role::Decorator).value("name")),
        ("using_directive", Rule::of(Role::Import)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &[],
    reach: Reach::Package,
    members_are_bare: true,
    entry_points: &["Main", "Dispose", "ToString", "Equals", "GetHashCode"],
    tests: Tests {
        file_starts: &["Test"],
        file_ends: &["Test", "Tests", "Spec", "Specs"],
        function_starts: &["Test"],
        marks: &["Fact", "Theory", "Test", "TestCase", "TestMethod", "SetUp", "TearDown"],
        runner: &["dotnet", "test", "--filter"],
    },
};

const CLASS: Rule = Rule::class().value_at(Part::Child("base_list"));

fn grammar() -> tree_sitter::Language {
    tree_sitter_c_sharp::LANGUAGE.into()
}
