//! The simplest guessers, for comparison: what was run most often, and what most often followed the last line of the
//! session, else what was run most often. Ties go to what was run last.

use std::collections::HashMap;

use crate::command::{Ran, SessionId};

#[derive(Debug, Default)]
pub(super) struct Baselines {
    ids: HashMap<String, usize>,
    lines: Vec<Line>,
    /// By the line before.
    followers: HashMap<usize, HashMap<usize, u64>>,
    sessions: HashMap<SessionId, usize>,
    time: u64,
}

#[derive(Debug)]
struct Line {
    text: String,
    count: u64,
    last: u64,
}

/// Where the wanted line stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) rank: usize,
    /// How much must be typed until it stands first, if that ever happens before the end.
    pub(super) keys: Option<usize>,
}

impl Baselines {
    /// What followed, and what was most frequent; `None` for a line that was never run before.
    pub(super) fn guess(&self, ran: &Ran) -> Option<(Guess, Guess)> {
        let wanted = *self.ids.get(&ran.line)?;
        let empty = HashMap::new();
        let before = self.sessions.get(&ran.session);
        let followers = before.and_then(|before| self.followers.get(before)).unwrap_or(&empty);
        let frequency = |id: usize| (0, self.lines[id].count, self.lines[id].last);
        let bigram = |id: usize| {
            let (_, count, last) = frequency(id);
            (followers.get(&id).copied().unwrap_or(0), count, last)
        };
        Some((self.place(wanted, bigram), self.place(wanted, frequency)))
    }

    pub(super) fn learn(&mut self, ran: &Ran) {
        self.time += 1;
        let id = match self.ids.get(&ran.line) {
            Some(id) => *id,
            None => {
                self.ids.insert(ran.line.clone(), self.lines.len());
                self.lines.push(Line { text: ran.line.clone(), count: 0, last: 0 });
                self.lines.len() - 1
            }
        };
        self.lines[id].count += 1;
        self.lines[id].last = self.time;
        if let Some(before) = self.sessions.insert(ran.session.clone(), id) {
            *self.followers.entry(before).or_default().entry(id).or_default() += 1;
        }
    }

    /// Every line that is better stands in the way as long as it shares what is typed.
    fn place<K: Ord>(&self, wanted: usize, key: impl Fn(usize) -> K) -> Guess {
        let (own, text) = (key(wanted), &self.lines[wanted].text);
        let (mut rank, mut keys) = (0, 0);
        for id in (0..self.lines.len()).filter(|id| key(*id) > own) {
            rank += 1;
            let shared = text.chars().zip(self.lines[id].text.chars()).take_while(|(a, b)| a == b).count();
            keys = keys.max(shared + 1);
        }
        Guess { rank, keys: (keys + 1 < text.chars().count()).then_some(keys) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Place, Template};

    fn ran(line: &str) -> Ran {
        Ran {
            session: SessionId("s".into()),
            ts: 0,
            duration_ms: None,
            exit_code: None,
            place: Place { cwd: String::new(), repo: None, branch: None },
            line: line.into(),
            template: Template(line.into()),
        }
    }

    #[test]
    fn what_follows_is_told_from_what_is_frequent() {
        let mut baselines = Baselines::default();
        for line in ["git status", "git push", "ls -la", "git status", "ls -la", "ls -la", "git status"] {
            baselines.learn(&ran(line));
        }
        assert_eq!(baselines.guess(&ran("never")), None);
        let (bigram, frequent) = baselines.guess(&ran("git push")).unwrap();
        // After `git status` came `git push` once and `ls -la` once, and of these `ls -la` is the more frequent.
        assert_eq!(bigram, Guess { rank: 1, keys: Some(1) });
        // `git status` shares five characters.
        assert_eq!(frequent, Guess { rank: 2, keys: Some(5) });
        let (bigram, frequent) = baselines.guess(&ran("ls -la")).unwrap();
        assert_eq!((bigram.rank, bigram.keys), (0, Some(0)));
        assert_eq!((frequent.rank, frequent.keys), (1, Some(1)));
    }
}
