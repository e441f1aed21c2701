//! Catching up with what the kernel told: the directories in which something changed are listed anew, and with them what the
//! kernel does not tell is looked at now and then. Knows no content.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Index, Refreshed};
use crate::walk::{self, Found, Stamp, Walked};

/// What the kernel does not tell of a watched directory (a write through shared memory, or under another name of the file)
/// is found by asking for every known file again, which takes a few milliseconds for thousands: not with every question,
/// but with one that comes so long after the last look.
const RECHECK: Duration = Duration::from_secs(1);

impl Index {
    pub(super) fn look_into(&mut self, folders: &BTreeSet<PathBuf>, asked: Option<&str>) -> Refreshed {
        let mut found = Vec::new();
        let mut gone = Vec::new();
        for folder in folders {
            let Walked { files, folders, .. } = walk::list(&self.root, folder);
            // A directory came or went: rules and watches have to be looked at from the top.
            let below: BTreeSet<&PathBuf> =
                self.folders.iter().filter(|known| known.parent() == Some(folder)).collect();
            let seen: BTreeSet<&PathBuf> = folders.iter().filter(|seen| *seen != folder).collect();
            if below != seen || !folders.contains(folder) {
                return self.look_at_everything();
            }
            gone.extend(
                self.directly_in(folder)
                    .filter(|path| !files.iter().any(|file| file.path == **path))
                    .cloned(),
            );
            found.extend(files);
        }
        match self.recheck(folders, asked) {
            Some(rechecked) => found.extend(rechecked),
            None => return self.look_at_everything(),
        }
        self.take_in(found, gone)
    }

    fn directly_in(&self, folder: &Path) -> impl Iterator<Item = &String> {
        let prefix = folder.strip_prefix(&self.root).ok().and_then(Path::to_str).unwrap_or_default();
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let start = prefix.clone();
        self.files
            .range(start..)
            .map(|(path, _)| path)
            .take_while({
                let prefix = prefix.clone();
                move |path| path.starts_with(&prefix)
            })
            .filter(move |path| !path[prefix.len()..].contains('/'))
    }

    /// Those of which the kernel may not have told, as they are now. Nothing if one is gone without a word: then its
    /// directory is another one, as where a disk was put in its place.
    fn recheck(&mut self, listed: &BTreeSet<PathBuf>, asked: Option<&str>) -> Option<Vec<Found>> {
        let is_due = self.checked.elapsed() >= RECHECK;
        let paths: Vec<&String> = if is_due {
            self.checked = Instant::now();
            self.files.keys().collect()
        } else {
            let asked = asked.and_then(|path| self.files.get_key_value(path)).map(|(path, _)| path);
            self.doubtful.iter().chain(asked).collect()
        };
        let look = |path: &String| {
            let full = self.root.join(path);
            if listed.contains(full.parent().unwrap_or(&full)) {
                return None;
            }
            let metadata = fs::symlink_metadata(full).ok();
            Some(metadata.map(|metadata| Found { path: path.clone(), stamp: Stamp::of(&metadata) }))
        };
        paths.into_par_iter().filter_map(look).collect()
    }
}
