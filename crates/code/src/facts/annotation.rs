//! Types that are written as text: `"Optional[Foo]"`, and the same in comments. A reader of names, dots, brackets and
//! bars; anything else ends it.

use super::{Expr, ExprId};
use crate::facts::lower::Lower;

/// Deeper nesting says nothing about a program.
const DEPTH: usize = 16;

/// The expression that a textual type stands for.
pub(super) fn read(lower: &mut Lower<'_>, text: &str) -> ExprId {
    let mut reader = Reader { lower, rest: text.trim() };
    reader.either(DEPTH)
}

struct Reader<'l, 'a, 't> {
    lower: &'l mut Lower<'a>,
    rest: &'t str,
}

impl Reader<'_, '_, '_> {
    fn either(&mut self, depth: usize) -> ExprId {
        let mut value = self.single(depth);
        while self.eat('|') {
            let other = self.single(depth);
            value = self.lower.push(Expr::Either(value, other));
        }
        value
    }

    fn single(&mut self, depth: usize) -> ExprId {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        if end == 0 || depth == 0 {
            return ExprId::UNKNOWN;
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let name = self.lower.mention(name);
        let mut value = self.lower.push(Expr::Name(name));
        loop {
            if self.eat('.') {
                let end =
                    self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at(end);
                self.rest = rest;
                let name = self.lower.mention(name);
                value = self.lower.push(Expr::Member(value, name));
            } else if self.eat('[') {
                let arguments = self.arguments(depth - 1);
                value = self.lower.push(Expr::Index(value, arguments));
            } else {
                return value;
            }
        }
    }

    /// What stands between brackets; one argument is itself, more are items.
    fn arguments(&mut self, depth: usize) -> ExprId {
        let mut all = vec![self.either(depth)];
        while self.eat(',') {
            all.push(self.either(depth));
        }
        self.eat(']');
        self.lower.items(&all)
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
