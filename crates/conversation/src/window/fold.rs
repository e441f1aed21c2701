//! The decisions of a window, made again from the beginning: at each moment at which a request was sent, room was made if
//! the limit was passed. What went stays away, so that nothing moves between two such moments. Knows sizes only.

use std::collections::{BTreeMap, VecDeque};

use llm::Block;

use super::render::{self, CUT_TO};
use super::{Change, Limits, Part, Relief, Shown, Site, result_at, weight};
use crate::history::{Exchange, History, Step};

/// How far down one goes when the limit is passed, in percent of it: the prefix is sent anew then, and should last.
const LOW: usize = 75;

/// If stubs alone come down to this, no exchange has to go.
const ENOUGH: usize = 90;

/// Texts above this may be cut when dropping exchanges is not enough.
const OVERSIZED: usize = 10 << 10;

/// Rounds whose results are never stubbed: the model is still at work with them. Anthropic's own clearing of results
/// keeps as many.
const RECENT: usize = 3;

/// Results that are not worth a stub.
const SMALL: usize = 500;

/// Which exchanges are kept, and which texts are changed.
pub(super) fn fold(history: &History, limits: &Limits) -> (Vec<bool>, BTreeMap<Site, Change>) {
    let mut fold = Fold::new(history, limits);
    for (place, exchange) in history.exchanges().iter().enumerate() {
        fold.words(Site { exchange: place, step: 0, part: Part::Words }, exchange.prompt());
        fold.settle(place);
        for (step, what) in exchange.steps().iter().enumerate() {
            fold.step(place, step + 1, what);
            // After a reply without calls nothing is asked.
            if !matches!(what, Step::Said(_)) {
                fold.settle(place);
            }
        }
    }
    let kept = fold.kept;
    fold.changes.retain(|site, _| kept[site.exchange]);
    (kept, fold.changes)
}

struct Fold<'a> {
    exchanges: &'a [Exchange],
    limits: &'a Limits,
    /// What tells of the gaps; it counts once something is dropped.
    mark: usize,
    total: usize,
    /// What each exchange weighs as it is sent.
    weights: Vec<usize>,
    kept: Vec<bool>,
    changes: BTreeMap<Site, Change>,
    /// The first exchange that was not yet looked at for dropping.
    oldest: usize,
    rounds: usize,
    /// Results that may be stubbed one day, each with the number of its round.
    results: VecDeque<(usize, Site)>,
    large: VecDeque<Site>,
}

impl<'a> Fold<'a> {
    fn new(history: &'a History, limits: &'a Limits) -> Fold<'a> {
        let exchanges = history.exchanges();
        let summary = if limits.summary == Shown::First { history.summary() } else { "" };
        // Each pinned exchange may have a gap before it.
        let pinned = exchanges.iter().filter(|exchange| exchange.is_pinned()).count();
        let began = exchanges.first().map_or("", Exchange::prompt);
        Fold {
            exchanges,
            limits,
            mark: weight::text(&render::began(began)) + (pinned + 1) * weight::text(&render::gap(usize::MAX)),
            total: weight::text(history.opening()) + weight::text(&render::summary(summary)),
            weights: vec![0; exchanges.len()],
            kept: vec![true; exchanges.len()],
            changes: BTreeMap::new(),
            oldest: 0,
            rounds: 0,
            results: VecDeque::new(),
            large: VecDeque::new(),
        }
    }

    fn add(&mut self, exchange: usize, weight: usize) {
        self.total += weight;
        self.weights[exchange] += weight;
    }

    fn words(&mut self, site: Site, words: &str) {
        self.add(site.exchange, weight::words(words));
        self.note_large(site, words);
    }

    fn note_large(&mut self, site: Site, text: &str) {
        if text.len() > OVERSIZED && !self.exchanges[site.exchange].is_pinned() {
            self.large.push_back(site);
        }
    }

    fn step(&mut self, exchange: usize, step: usize, what: &Step) {
        let site = |part| Site { exchange, step, part };
        let said = match what {
            Step::Note(words) => return self.words(site(Part::Words), words),
            Step::Said(said) => said.as_slice(),
            Step::Round(round) => round.said(),
        };
        self.add(exchange, weight::step(what));
        for (place, block) in said.iter().enumerate() {
            self.note_large(site(Part::Block(place)), block.as_text().unwrap_or_default());
        }
        let Step::Round(round) = what else { return };
        self.rounds += 1;
        for (place, returned) in round.results().iter().enumerate() {
            let site = site(Part::Result(place));
            self.note_large(site, &returned.result.content);
            if returned.result.content.len() > SMALL && !self.exchanges[exchange].is_pinned() {
                self.results.push_back((self.rounds, site));
            }
        }
    }

    /// Makes room if the limit is passed now that `current` is at work.
    fn settle(&mut self, current: usize) {
        if self.total <= self.limits.bytes {
            return;
        }
        let percent = |percent| self.limits.bytes / 100 * percent;
        let (low, enough) = (percent(LOW), percent(ENOUGH));
        if self.limits.relief == Relief::ResultsFirst {
            self.stub(low);
        }
        if self.total > enough {
            self.drop_exchanges(low, current);
        }
        if self.total > self.limits.bytes {
            self.cut(low, current);
        }
    }

    fn stub(&mut self, low: usize) {
        while self.total > low
            && let Some((round, site)) = self.results.front().copied()
            && round + RECENT <= self.rounds
        {
            self.results.pop_front();
            if self.kept[site.exchange] {
                self.change(site, Change::Stubbed);
            }
        }
    }

    fn drop_exchanges(&mut self, low: usize, current: usize) {
        while self.total > low && self.oldest < current {
            let oldest = self.oldest;
            self.oldest += 1;
            if self.exchanges[oldest].is_pinned() {
                continue;
            }
            self.total += std::mem::take(&mut self.mark);
            self.kept[oldest] = false;
            self.total -= self.weights[oldest];
            self.weights[oldest] = 0;
        }
    }

    fn cut(&mut self, low: usize, current: usize) {
        let mut later = VecDeque::new();
        while self.total > low
            && let Some(site) = self.large.pop_front()
        {
            // What the model is saying now goes back as it was.
            if site.exchange == current && matches!(site.part, Part::Block(_)) {
                later.push_back(site);
            } else if self.kept[site.exchange] && !self.changes.contains_key(&site) {
                self.change(site, Change::Cut);
            }
        }
        later.append(&mut self.large);
        self.large = later;
    }

    /// Changes a text, and counts what that saves.
    fn change(&mut self, site: Site, change: Change) {
        let before = self.weight(site, self.changes.get(&site).copied());
        self.changes.insert(site, change);
        let saved = before.saturating_sub(self.weight(site, Some(change)));
        self.total -= saved;
        self.weights[site.exchange] -= saved;
    }

    fn weight(&self, site: Site, change: Option<Change>) -> usize {
        let exchange = &self.exchanges[site.exchange];
        let step = site.step.checked_sub(1).and_then(|step| exchange.steps().get(step));
        let words = match (site.part, step) {
            (Part::Result(_), _) => {
                result_at(self.exchanges, site).map_or("", |returned| &returned.result.content)
            }
            (Part::Words, None) => exchange.prompt(),
            (Part::Words, Some(Step::Note(words))) => words,
            (Part::Block(place), Some(Step::Said(said))) => text_of(said, place),
            (Part::Block(place), Some(Step::Round(round))) => text_of(round.said(), place),
            _ => "",
        };
        match change {
            None => weight::text(words),
            Some(change) => weight::text(&render::changed(words, change)),
        }
    }
}

fn text_of(blocks: &[Block], place: usize) -> &str {
    blocks.get(place).and_then(Block::as_text).unwrap_or_default()
}

const _: () = assert!(CUT_TO < OVERSIZED, "a cut text must not be cut again");
