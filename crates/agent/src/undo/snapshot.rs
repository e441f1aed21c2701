//! The files of a project that git would not ignore, kept so that a command's changes can be found and taken back.
//! Looks at every file's stamp, reads only those whose stamp is new.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use drip::load::Stamp;
use ignore::WalkBuilder;
use kit::process::Cancel;
use store::blobs::{Blobs, Digest};

use super::State;
use super::pack::Pack;
use super::shape::{Mode, Shape};

/// What is kept at most.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Bytes of a file. Larger ones are not kept.
    file: u64,
    /// Bytes of all together.
    total: u64,
    /// A tree with more files than this is looked at no further.
    files: usize,
    /// Nobody waits longer than this for a command to start; what is left is kept before the next one.
    patience: Duration,
}

const USUAL: Limits =
    Limits { file: 1 << 20, total: 200 << 20, files: 100_000, patience: Duration::from_secs(3) };

/// A file that was written so shortly before we looked may be written again without a new stamp: clocks of file systems
/// tick every 4 to 10 ms.
const RACY: Duration = Duration::from_millis(50);

const LATE: &str = "there was no time to keep it";
const NO_ROOM: &str = "there is no room for it";
const UNSEEN: &str = "it was ignored, or not looked at, before the command";

#[derive(Debug)]
pub(super) struct Snapshot {
    root: PathBuf,
    files: HashMap<PathBuf, Kept>,
    /// All else that is there.
    shapes: HashMap<PathBuf, Shape>,
    /// What they are.
    pack: Pack,
    /// Of the files that are kept, as they are now.
    bytes: u64,
    looked: Looked,
    limits: Limits,
}

/// How the last look went: by this it is known whether a file that appears was made, or was only not seen before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Looked {
    /// When it was over, in nanoseconds since 1970, less what clocks of file systems may be late.
    over_ns: i128,
    /// It came to the end.
    complete: bool,
    /// The rules of git that are in no file of the project.
    exclude: Option<Stamp>,
}

/// What becomes of files that there was no time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Belated {
    Keep,
    Leave,
}

/// What a command did, as before and after, by path.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) files: Vec<(PathBuf, State, State)>,
    /// To what is no file, and to modes.
    pub(super) shapes: Vec<(PathBuf, Shape, Shape)>,
}

/// Whether what is there now and was not seen before was made since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Appearing {
    Made,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    stamp: Stamp,
    /// The stamp is old enough to tell.
    settled: bool,
    pub(super) mode: u32,
    /// When it was made, in nanoseconds since 1970, where the file system tells.
    born_ns: Option<i128>,
    /// Or why it was not kept.
    pub(super) digest: Result<Digest, &'static str>,
}

impl Snapshot {
    /// Of what is below `root`; what files are is kept in `folder`, out of sight.
    pub(super) fn new(root: &Path, folder: &Path) -> Snapshot {
        Snapshot {
            root: root.to_owned(),
            files: HashMap::new(),
            shapes: HashMap::new(),
            pack: Pack::new(folder),
            bytes: 0,
            looked: Looked::default(),
            limits: USUAL,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Keeps what is new or changed. Once cancelled, or when it takes too long, the rest counts as not kept.
    pub(super) fn refresh(&mut self, cancel: &Cancel) {
        if self.pack.bytes() > 2 * self.limits.total {
            // Most of it is what files were long ago.
            self.files.clear();
            self.pack.clear();
        }
        self.look(cancel, Belated::Keep);
    }

    fn look(&mut self, cancel: &Cancel, belated: Belated) {
        let mut before = std::mem::take(&mut self.files);
        self.bytes = 0;
        let settled_before = since_1970(SystemTime::now()) - RACY.as_nanos() as i128;
        let until = Instant::now() + self.limits.patience;
        let mut count = 0;
        self.shapes.clear();
        for (path, is_file) in walk(&self.root).take(self.limits.files) {
            count += 1;
            if !is_file {
                let shape = Shape::at(&path);
                self.shapes.insert(path, shape);
                continue;
            }
            let Some(stamp) = Stamp::of(&path) else { continue };
            let known = before.remove(&path).filter(|known| known.stamp == stamp);
            let enough =
                |known: &Kept| known.settled || known.digest == Err(LATE) && belated == Belated::Leave;
            if let Some(known) = known.filter(enough) {
                self.bytes += known.digest.map_or(0, |_| stamp.bytes);
                self.files.insert(path, known);
                continue;
            }
            let settled = stamp.changed_ns.max(stamp.modified_ns) < settled_before;
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let mode = metadata.permissions().mode();
            let born_ns = metadata.created().ok().map(since_1970);
            let late = cancel.is_cancelled() || Instant::now() > until;
            let digest = if late { Err(LATE) } else { self.keep(&path, &stamp) };
            let settled = settled && !late;
            self.files.insert(path, Kept { stamp, settled, mode, born_ns, digest });
        }
        self.looked = Looked {
            over_ns: since_1970(SystemTime::now()) - RACY.as_nanos() as i128,
            complete: count < self.limits.files,
            exclude: Stamp::of(&self.root.join(".git/info/exclude")),
        };
    }

    /// What changed since the last look; the new state is the one to compare with next. What files were is moved to
    /// `blobs`.
    pub(super) fn changes(&mut self, blobs: &Blobs) -> Changes {
        let (before, looked) = (self.files.clone(), self.looked.clone());
        let shapes_before = self.shapes.clone();
        // What was changed comes first: there is time for the rest before the next command.
        self.look(&Cancel::default(), Belated::Leave);
        let (mut changes, mut appeared) = (Vec::new(), Vec::new());
        for (path, now) in &self.files {
            match before.get(path) {
                None => appeared.push((path, now)),
                Some(then) if then.is(now) => {}
                Some(then) => changes.push((path.clone(), self.saved(then, blobs), now.state())),
            }
        }
        let mut moved = HashSet::new();
        for (path, then) in before.iter().filter(|(path, _)| !self.files.contains_key(*path)) {
            changes.push((path.clone(), self.saved(then, blobs), State::Absent));
            // What comes back under its old name may go under its new one.
            moved.extend(then.digest.is_ok().then_some(then.place()));
        }
        let same_rules = looked.exclude == self.looked.exclude && rules(&before) == rules(&self.files);
        for (path, now) in appeared {
            // Whoever takes back what was not made by the command takes away what somebody else made.
            let moved = moved.contains(&now.place());
            let born = now.born_ns.is_none_or(|born| born >= looked.over_ns);
            if looked.complete && same_rules && (moved || born) {
                changes.push((path.clone(), State::Absent, now.state()));
            } else if moved || now.stamp.changed_ns >= looked.over_ns {
                changes.push((path.clone(), State::Unkept(UNSEEN.to_owned()), now.state()));
            }
        }
        changes.sort_by(|one, other| one.0.cmp(&other.0));
        let appear = if looked.complete && same_rules { Appearing::Made } else { Appearing::Unknown };
        Changes { files: changes, shapes: self.reshaped(&before, &shapes_before, appear) }
    }

    fn reshaped(
        &self,
        files: &HashMap<PathBuf, Kept>,
        shapes: &HashMap<PathBuf, Shape>,
        appearing: Appearing,
    ) -> Vec<(PathBuf, Shape, Shape)> {
        let chmodded =
            |path: &&PathBuf| files.get(*path).is_some_and(|was| was.mode != self.files[*path].mode);
        let paths: BTreeSet<&PathBuf> =
            shapes.keys().chain(self.shapes.keys()).chain(self.files.keys().filter(chmodded)).collect();
        let change = |path: &PathBuf| {
            let was = shape(path, files, shapes);
            let then = match shape(path, &self.files, &self.shapes) {
                // It may only be ignored now.
                Shape::Absent => Shape::at(path),
                then => then,
            };
            let told = was != then && (was != Shape::Absent || appearing == Appearing::Made);
            told.then(|| (path.clone(), was, then))
        };
        paths.into_iter().filter_map(change).collect()
    }

    fn keep(&mut self, path: &Path, stamp: &Stamp) -> Result<Digest, &'static str> {
        if stamp.bytes > self.limits.file {
            return Err("it is larger than 1 MB");
        }
        if self.bytes + stamp.bytes > self.limits.total {
            return Err("the project is larger than 200 MB");
        }
        let bytes = fs::read(path).map_err(|_| "it could not be read")?;
        self.bytes += bytes.len() as u64;
        self.pack.keep(&bytes).map_err(|_| NO_ROOM)
    }

    /// What a file was, where it outlives us.
    fn saved(&self, then: &Kept, blobs: &Blobs) -> State {
        let Ok(digest) = &then.digest else { return then.state() };
        let bytes = self.pack.get(digest).ok().flatten();
        match bytes.is_some_and(|bytes| blobs.put(&bytes).is_ok()) {
            true => then.state(),
            false => State::Unkept(NO_ROOM.to_owned()),
        }
    }
}

impl Kept {
    fn state(&self) -> State {
        match &self.digest {
            Ok(digest) => State::File { digest: digest.to_string(), mode: self.mode },
            Err(why) => State::Unkept((*why).to_owned()),
        }
    }

    /// The file itself, whatever its name.
    fn place(&self) -> (u64, u64) {
        (self.stamp.device, self.stamp.inode)
    }

    /// Where both were read, what was read tells; else the stamp.
    fn is(&self, now: &Kept) -> bool {
        match (&self.digest, &now.digest) {
            (Ok(then), Ok(now)) => then == now,
            _ => self.stamp == now.stamp,
        }
    }
}

fn shape(path: &Path, files: &HashMap<PathBuf, Kept>, shapes: &HashMap<PathBuf, Shape>) -> Shape {
    let file = || files.get(path).map(|kept| Shape::File(Mode::of(kept.mode)));
    shapes.get(path).cloned().or_else(file).unwrap_or(Shape::Absent)
}

/// The files that say what is ignored, as they are.
fn rules(files: &HashMap<PathBuf, Kept>) -> BTreeMap<&Path, &Result<Digest, &'static str>> {
    let is_rules =
        |path: &Path| path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore");
    let rules = files.iter().filter(|(path, _)| is_rules(path));
    rules.map(|(path, kept)| (path.as_path(), &kept.digest)).collect()
}

fn since_1970(time: SystemTime) -> i128 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as i128
}

/// Everything below, and whether it is a regular file: nothing else has content to keep.
fn walk(root: &Path) -> impl Iterator<Item = (PathBuf, bool)> + use<> {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).require_git(false).follow_links(false);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    let below = walk.build().flatten().filter(|entry| entry.depth() > 0);
    below.map(|entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        (entry.into_path(), is_file)
    })
}

#[cfg(test)]
mod tests {
    use store::Durability;
    use testkit::Home;

    use super::*;

    struct Rig {
        home: Home,
        snapshot: Snapshot,
        blobs: Blobs,
    }

    fn rig(limits: Limits, files: &[(&str, &str)]) -> Rig {
        let home = Home::new();
        for (name, text) in files {
            home.write(format!("p/{name}"), text);
        }
        let folder = home.path().join("undo");
        let blobs = Blobs::open(&folder, Durability::Cached).unwrap();
        let mut snapshot = Snapshot::new(&home.path().join("p"), &folder);
        snapshot.limits = limits;
        Rig { home, snapshot, blobs }
    }

    impl Rig {
        /// What is known of each file that a command changed by writing these.
        fn after(&mut self, files: &[(&str, &str)]) -> Vec<String> {
            self.snapshot.refresh(&Cancel::default());
            for (name, text) in files {
                self.home.write(format!("p/{name}"), text);
            }
            let before = |(_, before, _): (PathBuf, State, State)| match before {
                State::Unkept(why) => why,
                State::File { .. } => "kept".to_owned(),
                State::Absent => "was not there".to_owned(),
            };
            self.snapshot.changes(&self.blobs).files.into_iter().map(before).collect()
        }
    }

    #[test]
    fn of_a_large_project_the_rest_is_named() {
        let files = [("a", "1234567"), ("b", "1234"), ("c", "1")];
        let mut rig = rig(Limits { file: 6, total: 4, ..USUAL }, &files);
        let told = rig.after(&files.map(|(name, _)| (name, "other")));
        for words in ["it is larger than 1 MB", "the project is larger than 200 MB", "kept"] {
            assert!(told.iter().any(|told| told == words), "{words}: {told:?}");
        }
    }

    #[test]
    fn a_tree_without_end_is_not_looked_at_to_the_end() {
        let mut rig = rig(Limits { files: 2, ..USUAL }, &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        let told = rig.after(&[("a", "new"), ("b", "new"), ("c", "new"), ("d", "new")]);
        assert!(told.len() >= 2 && !told.contains(&"was not there".to_owned()), "{told:?}");
    }

    #[test]
    fn what_files_were_long_ago_does_not_pile_up() {
        let mut rig = rig(Limits { total: 100, ..USUAL }, &[("a", "start")]);
        for number in 0..100 {
            let text = format!("{number:50}");
            assert_eq!(rig.after(&[("a", &text)]), ["kept"], "command {number}");
            assert!(rig.snapshot.pack.bytes() <= 2 * 100 + 2 * 50, "{}", rig.snapshot.pack.bytes());
        }
    }
}
