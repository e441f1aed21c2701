//! The candidates for one question while votes are counted. A vote is for a line, for all lines of a template or for
//! all lines of a program; in the end each becomes a share of what was voted in its signal.

use std::collections::HashMap;
use std::sync::Arc;

use super::signals::{COUNT, Signal, Values};
use crate::model::{IdMap, Line, LineId, Link, Model, Outcome, Program, Scope, Step, StepId, TemplateId};
use crate::rank::{Ask, may_offer, may_offer_line};

/// A share below this hardly speaks.
const FAINT: f32 = 0.005;

/// Votes that nobody cast, for what has not been seen yet: few votes make no strong signal.
const UNSEEN: f32 = 0.5;

/// As many candidates as a question about a long history has: growing the tables costs more than asking for room.
const USUAL: usize = 512;

#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) text: Arc<str>,
    /// `None` for what was never run.
    pub(super) line: Option<LineId>,
    pub(super) template: Option<TemplateId>,
    program: Program,
    pub(super) latest: StepId,
    pub(super) values: Values,
}

impl Candidate {
    pub(super) fn set(&mut self, signal: Signal, value: f32) {
        self.values[signal as usize] = value;
    }
}

pub(super) struct Pool<'a> {
    pub(super) model: &'a Model,
    pub(super) ask: &'a Ask<'a>,
    pub(super) scope: Scope,
    /// The latest step of this session.
    pub(super) last: StepId,
    /// The lines of its latest steps, latest first.
    pub(super) before: [Option<LineId>; 3],
    found: Vec<Candidate>,
    /// `None` for lines that may not be offered.
    by_line: IdMap<LineId, Option<usize>>,
    /// What was never run.
    by_text: HashMap<Arc<str>, usize>,
    by_template: IdMap<TemplateId, Values>,
    by_program: IdMap<Program, Values>,
    totals: Values,
}

impl<'a> Pool<'a> {
    pub(super) fn new(model: &'a Model, ask: &'a Ask<'a>) -> Pool<'a> {
        let scope = model.aggregates.scope(ask.place.repo.as_ref());
        let last = model.previous(ask.session, scope, ask.now);
        let mut walk = model.trail.walk(last, Link::Session, 3);
        Pool {
            model,
            ask,
            scope,
            last,
            before: std::array::from_fn(|_| walk.next().map(|(_, step)| step.line)),
            found: Vec::with_capacity(USUAL),
            by_line: IdMap::with_capacity_and_hasher(USUAL, Default::default()),
            by_text: HashMap::new(),
            by_template: IdMap::with_capacity_and_hasher(USUAL / 2, Default::default()),
            by_program: IdMap::default(),
            totals: [0.0; COUNT],
        }
    }

    /// What followed `step` in its session.
    pub(super) fn after(&self, step: &Step) -> Option<(&'a Step, &'a Line)> {
        let next = self.model.trail.get(step.after)?;
        Some((next, self.model.lines.get(next.line)?))
    }

    pub(super) fn vote<const N: usize>(&mut self, line: LineId, votes: [(Signal, f32); N]) {
        votes.iter().for_each(|(signal, weight)| self.totals[*signal as usize] += weight);
        if let Some(candidate) = self.nominate(line) {
            votes.iter().for_each(|(signal, weight)| candidate.values[*signal as usize] += weight);
        }
    }

    pub(super) fn vote_template(&mut self, template: TemplateId, signal: Signal, weight: f32) {
        self.totals[signal as usize] += weight;
        self.by_template.entry(template).or_insert([0.0; COUNT])[signal as usize] += weight;
    }

    pub(super) fn vote_program(&mut self, program: Program, signal: Signal, weight: f32) {
        self.totals[signal as usize] += weight;
        self.by_program.entry(program).or_insert([0.0; COUNT])[signal as usize] += weight;
    }

    /// Makes a line a candidate, if it may be one.
    pub(super) fn nominate(&mut self, id: LineId) -> Option<&mut Candidate> {
        let at = match self.by_line.get(&id) {
            Some(known) => *known,
            None => {
                let line = self.model.lines.get(id).filter(|line| may_offer_line(self.model, self.ask, line));
                let at = line.map(|line| self.push(line.text.clone(), Some((id, line))));
                self.by_line.insert(id, at);
                at
            }
        };
        at.map(|at| &mut self.found[at])
    }

    /// Makes any text a candidate, if it may be one, whether it was ever run or not.
    pub(super) fn nominate_text(&mut self, text: &str) -> Option<&mut Candidate> {
        if let Some(id) = self.model.lines.find(text) {
            return self.nominate(id);
        }
        let at = match self.by_text.get(text) {
            Some(at) => *at,
            None if may_offer(self.model, self.ask, text) => {
                let text: Arc<str> = text.into();
                self.by_text.insert(text.clone(), self.found.len());
                self.push(text, None)
            }
            None => return None,
        };
        Some(&mut self.found[at])
    }

    /// Every candidate with its signals.
    pub(super) fn weighed(mut self) -> Vec<Candidate> {
        let mut found = std::mem::take(&mut self.found);
        let per_vote =
            self.totals.map(|total| if total > 0.0 { 1.0 / (total + UNSEEN) / FAINT } else { 0.0 });
        for candidate in &mut found {
            self.count_votes(candidate, &per_vote);
            self.look_up(candidate);
            candidate.set(Signal::Length, (candidate.text.len() as f32 / 16.0).min(4.0));
        }
        found
    }

    fn push(&mut self, text: Arc<str>, line: Option<(LineId, &Line)>) -> usize {
        self.found.push(Candidate {
            program: line.map_or_else(|| Program::of(&text), |(_, line)| line.program),
            line: line.map(|(id, _)| id),
            template: line.map(|(_, line)| line.template),
            latest: line.map_or(StepId(0), |(_, line)| line.latest),
            text,
            values: [0.0; COUNT],
        });
        self.found.len() - 1
    }

    /// Votes become logarithms of shares, zero for none; what was set without a vote stays.
    fn count_votes(&self, candidate: &mut Candidate, per_vote: &Values) {
        let template = candidate.template.and_then(|id| self.by_template.get(&id));
        let program = self.by_program.get(&candidate.program);
        for more in [template, program].into_iter().flatten() {
            candidate.values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        }
        for (value, per_vote) in candidate.values.iter_mut().zip(per_vote) {
            if *value > 0.0 && *per_vote > 0.0 {
                // Not `ln_1p`: it takes three times as long, and differs where nothing is to be heard.
                *value = (1.0 + *value * per_vote).ln();
            }
        }
    }

    /// What is known of a line without any context.
    fn look_up(&self, candidate: &mut Candidate) {
        let Some((id, line)) = candidate.line.and_then(|id| Some((id, self.model.lines.get(id)?))) else {
            return;
        };
        let (aggregates, now) = (&self.model.aggregates, self.ask.now);
        let uses = line.uses.at(now);
        if let Some(template) = aggregates.used(line.template).map(|used| used.uses.at(now)) {
            let share = (uses / template.max(f64::MIN_POSITIVE)).min(1.0);
            candidate.set(Signal::ShareOfTemplate, (share as f32 / 0.1).ln_1p());
            candidate.set(Signal::FreqGlobal, template.ln_1p() as f32);
        }
        if let Some(used) = aggregates.used_in(self.scope, line.template) {
            candidate.set(Signal::FreqRepo, used.uses.at(now).ln_1p() as f32);
        }
        candidate.set(Signal::FreqLine, uses.ln_1p() as f32);
        let age = self.model.trail.next_id().0 - line.latest.0;
        candidate.set(Signal::Age, (64.0 / age as f32).ln_1p());
        if self.before[0] == Some(id) {
            candidate.set(Signal::Repeat, 1.0);
        } else if self.model.template_at(self.last) == Some(line.template) {
            candidate.set(Signal::RepeatTemplate, 1.0);
        }
        if line.latest_outcome != Outcome::Worked {
            candidate.set(Signal::Failed, 1.0);
        }
    }
}
