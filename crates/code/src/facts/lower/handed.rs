//! What calls hand over, and what becomes of it: arguments that may be called where they arrive, and the places where a
//! function calls a parameter, asks a method of it, or hands it on. Only for Python, where no type says it.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{
    Argument, Bound, DefId, DefKind, Expr, ExprId, Flags, Given, How, Run, Site, SiteKind, Sym,
};
use crate::language::{Role, Shape, named};
use crate::quick::QuickMap;

/// Who does more than this with its parameters tells too little about each.
const MOST: usize = 64;

/// Parameters by function and name.
type Params = QuickMap<(DefId, Sym), u32>;

impl Lower<'_> {
    /// Notes the arguments of a call. Behind a list that is spread out nobody knows the places.
    pub(super) fn hand_over(&mut self, node: Node<'_>, shape: &Shape, callee: ExprId) {
        let Some(arguments) = shape.params.child(node).filter(|_| callee != ExprId::UNKNOWN) else { return };
        let mut place = 0;
        let mut is_known = true;
        for argument in named(arguments) {
            let (spot, value) = match self.kinds.shape(argument) {
                Some(pair) if pair.role == Role::Pair => {
                    let Some(name) = pair.name.child(argument) else { continue };
                    let Some(value) = argument.child_by_field_name("value") else { continue };
                    (Argument::Named(self.sym_of(name)), value)
                }
                _ => {
                    is_known &= !argument.kind().ends_with("splat");
                    place += 1;
                    (Argument::At(place - 1), argument)
                }
            };
            let says = matches!(self.role(value), Some(Role::Identifier | Role::Member | Role::Call));
            if !says || (!is_known && matches!(spot, Argument::At(_))) {
                continue;
            }
            let value = self.express(value);
            if matches!(self.exprs[value.0 as usize], Expr::Name(_) | Expr::Member(..) | Expr::Call(_)) {
                let scope = self.read_in(node);
                self.handed.push(Given { callee, scope, spot, value });
            }
        }
    }

    /// Finds what becomes of parameters, and drops the arguments that nobody can follow.
    pub(super) fn find_runs(&mut self) {
        let params = self.params();
        let kept = self.kept_parameters(&params);
        let mut runs: Vec<(DefId, Run)> = Vec::new();
        for site in self.sites.iter().filter(|site| site.kind == SiteKind::Call) {
            let by = self.charged(site.scope);
            for (def, param, how) in self.run_of(*site, &params, &kept) {
                runs.push((def, Run { param, by, line: site.line, how }));
            }
        }
        for given in &self.handed {
            let Some((def, param)) = self.parameter_at(given.value, given.scope, &params) else { continue };
            let line = self.defs[given.scope.0 as usize].line;
            let by = self.charged(given.scope);
            runs.push((def, Run { param, by, line, how: How::Passed(given.callee, given.spot) }));
        }
        for (def, run) in runs {
            let all = &mut self.defs[def.0 as usize].runs;
            if all.len() < MOST && !all.contains(&run) {
                all.push(run);
            }
        }
        self.drop_given(&params);
    }

    /// Parameters without the object that a method runs on.
    fn params(&self) -> Params {
        let mut params = Params::default();
        for binding in &self.bindings {
            let Bound::Param(place) = binding.to else { continue };
            let def = &self.defs[binding.scope.0 as usize];
            let is_object = place == 0 && def.kind == DefKind::Method && !def.flags.has(Flags::STATIC);
            if !is_object {
                params.insert((binding.scope, binding.name), place);
            }
        }
        params
    }

    /// Parameters that a method keeps as an attribute: by class and attribute, which of which method.
    fn kept_parameters(&self, params: &Params) -> QuickMap<(DefId, Sym), Vec<(DefId, u32)>> {
        let mut kept: QuickMap<(DefId, Sym), Vec<(DefId, u32)>> = QuickMap::default();
        for binding in self.bindings.iter().filter(|binding| binding.within != binding.scope) {
            let Bound::Value(value) = binding.to else { continue };
            let value = match self.exprs[value.0 as usize] {
                Expr::Either(one, _) => one,
                _ => value,
            };
            if let Expr::Name(name) = self.exprs[value.0 as usize]
                && let Some(place) = params.get(&(binding.within, name))
            {
                kept.entry((binding.scope, binding.name)).or_default().push((binding.within, *place));
            }
        }
        kept
    }

    /// Whose parameters a call concerns, and how.
    fn run_of(
        &self,
        site: Site,
        params: &Params,
        kept: &QuickMap<(DefId, Sym), Vec<(DefId, u32)>>,
    ) -> Vec<(DefId, u32, How)> {
        let whole = self.parameter_at(site.expr, site.scope, params);
        if let Some((def, place)) = whole {
            return vec![(def, place, How::Called)];
        }
        let Expr::Member(of, name) = self.exprs[site.expr.0 as usize] else { return Vec::new() };
        if let Some((def, place)) = self.parameter_at(of, site.scope, params) {
            return vec![(def, place, How::Asked(name))];
        }
        let attribute = |id: ExprId, how| {
            let found = self.attribute(id, site.scope).and_then(|key| kept.get(&key));
            found.into_iter().flatten().map(|(def, place)| (*def, *place, how)).collect()
        };
        let asked: Vec<_> = attribute(of, How::Asked(name));
        if asked.is_empty() { attribute(site.expr, How::Called) } else { asked }
    }

    /// The function around, and its parameter, that an expression names.
    fn parameter_at(&self, id: ExprId, mut scope: DefId, params: &Params) -> Option<(DefId, u32)> {
        let Expr::Name(name) = self.exprs[id.0 as usize] else { return None };
        loop {
            if let Some(place) = params.get(&(scope, name)) {
                return Some((scope, *place));
            }
            if scope == DefId::FILE {
                return None;
            }
            scope = self.defs[scope.0 as usize].parent;
        }
    }

    /// The class around and the attribute of `self.attribute`.
    fn attribute(&self, id: ExprId, mut scope: DefId) -> Option<(DefId, Sym)> {
        let Expr::Member(of, name) = self.exprs[id.0 as usize] else { return None };
        let Expr::Name(object) = self.exprs[of.0 as usize] else { return None };
        while scope != DefId::FILE {
            let def = &self.defs[scope.0 as usize];
            if self.defs[def.parent.0 as usize].kind == DefKind::Class && def.kind.runs() {
                let is_object = def.params.first().is_some_and(|first| first.name == object);
                return is_object.then_some((def.parent, name));
            }
            scope = def.parent;
        }
        None
    }

    /// A parameter that is handed on is known as such, and functions of the language do not call what they get.
    fn drop_given(&mut self, params: &Params) {
        let mut given = std::mem::take(&mut self.handed);
        let bound: crate::quick::QuickSet<Sym> = self.bindings.iter().map(|binding| binding.name).collect();
        given.retain(|given| {
            let is_ours = match self.exprs[given.callee.0 as usize] {
                Expr::Name(name) => bound.contains(&name),
                _ => true,
            };
            is_ours && self.parameter_at(given.value, given.scope, params).is_none()
        });
        self.handed = given;
    }

    fn charged(&self, mut scope: DefId) -> DefId {
        while scope != DefId::FILE && !self.kind(scope).runs() {
            scope = self.defs[scope.0 as usize].parent;
        }
        scope
    }
}
