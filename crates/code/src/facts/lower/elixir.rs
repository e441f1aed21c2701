//! Elixir, in which everything is a call: these calls define, import and bind.

use tree_sitter::Node;

use super::define::Opening;
use super::{Lower, Visit};
use crate::facts::{Binding, Bound, DefKind, ExprId, ImportForm, Param, SiteKind, Sym};
use crate::language::named;
use crate::parse::line;

pub(super) fn visit(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    match node.kind() {
        "call" => call(lower, node),
        "binary_operator" => {
            let operator =
                node.child_by_field_name("operator").map_or("", |operator| lower.text_of(operator));
            match operator {
                "=" => bind(lower, node),
                "/" => capture(lower, node),
                _ => {}
            }
            Visit::Into
        }
        _ => attribute(lower, node),
    }
}

fn call(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    let Some(target) = node.child_by_field_name("target") else { return Visit::Into };
    let arguments = named(node).find(|child| child.kind() == "arguments");
    if lower.taken.contains(&node.id()) {
        return Visit::Into;
    }
    lower.take(Some(target));
    match (lower.text_of(target), arguments) {
        ("defmodule" | "defprotocol", Some(arguments)) => module(lower, node, arguments),
        ("defimpl", Some(arguments)) => module(lower, node, arguments),
        ("def" | "defp" | "defmacro" | "defmacrop" | "defguard" | "defdelegate", Some(arguments)) => {
            function(lower, node, arguments)
        }
        ("alias" | "import" | "require" | "use", Some(arguments)) => {
            import(lower, node, lower.text_of(target), arguments);
            Visit::Past
        }
        _ => {
            let callee = lower.express(target);
            lower.site(target, callee, SiteKind::Call);
            Visit::Into
        }
    }
}

fn module(lower: &mut Lower<'_>, node: Node<'_>, arguments: Node<'_>) -> Visit {
    let Some(name_node) = named(arguments).next() else { return Visit::Into };
    lower.take_all(arguments);
    let name = lower.sym_of(name_node);
    let body = named(node).find(|child| child.kind() == "do_block");
    let scope = lower.scope();
    let id = lower.open(Opening { node, kind: DefKind::Class, name, owner: None, body });
    lower.bindings.push(Binding { scope, name, to: Bound::Def(id), within: scope, line: line(node) });
    Visit::Scope
}

fn function(lower: &mut Lower<'_>, node: Node<'_>, arguments: Node<'_>) -> Visit {
    let Some(mut head) = named(arguments).next() else { return Visit::Into };
    lower.take(Some(head));
    if head.kind() == "binary_operator" {
        head = head.child_by_field_name("left").unwrap_or(head);
    }
    let name_node = head.child_by_field_name("target").unwrap_or(head);
    lower.take_all(head);
    let name = lower.sym_of(name_node);
    // The body is a block, or follows as `do: …`.
    let body = named(node).find(|child| child.kind() == "do_block").or_else(|| named(arguments).nth(1));
    let id = lower.open_function(Opening { node, kind: DefKind::Function, name, owner: None, body });
    let params: Vec<_> = named(head).filter(|child| child.kind() == "arguments").flat_map(named).collect();
    for (place, param) in (0..).zip(params) {
        let inner = lower.innermost_name(param);
        let (name, text) = (lower.sym_of(inner), lower.sym_of(param));
        lower.defs[id.0 as usize].params.push(Param { name, text });
        lower.bind_here(name, Bound::Param(place), param);
    }
    Visit::Scope
}

/// `alias A.B`, `alias A.{B, C}`, `alias A.B, as: C`, and the like.
fn import(lower: &mut Lower<'_>, node: Node<'_>, word: &str, arguments: Node<'_>) {
    let Some(path) = named(arguments).next() else { return };
    let alias = named(arguments).skip(1).find_map(|keywords| {
        let text = lower.text_of(keywords);
        text.split_once("as:").map(|(_, name)| name.trim().to_owned())
    });
    let modules: Vec<String> = match path.kind() {
        "dot" => {
            let outer = path.child_by_field_name("left").map_or("", |left| lower.text_of(left));
            let inner = path
                .child_by_field_name("right")
                .map(|right| named(right).map(|name| lower.text_of(name)).collect::<Vec<_>>());
            inner.unwrap_or_default().iter().map(|inner| format!("{outer}.{inner}")).collect()
        }
        _ => vec![lower.text_of(path).to_owned()],
    };
    for module in modules {
        lower.mention(&module);
        if word == "import" || word == "use" {
            lower.import(node, &module, None, None, ImportForm::All);
            continue;
        }
        let short = alias.clone().unwrap_or_else(|| module.rsplit('.').next().unwrap_or(&module).to_owned());
        let short: Sym = lower.names.add(&short);
        let import = lower.import(node, &module, None, Some(short), ImportForm::Module);
        lower.bind_here(short, Bound::Import(import), node);
    }
}

fn bind(lower: &mut Lower<'_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    if left.kind() == "identifier" {
        lower.take(Some(left));
        let name = lower.sym_of(left);
        let value = lower.express(right);
        lower.bind_here(name, Bound::Value(value), node);
    }
}

/// `name/1` after `&` passes the function on.
fn capture(lower: &mut Lower<'_>, node: Node<'_>) {
    if let Some(left) = node.child_by_field_name("left") {
        let expr = lower.express(left);
        if expr != ExprId::UNKNOWN {
            lower.site(left, expr, SiteKind::Read);
            lower.take(Some(left));
        }
    }
}

/// `@doc` and `@spec` are no calls, but the text of `@doc` documents what follows.
fn attribute(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    let is_attribute =
        node.child_by_field_name("operator").is_some_and(|operator| lower.text_of(operator) == "@");
    if !is_attribute {
        return Visit::Into;
    }
    let text = node.child_by_field_name("operand").map_or("", |operand| lower.text_of(operand));
    if text.starts_with("doc ") {
        lower.note(node);
    }
    if ["doc", "moduledoc", "spec", "type", "typedoc", "typep", "opaque", "callback"]
        .iter()
        .any(|word| text.starts_with(word))
    {
        return Visit::Past;
    }
    Visit::Into
}
