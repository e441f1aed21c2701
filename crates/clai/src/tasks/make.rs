//! Targets of a makefile, by two ways: reading it (the default, which runs nothing), or asking make itself.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{Job, Keep, minimal_environment};

use super::offer::Offers;
use super::project::Project;
use super::{Kind, Task};

/// Files that a makefile may include and that we read too, one level deep.
const INCLUDES: usize = 16;
/// Enough for those of every honest makefile, most of which are files; and what one of them may say.
const TARGETS: usize = 10_000;
const DESCRIPTION: usize = 400;

pub(super) fn parse(project: &mut Project, text: &str) -> Result<(), String> {
    let mut rules = Rules::default();
    rules.read(text);
    let included: Vec<_> = rules.includes.drain(..).take(INCLUDES).collect();
    for file in included {
        if let Some(text) = project.read(&file) {
            rules.read(&text);
        }
    }
    for Target { name, description } in &rules.targets {
        // What has a dot or a slash and is not declared phony is a file to be made on the way to something.
        if rules.phony.contains(name) || !name.contains(['.', '/']) {
            project.offer(Kind::Make, "make", name, description);
        }
    }
    Ok(())
}

/// The job that prints make's own database, for [`from_database`]. The caller runs it, and only when the user has
/// said so for this repository.
///
/// *Why it is better than reading:* it knows targets that variables, functions and included files make.
///
/// *Why it is not the default:* make evaluates the makefile. Every `$(shell …)` and `!=` in it runs, makefiles that can
/// be remade are remade, all with the user's rights and before any target was asked for. And it takes as long
/// as the makefile likes: the deadline ends it, and what it had printed by then is no database.
pub fn database(make: &Path, directory: &Path, env: &Environment, deadline: Duration) -> Job {
    Job::new(make)
        .envs(minimal_environment(env, &[]))
        .env("LC_ALL", "C")
        // A goal that never exists, so that not even lines marked `+` run.
        .args(["--question", "--print-data-base", "--no-builtin-rules", "--no-print-directory", ".DEFAULT"])
        .cwd(directory)
        // That of the Linux kernel has 3 MB.
        .keep(Keep { head: 8 << 20, ..Keep::default() })
        .deadline(deadline)
}

/// Targets from what [`database`] printed. None if it was cut short.
pub fn from_database(output: &str) -> Option<Vec<Task>> {
    let (_, files) = output.split_once("\n# Files\n")?;
    let (files, _) = files.split_once("\n# files hash-table stats:")?;
    let mut offers = Offers::default();
    for block in files.split("\n\n") {
        let is_phony = block.contains("\n#  Phony target");
        let mut lines = block.lines().skip_while(|line| line.is_empty());
        // `# Not a target:` is what make only heard of.
        let Some((targets, _)) = lines.next().filter(|line| !line.starts_with('#')).and_then(split_rule)
        else {
            continue;
        };
        for name in targets.split_whitespace().filter(|name| is_target(name)) {
            if is_phony || !name.contains(['.', '/']) {
                offers.add(Kind::Make, name, "make", name, "");
            }
        }
    }
    Some(offers.tasks)
}

#[derive(Debug, Default)]
struct Rules {
    targets: Vec<Target>,
    phony: HashSet<String>,
    includes: Vec<String>,
}

#[derive(Debug)]
struct Target {
    name: String,
    description: String,
}

impl Rules {
    fn read(&mut self, text: &str) {
        let mut description = String::new();
        let mut defining = false;
        for line in logical_lines(text) {
            if line.starts_with('\t') {
                continue;
            }
            let line = line.trim();
            let first = line.split([' ', '\t']).next().unwrap_or_default();
            if defining {
                defining = first != "endef";
                continue;
            }
            match first {
                "define" => defining = true,
                "include" | "-include" | "sinclude" => self.include(&line[first.len()..]),
                "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" | "vpath" | "export"
                | "unexport" | "override" | "undefine" | "private" => {}
                _ if line.starts_with("##") => {
                    // `##@` is a heading.
                    let text = line.trim_start_matches('#').trim();
                    description = if text.starts_with('@') { String::new() } else { text.to_owned() };
                }
                _ if line.is_empty() => description.clear(),
                _ => self.rule(line, &mut description),
            }
        }
    }

    fn include(&mut self, files: &str) {
        let files = files.split('#').next().unwrap_or_default().split_whitespace();
        self.includes.extend(files.filter(|file| !file.contains(['$', '*', '?', '['])).map(str::to_owned));
    }

    fn rule(&mut self, line: &str, above: &mut String) {
        let Some((targets, rest)) = split_rule(line) else { return };
        if targets.trim() == ".PHONY" {
            let names = rest.split('#').next().unwrap_or_default();
            self.phony.extend(names.split_whitespace().map(str::to_owned));
            return;
        }
        let beside = rest.split_once("##").map(|(_, text)| text.trim().to_owned());
        let description = beside.unwrap_or_else(|| std::mem::take(above));
        above.clear();
        let description = kit::text::head(&description, DESCRIPTION);
        let room = TARGETS.saturating_sub(self.targets.len());
        for name in targets.split_whitespace().filter(|name| is_target(name)).take(room) {
            // Some write `## name: text` above the rule.
            let text =
                description.strip_prefix(name).and_then(|text| text.trim_start().strip_prefix([':', '-']));
            let text = text.unwrap_or(description).trim();
            self.targets.push(Target { name: name.to_owned(), description: text.to_owned() });
        }
    }
}

/// Lines with those joined that a backslash joins.
fn logical_lines(text: &str) -> impl Iterator<Item = String> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let mut line = lines.next()?.to_owned();
        while !(line.len() - line.trim_end_matches('\\').len()).is_multiple_of(2) {
            line.pop();
            line.push(' ');
            match lines.next() {
                Some(next) => line.push_str(next.trim_start()),
                None => break,
            }
        }
        Some(line)
    })
}

/// The targets of a rule, with references to variables as a lone `$`, and what follows the colon. None for all that
/// is no rule: assignments of any kind (`=`, `:=`, `::=`, `?=`, `+=`, `!=`), also for one target only.
fn split_rule(line: &str) -> Option<(String, &str)> {
    let mut targets = String::new();
    let mut depth = 0usize;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' if depth > 0 || targets.ends_with('$') => depth += 1,
            ')' | '}' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            '#' | '=' => return None,
            ':' => {
                let rest = line[at..].trim_start_matches(':');
                return (!rest.starts_with('=') && !assigns(rest)).then_some((targets, rest));
            }
            c => targets.push(c),
        }
    }
    None
}

/// Whether what follows the colon gives a variable a value for this target.
fn assigns(rest: &str) -> bool {
    let mut depth = 0usize;
    for c in rest.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ';' | '#' if depth == 0 => return false,
            '=' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// A target that a person can ask for: no pattern, no variable, nothing special.
fn is_target(name: &str) -> bool {
    !name.starts_with('.')
        && name != "&"
        && !name.contains(['%', '$', '*', '?', '[', ']', '\\', '~', '"', '(', ')'])
}
