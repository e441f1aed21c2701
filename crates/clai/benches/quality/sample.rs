//! The sample of real histories that this benchmark carries; see `benches/data/README.md`.

use clai::command::{Place, Ran, RepoKey, SessionId};
use clai::normalise::normalise;
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) commands: Vec<Ran>,
}

/// Which part a person plays for the starting weights.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Tuned,
    HeldOut,
}

impl Person {
    pub(crate) fn half(&self) -> Half {
        let sum =
            self.name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        if sum.is_multiple_of(2) { Half::Tuned } else { Half::HeldOut }
    }
}

pub(crate) fn load() -> Vec<Person> {
    let mut people: Vec<Person> = Vec::new();
    for line in include_str!("../data/shell-training.jsonl").lines() {
        let value: Value = serde_json::from_str(line).expect("the sample is JSON");
        if let Some(name) = value["user"].as_str() {
            people.push(Person { name: name.to_owned(), commands: Vec::new() });
        } else if let Some(ran) = command(&value) {
            people.last_mut().expect("a person comes first").commands.push(ran);
        }
    }
    people
}

/// The data names no repositories: as everywhere in this comparison, the first two directories of a path stand for
/// one, and one stands for commands that ran nowhere.
fn command(row: &Value) -> Option<Ran> {
    let (directory, line) = (row[2].as_str(), row[3].as_str().filter(|line| !line.is_empty())?);
    let repo = directory.map_or("-".to_owned(), |path| path.split('/').take(3).collect::<Vec<_>>().join("/"));
    Some(Ran {
        session: SessionId(row[0].as_str()?.to_owned()),
        ts: row[1].as_i64()?,
        duration_ms: None,
        exit_code: None,
        place: Place {
            cwd: directory.unwrap_or_default().to_owned(),
            repo: Some(RepoKey(repo)),
            branch: None,
        },
        line: line.to_owned(),
        template: normalise(line).template,
    })
}
