//! Slots that only the command can tell: the message of a commit, the branch of a push, the script of a run.
//! A table of commands, and nothing about shells.

use super::{Hole, SlotKind};
use crate::words::{Role, Segment};

/// `program` is at `at`; what is marked here wins over how a word looks.
pub(super) fn apply(program: &str, at: usize, segment: &Segment<'_>, holes: &mut [Option<Hole>]) {
    match program {
        "git" => git(at, segment, holes),
        "npm" | "pnpm" | "yarn" | "bun" => packages(at, segment, holes),
        "go" => {
            let arguments = segment.positionals(at + 1, &[]);
            if let Some(test) = arguments.first().filter(|first| segment.words[**first].text == "test") {
                mark(holes, segment.positionals(test + 1, GO_TEST_VALUED), SlotKind::Path);
            }
        }
        "pytest" | "py.test" => mark(holes, segment.positionals(at + 1, PYTEST_VALUED), SlotKind::Path),
        "python" | "python3" => {
            let text = |index: usize| segment.words.get(index).map(|word| word.text.as_ref());
            if (text(at + 1), text(at + 2)) == (Some("-m"), Some("pytest")) {
                mark(holes, segment.positionals(at + 3, PYTEST_VALUED), SlotKind::Path);
            }
        }
        _ => {}
    }
}

fn git(at: usize, segment: &Segment<'_>, holes: &mut [Option<Hole>]) {
    let Some(subcommand) = segment.positionals(at + 1, GIT_VALUED).first().copied() else { return };
    match segment.words[subcommand].text.as_ref() {
        "commit" | "tag" | "merge" | "stash" => messages(subcommand + 1, segment, holes),
        "checkout" | "switch" => {
            for index in subcommand + 1..segment.words.len() {
                let creates =
                    matches!(segment.words[index - 1].text.as_ref(), "-b" | "-B" | "-c" | "-C" | "--create");
                if creates && segment.words[index].role == Role::Plain {
                    mark(holes, [index], SlotKind::Branch);
                }
            }
        }
        "push" => {
            let arguments =
                segment.positionals(subcommand + 1, &["-o", "--push-option", "--receive-pack", "--exec"]);
            for (index, kind) in arguments.into_iter().zip([SlotKind::Remote, SlotKind::Branch]) {
                mark(holes, [index], kind);
            }
        }
        _ => {}
    }
}

/// `-m x`, `-am x`, `-mx`, `--message x`, `--message=x`.
fn messages(from: usize, segment: &Segment<'_>, holes: &mut [Option<Hole>]) {
    let mut is_next = false;
    for (index, word) in
        segment.words.iter().enumerate().skip(from).filter(|(_, word)| word.role == Role::Plain)
    {
        let text = word.text.as_ref();
        let offset = if std::mem::take(&mut is_next) {
            Some(0)
        } else if text == "--" {
            return;
        } else if text == "--message" {
            is_next = true;
            None
        } else if text.starts_with("--message=") {
            Some("--message=".len())
        } else {
            let offset = short_message(text);
            is_next = offset == Some(text.len());
            offset.filter(|_| !is_next)
        };
        if let Some(offset) = offset {
            holes[index] = Some(Hole { offset, kind: SlotKind::Msg });
        }
    }
}

/// Where the message begins in `-m…` or `-am…`: letters before the `m` must be flags that take no value.
fn short_message(text: &str) -> Option<usize> {
    let flags = text.strip_prefix('-')?;
    let message = flags.find('m')?;
    flags[..message].bytes().all(|flag| b"aensvqpioz".contains(&flag)).then_some(message + 2)
}

fn packages(at: usize, segment: &Segment<'_>, holes: &mut [Option<Hole>]) {
    let arguments = segment.positionals(at + 1, PACKAGE_VALUED);
    let Some((subcommand, arguments)) = arguments.split_first() else { return };
    match segment.words[*subcommand].text.as_ref() {
        "install" | "i" | "add" | "remove" | "uninstall" | "rm" => {
            mark(holes, arguments.iter().copied(), SlotKind::Pkg);
        }
        "run" | "run-script" => mark(holes, arguments.first().copied(), SlotKind::Script),
        _ => {}
    }
}

fn mark(holes: &mut [Option<Hole>], indexes: impl IntoIterator<Item = usize>, kind: SlotKind) {
    for index in indexes {
        holes[index] = Some(Hole { offset: 0, kind });
    }
}

const GIT_VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

const PACKAGE_VALUED: &[&str] =
    &["--prefix", "-w", "--workspace", "--filter", "-F", "--registry", "-C", "--dir", "--cwd", "--tag"];

const GO_TEST_VALUED: &[&str] = &[
    "-run",
    "-bench",
    "-benchtime",
    "-count",
    "-timeout",
    "-tags",
    "-coverprofile",
    "-covermode",
    "-coverpkg",
    "-cpuprofile",
    "-memprofile",
    "-o",
    "-p",
    "-parallel",
    "-cpu",
    "-skip",
    "-fuzz",
    "-fuzztime",
    "-mod",
    "-ldflags",
    "-gcflags",
    "-exec",
    "-shuffle",
    "-outputdir",
];

const PYTEST_VALUED: &[&str] = &[
    "-k",
    "-m",
    "-n",
    "-p",
    "-o",
    "-c",
    "-W",
    "--maxfail",
    "--tb",
    "--durations",
    "--numprocesses",
    "--rootdir",
    "--junitxml",
    "--log-level",
];
