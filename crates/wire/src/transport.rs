//! How two of our processes meet and exchange bytes. What stands above consumes streams through these traits, so
//! that a named pipe is one more implementation; nothing here knows lines or messages.

mod guarded;
mod unix;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use kit::places::PlaceError;
use thiserror::Error;

use crate::Deadline;
pub use guarded::{Guarded, GuardedConnection, GuardedListener};
pub use unix::{Unix, UnixConnection, UnixListener};

/// A way for processes of one user to meet on one machine.
pub trait Transport {
    type Endpoint;
    type Connection: Connection;
    type Listener: Listener<Connection = Self::Connection>;

    /// Meets who listens at `endpoint`, and makes sure that it is a process of ours. Giving up is
    /// [`ConnectError::TimedOut`]: somebody is there, but does not take calls.
    fn connect(
        &self,
        endpoint: &Self::Endpoint,
        deadline: Deadline,
    ) -> Result<Self::Connection, ConnectError>;

    /// Starts listening. The name must be free; see [`Transport::remove_stale`].
    fn listen(&self, endpoint: &Self::Endpoint) -> Result<Self::Listener, ListenError>;

    /// Frees a name that a dead process left behind. Only for who holds the lock of the one allowed listener:
    /// between our look and the removal nobody else may start to listen.
    fn remove_stale(&self, endpoint: &Self::Endpoint) -> Result<(), ListenError>;
}

/// A stream of bytes in both directions. Blocking, within its timeouts.
pub trait Connection: Read + Write + Send + Sized {
    /// Sends all of `bytes` without ever reading, and gives up at `deadline`: then the peer has got a part.
    /// A peer that reads a byte now and then cannot stretch it, as it could stretch a write timeout.
    fn send_within(&self, bytes: &[u8], deadline: Deadline) -> Result<(), SendError>;

    /// How long one read waits before it is `WouldBlock`. Zero counts as a microsecond.
    fn set_read_timeout(&self, patience: Duration) -> io::Result<()>;

    /// How long one write waits before it is `WouldBlock`. Zero counts as a microsecond.
    fn set_write_timeout(&self, patience: Duration) -> io::Result<()>;

    /// A second handle on the same stream, for a thread that writes while another reads.
    fn try_clone(&self) -> io::Result<Self>;

    /// Ends both directions: a read that waits on another thread returns.
    fn shutdown(&self) -> io::Result<()>;
}

/// Takes calls at one endpoint, and frees its name when dropped.
pub trait Listener: Send {
    type Connection;

    /// The next caller, or `None` if none came until `deadline`. After an error the listener can be asked again.
    fn accept(&self, deadline: Deadline) -> Result<Option<Self::Connection>, AcceptError>;
}

/// Why nobody was met.
#[derive(Debug, Error)]
pub enum ConnectError {
    #[error("nobody listens at `{}`", path.display())]
    Absent { path: PathBuf },
    /// The listener is gone and its name has stayed.
    #[error("nobody listens any more at `{}`", path.display())]
    Stale { path: PathBuf },
    #[error("`{}` is not a socket", path.display())]
    NotASocket { path: PathBuf },
    /// A symlink, or an entry of somebody else: never followed.
    #[error(transparent)]
    Untrusted(#[from] PlaceError),
    #[error("user {peer} listens at `{}`, and we are user {uid}", path.display())]
    ForeignPeer { path: PathBuf, peer: u32, uid: u32 },
    #[error("who listens at `{}` did not take the call in time", path.display())]
    TimedOut { path: PathBuf },
    #[error("cannot connect to `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Why we cannot listen.
#[derive(Debug, Error)]
pub enum ListenError {
    #[error("somebody listens at `{}` already", path.display())]
    InUse { path: PathBuf },
    #[error("`{}` is not a socket", path.display())]
    NotASocket { path: PathBuf },
    #[error(transparent)]
    Untrusted(#[from] PlaceError),
    /// The file system did not keep the socket to ourselves, so it was taken away again.
    #[error("`{}` would be open to other users (mode {mode:04o})", path.display())]
    Open { path: PathBuf, mode: u32 },
    #[error("cannot listen at `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Why a caller was not taken.
#[derive(Debug, Error)]
pub enum AcceptError {
    #[error("a process of user {peer} called, and we are user {uid}")]
    ForeignPeer { peer: u32, uid: u32 },
    #[error("cannot take a call: {0}")]
    Io(#[from] io::Error),
}

/// Why not all was sent.
#[derive(Debug, Error)]
pub enum SendError {
    #[error("the peer did not take all bytes in time")]
    TimedOut,
    #[error("the peer is gone")]
    Closed,
    #[error("cannot send: {0}")]
    Io(#[from] io::Error),
}
