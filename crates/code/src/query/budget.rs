//! How much of an answer fits. Nothing is left out without saying so, and never more is given than was asked for.

use serde::Serialize;

/// What was left out of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cut {
    pub truncated: bool,
    /// How long the whole list is.
    pub total: usize,
    /// Where to go on, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// Which part of a list is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Page {
    /// The first item.
    pub offset: usize,
    pub max_tokens: Option<u64>,
}

/// An answer whose bulk is a list.
pub trait Answer: Serialize {
    /// How many items its list has.
    fn count(&self) -> usize;

    /// The size of one item in JSON, in bytes.
    fn weight(&self, item: usize) -> usize;

    /// Keeps `count` items from `from` on, and says what was left out.
    fn keep(&mut self, from: usize, count: usize, cut: Cut);

    /// For people.
    fn text(&self) -> String;
}

/// The answer within its budget: whole items from the page's offset on, as many as fit.
pub fn fit<A: Answer + Clone>(answer: A, page: Page) -> A {
    let total = answer.count();
    let from = page.offset.min(total);
    let Some(tokens) = page.max_tokens else { return kept(answer, from, total - from) };
    let room = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
    let weights: Vec<usize> = (0..total).map(|item| answer.weight(item) + 1).collect();
    // What is left of the whole when all items are taken out, and room for the words that say what is missing.
    let envelope = size(&answer).saturating_sub(weights.iter().sum()) + CUT;
    let mut left = room.saturating_sub(envelope);
    let fits = weights[from..].iter().take_while(|weight| {
        let goes = **weight <= left;
        left = left.saturating_sub(**weight);
        goes
    });
    let mut count = fits.count();
    // Weights are estimates where items share something; what is given is measured.
    loop {
        let given = kept(answer.clone(), from, count);
        if count == 0 || size(&given) <= room {
            return given;
        }
        count -= count.div_ceil(16);
    }
}

fn kept<A: Answer>(mut answer: A, from: usize, count: usize) -> A {
    let total = answer.count();
    let end = from + count;
    let next = (end < total).then_some(end);
    answer.keep(from, count, Cut { truncated: next.is_some() || from > 0, total, next });
    answer
}

/// `"next":` and two numbers that have grown.
const CUT: usize = 48;

/// The bytes of a value in JSON.
pub(crate) fn size<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// The line that tells people what they do not see.
pub(crate) fn tail(cut: &Cut) -> String {
    match cut.next {
        Some(next) => format!("… {} in all, more from {next}\n", kit::text::thousands(cut.total as u64)),
        None => String::new(),
    }
}

/// Answers whose list is a field: all but the words are the same.
macro_rules! list_answer {
    ($name:ident, $list:ident, |$answer:ident| $text:expr) => {
        impl crate::query::Answer for $name {
            fn count(&self) -> usize {
                self.$list.len()
            }

            fn weight(&self, item: usize) -> usize {
                crate::query::budget::size(&self.$list[item])
            }

            fn keep(&mut self, from: usize, count: usize, cut: crate::query::Cut) {
                self.$list.truncate(from + count);
                self.$list.drain(..from);
                self.cut = cut;
            }

            fn text(&self) -> String {
                let $answer = self;
                $text
            }
        }
    };
}

pub(crate) use list_answer;
