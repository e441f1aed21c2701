//! JavaScript. TypeScript stands on the same names and adds its types.

use super::{Part, Reach, Role, Rule, Table, Tests};

pub(super) static TABLE: Table = Table {
    name: "javascript",
    title: "JavaScript",
    dialects: &[("js", grammar), ("jsx", grammar), ("mjs", grammar), ("cjs", grammar)],
    rules: &[
        ("function_declaration", Rule::function()),
        ("generator_function_declaration", Rule::function()),
        ("method_definition", Rule::function()),
        ("function_expression", Rule::lambda().name("name")),
        ("generator_function", Rule::lambda().name("name")),
        ("arrow_function", Rule::lambda()),
        ("class_declaration", Rule::class().value_at(Part::Child("class_heritage"))),
        ("class", Rule::class().value_at(Part::Child("class_heritage"))),
        ("call_expression", Rule::call("function")),
        ("new_expression", Rule::of(Role::New).ty("constructor").params("arguments")),
        ("jsx_opening_element", Rule::call("name")),
        ("jsx_self_closing_element", Rule::call("name")),
        ("member_expression", Rule::member("object", "property")),
        ("subscript_expression", Rule::of(Role::Index).value("object")),
        ("assignment_expression", Rule::assign("left", "right")),
        ("variable_declarator", Rule::variable("name", "value")),
        ("field_definition", Rule::variable("property", "value")),
        ("pair", Rule::of(Role::Pair).name("key").value("value")),
        ("assignment_pattern", Rule::parameter("left").value("right")),
        ("for_in_statement", Rule::of(Role::Loop).name("left").value("right")),
        ("return_statement", Rule::returns()),
        ("ternary_expression", Rule::of(Role::Either).name("consequence").value("alternative")),
        ("binary_expression", Rule::of(Role::Either).name("left").value("right")),
        ("object", Rule::of(Role::Object)),
        ("array", Rule::of(Role::Collection)),
        ("parenthesized_expression", Rule::through()),
        ("await_expression", Rule::through()),
        ("identifier", Rule::of(Role::Identifier)),
        ("property_identifier", Rule::of(Role::Identifier)),
        ("private_property_identifier", Rule::of(Role::Identifier)),
        ("shorthand_property_identifier", Rule::of(Role::Identifier)),
        ("this", Rule::of(Role::SelfWord)),
        ("super", Rule::of(Role::SuperWord)),
        ("string", Rule::of(Role::Text)),
        ("template_string", Rule::of(Role::Text)),
        ("comment", Rule::of(Role::Comment)),
        ("decorator", Rule::of(Role::Decorator).value_at(Part::Nth(0))),
        ("import_statement", Rule::of(Role::Import)),
        ("export_statement", Rule::of(Role::Export)),
    ],
    self_names: &[],
    super_names: &[],
    constructors: &["constructor"],
    reach: Reach::File,
    members_are_bare: false,
    entry_points: &["main"],
    tests: TESTS,
};

/// What the common runners look for.
pub(super) const TESTS: Tests = Tests {
    file_starts: &[],
    file_ends: &[".test", ".spec", "_test", "-test"],
    function_starts: &["test"],
    marks: &[],
    runner: &["npx", "vitest", "run"],
};

fn grammar() -> tree_sitter::Language {
    tree_sitter_javascript::LANGUAGE.into()
}
