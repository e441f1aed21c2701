//! A hash of what other files can see of a file: an edit that leaves it alone concerns nobody else.

use std::hash::{Hash, Hasher};

use super::{Bound, DefKind, Expr, ExprId, Facts, Sym};
use crate::quick::{Quick, QuickSet};

/// All names, definitions, bindings and imports, by text; no lines, no documentation, no uses. A function's inner
/// bindings count only if its result depends on them, that is if nobody declared it.
pub(super) fn exported(facts: &Facts) -> u64 {
    let mut hash = Quick::default();
    let mut digest = Digest { facts, hash: &mut hash };
    digest.all();
    hash.finish()
}

struct Digest<'f> {
    facts: &'f Facts,
    hash: &'f mut Quick,
}

impl Digest<'_> {
    fn all(&mut self) {
        let facts = self.facts;
        self.syms(facts.package.iter().chain(facts.exports.iter().flatten()));
        for def in &facts.defs {
            self.text(def.name);
            (def.kind, def.parent.0, def.flags.0, def.wraps, def.params.len()).hash(self.hash);
            self.syms(def.owner.iter());
            self.syms(def.decorator_texts.iter());
            self.syms(def.params.iter().map(|param| &param.name));
            let exprs = def.result.iter().chain(&def.returns).chain(&def.bases);
            exprs.for_each(|expr| self.expr(*expr, 12));
        }
        // A class's attribute may be given the value of a name inside a method.
        let lends: QuickSet<_> = facts
            .bindings
            .iter()
            .filter(|binding| binding.within != binding.scope)
            .map(|binding| binding.within)
            .collect();
        for binding in &facts.bindings {
            let inner = self.facts.def(binding.scope);
            let closed = inner.kind.runs() || inner.kind == DefKind::Lambda;
            if closed && inner.returns.is_empty() && !lends.contains(&binding.scope) {
                continue;
            }
            binding.scope.0.hash(self.hash);
            self.text(binding.name);
            match binding.to {
                Bound::Def(id) => (0_u8, id.0).hash(self.hash),
                Bound::Import(place) => (1_u8, place).hash(self.hash),
                Bound::Value(expr) => self.expr(expr, 12),
                Bound::Typed(expr) => self.expr(expr, 12),
                Bound::Param(place) => (2_u8, place).hash(self.hash),
                Bound::Global => 3_u8.hash(self.hash),
            }
        }
        for import in &facts.imports {
            (import.level, import.form as u8).hash(self.hash);
            self.text(import.module);
            self.syms(import.name.iter().chain(&import.alias));
        }
    }

    fn syms<'s>(&mut self, syms: impl Iterator<Item = &'s Sym>) {
        for sym in syms {
            self.text(*sym);
        }
        u8::MAX.hash(self.hash);
    }

    fn text(&mut self, sym: Sym) {
        self.facts.text(sym).hash(self.hash);
    }

    /// Expressions are numbered in the order of the text, so their numbers change with every edit: the hash follows
    /// their structure instead.
    fn expr(&mut self, id: ExprId, depth: usize) {
        if depth == 0 {
            return;
        }
        let expr = self.facts.expr(id);
        std::mem::discriminant(&expr).hash(self.hash);
        match expr {
            Expr::Name(name) => self.text(name),
            Expr::Member(of, name) => {
                self.text(name);
                self.expr(of, depth - 1);
            }
            Expr::Call(of) | Expr::Instance(of) | Expr::Element(of) | Expr::Enter(of) => {
                self.expr(of, depth - 1);
            }
            Expr::Index(one, other) | Expr::Items(one, other) | Expr::Either(one, other) => {
                self.expr(one, depth - 1);
                self.expr(other, depth - 1);
            }
            Expr::Import(place) => place.hash(self.hash),
            Expr::Nth(of, place) => {
                place.hash(self.hash);
                self.expr(of, depth - 1);
            }
            Expr::Unknown | Expr::This | Expr::Super | Expr::Text => {}
        }
    }
}
