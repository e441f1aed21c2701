//! Settings in JSON as a person might keep them: any style, comments, trailing commas, hooks of their own.

use proptest::collection::vec;
use proptest::prelude::*;

/// The events that a client's settings may already have hooks for.
pub(crate) struct Client {
    events: &'static [&'static str],
}

pub(crate) const CLAUDE: Client =
    Client { events: &["PreToolUse", "PostToolUse", "SessionStart", "PreCompact", "Stop", "hooks"] };
pub(crate) const GEMINI: Client =
    Client { events: &["BeforeTool", "AfterTool", "SessionStart", "PreCompress"] };

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    /// Texts that occur once, and what a person makes of them.
    pub(crate) edits: Vec<(String, String)>,
    /// What a person writes at the end.
    pub(crate) suffix: &'static str,
}

pub(crate) fn document(client: &'static Client) -> impl Strategy<Value = Document> {
    (settings(client), vec(any::<u8>(), 1..200))
        .prop_map(|(value, dice)| Writer::write(&value, dice, Extras::All))
}

/// Neither comments nor trailing commas, so that any JSON parser can read it.
pub(crate) fn plain_document(client: &'static Client) -> impl Strategy<Value = Document> {
    (settings(client), vec(any::<u8>(), 1..200))
        .prop_map(|(value, dice)| Writer::write(&value, dice, Extras::None))
}

#[derive(Debug, Clone)]
enum Json {
    Word(&'static str),
    /// A string, made unique when it is written.
    Text(&'static str),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

fn settings(client: &'static Client) -> impl Strategy<Value = Json> {
    let members = vec((name(), anything()), 0..5);
    let hooks = proptest::option::weighted(0.7, hooks(client));
    let servers = proptest::option::of(vec((name(), anything()), 0..3).prop_map(Json::Object));
    (members, hooks, servers, any::<usize>()).prop_map(|(mut members, hooks, servers, at)| {
        let known = [("hooks", hooks), ("mcpServers", servers)];
        for (name, value) in known.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            members.insert(at % (members.len() + 1), (name.to_owned(), value));
        }
        Json::Object(members)
    })
}

fn hooks(client: &'static Client) -> impl Strategy<Value = Json> {
    let command = Json::Object(vec![
        ("type".to_owned(), Json::Text("command")),
        ("command".to_owned(), Json::Text("run me")),
    ]);
    let group = (any::<bool>(), 0..3usize).prop_map(move |(matches, count)| {
        let mut group = vec![("hooks".to_owned(), Json::List(vec![command.clone(); count]))];
        if matches {
            group.insert(0, ("matcher".to_owned(), Json::Text("Read")));
        }
        Json::Object(group)
    });
    let event = proptest::sample::select(client.events).prop_map(str::to_owned);
    vec((event, vec(group, 0..3).prop_map(Json::List)), 0..4).prop_map(Json::Object)
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(&["model", "env", "a b", "é", "x", "$schema", "permissions"][..])
        .prop_map(str::to_owned)
}

fn anything() -> impl Strategy<Value = Json> {
    let words =
        proptest::sample::select(&["1", "-2.5e3", "true", "null", "\"\\u00e9\\n\""][..]).prop_map(Json::Word);
    let texts = proptest::sample::select(&["", "// no ", "a, b]", "}{", "/* ", "日本 ", "# "][..])
        .prop_map(Json::Text);
    prop_oneof![words, texts].prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::List),
            vec((name(), inner), 0..4).prop_map(Json::Object),
        ]
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extras {
    All,
    None,
}

/// Writes a value in a style that the dice decide.
struct Writer {
    out: String,
    dice: Vec<u8>,
    thrown: usize,
    extras: Extras,
    newline: &'static str,
    unit: &'static str,
    gap: &'static str,
    edits: Vec<(String, String)>,
}

impl Writer {
    fn write(value: &Json, dice: Vec<u8>, extras: Extras) -> Document {
        let mut writer = Writer {
            out: String::new(),
            dice,
            thrown: 0,
            extras,
            newline: "\n",
            unit: "  ",
            gap: " ",
            edits: Vec::new(),
        };
        writer.newline = writer.pick(&["\n", "\n", "\r\n"]);
        writer.unit = writer.pick(&["  ", "    ", "\t", ""]);
        writer.gap = writer.pick(&[" ", ""]);
        let mark = writer.pick(&["", "", "", "\u{feff}"]);
        let around = writer.pick(&["", "", "\n", "  "]);
        writer.out = format!("{mark}{around}");
        writer.trivia();
        let minified = writer.throw(4) == 0;
        writer.value(value, 0, minified);
        writer.trivia();
        let end = writer.pick(&["\n", "", "\r\n", " \n\n"]);
        writer.out.push_str(end);
        let suffix = writer.pick(&["", "\n// later\n", " /* later */", "\r\n"]);
        Document { text: writer.out, edits: writer.edits, suffix }
    }

    fn value(&mut self, value: &Json, depth: usize, minified: bool) {
        match value {
            Json::Word(word) => self.out.push_str(word),
            Json::Text(text) => {
                let text = self.unique(text);
                self.out.push_str(&format!("\"{text}\""));
            }
            Json::List(items) => {
                self.list('[', ']', items.len(), depth, minified, |writer, index, minified| {
                    writer.value(&items[index], depth + 1, minified);
                    writer.perhaps_grow(&items[index], ", \"grown\"");
                });
            }
            Json::Object(members) => {
                self.list('{', '}', members.len(), depth, minified, |writer, index, minified| {
                    let (name, value) = &members[index];
                    let gap = if minified { "" } else { writer.gap };
                    writer.out.push_str(&format!("\"{name}\":{gap}"));
                    writer.value(value, depth + 1, minified);
                    writer.perhaps_grow(value, ",\n  \"grown\": [ 1 ]");
                });
            }
        }
    }

    fn list(
        &mut self,
        open: char,
        close: char,
        count: usize,
        depth: usize,
        minified: bool,
        mut item: impl FnMut(&mut Writer, usize, bool),
    ) {
        let minified = minified || self.throw(6) == 0;
        let in_lines = !minified && self.throw(5) > 0;
        self.out.push(open);
        for index in 0..count {
            self.space(depth + 1, in_lines, minified);
            item(self, index, minified);
            if !minified {
                self.trivia();
            }
            if index + 1 < count || self.extras == Extras::All && self.throw(5) == 0 {
                self.out.push(',');
            }
            if !minified {
                self.trivia();
            }
        }
        if count > 0 || self.throw(3) == 0 {
            self.space(depth, in_lines, minified);
        }
        self.out.push(close);
    }

    fn space(&mut self, depth: usize, in_lines: bool, minified: bool) {
        if in_lines {
            self.out.push_str(self.newline);
            self.out.push_str(&self.unit.repeat(depth));
        } else if !minified {
            let gap = self.pick(&["", " "]);
            self.out.push_str(gap);
        }
    }

    fn trivia(&mut self) {
        if self.extras == Extras::None || self.throw(8) > 0 {
            return;
        }
        let words = self.unique("note, ] } ");
        let newline = self.newline;
        let comment = match self.throw(4) {
            0 => format!(" // {words}  {newline}"),
            1 => format!("/* {words} */"),
            2 => format!(" /* {words}{newline} // */ "),
            _ => format!("{newline}{newline}"),
        };
        self.out.push_str(&comment);
    }

    /// Words that occur once, and that a person may change later.
    fn unique(&mut self, words: &str) -> String {
        let unique = format!("{words}u{}u", self.out.len());
        if self.throw(3) == 0 {
            self.edits.push((unique.clone(), format!("{unique} and more, {{")));
        }
        unique
    }

    /// A person may add something behind a text later.
    fn perhaps_grow(&mut self, value: &Json, more: &str) {
        if matches!(value, Json::Text(_)) && self.throw(3) == 0 {
            let start = self.out[..self.out.len() - 1].rfind('"').unwrap();
            let text = self.out[start..].to_owned();
            if self.edits.iter().all(|(old, _)| !text.contains(old.as_str())) {
                self.edits.push((text.clone(), format!("{text}{more}")));
            }
        }
    }

    fn throw(&mut self, sides: u8) -> u8 {
        self.thrown += 1;
        self.dice[self.thrown % self.dice.len()] % sides
    }

    fn pick(&mut self, among: &[&'static str]) -> &'static str {
        among[usize::from(self.throw(among.len() as u8))]
    }
}
