//! What a finished write survives. One choice for every kind of file; this never knows what is in them.

use std::fs::File;
use std::io;
use std::path::Path;

/// What must not lose a write that was reported as done.
///
/// In both cases the death of our process at any point (a crash, `kill -9`) leaves the old state or the new
/// one, never a mixture. They differ in what a power loss may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Data and then the directory are on the disk before the call returns: a power loss cannot take back
    /// what was reported as done. Costs one to three fsyncs, each 1 to 50 ms on a busy disk.
    Fsync,
    /// The system writes it when it likes, usually within half a minute. A power loss may bring back an older
    /// state and, on file systems that do not order data before names, an empty file. For what can be made
    /// again.
    Cached,
}

impl Durability {
    pub(crate) fn sync_file(self, file: &File) -> io::Result<()> {
        match self {
            Durability::Fsync => sync(file),
            Durability::Cached => Ok(()),
        }
    }

    /// A new name is only as durable as the directory that holds it.
    pub(crate) fn sync_dir(self, directory: &Path) -> io::Result<()> {
        match self {
            Durability::Fsync => sync(&File::open(directory)?),
            Durability::Cached => Ok(()),
        }
    }
}

fn sync(file: &File) -> io::Result<()> {
    #[cfg(test)]
    tests::note(file);
    file.sync_all()
}

#[cfg(test)]
pub(crate) use tests::synced;

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::os::fd::AsRawFd;
    use std::path::PathBuf;

    use super::*;

    thread_local! {
        static SYNCED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    /// The files that this thread synced during `act`, by the names that they had then.
    pub(crate) fn synced(act: impl FnOnce()) -> Vec<PathBuf> {
        SYNCED.take();
        act();
        SYNCED.take()
    }

    pub(super) fn note(file: &File) {
        let name = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        SYNCED.with_borrow_mut(|synced| synced.extend(name));
    }
}
