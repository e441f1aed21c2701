//! Where our daemons are met: the path rules of clai and tldr, for Unix and, as names only, for Windows. Pure:
//! nothing here looks at the file system, so every rule is tested on every system.
//!
//! Paths are hashed as bytes. For a path that is UTF-8 that is what the tools' specifications say; for another
//! it keeps two projects apart that a lossy conversion would join.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kit::Places;
use thiserror::Error;

/// The path of a socket, short enough for the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPath(PathBuf);

impl SocketPath {
    /// The smallest limit among the systems we know is 104 bytes with a final NUL (macOS; Linux has 108), less
    /// a few so that nobody lives on the edge.
    pub const LIMIT: usize = 100;

    pub fn new(path: impl Into<PathBuf>) -> Result<SocketPath, PathTooLong> {
        let path = path.into();
        match path.as_os_str().len() {
            0..=Self::LIMIT => Ok(SocketPath(path)),
            length => Err(PathTooLong { path, length }),
        }
    }

    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the socket path `{}` has {length} bytes, and {} are allowed", path.display(), SocketPath::LIMIT)]
pub struct PathTooLong {
    pub path: PathBuf,
    pub length: usize,
}

impl PathTooLong {
    pub fn hint(&self) -> &'static str {
        "`export XDG_RUNTIME_DIR=…` or `export TMPDIR=…` to a directory with a shorter path"
    }
}

/// What tells the daemons of two projects apart: the first eight hexadecimal digits of the MD5 of the path.
/// Thirty-two bits can collide, so the daemon's answer to `ping` names the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProjectHash(u32);

impl ProjectHash {
    /// `project` as the file system knows it, symlinks resolved: resolving is the caller's.
    pub fn of(project: &Path) -> ProjectHash {
        let [a, b, c, d, ..] = md5::compute(project.as_os_str().as_bytes()).0;
        ProjectHash(u32::from_be_bytes([a, b, c, d]))
    }

    pub fn socket(self, temp: &Path) -> Result<SocketPath, PathTooLong> {
        SocketPath::new(temp.join(format!("tldr-{self}.sock")))
    }

    pub fn pid_file(self, temp: &Path) -> PathBuf {
        temp.join(format!("tldr-{self}.pid"))
    }

    /// Where Windows has no socket of that kind: a port of the dynamic range on the loopback address.
    pub fn tcp_port(self) -> u16 {
        const FIRST_DYNAMIC: u16 = 49152;
        FIRST_DYNAMIC + (self.0 % 10_000) as u16
    }
}

impl fmt::Display for ProjectHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// The private directory of clai's sockets and session files.
pub fn clai_dir(places: &Places) -> PathBuf {
    places.runtime_dir("clai")
}

pub fn clai_socket(places: &Places) -> Result<SocketPath, PathTooLong> {
    SocketPath::new(clai_dir(places).join("daemon.sock"))
}

/// Where `clai-hook session-start` leaves the session of the shell that is process `shell`.
pub fn clai_session_file(places: &Places, shell: u32) -> PathBuf {
    clai_dir(places).join(format!("session.{shell}"))
}

/// Who a Windows pipe belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowsUser<'a> {
    Sid(&'a str),
    /// When the system does not tell the SID.
    Name(&'a str),
}

/// The name of clai's pipe on Windows: `\\.\pipe\clai-<SID>-daemon`. For a bare user name its MD5 stands for the
/// SID, taken of the lower case because Windows does not tell names apart by case.
pub fn clai_pipe(user: WindowsUser<'_>) -> String {
    match user {
        WindowsUser::Sid(sid) => format!(r"\\.\pipe\clai-{sid}-daemon"),
        WindowsUser::Name(name) => format!(r"\\.\pipe\clai-{:x}-daemon", md5::compute(name.to_lowercase())),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn places(runtime: Option<&str>) -> Places {
        let mut places = Places::resolve(|_| None, Some("/home/ada".into()), 1000).unwrap();
        places.runtime = runtime.map(PathBuf::from);
        places
    }

    #[test]
    fn a_project_has_the_paths_and_the_port_of_its_md5() {
        // printf %s /home/ada/engine | md5sum
        let hash = ProjectHash::of(Path::new("/home/ada/engine"));
        assert_eq!(hash.to_string(), "fcc35308");
        assert_eq!(hash.socket(Path::new("/tmp")).unwrap().as_path(), Path::new("/tmp/tldr-fcc35308.sock"));
        assert_eq!(hash.pid_file(Path::new("/tmp")), Path::new("/tmp/tldr-fcc35308.pid"));
        assert_eq!(hash.tcp_port(), 58360);
    }

    #[test]
    fn a_hash_that_begins_with_a_zero_keeps_its_eight_digits() {
        let hash = ProjectHash::of(Path::new("/srv/179"));
        assert_eq!(hash.to_string(), "0056cd7a");
        assert_eq!(hash.tcp_port(), 57850);
    }

    #[test]
    fn paths_that_differ_only_in_bad_bytes_stay_apart() {
        let [one, other] = [&b"/p/\xff"[..], b"/p/\xfe"].map(|bytes| Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(one.to_string_lossy(), other.to_string_lossy());
        assert_ne!(ProjectHash::of(one), ProjectHash::of(other));
    }

    #[test]
    fn clai_lives_in_the_runtime_directory_or_in_a_private_one_of_the_user() {
        let there = places(Some("/run/user/1000"));
        assert_eq!(clai_socket(&there).unwrap().as_path(), Path::new("/run/user/1000/clai/daemon.sock"));
        assert_eq!(clai_session_file(&there, 42), Path::new("/run/user/1000/clai/session.42"));
        let fallback = places(None);
        assert_eq!(clai_socket(&fallback).unwrap().as_path(), Path::new("/tmp/clai-1000/daemon.sock"));
        assert_eq!(clai_session_file(&fallback, 42), Path::new("/tmp/clai-1000/session.42"));
    }

    #[test]
    fn a_pipe_is_named_by_the_sid_or_by_a_stable_hash_of_the_name() {
        let sid = "S-1-5-21-1004336348-1177238915-682003330-512";
        assert_eq!(clai_pipe(WindowsUser::Sid(sid)), format!(r"\\.\pipe\clai-{sid}-daemon"));
        // printf %s ada | md5sum
        let by_name = r"\\.\pipe\clai-8c8d357b5e872bbacd45197626bd5759-daemon";
        assert_eq!(clai_pipe(WindowsUser::Name("ada")), by_name);
        assert_eq!(clai_pipe(WindowsUser::Name("ADA")), by_name);
        assert!(!clai_pipe(WindowsUser::Name(r"corp\ada"))[9..].contains('\\'));
    }

    #[test]
    fn a_path_over_the_limit_is_refused_with_its_length_and_a_hint() {
        assert!(SocketPath::new(format!("/{}", "x".repeat(99))).is_ok());
        let error = SocketPath::new(format!("/{}", "é".repeat(50))).unwrap_err();
        assert!(error.to_string().ends_with("has 101 bytes, and 100 are allowed"), "{error}");
        assert!(error.hint().contains("TMPDIR"));
        let deep = PathBuf::from(format!("/{}", "x".repeat(90)));
        assert!(ProjectHash::of(Path::new("/p")).socket(&deep).is_err());
    }
}
