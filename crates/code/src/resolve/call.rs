//! A use to edges.

use super::infer::has_namespaces;
use super::words::{is_common, is_of_wrapping};
use super::{Confidence, DEPTH, Edge, EdgeKind, Resolution, Resolver, Unresolved, Value};
use crate::facts::{Bound, DefId, DefKind, Expr, ExprId, Site, SiteKind};
use crate::language::Language;
use crate::project::Place;

impl Resolver<'_> {
    /// Adds the edges of one use.
    pub(super) fn site(&mut self, site: Site, out: &mut Resolution) {
        match site.kind {
            SiteKind::Call | SiteKind::New | SiteKind::Decorator => self.call_site(site, out),
            SiteKind::Read | SiteKind::Write => self.read_site(site, out),
            kind => self.protocol(site, kind.asks(), out),
        }
    }

    fn call_site(&mut self, site: Site, out: &mut Resolution) {
        let home = self.home;
        let facts = self.facts(home);
        let expr = facts.expr(site.expr);
        let kind = if self.through_super(site.expr) { EdgeKind::Super } else { site.kind.edge() };
        let mut known = false;
        let before = out.edges.len();
        match expr {
            Expr::Member(of, name) => {
                let receivers = self.infer(home, of, site.scope, DEPTH);
                known = !receivers.is_empty();
                if !known && has_namespaces(facts.language) && matches!(facts.expr(of), Expr::Name(_)) {
                    for value in self.infer(home, site.expr, site.scope, DEPTH).iter() {
                        self.call_value(site, *value, kind, Confidence::Medium, out);
                    }
                }
                let name = facts.text(name);
                for receiver in receivers.iter() {
                    let confidence = self.confidence(of, *receiver);
                    self.call_member(site, *receiver, name, kind, confidence, out);
                }
            }
            Expr::Super => self.parent_constructor(site, out),
            _ => {
                let values = self.infer(home, site.expr, site.scope, DEPTH);
                known = !values.is_empty();
                let confidence =
                    if self.is_bound_to_definition(site) { Confidence::High } else { Confidence::Medium };
                for value in values.iter() {
                    self.call_value(site, *value, kind, confidence, out);
                }
            }
        }
        if out.edges.len() == before {
            self.without_edge(site, known, out);
        }
    }

    /// A call of which no target was found: by its name alone, or not at all.
    fn without_edge(&mut self, site: Site, known: bool, out: &mut Resolution) {
        let facts = self.facts(self.home);
        let (name, of) = match facts.expr(site.expr) {
            Expr::Name(name) => (facts.text(name), None),
            Expr::Member(of, name) => (facts.text(name), Some(of)),
            _ => return,
        };
        let foreign = match of {
            Some(of) => self.infer(self.home, of, site.scope, DEPTH).contains(&Value::Foreign),
            None => self.infer(self.home, site.expr, site.scope, DEPTH).contains(&Value::Foreign),
        };
        if foreign {
            return;
        }
        if of.is_some() && !known && self.only_method(site, name, out) {
            return;
        }
        let from = facts.charged(site.scope);
        out.unresolved.push(Unresolved { name: name.into(), from, line: site.line });
    }

    /// The one method of that name in the project, if its name is not one that things outside have as well.
    fn only_method(&mut self, site: Site, name: &str, out: &mut Resolution) -> bool {
        if is_common(name) {
            return false;
        }
        let places = self.everywhere(name);
        let mut methods = places.iter().filter(|place| {
            let def = self.files.facts(place.file).def(place.def);
            matches!(def.kind, DefKind::Method | DefKind::Property)
        });
        let (Some(only), None) = (methods.next(), methods.next()) else { return false };
        let facts = self.facts(only.file);
        if facts.def(only.def).kind != DefKind::Method || !self.is_known_here(*only) {
            return false;
        }
        self.add(site, *only, site.kind.edge(), Confidence::Low, out);
        true
    }

    /// Whether a file has heard of a method's class. Where types are written down, a file that uses an object without
    /// ever naming its class is rare, and libraries have methods of every name.
    fn is_known_here(&mut self, method: Place) -> bool {
        let home = self.facts(self.home);
        if home.language == Language::Python || method.file == self.home {
            return true;
        }
        let facts = self.facts(method.file);
        let class = facts.class_of(method.def).map(|class| facts.text(class));
        class.is_some_and(|class| home.mentions(class))
    }

    /// The edges of calling a member of a receiver.
    fn call_member(
        &mut self,
        site: Site,
        receiver: Value,
        name: &str,
        kind: EdgeKind,
        confidence: Confidence,
        out: &mut Resolution,
    ) {
        let class = match receiver {
            Value::Class(class) | Value::Instance(class) | Value::Super(class) => class,
            _ => {
                for value in self.member(receiver, name, DEPTH) {
                    self.call_value(site, value, kind, confidence, out);
                }
                return;
            }
        };
        let found = match receiver {
            Value::Super(_) => self.parent_member(class, name, DEPTH),
            _ => self.called_member(class, name, DEPTH),
        };
        if found.is_empty() && self.called_through(site, receiver, name, out) {
            return;
        }
        if found.is_empty() && !matches!(receiver, Value::Super(_)) {
            // `Class.new` in Ruby, what an enum or namespace holds, and `object.__class__` in Python.
            for value in self.member(receiver, name, DEPTH) {
                self.call_value(site, value, kind, confidence, out);
            }
        }
        for one in found {
            if let Some(property) = self.property(one) {
                self.add(site, property, EdgeKind::Property, confidence, out);
                self.stand_ins(site, property, receiver, EdgeKind::Property, out);
                for value in self.called(Value::Function(property), DEPTH) {
                    self.call_value(site, value, kind, Confidence::Medium, out);
                }
                continue;
            }
            let direct = matches!(one.binding.to, Bound::Def(_));
            let confidence = if direct { confidence } else { confidence.min(Confidence::Medium) };
            for value in self.binding_values(one.file, one.binding, DEPTH) {
                self.call_value(site, value, kind, confidence, out);
            }
            if let Bound::Def(def) = one.binding.to {
                self.stand_ins(site, Place { file: one.file, def }, receiver, kind, out);
            }
        }
    }

    /// A method that a Rust type does not have is one of what it stands for, which it is asked for first.
    fn called_through(&mut self, site: Site, receiver: Value, name: &str, out: &mut Resolution) -> bool {
        let Value::Instance(class) = receiver else { return false };
        if self.facts(class.file).language != Language::Rust || is_of_wrapping(name) {
            return false;
        }
        let stands_for = self.class_member(class, "deref", DEPTH);
        for one in &stands_for {
            let Bound::Def(def) = one.binding.to else { continue };
            let place = Place { file: one.file, def };
            self.add(site, place, EdgeKind::Property, Confidence::Medium, out);
            for value in self.called(Value::Function(place), DEPTH) {
                if value != receiver {
                    self.call_member(site, value, name, EdgeKind::Call, Confidence::Medium, out);
                }
            }
        }
        !stands_for.is_empty()
    }

    /// The edges of calling a value.
    fn call_value(
        &mut self,
        site: Site,
        value: Value,
        kind: EdgeKind,
        confidence: Confidence,
        out: &mut Resolution,
    ) {
        match value {
            Value::Function(place) => {
                self.add(site, place, kind, confidence, out);
                if matches!(kind, EdgeKind::Call | EdgeKind::Super) {
                    self.call_wrappers(site, place, out);
                }
            }
            Value::Class(class) => {
                let facts = self.facts(class.file);
                let runs_code = !matches!(facts.language, Language::Go | Language::Rust | Language::C);
                if facts.def(class.def).kind == DefKind::Class && runs_code {
                    let kind = if kind == EdgeKind::Call { EdgeKind::Constructor } else { kind };
                    self.add(site, class, kind, confidence, out);
                    self.set_up(site, class, kind, out);
                }
            }
            Value::Begun(class, file, start) => self.begun(site, class, (file, start), kind, out),
            Value::Instance(class) => {
                for one in self.class_member(class, "__call__", DEPTH) {
                    if let Bound::Def(def) = one.binding.to {
                        let place = Place { file: one.file, def };
                        self.add(site, place, kind, confidence.min(Confidence::Medium), out);
                        self.stand_ins(site, place, value, kind, out);
                    }
                }
            }
            Value::Module(_) => {
                for value in self.module_member(value, "default", DEPTH) {
                    if !matches!(value, Value::Module(_)) {
                        self.call_value(site, value, kind, confidence, out);
                    }
                }
            }
            _ => {}
        }
    }

    /// `super(…)` in a constructor.
    pub(super) fn parent_constructor(&mut self, site: Site, out: &mut Resolution) {
        let Some(Value::Instance(class) | Value::Class(class)) = self.this(self.home, site.scope, DEPTH)
        else {
            return;
        };
        let language = self.facts(class.file).language;
        if language == Language::Ruby {
            let facts = self.facts(self.home);
            let name = facts.text(facts.def(facts.charged(site.scope)).name).to_owned();
            for one in self.parent_member(class, &name, DEPTH) {
                if let Bound::Def(def) = one.binding.to {
                    self.add(site, Place { file: one.file, def }, EdgeKind::Super, Confidence::High, out);
                }
            }
            return;
        }
        if let Some(parent) = self.line(class, DEPTH).get(1) {
            self.add(site, *parent, EdgeKind::Super, Confidence::High, out);
        }
    }

    pub(super) fn add(
        &mut self,
        site: Site,
        to: Place,
        kind: EdgeKind,
        confidence: Confidence,
        out: &mut Resolution,
    ) {
        let facts = self.facts(self.home);
        let target = self.facts(to.file).def(to.def);
        if matches!(target.kind, DefKind::Lambda | DefKind::File | DefKind::Namespace | DefKind::Object) {
            return;
        }
        let from = Place { file: self.home, def: facts.charged(site.scope) };
        out.edges.push(Edge { from, line: site.line, to, kind, confidence });
    }

    /// How sure a member is, by what its object was found to be.
    pub(super) fn confidence(&mut self, of: ExprId, receiver: Value) -> Confidence {
        let plain = matches!(self.expr(self.home, of), Expr::This | Expr::Super | Expr::Name(_));
        match receiver {
            Value::Module(_) | Value::Folder(..) | Value::Class(_) | Value::Super(_) => Confidence::High,
            _ if plain && self.is_self_name(of) => Confidence::High,
            _ => Confidence::Medium,
        }
    }

    fn is_self_name(&mut self, of: ExprId) -> bool {
        let facts = self.facts(self.home);
        match facts.expr(of) {
            Expr::Name(name) => matches!(facts.text(name), "self" | "cls" | "this"),
            Expr::This | Expr::Super => true,
            _ => false,
        }
    }

    /// Whether a bare name is bound to a definition or an import, and not to a value that happens to be one.
    pub(super) fn is_bound_to_definition(&mut self, site: Site) -> bool {
        let facts = self.facts(self.home);
        let Expr::Name(name) = facts.expr(site.expr) else { return false };
        let mut scope = site.scope;
        loop {
            let bound = facts.bound(scope, name);
            if !bound.is_empty() {
                return bound.iter().all(|binding| matches!(binding.to, Bound::Def(_) | Bound::Import(_)));
            }
            if scope == DefId::FILE {
                return true;
            }
            scope = facts.def(scope).parent;
        }
    }

    fn through_super(&mut self, id: ExprId) -> bool {
        let facts = self.facts(self.home);
        matches!(facts.expr(id), Expr::Member(of, _) if facts.expr(of) == Expr::Super)
    }
}
