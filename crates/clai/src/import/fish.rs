//! Fish's history file: it looks like YAML and is not. An entry begins with `- cmd: `, may have `  when: seconds`, and
//! what else stands there (the paths it found) is passed over.

use super::{Entry, time};

#[derive(Debug, Clone, Default)]
pub(super) struct Reader {
    current: Option<Entry>,
}

impl Reader {
    pub(super) fn line(&mut self, line: &[u8], offset: u64) -> Option<Entry> {
        if let Some(command) = line.strip_prefix(b"- cmd:") {
            let command = command.strip_prefix(b" ").unwrap_or(command);
            return std::mem::replace(&mut self.current, Entry::of(unescape(command), offset));
        }
        if let (Some(when), Some(current)) = (line.strip_prefix(b"  when:"), &mut self.current) {
            current.ts = time(when.trim_ascii());
        }
        None
    }

    pub(super) fn end(&mut self) -> Option<Entry> {
        self.current.take()
    }
}

fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while let Some(byte) = bytes.next() {
        match (*byte, bytes.as_slice().first()) {
            (b'\\', Some(b'n')) => out.push(b'\n'),
            (b'\\', Some(b'\\')) => out.push(b'\\'),
            (byte, _) => {
                out.push(byte);
                continue;
            }
        }
        bytes.next();
    }
    out
}
