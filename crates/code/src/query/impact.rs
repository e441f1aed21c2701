//! Who is affected when a function changes: its callers, theirs, and so on.

use std::collections::HashSet;

use serde::Serialize;

use super::budget::{self, list_answer};
use super::find::{Missing, find};
use super::{Cut, Part, open};
use crate::facts::{DefKind, Flags};
use crate::memo::Snapshot;
use crate::project::{FileId, Place};
use crate::resolve::{Confidence, Edge, EdgeKind};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Impact {
    pub function: String,
    pub file: String,
    pub line: u32,
    pub callers: Vec<Caller>,
    /// Uses of the same bare name whose target is not known: calls of it, and where it runs without one, what runs it.
    pub unresolved: usize,
    #[serde(flatten)]
    pub cut: Cut,
}

/// A caller, and who calls it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Caller {
    pub function: String,
    pub file: String,
    /// Where it calls.
    pub lines: Vec<u32>,
    pub kind: EdgeKind,
    pub confidence: Confidence,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// Why the tree ends here, if there is more to say than that nobody calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// The callers of a function up to `depth` levels. A caller that was shown before is not opened again.
pub fn impact(snapshot: &Snapshot, name: &str, depth: usize, part: &Part) -> Result<Impact, Missing> {
    let places = find(snapshot, name, part)?;
    let first = places[0];
    let facts = snapshot.files.facts(first.file);
    let mut seen: HashSet<Place> = places.iter().copied().collect();
    let walk = Walk { snapshot, part };
    let callers = walk.callers(&places, depth.clamp(1, DEPTH), &mut seen);
    let bare = facts.text(facts.def(first.def).name);
    let cut = Cut { total: callers.len(), ..Cut::default() };
    Ok(Impact {
        function: facts.qualified(first.def).into_owned(),
        file: snapshot.files.path(first.file).to_owned(),
        line: facts.def(first.def).line,
        callers,
        unresolved: snapshot.graph.unresolved(bare) + open::uses(snapshot, first),
        cut,
    })
}

/// Deeper trees are nothing that anybody reads, and following them would take the stack.
const DEPTH: usize = 64;

struct Walk<'s> {
    snapshot: &'s Snapshot,
    part: &'s Part,
}

impl Walk<'_> {
    fn callers(&self, places: &[Place], depth: usize, seen: &mut HashSet<Place>) -> Vec<Caller> {
        let mut uses: Vec<(Place, Edge)> = Vec::new();
        for place in places.iter().flat_map(|place| self.aliases(*place)) {
            uses.extend(self.snapshot.graph.users(place).iter().map(|edge| (edge.from, *edge)));
        }
        let facts = |file: FileId| self.snapshot.files.facts(file);
        uses.retain(|(from, _)| {
            self.part.holds(self.snapshot.files.path(from.file), facts(from.file).language)
        });
        uses.sort_by(|(one, a), (other, b)| {
            let key = |place: &Place| self.snapshot.files.path(place.file);
            (key(one), one.def, a.line).cmp(&(key(other), other.def, b.line))
        });
        let mut out: Vec<Caller> = Vec::new();
        for group in uses.chunk_by(|(one, _), (other, _)| one == other) {
            out.push(self.caller(group, depth, seen));
        }
        out
    }

    /// One caller with all its calls.
    fn caller(&self, uses: &[(Place, Edge)], depth: usize, seen: &mut HashSet<Place>) -> Caller {
        let (place, first) = uses[0];
        let mut lines: Vec<u32> = uses.iter().map(|(_, edge)| edge.line).collect();
        lines.dedup();
        let confidence = uses.iter().map(|(_, edge)| edge.confidence).max().unwrap_or(first.confidence);
        let fresh = seen.insert(place);
        let more = !self.snapshot.graph.users(place).is_empty();
        let (callers, note) = match (fresh, depth > 1) {
            (false, _) => (Vec::new(), more.then_some("shown above")),
            (true, false) => (Vec::new(), more.then_some("depth reached")),
            (true, true) => (self.callers(&[place], depth - 1, seen), None),
        };
        Caller {
            function: self.snapshot.files.facts(place.file).qualified(place.def).into_owned(),
            file: self.snapshot.files.path(place.file).to_owned(),
            lines,
            kind: first.kind,
            confidence,
            callers,
            note,
        }
    }

    /// Making an object runs its constructor: who uses the one uses the other.
    fn aliases(&self, place: Place) -> Vec<Place> {
        let facts = self.snapshot.files.facts(place.file);
        let def = facts.def(place.def);
        let mut out = vec![place];
        if def.flags.has(Flags::CONSTRUCTOR) && facts.def(def.parent).kind == DefKind::Class {
            out.push(Place { file: place.file, def: def.parent });
        }
        if def.kind == DefKind::Class {
            let inner = facts
                .each_def()
                .filter(|(_, one)| one.parent == place.def && one.flags.has(Flags::CONSTRUCTOR));
            out.extend(inner.map(|(id, _)| Place { file: place.file, def: id }));
        }
        out
    }
}

/// Ends a tree that is too large higher up.
fn thin(caller: &mut Caller, room: usize) {
    for depth in (0..DEPTH).rev() {
        if budget::size(caller) <= room {
            return;
        }
        end_at(caller, depth);
    }
}

fn end_at(caller: &mut Caller, depth: usize) {
    if depth > 0 {
        caller.callers.iter_mut().for_each(|one| end_at(one, depth - 1));
    } else if !caller.callers.is_empty() {
        caller.callers.clear();
        caller.note = Some("more than fits");
    }
}

list_answer!(
    Impact,
    callers,
    |answer| {
    let mut out = format!("{} ({}:{})\n", answer.function, answer.file, answer.line);
    let mut left: Vec<(usize, &Caller)> = answer.callers.iter().rev().map(|caller| (1, caller)).collect();
    while let Some((depth, caller)) = left.pop() {
        let lines: Vec<String> = caller.lines.iter().map(u32::to_string).collect();
        let unsure = (caller.confidence == Confidence::Low).then_some("low confidence");
        let notes = unsure.into_iter().chain(caller.note).map(|note| format!(" ({note})"));
        out.push_str(&format!(
            "{}<- {} ({}:{}){}\n",
            "  ".repeat(depth),
            caller.function,
            caller.file,
            lines.join(","),
            notes.collect::<String>()
        ));
        left.extend(caller.callers.iter().rev().map(|caller| (depth + 1, caller)));
    }
    if answer.cut.total == 0 {
        out.push_str("  nobody calls it\n");
    }
    if answer.unresolved > 0 {
        out.push_str(&format!(
            "  unresolved uses of that name: {}\n",
            kit::text::thousands(answer.unresolved as u64)
        ));
    }
    out + &budget::tail(&answer.cut)
    },
    thin: thin
);
