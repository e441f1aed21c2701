//! Bytes kept under their own digest: the same bytes are kept once, and what comes back is what went in. Who refers
//! to a blob is the owner's knowledge.
//!
//! Layout: `<root>/<first 2 digits>/<other 62>` (256 directories of 400 files hold 100,000 blobs), unfinished files in
//! `tmp`, what turned out damaged in `damaged`, never deleted by us.

mod digest;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kit::places::{self, PlaceError};
use rustix::process::geteuid;

use crate::fault::{At, folder_of, found};
use crate::lock::{Mode, lock_within};
use crate::temporary::{Temporary, sweep};
use crate::{Durability, FileError};
pub use digest::{Digest, NotADigest};

/// Others hold the lock for the time of one rename or removal.
const PATIENCE: Duration = Duration::from_secs(2);

/// What unfinished files are named after.
const UNFINISHED: &str = "blob";

/// A store of blobs in one private directory.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
    durability: Durability,
}

/// A number of blobs and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    pub blobs: u64,
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("blob {digest} is damaged; it was set aside as `{}`", kept_as.display())]
    Damaged { digest: Digest, kept_as: PathBuf },
    #[error("`{}` is locked by another process that does not finish", root.display())]
    Busy { root: PathBuf },
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl BlobError {
    /// The command that helps, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            BlobError::Damaged { .. } => None,
            BlobError::Busy { root } => {
                Some(format!("`fuser -v {}`", places::shell_word(root.join("lock").as_os_str())))
            }
            BlobError::Place(error) => error.hint(),
            BlobError::File(error) => error.hint(),
        }
    }
}

impl Blobs {
    /// The store at `root`, which is made if missing and must be private.
    pub fn open(root: &Path, durability: Durability) -> Result<Blobs, BlobError> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err();
        let made: Vec<&Path> = root.ancestors().take_while(missing).collect();
        places::private_dir(root, geteuid().as_raw())?;
        for folder in made.into_iter().map(folder_of) {
            durability.sync_dir(folder).at("make durable", folder)?;
        }
        Ok(Blobs { root: root.to_owned(), durability })
    }

    /// Keeps `bytes`. A blob that is there already counts as new again for [`Blobs::collect`]: whoever wants to refer
    /// to a blob puts it first, even if it [is there](Blobs::contains).
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        let (folder, path) = self.place(&digest);
        if !self.guarded(Mode::Shared, || self.renew(&path, bytes).at("renew", &path))? {
            let unfinished = self.folder("tmp")?;
            self.folder(&folder)?;
            let temporary = self.write(&unfinished, bytes).at("write", &path)?;
            self.guarded(Mode::Shared, || temporary.rename(&path).at("write", &path))?;
        }
        // Also what we found: whoever made it may have died before this.
        for folder in [&self.root.join(folder), &self.root] {
            self.durability.sync_dir(folder).at("make durable", folder)?;
        }
        Ok(digest)
    }

    /// The bytes, none if they are not here. Bytes that are not what their name says are set aside and never given.
    pub fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, BlobError> {
        let (_, path) = self.place(digest);
        match found(fs::read(&path)).at("read", &path)? {
            Some(bytes) if Digest::of(&bytes) != *digest => self.doubt(digest, &path),
            bytes => Ok(bytes),
        }
    }

    pub fn contains(&self, digest: &Digest) -> Result<bool, BlobError> {
        let (_, path) = self.place(digest);
        Ok(found(fs::symlink_metadata(&path)).at("look at", &path)?.is_some_and(|entry| entry.is_file()))
    }

    /// How much is kept.
    pub fn size(&self) -> Result<Amount, BlobError> {
        let mut amount = Amount::default();
        self.entries()?.iter().for_each(|(_, bytes)| amount.add(*bytes));
        Ok(amount)
    }

    /// What is kept, and how many bytes each has.
    pub fn entries(&self) -> Result<Vec<(Digest, u64)>, BlobError> {
        let mut entries = Vec::new();
        self.each(|digest, path| {
            if let Some(file) = found(fs::symlink_metadata(path)).at("look at", path)? {
                entries.push((digest, file.len()));
            }
            Ok(())
        })?;
        Ok(entries)
    }

    /// Removes what is not `live` and was last put more than `grace` before `unix_ms`; also what killed writers left.
    /// Within the grace a writer may have put a blob and not said yet that it refers to it.
    pub fn collect(
        &self,
        live: impl Fn(&Digest) -> bool,
        unix_ms: i64,
        grace: Duration,
    ) -> Result<Amount, BlobError> {
        let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0));
        let old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > grace);
        let mut removed = Amount::default();
        self.each(|digest, path| {
            if live(&digest) {
                return Ok(());
            }
            // A put of the same bytes either renews the file before we look, or finds it gone.
            self.guarded(Mode::Exclusive, || {
                let file = found(fs::symlink_metadata(path)).at("look at", path)?;
                if let Some(file) = file.filter(|file| file.modified().is_ok_and(old)) {
                    fs::remove_file(path).at("remove", path)?;
                    removed.add(file.len());
                }
                Ok(())
            })
        })?;
        sweep(&self.root.join("tmp"));
        Ok(removed)
    }

    /// Reads again while nobody can write: what looked damaged may have been put anew in between.
    fn doubt(&self, digest: &Digest, path: &Path) -> Result<Option<Vec<u8>>, BlobError> {
        let damaged = self.folder("damaged")?;
        let mut kept_as = None;
        let bytes = self.guarded(Mode::Exclusive, || {
            let bytes = found(fs::read(path)).at("read", path)?;
            if bytes.as_ref().is_some_and(|bytes| Digest::of(bytes) != *digest) {
                let aside = free_name(&damaged, digest);
                fs::rename(path, &aside).at("set aside", path)?;
                kept_as = Some(aside);
            }
            Ok(bytes)
        })?;
        match kept_as {
            Some(kept_as) => Err(BlobError::Damaged { digest: *digest, kept_as }),
            None => Ok(bytes),
        }
    }

    /// Every blob, in the order of the file system. What has another name is not ours.
    fn each(&self, mut visit: impl FnMut(Digest, &Path) -> Result<(), BlobError>) -> Result<(), BlobError> {
        for fan in 0..=u8::MAX {
            let folder = self.root.join(format!("{fan:02x}"));
            let Some(entries) = found(fs::read_dir(&folder)).at("list", &folder)? else { continue };
            for entry in entries {
                let entry = entry.at("list", &folder)?;
                let name = format!("{fan:02x}{}", entry.file_name().to_string_lossy());
                if let Ok(digest) = name.parse() {
                    visit(digest, &entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Makes a blob as young as a new one; false if it is not there, or is damaged and has to be written anew.
    fn renew(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        let Some(mut file) = found(File::options().read(true).write(true).open(path))? else {
            return Ok(false);
        };
        let same = file.metadata()?.len() == bytes.len() as u64 && {
            let mut kept = Vec::with_capacity(bytes.len());
            file.read_to_end(&mut kept)?;
            kept == bytes
        };
        if same {
            file.set_modified(SystemTime::now())?;
            self.durability.sync_file(&file)?;
        }
        Ok(same)
    }

    fn write(&self, folder: &Path, bytes: &[u8]) -> io::Result<Temporary> {
        let mut temporary = Temporary::create(folder, UNFINISHED.as_ref())?;
        temporary.file.write_all(bytes)?;
        self.durability.sync_file(&temporary.file)?;
        Ok(temporary)
    }

    /// Puts share the lock; whoever removes has it alone. A file of its own for each use, because a lock belongs to
    /// the open file and threads that shared one would unlock each other.
    fn guarded<T>(&self, mode: Mode, step: impl FnOnce() -> Result<T, FileError>) -> Result<T, BlobError> {
        let path = self.root.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.at("open", &path)?;
        if !lock_within(&file, mode, PATIENCE).at("lock", &path)? {
            return Err(BlobError::Busy { root: self.root.clone() });
        }
        Ok(step()?)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, FileError> {
        let folder = self.root.join(name);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).at("make", &folder)?;
        Ok(folder)
    }

    fn place(&self, digest: &Digest) -> (String, PathBuf) {
        let name = digest.to_string();
        let (fan, rest) = name.split_at(2);
        (fan.to_owned(), self.root.join(fan).join(rest))
    }
}

impl Amount {
    fn add(&mut self, bytes: u64) {
        self.blobs += 1;
        self.bytes += bytes;
    }
}

fn free_name(folder: &Path, digest: &Digest) -> PathBuf {
    (1_u64..)
        .map(|number| folder.join(format!("{digest}-{number}")))
        .find(|name| name.symlink_metadata().is_err())
        .expect("a directory does not hold that many files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durability::synced;

    #[test]
    fn every_put_that_is_reported_is_on_the_disk_with_all_the_names_that_lead_to_it() {
        let home = tempfile::tempdir().expect("a directory can be made");
        let root = home.path().join("a/blobs");
        let mut blobs = None;
        let opening = synced(|| blobs = Blobs::open(&root, Durability::Fsync).ok());
        assert_eq!(opening, [home.path().join("a"), home.path().to_owned()]);
        let blobs = blobs.expect("an empty directory is a store");
        let put = || assert!(blobs.put(b"abc").is_ok());
        let (new, again) = (synced(put), synced(put));
        assert!(new[0].starts_with(root.join("tmp")), "{new:?}");
        assert_eq!(new[1..], [root.join("ba"), root.clone()]);
        assert_eq!(again, [blobs.place(&Digest::of(b"abc")).1, root.join("ba"), root.clone()]);
        let careless = Blobs { durability: Durability::Cached, ..blobs.clone() };
        assert_eq!(synced(|| assert!(careless.put(b"xyz").is_ok())), Vec::<PathBuf>::new());
    }
}
