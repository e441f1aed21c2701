//! What a call hands over and the called one runs: a function passed as an argument is called where it arrives, and so are
//! the methods of an object. The caller knows the value and the called one the place, so the edge is found with the
//! caller's file and starts in the other.

use super::{Confidence, DEPTH, Edge, EdgeKind, Resolution, Resolver, Value};
use crate::facts::{Argument, Bound, DefId, DefKind, Expr, ExprId, Flags, Given, How};
use crate::project::{FileId, Place};

/// Handed on more often than this it is lost from sight.
const HANDS: u32 = 3;

impl Resolver<'_> {
    /// Adds what the called one does with an argument.
    pub(super) fn handed(&mut self, given: Given, out: &mut Resolution) {
        let mut values = None;
        for (callee, skipped) in self.takers(self.home, given.callee, given.scope) {
            let Some(param) = self.param(callee, skipped, self.home, given.spot) else { continue };
            if !self.does_something(callee, param) {
                continue;
            }
            let values =
                values.get_or_insert_with(|| self.infer(self.home, given.value, given.scope, DEPTH)).clone();
            for value in values.iter() {
                self.run(callee, param, *value, HANDS, out);
            }
        }
    }

    /// The functions that get the arguments of a call, and how many of their parameters come before those.
    fn takers(&mut self, file: FileId, callee: ExprId, scope: DefId) -> Vec<(Place, u32)> {
        let mut out = Vec::new();
        for value in self.infer(file, callee, scope, DEPTH).iter() {
            match value {
                Value::Function(place) => {
                    let def = self.facts(place.file).def(place.def);
                    let is_bound = def.kind == DefKind::Method && !def.flags.has(Flags::STATIC);
                    let is_plain = !is_bound || self.is_through_class(file, callee, scope, *place);
                    out.push((*place, u32::from(!is_plain)));
                }
                Value::Class(class) => {
                    out.extend(self.own_method(*class, "__init__").map(|place| (place, 1)));
                }
                Value::Instance(class) => {
                    out.extend(self.own_method(*class, "__call__").map(|place| (place, 1)));
                }
                _ => {}
            }
        }
        out
    }

    /// Whether a method is called with its object as an ordinary argument: `Class.method(object)`.
    fn is_through_class(&mut self, file: FileId, callee: ExprId, scope: DefId, method: Place) -> bool {
        let Expr::Member(of, _) = self.expr(file, callee) else { return false };
        let takes_class = self.facts(method.file).def(method.def).flags.has(Flags::CLASS_LEVEL);
        let of = self.infer(file, of, scope, DEPTH);
        !takes_class && !of.is_empty() && of.iter().all(|value| matches!(value, Value::Class(_)))
    }

    fn own_method(&mut self, class: Place, name: &str) -> Option<Place> {
        self.class_member(class, name, DEPTH).into_iter().find_map(|one| match one.binding.to {
            Bound::Def(def) => Some(Place { file: one.file, def }),
            _ => None,
        })
    }

    /// The parameter that an argument arrives in.
    fn param(&mut self, callee: Place, skipped: u32, file: FileId, spot: Argument) -> Option<u32> {
        let facts = self.facts(callee.file);
        let params = &facts.def(callee.def).params;
        let place = match spot {
            Argument::At(place) => (place + skipped) as usize,
            Argument::Named(name) => {
                let name = self.facts(file).text(name);
                params.iter().position(|param| facts.text(param.name) == name)?
            }
        };
        let is_one = params.get(place).is_some_and(|param| !facts.text(param.text).starts_with('*'));
        is_one.then(|| u32::try_from(place).ok())?
    }

    fn does_something(&mut self, callee: Place, param: u32) -> bool {
        self.facts(callee.file).def(callee.def).runs.iter().any(|run| run.param == param)
    }

    /// Adds what a function does with a value that it gets for a parameter.
    fn run(&mut self, callee: Place, param: u32, value: Value, hands: u32, out: &mut Resolution) {
        let facts = self.facts(callee.file);
        for run in facts.def(callee.def).runs.iter().filter(|run| run.param == param) {
            // Functions that hand everything on to each other would be walked through in every order.
            let Some(left) = self.budget.checked_sub(1) else { return };
            self.budget = left;
            let from = Place { file: callee.file, def: run.by };
            match run.how {
                How::Called => self.run_value(from, run.line, value, out),
                How::Asked(name) => {
                    let (Value::Instance(class) | Value::Class(class)) = value else { continue };
                    for one in self.class_member(class, facts.text(name), DEPTH) {
                        for value in self.binding_values(one.file, one.binding, DEPTH) {
                            self.run_value(from, run.line, value, out);
                        }
                    }
                }
                How::Passed(to, spot) if hands > 0 => {
                    for (next, skipped) in self.takers(callee.file, to, run.by) {
                        if let Some(param) = self.param(next, skipped, callee.file, spot)
                            && next != callee
                        {
                            self.run(next, param, value, hands - 1, out);
                        }
                    }
                }
                How::Passed(..) => {}
            }
        }
    }

    fn run_value(&mut self, from: Place, line: u32, value: Value, out: &mut Resolution) {
        let (to, kind) = match value {
            Value::Function(place) => (place, EdgeKind::Call),
            Value::Class(class) => (class, EdgeKind::Constructor),
            Value::Instance(class) => match self.own_method(class, "__call__") {
                Some(place) => (place, EdgeKind::Call),
                None => return,
            },
            _ => return,
        };
        let target = self.facts(to.file).def(to.def);
        let is_told =
            !matches!(target.kind, DefKind::Lambda | DefKind::File | DefKind::Namespace | DefKind::Object);
        // What hands its own work on to another of its kind does not mean itself.
        if is_told && to != from {
            out.edges.push(Edge { from, line, to, kind, confidence: Confidence::Medium });
        }
    }
}
