//! Replaces a whole file so that a reader finds the old bytes or the new ones, never a mixture and never half.
//! It never knows what the bytes mean.
//!
//! The new bytes go to a temporary file in the same directory, which then takes the name. Any failure on the way
//! (a full disk, a directory that we may not write) leaves the old file byte for byte and removes the temporary;
//! what a killed process leaves behind goes with the next replace in the same directory. What else survives is the
//! caller's choice of [`Durability`].
//!
//! *Kept:* the mode, and owner and group where we may give them. *Not kept:* hard links (the other names keep the
//! old bytes), access lists and extended attributes.
//!
//! *A symbolic link is followed:* people keep their settings in a repository and link to them, and a rename over
//! the link would cut that tie in silence. The link stays and the file that it leads to is replaced, or made if
//! the link dangles. So this is not for names in a directory that strangers can write to: look at those with
//! [`kit::places::shared_entry`] first.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use crate::fault::{At, folder_of, found};
use crate::temporary::{Temporary, sweep};
use crate::{Durability, FileError};

/// As many links in a row as Linux itself follows.
const MOST_LINKS: usize = 40;

/// Why a file was not replaced. It holds its old bytes, unless the last step failed: making the new name durable.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("`{}` is a chain of symbolic links that does not end", path.display())]
    Loop { path: PathBuf },
    #[error("`{}` is not a regular file", path.display())]
    NotAFile { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}

impl ReplaceError {
    /// The command that shows the cause, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            ReplaceError::Loop { path } | ReplaceError::NotAFile { path } => {
                Some(format!("`ls -l {}`", kit::places::shell_word(path.as_os_str())))
            }
            ReplaceError::File(error) => error.hint(),
        }
    }
}

/// Puts `bytes` in the place of whatever `path` held. A file that is new has mode 0600.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), ReplaceError> {
    let (target, old) = follow(path)?;
    let not_a_file = || ReplaceError::NotAFile { path: target.clone() };
    let name = target.file_name().ok_or_else(not_a_file)?;
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(not_a_file());
    }
    let folder = folder_of(&target);
    sweep(folder);
    write_beside(folder, name, bytes, old.as_ref(), durability)
        .and_then(|temporary| temporary.rename(&target))
        .at("replace", &target)?;
    durability.sync_dir(folder).at("make durable", folder)?;
    Ok(())
}

/// Where the links end, and what stands there now.
fn follow(path: &Path) -> Result<(PathBuf, Option<Metadata>), ReplaceError> {
    let mut target = path.to_owned();
    for _ in 0..=MOST_LINKS {
        match found(fs::symlink_metadata(&target)).at("look at", &target)? {
            Some(metadata) if metadata.is_symlink() => {
                let leads_to = fs::read_link(&target).at("follow", &target)?;
                target = folder_of(&target).join(leads_to);
            }
            old => return Ok((target, old)),
        }
    }
    Err(ReplaceError::Loop { path: path.to_owned() })
}

fn write_beside(
    folder: &Path,
    name: &OsStr,
    bytes: &[u8],
    old: Option<&Metadata>,
    durability: Durability,
) -> io::Result<Temporary> {
    let mut temporary = Temporary::create(folder, name)?;
    temporary.file.write_all(bytes)?;
    if let Some(old) = old {
        keep_permissions(&temporary.file, old)?;
    }
    durability.sync_file(&temporary.file)?;
    Ok(temporary)
}

/// Owner before mode, because a change of owner clears the special bits. Where we may not give the file to its
/// old owner and group, those bits and the group's would hand it to somebody else: they are dropped.
fn keep_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    let same_owner = (old.uid(), old.gid()) == (new.uid(), new.gid());
    let kept = same_owner || fchown(file, Some(old.uid()), Some(old.gid())).is_ok();
    let mask = if kept { 0o7777 } else { 0o0707 };
    file.set_permissions(Permissions::from_mode(old.mode() & mask))
}
