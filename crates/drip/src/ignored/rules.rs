//! Rules in the syntax of `.gitignore`, read and compiled. Knows no order of files and no project.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use super::{Entry, Source, builtin};
use crate::load::{self, Limits, Loaded, Symlinks};

/// The rules of one source.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) source: Source,
    /// In their order; more than one only where not all fit into one.
    matchers: Vec<Gitignore>,
}

impl Rules {
    pub(super) fn built_in() -> Rules {
        let lines = [builtin::OTHERS, builtin::SECRETS].concat();
        let mut never =
            |line: usize, why: String| unreachable!("line {line} of what is built in is right: {why}");
        Rules::parse(Source::BuiltIn, &lines, &mut never).expect("there are built-in rules")
    }

    /// Nothing if there is no such file, or none that can be used; that is a warning.
    pub(super) fn read(path: PathBuf, warnings: &mut Vec<String>) -> Option<Rules> {
        /// More than a person writes; the seed's cap.
        const LIMITS: Limits = Limits { max_bytes: 256 << 10, symlinks: Symlinks::Follow };
        let name = path.display().to_string();
        let unfit = match load::load(&path, LIMITS) {
            Loaded::Text { text, .. } => {
                let mut warn = |line: usize, why: String| warnings.push(format!("{name}:{line}: {why}"));
                return Rules::parse(Source::File(path), &text, &mut warn);
            }
            Loaded::Missing => return None,
            Loaded::TooBig { bytes } => format!("is not used: its {bytes} bytes are more than 256 KiB"),
            Loaded::Unreadable(why) => format!("is not used: {why}"),
            Loaded::NotRegular(kind) => format!("is not used: it is a {}", kind.word()),
            Loaded::Binary { .. } | Loaded::NotUtf8 { .. } | Loaded::Symlink | Loaded::Changing => {
                "is not used: it cannot be read as text".to_owned()
            }
        };
        warnings.push(format!("{name} {unfit}"));
        None
    }

    /// What these rules say about a path below `base`; nothing about others.
    pub(super) fn matched(&self, base: &Path, path: &Path, entry: Entry) -> Match<&Glob> {
        let Some(relative) = path.strip_prefix(base).ok().filter(|path| !path.as_os_str().is_empty()) else {
            return Match::None;
        };
        let mut said =
            self.matchers.iter().rev().map(|matcher| matcher.matched(relative, entry == Entry::Folder));
        said.find(|said| !said.is_none()).unwrap_or(Match::None)
    }

    fn parse(source: Source, text: &str, warn: &mut dyn FnMut(usize, String)) -> Option<Rules> {
        let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
        let mut matchers = Vec::new();
        compile(1, &lines, &mut matchers, warn);
        (!matchers.is_empty()).then_some(Rules { source, matchers })
    }
}

/// Compiles all lines into one matcher, or both halves of them where that fails: lines can be too many for one, or too
/// deeply nested. No line is lost because of another.
fn compile(first: usize, lines: &[&str], into: &mut Vec<Gitignore>, warn: &mut dyn FnMut(usize, String)) {
    /// No path is longer, and compiling a rule takes time.
    const LONGEST: usize = 4096;
    // Candidates are made relative before they are matched.
    let mut builder = GitignoreBuilder::new("");
    let mut wrong = Vec::new();
    for (line, number) in lines.iter().zip(first..) {
        if line.len() > LONGEST {
            wrong.push((number, format!("a rule has at most {LONGEST} bytes")));
        } else if let Err(error) = builder.add_line(None, line) {
            wrong.push((number, error.to_string()));
        }
    }
    match builder.build() {
        Err(_) if lines.len() > 1 => {
            let (head, tail) = lines.split_at(lines.len() / 2);
            compile(first, head, into, warn);
            compile(first + head.len(), tail, into, warn);
            return;
        }
        Err(error) => wrong.push((first, error.to_string())),
        Ok(matcher) if matcher.is_empty() => {}
        Ok(matcher) => into.push(matcher),
    }
    wrong.into_iter().for_each(|(line, why)| warn(line, why));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_compiled_costs_no_other_line() {
        let nested = format!("{}{}", "{a,".repeat(500), "}".repeat(500));
        let text = format!("first\nno\n!no\n{nested}\nlast\n[unclosed-\n{{open\n!last.rs\n");
        let mut warnings = Vec::new();
        let rules = Rules::parse(Source::BuiltIn, &text, &mut |line, why| warnings.push((line, why)));
        let rules = rules.expect("there are rules");
        let lines: Vec<usize> = warnings.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 7], "{warnings:?}");
        assert!(rules.matchers.len() > 1);
        let said = |path: &str| rules.matched(Path::new("/p"), &Path::new("/p").join(path), Entry::File);
        assert!(said("first").is_ignore() && said("last").is_ignore());
        assert!(said("no").is_whitelist() && said("last.rs").is_whitelist());
        assert!(said("other").is_none());
    }
}
