//! The latest commands in order, each with links to the one before it in its session and to the previous place of
//! the same line, the same template and the same directory. A context of any length is found by following links.

use std::collections::VecDeque;
use std::mem::size_of;

use super::LineId;

/// How many commands are kept. A context is looked up in its latest few hundred uses, so more would only lie there:
/// this is years of one person, and 4 MB.
const LENGTH: usize = 1 << 17;

/// The number of a command in the stream, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StepId(pub(crate) u32);

impl StepId {
    pub(crate) const NONE: StepId = StepId(u32::MAX);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) line: LineId,
    /// The low half of the directory's hash: a collision costs one wrong count.
    pub(crate) directory: u32,
    /// In the same session (or, for its first command, in the same repository a moment ago).
    pub(crate) before: StepId,
    pub(crate) after: StepId,
    pub(crate) same_line: StepId,
    pub(crate) same_template: StepId,
    pub(crate) same_directory: StepId,
    pub(crate) failed: bool,
}

/// Which link a walk follows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link {
    Line,
    Template,
    Directory,
    Session,
    /// Whatever ran before, in any session.
    Stream,
}

#[derive(Debug, Default)]
pub(crate) struct Trail {
    steps: VecDeque<Step>,
    /// How many have left at the front.
    gone: u32,
}

impl Trail {
    pub(crate) fn next_id(&self) -> StepId {
        StepId(self.gone + self.steps.len() as u32)
    }

    /// The oldest that is still here.
    pub(crate) fn first_id(&self) -> StepId {
        StepId(self.gone)
    }

    pub(crate) fn last_id(&self) -> StepId {
        if self.steps.is_empty() { StepId::NONE } else { StepId(self.next_id().0 - 1) }
    }

    /// Adds a step whose `after` is not known yet, and ties it to the one before.
    pub(crate) fn push(&mut self, step: Step) -> StepId {
        let id = self.next_id();
        if let Some(before) = self.get_mut(step.before) {
            before.after = id;
        }
        if self.steps.len() == LENGTH {
            self.steps.pop_front();
            self.gone += 1;
        }
        self.steps.push_back(step);
        id
    }

    pub(crate) fn get(&self, id: StepId) -> Option<&Step> {
        self.steps.get(id.0.checked_sub(self.gone)? as usize)
    }

    /// From `start` backwards along `link`, at most `most` steps.
    pub(crate) fn walk(
        &self,
        start: StepId,
        link: Link,
        most: usize,
    ) -> impl Iterator<Item = (StepId, &Step)> + '_ {
        let mut next = start;
        std::iter::from_fn(move || {
            let (id, step) = (next, self.get(next)?);
            next = match link {
                Link::Line => step.same_line,
                Link::Template => step.same_template,
                Link::Directory => step.same_directory,
                Link::Session => step.before,
                Link::Stream => id.0.checked_sub(1).map_or(StepId::NONE, StepId),
            };
            Some((id, step))
        })
        .take(most)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<Step>()
    }

    fn get_mut(&mut self, id: StepId) -> Option<&mut Step> {
        self.steps.get_mut(id.0.checked_sub(self.gone)? as usize)
    }
}
