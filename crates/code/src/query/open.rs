//! Uses that may be of a function without naming it for certain: a property that is read, a class that is passed on, a method
//! that the language calls for a loop, an index or a text, and uses of the method of a parent that it stands in for.

use crate::facts::{DefKind, Expr, Facts, Site, SiteKind};
use crate::memo::Snapshot;
use crate::project::{FileId, Place, family};
use crate::quick::QuickSet;
use crate::resolve;

/// How many uses there are that may run a definition, and of which nobody knows what they run.
pub(super) fn uses(snapshot: &Snapshot, place: Place) -> usize {
    let facts = snapshot.files.facts(place.file);
    let def = facts.def(place.def);
    let name = facts.text(def.name);
    let stands_in = resolve::overridden(&snapshot.files, place);
    let users = |place: Place| snapshot.graph.users(place).iter().map(|edge| (edge.from, edge.line));
    let known: QuickSet<_> = users(place).collect();
    let as_parent = stands_in.into_iter().flat_map(users).filter(|user| !known.contains(user)).count();
    let is_asked = name.starts_with("__") && name.ends_with("__");
    if !is_asked && !matches!(def.kind, DefKind::Property | DefKind::Class) {
        return as_parent;
    }
    let alike = snapshot.files.each().filter(|(_, entry)| entry.facts.language == facts.language);
    alike.map(|(id, entry)| in_file(snapshot, id, &entry.facts, name)).sum::<usize>() + as_parent
}

fn in_file(snapshot: &Snapshot, file: FileId, facts: &Facts, name: &str) -> usize {
    if name == "__call__" {
        return called_values(snapshot, file, facts);
    }
    let sym = facts.sym(name);
    let may_run = |site: &&Site| match site.kind {
        SiteKind::Read | SiteKind::Write => sym.is_some_and(|sym| match facts.expr(site.expr) {
            Expr::Member(_, one) | Expr::Name(one) => one == sym,
            _ => false,
        }),
        kind => kind.asks().iter().any(|few| few.contains(&name)),
    };
    let mut open = facts.sites.iter().filter(may_run).peekable();
    if open.peek().is_none() {
        return 0;
    }
    let edges = snapshot.graph.part(file).into_iter().flat_map(|part| &part.edges);
    let known: QuickSet<_> = edges
        .filter(|edge| {
            let facts = snapshot.files.facts(edge.to.file);
            facts.text(facts.def(edge.to.def).name) == name
        })
        .map(|edge| (edge.from.def, edge.line))
        .collect();
    open.filter(|site| !known.contains(&(facts.charged(site.scope), site.line))).count()
}

/// Calls of what no definition goes by the name of: a value is called, and any value may be.
fn called_values(snapshot: &Snapshot, file: FileId, facts: &Facts) -> usize {
    let index = snapshot.files.index();
    let is_value = |name: &str| index.named(family(facts.language), name).is_empty();
    let open = snapshot.graph.part(file).into_iter().flat_map(|part| &part.unresolved);
    open.filter(|call| is_value(&call.name)).count()
}
