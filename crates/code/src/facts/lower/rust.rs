//! What Rust's grammar needs beyond its table: patterns that take a type apart, and the tokens inside of macros.

use tree_sitter::Node;

use super::bind::DEPTH;
use super::express::LIKE_THE_REST;
use super::{Lower, Visit};
use crate::facts::{Bound, Expr, ExprId, SiteKind};
use crate::language::{Language, Role, named};

pub(super) fn visit(lower: &mut Lower<'_>, node: Node<'_>) -> Visit {
    match node.kind() {
        "token_tree" => tokens(lower, node),
        "ordered_field_declaration_list" => fields(lower, node),
        "match_expression" => {
            if let Some(of) = node.child_by_field_name("value") {
                let value = lower.express(of);
                let arms = node.child_by_field_name("body").into_iter().flat_map(named);
                lower.branches.extend(arms.map(|arm| (arm.id(), (None, value))));
            }
        }
        "match_arm" => {
            let value = lower.branches.remove(&node.id()).map(|(_, value)| value);
            // A guard after `_`, which is no node with a name, is the first one and no pattern.
            let is_guard =
                |whole: Node<'_>, first: &Node<'_>| whole.child_by_field_name("condition") == Some(*first);
            let pattern = node
                .child_by_field_name("pattern")
                .and_then(|whole| named(whole).next().filter(|first| !is_guard(whole, first)));
            if let (Some(pattern), Some(value)) = (pattern.filter(|one| one.named_child_count() > 0), value) {
                // A name of one branch is another one in the next.
                lower.open_branch(node);
                lower.bind_arm(pattern, value, node);
                return Visit::Scope;
            }
        }
        _ => {}
    }
    Visit::Into
}

/// Fields without names go by their places: of a type bare, and with the name of the type or form for whoever takes it
/// apart.
fn fields(lower: &mut Lower<'_>, node: Node<'_>) {
    let Some(around) = node.parent() else { return };
    let Some(name) = around.child_by_field_name("name") else { return };
    let mut cursor = node.walk();
    let types: Vec<_> = node.children_by_field_name("type", &mut cursor).collect();
    for (place, ty) in types.into_iter().enumerate() {
        let expr = lower.express_type(ty);
        let with_form = format!("{}.{place}", lower.text_of(name));
        let bare = (around.kind() == "struct_item").then(|| place.to_string());
        for name in [Some(with_form), bare].into_iter().flatten() {
            let name = lower.names.add(&name);
            lower.bind_here(name, Bound::Typed(expr), node);
        }
    }
}

/// Inside a macro there are only tokens: a name before parentheses is taken for a call.
fn tokens(lower: &mut Lower<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let tokens: Vec<_> = node.children(&mut cursor).collect();
    for place in 0..tokens.len() {
        let token = tokens[place];
        let is_name = matches!(lower.role(token), Some(Role::Identifier | Role::SelfWord));
        let opens = tokens
            .get(place + 1)
            .is_some_and(|next| next.kind() == "token_tree" && lower.text_of(*next).starts_with('('));
        if !is_name || !opens {
            continue;
        }
        let mut path = vec![token];
        let mut at = place;
        while at >= 2
            && matches!(tokens[at - 1].kind(), "." | "::")
            && matches!(lower.role(tokens[at - 2]), Some(Role::Identifier | Role::SelfWord))
        {
            path.push(tokens[at - 2]);
            at -= 2;
        }
        let after_dot = at >= 1 && tokens[at - 1].kind() == ".";
        let first = path.pop().expect("the name itself");
        let mut expr = if after_dot {
            let name = lower.member_name(first);
            lower.push(Expr::Member(ExprId::UNKNOWN, name))
        } else {
            lower.express(first)
        };
        lower.take(Some(first));
        while let Some(next) = path.pop() {
            lower.take(Some(next));
            let name = lower.member_name(next);
            expr = lower.push(Expr::Member(expr, name));
        }
        lower.site(token, expr, SiteKind::Call);
    }
}

impl Lower<'_> {
    /// The names in a branch of a Rust `match`. A lone name may as well be a form or a constant, and binds nothing then.
    fn bind_arm(&mut self, pattern: Node<'_>, value: ExprId, node: Node<'_>) {
        if !self.is_constant(pattern) {
            self.bind_target(pattern, value, None, node, DEPTH);
        }
    }

    /// Whether a part of a Rust pattern is compared, and takes nothing.
    pub(super) fn is_constant(&self, pattern: Node<'_>) -> bool {
        let is_upper = || self.text_of(pattern).starts_with(char::is_uppercase);
        match pattern.kind() {
            "scoped_identifier" => true,
            "identifier" => self.language == Language::Rust && is_upper(),
            _ => false,
        }
    }

    /// What a form of a Rust type holds. Those of the language hold what the value is; the place of an element is listed
    /// with the form, see [`fields`].
    pub(super) fn bind_form(&mut self, target: Node<'_>, value: ExprId, node: Node<'_>, depth: usize) {
        let Some(path) = target.child_by_field_name("type") else { return };
        self.take_all(path);
        let form = match self.text_of(path) {
            "Some" | "Ok" => None,
            "Err" => Some(ExprId::UNKNOWN),
            _ => Some(self.express(path)),
        };
        let last = self.last_part(path);
        for (place, child) in named(target).skip(1).enumerate() {
            if self.is_constant(child) {
                continue;
            }
            if child.kind() == "field_pattern" {
                self.bind_field(child, form.unwrap_or(value), node, depth);
                continue;
            }
            let held = match form {
                None => value,
                Some(ExprId::UNKNOWN) => ExprId::UNKNOWN,
                Some(form) => {
                    let name = format!("{}.{place}", self.names.text(last));
                    let name = self.names.add(&name);
                    self.push(Expr::Member(form, name))
                }
            };
            self.bind_target(child, held, None, node, depth - 1);
        }
    }

    fn bind_field(&mut self, field: Node<'_>, of: ExprId, node: Node<'_>, depth: usize) {
        let Some(name_node) = field.child_by_field_name("name") else { return };
        self.take(Some(name_node));
        let name = self.sym_of(name_node);
        let member = self.push(Expr::Member(of, name));
        match field.child_by_field_name("pattern") {
            Some(pattern) => self.bind_target(pattern, member, None, node, depth - 1),
            None => self.bind_value(self.scope(), name, member, None, node),
        }
    }

    /// What the branches of a Rust `match` give: what they make by a name that is no variable, and what they only unwrap.
    pub(super) fn express_match(&mut self, node: Node<'_>, depth: usize) -> ExprId {
        let (Some(of), Some(block)) = (node.child_by_field_name("value"), node.child_by_field_name("body"))
        else {
            return ExprId::UNKNOWN;
        };
        let mut given = ExprId::UNKNOWN;
        for arm in named(block).take(LIKE_THE_REST) {
            let (Some(pattern), Some(value)) =
                (arm.child_by_field_name("pattern"), arm.child_by_field_name("value"))
            else {
                continue;
            };
            let callee = value.child_by_field_name("function").map_or("", |callee| callee.kind());
            let one = match value.kind() {
                "call_expression" if callee.ends_with("identifier") => self.express_at(value, depth),
                "struct_expression" => self.express_at(value, depth),
                "identifier" if is_unwrapped(self.text_of(pattern), self.text_of(value)) => {
                    self.express_at(of, depth)
                }
                _ => ExprId::UNKNOWN,
            };
            given = match (given, one) {
                (known, ExprId::UNKNOWN) | (ExprId::UNKNOWN, known) => known,
                (one, other) => self.push(Expr::Either(one, other)),
            };
        }
        given
    }
}

/// Whether a pattern takes a value out of its wrapping under a name.
fn is_unwrapped(pattern: &str, name: &str) -> bool {
    let inner = pattern.strip_prefix("Some(").or_else(|| pattern.strip_prefix("Ok("));
    inner.and_then(|inner| inner.strip_suffix(')')).is_some_and(|inner| inner.trim() == name)
}
