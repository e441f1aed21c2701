//! What the pages promise: a line for every dependency and every crate, binaries that are shipped, licences we may
//! use.

use std::collections::BTreeSet;
use std::fs;

use crate::arrows::matches;
use crate::graph::{Graph, root};

pub(crate) fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_dependency_has_its_line_and_every_line_its_dependency() {
    let graph = Graph::load();
    let declared = graph.declared.values().chain(graph.development.values()).flatten();
    let used = declared.filter(|name| !graph.ours.contains(*name)).cloned().collect();
    assert_eq!(apart(&used, &crates_listed(&page("docs/dependencies.md"))), [] as [&str; 0]);
}

#[test]
fn every_crate_of_ours_is_in_the_table_of_the_house() {
    assert_eq!(apart(&Graph::load().ours, &crates_listed(&page("ARCHITECTURE.md"))), [] as [&str; 0]);
}

#[test]
fn every_binary_is_shipped_or_a_chore_or_a_probe_of_the_tests() {
    let shipped = |(package, name): &&(String, String)| {
        !["xtask", "testkit"].contains(&package.as_str()) && !name.ends_with("-probe")
    };
    let built: BTreeSet<String> = Graph::load()
        .binaries
        .iter()
        .filter(shipped)
        .map(|(package, name)| format!("{package}/{name}"))
        .collect();
    assert_eq!(apart(&built, &binaries_listed(&page("xtask/src/binaries.rs"))), [] as [&str; 0]);
}

#[test]
fn what_is_only_in_one_of_two_lists_is_found() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let used = names(&["clap", "serde", "tree-sitter-c", "tree-sitter-go"]);
    let found = apart(&used, &names(&["serde", "left-pad", "tree-sitter-*", "icu_*"]));
    assert_eq!(found, ["no line for clap", "icu_* has a line and no use", "left-pad has a line and no use"]);
}

#[test]
fn tables_of_crates_are_read_and_others_are_not() {
    let text = "| crate | why |\n|---|---|\n| `kit` | all |\n| `a-b` | `c` |\n\n| what | who |\n|---|---|\n| `x` | y |\n";
    assert_eq!(crates_listed(text), ["a-b", "kit"].map(str::to_owned).into());
    let text = "struct Binary {\n    name: &'static str,\n}\n[\n    Binary { name: \"a\", package: \"b\", size: None },\n    \
                Binary {\n        name: \"c\",\n        package: \"d\",\n    },\n]";
    assert_eq!(binaries_listed(text), ["b/a", "d/c"].map(str::to_owned).into());
}

/// What is used and not listed, then what is listed and not used. A star in a list stands for any ending.
fn apart(used: &BTreeSet<String>, listed: &BTreeSet<String>) -> Vec<String> {
    let missing = used.iter().filter(|name| !listed.iter().any(|line| matches(line, name)));
    let idle = listed.iter().filter(|line| !used.iter().any(|name| matches(line, name)));
    let missing = missing.map(|name| format!("no line for {name}"));
    missing.chain(idle.map(|line| format!("{line} has a line and no use"))).collect()
}

/// The first column of all tables whose first column is called `crate`.
fn crates_listed(text: &str) -> BTreeSet<String> {
    let tables = text.split("\n\n").filter(|block| block.trim_start().starts_with("| crate |"));
    let rows = tables.flat_map(str::lines).filter_map(|row| row.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(name, _)| name.to_owned()).collect()
}

/// `package/name` of the binaries that the chores build.
fn binaries_listed(text: &str) -> BTreeSet<String> {
    let field = |entry: &str, name: &str| {
        let (_, value) = entry.split_once(&format!(" {name}: \""))?;
        value.split_once('"').map(|(value, _)| value.to_owned())
    };
    let entries = text.split("Binary {").skip(1);
    entries
        .filter_map(|entry| Some(format!("{}/{}", field(entry, "package")?, field(entry, "name")?)))
        .collect()
}

#[test]
fn every_licence_is_one_that_we_allow() {
    let allowed: BTreeSet<String> = page("deny.toml")
        .lines()
        .skip_while(|line| !line.starts_with("allow = ["))
        .take_while(|line| !line.starts_with(']'))
        .filter_map(|line| Some(line.trim().strip_prefix('"')?.split('"').next()?.to_owned()))
        .collect();
    let refused: Vec<_> =
        Graph::load().licences.into_iter().filter(|(_, licence)| !permits(licence, &allowed)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_licence_expression_is_read_as_it_is_meant() {
    let allowed: BTreeSet<String> = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
    for good in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
        assert!(permits(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND BSL-1.0"] {
        assert!(!permits(bad, &allowed), "{bad}");
    }
}

/// Every part of a conjunction must be allowed by one of its alternatives. `X WITH exception` counts as `X`.
fn permits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    expression.replace('/', " OR ").split(" AND ").all(|part| {
        let part = part.replace(['(', ')'], "");
        part.split(" OR ").any(|name| {
            let plain = name.split(" WITH ").next().unwrap_or_default().trim();
            allowed.contains(name.trim()) || allowed.contains(plain)
        })
    })
}
