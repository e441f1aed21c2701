//! What a single grammar needs beyond its table.

use tree_sitter::Node;

use super::{Lower, Visit, elixir, rust};
use crate::facts::{Bound, DefKind, ExprId, Flags, SiteKind};
use crate::language::{Language, Role, named};

pub(super) fn special(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    match lower.language {
        Language::Python => python(lower, node),
        Language::Rust => return rust::visit(lower, node),
        Language::Go => return go(lower, node),
        Language::Ruby => ruby(lower, node),
        Language::Php => php(lower, node),
        Language::Elixir => return elixir::visit(lower, node),
        _ => {}
    }
    Visit::Into
}

fn python(lower: &mut Lower<'_>, node: Node<'_>) {
    match node.kind() {
        "with_item" => {
            if let Some(mut value) = node.child_by_field_name("value") {
                if lower.role(value) == Some(Role::Enter) {
                    value = named(value).next().unwrap_or(value);
                }
                let expr = lower.express(value);
                let statement = node.parent().and_then(|clause| clause.parent());
                let is_async =
                    statement.is_some_and(|statement| lower.text_of(statement).starts_with("async"));
                lower.site(value, expr, if is_async { SiteKind::AsyncEnter } else { SiteKind::Enter });
            }
        }
        "yield" => {
            let value = named(node).next().map_or(ExprId::UNKNOWN, |value| lower.express(value));
            let scope = lower.scope();
            let def = &mut lower.defs[scope.0 as usize];
            if !def.flags.has(Flags::GENERATOR) {
                def.flags.set(Flags::GENERATOR, true);
                def.returns.clear();
            }
            if value != ExprId::UNKNOWN {
                def.returns.push(value);
            }
        }
        // A chain of comparisons is left alone: its operators stand between the operands.
        "comparison_operator" if node.named_child_count() == 2 => {
            let operator = node.child_by_field_name("operators").map_or("", |operator| operator.kind());
            match operator {
                "in" | "not in" => ask(lower, named(node).nth(1), SiteKind::Contain),
                "==" | "!=" => ask(lower, plain(named(node).next()), SiteKind::Equal),
                _ => {}
            }
        }
        "comparison_operator" => {}
        "not_operator" => ask(lower, plain(node.child_by_field_name("argument")), SiteKind::Test),
        "if_statement" | "elif_clause" | "while_statement" => {
            ask(lower, plain(node.child_by_field_name("condition")), SiteKind::Test);
        }
        "delete_statement" => {
            let several = |child: &Node<'_>| child.kind() == "expression_list";
            let list = named(node).next().filter(several).unwrap_or(node);
            lower.deleted.extend(named(list).map(|one| one.id()));
        }
        // The names belong to the file, or to the function around: found there because nothing is bound here.
        _ => {
            for name in named(node) {
                lower.take(Some(name));
                let name = lower.sym_of(name);
                lower.bind_here(name, Bound::Global, node);
            }
        }
    }
}

/// The language asks something of a value.
fn ask(lower: &mut Lower<'_>, of: Option<Node<'_>>, kind: SiteKind) {
    if let Some(of) = of {
        let expr = lower.express(of);
        lower.site(of, expr, kind);
    }
}

/// What is neither a literal nor put together by operators, which make values of the language's own kinds.
fn plain(node: Option<Node<'_>>) -> Option<Node<'_>> {
    node.filter(|node| matches!(node.kind(), "identifier" | "attribute" | "call" | "subscript"))
}

/// In a branch of a switch over types, the name is of the branch's type.
fn go(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    if node.kind() == "type_switch_statement" {
        let name = node.child_by_field_name("alias").and_then(|alias| named(alias).next());
        if let (Some(name), Some(value)) = (name, node.child_by_field_name("value")) {
            lower.take(Some(name));
            let told = (Some(lower.sym_of(name)), lower.express(value));
            lower.branches.extend(named(node).map(|branch| (branch.id(), told)));
        }
        return Visit::Into;
    }
    let Some((Some(name), value)) = lower.branches.remove(&node.id()) else { return Visit::Into };
    let mut cursor = node.walk();
    let types: Vec<_> = node.children_by_field_name("type", &mut cursor).filter(Node::is_named).collect();
    let bound = match types[..] {
        [one] => Bound::Typed(lower.express_type(one)),
        _ => Bound::Value(value),
    };
    lower.open_branch(node);
    lower.bind_here(name, bound, node);
    Visit::Scope
}

fn ruby(lower: &mut Lower<'_>, node: Node<'_>) {
    if node.kind() == "body_statement" && lower.kind(lower.scope()) == DefKind::Class {
        mixins(lower, node);
    }
}

/// `include` and its like make a module a parent.
fn mixins(lower: &mut Lower<'_>, body: Node<'_>) {
    let scope = lower.scope();
    for call in named(body).filter(|child| child.kind() == "call") {
        let method = call.child_by_field_name("method").map_or("", |method| lower.text_of(method));
        if !matches!(method, "include" | "extend" | "prepend") {
            continue;
        }
        let Some(arguments) = call.child_by_field_name("arguments") else { continue };
        for base in named(arguments) {
            let expr = lower.express(base);
            let text = lower.sym_of(base);
            let def = &mut lower.defs[scope.0 as usize];
            def.bases.push(expr);
            def.base_texts.push(text);
        }
    }
}

/// `use Trait;` in a class makes the trait a parent.
fn php(lower: &mut Lower<'_>, node: Node<'_>) {
    let scope = lower.scope();
    for base in named(node) {
        let expr = lower.express(base);
        lower.take(Some(base));
        let text = lower.sym_of(base);
        let def = &mut lower.defs[scope.0 as usize];
        def.bases.push(expr);
        def.base_texts.push(text);
    }
}
