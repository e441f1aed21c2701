//! What servers offered the last time, as long as they are set the same. A file that can be made again: whatever is wrong
//! with it, the servers are asked again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::plugins::{Ground, keep_file};

use super::offer::Tool;
use super::{Fault, Setting};

const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Cache {
    version: u32,
    servers: BTreeMap<String, Kept>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// A digest, since settings may hold secrets.
    setting: String,
    said: Said,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    Tools(Vec<Tool>),
    Hung,
}

impl Said {
    pub(super) fn tools(&self) -> Result<Vec<Tool>, Fault> {
        match self {
            Said::Tools(tools) => Ok(tools.clone()),
            Said::Hung => Err(Fault::Hung),
        }
    }

    /// A failure may be mended elsewhere, and is quick. A wait is not.
    pub(super) fn of(asked: &Result<Vec<Tool>, Fault>) -> Option<Said> {
        match asked {
            Ok(tools) => Some(Said::Tools(tools.clone())),
            Err(Fault::Hung) => Some(Said::Hung),
            Err(Fault::Failed(_)) => None,
        }
    }
}

impl Cache {
    pub(super) fn open(path: &Path) -> Cache {
        let read =
            crate::context::read(path).ok().and_then(|bytes| serde_json::from_slice::<Cache>(&bytes).ok());
        read.filter(|cache| cache.version == VERSION).unwrap_or_else(Cache::empty)
    }

    pub(super) fn empty() -> Cache {
        Cache { version: VERSION, servers: BTreeMap::new() }
    }

    pub(super) fn get(&self, name: &str, setting: &Setting) -> Option<&Said> {
        self.servers.get(name).filter(|kept| kept.setting == digest(setting)).map(|kept| &kept.said)
    }

    pub(super) fn keep(&mut self, name: &str, setting: &Setting, said: Said) {
        self.servers.insert(name.to_owned(), Kept { setting: digest(setting), said });
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.servers.remove(name);
    }

    pub(super) fn save(&self, path: &Path) {
        keep_file(path, &serde_json::to_vec(self).expect("a map with string keys is JSON"));
    }
}

pub(super) fn path(ground: &Ground) -> PathBuf {
    ground.cache().join("servers.json")
}

/// Of all that decides what the server is. A different patience makes it no different server.
fn digest(setting: &Setting) -> String {
    let Setting { command, args, env, set, timeout: _ } = setting;
    let json = serde_json::to_vec(&(command, args, env, set)).expect("strings are JSON");
    Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect()
}
