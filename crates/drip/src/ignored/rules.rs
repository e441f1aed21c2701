//! Rules in the syntax of `.gitignore`, read and compiled. Knows no order of files and no project.

use std::mem;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use super::{Entry, Source, builtin};
use crate::load::{self, Limits, Loaded, Symlinks};

/// The rules of one source.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) source: Source,
    /// One after the other; more than one only where they are too many for one expression.
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
        /// No path is longer, and compiling a rule takes time.
        const LONGEST: usize = 4096;
        /// A set of rules has a limit of 10 MB when compiled. The worst ones grow about 250 times.
        const AT_ONCE: usize = 16 << 10;
        // Candidates are made relative before they are matched.
        let mut builder = GitignoreBuilder::new("");
        let (mut matchers, mut bytes) = (Vec::new(), 0);
        let mut lines = text.trim_start_matches('\u{feff}').lines().zip(1..).peekable();
        while let Some((line, number)) = lines.next() {
            if line.len() > LONGEST {
                warn(number, format!("a rule has at most {LONGEST} bytes"));
            } else if let Err(error) = builder.add_line(None, line) {
                warn(number, error.to_string());
            }
            bytes += line.len() + 1;
            if bytes > AT_ONCE || lines.peek().is_none() {
                match mem::replace(&mut builder, GitignoreBuilder::new("")).build() {
                    Ok(matcher) => matchers.push(matcher),
                    Err(error) => {
                        warn(number, format!("this rule and those before it are not used: {error}"))
                    }
                }
                bytes = 0;
            }
        }
        Some(Rules { source, matchers }).filter(|rules| !rules.matchers.iter().all(Gitignore::is_empty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rules_and_costly_ones_all_count_and_the_last_wins() {
        let many: String = (0..3_000).map(|index| format!("a*b?c[d-z]*{index}x\n")).collect();
        let costly = format!("{}\n{}", "?\n!?\n".repeat(3_000), "?".repeat(4_000));
        let text = format!("first*.txt\n{many}!*keep\n{costly}\nlast?.txt\n");
        let mut warnings = Vec::new();
        let rules = Rules::parse(Source::BuiltIn, &text, &mut |line, why| warnings.push((line, why)));
        let rules = rules.expect("there are rules");
        assert_eq!(warnings, []);
        assert!(rules.matchers.len() > 3);
        let said = |path: &str| rules.matched(Path::new("/p"), &Path::new("/p").join(path), Entry::File);
        for path in ["first1.txt", "a1bbcz7x", "a1bbcz2999x", "lastx.txt", &"n".repeat(4_000)] {
            assert!(said(path).is_ignore(), "{path}");
        }
        for path in ["a1bbcz2999xkeep", "z"] {
            assert!(said(path).is_whitelist(), "{path}");
        }
        assert!(said("other").is_none());
    }
}
