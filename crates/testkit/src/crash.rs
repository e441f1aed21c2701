//! Killing a program at random moments and looking at what it left behind. Knows nothing of what is checked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::output::Running;
use crate::{Output, PATIENCE, Random, panic, poll, until};

/// A series of crashes, see [`Crash::run`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Crash {
    seed: u64,
    points: usize,
    since: Since,
}

/// When the moments begin from which a kill is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Since {
    Start,
    FirstOutput,
}

/// What a killed child left behind besides its files.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// From 0; the runs that are not killed count as well.
    pub number: usize,
    /// Since its start, or since its first output, see [`Crash::from_first_output`]. None for a run that was left
    /// alone, to see how long one takes.
    pub killed_after: Option<Duration>,
    /// What it had acknowledged on its standard output, among others.
    pub output: Output,
}

/// How often a kill found the child still running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    pub points: usize,
    pub hits: usize,
}

/// How many times to kill: `usual` in a test, more in a soak. For crash tests that are driven by hand.
pub fn points(usual: usize) -> usize {
    soak_points(std::env::var("SCRIMP_SOAK_POINTS").ok().as_deref()).max(usual)
}

/// Runs that show how long the child takes when nobody kills it.
const MEASURED: usize = 3;

impl Crash {
    pub fn new(seed: u64) -> Crash {
        Crash { seed, points: 50, since: Since::Start }
    }

    /// How many times to kill. `SCRIMP_SOAK_POINTS` raises it, and never lowers it.
    pub fn points(mut self, points: usize) -> Crash {
        self.points = points;
        self
    }

    /// Kills only after the first byte on standard output, which the child writes when its work begins: for one that
    /// takes long to start, whose work would hardly be hit otherwise. Panics if a child that is not killed writes
    /// nothing.
    pub fn from_first_output(mut self) -> Crash {
        self.since = Since::FirstOutput;
        self
    }

    /// Starts the child that `child` describes, kills it and its process group with SIGKILL at a moment drawn
    /// from its normal duration, and lets `check` look; again and again, in the same home if `child` says so.
    /// Panics if `check` does, with the seed and the moment; and if the child was nearly always faster than its
    /// killer, since then nothing was shown.
    #[track_caller]
    pub fn run(self, mut child: impl FnMut(usize) -> Command, mut check: impl FnMut(&Attempt)) -> Report {
        let points = points(self.points);
        let mut random = Random::new(self.seed);
        let mut window = Window::default();
        let mut hits = 0;
        for number in 0..MEASURED + points {
            let delay = (number >= MEASURED).then(|| window.width.mul_f64(random.fraction()));
            let (output, end) = crash(&mut child(number), delay, self.since);
            window = match end {
                End::Own(took) if delay.is_none() => window.measured(took),
                End::Own(_) => window.after(false),
                End::Killed => window.after(true),
            };
            hits += usize::from(end == End::Killed);
            let attempt = Attempt { number, killed_after: delay, output };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&attempt))) {
                let words = panic::words(&*panic);
                let (seed, moment) = (self.seed, moment(&attempt));
                panic!("attempt {number} with seed {seed}, {moment}:\n{words}");
            }
        }
        assert!(
            hits * 5 >= points,
            "only {hits} of {points} kills found the child running: make it work longer"
        );
        Report { points, hits }
    }
}

/// How long after its start a child may be killed. A busy machine is faster or slower than it was when we measured:
/// the window follows it, so that four of five kills hit, wherever in a run they do; but it does not follow a
/// child that has nothing to do, nor one that never ends.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    normal: Duration,
    width: Duration,
}

impl Window {
    fn measured(self, took: Duration) -> Window {
        let normal = self.normal.max(took);
        Window { normal, width: normal }
    }

    fn after(self, hit: bool) -> Window {
        let width = self.width.mul_f64(if hit { 1.05 } else { 0.8 });
        Window { width: width.clamp(self.normal / 10, self.normal * 10), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// After so long, counted like the moments of the kills.
    Own(Duration),
    Killed,
}

/// Runs a child to its end, or to its death after `delay`.
#[track_caller]
fn crash(command: &mut Command, delay: Option<Duration>, since: Since) -> (Output, End) {
    let mut running = Running::start(command, b"");
    let give_up = |running: Running, what: &str| -> ! {
        panic!("{command:?} {what}:\n{}", running.kill().transcript())
    };
    if since == Since::FirstOutput {
        // The steps of `until` grow, and would leave out the first moments of the work.
        let patience = Instant::now();
        while !running.spoke() && running.ended().is_none() {
            if patience.elapsed() > PATIENCE {
                give_up(running, "wrote nothing in all that time");
            }
            poll::pass(Duration::from_micros(100));
        }
    }
    let start = Instant::now();
    match delay {
        Some(delay) => poll::pass(delay),
        None if until(PATIENCE, || running.ended().is_some()) => {}
        None => give_up(running, &format!("did not end within {PATIENCE:?}")),
    }
    let took = start.elapsed();
    if delay.is_none() && since == Since::FirstOutput && !running.spoke() {
        give_up(running, "never said that its work began");
    }
    let end = if running.ended().is_some() { End::Own(took) } else { End::Killed };
    (running.kill(), end)
}

fn moment(attempt: &Attempt) -> String {
    match attempt.killed_after {
        Some(delay) => format!("killed after {delay:?}"),
        None => "not killed at all".to_owned(),
    }
}

fn soak_points(variable: Option<&str>) -> usize {
    let parse = |text: &str| text.parse().expect("SCRIMP_SOAK_POINTS is a number");
    variable.map_or(0, parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_machine_but_not_for_ever() {
        let window =
            Window::default().measured(Duration::from_millis(80)).measured(Duration::from_millis(100));
        let after = |hit| (0..1000).fold(window, |window, _| window.after(hit)).width.as_millis();
        assert_eq!((after(false), window.width.as_millis(), after(true)), (10, 100, 1000));
    }

    #[test]
    fn a_soak_has_as_many_points_as_it_says() {
        assert_eq!([None, Some("500")].map(soak_points), [0, 500]);
    }
}
