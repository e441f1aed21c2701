//! Files by a pattern for their names, newest first. Patterns mean what they mean to `rg --glob`: `*` stays within a
//! directory, and a pattern without `/` holds at any depth.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use ignore::overrides::{Override, OverrideBuilder};
use kit::text;

use crate::ignored::{Entry, Ignored};

/// No list is longer than this: the seed's cap, and more than anybody reads.
pub const MOST: usize = 1_000;
/// Deeper directories are not entered: the seed's cap.
const DEEPEST: usize = 20;
/// No path is longer, and compiling a pattern takes time.
const LONGEST: usize = 4096;

/// The files that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Absolute, newest first, at most [`MOST`] of all matches.
    pub paths: Vec<PathBuf>,
    /// How many match and are not hidden.
    pub total: usize,
    pub hidden: HiddenFiles,
    /// Whether the deadline passed before everything was seen.
    pub cut: bool,
}

/// What ignore rules kept away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenFiles {
    /// That match.
    pub files: usize,
    /// That were not entered.
    pub folders: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a pattern: {why}")]
pub struct GlobError {
    pattern: String,
    why: String,
}

/// Looks at all files below `root`, names with a dot too, symbolic links not. A relative root is below the working
/// directory of `ignored`; an absolute pattern needs no root. When `deadline` has passed, the answer is what was found
/// so far, and says so.
pub fn glob(root: &Path, pattern: &str, ignored: &Ignored, deadline: Duration) -> Result<Found, GlobError> {
    let failed = |why: String| GlobError { pattern: text::head(pattern, 200).to_owned(), why };
    if pattern.len() > LONGEST {
        return Err(failed(format!("it has more than {LONGEST} bytes")));
    }
    let root = ignored.absolute(root);
    let (start, rest) = split(&root, pattern);
    let start = ignored.absolute(&start);
    let wrong = |error: ignore::Error| failed(error.to_string());
    let mut matcher = OverrideBuilder::new(&start);
    // In a file of rules this would be a comment.
    let rest = if rest.starts_with('#') { format!("\\{rest}") } else { rest };
    let matcher = matcher.add(&rest).and_then(|matcher| matcher.build()).map_err(wrong)?;
    let hidden = HiddenFiles::default();
    let mut search =
        Search { matcher: &matcher, ignored, newest: BinaryHeap::new(), total: 0, hidden, cut: false };
    // A pattern may lead into a directory that is ignored as a whole.
    if ignored.verdict(&start, Entry::Folder).is_free() {
        search.walk(start, depth(&rest), Instant::now().checked_add(deadline));
    } else {
        search.hidden.folders += 1;
    }
    let paths = search.newest.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(path)))| path).collect();
    Ok(Found { paths, total: search.total, hidden: search.hidden, cut: search.cut })
}

/// The directory that all matches are in, and the pattern from there.
fn split(root: &Path, pattern: &str) -> (PathBuf, String) {
    let plain = |part: &str| !part.contains(['*', '?', '[', ']', '{', '}', '\\', '!']);
    let Some((folders, _)) = pattern.rsplit_once('/') else { return (root.to_owned(), pattern.to_owned()) };
    let mut start = root.to_owned();
    let mut taken = 0;
    for part in folders.split('/').take_while(|part| plain(part)) {
        // Joining an empty first part is what makes the pattern absolute.
        start.push(if taken == 0 && part.is_empty() { "/" } else { part });
        taken += part.len() + 1;
    }
    // The slash in front keeps it at this directory, as it was with the part that is gone.
    let rest = &pattern[taken.min(pattern.len())..];
    (start, if taken == 0 { rest.to_owned() } else { format!("/{rest}") })
}

/// How many directories deep a match can be.
fn depth(rest: &str) -> usize {
    match rest.strip_prefix('/') {
        // Only directories end in a slash.
        Some(names) if names.is_empty() || names.ends_with('/') => 0,
        Some(names) if !names.contains("**") => DEEPEST.min(names.matches('/').count() + 1),
        _ => DEEPEST,
    }
}

struct Search<'a> {
    matcher: &'a Override,
    ignored: &'a Ignored,
    /// The newest so far, the oldest of them on top.
    newest: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>>,
    total: usize,
    hidden: HiddenFiles,
    cut: bool,
}

impl Search<'_> {
    fn walk(&mut self, start: PathBuf, deepest: usize, deadline: Option<Instant>) {
        let mut folders = Vec::from_iter((deepest > 0).then_some((start, 1)));
        while let Some((folder, depth)) = folders.pop() {
            // What vanished or may not be read holds nothing to list.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    self.cut = true;
                    return;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < deepest => {
                        if self.is_free(&entry.path(), Entry::Folder) {
                            folders.push((entry.path(), depth + 1));
                        } else {
                            self.hidden.folders += 1;
                        }
                    }
                    Ok(kind) if kind.is_file() => self.look_at(&entry),
                    _ => {}
                }
            }
        }
    }

    fn look_at(&mut self, entry: &DirEntry) {
        let path = entry.path();
        if self.matcher.matched(&path, false).is_ignore() {
            return;
        }
        if !self.is_free(&path, Entry::File) {
            self.hidden.files += 1;
            return;
        }
        self.total += 1;
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        self.newest.push(Reverse((modified.unwrap_or(SystemTime::UNIX_EPOCH), Reverse(path))));
        if self.newest.len() > MOST {
            self.newest.pop();
        }
    }

    fn is_free(&self, path: &Path, entry: Entry) -> bool {
        self.ignored.verdict_in_free_folder(path, entry).is_free()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_searched_from_the_deepest_directory_it_names() {
        let root = Path::new("/r");
        for (pattern, start, rest) in [
            ("*.rs", "/r", "*.rs"),
            ("src/*.rs", "/r/src", "/*.rs"),
            ("src/a/**/x.rs", "/r/src/a", "/**/x.rs"),
            ("**/x.rs", "/r", "**/x.rs"),
            ("{a,b}/x", "/r", "{a,b}/x"),
            ("/abs/b/*.c", "/abs/b", "/*.c"),
            ("/x", "/", "/x"),
            ("a/", "/r/a", "/"),
            ("!a/b", "/r", "!a/b"),
            ("", "/r", ""),
        ] {
            assert_eq!(split(root, pattern), (PathBuf::from(start), rest.to_owned()), "{pattern}");
        }
    }

    #[test]
    fn no_directory_is_entered_in_vain() {
        for (rest, deepest) in
            [("/", 0), ("/*.rs", 1), ("/a*/b", 2), ("/{a,b/c}.rs", 2), ("/**/x", DEEPEST), ("*.rs", DEEPEST)]
        {
            assert_eq!(depth(rest), deepest, "{rest}");
        }
    }
}
