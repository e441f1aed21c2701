//! One line per record in `<state>/scrimp/<tool>.log`: for the things that fail open and silent, so that
//! `doctor` can tell. What failed has a field `error`. Callers never put source text, prompts or keys into a record.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::places::{self, Places};
use crate::text;

/// A log is moved aside once it is this long, so that a tool never keeps more than twice as much.
const ROTATE_AT: u64 = 1 << 20;

/// The log of one tool.
#[derive(Debug, Clone)]
pub struct Log {
    path: PathBuf,
    uid: u32,
}

impl Log {
    pub fn of(tool: &str, places: &Places) -> Log {
        Log { path: places.state.join("scrimp").join(format!("{tool}.log")), uid: places.uid }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one record with a single write, so that records of several processes never mix. A log that
    /// cannot be written is not worth failing for: the error is for tests and for `doctor`.
    pub fn record(&self, unix_ms: i64, event: &str, fields: &[(&str, &str)]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        places::private_dir(folder, self.uid).map_err(io::Error::other)?;
        let mut line = format!("{{\"ts\":{unix_ms},\"event\":{}", text::json_string(event));
        for (key, value) in fields {
            line.push_str(&format!(",{}:{}", text::json_string(key), text::json_string(value)));
        }
        line.push_str("}\n");
        self.rotate()?;
        self.open()?.write_all(line.as_bytes())
    }

    /// Moves a full log aside. Whoever comes second finds another file under the name and leaves it there.
    fn rotate(&self) -> io::Result<()> {
        if !fs::symlink_metadata(&self.path).is_ok_and(|file| file.len() >= ROTATE_AT) {
            return Ok(());
        }
        let full = self.open()?;
        full.lock()?;
        let (held, named) = (full.metadata()?, fs::symlink_metadata(&self.path)?);
        if held.ino() == named.ino() && held.len() >= ROTATE_AT {
            fs::rename(&self.path, self.path.with_extension("log.1"))?;
        }
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)
    }

    /// The last record of something that failed: one with a field `error`.
    pub fn last_trouble(&self) -> io::Result<Option<String>> {
        Ok(self.last(usize::MAX)?.into_iter().rfind(|record| record.contains(",\"error\":")))
    }

    /// The last `count` records, oldest first; none if there is no log.
    pub fn last(&self, count: usize) -> io::Result<Vec<String>> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        Ok(lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect())
    }
}
