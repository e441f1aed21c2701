//! Where the body of a request ends: by its length or by its chunks. Knows bytes only.

use std::io::{self, BufRead, BufReader, Read};

use super::Unreadable;

/// A chunk's size line is a number and perhaps an extension.
const LONGEST_SIZE_LINE: usize = 256;
/// What of an unwanted body is read away so that the connection can be kept.
const WORTH_DRAINING: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    None,
    Length(u64),
    Chunked,
}

impl Framing {
    /// From the values of the two headers. Both at once, or two different lengths, is how requests are smuggled.
    pub(super) fn of(
        lengths: impl Iterator<Item = String>,
        encodings: impl Iterator<Item = String>,
    ) -> Result<Framing, Unreadable> {
        let bad = |why| Unreadable { status: 400, why };
        let encodings: Vec<String> = encodings.collect();
        let mut lengths = lengths.map(|text| {
            if text.bytes().all(|c| c.is_ascii_digit()) { text.parse::<u64>().ok() } else { None }
        });
        let length = lengths.next();
        if lengths.any(|other| Some(other) != length) || length == Some(None) {
            return Err(bad("the length of the body is not one number"));
        }
        match (length.flatten(), &encodings[..]) {
            (None, []) => Ok(Framing::None),
            (Some(length), []) => Ok(Framing::Length(length)),
            (None, [one]) if one == "chunked" => Ok(Framing::Chunked),
            (None, _) => Err(Unreadable { status: 501, why: "only `chunked` is understood" }),
            (Some(_), _) => Err(bad("a length and an encoding")),
        }
    }
}

/// The bytes of one body, and none behind it.
pub(super) struct Body<'a, R> {
    input: &'a mut BufReader<R>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// So many bytes are left of the body or chunk; behind a chunk stands a line break.
    Inside {
        left: u64,
        chunked: bool,
    },
    BeforeSize,
    Over,
    /// Whatever comes next on the stream, it is not known to be a body.
    Broken,
}

impl<'a, R: Read> Body<'a, R> {
    pub(super) fn new(input: &'a mut BufReader<R>, framing: Framing) -> Body<'a, R> {
        let state = match framing {
            Framing::None | Framing::Length(0) => State::Over,
            Framing::Length(left) => State::Inside { left, chunked: false },
            Framing::Chunked => State::BeforeSize,
        };
        Body { input, state }
    }

    pub(super) fn read_all(&mut self, cap: usize) -> Result<Vec<u8>, Unreadable> {
        let mut bytes = Vec::new();
        if matches!(self.state, State::Inside { left, .. } if left > cap as u64) {
            return Err(Unreadable { status: 413, why: "the body is too long" });
        }
        match self.by_ref().take(cap as u64 + 1).read_to_end(&mut bytes) {
            Ok(length) if length > cap => Err(Unreadable { status: 413, why: "the body is too long" }),
            Ok(_) => Ok(bytes),
            Err(error) if super::is_pause(&error) => {
                Err(Unreadable { status: 408, why: "the body did not arrive in time" })
            }
            Err(_) => Err(Unreadable { status: 400, why: "the body is not whole" }),
        }
    }

    /// Reads what is left, if that is not too much.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        io::copy(&mut self.by_ref().take(WORTH_DRAINING), &mut io::sink())?;
        match self.state {
            State::Over => Ok(()),
            _ => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.input.by_ref().take(LONGEST_SIZE_LINE as u64).read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\n") {
            Some(line) => Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec()),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn next_chunk(&mut self) -> io::Result<()> {
        let line = self.line()?;
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|c| c.is_ascii_hexdigit()));
        let size =
            size.and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or(io::ErrorKind::InvalidData)?;
        if size > 0 {
            self.state = State::Inside { left: size, chunked: true };
            return Ok(());
        }
        // Trailers, up to an empty line. As many as nobody sends.
        for _ in 0..64 {
            if self.line()?.is_empty() {
                self.state = State::Over;
                return Ok(());
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

impl<R: Read> Read for Body<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.state {
            State::Over => return Ok(0),
            State::Broken => return Err(io::ErrorKind::InvalidData.into()),
            _ if buffer.is_empty() => return Ok(0),
            _ => {}
        }
        let read = self.advance(buffer);
        // A pause in the middle of a chunk's size line would leave half of it read.
        if read.is_err() {
            self.state = State::Broken;
        }
        read
    }
}

impl<R: Read> Body<'_, R> {
    fn advance(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.state == State::BeforeSize {
            self.next_chunk()?;
        }
        let State::Inside { left, chunked } = self.state else { return Ok(0) };
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.input.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let left = left - count as u64;
        self.state = match (left, chunked) {
            (0, false) => State::Over,
            (0, true) => {
                if !self.line()?.is_empty() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                State::BeforeSize
            }
            _ => State::Inside { left, chunked },
        };
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framing(lengths: &[&str], encodings: &[&str]) -> Result<Framing, u16> {
        let owned =
            |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>().into_iter();
        Framing::of(owned(lengths), owned(encodings)).map_err(|problem| problem.status)
    }

    fn read(bytes: &[u8], framing: Framing) -> (io::Result<Vec<u8>>, Vec<u8>) {
        let mut input = BufReader::with_capacity(3, bytes);
        let mut body = Vec::new();
        let read = Body::new(&mut input, framing).read_to_end(&mut body);
        let mut rest = Vec::new();
        input.read_to_end(&mut rest).unwrap();
        (read.map(|_| body), rest)
    }

    #[test]
    fn a_body_is_framed_in_exactly_one_way() {
        assert_eq!(framing(&[], &[]), Ok(Framing::None));
        assert_eq!(framing(&["12"], &[]), Ok(Framing::Length(12)));
        assert_eq!(framing(&["12", "12"], &[]), Ok(Framing::Length(12)));
        assert_eq!(framing(&[], &["chunked"]), Ok(Framing::Chunked));
        assert_eq!(framing(&[], &["gzip, chunked"]), Err(501));
        for (lengths, encodings) in [
            (&["12", "13"][..], &[][..]),
            (&["-1"], &[]),
            (&["+1"], &[]),
            (&[""], &[]),
            (&["1"], &["chunked"]),
        ] {
            assert_eq!(framing(lengths, encodings), Err(400), "{lengths:?}");
        }
    }

    #[test]
    fn a_body_ends_where_it_says() {
        let (body, rest) = read(b"abcdeGET /", Framing::Length(5));
        assert_eq!((body.unwrap(), rest), (b"abcde".to_vec(), b"GET /".to_vec()));
        let (body, rest) = read(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: z\r\n\r\nGET /", Framing::Chunked);
        assert_eq!((body.unwrap(), rest), (b"abcde".to_vec(), b"GET /".to_vec()));
    }

    #[test]
    fn a_body_that_breaks_off_or_lies_is_an_error() {
        assert!(read(b"abc", Framing::Length(5)).0.is_err());
        for chunks in [
            &b""[..],
            b"3\r\nab",
            b"3\r\nabcd\r\n",
            b"x\r\n",
            b"-1\r\n",
            b"fffffffffffffffff\r\n",
            b"3\r\nabc\r\n",
        ] {
            assert!(read(chunks, Framing::Chunked).0.is_err(), "{chunks:?}");
        }
    }

    proptest! {
        #[test]
        fn any_cut_into_chunks_gives_the_same_body(pieces in prop::collection::vec("[a-z\\r\\n]{1,20}", 0..10)) {
            let mut chunked = String::new();
            for piece in &pieces {
                chunked.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
            }
            chunked.push_str("0\r\n\r\nnext");
            let (body, rest) = read(chunked.as_bytes(), Framing::Chunked);
            prop_assert_eq!(body.unwrap(), pieces.concat().into_bytes());
            prop_assert_eq!(rest, b"next".to_vec());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, Framing::Chunked);
        }
    }
}
