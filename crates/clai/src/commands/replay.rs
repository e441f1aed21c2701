//! `clai replay`: how well the person's own history could have been foreseen, each command from those before it, beside
//! what the simplest guessers reach on the same commands.

mod baselines;
mod measure;

use std::io::Write;
use std::time::{Duration, Instant};

use kit::page::Column;
use kit::{Exit, Failure, text};
use serde::Serialize;

use super::{Call, Page, alone};
use crate::command::Ran;
use crate::rank::{Engine, Scorer};
use baselines::Baselines;
use measure::{Guessed, Tally};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure the newest so many; those before are only learned from
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    last: u64,
    /// How to weigh, in place of what the configuration says
    #[arg(long, value_name = "NAME", value_parser = ["seed", "blend"])]
    scorer: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    history: usize,
    measured: u64,
    /// Lines that had been run before in exactly this form.
    seen_before: u64,
    /// Commands whose first suggestion was at least [`SURE`] to be right.
    sure: u64,
    sure_and_right: u64,
    guessers: Vec<Guesser>,
}

#[derive(Debug, Serialize)]
struct Guesser {
    name: &'static str,
    #[serde(flatten)]
    tally: Tally,
}

/// From here on a suggestion counts as sure of itself.
const SURE: f64 = 0.6;

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let scorer = match args.scorer.as_deref().and_then(Scorer::named) {
        Some(scorer) => scorer,
        None => call.config()?.scorer,
    };
    let history = alone::history(call, None)?;
    if history.is_empty() {
        return Err(Failure::new("there is no history to replay").hint("`clai import bash`"));
    }
    let last = usize::try_from(args.last).unwrap_or(usize::MAX);
    let mut progress = Progress { shown: Instant::now() };
    let report = replay(&history, last, scorer, &mut |done, all| progress.show(call, done, all));
    progress.clear(call);
    call.show(&report, |page| to_text(page, &report))
}

fn replay(history: &[Ran], last: usize, scorer: Scorer, watch: &mut dyn FnMut(usize, usize)) -> Report {
    let mut engine = Engine::new(scorer);
    let mut baselines = Baselines::default();
    let learned_only = history.len().saturating_sub(last);
    let (mut ours, mut bigram, mut frequent) = (Tally::default(), Tally::default(), Tally::default());
    let (mut seen_before, mut sure, mut sure_and_right) = (0, 0, 0);
    for (index, ran) in history.iter().enumerate() {
        if index >= learned_only {
            watch(index - learned_only, history.len() - learned_only);
            let Guessed { rank, keys, confidence } = measure::engine(&engine, ran);
            ours.count(&ran.line, rank, keys);
            if confidence >= SURE {
                sure += 1;
                sure_and_right += u64::from(rank == Some(0));
            }
            let guesses = baselines.guess(ran);
            seen_before += u64::from(guesses.is_some());
            let (of_bigram, of_frequent) = guesses.unzip();
            bigram.count(&ran.line, of_bigram.map(|it| it.rank), of_bigram.and_then(|it| it.keys));
            frequent.count(&ran.line, of_frequent.map(|it| it.rank), of_frequent.and_then(|it| it.keys));
        }
        baselines.learn(ran);
        engine.learn(ran);
    }
    let guessers = [("clai", ours), ("what followed before", bigram), ("most frequent", frequent)];
    Report {
        history: history.len(),
        measured: ours.commands,
        seen_before,
        sure,
        sure_and_right,
        guessers: guessers.map(|(name, tally)| Guesser { name, tally }).into(),
    }
}

struct Progress {
    shown: Instant,
}

impl Progress {
    fn show(&mut self, call: &mut Call<'_>, done: usize, all: usize) {
        const EVERY: Duration = Duration::from_millis(100);
        if call.invocation.terminal.stderr && self.shown.elapsed() > EVERY {
            self.shown = Instant::now();
            let (done, all) = (text::thousands(done as u64), text::thousands(all as u64));
            let _ = write!(call.invocation.stderr, "\r{done} of {all} commands foreseen\x1b[K");
            let _ = call.invocation.stderr.flush();
        }
    }

    fn clear(&self, call: &mut Call<'_>) {
        if call.invocation.terminal.stderr {
            let _ = write!(call.invocation.stderr, "\r\x1b[K");
        }
    }
}

fn to_text(page: &Page, report: &Report) -> String {
    let number = |number: u64| text::thousands(number);
    let percent = |part: u64, whole: u64| format!("{:.1} %", part as f64 / whole.max(1) as f64 * 100.0);
    let (measured, history) = (number(report.measured), number(report.history as u64));
    let mut out =
        format!("the last {measured} of {history} commands, each foreseen from those before it\n\n");
    let mut rows = vec![["", "first", "in 3", "in 5", "MRR", "keys saved"].map(str::to_owned)];
    rows.extend(report.guessers.iter().map(|Guesser { name, tally }| {
        let share = |hits| percent(hits, tally.commands);
        let mrr = format!("{:.3}", tally.reciprocal_ranks / tally.commands.max(1) as f64);
        [
            (*name).to_owned(),
            share(tally.top1),
            share(tally.top3),
            share(tally.top5),
            mrr,
            percent(tally.keys_saved(), tally.keys_plain),
        ]
    }));
    let right = Column::Right;
    out.push_str(&page.aligned([Column::Left, right, right, right, right, right], &rows));
    out.push_str(&format!(
        "\n{} of them had been run before in exactly this form\n",
        percent(report.seen_before, report.measured)
    ));
    out.push_str(&format!(
        "{} had a suggestion that was {SURE} sure or more, and {} of those were right\n",
        percent(report.sure, report.measured),
        percent(report.sure_and_right, report.sure)
    ));
    out + &page.next("why", "what the next suggestion is made of")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Place, SessionId, Template};

    fn ran(number: i64, line: &str) -> Ran {
        Ran {
            session: SessionId("s".into()),
            ts: 1_700_000_000_000 + number * 30_000,
            duration_ms: None,
            exit_code: Some(0),
            place: Place { cwd: "/p".into(), repo: None, branch: None },
            line: line.into(),
            template: Template(line.into()),
        }
    }

    #[test]
    fn a_life_of_habit_is_foreseen_and_what_is_new_is_not() {
        let circle = ["git add -A", "git commit", "git push", "make test"];
        let history: Vec<Ran> = (0..200).map(|i| ran(i, circle[i as usize % 4])).collect();
        let report = replay(&history, 100, Scorer::Seed, &mut |_, _| {});
        assert_eq!((report.history, report.measured, report.seen_before), (200, 100, 100));
        let [ours, bigram, frequent] = &report.guessers[..] else { panic!() };
        assert_eq!((ours.tally.top1, bigram.tally.top1), (100, 100));
        assert!(frequent.tally.top1 < 50, "{frequent:?}");
        assert!(ours.tally.keys_saved() > 0 && bigram.tally.keys_saved() > frequent.tally.keys_saved());

        let strange: Vec<Ran> = (0..20).map(|i| ran(i, &format!("never {i} again"))).collect();
        let report = replay(&strange, 20, Scorer::Seed, &mut |_, _| {});
        assert_eq!(report.seen_before, 0);
        assert!(report.guessers[1..].iter().all(|it| it.tally.top5 == 0 && it.tally.keys_saved() == 0));
    }
}
