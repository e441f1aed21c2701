//! What is known of the files of a project: their content by hash, and the facts of those that are programs. Brings itself up
//! to date on demand: by what the kernel told since the last time where it watches, else by looking at every entry. Knows no
//! question.

mod kept;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use code::facts::{self, Facts};
use code::language::Language;
use code::memo::Memo;
use code::project::Manifest;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use wire::tldr::DedupStats;

use crate::walk::{self, Found, Stamp, Walked};
use crate::watch::{Changes, Watch};

pub(crate) use kept::Kept;

/// More of a file than this we do not take in: it is data, and a search through it is a search engine's business.
pub const LARGEST: u64 = 16 << 20;

/// The content of a file, told from all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 16]);

impl Hash {
    pub fn of(bytes: &[u8]) -> Hash {
        let digest = Sha256::digest(bytes);
        Hash(digest[..16].try_into().expect("a digest is longer"))
    }
}

/// What facts are kept by: the same text is another program with another ending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    hash: Hash,
    ending: Box<str>,
}

impl Content {
    fn of(hash: Hash, path: &str) -> Content {
        let name = path.rsplit('/').next().unwrap_or(path);
        Content { hash, ending: name.rsplit_once('.').map_or(name, |(_, ending)| ending).into() }
    }
}

/// One file.
#[derive(Debug, Clone)]
pub struct File {
    pub hash: Hash,
    pub bytes: u64,
    /// Nothing for what is no program, or none that we know how to read.
    pub facts: Option<Arc<Facts>>,
    stamp: Stamp,
    /// Whether another change would be sure to change the stamp.
    settled: bool,
}

/// The files of a project at one moment.
#[derive(Debug)]
pub struct Index {
    root: PathBuf,
    watch: Option<Watch>,
    files: BTreeMap<String, File>,
    folders: BTreeSet<PathBuf>,
    /// Facts by content, of this project's files and of what was kept on disk.
    known: HashMap<Content, Arc<Facts>>,
    notes: Vec<String>,
    looked: bool,
    digests: Digests,
}

/// What tells one state of the files from another. Sums, so that a file can be taken out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digests {
    /// Of their paths.
    pub paths: u128,
    /// Of their paths and contents.
    pub contents: u128,
}

/// Who may change files while we hold an index of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// One question, one look.
    OneLook,
    /// Many: the kernel is asked to tell.
    Long,
}

/// What a refresh found. Paths that came, changed or went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refreshed {
    pub changed: BTreeSet<String>,
}

impl Index {
    pub fn new(root: &Path, kept: Kept, lifetime: Lifetime) -> Index {
        let watch = match lifetime {
            Lifetime::OneLook => None,
            Lifetime::Long => Watch::start().ok(),
        };
        let Kept { files, known, .. } = kept;
        Index {
            root: root.to_owned(),
            watch,
            files,
            folders: BTreeSet::new(),
            known,
            notes: Vec::new(),
            looked: false,
            digests: Digests::default(),
        }
        .summed()
    }

    fn summed(mut self) -> Index {
        self.digests = Digests::default();
        self.files.iter().for_each(|(path, file)| self.digests.add(path, file));
        self
    }

    pub fn digests(&self) -> Digests {
        self.digests
    }

    /// All files by their path below the project, in order.
    pub fn files(&self) -> &BTreeMap<String, File> {
        &self.files
    }

    /// What could not be seen.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Makes the index that of the files as they are now.
    pub fn refresh(&mut self) -> Refreshed {
        let changes = match &mut self.watch {
            Some(watch) if self.looked && watch.is_blind().is_none() => watch.drain(),
            _ => Changes::Everything,
        };
        match changes {
            Changes::Everything => self.look_at_everything(),
            Changes::In(folders) => self.look_into(&folders),
        }
    }

    /// Looks at every entry, whatever was told.
    pub fn look_at_everything(&mut self) -> Refreshed {
        let mut walked = walk::walk(&self.root);
        if let Some(watch) = &mut self.watch {
            // What changes between the walk and the watch would be lost: so it is walked again.
            watch.follow(&walked.folders);
            let _ = watch.drain();
            walked = walk::walk(&self.root);
            watch.follow(&walked.folders);
        }
        self.looked = true;
        self.folders = walked.folders.into_iter().collect();
        self.notes = walked.notes;
        let gone: Vec<String> = {
            let found: BTreeSet<&str> = walked.files.iter().map(|file| &*file.path).collect();
            self.files.keys().filter(|path| !found.contains(path.as_str())).cloned().collect()
        };
        self.take_in(walked.files, gone)
    }

    /// Looks at one file and at nothing else.
    pub fn look_at(&mut self, path: &str) -> Refreshed {
        match fs::symlink_metadata(self.root.join(path)) {
            Ok(metadata) => {
                let found = Found { path: path.to_owned(), stamp: Stamp::of(&metadata) };
                self.take_in(vec![found], Vec::new())
            }
            Err(_) => self.take_in(Vec::new(), vec![path.to_owned()]),
        }
    }

    /// The next refresh reads this file whatever the file system says.
    pub fn distrust(&mut self, path: &str) {
        if let Some(file) = self.files.get_mut(path) {
            file.settled = false;
        }
    }

    fn look_into(&mut self, folders: &BTreeSet<PathBuf>) -> Refreshed {
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
        // Those that were read in the tick in which they had changed.
        found.extend(self.unsettled(folders));
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

    fn unsettled(&self, listed: &BTreeSet<PathBuf>) -> Vec<Found> {
        let unsettled = self.files.iter().filter(|(_, file)| !file.settled);
        let others = unsettled.filter(|(path, _)| {
            let folder = self.root.join(path);
            !listed.contains(folder.parent().unwrap_or(&folder))
        });
        let look = |path: &String| {
            let stamp = Stamp::of(&fs::symlink_metadata(self.root.join(path)).ok()?);
            Some(Found { path: path.clone(), stamp })
        };
        others.filter_map(|(path, _)| look(path)).collect()
    }

    /// Reads those that are not what we know, and forgets those that are gone.
    fn take_in(&mut self, found: Vec<Found>, gone: Vec<String>) -> Refreshed {
        let is_news = |found: &Found| {
            self.files.get(&found.path).is_none_or(|file| !file.settled || file.stamp != found.stamp)
        };
        let news: Vec<Found> = found.into_iter().filter(|found| is_news(found)).collect();
        let read: Vec<(String, Option<File>)> = news.into_par_iter().map(|found| self.read(found)).collect();
        let mut refreshed = Refreshed::default();
        for path in gone {
            self.remove(&path);
            refreshed.changed.insert(path);
        }
        for (path, file) in read {
            let before = self.files.get(&path).map(|file| file.hash);
            if before != file.as_ref().map(|file| file.hash) {
                refreshed.changed.insert(path.clone());
            }
            match file {
                Some(file) => {
                    if let Some(facts) = &file.facts {
                        let content = Content::of(file.hash, &path);
                        self.known.entry(content).or_insert_with(|| Arc::clone(facts));
                    }
                    self.remove(&path);
                    self.digests.add(&path, &file);
                    self.files.insert(path, file);
                }
                None => self.remove(&path),
            }
        }
        // Of every version of a file that was ever met, the newest few may come back (a branch and back).
        if self.known.len() > 2 * self.files.len() + 1024 {
            self.known.retain(|_, facts| Arc::strong_count(facts) > 1);
        }
        refreshed
    }

    fn remove(&mut self, path: &str) {
        if let Some(file) = self.files.remove(path) {
            self.digests.subtract(path, &file);
        }
    }

    /// Nothing for a file that went away or may not be read.
    fn read(&self, found: Found) -> (String, Option<File>) {
        let Found { path, .. } = found;
        let began = SystemTime::now();
        let full = self.root.join(&path);
        let Some((stamp, bytes)) = content(&full) else { return (path, None) };
        let hash = Hash::of(&bytes);
        let facts = Language::of_path(&path).and_then(|language| {
            let known = self.known.get(&Content::of(hash, &path)).cloned();
            known.or_else(|| facts::extract(language, &path, &bytes).map(Arc::new))
        });
        let file = File { hash, bytes: bytes.len() as u64, facts, stamp, settled: stamp.is_settled(began) };
        (path, Some(file))
    }

    /// How often the same content was met.
    pub fn dedup(&self) -> DedupStats {
        let mut seen = BTreeSet::new();
        let mut stats = DedupStats::default();
        for file in self.files.values().filter(|file| file.facts.is_some()) {
            if seen.insert(file.hash) {
                stats.unique_hashes += 1;
            } else {
                stats.duplicates_avoided += 1;
                stats.bytes_saved += file.bytes;
            }
        }
        stats
    }

    /// Forgets everything, as after `cache clear`.
    pub fn forget(&mut self) {
        self.files.clear();
        self.known.clear();
        self.looked = false;
        self.digests = Digests::default();
    }

    /// What the build files among some paths say, and which of them are gone.
    pub fn manifests<'p>(
        &self,
        paths: impl Iterator<Item = &'p String>,
    ) -> Vec<(Arc<str>, Option<Arc<Manifest>>)> {
        let said = |path: &String| {
            let (_, bytes) = self.files.get(path).and_then(|_| content(&self.root.join(path)))?;
            Manifest::read(path, &String::from_utf8_lossy(&bytes)).map(Arc::new)
        };
        let paths = paths.filter(|path| Manifest::is_at(path));
        paths.map(|path| (Arc::from(path.as_str()), said(path))).collect()
    }

    /// What is worth keeping, as bytes of two files: the index, and what a memo of the same files has worked out.
    pub fn to_kept(&self, memo: &Memo) -> (Vec<u8>, Vec<u8>) {
        let index = kept::write(&self.files);
        let meaning = kept::write_meaning(&index, &memo.pack());
        (index, meaning)
    }

    /// Whether it ever looked at all files.
    pub fn has_looked(&self) -> bool {
        self.looked
    }
}

impl Digests {
    fn add(&mut self, path: &str, file: &File) {
        let (one, other) = Digests::of(path, file);
        self.paths = self.paths.wrapping_add(one);
        self.contents = self.contents.wrapping_add(other);
    }

    fn subtract(&mut self, path: &str, file: &File) {
        let (one, other) = Digests::of(path, file);
        self.paths = self.paths.wrapping_sub(one);
        self.contents = self.contents.wrapping_sub(other);
    }

    fn of(path: &str, file: &File) -> (u128, u128) {
        let name = Hash::of(path.as_bytes());
        let both = Hash::of(&[name.0, file.hash.0].concat());
        (u128::from_le_bytes(name.0), u128::from_le_bytes(both.0))
    }
}

/// What a regular file holds, with the stamp of the moment before it was read.
fn content(path: &Path) -> Option<(Stamp, Vec<u8>)> {
    let file = fs::File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let stamp = Stamp::of(&metadata);
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.bytes.min(LARGEST)).ok()? + 1);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some((stamp, bytes))
}
