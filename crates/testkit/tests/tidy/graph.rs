//! The dependency graph as cargo tells it: who declares whom, and what it comes to in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

pub(crate) type Edges = BTreeMap<String, BTreeSet<String>>;

#[derive(Default)]
pub(crate) struct Graph {
    /// Packages of this workspace, by name.
    pub(crate) ours: BTreeSet<String>,
    /// What a package of ours declares, normal and build: for any platform, and behind any feature.
    pub(crate) declared: Edges,
    /// What its tests declare.
    pub(crate) development: Edges,
    /// Package and name of every binary of ours.
    pub(crate) binaries: BTreeSet<(String, String)>,
    /// Every package that we build with its licence.
    pub(crate) licences: BTreeSet<(String, String)>,
}

impl Graph {
    pub(crate) fn load() -> Graph {
        let metadata =
            cargo(&["metadata", "--format-version", "1", "--all-features", "--filter-platform", PLATFORM]);
        Graph::read(&serde_json::from_str(&metadata).unwrap())
    }

    fn read(metadata: &Value) -> Graph {
        let packages = list(&metadata["packages"]);
        let licence = |package: &Value| (text(&package["name"]), text(&package["license"]));
        let mut graph = Graph { licences: packages.iter().map(licence).collect(), ..Graph::default() };
        let members = list(&metadata["workspace_members"]);
        for package in packages.iter().filter(|package| members.contains(&package["id"])) {
            let name = text(&package["name"]);
            graph.ours.insert(name.clone());
            let (tests, ships) =
                list(&package["dependencies"]).iter().partition::<Vec<_>, _>(|edge| edge["kind"] == "dev");
            let targets = list(&package["targets"]).iter();
            let binaries = targets.filter(|target| list(&target["kind"]).iter().any(|kind| kind == "bin"));
            graph.binaries.extend(binaries.map(|target| (name.clone(), text(&target["name"]))));
            graph.declared.insert(name.clone(), ships.iter().map(|edge| text(&edge["name"])).collect());
            graph.development.insert(name, tests.iter().map(|edge| text(&edge["name"])).collect());
        }
        graph
    }
}

/// Everything that ends up in a binary of `package`, by name: with all its features, and for the platform we ship
/// for, since others bring dozens of packages that nobody builds. Not from the metadata, which mixes in what the
/// tests of other packages switch on.
pub(crate) fn closure(package: &str) -> BTreeSet<String> {
    let tree =
        ["tree", "--edges", "normal,build", "--prefix", "none", "--all-features", "--target", PLATFORM];
    let tree = cargo(&[&tree[..], &["--package", package]].concat());
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

const PLATFORM: &str = "x86_64-unknown-linux-gnu";

fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(args).arg("--locked").current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn what_is_declared_counts_behind_a_feature_and_on_any_platform() {
    let edge = |name: &str, kind: Value, target: Value| json!({"name": name, "kind": kind, "target": target, "optional": true, "rename": "other"});
    let dependencies = json!([
        edge("store", Value::Null, Value::Null),
        edge("rusqlite", Value::Null, json!("cfg(windows)")),
        edge("cc", json!("build"), Value::Null),
        edge("tokio", json!("dev"), Value::Null),
    ]);
    let targets = json!([{"name": "mcp", "kind": ["lib"]}, {"name": "probe", "kind": ["bin"]}]);
    let graph = Graph::read(&json!({
        "packages": [{"name": "mcp", "id": "m", "license": "MIT", "dependencies": dependencies, "targets": targets}],
        "workspace_members": ["m"],
    }));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(graph.declared["mcp"], names(&["store", "rusqlite", "cc"]));
    assert_eq!(graph.development["mcp"], names(&["tokio"]));
    assert_eq!(graph.binaries, [("mcp".to_owned(), "probe".to_owned())].into());
}
