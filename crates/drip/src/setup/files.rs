//! The files of an edit: read with care, shown as a difference, written all or told precisely. The only place of
//! set-up that touches the disk; it never knows what is in the files.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use similar::TextDiff;
use store::{Durability, ReplaceError};

use super::{Agent, SetupError};

/// Settings are a few kilobytes; what is larger than this is not a settings file.
const LARGEST: u64 = 4 << 20;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// One file that is to be made, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: PathBuf,
    /// What the file held when the edit was planned; none if it was missing.
    pub before: Option<String>,
    /// What it shall hold; none if it shall go.
    pub after: Option<String>,
}

/// Edits of which some could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot edit `{}`{}", failed.display(), rest(done, left))]
pub struct ApplyError {
    pub done: Vec<PathBuf>,
    pub failed: PathBuf,
    pub left: Vec<PathBuf>,
    #[source]
    pub cause: ApplyCause,
}

#[derive(Debug, thiserror::Error)]
pub enum ApplyCause {
    #[error("it was changed meanwhile")]
    Changed,
    #[error(transparent)]
    Replace(#[from] ReplaceError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes the edits in their order. A file that no longer holds what was planned against stops everything before the
/// first write; a failure later on says what was done and what was not. Modes and symbolic links are kept; a new file
/// is as open to others as its folder is.
pub fn apply(edits: &[Edit]) -> Result<(), ApplyError> {
    let fails = |index: usize, done: usize, cause: ApplyCause| {
        let paths = |edits: &[Edit]| edits.iter().map(|edit| edit.path.clone()).collect::<Vec<_>>();
        let mut left = paths(&edits[done..]);
        let failed = left.remove(index - done);
        ApplyError { done: paths(&edits[..done]), failed, left, cause }
    };
    for (index, edit) in edits.iter().enumerate() {
        edit.is_current().map_err(|cause| fails(index, 0, cause))?;
    }
    for (index, edit) in edits.iter().enumerate() {
        edit.is_current().and_then(|()| edit.make()).map_err(|cause| fails(index, index, cause))?;
    }
    Ok(())
}

/// The edit as a unified diff, for `--dry-run`.
pub fn diff(edit: &Edit) -> String {
    let name = |side: &str, text: &Option<String>| match text {
        Some(_) => format!("{side}{}", edit.path.display()),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (edit.before.as_deref().unwrap_or(""), edit.after.as_deref().unwrap_or(""));
    let (old, new) = (name("a", &edit.before), name("b", &edit.after));
    TextDiff::from_lines(before, after).unified_diff().header(&old, &new).to_string()
}

/// A text file that a person may keep, mark of the byte order apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loaded {
    whole: Option<String>,
}

impl Loaded {
    /// Reads what is at `path`: nothing, or a regular file (through links) of a sane size in UTF-8.
    pub(super) fn read(path: &Path) -> Result<Loaded, SetupError> {
        let fault = |what: &str| SetupError::Unfit { path: path.to_owned(), what: what.to_owned() };
        let refused = |source| SetupError::Read { path: path.to_owned(), source };
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Loaded { whole: None }),
            other => other.map_err(refused)?,
        };
        if !metadata.is_file() {
            return Err(fault("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(refused)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > LARGEST {
            return Err(fault("it is larger than 4 MiB"));
        }
        let whole = String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8"))?;
        Ok(Loaded { whole: Some(whole) })
    }

    pub(super) fn text(&self) -> Option<&str> {
        let whole = self.whole.as_deref()?;
        Some(whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole))
    }

    /// The edit that makes the text of this file `after`; none if it is that already.
    pub(super) fn edit(self, path: PathBuf, after: Option<String>) -> Option<Edit> {
        let marked = self.whole.as_deref().is_some_and(|whole| whole.starts_with(BYTE_ORDER_MARK));
        let after = after.map(|text| if marked { format!("{BYTE_ORDER_MARK}{text}") } else { text });
        (self.whole != after).then_some(Edit { path, before: self.whole, after })
    }
}

impl Edit {
    fn is_current(&self) -> Result<(), ApplyCause> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        match now.as_deref() == self.before.as_deref().map(str::as_bytes) {
            true => Ok(()),
            false => Err(ApplyCause::Changed),
        }
    }

    fn make(&self) -> Result<(), ApplyCause> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let Some(after) = &self.after else { return self.remove(folder) };
        fs::create_dir_all(folder)?;
        store::replace(&self.path, after.as_bytes(), Durability::Fsync)?;
        if self.before.is_none() {
            let mode = fs::metadata(folder)?.permissions().mode() & 0o044 | 0o600;
            fs::set_permissions(&self.path, Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// What a link leads to goes and the link stays, as it was before we made the file. A client's own folder goes
    /// with the last file in it.
    fn remove(&self, folder: &Path) -> Result<(), ApplyCause> {
        fs::remove_file(fs::canonicalize(&self.path)?)?;
        let name = folder.file_name().and_then(|name| name.to_str());
        if Agent::ALL.iter().any(|agent| Some(agent.folder()) == name) {
            // A folder with something in it stays: that is what the refusal means.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

fn rest(done: &[PathBuf], left: &[PathBuf]) -> String {
    let mut words = String::new();
    for (what, paths) in [("done", done), ("not done", left)] {
        let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        if !paths.is_empty() {
            let _ = write!(words, " ({what}: {})", paths.join(", "));
        }
    }
    words
}
