//! The better scorer: what follows in contexts of growing length over lines and templates, what belongs to this
//! directory, what is recent and what is frequent, each as a probability; mixed by weights that are learned while the
//! person works. The result is a distribution over the candidates and "none of these", so its confidence is a
//! probability too.

mod compose;
mod pool;
mod signals;
mod sources;
mod weights;

use super::source::{self, COMPOSED, DANGEROUS};
use super::{Answer, Ask, Part, Suggestion, danger, name_of};
use crate::command::Template;
use crate::model::Model;
use crate::normalise::normalise;
use pool::{Candidate, Pool};
pub use weights::Weights;

/// What danger takes from a score: one in fifty is left of the probability.
const DANGER: f64 = -4.0;

/// So many more than asked for are judged for danger, so that a harmless one can step in.
const JUDGED: usize = 8;

/// What a person is shown at once; these differ in more than their arguments.
const SHOWN: usize = 3;

pub(super) fn suggest(model: &Model, weights: &Weights, ask: &Ask<'_>) -> Answer {
    let candidates = gather(model, ask);
    let mut ranked: Vec<Ranked<'_>> = candidates
        .iter()
        .zip(weights.chances(ask.prefix, &candidates))
        .map(|(candidate, chance)| Ranked {
            candidate,
            chance: f64::from(chance),
            passed: ask.passed.iter().any(|line| **line == *candidate.text),
            dangerous: false,
        })
        .collect();
    keep_best(&mut ranked, 4 * (ask.limit + JUDGED));
    for ranked in ranked.iter_mut().take(ask.limit + JUDGED) {
        ranked.dangerous = danger(&ranked.candidate.text).is_some();
        if ranked.dangerous {
            ranked.chance *= DANGER.exp();
        }
    }
    // What nobody has typed yet must at least be harmless.
    ranked.retain(|ranked| !ranked.dangerous || ranked.candidate.line.is_some());
    ranked.sort_by(Ranked::order);
    let shown = distinct_first(ranked).into_iter().take(ask.limit);
    let mut suggestions: Vec<Suggestion> = shown.map(|ranked| ranked.explain(model, weights, ask)).collect();
    // Only one of them can be it.
    let total: f64 = suggestions.iter().map(|suggestion| suggestion.confidence).sum();
    suggestions.iter_mut().for_each(|suggestion| suggestion.confidence /= total.max(1.0));
    let scope = model.aggregates.scope(ask.place.repo.as_ref());
    Answer {
        last: name_of(model, model.template_at(model.previous(ask.session, scope, ask.now))),
        used_sources: source::ALL.into_iter().filter(|name| used(&suggestions, name)).collect(),
        suggestions,
    }
}

/// The best `count`, in order.
fn keep_best(ranked: &mut Vec<Ranked<'_>>, count: usize) {
    if ranked.len() > count {
        ranked.select_nth_unstable_by(count, Ranked::order);
        ranked.truncate(count);
    }
    ranked.sort_by(Ranked::order);
}

fn gather(model: &Model, ask: &Ask<'_>) -> Vec<Candidate> {
    let mut pool = Pool::new(model, ask);
    sources::add(&mut pool);
    compose::add(&mut pool);
    pool.weighed()
}

fn used(suggestions: &[Suggestion], source: &str) -> bool {
    suggestions.iter().any(|suggestion| suggestion.reasons.contains(&source))
}

struct Ranked<'a> {
    candidate: &'a Candidate,
    chance: f64,
    passed: bool,
    dangerous: bool,
}

impl Ranked<'_> {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b) = (self.candidate, other.candidate);
        self.passed
            .cmp(&other.passed)
            .then(other.chance.total_cmp(&self.chance))
            .then(b.latest.cmp(&a.latest))
            .then_with(|| a.text.cmp(&b.text))
    }

    fn explain(&self, model: &Model, weights: &Weights, ask: &Ask<'_>) -> Suggestion {
        let mut why = weights.parts(ask.prefix, self.candidate);
        why.extend(self.dangerous.then_some(Part { name: DANGEROUS, score: DANGER }));
        why.sort_by(|a, b| b.score.total_cmp(&a.score));
        // Where a candidate comes from is named even where a longer context has made it superfluous.
        let is_origin = |name| source::ALL.contains(&name) || [COMPOSED, DANGEROUS].contains(&name);
        let speaks = |part: &&Part| part.score > 0.0 || is_origin(part.name);
        let command = self.candidate.text.to_string();
        let template = || -> Template { normalise(&command).template };
        Suggestion {
            template: name_of(model, self.candidate.template).unwrap_or_else(template),
            score: why.iter().map(|part| part.score).sum(),
            confidence: weights.confidence(ask.prefix, self.candidate, self.chance),
            reasons: why.iter().filter(speaks).map(|part| part.name).collect(),
            command,
            why,
        }
    }
}

/// The best line of each of the first few templates, then everything else in its order.
fn distinct_first(ranked: Vec<Ranked<'_>>) -> Vec<Ranked<'_>> {
    let (mut firsts, mut rest): (Vec<Ranked<'_>>, Vec<Ranked<'_>>) = (Vec::new(), Vec::new());
    for ranked in ranked {
        let template = ranked.candidate.template;
        let is_new = template.is_none() || firsts.iter().all(|first| first.candidate.template != template);
        let into = if firsts.len() < SHOWN && is_new { &mut firsts } else { &mut rest };
        into.push(ranked);
    }
    firsts.append(&mut rest);
    firsts
}
