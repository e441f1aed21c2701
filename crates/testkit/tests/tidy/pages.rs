//! What the pages promise: commands that exist, a line for every dependency, licences we may use.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::graph::{Graph, root};

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Lines of the shell blocks of a page.
fn shell_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(kind) => inside = !inside && matches!(kind, "sh" | "console"),
            None if inside => lines.push(line.trim_start_matches("$ ").to_owned()),
            None => {}
        }
    }
    lines
}

#[test]
fn the_readme_has_its_two_commands_and_ci_runs_the_second() {
    let lines = shell_lines(&page("README.md"));
    for wanted in ["cargo run --release -- tour", "cargo xtask test"] {
        assert!(lines.iter().any(|line| line.starts_with(wanted)), "the README does not say `{wanted}`");
    }
    assert!(page(".ci/run").contains("cargo xtask test"));
}

#[test]
fn every_command_that_the_readme_shows_exists() {
    let help = |command: &mut Command| String::from_utf8(command.output().unwrap().stdout).unwrap();
    let front = help(Command::new(testkit::bin("scrimp")).arg("--help"));
    let chores = page("xtask/src/main.rs");
    for line in shell_lines(&page("README.md")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let known = match words.as_slice() {
            ["cargo", "xtask", chore, ..] => chores.contains(&format!("[\"{chore}\"")),
            ["cargo", "run", "--release", "--", verb, ..] | ["scrimp", verb, ..] => {
                front.lines().any(|help| help.split_whitespace().next() == Some(verb))
            }
            ["cargo", "install", "--path", path, ..] => root().join(path).join("Cargo.toml").is_file(),
            _ => true,
        };
        assert!(known, "the README shows `{line}`, which does not exist");
    }
}

#[test]
fn every_direct_dependency_has_its_line() {
    let graph = Graph::load();
    let text = page("docs/dependencies.md");
    let direct = graph.ours.iter().flat_map(|ours| graph.direct[ours].iter().chain(&graph.development[ours]));
    let named: BTreeSet<&String> = direct.filter(|name| !graph.ours.contains(*name)).collect();
    let missing: Vec<_> = named.iter().filter(|name| !text.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "docs/dependencies.md has no line for {missing:?}");
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
