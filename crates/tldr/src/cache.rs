//! What a project keeps in `.tldr/cache`: the facts of its files, the call graph of the last `warm`, and how the memo table
//! did. All of it can be made again, so a file that cannot be used is as good as none.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use kit::Failure;
use serde::Serialize;
use store::{Durability, replace};
use wire::tldr::SalsaCacheStats;

use crate::root::Root;

const STATISTICS: &str = "salsa_stats.json";
const CALL_GRAPH: &str = "call_graph.json";
/// Where the facts lie; see [`crate::index`].
pub(crate) const FACTS: &str = "facts.bin";
/// Where what all uses mean lies.
pub(crate) const MEANING: &str = "meaning.bin";
/// What functions are about; see [`crate::engine`].
pub(crate) const VECTORS: &str = "vectors.bin";
/// Endings of files that hold results: ours, and those of the program whose layout we share.
const RESULTS: [&str; 2] = ["bin", "pkl"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Files {
    pub file_count: usize,
    pub total_bytes: u64,
    pub total_size_human: String,
}

/// What `cache stats` tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contents {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salsa_stats: Option<SalsaCacheStats>,
    pub cache_files: Files,
}

/// Nothing if nothing was ever kept.
pub fn contents(root: &Root) -> Option<Contents> {
    let folder = root.cache();
    let salsa_stats = statistics(root);
    let sizes: Vec<u64> =
        results(&folder).iter().filter_map(|path| Some(path.metadata().ok()?.len())).collect();
    if salsa_stats.is_none() && sizes.is_empty() {
        return None;
    }
    let total_bytes = sizes.iter().sum();
    let cache_files = Files { file_count: sizes.len(), total_bytes, total_size_human: human(total_bytes) };
    Some(Contents { salsa_stats, cache_files })
}

/// How the memo table of all daemons of this project did so far.
pub fn statistics(root: &Root) -> Option<SalsaCacheStats> {
    serde_json::from_slice(&fs::read(root.cache().join(STATISTICS)).ok()?).ok()
}

pub fn write_statistics(root: &Root, statistics: &SalsaCacheStats) -> Result<(), Failure> {
    write(root, STATISTICS, &serde_json::to_vec(statistics).expect("numbers are JSON"))
}

/// Gives the path as answers name it.
pub fn write_call_graph(root: &Root, graph: &[u8]) -> Result<String, Failure> {
    write(root, CALL_GRAPH, graph)?;
    Ok(format!("{}/cache/{CALL_GRAPH}", crate::root::FOLDER))
}

/// Replaces a file of the cache whole, so that a reader never sees half of one. Never makes the project itself: one that
/// was removed stays so.
pub(crate) fn write(root: &Root, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let folder = root.cache();
    let path = folder.join(name);
    let made = [root.folder(), folder].iter().try_for_each(|folder| {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    });
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot write `{}`", path.display())).because(error)
    };
    made.map_err(|error| failed(&error))?;
    replace(&path, bytes, Durability::Cached).map_err(|error| failed(&error))
}

/// Removes what is in the cache and nothing else. Gives how many files went, or nothing if there is no cache.
pub fn clear(root: &Root) -> Result<Option<usize>, Failure> {
    let folder = root.cache();
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut all = results(&folder);
    all.extend([STATISTICS, CALL_GRAPH].map(|name| folder.join(name)));
    let mut removed = 0;
    for path in all {
        match fs::remove_file(&path) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::new(format!("cannot remove `{}`", path.display())).because(&error));
            }
        }
    }
    Ok(Some(removed))
}

fn results(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_result = |path: &PathBuf| {
        path.extension().is_some_and(|ending| RESULTS.iter().any(|result| ending == *result))
            && path.is_file()
    };
    let mut results: Vec<PathBuf> = entries.filter(is_result).collect();
    results.sort();
    results
}

/// As `1.0 MB`.
pub(crate) fn human(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut units = ["B", "KB", "MB", "GB", "TB"].into_iter();
    let mut unit = units.next().expect("there is one");
    while size >= 1024.0
        && let Some(next) = units.next()
    {
        size /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn what_was_kept_is_counted_and_goes_and_nothing_else_does() {
        let home = Home::new();
        home.write("p/.tldr/config.json", "{}");
        let root = Root::find(&home.path().join("p")).unwrap();
        assert_eq!((contents(&root), clear(&root).unwrap()), (None, None));
        let statistics = SalsaCacheStats { hits: 3, misses: 1, invalidations: 0, recomputations: 0 };
        write_statistics(&root, &statistics).unwrap();
        write_call_graph(&root, b"{}").unwrap();
        write(&root, FACTS, &[0; 2048]).unwrap();
        home.write("p/.tldr/cache/old.pkl", [0; 1024]);
        home.write("p/.tldr/cache/notes.txt", "mine");
        let found = contents(&root).unwrap();
        assert_eq!(found.salsa_stats, Some(statistics));
        assert_eq!((found.cache_files.file_count, &*found.cache_files.total_size_human), (2, "3.0 KB"));
        assert_eq!(clear(&root).unwrap(), Some(4));
        assert_eq!(contents(&root), None);
        assert_eq!(home.read("p/.tldr/cache/notes.txt"), "mine");
    }

    #[test]
    fn sizes_are_told_in_their_own_unit() {
        let sizes = [0, 1023, 1024, 1 << 20, u64::MAX].map(human);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KB", "1.0 MB", "16777216.0 TB"]);
    }
}
