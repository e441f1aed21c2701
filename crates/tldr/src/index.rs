//! What is known of the files of a project: their content by hash, and the facts of those that are programs. Brings itself up
//! to date on demand: by what the kernel told since the last time where it watches, else by looking at every entry. Knows no
//! question.

mod digests;
mod kept;
mod known;
mod told;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime};

use code::facts::{self, Held};
use code::language::Language;
use code::project::{Manifest, Said};
use rayon::prelude::*;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use wire::tldr::DedupStats;

use crate::progress::Progress;
use crate::walk::{self, Found, Stamp, Walked};
use crate::watch::{Changes, Watch};

pub use digests::Digests;
pub(crate) use kept::Kept;
use known::{Content, Known};

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

/// One file.
#[derive(Debug, Clone)]
pub struct File {
    pub hash: Hash,
    /// What tells this file with its content from all others.
    pub digests: Digests,
    pub bytes: u64,
    /// Nothing for what is no program, or none that we know how to read.
    pub facts: Option<Held>,
    stamp: Stamp,
    /// Whether another change would be sure to change the stamp.
    settled: bool,
}

/// All files by their path below the project, in order.
pub type Files = BTreeMap<String, File>;

/// The files of a project at one moment.
#[derive(Debug)]
pub struct Index {
    root: PathBuf,
    watch: Option<Watch>,
    files: Arc<Files>,
    folders: HashSet<PathBuf>,
    known: Known,
    /// Files whose next change the kernel or their stamp might not show.
    doubtful: BTreeSet<String>,
    notes: Vec<String>,
    looked: bool,
    /// What a walk saw that was made ahead of the first look.
    walked: Option<Walked>,
    /// When all files were looked at.
    checked: Instant,
    digests: Digests,
    progress: Arc<Progress>,
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
    pub fn new(root: &Path, lifetime: Lifetime) -> Index {
        let watch = match lifetime {
            Lifetime::OneLook => None,
            Lifetime::Long => Watch::start().ok(),
        };
        Index {
            root: root.to_owned(),
            watch,
            files: Arc::default(),
            folders: HashSet::new(),
            known: Known::default(),
            doubtful: BTreeSet::new(),
            notes: Vec::new(),
            looked: false,
            walked: None,
            checked: Instant::now(),
            digests: Digests::default(),
            progress: Arc::default(),
        }
    }

    /// Begins with what was kept, whatever is known.
    pub fn remember(&mut self, kept: Kept) {
        self.forget();
        let mut files = kept.files;
        files.iter_mut().for_each(|(path, file)| self.meet(path, file));
        self.files = Arc::new(files);
    }

    /// Says from now on how far the reading of files has come.
    pub(crate) fn report_to(&mut self, progress: Arc<Progress>) {
        self.progress = progress;
    }

    pub fn digests(&self) -> Digests {
        self.digests
    }

    pub fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// What could not be seen.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Walks while something else is done, so that the first look has less to do. Where the kernel tells what happened
    /// since, nothing is missed by that; elsewhere it would be walked once more, and so it is not walked now.
    pub fn ahead<T: Send>(&mut self, other: impl FnOnce() -> T + Send) -> T {
        if self.watch.is_none() {
            return other();
        }
        thread::scope(|scope| {
            let done = scope.spawn(other);
            self.walked = Some(self.walk());
            done.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Makes the index that of the files as they are now. Whoever asks about one file has it looked at in any case.
    pub fn refresh(&mut self, asked: Option<&str>) -> Refreshed {
        let mut first = self.walked.take().map(|walked| self.saw(walked)).unwrap_or_default();
        first.changed.extend(self.catch_up(asked).changed);
        first
    }

    fn catch_up(&mut self, asked: Option<&str>) -> Refreshed {
        let changes = match &mut self.watch {
            Some(watch) if self.looked && watch.is_blind().is_none() => watch.drain(),
            _ => Changes::Everything,
        };
        match changes {
            Changes::Everything => self.look_at_everything(),
            Changes::In(folders) => self.look_into(&folders, asked),
        }
    }

    /// Looks at every entry, whatever was told.
    pub fn look_at_everything(&mut self) -> Refreshed {
        self.walked = None;
        let walked = self.walk();
        self.saw(walked)
    }

    fn saw(&mut self, walked: Walked) -> Refreshed {
        self.checked = Instant::now();
        self.looked = true;
        self.folders = walked.folders.into_iter().collect();
        if let Some(watch) = &mut self.watch {
            watch.keep_only(&self.folders);
        }
        self.notes = walked.notes;
        let gone: Vec<String> = {
            let found: BTreeSet<&str> = walked.files.iter().map(|file| &*file.path).collect();
            self.files.keys().filter(|path| !found.contains(path.as_str())).cloned().collect()
        };
        self.take_in(walked.files, gone)
    }

    /// A walk of which the kernel tells all that happens later.
    fn walk(&mut self) -> Walked {
        let Some(mut watch) = self.watch.take() else { return walk::walk(&self.root, |_| ()) };
        // What was told until here, the walk will see.
        watch.drain();
        watch.begin();
        let watch = Arc::new(Mutex::new(watch));
        let walked = walk::walk(&self.root, {
            let watch = Arc::clone(&watch);
            move |folder| watch.lock().unwrap_or_else(PoisonError::into_inner).enter(folder)
        });
        let watch = Arc::into_inner(watch).expect("the walk is over");
        self.watch = Some(watch.into_inner().unwrap_or_else(PoisonError::into_inner));
        walked
    }

    /// Looks at one file and at nothing else but the rules that may hide it.
    pub fn look_at(&mut self, path: &str) -> Refreshed {
        match walk::find(&self.root, path) {
            Some(found) => self.take_in(vec![found], Vec::new()),
            None => self.take_in(Vec::new(), vec![path.to_owned()]),
        }
    }

    /// Looks at one file as [`Index::look_at`] does, for somebody who parses it himself.
    pub fn glance_at(&mut self, path: &str) -> Refreshed {
        if let Some(found) = walk::find(&self.root, path)
            && let Some((file, _)) = self.text(&found.path)
        {
            self.insert(found.path, file);
        }
        Refreshed::default()
    }

    /// The next refresh reads this file whatever the file system says.
    pub fn distrust(&mut self, path: &str) {
        if let Some(file) = Arc::make_mut(&mut self.files).get_mut(path) {
            file.settled = false;
            self.doubtful.insert(path.to_owned());
        }
    }

    /// Reads those that are not what we know, and forgets those that are gone.
    fn take_in(&mut self, found: Vec<Found>, gone: Vec<String>) -> Refreshed {
        let is_news = |found: &Found| {
            self.files.get(&found.path).is_none_or(|file| !file.settled || file.stamp != found.stamp)
        };
        let news: Vec<Found> = found.into_iter().filter(|found| is_news(found)).collect();
        self.progress.expect(news.len());
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
            self.remove(&path);
            if let Some(file) = file {
                self.insert(path, file);
            }
        }
        refreshed
    }

    fn insert(&mut self, path: String, mut file: File) {
        self.meet(&path, &mut file);
        Arc::make_mut(&mut self.files).insert(path, file);
    }

    /// Counts a file that is to be known from now on.
    fn meet(&mut self, path: &str, file: &mut File) {
        if let Some(facts) = file.facts.take() {
            file.facts = Some(self.known.came(Content::of(file.hash, path), file.bytes, facts));
        }
        self.digests.add(file.digests);
        if !file.settled || file.stamp.has_other_names() {
            self.doubtful.insert(path.to_owned());
        }
    }

    fn remove(&mut self, path: &str) {
        if let Some(file) = Arc::make_mut(&mut self.files).remove(path) {
            self.digests.subtract(file.digests);
            self.doubtful.remove(path);
            if file.facts.is_some() {
                self.known.went(Content::of(file.hash, path), file.bytes);
            }
        }
    }

    /// Nothing for a file that went away or may not be read.
    fn read(&self, found: Found) -> (String, Option<File>) {
        self.progress.one_more();
        let Found { path, .. } = found;
        let Some((mut file, bytes)) = self.text(&path) else { return (path, None) };
        file.facts = Language::of_path(&path).and_then(|language| {
            let known = self.known.find(&Content::of(file.hash, &path));
            known.or_else(|| facts::extract(language, &path, &bytes).map(Held::from))
        });
        (path, Some(file))
    }

    /// A file without its facts, and what is in it.
    fn text(&self, path: &str) -> Option<(File, Vec<u8>)> {
        let began = SystemTime::now();
        let (stamp, bytes) = content(&self.root.join(path))?;
        let hash = Hash::of(&bytes);
        let (digests, settled) = (Digests::of(path, hash), stamp.is_settled(began));
        Some((File { hash, digests, bytes: bytes.len() as u64, facts: None, stamp, settled }, bytes))
    }

    /// How often the same content was met.
    pub fn dedup(&self) -> DedupStats {
        self.known.dedup()
    }

    /// What the build files among some paths say, and which of them are gone.
    pub fn manifests<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Vec<Said> {
        let said = |path: &String| {
            let (_, bytes) = self.files.get(path).and_then(|_| content(&self.root.join(path)))?;
            Manifest::read(path, &String::from_utf8_lossy(&bytes)).map(Arc::new)
        };
        let paths = paths.filter(|path| Manifest::is_at(path));
        paths.map(|path| (Arc::from(path.as_str()), said(path))).collect()
    }

    /// Whether it ever looked at all files.
    pub fn has_looked(&self) -> bool {
        self.looked
    }

    /// Forgets everything, as after `cache clear`.
    pub fn forget(&mut self) {
        self.files = Arc::default();
        self.known = Known::default();
        self.doubtful.clear();
        self.looked = false;
        self.digests = Digests::default();
    }
}

/// What is worth keeping, as bytes of two files: the index, and what a memo of the same files has worked out.
pub fn to_kept(files: &Files, worked_out: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let index = kept::write(files);
    let meaning = kept::write_meaning(&index, worked_out);
    (index, meaning)
}

impl File {
    /// The content that this is about, if the file still holds it: it may have changed since.
    pub fn text(&self, root: &Path, path: &str) -> Option<Vec<u8>> {
        let (stamp, bytes) = content(&root.join(path))?;
        let is_it = if self.settled { stamp == self.stamp } else { Hash::of(&bytes) == self.hash };
        is_it.then_some(bytes)
    }
}

/// What a regular file holds, with the stamp of the moment before it was read.
pub(crate) fn content(path: &Path) -> Option<(Stamp, Vec<u8>)> {
    // To open a pipe would be to wait for whoever writes to it.
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::File::options().read(true).custom_flags(at_once).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let stamp = Stamp::of(&metadata);
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.bytes.min(LARGEST)).ok()? + 1);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some((stamp, bytes))
}
