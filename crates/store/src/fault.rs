//! The one way this crate says that the system refused something about a file. It never knows why we wanted it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kit::places::shell_word;

/// The system refused one step on one file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`", path.display())]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The command that shows the cause, where there is one.
    pub fn hint(&self) -> Option<String> {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let folder = shell_word(folder_of(&self.path).as_os_str());
        match self.kind() {
            StorageFull | QuotaExceeded | ReadOnlyFilesystem => Some(format!("`df -h {folder}`")),
            PermissionDenied => Some(format!("`ls -ld {folder} {}`", shell_word(self.path.as_os_str()))),
            _ => None,
        }
    }
}

/// Gives a refusal the name of the file and of the step.
pub(crate) trait At<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, FileError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, FileError> {
        self.map_err(|error| FileError { action, path: path.to_owned(), source: error.into() })
    }
}

/// The directory that holds `path`; a bare name lives in the working directory.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// The name of what lies beside `path`.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// A missing file is an answer, not a failure.
pub(crate) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
