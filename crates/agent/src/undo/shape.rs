//! What a path is besides its bytes: a folder, a link and where it leads, who may use it. Nothing of it needs keeping, so
//! it can be put back; where it cannot, or where bytes are in the way, there is a reason to name.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Name;
use crate::project::plainly;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    Absent,
    File(Mode),
    Folder(Mode),
    Link(Name),
    /// A pipe, a socket or a device.
    Other,
}

/// Who may use it, without its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Mode(u32);

impl Mode {
    pub(super) fn of(bits: u32) -> Mode {
        Mode(bits & 0o7777)
    }
}

/// What became of going back.
pub(super) enum Back {
    Done,
    Already,
}

impl Shape {
    /// What stands there now.
    pub(super) fn at(path: &Path) -> Shape {
        let Ok(found) = fs::symlink_metadata(path) else { return Shape::Absent };
        let mode = Mode::of(found.permissions().mode());
        match (found.is_file(), found.is_dir(), fs::read_link(path)) {
            (true, _, _) => Shape::File(mode),
            (_, true, _) => Shape::Folder(mode),
            (_, _, Ok(to)) => Shape::Link(Name::of(&to)),
            _ => Shape::Other,
        }
    }

    /// Whether it must go before the file can come back that stood there.
    pub(super) fn is_in_the_way(&self) -> bool {
        matches!(self, Shape::Link(_))
    }

    /// Makes `path` what it was, if it still is what it became, or nothing. The error says what stays.
    pub(super) fn restore(was: &Shape, then: &Shape, path: &Path) -> Result<Back, String> {
        let now = Shape::at(path);
        if now == *was {
            return Ok(Back::Already);
        }
        let done = match (was, &now) {
            (Shape::File(mode) | Shape::Folder(mode), _) if was.is_but_for_its_mode(&now) && now == *then => {
                chmod(path, *mode)
            }
            (Shape::Absent | Shape::File(_), Shape::Link(_)) if now == *then => fs::remove_file(path),
            // Only if nothing is left in it.
            (Shape::Absent, Shape::Folder(_)) => fs::remove_dir(path),
            (Shape::Folder(mode), Shape::Absent) => {
                fs::create_dir_all(path).and_then(|()| chmod(path, *mode))
            }
            (Shape::Folder(mode), Shape::Link(_)) if now == *then => fs::remove_file(path)
                .and_then(|()| fs::create_dir_all(path))
                .and_then(|()| chmod(path, *mode)),
            (Shape::Link(to), Shape::Absent) => symlink(to.path(), path),
            (Shape::Link(to), Shape::Link(_)) if now == *then => {
                fs::remove_file(path).and_then(|()| symlink(to.path(), path))
            }
            // Files have their own way back, and their own reasons.
            (Shape::Absent, Shape::File(_)) | (Shape::File(_), Shape::Absent) => return Ok(Back::Already),
            _ => return Err(format!("it was {}, and is {}", was.words(), now.words())),
        };
        done.map(|()| Back::Done).map_err(|error: io::Error| match now {
            Shape::Folder(_) => format!("a command made this folder: {}", plainly(&error)),
            _ => format!("it was {}: {}", was.words(), plainly(&error)),
        })
    }

    fn is_but_for_its_mode(&self, other: &Shape) -> bool {
        matches!((self, other), (Shape::File(_), Shape::File(_)) | (Shape::Folder(_), Shape::Folder(_)))
    }

    fn words(&self) -> String {
        match self {
            Shape::Absent => "not there".to_owned(),
            Shape::File(Mode(mode)) => format!("a file with mode {mode:o}"),
            Shape::Folder(Mode(mode)) => format!("a folder with mode {mode:o}"),
            Shape::Link(to) => format!("a link to {}", crate::project::name(&to.path())),
            Shape::Other => "a pipe, a socket or a device".to_owned(),
        }
    }
}

fn chmod(path: &Path, Mode(mode): Mode) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}
