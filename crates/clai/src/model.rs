//! What is learned from the stream of commands, in memory. Knows no file, no clock and no ranking: time comes with
//! the events, and the same events in the same order give the same model, bit for bit.
//!
//! Two kinds of memory: the aggregates that the database keeps too (how often, what after what, in both scopes),
//! which never end, and the trail of the latest commands, in which longer contexts are looked up.

mod aggregates;
mod decay;
mod ids;
mod lines;
mod trail;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::size_of;

pub(crate) use aggregates::{Aggregates, Scope, Seen, TemplateId, Use};
pub use aggregates::{GLOBAL, ScoreRow, TransitionRow};
pub(crate) use decay::Decayed;
pub(crate) use ids::IdMap;
pub(crate) use lines::{Line, LineId, Lines, Outcome, Program, is_whole};
pub(crate) use trail::{Link, Step, StepId, Trail};

use crate::command::{Ran, SessionId};

/// Commands of one repository in different sessions belong together when they are at most this far apart.
pub const SAME_REPO_WINDOW_MS: i64 = 5 * 60 * 1000;

/// After so many other commands the last one of a session or repository is over.
pub(crate) const REACH: u32 = 50_000;

/// How many sessions and directories are remembered before those that have left the trail are dropped.
const PLACES_KEPT: usize = 8192;

#[derive(Debug, Default)]
pub struct Model {
    pub(crate) lines: Lines,
    pub(crate) aggregates: Aggregates,
    pub(crate) trail: Trail,
    sessions: IdMap<u64, StepId>,
    directories: IdMap<u64, StepId>,
    /// Lines that were offered and waved away since they last ran, by their hash: no text is kept.
    dismissed: HashSet<u64>,
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }

    /// How many commands were learned.
    pub fn commands(&self) -> u64 {
        u64::from(self.trail.next_id().0)
    }

    /// Takes in a command that has ended. Its template decides what it is an instance of.
    pub fn learn(&mut self, ran: &Ran) {
        let scope = self.aggregates.enter(ran.place.repo.as_ref());
        let before = self.previous(&ran.session, scope, ran.ts);
        let (step, outcome) = (self.trail.next_id(), Outcome::of(ran));
        let template = self.aggregates.id_for(&ran.template);
        let (line, same_line) = self.lines.ran(&ran.line, template, ran.ts, outcome, step);
        let seen = Seen { scope, template, line, ts: ran.ts, step };
        let same_template = self.aggregates.ran(&ran.template, &seen, &self.lines);
        if let Some(previous) = self.template_at(before) {
            self.aggregates.followed(scope, previous, template, ran.ts);
        }
        let directory = hashed(&ran.place.cwd);
        self.trail.push(Step {
            line,
            directory: directory as u32,
            before,
            after: StepId::NONE,
            same_line,
            same_template,
            same_directory: self.directories.insert(directory, step).unwrap_or(StepId::NONE),
            failed: ran.failed(),
        });
        self.sessions.insert(hashed(&ran.session), step);
        self.dismissed.remove(&hashed(ran.line.as_str()));
        self.forget_places_out_of_sight();
    }

    /// What this session ran last, else what ran last in this repository a moment ago.
    pub(crate) fn previous(&self, session: &SessionId, scope: Scope, now: i64) -> StepId {
        let next = self.trail.next_id().0;
        let is_near = |step: &StepId| next - step.0 <= REACH;
        let own = self.sessions.get(&hashed(session)).copied().filter(is_near);
        let repo = || self.aggregates.latest_in(scope, now, SAME_REPO_WINDOW_MS).filter(is_near);
        own.or_else(repo).unwrap_or(StepId::NONE)
    }

    /// The latest step in this directory.
    pub(crate) fn latest_in(&self, directory: u64) -> StepId {
        self.directories.get(&directory).copied().unwrap_or(StepId::NONE)
    }

    /// `None` when it was forgotten or has left the trail.
    pub(crate) fn line_at(&self, step: StepId) -> Option<&Line> {
        self.lines.get(self.trail.get(step)?.line)
    }

    pub(crate) fn template_at(&self, step: StepId) -> Option<TemplateId> {
        self.line_at(step).map(|line| line.template)
    }

    /// Remembers that this line was offered and not wanted, until it runs again.
    pub fn dismiss(&mut self, line: &str) {
        self.dismissed.insert(hashed(line));
    }

    pub(crate) fn is_dismissed(&self, line: &str) -> bool {
        !self.dismissed.is_empty() && self.dismissed.contains(&hashed(line))
    }

    /// Drops every line that `matches`, and every template that matches or has no line left, with all that hangs on
    /// them. Returns how many lines went. Counts of templates that live on stay as they are: they hold no text.
    pub fn forget(&mut self, matches: impl Fn(&str) -> bool) -> usize {
        let named = self.aggregates.named(&matches);
        let gone = self.lines.forget(|text, template| matches(text) || named.contains(&template));
        let left = self.lines.latest_of_templates();
        self.aggregates.forget(|template| !left.contains_key(&template), &self.lines);
        gone
    }

    /// The rows of the table `command_score`, sorted.
    pub fn scores(&self) -> Vec<ScoreRow> {
        self.aggregates.scores()
    }

    /// The rows of the table `transition`, sorted.
    pub fn transitions(&self) -> Vec<TransitionRow> {
        self.aggregates.transitions()
    }

    /// Bytes held, counted by hand: containers by capacity, texts by length.
    pub fn bytes(&self) -> usize {
        let places =
            (self.sessions.capacity() + self.directories.capacity()) * (size_of::<(u64, StepId)>() + 1);
        self.lines.bytes() + self.aggregates.bytes() + self.trail.bytes() + places
    }

    fn forget_places_out_of_sight(&mut self) {
        let (first, next) = (self.trail.first_id(), self.trail.next_id());
        for places in [&mut self.sessions, &mut self.directories] {
            // Now and then: all of them may be in sight, and then looking helps nobody.
            if places.len() > PLACES_KEPT && next.0.is_multiple_of(PLACES_KEPT as u32) {
                places.retain(|_, step| *step >= first);
            }
        }
    }
}

/// The same on every run and machine, unlike the hasher of a `HashMap`.
pub(crate) fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
