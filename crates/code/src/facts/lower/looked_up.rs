//! Members of Python objects that are looked up by a text: `getattr(object, name)`, where at least the beginning of the
//! name is written somewhere in the function.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{Expr, ExprId};
use crate::language::{Role, named};

/// So far a text is followed through what is done with it, and so many nodes are looked at for where a name is given.
const DEPTH: usize = 4;
const NODES: usize = 500;

impl<'a> Lower<'a> {
    /// A member by a name that is a text, or that begins with one.
    pub(super) fn express_looked_up(&mut self, of: ExprId, name: Node<'_>) -> Option<ExprId> {
        let text = self.beginning(name, DEPTH)?;
        let text = text.trim_start_matches(['f', 'r']).trim_matches(['"', '\'']);
        let start = text.find(['{', '%']).map_or(text, |end| &text[..end]);
        let is_whole = start == text && self.role(name) == Some(Role::Text);
        if start.len() < 3 || !start.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let sym = self.names.add(start);
        match is_whole {
            true => Some(self.push(Expr::Member(of, sym))),
            false => start.ends_with('_').then(|| self.push(Expr::Begun(of, sym))),
        }
    }

    /// The text that the value of a node begins with: itself, the left of a sum, what `format` or `lower` is asked of, what a
    /// name was given.
    fn beginning(&self, node: Node<'_>, depth: usize) -> Option<&'a str> {
        if depth == 0 {
            return None;
        }
        if let Some(left) = node.child_by_field_name("left") {
            return self.beginning(left, depth - 1);
        }
        match self.role(node)? {
            Role::Text => Some(self.text_of(node)),
            Role::Call => {
                let method = node.child_by_field_name("function")?;
                self.beginning(method.child_by_field_name("object")?, depth - 1)
            }
            Role::Identifier => self.beginning(self.given_to(node)?, depth - 1),
            _ => None,
        }
    }

    /// What the function around gives to a name, where that is said before the name is used.
    fn given_to<'t>(&self, name: Node<'t>) -> Option<Node<'t>> {
        let (text, end) = (self.text_of(name), name.start_byte());
        let mut around = name.parent()?;
        while !around.kind().starts_with("function") {
            around = around.parent()?;
        }
        let mut left: Vec<_> = vec![around];
        let mut found = None;
        for _ in 0..NODES {
            let Some(node) = left.pop() else { break };
            if node.kind() == "assignment"
                && node.child_by_field_name("left").is_some_and(|left| self.text_of(left) == text)
            {
                found = node.child_by_field_name("right").filter(|_| node.end_byte() < end).or(found);
            }
            left.extend(named(node));
        }
        found
    }
}
