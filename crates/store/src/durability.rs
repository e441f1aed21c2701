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
    /// what was reported as done. Costs one or two fsyncs, each 1 to 50 ms on a busy disk.
    Fsync,
    /// The system writes it when it likes, usually within half a minute. A power loss may bring back an older
    /// state and, on file systems that do not order data before names, an empty file. For what can be made
    /// again.
    Cached,
}

impl Durability {
    pub(crate) fn sync_file(self, file: &File) -> io::Result<()> {
        match self {
            Durability::Fsync => file.sync_all(),
            Durability::Cached => Ok(()),
        }
    }

    /// A new name is only as durable as the directory that holds it.
    pub(crate) fn sync_dir(self, directory: &Path) -> io::Result<()> {
        match self {
            Durability::Fsync => File::open(directory)?.sync_all(),
            Durability::Cached => Ok(()),
        }
    }
}
