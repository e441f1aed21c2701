//! Putting a reply on the wire, piece by piece, as slowly and as badly as it asks for. Knows bytes only.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

/// How the client learns where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length,
    Chunked,
    UntilClose,
}

/// How a connection is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    Close,
    Reset,
}

/// A reply with nothing left to decide.
#[derive(Debug)]
pub(super) struct Shipment {
    /// Without the lines about framing and the empty one; empty for raw replies.
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
    pub(super) framing: Framing,
    pub(super) cuts: Vec<usize>,
    pub(super) before: Duration,
    pub(super) between: Duration,
    pub(super) pauses: Vec<(usize, Duration)>,
    pub(super) loss: Option<(usize, Loss)>,
}

/// How a delivery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Everything was sent, and another request may follow.
    Complete,
    /// The connection ends here, as the script wants it.
    Closed,
    ClientGone,
}

/// The client went away, or the server is being stopped.
struct Gone;

impl From<std::io::Error> for Gone {
    fn from(_: std::io::Error) -> Self {
        Gone
    }
}

impl Shipment {
    pub(super) fn deliver(&self, stream: &TcpStream, closing: &dyn Fn() -> bool) -> End {
        self.attempt(stream, closing).unwrap_or(if closing() { End::Closed } else { End::ClientGone })
    }

    fn attempt(&self, stream: &TcpStream, closing: &dyn Fn() -> bool) -> Result<End, Gone> {
        let mut output = stream;
        wait(stream, self.before, closing)?;
        output.write_all(&self.full_head())?;
        let mut sent = 0;
        for stop in self.stops() {
            if stop > sent {
                output.write_all(&self.framed(&self.body[sent..stop]))?;
                sent = stop;
                if sent < self.body.len() {
                    wait(stream, self.between, closing)?;
                }
            }
            for (_, pause) in self.pauses.iter().filter(|(at, _)| *at == sent) {
                wait(stream, *pause, closing)?;
            }
            match self.loss {
                Some((at, Loss::Close)) if at == sent => return Ok(End::Closed),
                Some((at, Loss::Reset)) if at == sent => {
                    // Closing with nothing to linger for discards and resets.
                    set_socket_linger(stream, Some(Duration::ZERO)).map_err(|_| Gone)?;
                    return Ok(End::Closed);
                }
                _ => {}
            }
        }
        match self.framing {
            Framing::Length => Ok(End::Complete),
            Framing::Chunked => output.write_all(b"0\r\n\r\n").map(|()| End::Complete).map_err(Gone::from),
            Framing::UntilClose => Ok(End::Closed),
        }
    }

    fn full_head(&self) -> Vec<u8> {
        if self.head.is_empty() {
            return Vec::new();
        }
        let framing = match self.framing {
            Framing::Length => format!("content-length: {}\r\n\r\n", self.body.len()),
            Framing::Chunked => "transfer-encoding: chunked\r\n\r\n".to_owned(),
            Framing::UntilClose => "connection: close\r\n\r\n".to_owned(),
        };
        [&self.head, framing.as_bytes()].concat()
    }

    fn framed(&self, piece: &[u8]) -> Vec<u8> {
        match self.framing {
            Framing::Chunked => [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat(),
            Framing::Length | Framing::UntilClose => piece.to_vec(),
        }
    }

    /// Every offset at which something happens, the end included, in order.
    fn stops(&self) -> Vec<usize> {
        let mut stops = self.cuts.clone();
        stops.extend(self.pauses.iter().map(|(at, _)| *at));
        stops.extend(self.loss.map(|(at, _)| at));
        stops.push(self.body.len());
        stops.retain(|stop| *stop <= self.body.len());
        stops.sort_unstable();
        stops.dedup();
        stops
    }
}

/// Lets time pass while listening whether the client is still there. What it sends meanwhile stays to be read.
fn wait(stream: &TcpStream, time: Duration, closing: &dyn Fn() -> bool) -> Result<(), Gone> {
    // How soon a departed client or a stopped server is noticed.
    const TICK: Duration = Duration::from_millis(10);
    let end = Instant::now() + time;
    let mut result = Ok(());
    while result.is_ok() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left.min(TICK)))?;
        result = match stream.peek(&mut [0]) {
            _ if closing() => Err(Gone),
            Ok(0) => Err(Gone),
            // The next request is already here: nothing more to hear until it is read.
            Ok(_) => {
                crate::poll::pass(left.min(TICK));
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
            Err(_) => Err(Gone),
        };
    }
    stream.set_read_timeout(None)?;
    result
}
