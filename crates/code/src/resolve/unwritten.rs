//! Methods that run although their names are not written where they are used: what sets up an object, and what is looked up
//! by a name that is put together.

use std::rc::Rc;

use super::{Confidence, DEPTH, EdgeKind, Resolution, Resolver, Value};
use crate::facts::{Bound, DefKind, Expr, Site, Sym};
use crate::project::{FileId, NameKey, Place};

/// What the constructor that a Python decorator writes calls at its end.
const AFTER: [&str; 2] = ["__post_init__", "__attrs_post_init__"];

/// Beginnings that methods have which nobody looks up by name as well.
const ANY: [&str; 10] = ["add_", "as_", "from_", "get_", "has_", "is_", "set_", "to_", "update_", "with_"];

/// Of more methods than this nothing useful is said.
const MOST: usize = 256;

impl Resolver<'_> {
    /// What runs when an object of a class is made, beside a constructor of its own: the one that it has from a parent,
    /// and what a written one calls at its end.
    pub(super) fn set_up(&mut self, site: Site, class: Place, kind: EdgeKind, out: &mut Resolution) {
        let inherited = self.facts(class.file).language.table().constructors.iter().map(|name| (*name, kind));
        let after = AFTER.iter().map(|name| (*name, EdgeKind::Property));
        for (name, kind) in inherited.chain(after) {
            for one in self.class_member(class, name, DEPTH) {
                let Bound::Def(def) = one.binding.to else { continue };
                let owner = Place { file: one.file, def: one.binding.scope };
                if owner != class || kind == EdgeKind::Property {
                    self.add(site, Place { file: one.file, def }, kind, Confidence::Medium, out);
                }
            }
        }
    }

    /// A member that a class does not have is looked up by the method that it may have for that, unless somebody gave it to
    /// the object before.
    pub(super) fn looked_up(&mut self, site: Site, receiver: Value, out: &mut Resolution) {
        let Value::Instance(class) = receiver else { return };
        for one in self.class_member(class, "__getattr__", DEPTH) {
            if let Bound::Def(def) = one.binding.to {
                self.add(site, Place { file: one.file, def }, EdgeKind::Property, Confidence::Low, out);
            }
        }
    }

    /// Each method that may be meant by a name of which only the beginning is known.
    pub(super) fn begun(
        &mut self,
        site: Site,
        class: Place,
        start: (FileId, Sym),
        kind: EdgeKind,
        out: &mut Resolution,
    ) {
        let says_nothing = ANY.contains(&self.facts(start.0).text(start.1).trim_start_matches('_'));
        let home = self.files.facts(self.home);
        for place in self.beginning(class, start).iter() {
            let facts = self.facts(place.file);
            let name = home.sym(facts.text(facts.def(place.def).name));
            // Who writes the whole name elsewhere in this file does not need to put it together.
            let is_written = name.is_some_and(|name| {
                home.exprs.iter().any(|expr| matches!(expr, Expr::Member(_, one) if *one == name))
            });
            let unsure = says_nothing || is_written;
            let confidence = if unsure { Confidence::Low } else { Confidence::Medium };
            self.add(site, *place, kind, confidence, out);
        }
    }

    fn beginning(&mut self, class: Place, (file, start): (FileId, Sym)) -> Rc<[Place]> {
        let start = self.facts(file).text(start);
        let key = (class, NameKey::begun(start));
        if let Some(known) = self.below.get(&key) {
            return Rc::clone(known);
        }
        let language = self.facts(self.home).language;
        self.trail.name(NameKey::of(language, &NameKey::begun(start)));
        let mut found = Vec::new();
        for place in self.files.index().beginning(crate::project::family(language), start) {
            let def = self.facts(place.file).def(place.def);
            if def.kind != DefKind::Method {
                continue;
            }
            let Some(owner) = self.class_at(place.file, def.parent, DEPTH) else { continue };
            let is_related =
                self.line(owner, DEPTH).contains(&class) || self.line(class, DEPTH).contains(&owner);
            if is_related {
                found.push(place);
            }
        }
        found.sort_unstable_by_key(|place| (self.files.path(place.file), place.def));
        if found.len() > MOST {
            found.clear();
        }
        let found: Rc<[Place]> = found.into();
        self.below.insert(key, Rc::clone(&found));
        found
    }
}
