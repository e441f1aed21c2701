//! The files of a project as a tree. Of paths only.

use serde::Serialize;

use super::{Answer, Cut, budget};

/// Folders and files below a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tree {
    #[serde(flatten)]
    pub root: Node,
    #[serde(flatten)]
    pub cut: Cut,
    #[serde(skip)]
    paths: Vec<String>,
}

/// A folder with children, or a file with its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<Node>>,
}

/// The tree of `paths`, which are relative to the folder called `name`.
pub fn tree(name: &str, paths: impl IntoIterator<Item = String>) -> Tree {
    let mut paths: Vec<String> = paths.into_iter().collect();
    paths.sort_unstable();
    paths.dedup();
    let cut = Cut { total: paths.len(), ..Cut::default() };
    Tree { root: grow(name, &paths), cut, paths }
}

fn grow(name: &str, paths: &[String]) -> Node {
    let mut root = folder(name);
    for path in paths {
        let mut at = &mut root;
        let parts: Vec<&str> = path.split('/').collect();
        let (file, folders) = parts.split_last().expect("a split has a part");
        for part in folders {
            let children = at.children.get_or_insert_default();
            // Paths are sorted, so the folder is the last one or a new one.
            if children.last().is_none_or(|last| last.name != *part || last.kind != "dir") {
                children.push(folder(part));
            }
            at = children.last_mut().expect("just put there");
        }
        let leaf = Node { name: (*file).to_owned(), kind: "file", path: Some(path.clone()), children: None };
        at.children.get_or_insert_default().push(leaf);
    }
    root
}

fn folder(name: &str) -> Node {
    Node { name: name.to_owned(), kind: "dir", path: None, children: Some(Vec::new()) }
}

impl Answer for Tree {
    fn count(&self) -> usize {
        self.paths.len()
    }

    /// A file with, at worst, all of its folders.
    fn weight(&self, item: usize) -> usize {
        let path = &self.paths[item];
        let shared = item.checked_sub(1).map_or(0, |before| common(&self.paths[before], path));
        let folders = path[shared..].matches('/').count();
        2 * path.len() - shared + 40 + folders * 42
    }

    fn envelope(&mut self) -> usize {
        budget::size(&folder(&self.root.name))
    }

    fn keep(&mut self, from: usize, count: usize, cut: Cut) {
        self.paths = self.paths[from..from + count].to_vec();
        self.root = grow(&self.root.name, &self.paths);
        self.cut = cut;
    }

    fn text(&self) -> String {
        let mut out = format!("{}/\n", self.root.name);
        let mut left: Vec<(usize, &Node)> =
            self.root.children.iter().flatten().rev().map(|node| (1, node)).collect();
        while let Some((depth, node)) = left.pop() {
            let slash = if node.kind == "dir" { "/" } else { "" };
            out.push_str(&format!("{}{}{slash}\n", "  ".repeat(depth), kit::text::plain(&node.name)));
            left.extend(node.children.iter().flatten().rev().map(|child| (depth + 1, child)));
        }
        out + &budget::tail(&self.cut)
    }
}

/// How many bytes two paths share up to their last common slash.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.as_bytes()[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |place| place + 1)
}
