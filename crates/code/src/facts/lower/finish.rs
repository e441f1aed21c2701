//! The end of the walk: names sorted, local noise dropped, methods brought home to their classes.

use super::Lower;
use crate::facts::{Argument, Binding, Bound, DefId, DefKind, Expr, Facts, How, SiteKind, Sym};
use crate::language::{Language, Reach};
use crate::quick::{QuickMap, QuickSet};

impl Lower<'_> {
    pub(super) fn finish(mut self) -> Facts {
        self.bring_home();
        self.find_wrappers();
        if self.language == Language::Python {
            self.find_runs();
        }
        self.drop_locals();
        let lines = self.defs[0].end_line;
        let (names, moved) = self.names.sorted();
        let mut facts = Facts {
            language: self.language,
            lines,
            package: self.package,
            names,
            defs: self.defs,
            exprs: self.exprs,
            bindings: self.bindings,
            imports: self.imports,
            sites: self.sites,
            given: self.handed,
            mentions: self.mentions.into_iter().collect(),
            exports: self.exports,
        };
        rename(&mut facts, &moved);
        facts.bindings.sort_by_key(|binding| (binding.scope, binding.name, binding.line));
        facts.bindings.dedup();
        facts.mentions.sort_unstable();
        facts.shrink();
        facts
    }

    /// A method written outside its class is a member of it, if the class is in this file.
    fn bring_home(&mut self) {
        let mut homes: QuickMap<Sym, DefId> = QuickMap::default();
        for (place, def) in (0..).zip(&self.defs) {
            if matches!(def.kind, DefKind::Class | DefKind::Object) {
                homes.entry(def.name).or_insert(DefId(place));
            }
        }
        let mut more = Vec::new();
        for (place, def) in (0..).zip(&self.defs) {
            if let Some(owner) = def.owner
                && let Some(home) = homes.get(&owner)
            {
                let binding = Binding {
                    scope: *home,
                    name: def.name,
                    to: Bound::Def(DefId(place)),
                    within: def.parent,
                    line: def.line,
                };
                more.push(binding);
            }
        }
        self.bindings.append(&mut more);
    }

    /// Functions that call a parameter of the function around them.
    fn find_wrappers(&mut self) {
        let params: QuickSet<(DefId, Sym)> = self
            .bindings
            .iter()
            .filter(|binding| matches!(binding.to, Bound::Param(_)))
            .map(|binding| (binding.scope, binding.name))
            .collect();
        for site in &self.sites {
            let Expr::Name(name) = self.exprs[site.expr.0 as usize] else { continue };
            let def = &self.defs[site.scope.0 as usize];
            let inner = def.kind == DefKind::Function && site.kind == SiteKind::Call && def.wraps.is_none();
            if inner && !params.contains(&(site.scope, name)) && params.contains(&(def.parent, name)) {
                self.defs[site.scope.0 as usize].wraps = Some(site.line);
            }
        }
    }

    /// Reading a local variable or an unknown global of a language without ambient names leads nowhere.
    fn drop_locals(&mut self) {
        let mut local: QuickSet<(DefId, Sym)> = QuickSet::default();
        let mut known: QuickSet<Sym> = QuickSet::default();
        for binding in &self.bindings {
            known.insert(binding.name);
            let is_code = matches!(
                self.defs[binding.scope.0 as usize].kind,
                DefKind::Function | DefKind::Method | DefKind::Property | DefKind::Lambda
            );
            if is_code && matches!(binding.to, Bound::Value(_) | Bound::Typed(_) | Bound::Param(_)) {
                local.insert((binding.scope, binding.name));
            }
        }
        // A name that a function is defined under stays one, whatever else it is given.
        for binding in
            self.bindings.iter().filter(|binding| matches!(binding.to, Bound::Def(_) | Bound::Import(_)))
        {
            local.remove(&(binding.scope, binding.name));
        }
        let imports_all = self.imports.iter().any(|import| import.form == crate::facts::ImportForm::All);
        let ambient = self.table.reach != Reach::File || imports_all || self.language == Language::Ruby;
        let (defs, exprs) = (&self.defs, &self.exprs);
        self.sites.retain(|site| {
            let Expr::Name(name) = exprs[site.expr.0 as usize] else { return true };
            if site.kind != SiteKind::Read {
                return true;
            }
            let mut scope = site.scope;
            loop {
                if local.contains(&(scope, name)) {
                    return false;
                }
                if scope == DefId::FILE {
                    return ambient || known.contains(&name);
                }
                scope = defs[scope.0 as usize].parent;
            }
        });
    }
}

/// Puts the sorted places of all names.
fn rename(facts: &mut Facts, moved: &[Sym]) {
    let new = |sym: &mut Sym| *sym = moved[sym.0 as usize];
    for def in &mut facts.defs {
        new(&mut def.name);
        new(&mut def.signature);
        for sym in [&mut def.owner, &mut def.doc, &mut def.result_text].into_iter().flatten() {
            new(sym);
        }
        def.base_texts.iter_mut().for_each(new);
        def.decorator_texts.iter_mut().for_each(new);
        for param in &mut def.params {
            new(&mut param.name);
            new(&mut param.text);
        }
        for run in &mut def.runs {
            match &mut run.how {
                How::Asked(name) | How::Passed(_, Argument::Named(name)) => new(name),
                How::Called | How::Passed(_, Argument::At(_)) => {}
            }
        }
    }
    for expr in &mut facts.exprs {
        if let Expr::Name(name) | Expr::Member(_, name) | Expr::Begun(_, name) = expr {
            new(name);
        }
    }
    for import in &mut facts.imports {
        new(&mut import.module);
        for sym in [&mut import.name, &mut import.alias].into_iter().flatten() {
            new(sym);
        }
    }
    facts.bindings.iter_mut().for_each(|binding| new(&mut binding.name));
    for given in &mut facts.given {
        if let Argument::Named(name) = &mut given.spot {
            new(name);
        }
    }
    facts.mentions.iter_mut().for_each(new);
    facts.exports.iter_mut().flatten().for_each(new);
    facts.package.iter_mut().for_each(new);
}

impl Facts {
    /// Gives back what growing left over.
    fn shrink(&mut self) {
        self.defs.shrink_to_fit();
        self.exprs.shrink_to_fit();
        self.bindings.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.sites.shrink_to_fit();
        self.given.shrink_to_fit();
    }
}
