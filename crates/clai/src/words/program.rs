//! Which word of a segment names the program that does the work: behind keywords, assignments and programs that
//! only run another one. Does not know what any other program is or does.

use super::{Role, Segment, Word};

impl<'a> Segment<'a> {
    /// The index of the program's word. `None` if the segment only assigns, or runs nothing.
    pub fn program(&self) -> Option<usize> {
        let mut at = 0;
        loop {
            at = next_plain(&self.words, at)?;
            let text = self.words[at].text.as_ref();
            if KEYWORDS.contains(&text) || is_assignment(text) {
                at += 1;
            } else if let Some(wrapper) = wrapper_named(text) {
                match wrapper.inner(&self.words, at + 1) {
                    Some(inner) => at = inner,
                    None => return Some(at),
                }
            } else {
                return Some(at);
            }
        }
    }

    /// The program's name without its directory, and the index of its word.
    pub fn program_name(&self) -> Option<(&str, usize)> {
        let at = self.program()?;
        Some((base_name(&self.words[at].text), at))
    }

    /// Indexes of the programs that only run another one, like `sudo`.
    pub fn wrappers(&self) -> impl Iterator<Item = usize> {
        (0..self.program().unwrap_or(0)).filter(|at| wrapper_named(&self.words[*at].text).is_some())
    }

    /// Indexes of the words from `from` on that are neither flags nor values of one of the `valued` flags.
    pub fn positionals(&self, from: usize, valued: &[&str]) -> Vec<usize> {
        let mut found = Vec::new();
        let (mut value_follows, mut all) = (false, false);
        for (index, word) in self.words.iter().enumerate().skip(from) {
            if word.role != Role::Plain {
                continue;
            }
            let text = word.text.as_ref();
            if value_follows {
                value_follows = false;
            } else if text == "--" && !all {
                all = true;
            } else if all || !is_flag(text) {
                found.push(index);
            } else {
                value_follows = valued.contains(&text);
            }
        }
        found
    }
}

/// `-x`, `--long`; not `-`, which names an input.
fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// Where the value of `NAME=value` begins.
pub(crate) fn assignment(text: &str) -> Option<usize> {
    let (left, _) = text.split_once('=')?;
    let name = left.strip_suffix('+').unwrap_or(left);
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    named.then_some(left.len() + 1)
}

fn is_assignment(text: &str) -> bool {
    assignment(text).is_some()
}

fn wrapper_named(text: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == base_name(text))
}

fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

fn next_plain(words: &[Word<'_>], from: usize) -> Option<usize> {
    (from..words.len()).find(|at| words[*at].role == Role::Plain)
}

const KEYWORDS: [&str; 15] = [
    "!",
    "{",
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "and",
    "or",
    "not",
    "begin",
    "noglob",
    "nocorrect",
];

/// A program that runs the one behind its own arguments.
struct Wrapper {
    name: &'static str,
    /// Flags whose value is the next word.
    valued: &'static [&'static str],
    /// Flags with which it runs nothing.
    alone: &'static [&'static str],
    /// Own arguments before the program.
    arguments: usize,
}

impl Wrapper {
    fn inner(&self, words: &[Word<'_>], from: usize) -> Option<usize> {
        let mut at = next_plain(words, from)?;
        let mut left = self.arguments;
        loop {
            let text = words[at].text.as_ref();
            if self.alone.contains(&text) {
                return None;
            } else if text == "--" {
                return next_plain(words, at + 1);
            } else if self.valued.contains(&text) {
                at = next_plain(words, at + 1)?;
            } else if !is_flag(text) && !is_assignment(text) {
                if left == 0 {
                    return Some(at);
                }
                left -= 1;
            }
            at = next_plain(words, at + 1)?;
        }
    }
}

const fn wrapper(name: &'static str, valued: &'static [&'static str]) -> Wrapper {
    Wrapper { name, valued, alone: &[], arguments: 0 }
}

static WRAPPERS: [Wrapper; 17] = [
    Wrapper {
        alone: &["-l", "-e", "-v", "-k", "-K", "--list", "--edit", "--validate", "-V"],
        ..wrapper(
            "sudo",
            &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-r", "-t", "-T", "-U", "--user", "--group"],
        )
    },
    wrapper("doas", &["-u", "-C"]),
    wrapper("env", &["-u", "--unset", "-C", "--chdir"]),
    wrapper("nohup", &[]),
    wrapper("time", &["-f", "--format", "-o", "--output"]),
    Wrapper { alone: &["-v", "-V"], ..wrapper("command", &[]) },
    wrapper("builtin", &[]),
    wrapper("exec", &["-a"]),
    wrapper("nice", &["-n", "--adjustment"]),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"]),
    wrapper("setsid", &[]),
    wrapper("stdbuf", &["-i", "-o", "-e"]),
    wrapper("caffeinate", &["-t", "-w"]),
    Wrapper { arguments: 1, ..wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"]) },
    wrapper("watch", &["-n", "--interval"]),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-P", "-u"]),
    wrapper(
        "xargs",
        &["-n", "-I", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--replace"],
    ),
];
