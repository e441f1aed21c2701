//! Who may know whom, and which dependency may live where.

use std::collections::BTreeSet;

use crate::graph::{Edges, Graph, closure};

/// The house: a crate and what it may depend on, normal and build edges.
const ARROWS: &[(&str, &[&str])] = &[
    ("kit", &[]),
    ("wire", &["kit"]),
    ("store", &["kit"]),
    ("llm", &["kit"]),
    ("code", &["kit"]),
    ("mcp", &["kit", "wire"]),
    ("clai-hook", &["kit", "wire"]),
    ("embed", &["kit"]),
    ("clai", &["kit", "wire", "store"]),
    ("drip", &["kit", "wire", "store", "mcp"]),
    ("tldr", &["kit", "wire", "store", "mcp", "code", "embed"]),
    ("conversation", &["kit", "llm"]),
    ("chibi", &["kit", "store", "mcp", "llm", "conversation"]),
    ("agent", &["kit", "wire", "store", "mcp", "llm", "conversation", "chibi", "drip"]),
    (
        "scrimp",
        &[
            "kit",
            "wire",
            "store",
            "llm",
            "code",
            "mcp",
            "embed",
            "clai",
            "drip",
            "tldr",
            "conversation",
            "chibi",
            "agent",
        ],
    ),
    ("testkit", &[]),
    ("xtask", &[]),
];

/// Dependencies that only these crates may name, normal and build edges. A star stands for any ending.
const FENCES: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("libsqlite3-sys", &[]),
    ("tree-sitter*", &["code"]),
    ("ureq", &["llm"]),
    ("rustls*", &["llm"]),
    ("portable-pty", &["testkit"]),
    ("vt100", &["testkit"]),
];

/// Not even behind another dependency, in anything we ship.
const NOWHERE: &[&str] = &["tokio", "async-std", "smol", "async-executor", "futures-executor", "openssl-sys"];

/// What every tool carries stands on std and one crate.
const KIT: &[&str] = &["rustix"];

/// Everything that may end up in the binary that runs at every prompt.
const CLAI_HOOK: &[&str] = &[
    "clai-hook",
    "kit",
    "wire",
    "bitflags",
    "errno",
    "itoa",
    "lexopt",
    "libc",
    "linux-raw-sys",
    "md5",
    "memchr",
    "proc-macro2",
    "quote",
    "rustix",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "zmij",
];

#[test]
fn every_arrow_between_our_crates_is_in_the_plan() {
    let graph = Graph::load();
    assert_eq!(unplanned(&graph.ours, &graph.declared), Vec::<String>::new());
}

#[test]
fn an_arrow_that_is_not_in_the_plan_is_found() {
    let ours: BTreeSet<String> = ["kit", "store", "scrimp"].map(str::to_owned).into();
    let mut edges = Edges::from([("kit".to_owned(), ["store".to_owned()].into())]);
    assert_eq!(unplanned(&ours, &edges), ["kit -> store is not in the plan"]);
    edges = Edges::from([("scrimp".to_owned(), ["store".to_owned(), "serde".to_owned()].into())]);
    assert_eq!(unplanned(&ours, &edges), Vec::<String>::new());
    let stranger = BTreeSet::from(["utils".to_owned()]);
    assert_eq!(unplanned(&stranger, &Edges::new()), ["utils has no place in the plan"]);
}

#[test]
fn fenced_dependencies_stay_where_they_belong() {
    assert_eq!(trespassers(&Graph::load().declared), Vec::<String>::new());
}

#[test]
fn a_dependency_outside_its_fence_is_found() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let edges = Edges::from([
        ("store".to_owned(), names(&["rusqlite", "serde"])),
        ("mcp".to_owned(), names(&["rusqlite", "tree-sitter-rust", "tokio"])),
        ("testkit".to_owned(), names(&["vt100"])),
    ]);
    assert_eq!(trespassers(&edges), ["mcp names rusqlite", "mcp names tokio", "mcp names tree-sitter-rust"]);
}

#[test]
fn nothing_we_ship_brings_an_async_runtime() {
    for ours in Graph::load().ours.iter().filter(|ours| *ours != "testkit") {
        let closure = closure(ours);
        let found: Vec<_> = NOWHERE.iter().filter(|name| closure.contains(**name)).collect();
        assert!(found.is_empty(), "{ours} brings {found:?}");
    }
}

#[test]
fn the_kit_stands_on_std_and_rustix_alone() {
    let graph = Graph::load();
    assert_eq!(graph.declared["kit"], KIT.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn the_hook_brings_only_what_is_listed() {
    let closure = closure("clai-hook");
    let surplus: Vec<_> = closure.iter().filter(|name| !CLAI_HOOK.contains(&name.as_str())).collect();
    assert!(surplus.is_empty(), "not on the list: {surplus:?}");
}

fn unplanned(ours: &BTreeSet<String>, edges: &Edges) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in ours {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            wrong.push(format!("{name} has no place in the plan"));
            continue;
        };
        let known = edges.get(name).into_iter().flatten().filter(|to| ours.contains(*to));
        wrong.extend(
            known
                .filter(|to| !allowed.contains(&to.as_str()))
                .map(|to| format!("{name} -> {to} is not in the plan")),
        );
    }
    wrong
}

/// Who names what is fenced off from it.
fn trespassers(edges: &Edges) -> Vec<String> {
    let nowhere = NOWHERE.iter().map(|name| (*name, &[][..]));
    let fences: Vec<(&str, &[&str])> = FENCES.iter().copied().chain(nowhere).collect();
    let outside = |ours: &str, name: &str| {
        fences.iter().any(|(fenced, homes)| matches(fenced, name) && !homes.contains(&ours))
    };
    let named = edges.iter().flat_map(|(ours, names)| names.iter().map(move |name| (ours, name)));
    named
        .filter(|(ours, name)| outside(ours, name))
        .map(|(ours, name)| format!("{ours} names {name}"))
        .collect()
}

pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}
