//! Members of classes and their parents.

use std::rc::Rc;

use super::{DEPTH, Resolver, Value};
use crate::facts::{Binding, Bound, DefId, DefKind, Expr};
use crate::language::Language;
use crate::project::{FileId, NameKey, Place};

/// A member as found: the binding, and the file it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) file: FileId,
    pub(super) binding: Binding,
}

/// A class with more parents than this is not looked at further.
const PARENTS: usize = 64;

impl Resolver<'_> {
    /// The bindings of a member, in the first class of the line that has it.
    pub(super) fn class_member(&mut self, class: Place, name: &str, depth: u32) -> Vec<Found> {
        let line = self.line(class, depth);
        for (at, place) in line.iter().enumerate() {
            let found = self.own_member(*place, name);
            if found.is_empty() {
                continue;
            }
            // Giving an attribute a value in a method does not hide a parent's property: it runs it.
            let given = found.iter().all(|one| {
                one.binding.within != one.binding.scope && !matches!(one.binding.to, Bound::Def(_))
            });
            let property = if given { self.property_above(&line[at + 1..], name) } else { Vec::new() };
            return if property.is_empty() { found } else { property };
        }
        Vec::new()
    }

    /// The bindings of a member that is called. In Rust a field may have the name of a method, and is never meant then.
    pub(super) fn called_member(&mut self, class: Place, name: &str, depth: u32) -> Vec<Found> {
        let found = self.class_member(class, name, depth);
        let is_field = found.iter().all(|one| !matches!(one.binding.to, Bound::Def(_)));
        if found.is_empty() || !is_field || self.facts(class.file).language != Language::Rust {
            return found;
        }
        let line = self.line(class, depth);
        let methods = line.iter().map(|place| self.extension_member(*place, name));
        methods.into_iter().find(|methods| !methods.is_empty()).unwrap_or(found)
    }

    /// What a member may be that is called on a value.
    pub(super) fn called_values(&mut self, value: Value, name: &str, depth: u32) -> Vec<Value> {
        let (Value::Class(class) | Value::Instance(class)) = value else {
            return self.member(value, name, depth);
        };
        if self.facts(class.file).language != Language::Rust {
            return self.member(value, name, depth);
        }
        let found = self.called_member(class, name, depth);
        if self.is_variant(value, name, &found) {
            return vec![value];
        }
        // Written by a derive, and so nowhere.
        if found.is_empty() && name == "default" {
            return vec![value];
        }
        self.member_values(&found, depth)
    }

    /// Whether a member is one of the forms that a type of Rust has: whatever it holds, it is of that type.
    pub(super) fn is_variant(&mut self, value: Value, name: &str, found: &[Found]) -> bool {
        let Value::Class(class) = value else { return false };
        let is_form = |one: &Found| !matches!(one.binding.to, Bound::Def(_)) && one.file == class.file;
        // With a dot it is what a form holds at a place.
        name.starts_with(char::is_uppercase)
            && !name.contains('.')
            && self.facts(class.file).language == Language::Rust
            && !found.is_empty()
            && found.iter().all(is_form)
    }

    fn property_above(&mut self, line: &[Place], name: &str) -> Vec<Found> {
        for place in line {
            let found = self.own_member(*place, name);
            if found.iter().any(|one| self.property(*one).is_some()) {
                return found;
            }
        }
        Vec::new()
    }

    /// The bindings of a member in the parents of a class.
    pub(super) fn parent_member(&mut self, class: Place, name: &str, depth: u32) -> Vec<Found> {
        for place in self.line(class, depth).iter().skip(1) {
            let found = self.own_member(*place, name);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// The bindings of a member in the class itself, its extensions included.
    pub(super) fn own_member(&mut self, class: Place, name: &str) -> Vec<Found> {
        let facts = self.facts(class.file);
        let bound = facts.bound_text(class.def, name);
        let mut found: Vec<_> =
            bound.iter().map(|binding| Found { file: class.file, binding: *binding }).collect();
        if found.is_empty() && facts.language.has_extensions() {
            found = self.extension_member(class, name);
        }
        found
    }

    /// Methods of a class that are written outside it, here or in other files.
    fn extension_member(&mut self, class: Place, name: &str) -> Vec<Found> {
        let facts = self.facts(class.file);
        let class_name = facts.text(facts.def(class.def).name);
        let mut found = Vec::new();
        // What has the name of its class makes objects of it: that name is the class.
        if name == class_name && matches!(facts.language, Language::Cpp | Language::CSharp) {
            return found;
        }
        for place in self.everywhere(&NameKey::member(class_name, name)) {
            let facts = self.facts(place.file);
            let def = facts.def(place.def);
            let outside = def.owner.is_some()
                || facts.def(def.parent).kind == DefKind::Extension
                || place.file != class.file;
            if outside && self.extends(place, class) {
                let (scope, to) = (def.parent, Bound::Def(place.def));
                let binding = Binding { scope, name: def.name, to, within: scope, line: def.line };
                found.push(Found { file: place.file, binding });
            }
        }
        found
    }

    /// Whether a method outside a class of that name is meant for this one.
    fn extends(&mut self, method: Place, class: Place) -> bool {
        if method.file == class.file {
            return true;
        }
        let facts = self.facts(method.file);
        let folder = |file| crate::project::split(self.files.path(file)).0;
        match facts.language {
            Language::Go => folder(method.file) == folder(class.file),
            Language::Rust => {
                let parent = facts.def(method.def).parent;
                self.class_at(method.file, parent, 12) == Some(class)
            }
            _ => true,
        }
    }

    /// A class and its parents, nearest first.
    pub(super) fn line(&mut self, class: Place, depth: u32) -> Rc<[Place]> {
        if let Some(line) = self.lines.get(&class) {
            return Rc::clone(line);
        }
        // A class that is its own parent ends here.
        self.lines.insert(class, Rc::new([class]));
        let mut all = vec![class];
        for parent in self.parents(class, depth) {
            for place in self.line(parent, depth.saturating_sub(1)).iter() {
                // A shared parent comes after all that have it.
                if let Some(at) = all.iter().position(|known| known == place).filter(|at| *at > 0) {
                    all.remove(at);
                }
                if all.len() < PARENTS && *place != class {
                    all.push(*place);
                }
            }
        }
        let line: Rc<[Place]> = all.into();
        self.lines.insert(class, Rc::clone(&line));
        line
    }

    fn parents(&mut self, class: Place, depth: u32) -> Vec<Place> {
        if depth < 2 {
            return Vec::new();
        }
        let facts = self.facts(class.file);
        let mut out = Vec::new();
        let mut bases: Vec<_> = facts
            .def(class.def)
            .bases
            .iter()
            .map(|base| (class.file, facts.def(class.def).parent, *base))
            .collect();
        if facts.language.has_extensions() {
            bases.extend(self.extension_bases(class));
        }
        for (file, scope, base) in bases {
            // `Generic[T]` and the like are their first part.
            let base = match self.expr(file, base) {
                Expr::Index(of, _) => of,
                _ => base,
            };
            for value in self.infer(file, base, scope, depth - 1).iter() {
                if let Value::Class(place) = value
                    && !out.contains(place)
                {
                    out.push(*place);
                }
            }
        }
        out
    }

    /// Whether one of a class's own parents is outside the project.
    pub(super) fn has_unknown_parent(&mut self, class: Place) -> bool {
        let facts = self.facts(class.file);
        let def = facts.def(class.def);
        def.bases.iter().any(|base| {
            let values = self.infer(class.file, *base, def.parent, DEPTH);
            let named = matches!(facts.expr(*base), Expr::Name(name) if facts.text(name) == "object");
            !named && !values.iter().any(|value| matches!(value, Value::Class(_)))
        })
    }

    /// Parents that an extension adds: the traits a type implements.
    fn extension_bases(&mut self, class: Place) -> Vec<(FileId, DefId, crate::facts::ExprId)> {
        let facts = self.facts(class.file);
        let own = facts.def(class.def);
        let mut out = Vec::new();
        for (_, def) in facts.each_def() {
            if def.kind == DefKind::Extension && def.name == own.name && def.parent == own.parent {
                out.extend(def.bases.iter().map(|base| (class.file, def.parent, *base)));
            }
        }
        out
    }

    /// The values of members that were found, for whoever asks for them.
    pub(super) fn member_values(&mut self, found: &[Found], depth: u32) -> Vec<Value> {
        let mut out = Vec::new();
        for one in found {
            let values = match self.property(*one) {
                Some(property) => self.called(Value::Function(property), depth.saturating_sub(1)),
                None => self.binding_values(one.file, one.binding, depth.saturating_sub(1)),
            };
            for value in values {
                if !out.contains(&value) {
                    out.push(value);
                }
            }
        }
        out
    }

    /// The definition of a member that is read like an attribute but runs code.
    pub(super) fn property(&mut self, found: Found) -> Option<Place> {
        let Bound::Def(def) = found.binding.to else { return None };
        let is_property = self.facts(found.file).def(def).kind == DefKind::Property;
        is_property.then_some(Place { file: found.file, def })
    }
}
