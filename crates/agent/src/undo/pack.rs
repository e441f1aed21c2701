//! What files were, for as long as we live: one nameless file with one content after the other. It goes with us, however
//! we go; what must outlive us is moved on. Knows bytes by their digest and nothing of paths.
//!
//! A file for each content would cost twenty system calls each, and most of them are never asked for.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use store::blobs::Digest;

use crate::create::nameless;

#[derive(Debug)]
pub(super) struct Pack {
    folder: PathBuf,
    /// None until there is something to keep.
    file: Option<File>,
    end: u64,
    places: HashMap<Digest, Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    length: usize,
}

impl Pack {
    pub(super) fn new(folder: &Path) -> Pack {
        Pack { folder: folder.to_owned(), file: None, end: 0, places: HashMap::new() }
    }

    /// How much was kept so far, what nobody needs any more included.
    pub(super) fn bytes(&self) -> u64 {
        self.end
    }

    pub(super) fn clear(&mut self) {
        *self = Pack::new(&self.folder);
    }

    pub(super) fn keep(&mut self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        if self.places.contains_key(&digest) {
            return Ok(digest);
        }
        let file = match self.file.take() {
            Some(file) => file,
            None => hidden(&self.folder)?,
        };
        let written = file.write_all_at(bytes, self.end);
        self.file = Some(file);
        written?;
        self.places.insert(digest, Place { start: self.end, length: bytes.len() });
        self.end += bytes.len() as u64;
        Ok(digest)
    }

    /// None for what was never kept here.
    pub(super) fn get(&self, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        let (Some(place), Some(file)) = (self.places.get(digest), &self.file) else { return Ok(None) };
        let mut bytes = vec![0; place.length];
        file.read_exact_at(&mut bytes, place.start)?;
        Ok(Some(bytes))
    }
}

/// Where there are no nameless files, a name that is taken away at once is as good, but for a crash between the two.
fn hidden(folder: &Path) -> io::Result<File> {
    if let Ok(file) = nameless(folder, OFlags::RDWR, 0o600) {
        return Ok(file);
    }
    let path = folder.join(format!("pack-{}", std::process::id()));
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn what_was_kept_comes_back_and_no_file_is_to_be_seen() {
        let home = Home::new();
        let folder = home.path().join("undo");
        fs::create_dir(&folder).unwrap();
        let mut pack = Pack::new(&folder);
        let all: Vec<Vec<u8>> = vec![b"one".to_vec(), Vec::new(), vec![7; 100_000], b"one".to_vec()];
        let digests: Vec<Digest> = all.iter().map(|bytes| pack.keep(bytes).unwrap()).collect();
        for (bytes, digest) in all.iter().zip(&digests) {
            assert_eq!(pack.get(digest).unwrap().as_ref(), Some(bytes));
        }
        assert_eq!(pack.bytes(), 100_003, "the same bytes are kept once");
        assert_eq!(pack.get(&Digest::of(b"two")).unwrap(), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        pack.clear();
        assert_eq!((pack.bytes(), pack.get(&digests[0]).unwrap()), (0, None));
    }
}
