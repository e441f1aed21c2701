//! Uses that are no calls: functions that are passed on, properties, and what the language itself calls.

use super::member::Found;
use super::{Confidence, DEPTH, EdgeKind, Resolution, Resolver, Value};
use crate::facts::{Bound, DefKind, Expr, ExprId, Site, SiteKind};
use crate::language::Language;
use crate::project::Place;

impl Resolver<'_> {
    /// Reading a function passes it on; reading a property runs it.
    pub(super) fn read_site(&mut self, site: Site, out: &mut Resolution) {
        let facts = self.facts(self.home);
        match facts.expr(site.expr) {
            Expr::Name(_) => {
                let ruby = facts.language == Language::Ruby;
                let kind = if ruby { EdgeKind::Call } else { EdgeKind::Reference };
                for value in self.infer(self.home, site.expr, site.scope, DEPTH).iter() {
                    if let Value::Function(place) = value {
                        let property = self.facts(place.file).def(place.def).kind == DefKind::Property;
                        if property && facts.language == Language::Python {
                            // The bare name of a property is the property itself, as in `@name.setter`.
                            continue;
                        }
                        let kind = if property { EdgeKind::Property } else { kind };
                        let confidence = if self.is_bound_to_definition(site) {
                            Confidence::High
                        } else {
                            Confidence::Medium
                        };
                        self.add(site, *place, kind, confidence, out);
                    }
                }
            }
            Expr::Super if facts.language == Language::Ruby => self.parent_constructor(site, out),
            Expr::Member(of, name) => {
                let name = facts.text(name);
                let receivers = self.infer(self.home, of, site.scope, DEPTH);
                for receiver in receivers.iter() {
                    self.read_member(site, of, *receiver, name, out);
                }
            }
            _ => {}
        }
    }

    fn read_member(&mut self, site: Site, of: ExprId, receiver: Value, name: &str, out: &mut Resolution) {
        let confidence = self.confidence(of, receiver);
        let found = match receiver {
            Value::Class(class) | Value::Instance(class) => self.class_member(class, name, DEPTH),
            Value::Super(class) => self.parent_member(class, name, DEPTH),
            _ => {
                for value in self.member(receiver, name, DEPTH) {
                    if let Value::Function(place) = value {
                        self.add(site, place, EdgeKind::Reference, confidence, out);
                    }
                }
                return;
            }
        };
        if found.is_empty() && site.kind == SiteKind::Read && !name.starts_with("__") {
            self.looked_up(site, receiver, out);
        }
        for one in found {
            self.descriptor(site, one, out);
            if let Bound::Def(def) = one.binding.to {
                let place = Place { file: one.file, def };
                match self.facts(one.file).def(def).kind {
                    // A property read on the class is the property itself.
                    DefKind::Property if !matches!(receiver, Value::Class(_)) => {
                        self.add(site, place, EdgeKind::Property, confidence, out);
                        self.stand_ins(site, place, receiver, EdgeKind::Property, out);
                        self.read_wrappers(site, place, out);
                    }
                    DefKind::Method | DefKind::Function | DefKind::Property
                        if site.kind == SiteKind::Read =>
                    {
                        self.add(site, place, EdgeKind::Reference, confidence, out);
                    }
                    _ => {}
                }
            }
        }
    }

    /// An object that a class keeps under a name and that takes part in reading and writing it.
    fn descriptor(&mut self, site: Site, found: Found, out: &mut Resolution) {
        let of_class = found.binding.within == found.binding.scope;
        if !of_class || !matches!(found.binding.to, Bound::Value(_)) {
            return;
        }
        let name = if site.kind == SiteKind::Write { "__set__" } else { "__get__" };
        for value in self.binding_values(found.file, found.binding, DEPTH) {
            let Value::Instance(class) = value else { continue };
            for one in self.class_member(class, name, DEPTH) {
                if let Bound::Def(def) = one.binding.to {
                    let place = Place { file: one.file, def };
                    self.add(site, place, EdgeKind::Property, Confidence::Medium, out);
                }
            }
        }
    }

    /// Methods that the language calls on an object, of each few the first that it has: like a property, they run without
    /// a call being written.
    pub(super) fn protocol(&mut self, site: Site, wanted: &[&[&str]], out: &mut Resolution) {
        for value in self.infer(self.home, site.expr, site.scope, DEPTH).iter() {
            let Value::Instance(class) = value else { continue };
            for names in wanted {
                let mut each = names.iter().map(|name| self.class_member(*class, name, DEPTH));
                for one in each.find(|found| !found.is_empty()).unwrap_or_default() {
                    if let Bound::Def(def) = one.binding.to {
                        let place = Place { file: one.file, def };
                        self.add(site, place, EdgeKind::Property, Confidence::Medium, out);
                        self.stand_ins(site, place, *value, EdgeKind::Property, out);
                    }
                }
            }
        }
    }
}
