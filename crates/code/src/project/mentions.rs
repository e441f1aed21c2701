//! How many files use, write or give on each name. Sums over files, so that an edit costs its own file and not a look at
//! all others. Names go by a number; two that shared one would only make something look used. Knows no question.

use std::hash::{Hash, Hasher};

use super::Entry;
use crate::facts::{DefId, Expr, Facts, Sym};
use crate::quick::{Quick, QuickMap};

#[derive(Clone, Default)]
pub(crate) struct Mentions(QuickMap<u64, Count>);

/// In how many files a name is met.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Where something of that name is called or read.
    pub(crate) used: u32,
    /// In types, imports and texts.
    pub(crate) written: u32,
    /// Imported by a package, to be given on.
    pub(crate) given: u32,
}

impl Mentions {
    pub(super) fn came(&mut self, entry: &Entry) {
        for (name, count) in said(entry) {
            let known = self.0.entry(name).or_default();
            known.used += count.used;
            known.written += count.written;
            known.given += count.given;
        }
    }

    pub(super) fn went(&mut self, entry: &Entry) {
        for (name, count) in said(entry) {
            let known = self.0.get_mut(&name).expect("what goes came before");
            known.used -= count.used;
            known.written -= count.written;
            known.given -= count.given;
            if *known == Count::default() {
                self.0.remove(&name);
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Count {
        self.0.get(&number(name)).copied().unwrap_or_default()
    }
}

/// The names that a file uses as such or as a member, with the scopes they stand in.
pub(crate) fn used(facts: &Facts) -> impl Iterator<Item = (Sym, DefId)> {
    facts.sites.iter().filter_map(|site| match facts.expr(site.expr) {
        Expr::Name(sym) | Expr::Member(_, sym) => Some((sym, site.scope)),
        _ => None,
    })
}

/// What one file adds: each name once, however often it is met.
fn said(entry: &Entry) -> Vec<(u64, Count)> {
    let facts = &entry.facts;
    let mut counts = vec![Count::default(); facts.names.len()];
    used(facts).for_each(|(sym, _)| counts[sym.0 as usize].used = 1);
    facts.mentions.iter().for_each(|sym| counts[sym.0 as usize].written = 1);
    if entry.path.ends_with("__init__.py") {
        let given = facts.imports.iter().filter_map(|import| import.name);
        given.for_each(|sym| counts[sym.0 as usize].given = 1);
    }
    let met = counts.into_iter().enumerate().filter(|(_, count)| *count != Count::default());
    met.map(|(place, count)| (number(facts.names.get(place)), count)).collect()
}

fn number(name: &str) -> u64 {
    let mut hash = Quick::default();
    name.hash(&mut hash);
    hash.finish()
}
