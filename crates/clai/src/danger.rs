//! Commands that destroy what no undo brings back. Judged on words, each command of a line for itself, behind
//! `sudo` and its like; works on lines and on templates. Whether to warn, to rank lower or to hide is the caller's
//! matter.
//!
//! `git push --force-with-lease` is not in here: it is what careful people type instead of `--force`.

mod rules;

use crate::words::{self, Role, Segment};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Danger {
    /// Fits behind "it": `deletes a tree of files`.
    pub why: &'static str,
}

pub fn danger(line: &str) -> Option<Danger> {
    // A shell within a shell within a shell: deeper ones are not typed by people.
    const DEPTH: usize = 3;
    judge(line, DEPTH).map(|why| Danger { why })
}

fn judge(line: &str, depth: usize) -> Option<&'static str> {
    if is_fork_bomb(line) {
        return Some("starts processes without end");
    }
    let segments = words::segments(line);
    let joins =
        |_: &Segment<'_>, next: &Segment<'_>| next.operator_before.is_some_and(words::Operator::is_pipe);
    segments.chunk_by(joins).find_map(|pipeline| judge_pipeline(pipeline, depth))
}

fn judge_pipeline(pipeline: &[Segment<'_>], depth: usize) -> Option<&'static str> {
    let mut from_network = false;
    let mut to_database = false;
    for segment in pipeline {
        if writes_to_disk(segment) {
            return Some("overwrites a disk");
        }
        let Some((program, index)) = segment.program_name() else { continue };
        let command = Command::new(program, segment, index);
        if is_shell(program) && (from_network || runs_the_network(&command)) {
            return Some("runs what the network sends");
        }
        let rule = rules::RULES.iter().find(|rule| rule.applies(&command)).map(|rule| rule.why);
        let inner = || inner_line(&command).filter(|_| depth > 0).and_then(|line| judge(&line, depth - 1));
        if let Some(why) = rule.or_else(inner) {
            return Some(why);
        }
        from_network |= fetches(program);
        to_database |= rules::is_sql_client(program);
    }
    let mut words = pipeline.iter().filter(|_| to_database).flat_map(|segment| &segment.words);
    words.find_map(|word| rules::sql(&word.text))
}

/// A program and what it was given.
struct Command<'s> {
    program: &'s str,
    arguments: Vec<&'s str>,
}

impl<'s> Command<'s> {
    fn new(program: &'s str, segment: &'s Segment<'_>, at: usize) -> Command<'s> {
        let plain = segment.words[at + 1..].iter().filter(|word| word.role == Role::Plain);
        Command { program, arguments: plain.map(|word| word.text.as_ref()).collect() }
    }

    fn has(&self, wanted: &str) -> bool {
        self.arguments.contains(&wanted)
    }

    /// `-r`, also among others: `-fr`; or one of its long names, with or without a value.
    fn flag(&self, letter: char, long: &[&str]) -> bool {
        self.arguments.iter().take_while(|argument| **argument != "--").any(|argument| {
            match argument.strip_prefix("--") {
                Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
                None => argument.strip_prefix('-').is_some_and(|letters| letters.contains(letter)),
            }
        })
    }

    /// The subcommand is this: the first arguments that are neither flags nor values of the flags before it.
    fn starts(&self, wanted: &[&str]) -> bool {
        const VALUED: [&str; 12] = [
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "--profile",
            "--region",
            "--project",
            "--kube-context",
        ];
        let mut value_follows = false;
        let mut given = self.arguments.iter().filter(|argument| {
            let is_value = std::mem::replace(&mut value_follows, VALUED.contains(argument));
            !is_value && !argument.starts_with('-')
        });
        wanted.iter().all(|wanted| given.next().is_some_and(|given| given == wanted))
    }

    fn starts_with_any(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|wanted| self.starts(&[wanted]))
    }
}

fn is_fork_bomb(line: &str) -> bool {
    let tight: String = line.chars().take(256).filter(|c| !c.is_whitespace()).collect();
    let Some((name, body)) = tight.split_once("(){") else { return false };
    let name = name.rsplit([';', '&', '|']).next().unwrap_or(name);
    !name.is_empty() && body.starts_with(&format!("{name}|{name}&"))
}

/// `> /dev/sda`. A terminal or `/dev/null` is no disk.
fn writes_to_disk(segment: &Segment<'_>) -> bool {
    segment.words.windows(2).any(|pair| {
        pair[0].role == Role::Redirection && pair[0].text.contains('>') && rules::is_disk(&pair[1].text)
    })
}

fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash" | "zsh" | "dash" | "fish" | "ksh" | "python" | "python3" | "perl" | "ruby" | "node"
    ) || matches!(program, "eval" | "source" | ".")
}

/// `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`.
fn runs_the_network(command: &Command<'_>) -> bool {
    let runs = |argument: &&str, opening: &str| {
        argument.split(opening).skip(1).any(|inner| fetches(inner.split_whitespace().next().unwrap_or("")))
    };
    command.arguments.iter().any(|argument| ["$(", "`", "<("].iter().any(|opening| runs(argument, opening)))
}

fn fetches(program: &str) -> bool {
    matches!(program, "curl" | "wget" | "fetch")
}

/// The command line that a shell, `ssh`, `su` or `find` is given to run.
fn inner_line(command: &Command<'_>) -> Option<String> {
    let arguments = &command.arguments;
    let behind =
        |flags: &[&str]| arguments.iter().position(|argument| flags.contains(argument)).map(|at| at + 1);
    match command.program {
        "eval" => Some(arguments.join(" ")),
        "ssh" => arguments.iter().skip(1).find(|argument| argument.contains(' ')).map(ToString::to_string),
        "find" => Some(arguments[behind(&["-exec", "-execdir", "-ok"])?..].join(" ")),
        "su" => arguments.get(behind(&["-c", "--command"])?).map(ToString::to_string),
        shell if is_shell(shell) => {
            arguments.get(behind(&["-c", "-lc", "-ic", "-ec", "-xc"])?).map(ToString::to_string)
        }
        "docker" | "podman" | "kubectl" => {
            let shell = arguments.iter().position(|argument| is_shell(argument))?;
            Some(
                arguments[shell..]
                    .iter()
                    .map(|word| words::quote(word))
                    .collect::<Option<Vec<_>>>()?
                    .join(" "),
            )
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "danger/tests.rs"]
mod tests;
