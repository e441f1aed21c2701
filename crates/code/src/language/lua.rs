//! Lua, and Luau, which adds types to it.

use super::{Grammar, Part, Reach, Role, Rule, Table, Tests};

pub(super) static LUA: Table = table("lua", "Lua", &[("lua", lua)], RULES);
pub(super) static LUAU: Table = table("luau", "Luau", &[("luau", luau)], LUAU_RULES);

const RULES: &[(&str, Rule)] = &[
    ("function_declaration", Rule::function()),
    ("function_definition", Rule::lambda()),
    ("function_call", Rule::call("name")),
    ("dot_index_expression", Rule::member("table", "field")),
    ("method_index_expression", Rule::member("table", "method")),
    ("bracket_index_expression", Rule::of(Role::Index).value("table")),
    ("assignment_statement", Rule::of(Role::Assign).name_at(Part::Nth(0)).value_at(Part::Nth(1))),
    ("field", Rule::of(Role::Pair).name("name").value("value")),
    ("table_constructor", Rule::of(Role::Object)),
    ("parenthesized_expression", Rule::through()),
    ("return_statement", Rule::returns()),
    ("expression_list", Rule::of(Role::Collection)),
    ("identifier", Rule::of(Role::Identifier)),
    ("string", Rule::of(Role::Text)),
    ("comment", Rule::of(Role::Comment)),
];

const LUAU_RULES: &[(&str, Rule)] = &[
    ("function_declaration", Rule::function()),
    ("function_definition", Rule::lambda()),
    ("function_call", Rule::call("name")),
    ("dot_index_expression", Rule::member("table", "field")),
    ("method_index_expression", Rule::member("table", "method")),
    ("bracket_index_expression", Rule::of(Role::Index).value("table")),
    ("assignment_statement", Rule::of(Role::Assign).name_at(Part::Nth(0)).value_at(Part::Nth(1))),
    ("parameter", Rule::of(Role::Parameter).name_at(Part::Nth(0)).ty_at(Part::Nth(1))),
    ("field", Rule::of(Role::Pair).name("name").value("value")),
    ("table_constructor", Rule::of(Role::Object)),
    ("parenthesized_expression", Rule::through()),
    ("return_statement", Rule::returns()),
    ("expression_list", Rule::of(Role::Collection)),
    ("identifier", Rule::of(Role::Identifier)),
    ("string", Rule::of(Role::Text)),
    ("comment", Rule::of(Role::Comment)),
];

const fn table(
    name: &'static str,
    title: &'static str,
    dialects: &'static [(&'static str, Grammar)],
    rules: &'static [(&'static str, Rule)],
) -> Table {
    Table {
        name,
        title,
        dialects,
        rules,
        self_names: &["self"],
        super_names: &[],
        constructors: &[],
        reach: Reach::File,
        members_are_bare: false,
        entry_points: &["main"],
        tests: Tests {
            file_starts: &["test_"],
            file_ends: &["_test", "_spec", ".spec", ".test"],
            function_starts: &["test"],
            marks: &[],
            runner: &["busted"],
        },
    }
}

fn lua() -> tree_sitter::Language {
    tree_sitter_lua::LANGUAGE.into()
}

fn luau() -> tree_sitter::Language {
    tree_sitter_luau::LANGUAGE.into()
}
