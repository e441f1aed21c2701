//! What a person ran in a project and how it ended, for programs that they allowed to ask. Of what was kept, and that is
//! redacted; what programs typed is left out. Knows no stream.

use serde_json::Value;
use wire::clai::{Ran, RecentRequest, RecentResponse};

use super::{DONE, Service, refusal, to_json};
use crate::database::{Found, Query, Reader, TypedBy};
use crate::repo::Since;

/// As many long commands as fit an answer.
const MOST: u64 = 50;

impl Service {
    pub(super) fn recent(&self, ask: &RecentRequest) -> Value {
        // What was said before is written first.
        let written = self.ordered(|_| Ok(DONE));
        if written.get("error").is_some() {
            return written;
        }
        let now = self.world.clock.unix_ms();
        let repo = self.repo(&ask.cwd, Since::Nothing, now);
        let query = Query {
            cwd: repo.is_none().then(|| ask.cwd.clone()),
            repo: repo.map(|repo| repo.key.0),
            typed_by: TypedBy::Person,
            limit: Some(MOST.min(ask.limit as u64)),
            ..Query::default()
        };
        let found = Reader::open(&self.world.database_dir, now)
            .and_then(|reader| reader.map_or(Ok(Vec::new()), |reader| reader.find(&query)));
        match found {
            Ok(found) => to_json(&RecentResponse { commands: found.into_iter().rev().map(told).collect() }),
            Err(error) => refusal(&error.to_string(), error.hint()),
        }
    }
}

fn told(found: Found) -> Ran {
    Ran { cmd: found.cmd, exit_code: found.exit_code, ts: found.ts }
}
