//! The reference scorer: six sources, fixed weights, logarithms of counts, merged by template.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::source::{
    self, CONTEXT_DEFAULT, DANGEROUS, FREQ_GLOBAL, FREQ_REPO, GLOBAL_TRANSITION, PROJECT_TASK,
    REPO_TRANSITION,
};
use super::{Answer, Ask, Filled, Part, Suggestion, Task, danger, defaults, fill, may_offer, name_of};
use crate::model::{Model, Scope, StepId, TemplateId};
use crate::normalise::normalise;

const REPO_TRANSITION_WEIGHT: f64 = 80.0;
const GLOBAL_TRANSITION_WEIGHT: f64 = 60.0;
const REPO_FREQUENCY_WEIGHT: f64 = 30.0;
const PROJECT_TASK_WEIGHT: f64 = 20.0;
const DANGER_WEIGHT: f64 = -50.0;
// Global frequency and context defaults have no weight: they bring candidates in, and frequency decides between equals.

pub(super) fn suggest(model: &Model, ask: &Ask<'_>) -> Answer {
    let aggregates = &model.aggregates;
    let scope = aggregates.scope(ask.place.repo.as_ref());
    let last = model.previous(ask.session, scope, ask.now);
    let table = Table::new(model, ask, scope, last);
    let mut queue = table.queue(model, ask);
    let mut suggestions: Vec<Suggestion> = Vec::new();
    while suggestions.len() < ask.limit
        && let Some(mut entry) = queue.pop()
    {
        let (command, filled) = match entry.what {
            What::Learned(id) => {
                let filled = fill(model, scope, id);
                let Some((line, filled)) =
                    filled.and_then(|(id, filled)| Some((model.lines.get(id)?, filled)))
                else {
                    continue;
                };
                // Without slots there are no arguments that could come from elsewhere.
                let has_slots = aggregates.name(id).is_none_or(|name| **name != *line.text);
                (line.text.to_string(), if has_slots { filled } else { Filled::Here })
            }
            What::Offered(at) => (table.offered[at].1.command.clone(), Filled::Here),
        };
        if !may_offer(model, ask, &command) {
            continue;
        }
        // Judging needs the line, and only the best need judging: the rest stays where it is.
        if entry.danger == Danger::NotJudged {
            let dangerous = danger(&command).is_some();
            entry.danger = if dangerous { Danger::Found } else { Danger::None };
            if dangerous {
                entry.score += DANGER_WEIGHT;
                queue.push(entry);
                continue;
            }
        }
        suggestions.push(table.explain(model, &entry, command, filled));
    }
    let used = |name: &&str| suggestions.iter().any(|suggestion| suggestion.reasons.contains(name));
    Answer {
        used_sources: source::ALL.into_iter().filter(used).collect(),
        last: name_of(model, model.template_at(last)),
        suggestions,
    }
}

/// What speaks for each template, by its id; and what was never run here, with its source.
struct Table {
    repo_transition: Vec<f64>,
    global_transition: Vec<f64>,
    repo_frequency: Vec<f64>,
    task: Vec<f64>,
    default: Vec<bool>,
    offered: Vec<(&'static str, Task)>,
}

impl Table {
    fn new(model: &Model, ask: &Ask<'_>, scope: Scope, last: StepId) -> Table {
        let aggregates = &model.aggregates;
        let zeros = || vec![0.0; aggregates.ids()];
        let mut table = Table {
            repo_transition: zeros(),
            global_transition: zeros(),
            repo_frequency: zeros(),
            task: zeros(),
            default: vec![false; aggregates.ids()],
            offered: Vec::new(),
        };
        if let Some(previous) = model.template_at(last) {
            for row in aggregates.followers_in(scope, previous) {
                table.repo_transition[row.next.0 as usize] =
                    REPO_TRANSITION_WEIGHT * f64::from(row.count).ln_1p();
            }
            for row in aggregates.followers(previous) {
                table.global_transition[row.next.0 as usize] =
                    GLOBAL_TRANSITION_WEIGHT * f64::from(row.count).ln_1p();
            }
        }
        for used in aggregates.all_used_in(scope) {
            table.repo_frequency[used.template().0 as usize] =
                REPO_FREQUENCY_WEIGHT * used.uses.at(ask.now).ln_1p();
        }
        for task in ask.tasks {
            match aggregates.find(&task.template.0) {
                Some(id) => table.task[id.0 as usize] = PROJECT_TASK_WEIGHT,
                None => table.offer(PROJECT_TASK, task.clone()),
            }
        }
        for default in defaults::after(model.line_at(last).map(|line| &*line.text)) {
            let template = normalise(&default.command).template;
            match aggregates.find(&template.0) {
                Some(id) => table.default[id.0 as usize] = true,
                None => table.offer(CONTEXT_DEFAULT, Task { command: default.command, template }),
            }
        }
        table
    }

    fn offer(&mut self, source: &'static str, task: Task) {
        if self.offered.iter().all(|(_, other)| other.template != task.template) {
            self.offered.push((source, task));
        }
    }

    /// Everything that may begin with what is typed.
    fn queue(&self, model: &Model, ask: &Ask<'_>) -> BinaryHeap<Entry> {
        let mut fits = vec![ask.prefix.is_empty(); model.aggregates.ids()];
        if !ask.prefix.is_empty() {
            let lines = model.lines.with_prefix(ask.prefix).iter().filter_map(|id| model.lines.get(*id));
            lines.for_each(|line| fits[line.template.0 as usize] = true);
        }
        let learned =
            model.aggregates.all_used().filter(|used| fits[used.template().0 as usize]).map(|used| Entry {
                score: self.score(used.template()),
                heat: used.uses.heat(),
                latest: model.aggregates.latest_of(used.template()),
                what: What::Learned(used.template()),
                danger: Danger::NotJudged,
            });
        let offered = self.offered.iter().enumerate().map(|(at, (source, _))| Entry {
            score: if *source == PROJECT_TASK { PROJECT_TASK_WEIGHT } else { 0.0 },
            heat: f64::NEG_INFINITY,
            latest: StepId(0),
            what: What::Offered(at),
            danger: Danger::NotJudged,
        });
        learned.chain(offered).collect()
    }

    fn score(&self, id: TemplateId) -> f64 {
        let at = id.0 as usize;
        self.repo_transition[at] + self.global_transition[at] + self.repo_frequency[at] + self.task[at]
    }

    fn explain(&self, model: &Model, entry: &Entry, command: String, filled: Filled) -> Suggestion {
        let mut why: Vec<Part> = Vec::new();
        let mut add = |name, score: f64, speaks: bool| why.extend(speaks.then_some(Part { name, score }));
        let template = match entry.what {
            What::Learned(id) => {
                let at = id.0 as usize;
                add(REPO_TRANSITION, self.repo_transition[at], self.repo_transition[at] > 0.0);
                add(GLOBAL_TRANSITION, self.global_transition[at], self.global_transition[at] > 0.0);
                add(FREQ_REPO, self.repo_frequency[at], self.repo_frequency[at] > 0.0);
                add(PROJECT_TASK, self.task[at], self.task[at] > 0.0);
                add(FREQ_GLOBAL, 0.0, true);
                add(CONTEXT_DEFAULT, 0.0, self.default[at]);
                name_of(model, Some(id)).expect("what is queued has a name")
            }
            What::Offered(at) => {
                let (source, task) = &self.offered[at];
                add(source, entry.score, true);
                task.template.clone()
            }
        };
        add(DANGEROUS, DANGER_WEIGHT, entry.danger == Danger::Found);
        why.sort_by(|a, b| b.score.total_cmp(&a.score));
        Suggestion {
            command,
            template,
            score: entry.score,
            confidence: confidence(entry.score, filled),
            reasons: why.iter().map(|part| part.name).collect(),
            why,
        }
    }
}

/// How often a score like this was right, on the sample that the quality benchmark carries; half of it where the
/// arguments come from elsewhere.
fn confidence(score: f64, filled: Filled) -> f64 {
    let here = (0.02 + 0.0007 * score.max(0.0)).min(0.6);
    if filled == Filled::Here { here } else { here / 2.0 }
}

/// A candidate in the queue: the best first, among equals the more frequent, then the more recent.
#[derive(Debug, PartialEq)]
struct Entry {
    score: f64,
    heat: f64,
    latest: StepId,
    what: What,
    danger: Danger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Learned(TemplateId),
    /// A task or default that was never run here, by its place in [`Table::offered`].
    Offered(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Danger {
    NotJudged,
    None,
    Found,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        let by_use = self.heat.total_cmp(&other.heat).then(self.latest.cmp(&other.latest));
        by_score.then(by_use).then(other.what.cmp(&self.what))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
