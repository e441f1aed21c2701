//! Which directories of a project changed since we last asked, from the kernel. An event is in its queue before the call
//! that caused it returns, so that whoever drains the queue first and answers then has missed nothing. Knows no rules and
//! no content. What the kernel cannot tell (a write through shared memory, a file system of another machine) is found by
//! whoever looks at the files again now and then.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::walk::IGNORE_FILE;

/// The kernel's eyes on the directories of one project.
#[derive(Debug)]
pub struct Watch {
    queue: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    /// Why some directories are not watched.
    blind: Option<Errno>,
}

/// What changed since the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Entries of these directories.
    In(BTreeSet<PathBuf>),
    /// More than can be told, or the rules themselves: look at everything.
    Everything,
}

const EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

impl Watch {
    pub fn start() -> rustix::io::Result<Watch> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Watch { queue, folders: HashMap::new(), blind: None })
    }

    /// Watches a directory from now on. Whoever lists it afterwards is told of all that happens later.
    pub fn enter(&mut self, folder: &Path) {
        match inotify::add_watch(&self.queue, folder, EVENTS) {
            Ok(id) => drop(self.folders.insert(id, folder.to_owned())),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => self.blind = Some(error),
        }
    }

    /// Watches no other directories than these, which were entered.
    pub fn keep_only(&mut self, folders: &HashSet<PathBuf>) {
        self.folders.retain(|id, path| {
            let is_kept = folders.contains(path);
            if !is_kept {
                // It may be gone with its directory.
                let _ = inotify::remove_watch(&self.queue, *id);
            }
            is_kept
        });
    }

    /// Whoever enters all directories anew learns anew whether some cannot be watched.
    pub fn begin(&mut self) {
        self.blind = None;
    }

    /// Whether a change could go unseen, and why.
    pub fn is_blind(&self) -> Option<Errno> {
        self.blind
    }

    /// Whether a directory is watched.
    pub fn sees(&self, folder: &Path) -> bool {
        self.folders.values().any(|path| path == folder)
    }

    /// All that was queued until now. Never waits.
    pub fn drain(&mut self) -> Changes {
        let mut buffer = [MaybeUninit::<u8>::uninit(); 16 * 1024];
        let mut changed = BTreeSet::new();
        let mut everything = false;
        let mut lost = BTreeSet::new();
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let flags = event.events();
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    everything |= flags.intersects(
                        ReadFlags::QUEUE_OVERFLOW
                            | ReadFlags::UNMOUNT
                            | ReadFlags::DELETE_SELF
                            | ReadFlags::MOVE_SELF,
                    ) || name.is_some_and(is_rule_file);
                    changed.extend(self.folders.get(&event.wd()).cloned());
                    if flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
                        lost.insert(event.wd());
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    everything = true;
                    break;
                }
            }
        }
        for id in lost {
            // A directory that moved takes its watch along; at its old place there may be another one.
            self.folders.remove(&id);
            let _ = inotify::remove_watch(&self.queue, id);
        }
        if everything { Changes::Everything } else { Changes::In(changed) }
    }
}

/// Whether a file decides what we see.
fn is_rule_file(name: &OsStr) -> bool {
    [IGNORE_FILE, ".gitignore", ".ignore", ".git"].iter().any(|rule| name == *rule)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what happens to files here is the test itself")]
mod tests {
    use std::fs;

    use testkit::Home;

    use super::*;

    fn watched(home: &Home) -> (PathBuf, Watch) {
        home.write("p/a.py", "one");
        home.write("p/sub/b.py", "one");
        let root = home.path().join("p");
        let mut watch = Watch::start().unwrap();
        follow(&mut watch, [root.clone(), root.join("sub")]);
        assert_eq!(watch.drain(), Changes::In(BTreeSet::new()));
        (root, watch)
    }

    fn follow<const N: usize>(watch: &mut Watch, folders: [PathBuf; N]) {
        folders.iter().for_each(|folder| watch.enter(folder));
        watch.keep_only(&folders.into());
    }

    fn folders<const N: usize>(folders: [PathBuf; N]) -> Changes {
        Changes::In(folders.into())
    }

    #[test]
    fn what_changed_is_told_at_once_and_once() {
        let home = Home::new();
        let (root, mut watch) = watched(&home);
        fs::write(root.join("sub/b.py"), "two").unwrap();
        assert_eq!(watch.drain(), folders([root.join("sub")]));
        assert_eq!(watch.drain(), folders([]));
        fs::rename(root.join("sub/b.py"), root.join("c.py")).unwrap();
        assert_eq!(watch.drain(), folders([root.clone(), root.join("sub")]));
        fs::remove_file(root.join("c.py")).unwrap();
        fs::create_dir(root.join("new")).unwrap();
        assert_eq!(watch.drain(), folders([root.clone()]));
        assert!(!watch.sees(&root.join("new")));
    }

    #[test]
    fn rules_and_a_lost_directory_mean_everything() {
        let home = Home::new();
        let (root, mut watch) = watched(&home);
        fs::write(root.join(".gitignore"), "*.py").unwrap();
        assert_eq!(watch.drain(), Changes::Everything);
        fs::rename(root.join("sub"), root.join("other")).unwrap();
        assert_eq!(watch.drain(), Changes::Everything);
        follow(&mut watch, [root.clone(), root.join("other")]);
        let _ = watch.drain();
        fs::write(root.join("other/b.py"), "three").unwrap();
        assert_eq!(watch.drain(), folders([root.join("other")]));
    }

    #[test]
    fn a_directory_in_the_place_of_one_that_left_is_watched() {
        let home = Home::new();
        let (root, mut watch) = watched(&home);
        fs::rename(root.join("sub"), home.path().join("elsewhere")).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        assert_eq!(watch.drain(), Changes::Everything);
        follow(&mut watch, [root.clone(), root.join("sub")]);
        let _ = watch.drain();
        fs::write(home.path().join("elsewhere/b.py"), "two").unwrap();
        assert_eq!(watch.drain(), folders([]));
        fs::write(root.join("sub/c.py"), "two").unwrap();
        assert_eq!(watch.drain(), folders([root.join("sub")]));
    }

    #[test]
    fn more_than_the_kernel_keeps_means_everything() {
        let home = Home::new();
        let (root, mut watch) = watched(&home);
        let most: usize =
            fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
        for _ in 0..=most / 4 {
            // Two events each, none of them like the one before.
            fs::rename(root.join("a.py"), root.join("sub/a.py")).unwrap();
            fs::rename(root.join("sub/a.py"), root.join("a.py")).unwrap();
        }
        assert_eq!(watch.drain(), Changes::Everything);
        assert_eq!(watch.drain(), folders([]));
    }
}
