//! What a model holds of one file: lines by their numbers, all of one version. Each result in the window changes it.

use conversation::tools::Task;
use drip::ledger::{Extent, View};
use drip::lines::{Ranges, Span, Text};
use drip::reader::Reader;
use llm::{Call, CallId};

use super::told::{Ending, Told, What};
use crate::page::{Form, Page, Tag};
use crate::tools::edit;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    /// The lines of the version, those that were never shown `None`.
    lines: Vec<Option<String>>,
    pub(super) form: Form,
    pub(super) tag: Tag,
    /// The results without which none of this would be known.
    pub(super) from: Vec<CallId>,
}

impl Held {
    /// What is held after one more result. Of one that cannot be read back, only the version that it spoke of.
    pub(super) fn after(before: Option<Held>, call: &Call, told: &Told, body: &str) -> Held {
        let before = before.filter(|held| held.form == told.form);
        let mut now =
            Held::grown(before, call, told, body).unwrap_or_else(|| Held::new(told, vec![None; told.count]));
        now.from.push(call.id.clone());
        now
    }

    fn grown(before: Option<Held>, call: &Call, told: &Told, body: &str) -> Option<Held> {
        match &told.what {
            What::Whole => Some(Held::new(told, read_numbered(body, Span::new(1, told.count), told)?)),
            What::Part(span) => {
                Some(Held::part(before, told, *span, read_numbered(body, Some(*span), told)?))
            }
            What::Same => before.filter(|held| held.tag == told.tag),
            What::SamePart(span) => Some(before?.only(*span, told)),
            What::Changes => before?.changed(told, body),
            What::Created => Held::created(call, told),
            What::Edited { base, old, new } => {
                let before = before.filter(|held| held.tag == *base)?;
                before.replaced(call, told).or_else(|| before.moved(told, old, new))
            }
            What::EditedPlaces { .. } => before?.replaced(call, told),
        }
    }

    /// What these lines are worth to a reader who asks for the file as it is now.
    pub(super) fn view(&self, now: &Page, window: Option<Span>) -> Option<View> {
        let count = now.text.count();
        let asked = match window {
            Some(window) => now.text.clip(window),
            None => now.text.span(),
        };
        let same =
            |number: usize| self.lines.get(number - 1).and_then(Option::as_deref) == now.text.line(number);
        if asked.is_none_or(|asked| (asked.first..=asked.last).all(same)) && self.lines.len() == count {
            let shown: Ranges =
                (1..=count).filter(|number| same(*number)).filter_map(|line| Span::new(line, line)).collect();
            return Some(View::lines(now.text.clone(), shown, Extent::ToTheEnd));
        }
        Some(View::whole(Text::new(self.text()?)))
    }

    fn new(told: &Told, lines: Vec<Option<String>>) -> Held {
        Held { lines, form: told.form, tag: told.tag.clone(), from: Vec::new() }
    }

    fn whole(told: &Told, text: &str) -> Option<Held> {
        let page = Page::new(text, told.form);
        let lines = || page.text.lines().into_iter().map(|line| Some(line.to_owned())).collect();
        (page.tag() == told.tag).then(|| Held::new(told, lines()))
    }

    /// The whole text, if there is no gap in it.
    fn text(&self) -> Option<String> {
        self.lines.iter().map(Option::as_deref).collect()
    }

    /// Some lines were shown. Lines of an older version are not mixed with them: their numbers may have moved.
    fn part(before: Option<Held>, told: &Told, span: Span, shown: Vec<Option<String>>) -> Held {
        let same = before.filter(|held| held.tag == told.tag && held.lines.len() == told.count);
        let mut held = same.unwrap_or_else(|| Held::new(told, vec![None; told.count]));
        for (line, shown) in held.lines[span.first - 1..].iter_mut().zip(shown) {
            *line = shown;
        }
        held
    }

    /// Some lines are as they were. If the file is another version, nobody said that of its other lines.
    fn only(mut self, span: Span, told: &Told) -> Held {
        if self.tag != told.tag {
            for (index, line) in self.lines.iter_mut().enumerate() {
                if !span.contains(index + 1) {
                    *line = None;
                }
            }
            self.lines.resize(told.count, None);
            self.tag = told.tag.clone();
        }
        self
    }

    fn changed(self, told: &Told, body: &str) -> Option<Held> {
        let mut reader = Reader::default();
        reader.take_whole(&self.text()?);
        // The first line is ours, and the last line's end was taken with the line that told.
        let (_, delta) = body.split_once('\n')?;
        if !is_about(delta, self.lines.len()) {
            return None;
        }
        reader.take_delta(&format!("{delta}\n")).ok()?;
        let held = Held::whole(told, &reader.text()?)?;
        Some(Held { from: self.from, ..held })
    }

    fn created(call: &Call, told: &Told) -> Option<Held> {
        let made = edit::Arguments::of(&task(call)?).ok()?;
        Held::whole(told, Page::of(&made.new_str).text.as_str())
    }

    /// The model's own edit, done again on what it holds; the tag says whether that is what became of the file.
    fn replaced(&self, call: &Call, told: &Told) -> Option<Held> {
        let wanted = edit::Arguments::of(&task(call)?).ok()?;
        let replaced = edit::replace(&Page::new(&self.text()?, self.form), &wanted).ok()?;
        let held = Held::whole(told, replaced.page.text.as_str())?;
        Some(Held { from: self.from.clone(), ..held })
    }

    /// An edit somewhere in a file of which only some lines are held: those behind it have moved.
    fn moved(
        mut self,
        told: &Told,
        old: &std::ops::Range<usize>,
        new: &std::ops::Range<usize>,
    ) -> Option<Held> {
        self.lines.get(old.clone())?;
        self.lines.splice(old.clone(), vec![None; new.len()]);
        self.tag = told.tag.clone();
        (self.lines.len() == told.count).then_some(self)
    }
}

fn task(call: &Call) -> Option<Task> {
    Some(Task { id: call.id.clone(), name: call.name.clone(), arguments: call.input.object()? })
}

/// Whether a unified diff speaks of no line beyond so many: whoever changed our words shall not make us reserve more.
fn is_about(delta: &str, count: usize) -> bool {
    let mut heads = delta.split('\n').filter_map(|line| line.strip_prefix("@@ -"));
    let first = |head: &str| head.split(',').next().and_then(|digits| digits.parse::<usize>().ok());
    delta.starts_with("--- ") && heads.all(|head| first(head).is_some_and(|first| first <= count))
}

/// The lines of a span as they were shown with their numbers.
fn read_numbered(body: &str, span: Option<Span>, told: &Told) -> Option<Vec<Option<String>>> {
    let Some(span) = span else { return body.is_empty().then(Vec::new) };
    let mut lines = Vec::with_capacity(span.count());
    for (line, number) in body.split('\n').zip(span.first..) {
        let text = line.strip_prefix(&number.to_string())?.strip_prefix(": ")?;
        let bare = number == told.count && told.ending == Ending::Bare;
        lines.push(Some(if bare { text.to_owned() } else { format!("{text}\n") }));
    }
    (lines.len() == span.count() && span.last <= told.count).then_some(lines)
}
