//! Makes a file that is not there yet, whole or not at all: whoever looks, or finds what a crash left, finds no file or
//! all of it. A file that is there already is never touched.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use rustix::io::Errno;

/// Who may use the new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Whoever may use the user's other files.
    Usual,
    /// As it was once.
    Mode(u32),
}

/// Folders on the way are made, too.
pub(crate) fn create(path: &Path, bytes: &[u8], access: For) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let Ok(file) = nameless(folder, OFlags::WRONLY, 0o666) else { return in_place(path, bytes, access) };
    fill(&file, bytes, access)?;
    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, itself, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        Err(Errno::EXIST) => Err(Errno::EXIST.into()),
        // Where `/proc` is missing, or links are.
        Err(_) => in_place(path, bytes, access),
        Ok(()) => Ok(()),
    }
}

/// A file that nobody else can find, and that is gone when it is closed without a name. Not every file system can.
pub(crate) fn nameless(folder: &Path, access: OFlags, mode: u32) -> io::Result<File> {
    let file = open(folder, OFlags::TMPFILE | OFlags::CLOEXEC | access, Mode::from_raw_mode(mode))?;
    Ok(File::from(file))
}

/// For file systems that know no files without a name: a crash can leave half of it.
fn in_place(path: &Path, bytes: &[u8], access: For) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o666).open(path)?;
    fill(&file, bytes, access).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

fn fill(mut file: &File, bytes: &[u8], access: For) -> io::Result<()> {
    file.write_all(bytes)?;
    match access {
        For::Usual => Ok(()),
        For::Mode(mode) => file.set_permissions(Permissions::from_mode(mode & 0o7777)),
    }
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    type Create = fn(&Path, &[u8], For) -> io::Result<()>;

    #[test]
    fn a_file_is_made_once_with_the_mode_it_shall_have() {
        let home = Home::new();
        fs::create_dir(home.path().join("a")).unwrap();
        for (place, create) in [create as Create, in_place as Create].into_iter().enumerate() {
            let path = home.path().join(format!("a/{place}"));
            create(&path, b"text", For::Mode(0o100_754)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"text");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o754);
            let again = create(&path, b"other", For::Usual).unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&path).unwrap(), b"text");
        }
        create(&home.path().join("b/c/d"), b"", For::Usual).unwrap();
        assert_eq!(fs::read_dir(home.path().join("a")).unwrap().count(), 2, "nothing else is left");
    }
}
