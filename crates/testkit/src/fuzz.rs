//! Throwing bytes at a function: every file of a committed corpus, then changed copies of them.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::random::hash;
use crate::{Random, bin, panic};

/// Longer inputs only cost time.
const MAX_LENGTH: usize = 64 * 1024;

/// Bytes that mean something to somebody: ends, quotes, brackets, signs, halves of characters.
#[rustfmt::skip]
const INTERESTING: [&[u8]; 24] = [
    b"\0", b"\n", b"\r", b"\r\n", b"\n\n", b"\"", b"\\", b"{", b"}", b"[", b"]", b":", b",", b"-", b"0", b"1e999",
    b"18446744073709551616", b"null", b"data: ", b"\x1b[", b"\xff", b"\xc3", b"\xe2\x80\xae", b"\xed\xa0\x80",
];

/// Runs `target` over every file in `corpus` (a directory below the tested crate) and over `count` inputs made from
/// them; the same ones in every run. With `SCRIMP_SOAK_SECONDS` it goes on with other ones until that time has
/// passed, and says how many they were. On a panic it leaves the input in `target/fuzz/NAME-HASH` and says so, with the seed.
#[track_caller]
pub fn fuzz(name: &str, corpus: impl AsRef<Path>, count: usize, target: impl Fn(&[u8])) {
    let soak = std::env::var("SCRIMP_SOAK_SECONDS").ok();
    let soak = soak.map(|text| text.parse().expect("SCRIMP_SOAK_SECONDS is a number"));
    campaign(name, corpus.as_ref(), count, soak.map(Duration::from_secs), &target);
}

#[track_caller]
fn campaign(name: &str, corpus: &Path, count: usize, soak: Option<Duration>, target: &dyn Fn(&[u8])) {
    let seeds = read(corpus);
    for input in &seeds {
        attempt(name, "a file of the corpus", input, target);
    }
    let series = |seed: u64| {
        let input = generate(&mut Random::new(seed), &seeds);
        attempt(name, &format!("made from seed {seed}"), &input, target);
    };
    let first = hash(name.as_bytes());
    (0..count as u64).for_each(|step| series(first.wrapping_add(step)));
    let (start, now) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH));
    let later = now.expect("the clock is past 1970").as_nanos() as u64;
    let Some(soak) = soak else { return };
    let soaked = (0..).take_while(|_| start.elapsed() < soak).map(|step| series(later.wrapping_add(step)));
    #[allow(clippy::print_stderr, reason = "a figure for whoever soaks")]
    {
        eprintln!("{name}: {} inputs in {} s, and none failed", soaked.count(), soak.as_secs());
    }
}

#[track_caller]
fn read(corpus: &Path) -> Vec<Vec<u8>> {
    let entries =
        fs::read_dir(corpus).unwrap_or_else(|error| panic!("no corpus in `{}`: {error}", corpus.display()));
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    // The order of a directory differs between machines; the inputs made from it must not.
    paths.sort();
    assert!(!paths.is_empty(), "`{}` holds no file: commit at least one input", corpus.display());
    paths.iter().map(|path| fs::read(path).expect("a file of the corpus can be read")).collect()
}

#[track_caller]
fn attempt(name: &str, origin: &str, input: &[u8], target: &dyn Fn(&[u8])) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) else { return };
    let words = panic::words(&*panic);
    let directory = bin::target_directory().join("fuzz");
    let path = directory.join(format!("{name}-{:016x}", hash(input)));
    let written = fs::create_dir_all(&directory).and_then(|()| fs::write(&path, input));
    let place = written.map_or_else(|error| format!("nowhere: {error}"), |()| path.display().to_string());
    panic!("{name} failed on {} bytes, {origin}, kept in {place}:\n{words}", input.len());
}

/// A file of the corpus, changed one to eight times.
fn generate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = random.pick(seeds).clone();
    for _ in 0..=random.below(8) {
        mutate(&mut input, random, seeds);
        input.truncate(MAX_LENGTH);
    }
    input
}

fn mutate(input: &mut Vec<u8>, random: &mut Random, seeds: &[Vec<u8>]) {
    let at = random.below(input.len() + 1);
    let (start, end) = range(random, input.len());
    match random.below(8) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.number() as u8,
        2 => drop(input.splice(at..at, random.pick(&INTERESTING).iter().copied())),
        3 => drop(input.splice(start..end, random.pick(&INTERESTING).iter().copied())),
        4 => drop(input.drain(start..end)),
        5 => input.truncate(at),
        6 => drop(input.splice(at..at, input[start..end].to_vec())),
        _ => {
            let other = random.pick(seeds);
            let (start, end) = range(random, other.len());
            drop(input.splice(at..at, other[start..end].iter().copied()));
        }
    }
}

fn range(random: &mut Random, length: usize) -> (usize, usize) {
    let (one, other) = (random.below(length + 1), random.below(length + 1));
    (one.min(other), one.max(other))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;

    use super::*;
    use crate::{Home, panic_of};

    fn corpus() -> Home {
        let home = Home::new();
        home.write("corpus/one", "{\"a\": [1, 2, 3]}");
        home.write("corpus/two", "hello");
        home
    }

    fn inputs(home: &Home, count: usize, soak: Option<Duration>) -> Vec<Vec<u8>> {
        let seen = RefCell::new(Vec::new());
        let target = |bytes: &[u8]| seen.borrow_mut().push(bytes.to_vec());
        campaign("same", &home.path().join("corpus"), count, soak, &target);
        seen.into_inner()
    }

    #[test]
    fn the_corpus_and_then_changed_copies_of_it_are_tried_the_same_ones_in_each_run() {
        let home = corpus();
        let first = inputs(&home, 1000, None);
        assert_eq!(first[..2], [b"{\"a\": [1, 2, 3]}".to_vec(), b"hello".to_vec()]);
        assert_eq!(first, inputs(&home, 1000, None));
        assert!(first.len() == 1002 && first.iter().collect::<HashSet<_>>().len() > 900, "they differ");
    }

    #[test]
    fn a_soak_goes_on_with_other_inputs_until_its_time_has_passed() {
        let home = corpus();
        let start = Instant::now();
        let soaked = inputs(&home, 1, Some(Duration::from_millis(30)));
        assert!(soaked.len() > 3 && start.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn a_failing_input_is_kept_and_told_with_its_seed() {
        let home = corpus();
        let target = |bytes: &[u8]| assert!(std::str::from_utf8(bytes).is_ok(), "not UTF-8");
        let message = panic_of(|| fuzz("finds", home.path().join("corpus"), 10_000, target));
        assert!(message.contains("made from seed ") && message.ends_with("not UTF-8"), "{message}");
        let path = message.split("kept in ").nth(1).unwrap().split(':').next().unwrap();
        assert!(path.contains("/fuzz/finds-"), "{path}");
        assert!(std::str::from_utf8(&fs::read(path).unwrap()).is_err());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_corpus_that_is_not_there_or_empty_is_a_failure() {
        let home = Home::new();
        assert!(panic_of(|| fuzz("x", home.path().join("absent"), 1, |_| {})).contains("no corpus in"));
        assert!(panic_of(|| fuzz("x", home.runtime(), 1, |_| {})).contains("holds no file"));
    }
}
