//! Reading HTTP/1.1 requests. Knows nothing of models or replies.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its place in the log, from 0.
    pub number: usize,
    /// Which connection it came on, from 0: two requests with the same one reused it.
    pub connection: usize,
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The client closed the connection before the reply was complete.
    pub closed_early: bool,
}

impl Request {
    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            let text = String::from_utf8_lossy(&self.body);
            panic!("the body of request {} is not JSON: {error}: {text}", self.number + 1)
        })
    }
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum Broken {
    /// The connection ended or failed in the middle.
    Off,
    Malformed(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Broken::Malformed(error.to_string()),
            _ => Broken::Off,
        }
    }
}

/// The next request, or none if the client closed the connection before it. `output` is where a client that
/// asks first is told to go on.
pub(super) fn read(input: &mut impl BufRead, mut output: impl Write) -> Result<Option<Request>, Broken> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let start = line(input)?;
    let mut words = start.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Broken::Malformed(format!("request line {start:?}")));
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let headers = headers(input)?;
    let mut request =
        Request { number: 0, connection: 0, method, path, headers, body: Vec::new(), closed_early: false };
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = body(&request, input)?;
    Ok(Some(request))
}

fn body(request: &Request, input: &mut impl BufRead) -> Result<Vec<u8>, Broken> {
    let mut body = Vec::new();
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let line = line(input)?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16)
                .map_err(|_| Broken::Malformed(format!("chunk size {line:?}")))?;
            if size == 0 {
                headers(input)?;
                return Ok(body);
            }
            exactly(input, size, &mut body)?;
            if !self::line(input)?.is_empty() {
                return Err(Broken::Malformed("a chunk is longer than it says".to_owned()));
            }
        }
    }
    if let Some(length) = request.header("content-length") {
        let length = length.parse().map_err(|_| Broken::Malformed(format!("content-length {length:?}")))?;
        exactly(input, length, &mut body)?;
    }
    Ok(body)
}

/// Header lines, or trailers, up to the empty line.
fn headers(input: &mut impl BufRead) -> Result<Vec<(String, String)>, Broken> {
    let mut headers = Vec::new();
    loop {
        let line = line(input)?;
        if line.is_empty() {
            return Ok(headers);
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| Broken::Malformed(format!("header line {line:?}")))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// One line of the head. The cap only keeps a peer that is not speaking HTTP from filling the memory.
fn line(input: &mut impl BufRead) -> Result<String, Broken> {
    const CAP: u64 = 64 * 1024;
    let mut line = String::new();
    input.take(CAP).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.strip_suffix('\r').unwrap_or(line).to_owned()),
        None if line.len() as u64 == CAP => Err(Broken::Malformed("an endless line".to_owned())),
        None => Err(Broken::Off),
    }
}

fn exactly(input: &mut impl Read, size: usize, into: &mut Vec<u8>) -> Result<(), Broken> {
    match input.take(size as u64).read_to_end(into)? {
        read if read == size => Ok(()),
        _ => Err(Broken::Off),
    }
}
