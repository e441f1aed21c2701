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
    /// At most so many.
    pub max_items: Option<usize>,
    pub max_tokens: Option<u64>,
}

/// An answer whose bulk is a list.
pub trait Answer: Serialize {
    /// How many items its list has.
    fn count(&self) -> usize;

    /// The size of one item in JSON, in bytes.
    fn weight(&self, item: usize) -> usize;

    /// The size of all but its items, in bytes.
    fn envelope(&mut self) -> usize;

    /// Keeps `count` items from `from` on, and says what was left out.
    fn keep(&mut self, from: usize, count: usize, cut: Cut);

    /// Leaves out what is deepest in an item that is larger than `room` bytes, and says so in it. Most are small by nature.
    fn thin(&mut self, _item: usize, _room: usize) {}

    /// For people.
    fn text(&self) -> String;
}

/// The answer within its budget: whole items from the page's offset on, as many as fit, and one at least: whoever goes on
/// from `next` must get somewhere, and is better refused with the size of that one. `written` is the size of an answer in
/// the form it is given in.
pub fn fit<A: Answer>(mut answer: A, page: Page, written: impl Fn(&A) -> usize) -> A {
    let total = answer.count();
    let from = page.offset.min(total);
    let cut = |count: usize| {
        let next = (from + count < total).then_some(from + count);
        Cut { truncated: next.is_some() || from > 0, total, next }
    };
    let most = page.max_items.unwrap_or(usize::MAX).min(total - from);
    let Some(tokens) = page.max_tokens else {
        answer.keep(from, most, cut(most));
        return answer;
    };
    let room = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
    let mut left = room.saturating_sub(answer.envelope() + CUT);
    if most > 0 {
        answer.thin(from, left);
    }
    let mut count = 0;
    while count < most {
        let weight = answer.weight(from + count) + 1;
        if weight > left {
            break;
        }
        left -= weight;
        count += 1;
    }
    count = count.max(1).min(most);
    answer.keep(from, count, cut(count));
    // Weights are estimates where items share something; what is given is measured.
    while count > 1 && written(&answer) > room {
        count -= count.div_ceil(16);
        answer.keep(0, count, cut(count));
    }
    answer
}

/// `"next":` and two numbers that have grown.
const CUT: usize = 48;

/// The bytes of a value in JSON.
pub fn size<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |bytes| bytes.len())
}

/// How many of something, as people say it: `1 file`, `2,000 files`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", kit::text::thousands(number as u64))
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
    ($name:ty, $list:ident, |$answer:ident| $text:expr $(, thin: $thin:path)?) => {
        impl crate::query::Answer for $name {
            fn count(&self) -> usize {
                self.$list.len()
            }

            fn weight(&self, item: usize) -> usize {
                crate::query::budget::size(&self.$list[item])
            }

            fn envelope(&mut self) -> usize {
                let items = std::mem::take(&mut self.$list);
                let size = crate::query::budget::size(self);
                self.$list = items;
                size
            }

            fn keep(&mut self, from: usize, count: usize, cut: crate::query::Cut) {
                self.$list.truncate(from + count);
                self.$list.drain(..from);
                self.cut = cut;
            }

            $(fn thin(&mut self, item: usize, room: usize) {
                $thin(&mut self.$list[item], room);
            })?

            fn text(&self) -> String {
                let $answer = self;
                $text
            }
        }
    };
}

pub(crate) use list_answer;
