//! What a Python name can be by what is asked of it: of a value that nobody declared, the members that are used tell the class,
//! if there is only one that has them all.

use std::rc::Rc;

use super::words::is_common;
use super::{DEPTH, Resolver, Value};
use crate::facts::{DefId, DefKind, Expr, Sym};
use crate::project::Place;
use crate::quick::QuickMap;

/// A name that more classes have than this says little about any of them.
const MOST: usize = 24;

/// Members that are used of a name, with the scope they are used in.
pub(super) type Asked = QuickMap<Sym, Vec<(DefId, Sym)>>;

impl Resolver<'_> {
    /// Objects of the one class, or of the one at the top of a few, that has every member which a scope of the resolved
    /// file uses of a name of unknown value.
    pub(super) fn shaped(&mut self, scope: DefId, name: Sym) -> Vec<Value> {
        let home = self.files.facts(self.home);
        let asked = self.asked();
        let mut members: Vec<&str> = Vec::new();
        for (site, member) in asked.get(&name).into_iter().flatten() {
            let text = home.text(*member);
            if self.is_inside(*site, scope) && !text.starts_with("__") && !members.contains(&text) {
                members.push(text);
            }
        }
        // One name alone is no evidence, however rare it is.
        let candidates = if members.len() > 1 { self.candidates(&members) } else { Vec::new() };
        let mut fitting: Vec<Place> = Vec::new();
        for class in candidates {
            if members.iter().all(|member| !self.class_member(class, member, DEPTH).is_empty()) {
                fitting.push(class);
            }
        }
        let lines: Vec<_> = fitting.iter().map(|class| self.line(*class, DEPTH)).collect();
        let is_top = |(class, line): &(&Place, &Rc<[Place]>)| {
            !line.iter().any(|parent| parent != *class && fitting.contains(parent))
        };
        let mut tops = fitting.iter().zip(&lines).filter(is_top).map(|(class, _)| *class);
        match (tops.next(), tops.next()) {
            (Some(top), None) => vec![Value::Instance(top)],
            _ => Vec::new(),
        }
    }

    /// The classes that have the rarest of some members, none if all of them are names that things outside have as well.
    fn candidates(&mut self, members: &[&str]) -> Vec<Place> {
        let telling = members.iter().filter(|member| !is_common(member));
        let having: Vec<Vec<Place>> = telling.map(|member| self.having(member)).collect();
        let rarest = having.into_iter().filter(|classes| !classes.is_empty()).min_by_key(Vec::len);
        rarest.filter(|classes| classes.len() <= MOST).unwrap_or_default()
    }

    /// The classes that define a method or property of that name.
    fn having(&mut self, member: &str) -> Vec<Place> {
        let mut classes = Vec::new();
        for place in self.everywhere(member) {
            let def = self.facts(place.file).def(place.def);
            if matches!(def.kind, DefKind::Method | DefKind::Property)
                && let Some(class) = self.class_at(place.file, def.parent, DEPTH)
                && !classes.contains(&class)
            {
                classes.push(class);
            }
        }
        classes
    }

    fn is_inside(&self, mut scope: DefId, outer: DefId) -> bool {
        let home = self.files.facts(self.home);
        while scope != outer && scope != DefId::FILE {
            scope = home.def(scope).parent;
        }
        scope == outer
    }

    /// What the resolved file uses of each name, gathered when it is first asked for.
    fn asked(&mut self) -> Rc<Asked> {
        if let Some(asked) = &self.asked {
            return Rc::clone(asked);
        }
        let home = self.files.facts(self.home);
        let mut asked = Asked::default();
        for site in &home.sites {
            if let Expr::Member(of, member) = home.expr(site.expr)
                && let Expr::Name(name) = home.expr(of)
            {
                asked.entry(name).or_default().push((site.scope, member));
            }
        }
        let asked = Rc::new(asked);
        self.asked = Some(Rc::clone(&asked));
        asked
    }
}
