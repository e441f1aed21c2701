//! Methods that run in place of the one that was found: what a subclass puts over it.

use std::rc::Rc;

use super::{Confidence, DEPTH, EdgeKind, Resolution, Resolver, Value};
use crate::facts::{Bound, DefId, DefKind, Expr, ExprId, Flags, Site, SiteKind};
use crate::language::Language;
use crate::project::Place;

/// With more stand-ins than this the method itself says more than their list.
const MOST: usize = 8;

/// An object of a declared class is seldom of each class below, so fewer of them are facts.
const MOST_OF_OBJECT: usize = 4;

impl Resolver<'_> {
    /// Adds what may run instead of a method or property that was found on a receiver. Elsewhere than in Python a type is
    /// written down, and only a method that leaves the work to others stands for those that do it.
    pub(super) fn stand_ins(
        &mut self,
        site: Site,
        method: Place,
        receiver: Value,
        kind: EdgeKind,
        out: &mut Resolution,
    ) {
        let facts = self.facts(method.file);
        let def = facts.def(method.def);
        if !matches!(def.kind, DefKind::Method | DefKind::Property) {
            return;
        }
        let class = match receiver {
            Value::Instance(class) => class,
            // A class that came as a value is one of those below as well.
            Value::Class(class) if facts.language == Language::Python && !self.is_named(site) => class,
            _ => return,
        };
        let name = facts.text(def.name);
        if facts.language == Language::Python && self.is_on_self(site) {
            return self.hooks(site, class, name, kind, out);
        }
        if !def.flags.has(Flags::ABSTRACT) || self.is_made_here(site) {
            return;
        }
        let found = self.below(Place { file: method.file, def: def.parent }, name);
        let is_fact = facts.language == Language::Python && found.len() <= MOST_OF_OBJECT;
        let confidence = if is_fact { Confidence::Medium } else { Confidence::Low };
        // Who leaves its own work to another of its kind does not mean itself.
        let caller = Place { file: self.home, def: self.facts(self.home).charged(site.scope) };
        if found.len() <= MOST {
            for place in found.iter().filter(|place| **place != caller) {
                self.add(site, *place, kind, confidence, out);
            }
        }
    }

    /// What a method calls on its own object is for the classes below to replace, however many they are; but those that
    /// replace the caller as well never come here.
    fn hooks(&mut self, site: Site, class: Place, name: &str, kind: EdgeKind, out: &mut Resolution) {
        let facts = self.facts(self.home);
        let caller = facts.charged(site.scope);
        let caller_name = facts.text(facts.def(caller).name);
        for place in self.below(class, name).iter() {
            let parent = self.facts(place.file).def(place.def).parent;
            let Some(class) = self.class_at(place.file, parent, DEPTH) else { continue };
            let runs = self.class_member(class, caller_name, DEPTH);
            let is_caller = |to: Bound| to == Bound::Def(caller);
            if runs.iter().any(|one| one.file == self.home && is_caller(one.binding.to)) {
                self.add(site, *place, kind, Confidence::Medium, out);
            }
        }
    }

    /// The members of a name in all classes below one, without those that leave the work to others.
    fn below(&mut self, base: Place, name: &str) -> Rc<[Place]> {
        let key = (base, Box::from(name));
        if let Some(known) = self.below.get(&key) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        for place in self.everywhere(name) {
            let facts = self.facts(place.file);
            let def = facts.def(place.def);
            let runs = matches!(def.kind, DefKind::Method | DefKind::Property);
            if !runs || def.flags.has(Flags::ABSTRACT) {
                continue;
            }
            let Some(class) = self.class_at(place.file, def.parent, DEPTH) else { continue };
            if class != base && self.line(class, DEPTH).contains(&base) {
                found.push(place);
            }
        }
        let found: Rc<[Place]> = found.into();
        self.below.insert(key, Rc::clone(&found));
        found
    }

    /// Whether a use is one of the object that the method runs on.
    fn is_on_self(&mut self, site: Site) -> bool {
        let facts = self.facts(self.home);
        let object = self.object_of(site);
        matches!(facts.expr(object), Expr::Name(name) if facts.text(name) == "self")
    }

    /// Whether a member is asked of a name that is written like a class.
    fn is_named(&mut self, site: Site) -> bool {
        let facts = self.facts(self.home);
        let object = self.object_of(site);
        match facts.expr(object) {
            Expr::Name(name) | Expr::Member(_, name) => {
                facts.text(name).trim_start_matches('_').starts_with(char::is_uppercase)
            }
            Expr::Super => true,
            _ => false,
        }
    }

    /// The object whose member is used, or that the language uses itself.
    fn object_of(&mut self, site: Site) -> ExprId {
        match (site.kind, self.facts(self.home).expr(site.expr)) {
            (SiteKind::Call | SiteKind::Read | SiteKind::Write, Expr::Member(of, _)) => of,
            _ => site.expr,
        }
    }

    /// Whether the object of a use was made in plain sight: then it is of that class and of none below.
    fn is_made_here(&mut self, site: Site) -> bool {
        let facts = self.facts(self.home);
        let object = self.object_of(site);
        match facts.expr(object) {
            Expr::Name(name) => {
                let mut scope = site.scope;
                while scope != DefId::FILE && facts.bound(scope, name).is_empty() {
                    scope = facts.def(scope).parent;
                }
                let bound = facts.bound(scope, name);
                !bound.is_empty()
                    && bound.iter().all(|binding| match binding.to {
                        Bound::Value(expr) => self.makes(expr, binding.within),
                        _ => false,
                    })
            }
            _ => self.makes(object, site.scope),
        }
    }

    /// Whether an expression is the call of a class by its own name.
    fn makes(&mut self, expr: ExprId, within: DefId) -> bool {
        let facts = self.facts(self.home);
        let Expr::Call(callee) = facts.expr(expr) else { return false };
        let named = match facts.expr(callee) {
            Expr::Name(name) | Expr::Member(_, name) => facts.text(name),
            _ => return false,
        };
        named.trim_start_matches('_').starts_with(char::is_uppercase)
            && matches!(self.infer(self.home, callee, within, DEPTH)[..], [Value::Class(_)])
    }
}
