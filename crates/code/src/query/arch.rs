//! How a program is layered: which folders call which, and where they call in circles.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::budget::{self, counted, list_answer};
use super::{Cut, Part};
use crate::memo::Snapshot;
use crate::project::{FileId, Place, split};
use crate::quick::QuickSet;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arch {
    /// Functions that call and are not called, of the part.
    pub entry_layer: usize,
    /// Functions that call and are called.
    pub middle_layer: usize,
    /// Functions that are called and call nothing of ours.
    pub leaf_layer: usize,
    pub directories: Vec<Directory>,
    /// Files that need each other, one group a circle.
    pub circular_dependencies: Vec<Vec<String>>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Directory {
    pub directory: String,
    pub functions: usize,
    /// Calls into other folders.
    pub calls_out: usize,
    /// Calls from other folders.
    pub calls_in: usize,
    pub layer: &'static str,
    /// Folders it calls into.
    pub depends_on: Vec<String>,
}

/// The layers of a part.
pub fn arch(snapshot: &Snapshot, part: &Part) -> Arch {
    let files: BTreeSet<FileId> = part.files(snapshot).map(|(id, _)| id).collect();
    let mut folders: BTreeMap<&str, Directory> = BTreeMap::new();
    for (id, entry) in part.files(snapshot) {
        let count = entry.facts.defs.iter().filter(|def| def.kind.runs()).count();
        if count > 0 {
            folder(&mut folders, split(snapshot.files.path(id)).0).functions += count;
        }
    }
    let (mut calling, mut called): (QuickSet<Place>, QuickSet<Place>) = Default::default();
    let mut needs: HashMap<FileId, BTreeSet<FileId>> = HashMap::new();
    for edge in snapshot.graph.edges() {
        let file = edge.from.file;
        if !files.contains(&file) || !files.contains(&edge.to.file) {
            continue;
        }
        let from = edge.from;
        if from != edge.to {
            calling.insert(from);
            called.insert(edge.to);
        }
        if file != edge.to.file {
            needs.entry(file).or_default().insert(edge.to.file);
        }
        let (here, there) = (split(snapshot.files.path(file)).0, split(snapshot.files.path(edge.to.file)).0);
        if here != there {
            let from = folder(&mut folders, here);
            from.calls_out += 1;
            if let Err(at) = from.depends_on.binary_search_by(|known| known.as_str().cmp(there)) {
                from.depends_on.insert(at, there.to_owned());
            }
            folder(&mut folders, there).calls_in += 1;
        }
    }
    let directories: Vec<Directory> = folders.into_values().map(layered).collect();
    let cut = Cut { total: directories.len(), ..Cut::default() };
    Arch {
        entry_layer: calling.difference(&called).count(),
        middle_layer: calling.intersection(&called).count(),
        leaf_layer: called.difference(&calling).count(),
        directories,
        circular_dependencies: circles(snapshot, &files, &needs),
        cut,
    }
}

fn folder<'m, 's>(folders: &'m mut BTreeMap<&'s str, Directory>, path: &'s str) -> &'m mut Directory {
    folders.entry(path).or_insert_with(|| Directory {
        directory: if path.is_empty() { ".".to_owned() } else { path.to_owned() },
        functions: 0,
        calls_out: 0,
        calls_in: 0,
        layer: "",
        depends_on: Vec::new(),
    })
}

/// A folder that calls out more than twice as often as it is called is high, the other way round low.
fn layered(mut one: Directory) -> Directory {
    one.layer = match (one.calls_out, one.calls_in) {
        (0, 0) => "isolated",
        (out, into) if out > 2 * into => "high",
        (out, into) if into > 2 * out => "low",
        _ => "middle",
    };
    one
}

/// Groups of files each of which leads to all others of its group. Tarjan's walk, with a stack of our own.
fn circles(
    snapshot: &Snapshot,
    files: &BTreeSet<FileId>,
    needs: &HashMap<FileId, BTreeSet<FileId>>,
) -> Vec<Vec<String>> {
    let none = BTreeSet::new();
    let mut walk = Walk::default();
    for start in files {
        if walk.numbers.contains_key(start) {
            continue;
        }
        let next = |id: &FileId| needs.get(id).unwrap_or(&none).iter().copied().collect::<Vec<_>>();
        let mut left = vec![(*start, next(start))];
        walk.enter(*start);
        while let Some((at, more)) = left.last_mut() {
            let at = *at;
            match more.pop() {
                Some(child) if !walk.numbers.contains_key(&child) => {
                    walk.enter(child);
                    left.push((child, next(&child)));
                }
                Some(child) => walk.see(at, child),
                None => {
                    left.pop();
                    walk.leave(at, left.last().map(|(parent, _)| *parent));
                }
            }
        }
    }
    let name = |id: &FileId| snapshot.files.path(*id).to_owned();
    let mut groups: Vec<Vec<String>> =
        walk.groups.iter().map(|group| group.iter().map(name).collect()).collect();
    groups.iter_mut().for_each(|group: &mut Vec<String>| group.sort());
    groups.sort();
    groups
}

#[derive(Default)]
struct Walk {
    numbers: HashMap<FileId, usize>,
    low: HashMap<FileId, usize>,
    open: Vec<FileId>,
    groups: Vec<Vec<FileId>>,
}

impl Walk {
    fn enter(&mut self, id: FileId) {
        let number = self.numbers.len();
        self.numbers.insert(id, number);
        self.low.insert(id, number);
        self.open.push(id);
    }

    fn see(&mut self, at: FileId, child: FileId) {
        if self.open.contains(&child) {
            let low = self.low[&at].min(self.numbers[&child]);
            self.low.insert(at, low);
        }
    }

    fn leave(&mut self, at: FileId, parent: Option<FileId>) {
        let low = self.low[&at];
        if low == self.numbers[&at] {
            let from = self.open.iter().position(|id| *id == at).expect("entered and not closed");
            let group = self.open.split_off(from);
            if group.len() > 1 {
                self.groups.push(group);
            }
        }
        if let Some(parent) = parent {
            let low = self.low[&parent].min(low);
            self.low.insert(parent, low);
        }
    }
}

list_answer!(Arch, directories, |answer| {
    let mut out =
        format!("entry {}, middle {}, leaf {}\n", answer.entry_layer, answer.middle_layer, answer.leaf_layer);
    for one in &answer.directories {
        out.push_str(&format!(
            "  {:8} {} ({}, {} out, {} in)\n",
            one.layer,
            one.directory,
            counted(one.functions, "function"),
            one.calls_out,
            one.calls_in
        ));
    }
    for group in &answer.circular_dependencies {
        out.push_str(&format!("  circle: {}\n", group.join(", ")));
    }
    out + &budget::tail(&answer.cut)
});
