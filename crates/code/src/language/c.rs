//! C. A header may be C++; it is read as C unless its name says otherwise.

use super::{Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "c",
    title: "C",
    dialects: &[("c", grammar), ("h", grammar)],
    rules: &[
        ("function_definition", Rule::of(Role::Function).name("declarator").ty("type").body("body")),
        ("preproc_function_def", Rule::of(Role::Function).name("name")),
        ("struct_specifier", Rule::class()),
        ("union_specifier", Rule::class()),
        ("enum_specifier", Rule::class()),
        ("type_definition", Rule::variable("declarator", "type")),
        ("call_expression", Rule::call("function")),
        ("field_expression", Rule::member("argument", "field")),
        ("subscript_expression", Rule::of(Role::Index).value("argument")),
        ("declaration", Rule::of(Role::Declaration).ty("type")),
        ("field_declaration", Rule::of(Role::Declaration).ty("type")),
        ("init_declarator", Rule::variable("declarator", "value")),
        ("parameter_declaration", Rule::parameter("declarator").ty("type")),
        ("assignment_expression", Rule::assign("left", "right")),
        ("cast_expression", Rule::of(Role::Cast).value("value").ty("type")),
        ("type_descriptor", Rule::of(Role::Through).value("type")),
        ("conditional_expression", Rule::of(Role::Either).name("consequence").value("alternative")),
        ("pointer_expression", Rule::of(Role::Through).value("argument")),
        ("parenthesized_expression", Rule::through()),
        ("return_statement", Rule::returns()),
        ("identifier", Rule::of(Role::Identifier)),
        ("field_identifier", Rule::of(Role::Identifier)),
        ("type_identifier", Rule::of(Role::TypeName)),
        ("string_literal", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("preproc_include", Rule::of(Role::Import)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &[],
    reach: Reach::Project,
    members_are_bare: false,
    entry_points: &["main", "LLVMFuzzerTestOneInput", "DllMain", "WinMain"],
    tests: Tests {
        file_starts: &["test_", "test-"],
        file_ends: &["_test", "_tests", "-test"],
        function_starts: &["test"],
        marks: &[],
        runner: &["ctest", "-R"],
    },
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_c::LANGUAGE.into()
}
