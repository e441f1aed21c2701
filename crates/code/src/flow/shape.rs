//! What a node of a grammar is to control and data flow: one table over the kinds of all grammars, which mostly agree
//! on their words, and the few words on which one language differs. It must never look at a tree.

use std::cell::RefCell;
use std::rc::Rc;

use tree_sitter::{Language as Grammar, Node};

use crate::language::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing of its own: look inside.
    Through,
    /// Statements in a scope of their own.
    Block,
    /// Statements, or a wrapper around one.
    Group,
    /// Neither runs nor reads.
    Skip,
    If,
    Unless,
    ElseIf,
    Else,
    While,
    Until,
    DoWhile,
    DoUntil,
    For,
    Each,
    Forever,
    Switch,
    Arm,
    Try,
    Handler,
    Finally,
    With,
    Labelled,
    Return,
    Raise,
    Break,
    Continue,
    Goto,
    Fall,
    Retry,
    Defer,
    Name,
    Member,
    Index,
    Call,
    Macro,
    Assign,
    Augment,
    Increment,
    Declare,
    Reference,
    Delete,
    Lambda,
    Function,
    Class,
    Comprehension,
    Ternary,
    Question,
    Keyword,
    Import,
    /// `value as name`.
    As,
    /// There or not, as the compiler was told.
    Compiled,
    /// Names that belong to a scope further out.
    Outer,
}

/// The shapes of all node kinds of one grammar, by kind number.
#[derive(Debug, Clone)]
pub(crate) struct Shapes(Rc<[Shape]>);

impl Shapes {
    /// Made once for each grammar and thread: naming every kind costs as much as lowering a small function.
    pub(crate) fn of(language: Language, grammar: &Grammar) -> Self {
        thread_local! {
            static MADE: RefCell<Vec<(Language, usize, Shapes)>> = const { RefCell::new(Vec::new()) };
        }
        let count = grammar.node_kind_count();
        MADE.with_borrow_mut(|made| {
            if let Some((.., shapes)) = made.iter().find(|(it, kinds, _)| *it == language && *kinds == count)
            {
                return shapes.clone();
            }
            let kind =
                |id| grammar.node_kind_for_id(u16::try_from(id).unwrap_or(u16::MAX)).unwrap_or_default();
            let shapes = Self((0..count).map(|id| shape(language, kind(id))).collect());
            made.push((language, count, shapes.clone()));
            shapes
        })
    }

    pub(crate) fn get(&self, node: Node<'_>) -> Shape {
        self.0.get(usize::from(node.kind_id())).copied().unwrap_or(Shape::Through)
    }
}

fn shape(language: Language, kind: &str) -> Shape {
    special(language, kind).unwrap_or_else(|| usual(kind))
}

fn special(language: Language, kind: &str) -> Option<Shape> {
    use Language as L;
    Some(match (language, kind) {
        (L::Ruby, "block" | "do_block" | "lambda") => Shape::Lambda,
        (L::Ruby, "method" | "singleton_method") => Shape::Function,
        (L::Ruby, "class" | "module" | "singleton_class") => Shape::Class,
        (L::Ruby, "begin" | "body_statement") => Shape::Try,
        (L::Ruby, "call") => Shape::Call,
        (L::Ruby, "constant") => Shape::Skip,
        (L::Ruby, "if" | "if_modifier") => Shape::If,
        (L::Ruby, "unless" | "unless_modifier") => Shape::Unless,
        (L::Ruby, "while" | "while_modifier") => Shape::While,
        (L::Ruby, "until" | "until_modifier") => Shape::Until,
        (L::Ruby, "for") => Shape::Each,
        (L::Ruby, "case" | "case_match") => Shape::Switch,
        (L::Ruby, "else") => Shape::Else,
        (L::Ruby, "yield") => Shape::Call,
        (L::Ruby, "assignment") => Shape::Assign,
        (L::Ruby, "then" | "do" | "program" | "parenthesized_statements") => Shape::Group,
        (L::Ruby, "return") => Shape::Return,
        (L::Ruby, "break") => Shape::Break,
        (L::Ruby, "next") => Shape::Continue,
        (L::Ruby, "redo" | "retry") => Shape::Retry,
        (L::Ruby, "pair") => Shape::Keyword,
        (L::Python, "type") => Shape::Skip,
        (L::Python, "global_statement" | "nonlocal_statement") => Shape::Outer,
        (L::Python, "module") => Shape::Group,
        (L::Python, "assignment") => Shape::Assign,
        (L::Python, "call") => Shape::Call,
        (L::Python, "with_statement") => Shape::With,
        (L::Go, "switch_statement") => Shape::Through,
        (L::Go, "const_declaration" | "var_declaration") => Shape::Group,
        (L::Rust, "const_item" | "static_item") => Shape::Declare,
        (L::Rust, "async_block" | "gen_block") => Shape::Lambda,
        (L::C | L::Cpp, "declaration") => Shape::Declare,
        (L::Cpp, "try_statement") => Shape::Try,
        (L::CSharp, "do_statement") => Shape::DoWhile,
        (L::Php, "variable_name") => Shape::Name,
        (L::Php, "name" | "qualified_name") => Shape::Skip,
        (L::Php, "php_tag" | "text" | "text_interpolation" | "global_declaration") => Shape::Skip,
        (L::Php, "nullsafe_member_access_expression") => Shape::Member,
        (L::Php, "nullsafe_member_call_expression") => Shape::Call,
        (L::Php, "static_variable_declaration") => Shape::Declare,
        (L::Php, "reference_assignment_expression") => Shape::Assign,
        (L::Php, "unset_statement") => Shape::Delete,
        (L::Php, "named_label_statement") => Shape::Labelled,
        (L::Php, "colon_block") => Shape::Group,
        (L::Lua | L::Luau, "variable_declaration") => Shape::Declare,
        (L::Lua | L::Luau, "function_definition") => Shape::Lambda,
        (L::Lua | L::Luau, "do_statement") => Shape::Block,
        (L::Lua | L::Luau, "label_statement") => Shape::Labelled,
        (L::Luau, "if_expression") => Shape::Ternary,
        (L::Luau, "type") => Shape::Skip,
        (L::Lua | L::Luau, "for_statement") => Shape::Each,
        _ => return None,
    })
}

#[rustfmt::skip]
fn usual(kind: &str) -> Shape {
    match kind {
        "comment" | "line_comment" | "block_comment" | "type_annotation" | "type_arguments" | "type_parameters"
        | "type_argument_list" | "type_identifier" | "predefined_type" | "primitive_type" | "generic_type"
        | "attribute_item" | "inner_attribute_item" | "attribute_list" | "modifiers" | "visibility_modifier"
        | "abstract_pointer_declarator" | "interface_declaration" | "type_alias_declaration"
        | "type_declaration" | "annotation" | "marker_annotation" | "use_declaration" | "import_declaration"
        | "package_declaration" | "package_clause" | "using_directive" | "preproc_include" | "preproc_def"
        | "preproc_function_def" | "preproc_call" | "type_definition" | "empty_statement" | "macro_definition"
        | "statement_identifier" | "label_name" | "label" | "field_identifier" | "property_identifier"
        | "namespace_use_declaration" | "hash_key_symbol" | "simple_symbol"
        | "jsx_closing_element" | "heredoc_beginning" | "type_descriptor" | "field_designator" => Shape::Skip,
        "block" | "statement_block" | "compound_statement" | "unsafe_block" | "const_block" | "do" => Shape::Block,
        "expression_statement" | "statement_list" | "program" | "source_file" | "translation_unit" | "compilation_unit"
        | "export_statement" | "local_declaration_statement" | "global_statement" | "checked_statement"
        | "unsafe_statement" | "constructor_body" | "then" | "block_body" | "declaration_list" | "var_spec_list"
        | "const_spec_list" | "linkage_specification"
        | "attributed_statement" | "namespace_definition" | "switch_body" | "switch_block" | "chunk" | "init_statement"
        | "lexical_declaration" | "variable_declaration" | "local_variable_declaration" | "field_declaration"
        | "decorated_definition" | "template_declaration" | "statements" => Shape::Group,
        "as_pattern" => Shape::As,
        "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef" => Shape::Compiled,
        "if_statement" | "if_expression" => Shape::If,
        "elif_clause" | "elsif" | "else_if_clause" | "elseif_statement" | "elseif_clause" => Shape::ElseIf,
        "else_clause" | "else_statement" => Shape::Else,
        "while_statement" | "while_expression" => Shape::While,
        "do_statement" => Shape::DoWhile,
        "repeat_statement" => Shape::DoUntil,
        "for_statement" => Shape::For,
        "for_in_statement" | "enhanced_for_statement" | "foreach_statement" | "for_range_loop" | "for_expression"
            => Shape::Each,
        "loop_expression" => Shape::Forever,
        "switch_statement" | "switch_expression" | "match_statement" | "match_expression"
        | "expression_switch_statement" | "type_switch_statement" | "select_statement" => Shape::Switch,
        "switch_case" | "switch_default" | "case_statement" | "default_statement" | "switch_block_statement_group"
        | "switch_rule" | "switch_section" | "switch_expression_arm" | "expression_case" | "type_case"
        | "default_case" | "communication_case" | "match_arm" | "case_clause" | "when" | "in_clause"
        | "match_conditional_expression" | "match_default_expression" => Shape::Arm,
        "try_statement" | "try_with_resources_statement" => Shape::Try,
        "except_clause" | "except_group_clause" | "catch_clause" | "rescue" => Shape::Handler,
        "finally_clause" | "ensure" => Shape::Finally,
        "with_statement" | "using_statement" | "lock_statement" | "fixed_statement" | "synchronized_statement"
            => Shape::With,
        "labeled_statement" => Shape::Labelled,
        "return_statement" | "return_expression" | "co_return_statement" => Shape::Return,
        "raise_statement" | "throw_statement" | "throw_expression" => Shape::Raise,
        "break_statement" | "break_expression" => Shape::Break,
        "yield_statement" => Shape::Through,
        "continue_statement" | "continue_expression" => Shape::Continue,
        "goto_statement" => Shape::Goto,
        "fallthrough_statement" => Shape::Fall,
        "defer_statement" => Shape::Defer,
        "identifier" | "self" | "this" | "this_expression" | "instance_variable" | "class_variable" | "global_variable"
        | "shorthand_property_identifier" | "shorthand_property_identifier_pattern" | "shorthand_field_identifier"
            => Shape::Name,
        "attribute" | "member_expression" | "selector_expression" | "field_expression" | "field_access"
        | "member_access_expression" | "dot_index_expression" => Shape::Member,
        "subscript" | "subscript_expression" | "index_expression" | "array_access" | "element_access_expression"
        | "element_reference" | "bracket_index_expression" => Shape::Index,
        "call_expression" | "method_invocation" | "invocation_expression" | "new_expression" | "function_call"
        | "object_creation_expression" | "explicit_constructor_invocation" | "function_call_expression"
        | "member_call_expression" | "scoped_call_expression" | "implicit_object_creation_expression" => Shape::Call,
        "macro_invocation" => Shape::Macro,
        "assignment_expression" | "assignment_statement" => Shape::Assign,
        "augmented_assignment" | "augmented_assignment_expression" | "compound_assignment_expr"
        | "operator_assignment" | "update_statement" => Shape::Augment,
        "update_expression" | "inc_statement" | "dec_statement" | "postfix_unary_expression" => Shape::Increment,
        "variable_declarator" | "let_declaration" | "short_var_declaration" | "var_spec" | "const_spec"
        | "named_expression" | "init_declarator" | "let_condition" | "declaration_expression" | "resource"
        | "using_declaration" => Shape::Declare,
        "reference_expression" => Shape::Reference,
        "delete_statement" => Shape::Delete,
        "lambda" | "arrow_function" | "function_expression" | "generator_function" | "closure_expression"
        | "func_literal" | "lambda_expression" | "anonymous_method_expression" | "anonymous_function"
        | "anonymous_function_creation_expression" | "function_definition_expression" => Shape::Lambda,
        "function_definition" | "function_declaration" | "generator_function_declaration" | "method_definition"
        | "method_declaration" | "function_item" | "constructor_declaration" | "local_function_statement"
        | "destructor_declaration" | "compact_constructor_declaration" => Shape::Function,
        "class_definition" | "class_declaration" | "class" | "abstract_class_declaration" | "impl_item" | "trait_item"
        | "mod_item" | "struct_item" | "enum_item" | "union_item" | "enum_declaration" | "record_declaration"
        | "struct_declaration" | "class_specifier" | "struct_specifier" | "enum_specifier" | "union_specifier"
        | "trait_declaration" | "namespace_declaration" | "internal_module" => Shape::Class,
        "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression"
            => Shape::Comprehension,
        "conditional_expression" | "ternary_expression" | "conditional" => Shape::Ternary,
        "try_expression" => Shape::Question,
        "keyword_argument" | "field_initializer" => Shape::Keyword,
        "import_statement" | "import_from_statement" | "future_import_statement" => Shape::Import,
        _ => Shape::Through,
    }
}

impl Shape {
    /// Decides or jumps, wherever it stands.
    pub(crate) fn is_control(self) -> bool {
        use Shape as S;
        matches!(
            self,
            S::Block
                | S::If
                | S::Unless
                | S::While
                | S::Until
                | S::DoWhile
                | S::DoUntil
                | S::For
                | S::Each
                | S::Forever
                | S::Switch
                | S::Try
                | S::With
                | S::Labelled
                | S::Return
                | S::Raise
                | S::Break
                | S::Continue
                | S::Goto
                | S::Fall
                | S::Retry
        )
    }
}
