//! `drip verify`: replays everything that was sent to a reader that believes every word, and checks after each answer that
//! it holds the lines which the ledger says it was shown.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::database::{Database, Delivered, Result, Sent};
use crate::reader::Reader;

/// What the replay found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub files: usize,
    pub deliveries: usize,
    /// Answers after which the reader held exactly what it should.
    pub proven: usize,
    /// Answers that build on what is no longer kept.
    pub unprovable: usize,
    pub wrong: Vec<Wrong>,
}

/// An answer that left its reader with something else than the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong {
    pub session: String,
    pub path: String,
    pub delivery: i64,
    pub kind: String,
    pub why: String,
}

/// Replays one session, or all.
pub fn verify(database: &Database, session: Option<&str>) -> Result<Verdict> {
    let mut replay = Replay::default();
    database.deliveries(session, |delivered| replay.take(delivered))?;
    replay.verdict.files = replay.newest.keys().map(|(.., path)| path).collect::<HashSet<_>>().len();
    Ok(replay.verdict)
}

/// Eyes and a file: session, agent, epoch, path.
type Key = (String, String, i64, String);

#[derive(Default)]
struct Replay {
    /// What the reader held after a delivery; nothing if that cannot be known.
    held: HashMap<i64, Option<Rc<Reader>>>,
    /// The last delivery of a file to a pair of eyes, and the one before.
    newest: HashMap<Key, (i64, Option<i64>)>,
    verdict: Verdict,
}

impl Replay {
    fn take(&mut self, delivered: Delivered) {
        self.verdict.deliveries += 1;
        let key =
            (delivered.session.clone(), delivered.agent.clone(), delivered.epoch, delivered.path.clone());
        let after = self.after(&delivered);
        match &after {
            None => self.verdict.unprovable += 1,
            Some(Err(why)) => self.verdict.wrong.push(Wrong {
                session: delivered.session,
                path: delivered.path,
                delivery: delivered.id,
                kind: delivered.kind,
                why: why.clone(),
            }),
            Some(Ok(_)) => self.verdict.proven += 1,
        }
        self.held.insert(delivered.id, after.and_then(std::result::Result::ok));
        // Answers that gave nothing leave their base the one that the next is planned against.
        if matches!(delivered.sent, Sent::Nothing) {
            return;
        }
        // Parallel answers may share a base, so what was held before the last one stays; older is not built on again.
        let older = self.newest.get(&key).copied();
        if let Some((_, Some(oldest))) = older {
            self.held.remove(&oldest);
        }
        self.newest.insert(key, (delivered.id, older.map(|(id, _)| id)));
    }

    /// What the reader holds after an answer; nothing if what it builds on is not known.
    fn after(&self, delivered: &Delivered) -> Option<std::result::Result<Rc<Reader>, String>> {
        let before = match delivered.base {
            None => Some(Rc::default()),
            Some(base) => self.held.get(&base).cloned().flatten(),
        };
        let mut reader = before.clone().unwrap_or_default();
        match &delivered.sent {
            Sent::Whole(text) => Rc::make_mut(&mut reader).take_whole(text),
            Sent::Elided(text, stubs) => Rc::make_mut(&mut reader).take_elided(text, stubs),
            Sent::Lost => return None,
            _ if before.is_none() => return None,
            Sent::Nothing => {}
            Sent::Lines(first, text) => {
                let reader = Rc::make_mut(&mut reader);
                reader.take_lines(*first, text);
                reader.retain(&delivered.shown);
            }
            Sent::Delta(body) => {
                if let Err(misfit) = Rc::make_mut(&mut reader).take_delta(body) {
                    return Some(Err(misfit.to_string()));
                }
            }
            Sent::Renamed(from) => {
                let key = (delivered.session.clone(), delivered.agent.clone(), delivered.epoch, from.clone());
                reader = self.newest.get(&key).and_then(|(id, _)| self.held.get(id))?.clone()?;
            }
        }
        Some(compare(delivered, &reader).map(|()| reader))
    }
}

fn compare(delivered: &Delivered, reader: &Reader) -> std::result::Result<(), String> {
    let held = match delivered.digest == delivered.hash {
        true => reader.hash(),
        false => reader.hash_of(&delivered.shown),
    };
    match held {
        Some(hash) if hash == delivered.digest => Ok(()),
        Some(_) => Err("the reader holds other text than the file had".to_owned()),
        None => Err("the reader does not hold all that it was told to have".to_owned()),
    }
}
