//! What a function without a name takes, by what it is given to: a parameter that says so, or a method of the language's own
//! collections and wrappings.

use super::{Resolver, Value};
use crate::facts::{Bound, DefId, Expr, ExprId, Spot};
use crate::language::Language;
use crate::project::{FileId, Place};

impl Resolver<'_> {
    /// What a parameter is of a function that is given to a call of an expression.
    pub(super) fn passed(
        &mut self,
        (file, callee, within): (FileId, ExprId, DefId),
        spot: Spot,
        depth: u32,
    ) -> Vec<Value> {
        let Expr::Member(of, name) = self.expr(file, callee) else {
            let callee = self.infer(file, callee, within, depth);
            return self.each(&callee, |resolver, value| resolver.wanted(value, spot, depth));
        };
        let name = self.facts(file).text(name);
        let of = self.infer(file, of, within, depth);
        self.each(&of, |resolver, value| {
            if matches!(value, Value::Many(..) | Value::ManyOf(..)) {
                return match (name, spot.parameter) {
                    ("fold" | "reduce", 0) => Vec::new(),
                    ("fold" | "reduce", 1) | (_, 0) => resolver.element(value, depth),
                    ("sort" | "sort_by", 1) => resolver.element(value, depth),
                    _ => Vec::new(),
                };
            }
            let methods = resolver.called_values(value, name, depth);
            // What Rust's own wrappings call a function with is what they wrap.
            let is_wrapped = resolver.facts(file).language == Language::Rust && name != "map_err";
            if methods.is_empty() && is_wrapped && spot.parameter == 0 {
                return vec![value];
            }
            let on_object = matches!(value, Value::Instance(_));
            resolver.each(&methods, |resolver, method| {
                let shift = u32::from(on_object && resolver.takes_self(method));
                let spot = Spot { argument: spot.argument + shift, ..spot };
                resolver.wanted(method, spot, depth)
            })
        })
    }

    /// What a value that is called wants a function to take that it is given.
    fn wanted(&mut self, called: Value, spot: Spot, depth: u32) -> Vec<Value> {
        let place = match called {
            Value::Function(place) => Some(place),
            Value::Class(class) => self.constructor(class, depth),
            _ => None,
        };
        let Some(place) = place else { return Vec::new() };
        let facts = self.facts(place.file);
        let params = facts.def(place.def).params.iter();
        let mut params = params.filter(|param| facts.text(param.name) != "this");
        let Some(param) = params.nth(spot.argument as usize) else { return Vec::new() };
        let declared = facts.bound(place.def, param.name).iter();
        let mut wanted = Vec::new();
        for binding in declared.filter(|binding| matches!(binding.to, Bound::Typed(_))) {
            wanted.extend(self.binding_values(place.file, *binding, depth));
        }
        self.each(&wanted, |resolver, value| {
            let Value::Takes(file, id, within) = value else { return Vec::new() };
            let Expr::Takes(params, _) = resolver.expr(file, id) else { return Vec::new() };
            match resolver.items(file, params).get(spot.parameter as usize) {
                Some(ty) => resolver.of_type(file, *ty, within, depth.saturating_sub(1)),
                None => Vec::new(),
            }
        })
    }

    fn constructor(&mut self, class: Place, depth: u32) -> Option<Place> {
        let names = self.facts(class.file).language.table().constructors;
        names.iter().find_map(|name| {
            let found = self.class_member(class, name, depth.saturating_sub(1));
            found.iter().find_map(|one| match one.binding.to {
                Bound::Def(def) => Some(Place { file: one.file, def }),
                _ => None,
            })
        })
    }

    /// Whether a method lists the object it runs on among its parameters.
    fn takes_self(&mut self, method: Value) -> bool {
        let Value::Function(place) = method else { return false };
        let facts = self.facts(place.file);
        facts.def(place.def).params.first().is_some_and(|param| facts.text(param.name) == "self")
    }
}
