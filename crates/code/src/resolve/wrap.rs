//! Decorators of ours: what they put around a function stands between it and its callers.

use super::{Confidence, DEPTH, Edge, EdgeKind, Resolution, Resolver, Value};
use crate::facts::{Bound, DefKind, Site};
use crate::project::Place;

impl Resolver<'_> {
    /// Calling a decorated function calls what its decorators put around it, where those are ours.
    pub(super) fn call_wrappers(&mut self, site: Site, place: Place, out: &mut Resolution) {
        for (wrapper, _) in self.wrappers(place) {
            self.add(site, wrapper, EdgeKind::Call, Confidence::Medium, out);
        }
    }

    /// Reading a property that a class of ours makes runs that class's code.
    pub(super) fn read_wrappers(&mut self, site: Site, place: Place, out: &mut Resolution) {
        for (wrapper, _) in self.wrappers(place) {
            self.add(site, wrapper, EdgeKind::Property, Confidence::Medium, out);
        }
    }

    /// What is put around a decorated function calls it.
    pub(super) fn wrapped(&mut self, place: Place, out: &mut Resolution) {
        for (wrapper, line) in self.wrappers(place) {
            let (kind, confidence) = (EdgeKind::Call, Confidence::Medium);
            out.edges.push(Edge { from: wrapper, line, to: place, kind, confidence });
        }
    }

    /// The functions inside a function's decorators that call what the decorator was given, and where they do.
    fn wrappers(&mut self, place: Place) -> Vec<(Place, u32)> {
        let facts = self.facts(place.file);
        let def = facts.def(place.def);
        let mut out = Vec::new();
        for decorator in &def.decorators {
            for value in self.infer(place.file, *decorator, def.parent, DEPTH).iter() {
                if let (Value::Class(class), DefKind::Property) = (value, def.kind) {
                    out.extend(self.getters(*class));
                }
                let Value::Function(decorator) = value else { continue };
                let facts = self.facts(decorator.file);
                for (id, one) in facts.each_def() {
                    // A decorator with arguments has its wrapper one level further down.
                    let inside = one.parent == decorator.def || facts.def(one.parent).parent == decorator.def;
                    if let Some(line) = one.wraps.filter(|_| inside && id != decorator.def) {
                        out.push((Place { file: decorator.file, def: id }, line));
                    }
                }
            }
        }
        out
    }

    /// The code that a class runs when what it stands for is read. Where in it that is called it does not say, so its own
    /// line is the place.
    fn getters(&mut self, class: Place) -> Vec<(Place, u32)> {
        let found = self.class_member(class, "__get__", DEPTH);
        let places = found.iter().filter_map(|one| match one.binding.to {
            Bound::Def(def) => Some((Place { file: one.file, def }, one.binding.line)),
            _ => None,
        });
        places.collect()
    }
}
