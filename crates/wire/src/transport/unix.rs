//! The transport over Unix sockets, on Linux: timed connect, sockets of mode 0600, peers checked in both
//! directions. Knows nothing of what is sent; the path of an endpoint is seen here and in the endpoint rules only.

use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::places::{SharedEntry, shared_entry};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

use super::{AcceptError, ConnectError, Connection, ListenError, Listener, SendError, Transport};
use crate::Deadline;
use crate::endpoint::SocketPath;

/// How many callers may wait before one is taken: a burst of shells that all end a command at once.
const BACKLOG: i32 = 128;

/// Sockets of one user, and of no other, root included: what root types is not the user's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unix {
    pub uid: u32,
}

impl Transport for Unix {
    type Endpoint = SocketPath;
    type Connection = UnixConnection;
    type Listener = UnixListener;

    fn connect(&self, endpoint: &SocketPath, deadline: Deadline) -> Result<UnixConnection, ConnectError> {
        let path = endpoint.as_path();
        match shared_entry(path, self.uid)? {
            SharedEntry::Socket => {}
            SharedEntry::Absent => return Err(ConnectError::Absent { path: path.to_owned() }),
            _ => return Err(ConnectError::NotASocket { path: path.to_owned() }),
        }
        let failed = |source: io::Error| ConnectError::Io { path: path.to_owned(), source };
        let socket = new_socket().map_err(|error| failed(error.into()))?;
        let address = SocketAddrUnix::new(path).map_err(|error| failed(error.into()))?;
        connect_by(&socket, &address, deadline).map_err(|error| match error {
            Errno::AGAIN => ConnectError::TimedOut { path: path.to_owned() },
            Errno::NOENT => ConnectError::Absent { path: path.to_owned() },
            Errno::CONNREFUSED => ConnectError::Stale { path: path.to_owned() },
            error => failed(error.into()),
        })?;
        match peer(&socket).map_err(failed)? {
            peer if peer == self.uid => {}
            peer => return Err(ConnectError::ForeignPeer { path: path.to_owned(), peer, uid: self.uid }),
        }
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false).map_err(failed)?;
        Ok(UnixConnection(stream))
    }

    fn listen(&self, endpoint: &SocketPath) -> Result<UnixListener, ListenError> {
        let path = endpoint.as_path();
        let failed = |source: io::Error| ListenError::Io { path: path.to_owned(), source };
        let bound = || -> rustix::io::Result<OwnedFd> {
            let socket = new_socket()?;
            // Linux gives the file the mode of the socket that is bound to it. Changing the mode afterwards
            // would leave a moment in which strangers can connect.
            rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
            net::bind(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(socket)
        };
        let socket = bound().map_err(|error| match error {
            Errno::ADDRINUSE => ListenError::InUse { path: path.to_owned() },
            error => failed(error.into()),
        })?;
        let metadata = fs::symlink_metadata(path).map_err(failed)?;
        let file = Bound { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() };
        match metadata.mode() & 0o7777 {
            mode if mode & 0o077 != 0 => return Err(ListenError::Open { path: path.to_owned(), mode }),
            _ => {}
        }
        net::listen(&socket, BACKLOG).map_err(|error| failed(error.into()))?;
        Ok(UnixListener { socket, uid: self.uid, _file: file })
    }

    fn remove_stale(&self, endpoint: &SocketPath) -> Result<(), ListenError> {
        let path = endpoint.as_path().to_owned();
        // One attempt: a listener that is too busy to take it is alive.
        match self.connect(endpoint, Deadline::after(Duration::ZERO)) {
            Err(ConnectError::Absent { .. }) => Ok(()),
            Err(ConnectError::Stale { .. }) => match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    Err(ListenError::Io { path, source })
                }
                _ => Ok(()),
            },
            Ok(_) | Err(ConnectError::TimedOut { .. } | ConnectError::ForeignPeer { .. }) => {
                Err(ListenError::InUse { path })
            }
            Err(ConnectError::NotASocket { path }) => Err(ListenError::NotASocket { path }),
            Err(ConnectError::Untrusted(error)) => Err(ListenError::Untrusted(error)),
            Err(ConnectError::Io { path, source }) => Err(ListenError::Io { path, source }),
        }
    }
}

/// One end of a connected socket.
#[derive(Debug)]
pub struct UnixConnection(UnixStream);

impl Connection for UnixConnection {
    fn send_within(&self, mut bytes: &[u8], deadline: Deadline) -> Result<(), SendError> {
        while !bytes.is_empty() {
            match net::send(&self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if !wait(&self.0, PollFlags::OUT, deadline)? => {
                    return Err(SendError::TimedOut);
                }
                Err(Errno::AGAIN) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(SendError::Closed),
                Err(error) => return Err(SendError::Io(error.into())),
            }
        }
        Ok(())
    }

    fn set_read_timeout(&self, patience: Duration) -> io::Result<()> {
        self.0.set_read_timeout(Some(at_least_a_microsecond(patience)))
    }

    fn set_write_timeout(&self, patience: Duration) -> io::Result<()> {
        self.0.set_write_timeout(Some(at_least_a_microsecond(patience)))
    }

    fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(UnixConnection)
    }

    fn shutdown(&self) -> io::Result<()> {
        self.0.shutdown(Shutdown::Both)
    }
}

impl Read for UnixConnection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for UnixConnection {
    /// Without SIGPIPE, whatever the process has made of that signal.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Listens at one path, and removes it when dropped.
#[derive(Debug)]
pub struct UnixListener {
    socket: OwnedFd,
    uid: u32,
    _file: Bound,
}

impl Listener for UnixListener {
    type Connection = UnixConnection;

    fn accept(&self, deadline: Deadline) -> Result<Option<UnixConnection>, AcceptError> {
        loop {
            let socket = match net::accept_with(&self.socket, SocketFlags::CLOEXEC) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) if wait(&self.socket, PollFlags::IN, deadline)? => continue,
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(AcceptError::Io(error.into())),
            };
            return match peer(&socket)? {
                peer if peer == self.uid => Ok(Some(UnixConnection(UnixStream::from(socket)))),
                peer => Err(AcceptError::ForeignPeer { peer, uid: self.uid }),
            };
        }
    }
}

/// The file that a socket is bound to. Whoever put another one there since keeps it.
#[derive(Debug)]
struct Bound {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Drop for Bound {
    fn drop(&mut self) {
        let ours = |path: &Path| -> io::Result<bool> {
            let metadata = fs::symlink_metadata(path)?;
            Ok(metadata.dev() == self.device && metadata.ino() == self.inode)
        };
        if ours(&self.path).unwrap_or(false) {
            // A name that stays is stale, and the next listener removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn new_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Connects a non-blocking socket; `AGAIN` when the listener's backlog stayed full until the deadline.
///
/// Linux gives no event for a backlog that has room again, and a blocking connect waits there for ever. A send
/// timeout would end it, but in whole ticks of the kernel's clock, which at 100 Hz is most of the hook's budget.
fn connect_by(socket: &OwnedFd, address: &SocketAddrUnix, deadline: Deadline) -> rustix::io::Result<()> {
    loop {
        match net::connect(socket, address) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if !deadline.passed() => {
                let pause = Duration::from_millis(1).min(deadline.remaining());
                #[allow(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
                std::thread::sleep(pause);
            }
            result => return result,
        }
    }
}

/// The user of the process at the other end, as the kernel saw it when it connected or began to listen. An error
/// for a peer in another process namespace, which has no process id here.
fn peer(socket: &OwnedFd) -> io::Result<u32> {
    match net::sockopt::socket_peercred(socket) {
        Ok(peer) => Ok(peer.uid.as_raw()),
        Err(_) => Err(io::Error::other("the system does not tell whose process is at the other end")),
    }
}

/// Whether `socket` is ready for `what` before the deadline.
fn wait(socket: &impl AsFd, what: PollFlags, deadline: Deadline) -> io::Result<bool> {
    loop {
        let timeout = Timespec::try_from(deadline.remaining()).ok();
        match poll(&mut [PollFd::new(socket, what)], timeout.as_ref()) {
            Ok(0) if deadline.passed() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A timeout of zero would mean none.
fn at_least_a_microsecond(patience: Duration) -> Duration {
    patience.max(Duration::from_micros(1))
}
