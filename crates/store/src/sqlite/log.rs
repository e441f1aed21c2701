//! The log beside a database, as bytes: whether SQLite will pass over what it holds, or throw it away. Only reads,
//! and never the database or its index: closing one of those would drop every lock that SQLite has on it.
//!
//! SQLite reads a log up to the first frame whose checksum is wrong, and the next write goes over the rest without
//! a word. That is right for what a killed writer left, which is one unfinished frame at the end. Whole frames of
//! the same round after a bad one are commits that somebody was told of.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use super::SqliteError;
use crate::fault::{At, found, with_suffix};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// Damage comes in blocks of the disk, which can take several frames; as many frames of an older round in a row
/// are the end of this one.
const GAP: usize = 16;

/// Whether SQLite would start afresh next to a log or a rollback journal that holds all there is, and delete it.
pub(super) fn is_orphaned(path: &Path) -> io::Result<bool> {
    // The log first: while a database is made, its log comes last.
    let left = length(&with_suffix(path, "-wal"))? > 0 || undoes_pages(&with_suffix(path, "-journal"))?;
    Ok(left && length(path)? == 0)
}

/// Whether the log holds commits that `connection` does not see. Waits for a writer that is at work.
pub(super) fn is_damaged(connection: &Connection, path: &Path) -> Result<bool, SqliteError> {
    let sql = |source| SqliteError::Sql { path: path.to_owned(), source };
    let log = with_suffix(path, "-wal");
    let first_bad = || -> Result<Option<u64>, SqliteError> {
        let seen = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get::<_, i64>(1));
        // No log at all is told as -1.
        let seen = u64::try_from(seen.map_err(sql)?).unwrap_or(0);
        match first_bad_frame(&log, seen) {
            // It became shorter while it was read: somebody has put all of it into the database.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            found => Ok(found.at("read", &log)?),
        }
    };
    let Some(bad) = first_bad()? else { return Ok(false) };
    // What a writer is just writing looks the same, but not for long.
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK").map_err(sql)?;
    Ok(first_bad()? == Some(bad))
}

/// The number of the frame that hides commits after the first `seen` frames, 0 for the header of the log itself.
/// Reads two dozen bytes of some frames if all is well.
fn first_bad_frame(path: &Path, seen: u64) -> io::Result<Option<u64>> {
    if length(path)? <= HEADER as u64 {
        return Ok(None);
    }
    let Some(log) = Log::open(path)? else { return Ok(Some(0)) };
    if !log.frames_from(seen)?.contains(&Frame::Commit) {
        return Ok(None);
    }
    let whole = log.whole_frames()?;
    let after = log.frames_from(whole)?;
    let finished = log.only_grew() || after.len() > 1;
    Ok((finished && after.contains(&Frame::Commit)).then_some(whole + 1))
}

struct Log {
    file: File,
    length: u64,
    header: [u8; HEADER],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// Of an older round of the log, or damaged.
    Stranger,
    Page,
    /// The last page of a transaction.
    Commit,
}

impl Log {
    /// None if the header is not one that SQLite would accept.
    fn open(path: &Path) -> io::Result<Option<Log>> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut log = Log { file, length, header: [0; HEADER] };
        log.file.read_exact_at(&mut log.header, 0)?;
        let good = number(&log.header[..4]) & !1 == 0x377f_0682
            && (512..=65536).contains(&log.page_size())
            && log.page_size().is_power_of_two()
            && log.checksum(&log.header[..24], [0; 2]) == numbers(&log.header[24..]);
        Ok(good.then_some(log))
    }

    fn page_size(&self) -> usize {
        number(&self.header[8..12]) as usize
    }

    /// In its first round a log only becomes longer: every frame of full length was finished. Later ones go over
    /// the frames of older rounds, and their last frame may be half of both.
    fn only_grew(&self) -> bool {
        number(&self.header[12..16]) == 0
    }

    fn count(&self) -> u64 {
        (self.length - HEADER as u64) / self.frame_size()
    }

    fn frame_size(&self) -> u64 {
        (FRAME_HEADER + self.page_size()) as u64
    }

    fn read(&self, frame: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, HEADER as u64 + frame * self.frame_size())
    }

    /// The frames of this round from the one after `skipped` on.
    fn frames_from(&self, skipped: u64) -> io::Result<Vec<Frame>> {
        let mut frames = Vec::new();
        let mut strangers = 0;
        for frame in skipped..self.count() {
            let mut header = [0; FRAME_HEADER];
            self.read(frame, &mut header)?;
            let kind = match number(&header[4..8]) {
                _ if header[8..16] != self.header[16..24] => Frame::Stranger,
                0 => Frame::Page,
                _ => Frame::Commit,
            };
            frames.push(kind);
            strangers = if kind == Frame::Stranger { strangers + 1 } else { 0 };
            if strangers == GAP {
                break;
            }
        }
        frames.truncate(frames.len() - strangers);
        Ok(frames)
    }

    /// How many frames SQLite would read.
    fn whole_frames(&self) -> io::Result<u64> {
        let mut sum = numbers(&self.header[24..]);
        let mut bytes = vec![0; FRAME_HEADER + self.page_size()];
        for frame in 0..self.count() {
            self.read(frame, &mut bytes)?;
            sum = self.checksum(&bytes[FRAME_HEADER..], self.checksum(&bytes[..8], sum));
            if bytes[8..16] != self.header[16..24] || numbers(&bytes[16..24]) != sum {
                return Ok(frame);
            }
        }
        Ok(self.count())
    }

    /// As the file format says; the lowest bit of the header's first number is the order of the bytes.
    fn checksum(&self, bytes: &[u8], sum: [u32; 2]) -> [u32; 2] {
        let big_endian = self.header[3] & 1 == 1;
        bytes.chunks_exact(8).fold(sum, |[first, second], pair| {
            let pair = numbers(pair).map(|number| if big_endian { number } else { number.swap_bytes() });
            let first = first.wrapping_add(pair[0]).wrapping_add(second);
            [first, second.wrapping_add(pair[1]).wrapping_add(first)]
        })
    }
}

/// Whether a rollback journal belongs to a database that had pages: its header says how many.
fn undoes_pages(path: &Path) -> io::Result<bool> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut header = [0; 20];
    if length(path)? < header.len() as u64 {
        return Ok(false);
    }
    File::open(path)?.read_exact_at(&mut header, 0)?;
    Ok(header[..8] == MAGIC && number(&header[16..]) > 0)
}

/// 0 for what is not there.
fn length(path: &Path) -> io::Result<u64> {
    Ok(found(fs::symlink_metadata(path))?.map_or(0, |file| file.len()))
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}

fn numbers(bytes: &[u8]) -> [u32; 2] {
    [number(&bytes[..4]), number(&bytes[4..8])]
}
