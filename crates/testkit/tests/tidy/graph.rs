//! The dependency graph as cargo tells it: who depends on whom, directly and in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

pub(crate) struct Graph {
    /// Packages of this workspace, by name.
    pub(crate) ours: BTreeSet<String>,
    /// Names of what a package of ours depends on directly, normal and build edges.
    pub(crate) direct: BTreeMap<String, BTreeSet<String>>,
    /// The same with development edges.
    pub(crate) development: BTreeMap<String, BTreeSet<String>>,
    /// Every package with its licence.
    pub(crate) licences: BTreeMap<String, String>,
    /// Normal and build edges between package ids.
    edges: BTreeMap<String, BTreeSet<String>>,
    names: BTreeMap<String, String>,
}

impl Graph {
    pub(crate) fn load() -> Graph {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]).current_dir(root());
        cargo.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Graph::read(&serde_json::from_slice(&output.stdout).unwrap())
    }

    fn read(metadata: &Value) -> Graph {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let packages = metadata["packages"].as_array().unwrap();
        let names: BTreeMap<_, _> =
            packages.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
        let licences =
            packages.iter().map(|package| (text(&package["name"]), text(&package["license"]))).collect();
        let members = metadata["workspace_members"].as_array().unwrap();
        let ours = members.iter().map(|id| names[&text(id)].clone()).collect();
        let (mut direct, mut development, mut edges) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for node in metadata["resolve"]["nodes"].as_array().unwrap() {
            let (mut kept, mut tested) = (BTreeSet::new(), BTreeSet::new());
            for dependency in node["deps"].as_array().unwrap() {
                let kinds = dependency["dep_kinds"].as_array().unwrap();
                if kinds.iter().any(|kind| kind["kind"] == "dev") {
                    tested.insert(text(&dependency["pkg"]));
                }
                if kinds.iter().any(|kind| kind["kind"] != "dev") {
                    kept.insert(text(&dependency["pkg"]));
                }
            }
            let id = text(&node["id"]);
            let name_all = |ids: &BTreeSet<String>| ids.iter().map(|id| names[id].clone()).collect();
            direct.insert(names[&id].clone(), name_all(&kept));
            development.insert(names[&id].clone(), name_all(&tested));
            edges.insert(id, kept);
        }
        Graph { ours, direct, development, licences, edges, names }
    }

    /// Everything that ends up in a binary of `package`, by name.
    pub(crate) fn closure(&self, package: &str) -> BTreeSet<String> {
        let start = self.names.iter().filter(|(_, name)| *name == package).map(|(id, _)| id.clone());
        let mut todo: Vec<String> = start.collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = todo.pop() {
            if seen.insert(id.clone()) {
                todo.extend(self.edges[&id].iter().cloned());
            }
        }
        seen.iter().map(|id| self.names[id].clone()).collect()
    }
}
