//! Every distinct line once, with how it went. Sorted by text as well, so that what begins with a prefix is a range.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::mem::size_of;
use std::sync::Arc;

use super::{Decayed, StepId, TemplateId};
use crate::command::Ran;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LineId(pub(crate) u32);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: Arc<str>,
    /// Of the text, which lies elsewhere in memory: to look there for every line of an answer takes longer than the rest.
    pub(crate) program: Program,
    pub(crate) is_whole: bool,
    pub(crate) template: TemplateId,
    pub(crate) uses: Decayed,
    pub(crate) runs: u32,
    /// Runs that are not known to have failed.
    pub(crate) worked: u32,
    pub(crate) latest: StepId,
    pub(crate) latest_outcome: Outcome,
}

/// How a command ended, as far as it matters for offering it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Or nobody told, or it was interrupted.
    Worked,
    Failed,
    /// No such program, or not one that can run: a typing error more often than not.
    NotACommand,
}

impl Outcome {
    pub(crate) fn of(ran: &Ran) -> Outcome {
        match ran.exit_code {
            Some(126 | 127) => Outcome::NotACommand,
            _ if ran.failed() => Outcome::Failed,
            _ => Outcome::Worked,
        }
    }
}

impl Line {
    /// Whether it may be offered: not when its latest run was no command at all, and not when it never worked,
    /// unless someone insists (three runs of a test that keeps failing are meant).
    pub(crate) fn is_worth_offering(&self) -> bool {
        self.latest_outcome != Outcome::NotACommand && (self.worked > 0 || self.runs >= 3)
    }
}

/// Not blank, and without a hole where a secret was.
pub(crate) fn is_whole(text: &str) -> bool {
    let has_hole = || text.contains('<') && text.contains("<secret:");
    !text.trim_ascii_start().is_empty() && !has_hole()
}

/// The hash of a line's first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Program(u32);

impl Program {
    pub(crate) fn of(line: &str) -> Program {
        // FNV-1a: two programs of one person that share it cost one wrong count.
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        Program(word.bytes().fold(0x811c_9dc5, mix))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// `None` where a line was forgotten.
    all: Vec<Option<Line>>,
    ids: HashMap<Arc<str>, LineId>,
    sorted: Vec<LineId>,
    /// See [`Decayed::heat`]; apart from the rest, because all of them are looked through for one answer.
    heat: Vec<f64>,
}

impl Lines {
    /// The line's template is that of its latest run.
    pub(crate) fn ran(
        &mut self,
        text: &str,
        template: TemplateId,
        ts: i64,
        outcome: Outcome,
        step: StepId,
    ) -> (LineId, StepId) {
        let worked = u32::from(outcome == Outcome::Worked);
        if let Some(id) = self.ids.get(text) {
            let line = self.all[id.0 as usize].as_mut().expect("a name that is found has its line");
            line.uses.add(ts);
            self.heat[id.0 as usize] = line.uses.heat();
            line.template = template;
            line.runs = line.runs.saturating_add(1);
            line.worked = line.worked.saturating_add(worked);
            line.latest_outcome = outcome;
            return (*id, std::mem::replace(&mut line.latest, step));
        }
        let id = LineId(self.all.len() as u32);
        let name: Arc<str> = text.into();
        let at = self.sorted.partition_point(|other| self.text(*other) < text);
        self.sorted.insert(at, id);
        self.ids.insert(name.clone(), id);
        let uses = Decayed::first(ts);
        self.heat.push(uses.heat());
        self.all.push(Some(Line {
            program: Program::of(text),
            is_whole: is_whole(text),
            text: name,
            template,
            uses,
            runs: 1,
            worked,
            latest: step,
            latest_outcome: outcome,
        }));
        (id, StepId::NONE)
    }

    pub(crate) fn get(&self, id: LineId) -> Option<&Line> {
        self.all.get(id.0 as usize)?.as_ref()
    }

    pub(crate) fn find(&self, text: &str) -> Option<LineId> {
        self.ids.get(text).copied()
    }

    /// Of the lines that begin with `prefix` the most used, lately more than long ago; at most `most`.
    pub(crate) fn hottest(&self, prefix: &str, most: usize) -> Vec<LineId> {
        /// Nearly all of them are cold, and so many are compared at once as fast as one.
        const AT_ONCE: usize = 16;
        let mut hottest = Hottest { most, heap: BinaryHeap::with_capacity(most + 1), bar: f64::NEG_INFINITY };
        if prefix.is_empty() {
            for (at, heats) in self.heat.chunks(AT_ONCE).enumerate() {
                if heats.iter().fold(false, |any, heat| any | (*heat > hottest.bar)) {
                    let ids = (at * AT_ONCE) as u32..;
                    ids.zip(heats).for_each(|(id, heat)| hottest.look(LineId(id), *heat));
                }
            }
        } else {
            self.with_prefix(prefix).iter().for_each(|id| hottest.look(*id, self.heat[id.0 as usize]));
        }
        hottest.heap.into_sorted_vec().into_iter().map(|Reverse(Hot(_, id))| id).collect()
    }

    /// Sorted by text.
    pub(crate) fn with_prefix(&self, prefix: &str) -> &[LineId] {
        let from = self.sorted.partition_point(|id| self.text(*id) < prefix);
        let count = self.sorted[from..].partition_point(|id| self.text(*id).starts_with(prefix));
        &self.sorted[from..from + count]
    }

    pub(crate) fn forget(&mut self, doomed: impl Fn(&str, TemplateId) -> bool) -> usize {
        let before = self.sorted.len();
        for slot in &mut self.all {
            if let Some(line) = slot.take_if(|line| doomed(&line.text, line.template)) {
                self.heat[self.ids[&line.text].0 as usize] = f64::NEG_INFINITY;
                self.ids.remove(&line.text);
            }
        }
        self.sorted.retain(|id| self.all[id.0 as usize].is_some());
        before - self.sorted.len()
    }

    /// The templates that some line is an instance of, each with the latest such line.
    pub(crate) fn latest_of_templates(&self) -> HashMap<TemplateId, LineId> {
        let mut by_age: Vec<(StepId, TemplateId, LineId)> = Vec::new();
        for (id, line) in self.all.iter().enumerate() {
            by_age.extend(line.as_ref().map(|line| (line.latest, line.template, LineId(id as u32))));
        }
        by_age.sort_unstable();
        by_age.into_iter().map(|(_, template, line)| (template, line)).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        let texts: usize =
            self.all.iter().flatten().map(|line| line.text.len() + 2 * size_of::<usize>()).sum();
        texts
            + self.all.capacity() * size_of::<Option<Line>>()
            + self.ids.capacity() * (size_of::<(Arc<str>, LineId)>() + 1)
            + self.sorted.capacity() * size_of::<LineId>()
            + self.heat.capacity() * size_of::<f64>()
    }

    fn text(&self, id: LineId) -> &str {
        self.get(id).map_or("", |line| &line.text)
    }
}

/// The hottest of those that were looked at.
struct Hottest {
    most: usize,
    heap: BinaryHeap<Reverse<Hot>>,
    /// What the next one has to exceed.
    bar: f64,
}

impl Hottest {
    fn look(&mut self, id: LineId, heat: f64) {
        if heat > self.bar {
            self.heap.push(Reverse(Hot(heat, id)));
            if self.heap.len() > self.most {
                self.heap.pop();
                self.bar = self.heap.peek().map_or(heat, |Reverse(Hot(heat, _))| *heat);
            }
        }
    }
}

#[derive(PartialEq)]
struct Hot(f64, LineId);

impl Eq for Hot {}

impl Ord for Hot {
    fn cmp(&self, other: &Hot) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Hot {
    fn partial_cmp(&self, other: &Hot) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
