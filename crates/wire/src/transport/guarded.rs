//! A transport whose callers show that they are the user's, for where the system does not say who calls: each connection
//! begins with the listener's secret. Wraps any other transport; knows neither where the secret is kept nor what is said
//! afterwards.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{AcceptError, ConnectError, Connection, ListenError, Listener, SendError, Transport};
use crate::Deadline;
use crate::token::Token;

/// Another transport behind a secret. Each listener has one of its own: who sits in its place learns nothing that opens the
/// next one.
#[derive(Debug, Clone)]
pub struct Guarded<T> {
    pub inner: T,
    pub token: Token,
}

impl<T: Transport> Transport for Guarded<T> {
    type Endpoint = T::Endpoint;
    type Connection = GuardedConnection<T::Connection>;
    type Listener = GuardedListener<T::Listener>;

    fn connect(
        &self,
        endpoint: &Self::Endpoint,
        deadline: Deadline,
    ) -> Result<Self::Connection, ConnectError> {
        let inner = self.inner.connect(endpoint, deadline)?;
        Ok(GuardedConnection { inner, caller: Caller::new(Shown::Ours(self.token.clone())) })
    }

    fn listen(&self, endpoint: &Self::Endpoint) -> Result<Self::Listener, ListenError> {
        Ok(GuardedListener { inner: self.inner.listen(endpoint)?, token: self.token.clone() })
    }

    fn remove_stale(&self, endpoint: &Self::Endpoint) -> Result<(), ListenError> {
        self.inner.remove_stale(endpoint)
    }
}

#[derive(Debug)]
pub struct GuardedListener<L> {
    inner: L,
    token: Token,
}

impl<L: Listener> Listener for GuardedListener<L> {
    type Connection = GuardedConnection<L::Connection>;

    /// Waits for nobody's secret: one that says nothing would keep out all others. It is asked for with the first read.
    fn accept(&self, deadline: Deadline) -> Result<Option<Self::Connection>, AcceptError> {
        let connection = self.inner.accept(deadline)?;
        let caller = || Caller::new(Shown::Theirs(self.token.clone(), Vec::new()));
        Ok(connection.map(|inner| GuardedConnection { inner, caller: caller() }))
    }
}

/// A stream whose caller sends the secret before anything else, and at whose other end everything is `PermissionDenied`
/// until it came.
#[derive(Debug)]
pub struct GuardedConnection<C> {
    inner: C,
    caller: Caller,
}

impl<C: Connection> Read for GuardedConnection<C> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.caller.listen(&mut self.inner)?;
        self.inner.read(into)
    }
}

impl<C: Connection> Write for GuardedConnection<C> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.caller.show(|line| self.inner.write_all(line))?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<C: Connection> Connection for GuardedConnection<C> {
    fn send_within(&self, bytes: &[u8], deadline: Deadline) -> Result<(), SendError> {
        self.caller.show(|line| self.inner.send_within(line, deadline))?;
        self.inner.send_within(bytes, deadline)
    }

    fn set_read_timeout(&self, patience: Duration) -> io::Result<()> {
        self.inner.set_read_timeout(patience)
    }

    fn set_write_timeout(&self, patience: Duration) -> io::Result<()> {
        self.inner.set_write_timeout(patience)
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(GuardedConnection { inner: self.inner.try_clone()?, caller: self.caller.clone() })
    }

    fn shutdown(&self) -> io::Result<()> {
        self.inner.shutdown()
    }
}

/// Who is at the other end, for all handles on one stream.
#[derive(Debug, Clone)]
struct Caller(Arc<Mutex<Shown>>);

#[derive(Debug)]
enum Shown {
    Known,
    /// The secret that we have to show.
    Ours(Token),
    /// The one that they have to, and what was heard of it.
    Theirs(Token, Vec<u8>),
}

impl Caller {
    fn new(shown: Shown) -> Caller {
        Caller(Arc::new(Mutex::new(shown)))
    }

    /// Sends the secret if nothing was sent yet.
    fn show<E: From<io::Error>>(&self, send: impl FnOnce(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut shown = self.shown();
        match &*shown {
            Shown::Known => return Ok(()),
            Shown::Ours(token) => send(&first_line(token))?,
            Shown::Theirs(..) => return Err(denied().into()),
        }
        *shown = Shown::Known;
        Ok(())
    }

    /// Reads the secret, and not a byte more. What interrupts it can be followed by another try.
    fn listen(&self, from: &mut impl Read) -> io::Result<()> {
        let mut shown = self.shown();
        let Shown::Theirs(token, heard) = &mut *shown else { return Ok(()) };
        let wanted = first_line(token);
        while heard.len() < wanted.len() {
            let mut part = vec![0; wanted.len() - heard.len()];
            match from.read(&mut part)? {
                0 => return Err(denied()),
                count => heard.extend_from_slice(&part[..count]),
            }
        }
        let line = heard.strip_suffix(b"\n").and_then(|line| str::from_utf8(line).ok());
        if !line.is_some_and(|line| token.admits(line)) {
            return Err(denied());
        }
        *shown = Shown::Known;
        Ok(())
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn first_line(token: &Token) -> Vec<u8> {
    (token.to_line() + "\n").into_bytes()
}

fn denied() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the caller did not show the secret")
}
