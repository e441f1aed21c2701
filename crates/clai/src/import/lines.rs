//! Lines of a file of any size in little memory. Knows no format.

use std::io::{self, BufRead, Read};

/// A command is never longer: the same as the longest message to the daemon.
pub(super) const CAP: usize = wire::clai::CAP.0;

#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    offset: u64,
}

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong {
        last: u8,
    },
    /// The file ends inside it: what is missing could make it another command.
    Torn {
        last: u8,
    },
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Lines<R> {
        Lines { reader, buffer: Vec::new(), offset: 0 }
    }

    /// Where the next line begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.read()?;
        match self.buffer.last().copied() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(Line::Whole(&self.buffer[..self.buffer.len() - 1]))),
            Some(last) if self.buffer.len() <= CAP => Ok(Some(Line::Torn { last })),
            Some(last) => self.pass_over(last).map(Some),
        }
    }

    /// Goes to the end of a line that is too long to keep.
    fn pass_over(&mut self, mut last: u8) -> io::Result<Line<'static>> {
        loop {
            self.read()?;
            match self.buffer.as_slice() {
                [] => return Ok(Line::Torn { last }),
                [b'\n'] => return Ok(Line::TooLong { last }),
                [.., last, b'\n'] => return Ok(Line::TooLong { last: *last }),
                [.., end] => last = *end,
            }
        }
    }

    /// The rest of a line, or as much of it as we would keep and one byte more.
    fn read(&mut self) -> io::Result<()> {
        self.buffer.clear();
        let cap = CAP as u64 + 1;
        self.offset += self.reader.by_ref().take(cap).read_until(b'\n', &mut self.buffer)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_whole_too_long_or_torn() {
        let long = "x".repeat(CAP);
        let text = format!("one\n\n{long}\\\n{long}\ntwo\nthr");
        let mut lines = Lines::new(BufReader::new(text.as_bytes()));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"one")));
        assert_eq!(lines.offset(), 4);
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"")));
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong { last: b'\\' }));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(long.as_bytes())));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"two")));
        assert_eq!(lines.next().unwrap(), Some(Line::Torn { last: b'r' }));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.offset(), text.len() as u64);
    }

    #[test]
    fn a_line_of_64_megabytes_is_passed_over_in_little_memory() {
        let mut lines = Lines::new(BufReader::new(io::repeat(0).take(64 << 20).chain(&b"\nls\n"[..])));
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong { last: 0 }));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"ls")));
        assert!(lines.buffer.capacity() <= 4 * CAP, "{}", lines.buffer.capacity());
    }
}
