//! Lines that were never run, made of words that were: the word that is being typed, finished as in an earlier line,
//! with or without what came after it there.

use std::collections::{HashMap, HashSet};

use super::pool::Pool;
use super::signals::Signal;
use crate::model::{Line, Link};

/// How many commands back words are borrowed from, and how many with no letter of the word typed yet.
const REACH: usize = 512;
const REACH_UNTYPED: usize = 8;

/// Enough to choose from; the latest come first.
const MOST: usize = 192;

/// Nobody means a word in the middle of a pasted page.
const LONGEST: usize = 1024;

/// What parts a word into pieces that are used again alone: `user@host`, `--file=name`, `a/b`.
const BETWEEN: [char; 5] = ['=', ':', '@', '/', ','];

pub(super) fn add(pool: &mut Pool<'_>) {
    let Some((head, partial)) = pool.ask.prefix.rsplit_once(' ') else { return };
    let typed = Typed {
        head: &pool.ask.prefix[..=head.len()],
        program: head.split_ascii_whitespace().next().unwrap_or_default(),
        neighbour: head.split_ascii_whitespace().next_back().unwrap_or_default(),
        partial,
    };
    let mut made = HashMap::new();
    for (age, line) in recent_lines(pool) {
        if made.len() >= MOST {
            break;
        }
        typed.borrow(&mut made, age, &line.text);
    }
    let mut made: Vec<(String, Made)> = made.into_iter().collect();
    made.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (text, made) in made {
        // A line that was run has better signals than these.
        if pool.model.lines.find(&text).is_none()
            && let Some(candidate) = pool.nominate_text(&text)
        {
            candidate.set(Signal::Composed, 1.0);
            candidate.set(Signal::ComposedAge, (64.0 / (made.age as f32 + 1.0)).ln_1p());
            candidate.set(Signal::ComposedProgram, f32::from(u8::from(made.same_program)));
            candidate.set(Signal::ComposedNeighbour, f32::from(u8::from(made.same_neighbour)));
            candidate.set(Signal::ComposedTail, f32::from(u8::from(made.with_tail)));
            candidate.set(Signal::ComposedOften, (made.times as f32).ln_1p());
            candidate.set(Signal::ComposedTyped, (partial.len() as f32).ln_1p());
            candidate.set(Signal::ComposedPiece, f32::from(u8::from(made.of_a_piece)));
        }
    }
}

/// What speaks for a composed line.
#[derive(Debug, Clone, Copy)]
struct Made {
    age: usize,
    times: u32,
    same_program: bool,
    same_neighbour: bool,
    with_tail: bool,
    of_a_piece: bool,
}

/// What stands before the cursor.
struct Typed<'a> {
    /// Up to the word that is being typed.
    head: &'a str,
    program: &'a str,
    /// The word before.
    neighbour: &'a str,
    partial: &'a str,
}

impl Typed<'_> {
    fn borrow(&self, made: &mut HashMap<String, Made>, age: usize, line: &str) {
        let same_program = line.split_ascii_whitespace().next() == Some(self.program);
        let mut before = "";
        for (at, word) in words(line) {
            let same_neighbour = before == self.neighbour;
            before = word;
            if at == 0 || !is_whole(word) {
                continue;
            }
            let this =
                Made { age, times: 1, same_program, same_neighbour, with_tail: false, of_a_piece: false };
            if self.partial.is_empty() && !same_program && !same_neighbour && age >= REACH_UNTYPED {
                continue;
            }
            if word.len() > self.partial.len() && word.starts_with(self.partial) {
                add_to(made, format!("{}{word}", self.head), this);
                let tail = &line[at + word.len()..];
                if !tail.trim_ascii().is_empty() && is_whole(tail) {
                    add_to(made, format!("{}{word}{tail}", self.head), Made { with_tail: true, ..this });
                }
            }
            self.borrow_pieces(made, word, Made { same_neighbour: false, of_a_piece: true, ..this });
        }
    }

    /// A piece of a word for the whole of what is typed or for its last piece.
    fn borrow_pieces(&self, made: &mut HashMap<String, Made>, word: &str, this: Made) {
        let cut = self.partial.rfind(BETWEEN).map_or(0, |at| at + 1);
        for cut in [Some(0), Some(cut).filter(|cut| *cut > 0)].into_iter().flatten() {
            let (stem, begun) = self.partial.split_at(cut);
            let pieces = word.match_indices(BETWEEN).map(|(at, _)| &word[at + 1..]);
            let whole = (cut > 0).then_some(word);
            for piece in whole.into_iter().chain(pieces) {
                if !begun.is_empty() && piece.len() > begun.len() && piece.starts_with(begun) {
                    add_to(made, format!("{}{stem}{piece}", self.head), this);
                }
            }
        }
    }
}

fn add_to(made: &mut HashMap<String, Made>, text: String, this: Made) {
    let merge = |known: &mut Made| {
        known.age = known.age.min(this.age);
        known.times += this.times;
        known.same_program |= this.same_program;
        known.same_neighbour |= this.same_neighbour;
        known.with_tail &= this.with_tail;
        known.of_a_piece &= this.of_a_piece;
    };
    made.entry(text).and_modify(merge).or_insert(this);
}

/// Distinct lines, latest first, with how many steps ago they ran.
fn recent_lines<'a>(pool: &Pool<'a>) -> impl Iterator<Item = (usize, &'a Line)> + use<'a> {
    let (model, mut seen) = (pool.model, HashSet::new());
    let walk = model.trail.walk(model.trail.last_id(), Link::Stream, REACH).enumerate();
    walk.filter(move |(_, (_, step))| seen.insert(step.line))
        .filter_map(|(age, (_, step))| Some((age, model.lines.get(step.line)?)))
        .filter(|(_, line)| line.text.len() <= LONGEST && line.is_worth_offering())
}

/// Words with where they begin.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    line.split_ascii_whitespace().map(move |word| {
        let at = end + line[end..].find(word).expect("a word is part of its line");
        end = at + word.len();
        (at, word)
    })
}

/// Can stand in another line: no half of a quotation, no line of its own.
fn is_whole(text: &str) -> bool {
    let even = |quote: u8| text.bytes().filter(|byte| *byte == quote).count() % 2 == 0;
    even(b'"') && even(b'\'') && even(b'`') && !text.ends_with('\\') && !text.contains('\n')
}
