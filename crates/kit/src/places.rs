//! Where things live, and whether we may put them there. Two policies: a *private* directory is ours alone; an
//! entry of a *sticky shared* directory (the system's temporary one) is checked by itself.
//!
//! Nothing here knows which tool keeps which file: owners declare that as [`Entry`] rows.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The base directories of one user, read once from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub home: PathBuf,
    pub data: PathBuf,
    pub config: PathBuf,
    pub state: PathBuf,
    pub cache: PathBuf,
    /// `$XDG_RUNTIME_DIR`, only when it is absolute and a private directory of ours. Otherwise callers fall
    /// back to a per-user directory below `temp`, and [`Places::ignored`] says why.
    pub runtime: Option<PathBuf>,
    pub temp: PathBuf,
    pub uid: u32,
    /// Variables that were set but not followed, with the reason: `doctor` shows them.
    pub ignored: Vec<(String, PlaceError)>,
}

/// A file or directory that a tool keeps, as a row of the generated `docs/files.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub path: &'static str,
    pub owner: &'static str,
    pub holds: &'static str,
}

/// An environment variable that a tool reads, as a row of the generated `docs/environment.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    pub meaning: &'static str,
    pub default: &'static str,
}

/// The variables that decide the base directories.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "HOME", meaning: "the user's directory", default: "from the user database" },
    Variable { name: "XDG_DATA_HOME", meaning: "what we keep", default: "~/.local/share" },
    Variable { name: "XDG_CONFIG_HOME", meaning: "what you set", default: "~/.config" },
    Variable { name: "XDG_STATE_HOME", meaning: "logs", default: "~/.local/state" },
    Variable { name: "XDG_CACHE_HOME", meaning: "what can be made again", default: "~/.cache" },
    Variable { name: "XDG_RUNTIME_DIR", meaning: "sockets", default: "a private directory below TMPDIR" },
    Variable { name: "TMPDIR", meaning: "the shared temporary directory", default: "/tmp" },
];

impl Places {
    /// `lookup` gives the value of a variable; `fallback_home` is used when HOME is unset or empty. Relative
    /// values are not followed, as the XDG specification says.
    pub fn resolve(
        lookup: impl Fn(&str) -> Option<OsString>,
        fallback_home: Option<PathBuf>,
        uid: u32,
    ) -> Result<Places, PlaceError> {
        let mut ignored = Vec::new();
        let mut absolute = |name: &str| {
            let path = PathBuf::from(lookup(name).filter(|value| !value.is_empty())?);
            if path.is_absolute() {
                return Some(path);
            }
            ignored.push((name.to_owned(), PlaceError::new(&path, Fault::Relative)));
            None
        };
        let home = match lookup("HOME").filter(|value| !value.is_empty()).map(PathBuf::from) {
            Some(home) if home.is_absolute() => home,
            // Nothing else would be what the person meant.
            Some(home) => return Err(PlaceError::new(&home, Fault::RelativeHome)),
            None => fallback_home.ok_or_else(|| PlaceError::new(Path::new("HOME"), Fault::Unset))?,
        };
        let data = absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        let cache = absolute("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"));
        let temp = absolute("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        let runtime = absolute("XDG_RUNTIME_DIR");
        let runtime = runtime.and_then(|path| match check_private(&path, uid) {
            Ok(()) => Some(path),
            Err(error) => {
                ignored.push(("XDG_RUNTIME_DIR".to_owned(), error));
                None
            }
        });
        Ok(Places { home, data, config, state, cache, runtime, temp, uid, ignored })
    }

    /// The private directory for sockets and other things that die with the session, by the rule
    /// `$XDG_RUNTIME_DIR/<name>`, else `<temp>/<name>-<uid>`. Not created here: see [`private_dir`].
    pub fn runtime_dir(&self, name: &str) -> PathBuf {
        match &self.runtime {
            Some(runtime) => runtime.join(name),
            None => self.temp.join(format!("{name}-{}", self.uid)),
        }
    }

    /// `path` with the home directory written as `~`.
    pub fn tilde(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Makes `path` (and what is missing above it) as a directory that only `uid` can enter, or finds it so.
///
/// A directory that exists with other permissions is refused, not repaired: whoever widened it may have put
/// something there. The nearest directory that exists above must belong to `uid` or to root, so that a HOME of
/// somebody else is refused before anything is written to it; and in none above may strangers rename what is in it.
pub fn private_dir(path: &Path, uid: u32) -> Result<(), PlaceError> {
    if look_private(path, uid)? == Presence::There {
        return Ok(());
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| PlaceError::new(path, Fault::Io(error.kind())))?;
    // Again: somebody may have been quicker.
    check_private(path, uid)
}

/// Whether a private directory is there, or at least could be made. Looks and writes nothing.
pub fn look_private(path: &Path, uid: u32) -> Result<Presence, PlaceError> {
    match fs::symlink_metadata(bare(path)) {
        Err(error) if is_missing(&error) => check_ancestor(path, uid).map(|()| Presence::NotYet),
        _ => check_private(path, uid).map(|()| Presence::There),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    There,
    NotYet,
}

/// What stands at a name in a directory that we share with strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedEntry {
    Absent,
    File,
    Socket,
    Directory,
    Other,
}

/// Looks at one entry of a sticky shared directory without following it: it is absent or it is ours. A symlink or
/// somebody else's entry is an error, whatever it points to.
pub fn shared_entry(path: &Path, uid: u32) -> Result<SharedEntry, PlaceError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SharedEntry::Absent),
        Err(error) => return Err(PlaceError::new(path, Fault::Io(error.kind()))),
    };
    refuse_foreign(path, &metadata, uid)?;
    let kind = metadata.file_type();
    Ok(match () {
        () if kind.is_file() => SharedEntry::File,
        () if kind.is_socket() => SharedEntry::Socket,
        () if kind.is_dir() => SharedEntry::Directory,
        () => SharedEntry::Other,
    })
}

/// A directory, ours, closed to group and others, and no symlink.
pub fn check_private(path: &Path, uid: u32) -> Result<(), PlaceError> {
    let metadata =
        fs::symlink_metadata(bare(path)).map_err(|error| PlaceError::new(path, Fault::Io(error.kind())))?;
    refuse_foreign(path, &metadata, uid)?;
    if !metadata.is_dir() {
        return Err(PlaceError::new(path, Fault::NotADirectory));
    }
    match metadata.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(PlaceError::new(path, Fault::Open(metadata.mode() & 0o7777))),
    }
}

fn refuse_foreign(path: &Path, metadata: &Metadata, uid: u32) -> Result<(), PlaceError> {
    if metadata.is_symlink() {
        return Err(PlaceError::new(path, Fault::Symlink));
    }
    match metadata.uid() {
        owner if owner == uid => Ok(()),
        owner => Err(PlaceError::new(path, Fault::Foreign { owner, uid })),
    }
}

/// Without a slash at the end, which would make the system follow a link.
fn bare(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Nothing is below a file either; which one is in the way tells the nearest thing that exists.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn check_ancestor(path: &Path, uid: u32) -> Result<(), PlaceError> {
    let mut nearest = true;
    for ancestor in path.ancestors().skip(1) {
        // Followed on purpose: a HOME that is a symlink is judged by where it leads.
        let metadata = match fs::metadata(ancestor) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => continue,
            Err(error) => return Err(PlaceError::new(ancestor, Fault::Io(error.kind()))),
        };
        if nearest {
            nearest = false;
            check_nearest(ancestor, &metadata, uid)?;
        }
        if others_can_rename_in(&metadata) {
            return Err(PlaceError::new(ancestor, Fault::Open(metadata.mode() & 0o7777)));
        }
    }
    Ok(())
}

/// The directory that we would write to.
fn check_nearest(path: &Path, metadata: &Metadata, uid: u32) -> Result<(), PlaceError> {
    if !metadata.is_dir() {
        return Err(PlaceError::new(path, Fault::NotADirectory));
    }
    let owner = metadata.uid();
    if owner != uid && owner != 0 {
        return Err(PlaceError::new(path, Fault::Foreign { owner, uid }));
    }
    let may_write = rustix::fs::access(path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK);
    may_write.map_err(|error| PlaceError::new(path, Fault::Io(io::Error::from(error).kind())))
}

/// Our own group is ours alone on most systems, and many people's directories are open to it.
fn others_can_rename_in(metadata: &Metadata) -> bool {
    let foreign_group = metadata.gid() != rustix::process::getegid().as_raw();
    let writable = if foreign_group { 0o022 } else { 0o002 };
    metadata.mode() & writable != 0 && metadata.mode() & 0o1000 == 0
}

/// Why a place cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    Unset,
    Relative,
    RelativeHome,
    NotADirectory,
    Symlink,
    Foreign { owner: u32, uid: u32 },
    Open(u32),
    Io(io::ErrorKind),
}

impl PlaceError {
    fn new(path: &Path, fault: Fault) -> Self {
        PlaceError { path: path.to_owned(), fault }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command that mends it, where there is one.
    pub fn hint(&self) -> Option<String> {
        let path = shell_word(self.path.as_os_str());
        match self.fault {
            Fault::Unset | Fault::RelativeHome => Some("`export HOME=/path/to/your/home`".to_owned()),
            Fault::Relative => Some("set it to an absolute path, or unset it".to_owned()),
            Fault::NotADirectory | Fault::Symlink => {
                Some(format!("`ls -ld {path}`, then move it out of the way"))
            }
            Fault::Foreign { .. } => {
                Some("run as the owner, or with `sudo -H` so that HOME is your own".to_owned())
            }
            Fault::Open(_) => Some(format!("look who else wrote there, then `chmod 700 {path}`")),
            Fault::Io(_) => None,
        }
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.fault {
            Fault::Unset => write!(f, "{path} is not set and the user database has no home for us"),
            Fault::RelativeHome => write!(f, "HOME is `{path}`, which is not an absolute path"),
            Fault::Relative => write!(f, "`{path}` is not an absolute path"),
            Fault::NotADirectory => write!(f, "`{path}` is not a directory"),
            Fault::Symlink => write!(f, "`{path}` is a symbolic link"),
            Fault::Foreign { owner, uid } => {
                write!(f, "`{path}` belongs to user {owner}, and we are user {uid}")
            }
            Fault::Open(mode) => write!(f, "`{path}` is open to other users (mode {mode:04o})"),
            Fault::Io(kind) => write!(f, "`{path}`: {kind}"),
        }
    }
}

impl Error for PlaceError {}

/// `word` as a shell would need it typed.
pub fn shell_word(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let safe = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,~".contains(c);
    if !text.is_empty() && text.chars().all(safe) && !text.starts_with('~') {
        return text.into_owned();
    }
    if text.contains(char::is_control) {
        // What cannot be typed is spelled out as bash and zsh read it.
        let spell = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
            c => c.to_string(),
        };
        return format!("$'{}'", text.chars().map(spell).collect::<String>());
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
