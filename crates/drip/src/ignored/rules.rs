//! Rules in the syntax of `.gitignore`, read and compiled. Knows no order of files and no project.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use super::{Entry, Source, builtin};
use crate::load::{self, Loaded};

/// The rules of one source.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) source: Source,
    matchers: Matchers,
    letters: Letters,
}

/// In their order; more than one only where not all fit into one.
#[derive(Debug)]
enum Matchers {
    Ready(Vec<Gitignore>),
    /// Compiled when a path has the letters of one of the rules. Hooks judge one path each, nearly all of them have none,
    /// and compiling the built-in rules was two fifths of what a hook has to compute.
    OnDemand {
        lines: &'static str,
        compiled: OnceLock<Vec<Gitignore>>,
    },
}

/// Whether capital letters are others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    AsWritten,
    AnyCase,
}

impl Rules {
    /// What nobody gains by reading.
    pub(super) fn others() -> Rules {
        Rules::built_in(builtin::OTHERS, Letters::AsWritten)
    }

    /// Keys and passwords: `.ENV` is one too, and so it is on file systems that take both names for one.
    pub(super) fn secrets() -> Rules {
        Rules::built_in(builtin::SECRETS, Letters::AnyCase)
    }

    fn built_in(lines: &'static str, letters: Letters) -> Rules {
        let matchers = Matchers::OnDemand { lines, compiled: OnceLock::new() };
        Rules { source: Source::BuiltIn, matchers, letters }
    }

    /// Nothing if there is no such file, or none that can be used; that is a warning, and so is each line that is not.
    pub(super) fn read(path: PathBuf, warnings: &mut Vec<String>) -> Option<Rules> {
        /// More than a person writes; the seed's cap.
        const LARGEST: usize = 256 << 10;
        let name = path.display().to_string();
        let mut bytes = match load::head(&path, LARGEST as u64 + 1) {
            Ok(bytes) => bytes,
            Err(Loaded::Missing) => return None,
            Err(unfit) => {
                let why = match unfit {
                    Loaded::Unreadable(why) => why,
                    Loaded::NotRegular(kind) => format!("it is a {}", kind.word()),
                    _ => "it cannot be read".to_owned(),
                };
                warnings.push(format!("{name} is not used: {why}"));
                return None;
            }
        };
        if bytes.len() > LARGEST {
            warnings.push(format!("{name}: only the rules in its first 256 KiB are used"));
            let whole = bytes[..LARGEST].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            bytes.truncate(whole);
        }
        let lines = text_lines(&bytes);
        warnings.extend(not_text(&lines).map(|why| format!("{name}:{why}")));
        let mut warn = |line: usize, why: String| warnings.push(format!("{name}:{line}: {why}"));
        Rules::parse(Source::File(path), &lines, &mut warn)
    }

    /// What these rules say about a path below `base`; nothing about others.
    pub(super) fn matched(&self, base: &Path, path: &Path, entry: Entry) -> Match<&Glob> {
        let Some(relative) = path.strip_prefix(base).ok().filter(|path| !path.as_os_str().is_empty()) else {
            return Match::None;
        };
        let relative = match self.letters {
            Letters::AsWritten => Cow::Borrowed(relative),
            // Matchers that mind no case are expressions, each of which takes time to compile.
            Letters::AnyCase => Cow::Owned(PathBuf::from(relative.as_os_str().to_ascii_lowercase())),
        };
        let matchers = self.matchers.for_path(&relative);
        let mut said =
            matchers.iter().rev().map(|matcher| matcher.matched(&*relative, entry == Entry::Folder));
        said.find(|said| !said.is_none()).unwrap_or(Match::None)
    }

    fn parse(source: Source, lines: &[Option<&str>], warn: &mut dyn FnMut(usize, String)) -> Option<Rules> {
        let mut matchers = Vec::new();
        compile(1, lines, &mut matchers, warn);
        let matchers = (!matchers.is_empty()).then_some(Matchers::Ready(matchers))?;
        Some(Rules { source, matchers, letters: Letters::AsWritten })
    }
}

impl Matchers {
    /// Those that may say something about a path.
    fn for_path(&self, path: &Path) -> &[Gitignore] {
        match self {
            Matchers::Ready(matchers) => matchers,
            Matchers::OnDemand { lines, .. } if !lines.lines().any(|rule| may_match(rule, path)) => &[],
            Matchers::OnDemand { lines, compiled } => compiled.get_or_init(|| built_in(lines)),
        }
    }
}

fn built_in(lines: &str) -> Vec<Gitignore> {
    let lines: Vec<_> = lines.lines().map(Some).collect();
    let mut matchers = Vec::new();
    compile(1, &lines, &mut matchers, &mut |line, why| {
        unreachable!("line {line} of what is built in is right: {why}")
    });
    matchers
}

/// Whether a path has what every match of a rule has: its ending, or its longest run of letters that stand for themselves.
fn may_match(rule: &str, path: &Path) -> bool {
    const SPECIAL: [char; 6] = ['*', '?', '[', '{', '!', '\\'];
    let path = path.as_os_str().as_bytes();
    match rule.strip_prefix('*') {
        Some(ending) if !ending.contains(SPECIAL) => path.ends_with(ending.as_bytes()),
        _ if rule.starts_with('#') => false,
        _ => {
            // What stands in brackets is a choice.
            let head = rule.split(['{', '[']).next().unwrap_or("");
            let runs = head.split(SPECIAL).map(|run| run.trim_matches('/'));
            let longest = runs.max_by_key(|run| run.len()).unwrap_or("").as_bytes();
            longest.is_empty() || path.windows(longest.len()).any(|part| part == longest)
        }
    }
}

/// The lines of a file; nothing for one that is no text.
fn text_lines(bytes: &[u8]) -> Vec<Option<&str>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.map(|line| str::from_utf8(line).ok().filter(|line| !line.contains('\0'))).collect()
}

/// A file in another encoding may hold nothing else, so that all of them are one warning.
fn not_text(lines: &[Option<&str>]) -> Option<String> {
    let mut missing = lines.iter().zip(1..).filter(|(line, _)| line.is_none()).map(|(_, number)| number);
    let first: usize = missing.next()?;
    Some(match missing.count() {
        0 => format!("{first}: it is not UTF-8 text"),
        1 => format!("{first}: it is not UTF-8 text (nor is 1 more line)"),
        more => format!("{first}: it is not UTF-8 text (nor are {more} more lines)"),
    })
}

/// Compiles all lines into one matcher, or both halves of them where that fails: lines can be too many for one, or too
/// deeply nested. No line is lost because of another.
fn compile(
    first: usize,
    lines: &[Option<&str>],
    into: &mut Vec<Gitignore>,
    warn: &mut dyn FnMut(usize, String),
) {
    /// No path is longer, and compiling a rule takes time.
    const LONGEST: usize = 4096;
    // Candidates are made relative before they are matched.
    let mut builder = GitignoreBuilder::new("");
    let mut wrong = Vec::new();
    for (line, number) in lines.iter().zip(first..) {
        let Some(line) = line else { continue };
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
        let rules = Rules::parse(Source::BuiltIn, &text_lines(text.as_bytes()), &mut |line, why| {
            warnings.push((line, why));
        });
        let rules = rules.expect("there are rules");
        let lines: Vec<usize> = warnings.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 7], "{warnings:?}");
        assert!(rules.matchers.for_path(Path::new("any")).len() > 1);
        let said = |path: &str| rules.matched(Path::new("/p"), &Path::new("/p").join(path), Entry::File);
        assert!(said("first").is_ignore() && said("last").is_ignore());
        assert!(said("no").is_whitelist() && said("last.rs").is_whitelist());
        assert!(said("other").is_none());
    }

    #[test]
    fn a_path_for_which_nothing_is_compiled_is_one_that_no_rule_matches() {
        let names = builtin::OTHERS.lines().chain(builtin::SECRETS.lines()).map(|rule| {
            let name = rule.trim_start_matches(['!', '/', '#', ' ']).replace("**/", "").replace('*', "x");
            name.replace("{rsa,dsa,ecdsa,ed25519}", "rsa").split('{').next().unwrap().to_owned()
        });
        let plain = ["src/main.rs", "f.txt", "docs/page.md", "a/b/Makefile"].map(str::to_owned);
        let rules = [Rules::others(), Rules::secrets()];
        let all = [built_in(builtin::OTHERS), built_in(builtin::SECRETS)];
        let judge = |matchers: &[Gitignore], path: &Path, is_folder| {
            matchers.iter().any(|matcher| !matcher.matched(path, is_folder).is_none())
        };
        for name in names.chain(plain.clone()) {
            for path in [name.clone(), format!("a/{name}"), format!("{name}/b.c"), format!("x{name}y")] {
                let path = Path::new(&path);
                for (rules, all) in rules.iter().zip(&all) {
                    for is_folder in [false, true] {
                        let quick = rules.matchers.for_path(path);
                        assert_eq!(judge(quick, path, is_folder), judge(all, path, is_folder), "{path:?}");
                    }
                }
            }
        }
        for path in plain {
            let compiled = rules.iter().map(|rules| rules.matchers.for_path(Path::new(&path)).len());
            assert_eq!(compiled.sum::<usize>(), 0, "{path}");
        }
    }
}
