//! The files of a folder, a zip or a compressed tar that somebody wants, as bytes. Nothing is written, so no name in an
//! archive can lead anywhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::{DeflateDecoder, GzDecoder};

/// More than the largest encoder that is worth its time on one machine.
const LARGEST: u64 = 4 << 30;
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// By their path inside, with slashes.
pub(super) fn files(from: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Files> {
    let mut files = Files::new();
    if from.is_dir() {
        folder(from, "", &wanted, &mut files)?;
        return Ok(files);
    }
    let bytes = read_most(fs::File::open(from)?)?;
    match bytes.starts_with(&GZIP) {
        true => tar(GzDecoder::new(bytes.as_slice()), &wanted, &mut files)?,
        false => zip(&bytes, &wanted, &mut files)?,
    }
    Ok(files)
}

/// Models are published in folders of two levels; a folder that is deeper is something else.
fn folder(at: &Path, prefix: &str, wanted: &impl Fn(&str) -> bool, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(at)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        // Caches of models are made of links.
        let kind = fs::metadata(entry.path())?;
        if kind.is_dir() && prefix.is_empty() {
            folder(&entry.path(), &format!("{name}/"), wanted, files)?;
        } else if kind.is_file() && wanted(&path) {
            files.insert(path, read_most(fs::File::open(entry.path())?)?);
        }
    }
    Ok(())
}

/// Headers of 512 bytes, each followed by its file, filled up to the next 512.
fn tar(mut from: impl Read, wanted: &impl Fn(&str) -> bool, files: &mut Files) -> io::Result<()> {
    const BLOCK: u64 = 512;
    let mut header = [0; BLOCK as usize];
    loop {
        from.read_exact(&mut header)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let text = |from: usize, to: usize| {
            let field = &header[from..to];
            String::from_utf8_lossy(field.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        let size =
            u64::from_str_radix(text(124, 136).trim(), 8).map_err(|_| broken("a size is no number"))?;
        if size > LARGEST {
            return Err(broken("a file is too large"));
        }
        let path = match (&header[257..262] == b"ustar", text(345, 500)) {
            (true, prefix) if !prefix.is_empty() => format!("{prefix}/{}", text(0, 100)),
            _ => text(0, 100),
        };
        let mut file = from.by_ref().take(size.next_multiple_of(BLOCK));
        if matches!(header[156], b'0' | 0) && wanted(&path) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            bytes.truncate(usize::try_from(size).map_err(|_| broken("a file is too large"))?);
            files.insert(path, bytes);
        }
        io::copy(&mut file, &mut io::sink())?;
    }
}

/// A list at the end says where each file begins.
fn zip(bytes: &[u8], wanted: &impl Fn(&str) -> bool, files: &mut Files) -> io::Result<()> {
    const END: &[u8] = b"PK\x05\x06";
    /// A comment may stand after the list's own end.
    const LONGEST_END: usize = 22 + 0xffff;
    let tail = bytes.len().saturating_sub(LONGEST_END);
    let end = bytes[tail..].windows(4).rposition(|window| window == END);
    let end = tail + end.ok_or_else(|| broken("it is neither a folder, nor a wheel, nor a tarball"))?;
    let mut at = long(bytes, end + 16)? as usize;
    for _ in 0..short(bytes, end + 10)? {
        if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(broken("its list is broken, or longer than four gigabytes"));
        }
        let lengths = [28, 30, 32].map(|field| short(bytes, at + field));
        let [name, extra, comment] = lengths;
        let (name, after) = (usize::from(name?), usize::from(extra?) + usize::from(comment?));
        let path = slice(bytes, at + 46, name)?;
        let path = String::from_utf8_lossy(path).into_owned();
        if wanted(&path) {
            files.insert(path, unzip(bytes, at)?);
        }
        at += 46 + name + after;
    }
    Ok(())
}

/// The file of which the list's entry is at `at`.
fn unzip(bytes: &[u8], at: usize) -> io::Result<Vec<u8>> {
    const STORED: u16 = 0;
    const DEFLATED: u16 = 8;
    let method = short(bytes, at + 10)?;
    let (packed, size) = (long(bytes, at + 20)? as usize, u64::from(long(bytes, at + 24)?));
    let head = long(bytes, at + 42)? as usize;
    let begin = head + 30 + usize::from(short(bytes, head + 26)?) + usize::from(short(bytes, head + 28)?);
    let packed = slice(bytes, begin, packed)?;
    let mut file = Vec::new();
    match method {
        STORED => file.extend(packed),
        DEFLATED => drop(DeflateDecoder::new(packed).take(size + 1).read_to_end(&mut file)?),
        _ => return Err(broken("a file is packed in a way that is not known")),
    }
    if file.len() as u64 == size { Ok(file) } else { Err(broken("a file is not as long as the list says")) }
}

fn short(bytes: &[u8], at: usize) -> io::Result<u16> {
    let bytes = slice(bytes, at, 2)?;
    Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn long(bytes: &[u8], at: usize) -> io::Result<u32> {
    let bytes = slice(bytes, at, 4)?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn slice(bytes: &[u8], at: usize, length: usize) -> io::Result<&[u8]> {
    at.checked_add(length).and_then(|end| bytes.get(at..end)).ok_or_else(|| broken("it is cut off"))
}

fn read_most(file: fs::File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
