//! What plugins said about themselves, kept as long as their files do not change. A file that can be made again: whatever
//! is wrong with it, the plugins are asked again.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Durability;

use super::find::{Executable, Stamp};
use super::handover::private_folder;
use super::report::Fault;

const VERSION: u32 = 1;

/// By the path of the executable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cache {
    version: u32,
    plugins: BTreeMap<String, Kept>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    stamp: Stamp,
    said: Said,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    Schema(Value),
    /// It was killed after so many milliseconds.
    Hung(u64),
    /// It was killed after so many bytes.
    Flooded(usize),
}

impl Said {
    pub(super) fn schema(self) -> Result<Value, Fault> {
        match self {
            Said::Schema(schema) => Ok(schema),
            Said::Hung(ms) => Err(Fault::Hung(Duration::from_millis(ms))),
            Said::Flooded(bytes) => Err(Fault::Flooded(bytes)),
        }
    }

    /// A failure may be mended elsewhere, by an installed interpreter say, and asking again is quick. A wait is not.
    pub(super) fn of(fault: &Fault) -> Option<Said> {
        match fault {
            Fault::Hung(time) => Some(Said::Hung(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))),
            Fault::Flooded(bytes) => Some(Said::Flooded(*bytes)),
            _ => None,
        }
    }
}

impl Cache {
    pub(super) fn open(path: &Path) -> Cache {
        let read =
            crate::context::read(path).ok().and_then(|bytes| serde_json::from_slice::<Cache>(&bytes).ok());
        read.filter(|cache| cache.version == VERSION).unwrap_or_default()
    }

    /// What it said when it was as it is now.
    pub(super) fn fresh(&self, executable: &Executable) -> Option<Said> {
        let kept = self.plugins.get(executable.path.to_str()?)?;
        (kept.stamp == executable.stamp).then(|| kept.said.clone())
    }

    /// What it said when it was something else.
    pub(super) fn old(&self, executable: &Executable) -> Option<&Value> {
        match &self.plugins.get(executable.path.to_str()?)?.said {
            Said::Schema(schema) => Some(schema),
            _ => None,
        }
    }

    pub(super) fn keep(&mut self, executable: &Executable, said: Said) {
        if let Some(path) = executable.path.to_str() {
            self.plugins.insert(path.to_owned(), Kept { stamp: executable.stamp, said });
        }
    }

    pub(super) fn forget_all_but(&mut self, paths: &[&Path]) {
        self.plugins.retain(|path, _| paths.contains(&Path::new(path)));
    }

    pub(super) fn save(mut self, path: &Path) {
        self.version = VERSION;
        keep_file(path, &serde_json::to_vec(&self).expect("a map with string keys is JSON"));
    }
}

/// Replaces a private file that can be made again. If it cannot be written, that costs time the next time and nothing
/// else: no reason to speak up.
pub(crate) fn keep_file(path: &Path, bytes: &[u8]) {
    if private_folder(path.parent().unwrap_or(path)).is_ok() {
        let _ = store::replace(path, bytes, Durability::Cached);
    }
}
