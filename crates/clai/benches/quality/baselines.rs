//! What other tools and papers do, each as a score for every line that the person has run; equal scores go to the more
//! recent line. The same definitions as in the evaluator that our engine speaks to, so that figures can be compared.

use std::collections::HashMap;

use clai::command::{Ran, SessionId};
use clai::danger::danger;
use clai::normalise::normalise;

use crate::figures::{Figures, PATIENCE};
use crate::sample::Person;

const NEVER: f64 = -1e18;
/// Lifts what matches a context over everything that is merely recent.
const LIFT: f64 = 1e12;
const WEEK_MS: f64 = 7.0 * 86_400.0 * 1000.0;

pub(crate) fn replay(people: &[Person]) -> Vec<(&'static str, Figures)> {
    let mut rows: Vec<(&'static str, Figures)> =
        engines().iter().map(|(name, _)| (*name, Figures::default())).collect();
    for person in people {
        let mut history = History::default();
        let mut engines = engines();
        for ran in &person.commands {
            for ((_, engine), (_, figures)) in engines.iter_mut().zip(&mut rows) {
                if history.commands == 0.0 {
                    figures.next_person();
                }
                judge(&history, &engine.score(&history, ran), ran, figures);
            }
            let (line, before) = (history.intern(ran), history.before(&ran.session));
            engines.iter_mut().for_each(|(_, engine)| engine.learn(&history, ran, line, before));
            history.learn(ran, line);
        }
    }
    rows
}

fn engines() -> Vec<(&'static str, Box<dyn Engine>)> {
    vec![
        ("mru", Box::new(Recent)),
        ("mfu", Box::new(Frequent)),
        ("decay_freq", Box::new(Fading::default())),
        ("zsh_match_prev", Box::new(AfterSame::default())),
        ("fish_cwd_recency", Box::new(SameDirectory::default())),
        ("bigram_backoff", Box::new(Bigram::default())),
        ("ipam_0.8", Box::new(Ipam::default())),
        ("seed_exact", Box::new(SeedTable::new(0.001, Holes::Stay))),
        ("seed_filled", Box::new(SeedTable::new(15.0, Holes::AreFilled))),
        ("atuin_frecency", Box::new(Frecency)),
    ]
}

fn judge(history: &History, scores: &Scores, wanted: &Ran, figures: &mut Figures) {
    let scale = history.commands + 1.0;
    let key = |at: usize| {
        let score = scores.of_line[at];
        score + 1e-9 * (1.0 + score.abs()) * (history.lines[at].last + 1.0) / scale
    };
    let keys: Vec<f64> = (0..history.lines.len()).map(key).collect();
    let mut order: Vec<usize> = (0..keys.len()).filter(|at| keys[*at] > NEVER / 2.0).collect();
    order.sort_by(|a, b| keys[*b].total_cmp(&keys[*a]));
    let whole = |at: usize| !scores.with_holes.contains(&at);
    let offered: Vec<(&str, bool)> =
        order.iter().take(5).map(|at| (history.lines[*at].text.as_str(), whole(*at))).collect();
    let own = history.ids.get(&wanted.line).filter(|at| keys[**at] > NEVER / 2.0 && whole(**at));
    let typed = own.and_then(|own| {
        // Every better line stands in the way as long as it shares what is typed.
        let better = (0..keys.len()).filter(|at| keys[*at] > keys[*own]).map(|at| &history.lines[at].text);
        let typed = better.map(|text| shared(text, &wanted.line) + 1).max().unwrap_or(0);
        (typed < (wanted.line.chars().count() - 1).min(PATIENCE)).then_some(typed)
    });
    figures.count(wanted, &offered, typed);
}

fn shared(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// What all baselines remember alike.
#[derive(Default)]
struct History {
    ids: HashMap<String, usize>,
    lines: Vec<Line>,
    templates: HashMap<String, usize>,
    sessions: HashMap<SessionId, usize>,
    commands: f64,
}

struct Line {
    text: String,
    template: usize,
    has_holes: bool,
    count: f64,
    last: f64,
    last_ts: i64,
}

impl History {
    fn intern(&mut self, ran: &Ran) -> usize {
        if let Some(id) = self.ids.get(&ran.line) {
            return *id;
        }
        let next = self.templates.len();
        let template = *self.templates.entry(ran.template.0.clone()).or_insert(next);
        self.ids.insert(ran.line.clone(), self.lines.len());
        let has_holes = !normalise(&ran.line).slots.is_empty();
        let text = ran.line.clone();
        self.lines.push(Line { text, template, has_holes, count: 0.0, last: -1.0, last_ts: 0 });
        self.lines.len() - 1
    }

    fn learn(&mut self, ran: &Ran, line: usize) {
        let entry = &mut self.lines[line];
        (entry.count, entry.last, entry.last_ts) = (entry.count + 1.0, self.commands, ran.ts);
        self.sessions.insert(ran.session.clone(), line);
        self.commands += 1.0;
    }

    /// The last line of the session.
    fn before(&self, session: &SessionId) -> Option<usize> {
        self.sessions.get(session).copied()
    }

    fn each(&self, score: impl Fn(&Line) -> f64) -> Scores {
        Scores { of_line: self.lines.iter().map(score).collect(), with_holes: Vec::new() }
    }
}

struct Scores {
    of_line: Vec<f64>,
    /// Lines that stand for a template whose arguments are not known here.
    with_holes: Vec<usize>,
}

trait Engine {
    fn score(&self, history: &History, now: &Ran) -> Scores;
    /// Before `history` has learned it.
    fn learn(&mut self, _history: &History, _ran: &Ran, _line: usize, _before: Option<usize>) {}
}

struct Recent;

impl Engine for Recent {
    fn score(&self, history: &History, _now: &Ran) -> Scores {
        history.each(|line| line.last)
    }
}

struct Frequent;

impl Engine for Frequent {
    fn score(&self, history: &History, _now: &Ran) -> Scores {
        history.each(|line| line.count)
    }
}

/// A count that fades by a factor e in a week.
#[derive(Default)]
struct Fading(HashMap<usize, (f64, i64)>);

fn faded((score, last): (f64, i64), now: i64) -> f64 {
    score * (-((now - last) as f64) / WEEK_MS).exp()
}

impl Engine for Fading {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let of_line =
            (0..history.lines.len()).map(|at| self.0.get(&at).map_or(0.0, |row| faded(*row, now.ts)));
        Scores { of_line: of_line.collect(), with_holes: Vec::new() }
    }

    fn learn(&mut self, _history: &History, ran: &Ran, line: usize, _before: Option<usize>) {
        let row = self.0.entry(line).or_insert((0.0, ran.ts));
        *row = (faded(*row, ran.ts) + 1.0, ran.ts);
    }
}

/// What zsh-autosuggestions calls `match_prev_cmd`: the latest line that followed the same line, else the latest.
#[derive(Default)]
struct AfterSame(HashMap<Option<usize>, HashMap<usize, f64>>);

impl Engine for AfterSame {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let mut scores = Recent.score(history, now);
        for (line, when) in self.0.get(&history.before(&now.session)).into_iter().flatten() {
            scores.of_line[*line] = LIFT + when;
        }
        scores
    }

    fn learn(&mut self, history: &History, _ran: &Ran, line: usize, before: Option<usize>) {
        self.0.entry(before).or_default().insert(line, history.commands);
    }
}

/// The latest line of this directory, else the latest.
#[derive(Default)]
struct SameDirectory(HashMap<String, HashMap<usize, f64>>);

impl Engine for SameDirectory {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let mut scores = Recent.score(history, now);
        if !now.place.cwd.is_empty() {
            for (line, when) in self.0.get(&now.place.cwd).into_iter().flatten() {
                scores.of_line[*line] = LIFT + when;
            }
        }
        scores
    }

    fn learn(&mut self, history: &History, ran: &Ran, line: usize, _before: Option<usize>) {
        self.0.entry(ran.place.cwd.clone()).or_default().insert(line, history.commands);
    }
}

/// What followed the same line most often, else what is most frequent.
#[derive(Default)]
struct Bigram(HashMap<Option<usize>, HashMap<usize, f64>>);

impl Engine for Bigram {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let mut scores = history.each(|line| 0.4 * line.count / history.commands.max(1.0));
        if let Some(row) = self.0.get(&history.before(&now.session)) {
            let total: f64 = row.values().sum();
            row.iter().for_each(|(line, count)| scores.of_line[*line] = count / total);
        }
        scores
    }

    fn learn(&mut self, _history: &History, _ran: &Ran, line: usize, before: Option<usize>) {
        *self.0.entry(before).or_default().entry(line).or_default() += 1.0;
    }
}

/// Davison and Hirsh 1998: what followed the same line, each time it is seen again weighed down to four fifths.
#[derive(Default)]
struct Ipam {
    rows: HashMap<Option<usize>, HashMap<usize, f64>>,
    any: HashMap<usize, f64>,
}

impl Engine for Ipam {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let row = self.rows.get(&history.before(&now.session)).unwrap_or(&self.any);
        let of_line = (0..history.lines.len()).map(|at| row.get(&at).copied().unwrap_or(0.0));
        Scores { of_line: of_line.collect(), with_holes: Vec::new() }
    }

    fn learn(&mut self, _history: &History, _ran: &Ran, line: usize, before: Option<usize>) {
        const KEEP: f64 = 0.8;
        let row = self.rows.entry(before).or_insert_with(|| self.any.clone());
        for row in [row, &mut self.any] {
            row.values_mut().for_each(|weight| *weight *= KEEP);
            *row.entry(line).or_default() += 1.0 - KEEP;
        }
    }
}

/// What becomes of a template whose arguments were never used in this repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holes {
    Stay,
    AreFilled,
}

/// The specification's table of weights over templates, written down a second time and apart from ours.
struct SeedTable {
    global_weight: f64,
    holes: Holes,
    /// Per template: faded count, and the line it was last seen as.
    all: HashMap<usize, ((f64, i64), usize)>,
    /// The same per repository and template.
    local: HashMap<(String, usize), ((f64, i64), usize)>,
    /// Repository (empty for all), template before, template after.
    transitions: HashMap<(String, usize), HashMap<usize, f64>>,
}

impl SeedTable {
    fn new(global_weight: f64, holes: Holes) -> SeedTable {
        SeedTable {
            global_weight,
            holes,
            all: HashMap::new(),
            local: HashMap::new(),
            transitions: HashMap::new(),
        }
    }
}

/// `-` for nowhere, which counts as a repository with the frequencies of all.
fn repo(ran: &Ran) -> &str {
    ran.place.repo.as_ref().map_or("-", |repo| &repo.0)
}

impl Engine for SeedTable {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        let before = history.before(&now.session).map(|line| history.lines[line].template);
        let (repo, nowhere) = (repo(now), repo(now) == "-");
        let mut scores = Scores { of_line: vec![NEVER; history.lines.len()], with_holes: Vec::new() };
        let followers =
            |scope: &str| before.and_then(|before| self.transitions.get(&(scope.to_owned(), before)));
        let (local, global) = (followers(repo), followers(""));
        for (template, (row, line)) in &self.all {
            let frequency = faded(*row, now.ts).ln_1p();
            let (mut score, mut line) = (self.global_weight * frequency, *line);
            let here = self.local.get(&(repo.to_owned(), *template)).filter(|_| !nowhere);
            if nowhere {
                score += 30.0 * frequency;
            } else if let Some((row, used)) = here {
                score += 30.0 * faded(*row, now.ts).ln_1p();
                line = *used;
            } else if self.holes == Holes::Stay && history.lines[line].has_holes {
                scores.with_holes.push(line);
            }
            let count = |row: Option<&HashMap<usize, f64>>| row.and_then(|row| row.get(template)).copied();
            score += 80.0 * count(local).unwrap_or(0.0).ln_1p() + 60.0 * count(global).unwrap_or(0.0).ln_1p();
            if danger(&history.lines[line].text).is_some() {
                score -= 50.0;
            }
            scores.of_line[line] = score;
        }
        scores
    }

    fn learn(&mut self, history: &History, ran: &Ran, line: usize, before: Option<usize>) {
        let (repo, template) = (repo(ran), history.lines[line].template);
        let again = |row: Option<&((f64, i64), usize)>| {
            let score = row.map_or(0.0, |(row, _)| faded(*row, ran.ts));
            ((score + 1.0, ran.ts), line)
        };
        self.all.insert(template, again(self.all.get(&template)));
        if let Some(before) = before {
            for scope in ["", repo] {
                let row = self.transitions.entry((scope.to_owned(), history.lines[before].template));
                *row.or_default().entry(template).or_default() += 1.0;
            }
        }
        let key = (repo.to_owned(), template);
        self.local.insert(key.clone(), again(self.local.get(&key)));
    }
}

/// atuin's daemon: steps of recency, and a logarithm of the count.
struct Frecency;

impl Engine for Frecency {
    fn score(&self, history: &History, now: &Ran) -> Scores {
        history.each(|line| {
            let hours = ((now.ts - line.last_ts).max(0) as f64 / 3_600_000.0).floor();
            let steps = [(0.0, 100.0), (6.0, 90.0), (24.0, 70.0), (72.0, 50.0), (168.0, 30.0), (720.0, 15.0)];
            let recent = steps.iter().find(|(until, _)| hours <= *until).map_or(5.0, |(_, score)| *score);
            (recent + (20.0 * line.count.max(1.0).ln()).min(100.0)).round_ties_even()
        })
    }
}
