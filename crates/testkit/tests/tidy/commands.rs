//! The commands that the README shows: each can be typed as it stands. Asks the built binaries for their help.

use std::collections::BTreeSet;
use std::process::Command;

use crate::graph::{Graph, root};
use crate::pages::page;

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
    let ours: BTreeSet<String> = Graph::load().binaries.into_iter().map(|(_, name)| name).collect();
    let help = |words: &[&str]| {
        let (program, verbs) = words.split_first()?;
        let known = ours.contains(*program).then(|| testkit::bin(program))?;
        let output = Command::new(known).args(verbs).arg("--help").output().unwrap();
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let wrong: Vec<String> =
        shell_lines(&page("README.md")).iter().filter_map(|line| wrong(line, &help)).collect();
    assert_eq!(wrong, [] as [&str; 0]);
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let help = |words: &[&str]| {
        let text = match words {
            ["scrimp"] => {
                "Usage: scrimp\n\nCommands:\n  savings  what was\n           saved\n  tour     a tour\n\nOptions:\n  -h, --help\n"
            }
            ["scrimp", "savings"] => "Usage: scrimp savings [--json]\n",
            ["scrimp", "tour"] => "Usage: scrimp tour [PLACE]\n",
            ["xtask"] => {
                "usage: cargo xtask <command>\n\n  test    what CI runs\n  install [--root DIR]\n          build\n"
            }
            _ => return None,
        };
        Some(text.to_owned())
    };
    for good in [
        "",
        "# nothing",
        "scrimp --help",
        "scrimp savings --json   # for programs; --frob",
        "scrimp tour here",
        "cargo run --release -- tour",
        "cargo xtask install --root DIR",
        "cargo xtask test",
        "cargo install --path crates/testkit",
    ] {
        assert_eq!(wrong(good, &help), None);
    }
    for (bad, why) in [
        ("drip teleport --now", "there is no `drip`"),
        ("scrimp Usage: --frob", "`scrimp` has no command `Usage:`"),
        ("scrimp saved", "`scrimp` has no command `saved`"),
        ("scrimp savings --frobnicate", "`scrimp savings` has no `--frobnicate`"),
        ("scrimp savings --js", "`scrimp savings` has no `--js`"),
        ("scrimp --json=1 savings", "`scrimp` has no `--json`"),
        ("cargo run --release -- build", "`scrimp` has no command `build`"),
        ("cargo xtask build", "`xtask` has no command `build`"),
        ("cargo xtask test --root DIR", "`xtask test` has no `--root`"),
        ("cargo install --path crates/nowhere", "there is no `crates/nowhere`"),
        ("cargo publish", "there is no `cargo publish`"),
        ("sudo rm -rf /", "there is no `sudo`"),
    ] {
        assert_eq!(wrong(bad, &help), Some(format!("`{bad}`: {why}")));
    }
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

/// Why a line cannot be typed. `help` is what a program of ours says of itself or of a command.
fn wrong(line: &str, help: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    let why = match words.as_slice() {
        [] => None,
        ["cargo", "xtask", rest @ ..] => chore(rest, &help(&["xtask"]).unwrap_or_default()),
        ["cargo", "run", "--release", "--", rest @ ..] => tool("scrimp", rest, help),
        ["cargo", "install", "--path", path] => {
            let exists = root().join(path).join("Cargo.toml").is_file();
            (!exists).then(|| format!("there is no `{path}`"))
        }
        ["cargo", verb, ..] => Some(format!("there is no `cargo {verb}`")),
        [program, rest @ ..] => tool(program, rest, help),
    };
    why.map(|why| format!("`{line}`: {why}"))
}

/// Words go down the tree of commands for as long as there are any below; then they are arguments.
fn tool(program: &str, rest: &[&str], help: &dyn Fn(&[&str]) -> Option<String>) -> Option<String> {
    let mut path = vec![program];
    let Some(mut text) = help(&path) else { return Some(format!("there is no `{program}`")) };
    for word in rest {
        let commands = commands(&text);
        if word.starts_with('-') {
            if let Some(why) = flag(&path.join(" "), word, &text) {
                return Some(why);
            }
        } else if commands.contains(word) {
            path.push(word);
            text = help(&path).unwrap_or_default();
        } else if !commands.is_empty() {
            return Some(format!("`{}` has no command `{word}`", path.join(" ")));
        }
    }
    None
}

/// The help of the chores is one page with an entry for each.
fn chore(rest: &[&str], help: &str) -> Option<String> {
    let (name, rest) = rest.split_first()?;
    let Some(entry) = help.lines().find(|line| line.starts_with(&format!("  {name} "))) else {
        return Some(format!("`xtask` has no command `{name}`"));
    };
    let flags = rest.iter().filter(|word| word.starts_with('-'));
    flags.filter_map(|word| flag(&format!("xtask {name}"), word, entry)).next()
}

fn flag(whose: &str, word: &str, help: &str) -> Option<String> {
    let name = word.split('=').next().unwrap();
    let known =
        help.split(|letter: char| !letter.is_alphanumeric() && letter != '-').any(|word| word == name);
    (!known).then(|| format!("`{whose}` has no `{name}`"))
}

/// The first words of the section that lists commands; deeper lines are the rest of a description.
fn commands(help: &str) -> Vec<&str> {
    let section = help.lines().skip_while(|line| !line.eq_ignore_ascii_case("commands:")).skip(1);
    let section: Vec<&str> = section.take_while(|line| line.starts_with(' ')).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = section.iter().map(|line| indent(line)).min();
    let entries = section.iter().filter(|line| Some(indent(line)) == least);
    entries.filter_map(|line| line.split_whitespace().next()).collect()
}
