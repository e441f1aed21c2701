//! Cuts a stream at one byte, in bounded memory, whatever the pieces in which it arrives. Knows neither text nor
//! messages.

use std::io::{self, BufRead, BufReader, Read};
use std::mem;

use super::{Cap, FrameError};
use crate::Deadline;

/// What stood between two delimiters.
#[derive(Debug)]
pub(crate) enum Piece {
    Whole(Vec<u8>),
    /// The stream ended before the delimiter.
    Torn(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Cutter<R> {
    input: BufReader<R>,
    delimiter: u8,
    /// The beginning of the current piece, as far as it has arrived.
    pub(super) partial: Vec<u8>,
    /// The current piece was refused: its rest is dropped.
    skipping: bool,
}

impl<R: Read> Cutter<R> {
    pub(crate) fn new(input: BufReader<R>, delimiter: u8) -> Self {
        Cutter { input, delimiter, partial: Vec::new(), skipping: false }
    }

    pub(crate) fn get_ref(&self) -> &R {
        self.input.get_ref()
    }

    /// The next piece without its delimiter, or `None` at the end. Without a deadline, a timeout of the stream
    /// is [`FrameError::DeadlinePassed`]; with one, the stream is asked again until it passes.
    pub(crate) fn next(&mut self, cap: Cap, deadline: Option<Deadline>) -> Result<Option<Piece>, FrameError> {
        loop {
            let Some(chunk) = fill(&mut self.input, deadline)? else {
                self.skipping = false;
                let torn = mem::take(&mut self.partial);
                return Ok((!torn.is_empty()).then_some(Piece::Torn(torn)));
            };
            let end = chunk.iter().position(|byte| *byte == self.delimiter);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let fits = part.len() <= cap.0.saturating_sub(self.partial.len());
            let skipping = self.skipping;
            if fits && !skipping {
                extend_within(&mut self.partial, part, cap);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            self.skipping = end.is_none() && (skipping || !fits);
            if skipping {
                continue;
            }
            if !fits {
                self.partial = Vec::new();
                return Err(FrameError::TooLong { cap: cap.0 });
            }
            if end.is_some() {
                return Ok(Some(Piece::Whole(mem::take(&mut self.partial))));
            }
        }
    }
}

/// Some bytes that have arrived, or `None` at the end.
fn fill<R: Read>(input: &mut BufReader<R>, deadline: Option<Deadline>) -> Result<Option<&[u8]>, FrameError> {
    while input.buffer().is_empty() {
        if deadline.is_some_and(Deadline::passed) {
            return Err(FrameError::DeadlinePassed);
        }
        match input.fill_buf() {
            Ok([]) => return Ok(None),
            Ok(_) => break,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut if deadline.is_some() => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    return Err(FrameError::DeadlinePassed);
                }
                _ => return Err(FrameError::Io(error)),
            },
        }
    }
    Ok(Some(input.buffer()))
}

/// Grows by doubling like a vector does, but never past the cap.
fn extend_within(partial: &mut Vec<u8>, part: &[u8], cap: Cap) {
    let needed = partial.len() + part.len();
    if needed > partial.capacity() {
        let target = needed.max((partial.capacity() * 2).min(cap.0));
        partial.reserve_exact(target - partial.len());
    }
    partial.extend_from_slice(part);
}
