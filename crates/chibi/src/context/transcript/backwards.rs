//! The lines of a file from its end to its beginning, without reading more than is asked for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Most windows end within so many bytes.
const STEP: u64 = 1 << 16;

/// What follows the last newline is somebody's unfinished append and is left out.
#[derive(Debug)]
pub(super) struct LinesBackwards {
    file: File,
    /// The bytes of the file from `start` on that were not given yet.
    buffer: Vec<u8>,
    start: u64,
}

impl LinesBackwards {
    pub(super) fn open(path: &Path) -> io::Result<LinesBackwards> {
        // Nobody may ever write to a pipe in its place.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let start = found.len();
        let mut lines = LinesBackwards { file, buffer: Vec::new(), start };
        while !lines.buffer.contains(&b'\n') && lines.start > 0 {
            lines.more()?;
        }
        let whole = memchr::memrchr(b'\n', &lines.buffer).map_or(0, |last| last + 1);
        lines.buffer.truncate(whole);
        Ok(lines)
    }

    /// Where the line starts, and its bytes without the newline.
    fn line(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.buffer.is_empty() && self.start == 0 {
            return Ok(None);
        }
        self.buffer.pop();
        loop {
            if let Some(before) = memchr::memrchr(b'\n', &self.buffer) {
                let line = self.buffer.split_off(before + 1);
                return Ok(Some((self.start + before as u64 + 1, line)));
            }
            if self.start == 0 {
                return Ok(Some((0, std::mem::take(&mut self.buffer))));
            }
            self.more()?;
        }
    }

    fn more(&mut self) -> io::Result<()> {
        // Twice as much each time, so that a very long line is not moved again and again.
        let length = STEP.max(self.buffer.len() as u64).min(self.start);
        let mut piece = vec![0; length as usize];
        self.file.read_exact_at(&mut piece, self.start - length)?;
        piece.append(&mut self.buffer);
        self.buffer = piece;
        self.start -= length;
        Ok(())
    }
}

impl Iterator for LinesBackwards {
    type Item = io::Result<(u64, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::Home;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_lines_are_those_that_come_forwards(lengths in proptest::collection::vec(0_usize..90_000, 0..6), torn in "[a-z]{0,5}") {
            let home = Home::new();
            let lines: Vec<String> = lengths.iter().enumerate().map(|(number, length)| {
                char::from(b'a' + number as u8).to_string().repeat(*length)
            }).collect();
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let path = home.write("log", format!("{text}{torn}"));
            let mut read: Vec<(u64, Vec<u8>)> = LinesBackwards::open(&path).unwrap().map(Result::unwrap).collect();
            read.reverse();
            let mut offset = 0;
            for (expected, (at, line)) in lines.iter().zip(&read) {
                prop_assert_eq!(*at, offset);
                prop_assert_eq!(expected.as_bytes(), line.as_slice());
                offset += expected.len() as u64 + 1;
            }
            prop_assert_eq!(read.len(), lines.len());
        }
    }
}
