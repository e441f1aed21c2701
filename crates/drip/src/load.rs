//! A file as text, if it is one: opened so that nothing can block us, read up to a cap, and only believed when it
//! stood still meanwhile. Knows no session and no answer.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// What came of reading a file. Nothing here is an error: each has its own answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loaded {
    Text {
        text: String,
        stamp: Stamp,
    },
    /// Not there, or a link to nothing.
    Missing,
    NotRegular(Kind),
    /// Larger than the cap; not read.
    TooBig {
        bytes: u64,
    },
    /// A NUL among its first 8 KiB.
    Binary {
        bytes: u64,
    },
    /// Text in another encoding, or none.
    NotUtf8 {
        bytes: u64,
    },
    /// A symbolic link, which is not followed here.
    Symlink,
    /// Written to while it was read, twice.
    Changing,
    /// The system's reason.
    Unreadable(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub max_bytes: u64,
    pub symlinks: Symlinks,
}

impl Limits {
    /// The seed's cap: a log or a device must not fill the memory.
    pub const MAX_BYTES: u64 = 50 << 20;

    pub fn new(symlinks: Symlinks) -> Limits {
        Limits { max_bytes: Limits::MAX_BYTES, symlinks }
    }
}

/// What becomes of a path whose last part is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symlinks {
    Follow,
    Refuse,
}

/// What something is that has no content to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Directory,
    Fifo,
    Socket,
    Device,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Directory => "directory",
            Kind::Fifo => "FIFO",
            Kind::Socket => "socket",
            Kind::Device => "device",
        }
    }
}

/// Which version of which file: two equal stamps are most likely the same bytes, two different ones may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub bytes: u64,
    pub modified_ns: i128,
    pub changed_ns: i128,
}

impl Stamp {
    /// Of what the path leads to now, if that is a regular file.
    pub fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        metadata.is_file().then(|| Stamp::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Stamp {
        let ns = |seconds: i64, part: i64| i128::from(seconds) * 1_000_000_000 + i128::from(part);
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Reads `path` once, or twice if it changed meanwhile. Never blocks on what is not a regular file, and never holds
/// more than `limits.max_bytes` and one.
pub fn load(path: &Path, limits: Limits) -> Loaded {
    load_while(path, limits, &mut || {})
}

/// `meanwhile` happens between reading and looking again.
fn load_while(path: &Path, limits: Limits, meanwhile: &mut dyn FnMut()) -> Loaded {
    for _ in 0..2 {
        match attempt(path, limits, meanwhile) {
            Ok(Loaded::Changing) => {}
            Ok(loaded) => return loaded,
            Err(error) => return of_error(&error),
        }
    }
    Loaded::Changing
}

/// The first bytes of a regular file, whatever they are, or why there are none. Never blocks either.
pub(crate) fn head(path: &Path, most: u64) -> Result<Vec<u8>, Loaded> {
    let limits = Limits { max_bytes: u64::MAX, symlinks: Symlinks::Follow };
    let read = || {
        let (file, _) = match open_regular(path, limits)? {
            Ok(opened) => opened,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    };
    read().unwrap_or_else(|error| Err(of_error(&error)))
}

fn attempt(path: &Path, limits: Limits, meanwhile: &mut dyn FnMut()) -> io::Result<Loaded> {
    let (file, before) = match open_regular(path, limits)? {
        Ok(opened) => opened,
        Err(unfit) => return Ok(unfit),
    };
    let mut bytes = Vec::with_capacity(before.len() as usize + 1);
    (&file).take(limits.max_bytes + 1).read_to_end(&mut bytes)?;
    meanwhile();
    let (before, after) = (Stamp::new(&before), Stamp::new(&file.metadata()?));
    // The files of `/proc` are regular, have content, and claim to be empty.
    let whole = bytes.len() as u64 == after.bytes || after.bytes == 0;
    match () {
        () if bytes.len() as u64 > limits.max_bytes => Ok(Loaded::TooBig { bytes: after.bytes }),
        () if before != after || !whole => Ok(Loaded::Changing),
        () => Ok(classify(bytes, after)),
    }
}

fn open_regular(path: &Path, limits: Limits) -> io::Result<Result<(File, Metadata), Loaded>> {
    if limits.symlinks == Symlinks::Refuse && fs::symlink_metadata(path)?.is_symlink() {
        return Ok(Err(Loaded::Symlink));
    }
    // Looked at before it is opened: opening alone makes some devices act.
    if let Some(unfit) = unfit(&fs::metadata(path)?, limits) {
        return Ok(Err(unfit));
    }
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if limits.symlinks == Symlinks::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::from(open(path, flags, Mode::empty())?);
    // And again, in case that it was replaced in between.
    let before = file.metadata()?;
    Ok(match unfit(&before, limits) {
        Some(unfit) => Err(unfit),
        None => Ok((file, before)),
    })
}

fn unfit(metadata: &Metadata, limits: Limits) -> Option<Loaded> {
    let kind = metadata.file_type();
    let other = match () {
        () if kind.is_file() => {
            let bytes = metadata.len();
            return (bytes > limits.max_bytes).then_some(Loaded::TooBig { bytes });
        }
        () if kind.is_dir() => Kind::Directory,
        () if kind.is_fifo() => Kind::Fifo,
        () if kind.is_socket() => Kind::Socket,
        () => Kind::Device,
    };
    Some(Loaded::NotRegular(other))
}

fn classify(content: Vec<u8>, stamp: Stamp) -> Loaded {
    /// As far as git, grep and the seed look for a NUL.
    const SNIFF: usize = 8 * 1024;
    let bytes = content.len() as u64;
    // Before the NULs that UTF-16 is full of.
    if content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff") {
        return Loaded::NotUtf8 { bytes };
    }
    if content[..content.len().min(SNIFF)].contains(&0) {
        return Loaded::Binary { bytes };
    }
    String::from_utf8(content).map_or(Loaded::NotUtf8 { bytes }, |text| Loaded::Text { text, stamp })
}

fn of_error(error: &io::Error) -> Loaded {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Loaded::Missing,
        _ => Loaded::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write plain files")]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, mkfifoat};
    use testkit::Home;

    use super::*;

    const ANY: Limits = Limits { max_bytes: 64, symlinks: Symlinks::Follow };

    fn text(loaded: Loaded) -> String {
        match loaded {
            Loaded::Text { text, .. } => text,
            other => panic!("not text: {other:?}"),
        }
    }

    #[test]
    fn text_is_kept_to_the_byte() {
        let home = Home::new();
        for content in ["", "a", "a\n", "a\r\nb\r\n", "\u{feff}bom\n", "no end\nhere", "é", "\n\n"] {
            let path = home.write("f", content);
            assert_eq!(text(load(&path, ANY)), content);
        }
        let path = home.write("f", "abc");
        let Loaded::Text { stamp, .. } = load(&path, ANY) else { panic!("not text") };
        assert_eq!((Some(stamp), stamp.bytes), (Stamp::of(&path), 3));
    }

    #[test]
    fn what_is_not_utf_8_text_is_told_apart() {
        let home = Home::new();
        let of = |content: &[u8]| load(&home.write("f", content), Limits::new(Symlinks::Follow));
        assert_eq!(of(b"a\0b"), Loaded::Binary { bytes: 3 });
        assert_eq!(of(b"caf\xe9\n"), Loaded::NotUtf8 { bytes: 5 });
        assert_eq!(of(b"\xff\xfea\0\n\0"), Loaded::NotUtf8 { bytes: 6 });
        assert_eq!(of(b"\xfe\xff\0a"), Loaded::NotUtf8 { bytes: 4 });
        assert_eq!(of(b"cut \xe6\x97"), Loaded::NotUtf8 { bytes: 6 });
        let mut late = vec![b'a'; 8 * 1024];
        late.push(0);
        assert_eq!(text(of(&late)).len(), 8 * 1024 + 1);
        late.insert(0, 0);
        assert_eq!(of(&late), Loaded::Binary { bytes: 8 * 1024 + 2 });
    }

    #[test]
    fn the_cap_is_inclusive_and_larger_files_are_not_read() {
        let home = Home::new();
        assert_eq!(text(load(&home.write("f", [b'x'; 64]), ANY)).len(), 64);
        assert_eq!(load(&home.write("f", [b'x'; 65]), ANY), Loaded::TooBig { bytes: 65 });
        let sparse = home.path().join("sparse");
        File::create(&sparse).unwrap().set_len(5 << 30).unwrap();
        assert_eq!(load(&sparse, Limits::new(Symlinks::Follow)), Loaded::TooBig { bytes: 5 << 30 });
    }

    #[test]
    fn what_has_no_content_neither_blocks_nor_is_opened() {
        let home = Home::new();
        let fifo = home.path().join("fifo");
        mkfifoat(CWD, &fifo, Mode::RUSR).unwrap();
        let socket = home.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, kind) in [
            (fifo.as_path(), Kind::Fifo),
            (&socket, Kind::Socket),
            (home.path(), Kind::Directory),
            (Path::new("/dev/zero"), Kind::Device),
            (Path::new("/dev/null"), Kind::Device),
        ] {
            assert_eq!(load(path, ANY), Loaded::NotRegular(kind), "{}", path.display());
        }
    }

    #[test]
    fn missing_is_not_unreadable() {
        let home = Home::new();
        let file = home.write("file", "x");
        let dangling = home.path().join("dangling");
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        for gone in [home.path().join("gone"), file.join("below"), dangling, "".into()] {
            assert_eq!(load(&gone, ANY), Loaded::Missing, "{}", gone.display());
        }
        let around = home.path().join("loop");
        std::os::unix::fs::symlink("loop", &around).unwrap();
        let long = home.path().join("x".repeat(300));
        for bad in [around, long, "nul\0inside".into()] {
            assert!(matches!(load(&bad, ANY), Loaded::Unreadable(_)), "{}", bad.display());
        }
    }

    #[test]
    fn what_may_not_be_read_says_why() {
        testkit::hostile::require_root("become another user in one thread");
        let home = Home::new();
        let path = home.write("secret", "x");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let other = rustix::process::Uid::from_raw(testkit::hostile::OTHER_UID);
        let stranger = std::thread::spawn(move || {
            rustix::thread::set_thread_res_uid(other, other, other).unwrap();
            load(&path, ANY)
        });
        let Loaded::Unreadable(why) = stranger.join().unwrap() else { panic!("it was read") };
        assert!(why.contains("Permission denied"), "{why}");
    }

    #[test]
    fn links_are_followed_unless_refused() {
        let home = Home::new();
        home.write("real/file", "content");
        let link = home.path().join("link");
        std::os::unix::fs::symlink("real/file", &link).unwrap();
        let folder = home.path().join("folder");
        std::os::unix::fs::symlink("real", &folder).unwrap();
        let refuse = Limits { symlinks: Symlinks::Refuse, ..ANY };
        assert_eq!(text(load(&link, ANY)), "content");
        assert_eq!(load(&link, refuse), Loaded::Symlink);
        // Only the path itself counts: half of all systems have a linked directory above everything.
        assert_eq!(text(load(&folder.join("file"), refuse)), "content");
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_read_again_and_then_given_up() {
        let home = Home::new();
        let path = home.write("f", "one");
        let mut grow = || File::options().append(true).open(&path).unwrap().write_all(b"!").unwrap();
        let mut times = 0;
        let once = load_while(&path, ANY, &mut || {
            times += 1;
            if times == 1 {
                grow();
            }
        });
        assert_eq!((text(once).as_str(), times), ("one!", 2));
        assert_eq!(load_while(&path, ANY, &mut grow), Loaded::Changing);
        let shrink = |bytes| File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
        let mut left = 3;
        assert_eq!(
            load_while(&path, ANY, &mut || {
                left -= 1;
                shrink(left);
            }),
            Loaded::Changing
        );
    }

    #[test]
    fn a_file_that_is_replaced_while_it_is_read_is_still_one_whole_version() {
        let home = Home::new();
        let path = home.write("f", "old");
        let next = home.write("next", "new content");
        let mut swap = || drop(fs::rename(&next, &path));
        assert!(["old", "new content"].contains(&text(load_while(&path, ANY, &mut swap)).as_str()));
    }

    #[test]
    fn files_of_the_kernel_that_claim_to_be_empty_are_read() {
        assert!(text(load(Path::new("/proc/self/status"), Limits::new(Symlinks::Follow))).contains("Pid:"));
    }
}
