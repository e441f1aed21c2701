//! Where names are read, called and passed on.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{Expr, ExprId, SiteKind};
use crate::language::{Language, Role, Shape, named};

use super::Visit;

impl Lower<'_> {
    pub(super) fn read_name(&mut self, node: Node<'_>) {
        if !self.taken.contains(&node.id()) {
            let expr = self.express(node);
            self.site(node, expr, SiteKind::Read);
        }
    }

    pub(super) fn mention_node(&mut self, node: Node<'_>) {
        let text = self.text_of(node);
        self.mention(text);
    }

    pub(super) fn read_member(&mut self, node: Node<'_>, shape: &Shape) {
        let mut name = shape.name.child(node);
        while let Some(part) = name {
            self.take(Some(part));
            let wrapped = self.kinds.shape(part).filter(|shape| shape.role == Role::Through);
            name = wrapped.and_then(|shape| shape.of.child(part));
        }
        if !self.taken.contains(&node.id()) {
            let expr = self.express(node);
            if let Some(name) = shape.name.child(node) {
                self.site(name, expr, SiteKind::Read);
            }
        } else if let Some(name) = shape.name.child(node) {
            self.member_name(name);
        }
    }

    pub(super) fn call(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(callee) = self.callee(node, shape) else { return };
        // A call of what a call gives is two calls.
        if !matches!(self.role(callee), Some(Role::Call | Role::Invoke | Role::New | Role::Lambda)) {
            self.take(Some(callee));
        }
        let call = self.express(node);
        if self.taken.contains(&node.id()) {
            return;
        }
        let expr = match self.exprs[call.0 as usize] {
            Expr::Call(callee) => callee,
            // A tag is its name; anything else is no call of ours.
            _ => self.express(callee),
        };
        if self.language == Language::Python && self.exprs[expr.0 as usize] == Expr::Super {
            return;
        }
        self.pass(node, shape, expr);
        let name = self.last_name(callee);
        self.site(name, expr, SiteKind::Call);
        self.reflect(node, shape, self.text_of(name));
        if self.language == Language::Python {
            self.built_in(node, shape, self.text_of(callee));
            self.hand_over(node, shape, expr);
        }
    }

    /// Remembers of the functions without a name among the arguments what they are given to: that tells what they take.
    fn pass(&mut self, node: Node<'_>, shape: &Shape, callee: ExprId) {
        if !matches!(self.language, Language::TypeScript | Language::JavaScript | Language::Rust) {
            return;
        }
        let Some(arguments) = shape.params.child(node) else { return };
        for (place, argument) in (0..).zip(named(arguments)) {
            if self.role(argument) == Some(Role::Lambda) {
                self.passed.insert(argument.id(), (callee, place));
            }
        }
    }

    /// Functions of the language that do nothing but call a method of what they are given.
    fn built_in(&mut self, node: Node<'_>, shape: &Shape, callee: &str) {
        let kind = match callee {
            "next" => SiteKind::Advance,
            "len" => SiteKind::Measure,
            "str" => SiteKind::Tell,
            "repr" => SiteKind::Show,
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "enumerate" | "any" | "all" | "sum" => {
                SiteKind::Iterate
            }
            _ => return,
        };
        let given = shape.params.child(node).and_then(|arguments| named(arguments).next());
        // What a comprehension goes through is a loop of its own.
        if let Some(given) =
            given.filter(|given| !matches!(self.role(*given), Some(Role::Collection | Role::Pair)))
        {
            let expr = self.express(given);
            self.site(given, expr, kind);
        }
    }

    /// What a call calls. Swift's grammar takes `a + f()` for a call of the sum, so the last operand is meant.
    pub(super) fn callee<'t>(&self, node: Node<'t>, shape: &Shape) -> Option<Node<'t>> {
        let mut callee = shape.of.child(node)?;
        while self.language == Language::Swift
            && let Some(last) = callee.child_by_field_name("rhs")
        {
            callee = last;
        }
        Some(callee)
    }

    /// The node whose line is the line of the call: the called name, which may be lines below a chain's start.
    fn last_name<'t>(&self, callee: Node<'t>) -> Node<'t> {
        let shape = self.kinds.shape(callee);
        shape.and_then(|shape| shape.name.child(callee)).unwrap_or(callee)
    }

    /// Names that are given as text to functions that look names up.
    fn reflect(&mut self, node: Node<'_>, shape: &Shape, callee: &str) {
        const REFLECT: &[&str] = &[
            "attrgetter",
            "call_user_func",
            "getattr",
            "hasattr",
            "import_string",
            "method",
            "methodcaller",
            "patch",
            "public_send",
            "respond_to?",
            "send",
            "setattr",
            "signal",
        ];
        if !REFLECT.contains(&callee) {
            return;
        }
        let Some(arguments) = shape.params.child(node) else { return };
        let texts: Vec<_> =
            named(arguments).take(4).filter(|child| self.role(*child) == Some(Role::Text)).collect();
        for text in texts {
            let text = self.unquoted(text);
            self.mention(text);
        }
    }

    pub(super) fn invoke(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(name) = shape.name.child(node) else { return };
        self.take(Some(name));
        if self.language == Language::Ruby
            && matches!(self.text_of(name), "require" | "require_relative" | "load")
        {
            super::super::imports::ruby(self, node, shape);
            return;
        }
        let call = self.express(node);
        if let Expr::Call(callee) = self.exprs[call.0 as usize]
            && !self.taken.contains(&node.id())
        {
            self.site(name, callee, SiteKind::Call);
            self.reflect(node, shape, self.text_of(name));
        }
    }

    pub(super) fn make(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(ty) = shape.ty.child(node) else { return };
        self.take(Some(ty));
        let made = self.express(node);
        if let Expr::Instance(ty) = self.exprs[made.0 as usize] {
            self.site(node, ty, SiteKind::New);
            self.pass(node, shape, ty);
        }
    }

    pub(super) fn subscript(&mut self, node: Node<'_>, shape: &Shape) {
        if self.language == Language::Python && node.kind() == "subscript" {
            let of = shape.of.child(node).map_or(ExprId::UNKNOWN, |child| self.express(child));
            let kind = match self.taken.contains(&node.id()) {
                true => SiteKind::Put,
                false if self.deleted.contains(&node.id()) => SiteKind::Remove,
                false => SiteKind::Subscript,
            };
            self.site(node, of, kind);
        }
    }

    pub(super) fn decorate(&mut self, node: Node<'_>, shape: &Shape) {
        let Some(of) = shape.of.child(node) else { return };
        let expr = self.express(of);
        let callee = match self.exprs[expr.0 as usize] {
            Expr::Call(callee) => callee,
            _ => expr,
        };
        self.take(Some(of));
        if let Some(inner) = self.kinds.shape(of).and_then(|shape| shape.of.child(of))
            && self.role(of) == Some(Role::Call)
        {
            self.take(Some(inner));
            if self.language == Language::Python
                && let Some(shape) = self.kinds.shape(of)
            {
                self.hand_over(of, shape, callee);
            }
        }
        self.site(of, callee, SiteKind::Decorator);
        if !self.taken.contains(&node.id()) {
            let text = self.decorator_text(of);
            self.decorators.push((callee, text));
        }
    }

    /// A decorator without its arguments.
    pub(super) fn decorator_text(&mut self, node: Node<'_>) -> crate::facts::Sym {
        let text = self.text_of(node);
        let end = text.find(['(', '\n', '[']).unwrap_or(text.len());
        self.names.add(text[..end].trim())
    }

    /// A type is looked at for names only.
    pub(super) fn skip_type(&mut self, node: Node<'_>) -> Visit {
        let mut left = vec![node];
        while let Some(node) = left.pop() {
            if matches!(self.role(node), Some(Role::Identifier | Role::TypeName)) {
                self.mention_node(node);
            }
            // A type in a text: its words are mentioned when it is read.
            left.extend(named(node));
        }
        Visit::Past
    }

    /// A text that is a name or a path of names may lead to one of them; one that ends in the middle of a name may be the
    /// beginning of many; and in a text that is a program or a template, what is called may be ours.
    pub(super) fn text(&mut self, node: Node<'_>) {
        let text = self.unquoted(node);
        if text.len() > LONGEST_PROGRAM {
            return;
        }
        for (at, _) in text.match_indices('(') {
            let called = text[..at].rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
            if called.starts_with(|c: char| !c.is_numeric()) {
                self.mention(called);
            }
        }
        if text.len() > LONGEST_PATH {
            return;
        }
        let begins = text.find(['{', '%']).map_or(text, |end| &text[..end]);
        let begins = begins.trim_start_matches(['f', '"', '\'']);
        if begins.len() > 2 && begins.ends_with('_') && begins.chars().all(is_word) {
            self.mention(begins);
        }
        let is_path = text.len() > 2
            && text.split(['.', ':', '/']).all(|word| !word.is_empty())
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '/'));
        if is_path {
            for word in text.split(['.', ':', '/']) {
                self.mention(word);
            }
        }
    }

    /// Marks a node as dealt with.
    pub(in crate::facts) fn take(&mut self, node: Option<Node<'_>>) {
        if let Some(node) = node {
            self.taken.insert(node.id());
        }
    }
}

/// Longer texts are prose or data, which name much and use nothing.
const LONGEST_PROGRAM: usize = 4_000;
const LONGEST_PATH: usize = 100;

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
