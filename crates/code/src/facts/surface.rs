//! What other files can see of a file, piece by piece, each piece as a number: an edit concerns those who looked at a piece
//! whose number changed, and nobody else. No lines, no documentation, no uses; nothing that an edit elsewhere in the file
//! shifts, such as the places of definitions, expressions and imports.

use std::hash::{Hash, Hasher};

use super::{Argument, Bound, Def, DefId, DefKind, Expr, ExprId, Facts, How, Import, ImportForm, Sym};
use crate::language::Language;
use crate::quick::{Quick, QuickMap, QuickSet, fold};

/// A piece of a file that is looked at as one: a name of the file, or a member of one of its classes. Two that happen to
/// have the same number are one piece, which is coarser and still true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Facet(pub(crate) u32);

impl Facet {
    /// What is the file's as a whole: its package, and what it imports without naming it.
    pub(crate) const WHOLE: Facet = Facet(0);

    fn named(name: &str, member: Option<&str>) -> Self {
        let mut hash = Quick::default();
        (name, member).hash(&mut hash);
        Self(fold(hash.finish()) | 1)
    }
}

/// The pieces in which two states of a file differ.
pub(crate) fn differences(old: &Facts, new: &Facts) -> QuickSet<Facet> {
    let (old, new) = (facets(old), facets(new));
    let one_way = old.iter().filter(|(facet, digest)| new.get(facet) != Some(digest));
    let added = new.keys().filter(|facet| !old.contains_key(facet));
    one_way.map(|(facet, _)| *facet).chain(added.copied()).collect()
}

impl Facts {
    /// The piece that a definition belongs to.
    pub(crate) fn facet(&self, def: DefId) -> Facet {
        let (mut top, mut second) = (def, None);
        while self.def(top).parent != DefId::FILE && top != DefId::FILE {
            second = Some(top);
            top = self.def(top).parent;
        }
        if top == DefId::FILE {
            return Facet::WHOLE;
        }
        let outer = self.def(top);
        let member = second.filter(|_| outer.kind.has_members());
        Facet::named(self.text(outer.name), member.map(|inner| self.text(self.def(inner).name)))
    }

    /// The piece that a name of a scope belongs to, whether the scope has it or not.
    pub(crate) fn facet_of_name(&self, scope: DefId, name: &str) -> Facet {
        if scope == DefId::FILE {
            return Facet::named(name, None);
        }
        let def = self.def(scope);
        if def.parent == DefId::FILE && def.kind.has_members() {
            return Facet::named(self.text(def.name), Some(name));
        }
        self.facet(scope)
    }
}

/// All pieces of a file with their numbers.
fn facets(facts: &Facts) -> QuickMap<Facet, u64> {
    let mut digest = Digest::new(facts);
    digest.whole();
    for (id, def) in facts.each_def().skip(1) {
        digest.def(id, def);
    }
    digest.bindings();
    digest.hashes.into_iter().map(|(facet, hash)| (facet, hash.finish())).collect()
}

struct Digest<'f> {
    facts: &'f Facts,
    /// By expression.
    exprs: Vec<u64>,
    /// The piece of each definition, and the how manieth of it the definition is.
    homes: Vec<(Facet, u32)>,
    hashes: QuickMap<Facet, Quick>,
}

impl<'f> Digest<'f> {
    fn new(facts: &'f Facts) -> Self {
        let mut counts: QuickMap<Facet, u32> = QuickMap::default();
        let homes = facts.each_def().map(|(id, _)| {
            let facet = facts.facet(id);
            let count = counts.entry(facet).or_default();
            *count += 1;
            (facet, *count)
        });
        let homes = homes.collect();
        // An expression is made of earlier ones.
        let mut exprs: Vec<u64> = Vec::with_capacity(facts.exprs.len());
        for expr in &facts.exprs {
            let hash = hash_expr(facts, *expr, &exprs);
            exprs.push(hash);
        }
        Self { facts, exprs, homes, hashes: QuickMap::default() }
    }

    fn whole(&mut self) {
        let facts = self.facts;
        let mut hash = Quick::default();
        facts.package.map(|sym| facts.text(sym)).hash(&mut hash);
        for import in &facts.imports {
            let unnamed = matches!(import.form, ImportForm::All | ImportForm::ReexportAll);
            if unnamed || facts.language == Language::CSharp {
                hash_import(facts, import, &mut hash);
            }
        }
        for expr in &facts.def(DefId::FILE).returns {
            self.exprs[expr.0 as usize].hash(&mut hash);
        }
        self.hashes.insert(Facet::WHOLE, hash);
    }

    fn def(&mut self, id: DefId, def: &Def) {
        let facts = self.facts;
        let (facet, _) = self.homes[id.0 as usize];
        let parent = self.homes[def.parent.0 as usize];
        let hash = self.hashes.entry(facet).or_default();
        (facts.text(def.name), def.kind, parent, def.flags.0, def.wraps.is_some()).hash(hash);
        def.owner.map(|sym| facts.text(sym)).hash(hash);
        def.params.iter().for_each(|param| facts.text(param.name).hash(hash));
        for exprs in [def.result.as_slice(), &def.returns, &def.bases, &def.decorators] {
            exprs.len().hash(hash);
            exprs.iter().for_each(|expr| self.exprs[expr.0 as usize].hash(hash));
        }
        for run in &def.runs {
            (run.param, self.homes[run.by.0 as usize]).hash(hash);
            match run.how {
                How::Called => 0_u8.hash(hash),
                How::Asked(name) => (1_u8, facts.text(name)).hash(hash),
                How::Passed(callee, spot) => {
                    let spot = match spot {
                        Argument::At(place) => Ok(place),
                        Argument::Named(name) => Err(facts.text(name)),
                    };
                    (2_u8, self.exprs[callee.0 as usize], spot).hash(hash);
                }
            }
        }
    }

    /// A function's inner bindings count only if somebody outside depends on them: through its result, where nobody
    /// declared it, through an attribute that a method gives a value, or through the parents of a class in it.
    fn bindings(&mut self) {
        let facts = self.facts;
        let lent = facts.bindings.iter().filter(|binding| binding.within != binding.scope);
        let mut lends: QuickSet<DefId> = lent.map(|binding| binding.within).collect();
        lends.extend(facts.defs.iter().filter(|def| def.kind == DefKind::Class).map(|def| def.parent));
        for binding in &facts.bindings {
            let scope = facts.def(binding.scope);
            let closed = scope.kind.runs() || scope.kind == DefKind::Lambda;
            if closed && scope.returns.is_empty() && !lends.contains(&binding.scope) {
                continue;
            }
            let facet = facts.facet_of_name(binding.scope, facts.text(binding.name));
            let hash = self.hashes.entry(facet).or_default();
            let places = (self.homes[binding.scope.0 as usize], self.homes[binding.within.0 as usize]);
            (facts.text(binding.name), places).hash(hash);
            match binding.to {
                Bound::Def(id) => (0_u8, self.homes[id.0 as usize]).hash(hash),
                Bound::Import(place) => hash_import(facts, &facts.imports[place as usize], hash),
                Bound::Value(expr) => (1_u8, self.exprs[expr.0 as usize]).hash(hash),
                Bound::Typed(expr) => (2_u8, self.exprs[expr.0 as usize]).hash(hash),
                Bound::Param(place) => (3_u8, place).hash(hash),
                Bound::Global => 4_u8.hash(hash),
            }
        }
    }
}

fn hash_import(facts: &Facts, import: &Import, hash: &mut Quick) {
    let text = |sym: Option<Sym>| sym.map(|sym| facts.text(sym));
    (import.level, import.form as u8, facts.text(import.module)).hash(hash);
    (text(import.name), text(import.alias)).hash(hash);
}

fn hash_expr(facts: &Facts, expr: Expr, earlier: &[u64]) -> u64 {
    let mut hash = Quick::default();
    let known = |id: ExprId| earlier.get(id.0 as usize);
    std::mem::discriminant(&expr).hash(&mut hash);
    match expr {
        Expr::Name(name) => facts.text(name).hash(&mut hash),
        Expr::Member(of, name) | Expr::Begun(of, name) => (known(of), facts.text(name)).hash(&mut hash),
        Expr::Call(of) | Expr::Instance(of) | Expr::Element(of) | Expr::Enter(of) => {
            known(of).hash(&mut hash);
        }
        Expr::Index(one, other)
        | Expr::Items(one, other)
        | Expr::Either(one, other)
        | Expr::Takes(one, other) => {
            (known(one), known(other)).hash(&mut hash);
        }
        Expr::Import(place) => hash_import(facts, &facts.imports[place as usize], &mut hash),
        Expr::Nth(of, place) => (known(of), place).hash(&mut hash),
        Expr::Passed(of, spot) => (known(of), spot).hash(&mut hash),
        Expr::Unknown | Expr::This | Expr::Super | Expr::Text => {}
    }
    hash.finish()
}

/// Where the definitions of a file are after an edit: those that are the same by name, kind and place in their parent.
pub(crate) struct Moves {
    to: Vec<Option<DefId>>,
    /// Lines that others keep and that are others now, by the function they are in: its own, and those on which it calls what
    /// it was given.
    lines: QuickMap<(DefId, u32), u32>,
    /// Whether nothing that others keep of this file is at another place.
    pub(crate) none: bool,
}

impl Moves {
    pub(crate) fn between(old: &Facts, new: &Facts) -> Self {
        let places: QuickMap<u64, DefId> = identities(new)
            .into_iter()
            .zip(new.each_def())
            .map(|(identity, (id, _))| (identity, id))
            .collect();
        let to: Vec<_> = identities(old).iter().map(|identity| places.get(identity).copied()).collect();
        let mut lines = QuickMap::default();
        for (id, was) in old.each_def() {
            let Some(is) = to[id.0 as usize].map(|id| new.def(id)) else { continue };
            let runs = was.runs.iter().zip(&is.runs).map(|(was, is)| ((was.by, was.line), is.line));
            let wraps = was.wraps.zip(is.wraps).map(|(was, is)| ((id, was), is));
            let all = runs.chain(wraps).chain([((id, was.line), is.line)]);
            lines.extend(all.filter(|((_, was), is)| was != is));
        }
        let none = lines.is_empty() && old.each_def().all(|(id, _)| to[id.0 as usize] == Some(id));
        Self { to, lines, none }
    }

    /// What a line of a function that was kept is now, if it is another one.
    pub(crate) fn line(&self, by: DefId, line: u32) -> Option<u32> {
        self.lines.get(&(by, line)).copied()
    }

    pub(crate) fn of(&self, old: DefId) -> Option<DefId> {
        self.to.get(old.0 as usize).copied().flatten()
    }
}

/// A number for each definition that stays with it while others come and go.
fn identities(facts: &Facts) -> Vec<u64> {
    let mut seen: QuickMap<u64, u32> = QuickMap::default();
    let mut out: Vec<u64> = Vec::with_capacity(facts.defs.len());
    for def in &facts.defs {
        let mut hash = Quick::default();
        let parent = out.get(def.parent.0 as usize).copied();
        (parent, facts.text(def.name), def.kind, def.owner.map(|sym| facts.text(sym))).hash(&mut hash);
        let count = seen.entry(hash.finish()).or_default();
        *count += 1;
        count.hash(&mut hash);
        out.push(hash.finish());
    }
    out
}
