//! A model that believes everything it is told about files, and remembers nothing but what stands in its window.
//! Written from the words alone: shares no code with what writes or reads them.

use std::collections::HashMap;

use llm::{Block, Message, Outcome};
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(crate) struct Mind {
    pub(crate) files: HashMap<String, Belief>,
}

/// Lines as they are shown, without their ends; `None` where nothing was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Belief {
    pub(crate) lines: Vec<Option<String>>,
    /// The last line has no end.
    pub(crate) bare: bool,
    /// The version that was spoken of last.
    pub(crate) tag: String,
}

/// What one answer claimed.
#[derive(Debug, PartialEq)]
pub(crate) enum Claim {
    /// Lines first to last were sent.
    Sent(usize, usize),
    /// Lines first to last are as they were.
    Same(usize, usize),
    /// What the model held was changed, and all of it is right now.
    Changes,
    Edited,
    Nothing,
}

impl Mind {
    /// Reads a whole window, as it goes over the wire.
    pub(crate) fn of(messages: &[Message]) -> Mind {
        let mut mind = Mind::default();
        let mut calls: HashMap<String, (String, Map<String, Value>)> = HashMap::new();
        for message in messages {
            match message {
                Message::Assistant(blocks) => {
                    for call in blocks.iter().filter_map(Block::as_call) {
                        let arguments = call.input.object().unwrap_or_default();
                        calls.insert(call.id.0.clone(), (call.name.clone(), arguments));
                    }
                }
                Message::Results(results) => {
                    for result in results.iter().filter(|result| result.outcome == Outcome::Done) {
                        let (name, arguments) = &calls[&result.id.0];
                        mind.hear(name, arguments, &result.content);
                    }
                }
                Message::System(_) | Message::User(_) => {}
            }
        }
        mind
    }

    /// Believes one answer. Panics if it does not fit what is believed.
    pub(crate) fn hear(&mut self, name: &str, arguments: &Map<String, Value>, content: &str) -> Claim {
        if !matches!(name, "read_file" | "edit_file") {
            return Claim::Nothing;
        }
        let lines: Vec<&str> = content.split('\n').collect();
        let Some(last) = lines.last().and_then(|last| last.strip_prefix('[')?.strip_suffix(']')) else {
            return Claim::Nothing;
        };
        let mut fields = last.rsplitn(3, " | ");
        let (Some(tag), Some(words), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            return Claim::Nothing;
        };
        let body = &lines[..lines.len() - 1];
        let bare = words.contains("no newline at the end");
        let words = words.split(", ").next().unwrap();
        let belief = self.files.entry(path.to_owned()).or_default();
        let claim = belief.hear(words, arguments, body);
        if let Claim::Sent(first, last) | Claim::Same(first, last) = claim
            && belief.tag != tag
        {
            // Another version: of its other lines nothing was said.
            let others = belief.lines.iter_mut().enumerate();
            others.filter(|(at, _)| !(first..=last).contains(&(at + 1))).for_each(|(_, line)| *line = None);
        }
        (belief.bare, belief.tag) = (bare, tag.to_owned());
        claim
    }
}

impl Belief {
    fn hear(&mut self, words: &str, arguments: &Map<String, Value>, body: &[&str]) -> Claim {
        if let Some(rest) = words.strip_prefix("unchanged: ") {
            let (first, last, count) = span(rest);
            self.lines.resize(count, None);
            return Claim::Same(first, last);
        }
        if let Some(rest) = words.strip_prefix("changes to ") {
            self.patch(body);
            assert_eq!(self.lines.len(), span(rest).2, "{words}");
            return Claim::Changes;
        }
        let edited = words.strip_prefix("edited ").map(|rest| rest.split_once(' ').unwrap());
        if let Some((base, _)) = edited
            && base != self.tag
        {
            // Of what it was an edit of, nothing is held.
            (self.lines, self.tag) = (Vec::new(), String::new());
        }
        if let Some(rest) = edited.and_then(|(_, rest)| rest.strip_prefix("@@ -")) {
            let (old, rest) = rest.split_once(" +").unwrap();
            let (new, rest) = rest.split_once(" @@ ").unwrap();
            self.edit(arguments, range(old), range(new), span(rest).2);
            return Claim::Edited;
        }
        if words.starts_with("edited ") {
            match self.whole() {
                Some(text) => {
                    self.set(&text.replace(argument(arguments, "old_str"), argument(arguments, "new_str")));
                }
                None => {
                    self.lines.clear();
                    self.lines.resize(span(words.split(": ").nth(1).unwrap()).2, None);
                }
            }
            return Claim::Edited;
        }
        if words.starts_with("created") {
            self.set(argument(arguments, "new_str"));
            return Claim::Edited;
        }
        let (first, last, count) = span(words);
        self.lines.resize(count, None);
        for (number, line) in (first..=last).zip(body) {
            let text = line.strip_prefix(&format!("{number}: ")).expect("lines bear their numbers");
            self.lines[number - 1] = Some(text.to_owned());
        }
        assert_eq!(body.len(), (last + 1).saturating_sub(first), "as many lines as were promised");
        Claim::Sent(first, last)
    }

    /// Everything that is believed, if it is all.
    fn whole(&self) -> Option<String> {
        if self.tag.is_empty() {
            return None;
        }
        let lines: Option<Vec<&str>> = self.lines.iter().map(Option::as_deref).collect();
        let text = lines?.join("\n");
        Some(if self.bare || self.lines.is_empty() { text } else { format!("{text}\n") })
    }

    fn set(&mut self, text: &str) {
        let ended = text.strip_suffix('\n').unwrap_or(text);
        let lines = ended.split('\n').map(|line| Some(line.to_owned()));
        self.lines = if text.is_empty() { Vec::new() } else { lines.collect() };
        self.bare = !text.ends_with('\n');
    }

    /// The model knows what it asked for; of a file it has not read whole, only that what follows has moved.
    fn edit(
        &mut self,
        arguments: &Map<String, Value>,
        old: (usize, usize),
        new: (usize, usize),
        count: usize,
    ) {
        let (from, to) = (argument(arguments, "old_str"), argument(arguments, "new_str"));
        match self.whole() {
            Some(text) if from.is_empty() => self.set(&format!("{text}{to}")),
            Some(text) if text.contains(from) => self.set(&text.replacen(from, to, 1)),
            _ => {
                let end = (old.0 + old.1).min(self.lines.len());
                let start = old.0.min(end);
                self.lines.splice(start..end, vec![None; new.1]);
                self.lines.resize(count, None);
            }
        }
    }

    /// A unified diff. Every line that it names as old must be what is believed.
    fn patch(&mut self, body: &[&str]) {
        let mut moved = 0isize;
        let mut at = 0;
        for line in body.iter().skip_while(|line| !line.starts_with("@@ ")) {
            if let Some(head) = line.strip_prefix("@@ -") {
                let (old, tail) = head.split_once(" +").unwrap();
                let (old, new) = (range(old), range(tail.split_once(" @@").unwrap().0));
                at = (old.0 as isize + moved) as usize;
                moved += new.1 as isize - old.1 as isize;
                continue;
            }
            if line.starts_with("\\ No newline") {
                continue;
            }
            let (sign, text) = line.split_at(1);
            match sign {
                " " => {
                    assert_eq!(self.lines[at].as_deref(), Some(text), "a line around a change is known");
                    at += 1;
                }
                "-" => {
                    assert_eq!(self.lines.remove(at).as_deref(), Some(text), "a line that goes was there");
                }
                "+" => {
                    self.lines.insert(at, Some(text.to_owned()));
                    at += 1;
                }
                _ => panic!("`{line}` is no line of a diff"),
            }
        }
    }
}

fn argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments[name].as_str().unwrap()
}

/// `lines 3-5 of 9` or `9 lines`, as first, last, count.
fn span(words: &str) -> (usize, usize, usize) {
    match words.strip_prefix("lines ") {
        Some(rest) => {
            let (span, count) = rest.split_once(" of ").unwrap();
            let (first, last) = span.split_once('-').unwrap();
            (first.parse().unwrap(), last.parse().unwrap(), count.parse().unwrap())
        }
        None => {
            let count = words.split(' ').next().unwrap().parse().unwrap();
            (1, count, count)
        }
    }
}

/// `3,2` as the place from 0 and the number of lines.
fn range(words: &str) -> (usize, usize) {
    let (start, count) = words.split_once(',').unwrap();
    let (start, count): (usize, usize) = (start.parse().unwrap(), count.parse().unwrap());
    (if count == 0 { start } else { start - 1 }, count)
}
