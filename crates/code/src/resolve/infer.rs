//! What an expression can be: followed through names, members, calls and types.

use std::rc::Rc;

use super::words::is_wrapping;
use super::{Resolver, Value, Values};
use crate::facts::{DefId, DefKind, Expr, ExprId, Flags};
use crate::language::Language;
use crate::project::{FileId, Place};

/// Of more values than this nothing useful can be said.
const WIDTH: usize = 12;

impl Resolver<'_> {
    pub(super) fn infer(&mut self, file: FileId, id: ExprId, within: DefId, depth: u32) -> Values {
        if depth == 0 || id == ExprId::UNKNOWN || self.budget == 0 {
            return Rc::clone(&self.none);
        }
        if let Some(known) = self.known.get(&(file, id)) {
            return Rc::clone(known);
        }
        self.budget -= 1;
        // While it is being asked, it is nothing: a value that depends on itself adds nothing.
        self.known.insert((file, id), Rc::clone(&self.none));
        let mut values = self.infer_new(file, id, within, depth - 1);
        values.truncate(WIDTH);
        let values: Values = values.into();
        self.known.insert((file, id), Rc::clone(&values));
        values
    }

    fn infer_new(&mut self, file: FileId, id: ExprId, within: DefId, depth: u32) -> Vec<Value> {
        match self.expr(file, id) {
            Expr::Unknown => Vec::new(),
            Expr::Text => vec![Value::Foreign],
            Expr::Name(name) if self.facts(file).text(name) == "Self" => self.own_type(file, within, depth),
            Expr::Name(name) => self.lookup(file, within, name, depth),
            Expr::Member(of, name) => {
                let name = self.facts(file).text(name);
                let of = self.infer(file, of, within, depth);
                if of.is_empty() && has_namespaces(self.facts(file).language) {
                    return self.ambient(file, name);
                }
                self.each(&of, |resolver, value| resolver.member(value, name, depth))
            }
            Expr::Begun(of, start) => {
                let of = self.infer(file, of, within, depth);
                self.each(&of, |_, value| match value {
                    Value::Class(class) | Value::Instance(class) => vec![Value::Begun(class, file, start)],
                    _ => Vec::new(),
                })
            }
            Expr::Call(of) => self.infer_call(file, of, within, depth),
            Expr::Instance(of) => self.of_type(file, of, within, depth),
            Expr::Index(of, _) => {
                let of = self.infer(file, of, within, depth);
                self.each(&of, |resolver, value| match value {
                    // A class with arguments is still that class.
                    Value::Class(_) => vec![value],
                    value => resolver.element(value, depth),
                })
            }
            Expr::Element(of) => {
                let of = self.infer(file, of, within, depth);
                self.each(&of, |resolver, value| resolver.element(value, depth))
            }
            Expr::Nth(of, place) => {
                let of = self.infer(file, of, within, depth);
                self.each(&of, |resolver, value| resolver.nth(value, place, depth))
            }
            Expr::Enter(of) => self.entered(file, of, within, depth),
            Expr::Items(..) => vec![Value::Many(file, id, within)],
            Expr::Takes(..) => vec![Value::Takes(file, id, within)],
            Expr::Passed(callee, spot) => self.passed((file, callee, within), spot, depth),
            Expr::Either(one, other) => {
                let mut values = self.infer(file, one, within, depth).to_vec();
                for value in self.infer(file, other, within, depth).iter() {
                    if !values.contains(value) {
                        values.push(*value);
                    }
                }
                values
            }
            Expr::This => self.this(file, within, depth).into_iter().collect(),
            Expr::Super => match self.this(file, within, depth) {
                Some(Value::Instance(class) | Value::Class(class)) => vec![Value::Super(class)],
                _ => Vec::new(),
            },
            Expr::Import(place) => self.imported(file, place, depth),
        }
    }

    pub(super) fn each(
        &mut self,
        values: &[Value],
        mut step: impl FnMut(&mut Self, Value) -> Vec<Value>,
    ) -> Vec<Value> {
        let mut out = Vec::new();
        for value in values {
            for next in step(self, *value) {
                if !out.contains(&next) {
                    out.push(next);
                }
            }
        }
        out
    }

    /// The object a method runs on.
    pub(super) fn this(&mut self, file: FileId, within: DefId, depth: u32) -> Option<Value> {
        let facts = self.facts(file);
        let mut at = within;
        while at != DefId::FILE {
            let def = facts.def(at);
            if def.owner.is_some() {
                return self.owner_class(file, at, depth).map(Value::Instance);
            }
            if facts.def(def.parent).kind.has_members() && def.kind.runs() {
                let class = self.class_at(file, def.parent, depth)?;
                let on_class = def.flags.has(Flags::STATIC)
                    || def.flags.has(Flags::CLASS_LEVEL)
                    || facts.def(def.parent).kind == DefKind::Object;
                return Some(if on_class { Value::Class(class) } else { Value::Instance(class) });
            }
            if def.kind.has_members() {
                return self.class_at(file, at, depth).map(Value::Class);
            }
            at = def.parent;
        }
        None
    }

    /// A member of a value.
    pub(super) fn member(&mut self, value: Value, name: &str, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match value {
            Value::Module(file) if self.facts(file).language == Language::Rust => {
                self.rust_member(value, name, depth - 1)
            }
            Value::Module(_) | Value::Folder(..) | Value::Inside(_) => {
                self.module_member(value, name, depth - 1)
            }
            Value::Class(class) if name == "new" && self.facts(class.file).language == Language::Ruby => {
                let own = self.class_member(class, name, depth - 1);
                if own.is_empty() { vec![value] } else { self.member_values(&own, depth - 1) }
            }
            Value::Class(class) | Value::Instance(class) => {
                let found = self.class_member(class, name, depth - 1);
                if found.is_empty() {
                    return self.well_known_member(value, name);
                }
                if self.is_variant(value, name, &found) {
                    return vec![Value::Instance(class)];
                }
                self.member_values(&found, depth - 1)
            }
            Value::Super(class) => {
                let found = self.parent_member(class, name, depth - 1);
                self.member_values(&found, depth - 1)
            }
            Value::Many(..)
            | Value::ManyOf(..)
            | Value::Tuple(..)
            | Value::Takes(..)
            | Value::Function(_)
            | Value::Begun(..)
            | Value::Foreign => {
                vec![Value::Foreign]
            }
        }
    }

    fn well_known_member(&mut self, value: Value, name: &str) -> Vec<Value> {
        match (value, name) {
            (Value::Instance(class), "__class__") => vec![Value::Class(class)],
            (_, "__dict__" | "__name__" | "__doc__" | "__module__" | "__qualname__") => vec![Value::Foreign],
            _ => Vec::new(),
        }
    }

    fn infer_call(&mut self, file: FileId, callee: ExprId, within: DefId, depth: u32) -> Vec<Value> {
        if let Some(values) = self.unwrapped(file, callee, within, depth) {
            return values;
        }
        if let Expr::Member(of, name) = self.expr(file, callee) {
            let name = self.facts(file).text(name);
            let of = self.infer(file, of, within, depth);
            return self.each(&of, |resolver, value| match value {
                Value::Many(..) | Value::ManyOf(..) => resolver.taken(value, name, depth),
                value => {
                    let members = resolver.called_values(value, name, depth);
                    resolver.each(&members, |resolver, member| resolver.called(member, depth))
                }
            });
        }
        let callee = self.infer(file, callee, within, depth);
        self.each(&callee, |resolver, value| resolver.called(value, depth))
    }

    /// What a collection's method gives: one of its elements, or as many of them.
    fn taken(&mut self, value: Value, name: &str, depth: u32) -> Vec<Value> {
        match name {
            "pop" | "popleft" | "get" | "first" | "last" | "next" | "setdefault" | "find" | "at" => {
                self.element(value, depth)
            }
            "values" | "copy" | "iter" | "filter" | "slice" | "concat" | "items" => vec![value],
            _ => vec![Value::Foreign],
        }
    }

    /// The element at a place of what an assignment takes apart.
    fn nth(&mut self, value: Value, place: u32, depth: u32) -> Vec<Value> {
        let place = place as usize;
        match value {
            Value::Tuple(file, id, within) => match self.items(file, id).get(place) {
                Some(item) => self.of_type(file, *item, within, depth.saturating_sub(1)),
                None => Vec::new(),
            },
            Value::Many(file, id, within) => match self.items(file, id).get(place) {
                Some(item) => self.infer(file, *item, within, depth.saturating_sub(1)).to_vec(),
                None => Vec::new(),
            },
            other => self.element(other, depth),
        }
    }

    /// Methods that only take a value out of its wrapping, and give it as it is.
    fn unwrapped(&mut self, file: FileId, callee: ExprId, within: DefId, depth: u32) -> Option<Vec<Value>> {
        let facts = self.facts(file);
        let Expr::Member(of, name) = facts.expr(callee) else { return None };
        let wraps = facts.language == Language::Rust && is_wrapping(facts.text(name));
        if !wraps {
            return None;
        }
        let values = self.infer(file, of, within, depth);
        let own = facts.text(name);
        // A type's own method of that name is what it is.
        let has_own = values.iter().any(|value| matches!(value, Value::Instance(class) if !self.class_member(*class, own, depth).is_empty()));
        (!has_own && !values.is_empty()).then(|| values.to_vec())
    }

    /// What calling a value gives.
    pub(super) fn called(&mut self, value: Value, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match value {
            Value::Class(class) => vec![Value::Instance(class)],
            Value::Function(place) => self.result(place, depth - 1),
            Value::Instance(class) => {
                let found = self.class_member(class, "__call__", depth - 1);
                let values = self.member_values(&found, depth - 1);
                self.each(&values, |resolver, value| match value {
                    Value::Function(place) => resolver.result(place, depth - 1),
                    _ => Vec::new(),
                })
            }
            Value::Module(_) => {
                let given = self.module_member(value, "default", depth - 1);
                self.each(&given, |resolver, value| resolver.called(value, depth - 1))
            }
            Value::Foreign | Value::Many(..) | Value::ManyOf(..) | Value::Tuple(..) => vec![value],
            Value::Takes(file, id, within) => match self.expr(file, id) {
                Expr::Takes(_, result) => self.of_type(file, result, within, depth - 1),
                _ => Vec::new(),
            },
            Value::Super(_) | Value::Folder(..) | Value::Inside(_) | Value::Begun(..) => Vec::new(),
        }
    }

    /// What a function gives: what it says it gives, else what its returns are.
    fn result(&mut self, place: Place, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let facts = self.facts(place.file);
        let def = facts.def(place.def);
        if let Some(result) = def.result {
            let begun = def.returns.iter().find(|expr| matches!(facts.expr(**expr), Expr::Begun(..)));
            if let Some(expr) = begun {
                return self.infer(place.file, *expr, place.def, depth).to_vec();
            }
            // `Self` is the class that the method is of.
            let expr = facts.expr(result);
            if let Expr::Name(name) = expr
                && facts.text(name) == "Self"
                && let Some(Value::Instance(class) | Value::Class(class)) =
                    self.this(place.file, place.def, depth)
            {
                return vec![Value::Instance(class)];
            }
            return self.of_type(place.file, result, place.def, depth);
        }
        let generator = def.flags.has(Flags::GENERATOR);
        if generator {
            return def.returns.iter().map(|expr| Value::Many(place.file, *expr, place.def)).collect();
        }
        let mut out = Vec::new();
        for expr in &def.returns {
            for value in self.infer(place.file, *expr, place.def, depth).iter() {
                if !out.contains(value) {
                    out.push(*value);
                }
            }
        }
        out
    }

    /// What entering a context gives: what `__enter__` gives, or what its generator yields.
    fn entered(&mut self, file: FileId, of: ExprId, within: DefId, depth: u32) -> Vec<Value> {
        let values = self.infer(file, of, within, depth);
        self.each(&values, |resolver, value| match value {
            Value::Instance(class) => {
                let mut found = resolver.class_member(class, "__enter__", depth);
                if found.is_empty() {
                    found = resolver.class_member(class, "__aenter__", depth);
                }
                if found.is_empty() {
                    return Vec::new();
                }
                let values = resolver.member_values(&found, depth);
                let entered = resolver.each(&values, |resolver, value| resolver.called(value, depth));
                if entered.is_empty() || entered == [Value::Foreign] {
                    vec![Value::Instance(class)]
                } else {
                    entered
                }
            }
            // The name in `except Class as name` is an object of the class.
            Value::Class(class) => vec![Value::Instance(class)],
            Value::Many(..) | Value::ManyOf(..) | Value::Tuple(..) => resolver.element(value, depth),
            other => vec![other],
        })
    }

    /// What looping over a value gives, or taking an element by key.
    pub(super) fn element(&mut self, value: Value, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match value {
            Value::Many(file, id, within) => self.elements(file, id, within, depth - 1),
            Value::ManyOf(file, id, within) => self.of_type(file, id, within, depth - 1),
            Value::Tuple(file, id, within) => {
                let mut out = Vec::new();
                for item in self.items(file, id) {
                    out.extend(self.of_type(file, item, within, depth - 1));
                }
                out
            }
            Value::Instance(class) => {
                for name in ["__iter__", "__getitem__", "__next__", "__aiter__"] {
                    let found = self.class_member(class, name, depth - 1);
                    let values = self.member_values(&found, depth - 1);
                    let given = self.each(&values, |resolver, value| resolver.called(value, depth - 1));
                    let inner = self.each(&given, |resolver, given| match given {
                        given if name == "__getitem__" || name == "__next__" => vec![given],
                        Value::Instance(_) => Vec::new(),
                        given => resolver.element(given, depth - 1),
                    });
                    if !inner.is_empty() {
                        return inner;
                    }
                }
                Vec::new()
            }
            Value::Foreign => vec![Value::Foreign],
            _ => Vec::new(),
        }
    }

    fn elements(&mut self, file: FileId, id: ExprId, within: DefId, depth: u32) -> Vec<Value> {
        let mut out = Vec::new();
        let mut at = id;
        loop {
            let Expr::Items(first, rest) = self.expr(file, at) else {
                if out.is_empty() && at != ExprId::UNKNOWN {
                    return self.infer(file, at, within, depth).to_vec();
                }
                return out;
            };
            for value in self.infer(file, first, within, depth).iter() {
                if !out.contains(value) {
                    out.push(*value);
                }
            }
            at = rest;
        }
    }
}

/// Languages in which a path may begin with a namespace that nobody has to import.
pub(super) fn has_namespaces(language: Language) -> bool {
    matches!(language, Language::Cpp | Language::CSharp | Language::Java)
}
