//! One line for each thing that happens, for people. Pure.

use conversation::tools::Task;
use conversation::turn::Spent;
use kit::text;
use llm::{Outcome, Stop, StopKind, ToolResult};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::tools::{BASH, TASK};

/// How much of an argument or an error is shown.
const EXCERPT: usize = 200;

/// Which argument tells most about a call, by what tools call it.
const TELLING: [&str; 9] =
    ["command", "path", "file_path", "pattern", "description", "query", "name", "prompt", "url"];

/// `  bash cargo test`.
pub(crate) fn summary(task: &Task) -> String {
    let told = |key: &&str| task.arguments.get(*key).and_then(Value::as_str);
    let telling = TELLING.iter().find_map(told).unwrap_or_default();
    let mut line = format!("  {}", text::plain(&task.name));
    if !telling.is_empty() {
        line.push_str(&format!(" {}", excerpt(telling, 100)));
    }
    if let Some(offset) = task.arguments.get("offset").and_then(Value::as_u64) {
        line.push_str(&format!(" from line {offset}"));
    }
    line
}

/// Whether somebody would wonder what is going on: commands, helpers and tools of servers.
pub(super) fn takes_time(task: &Task) -> bool {
    [BASH, TASK].contains(&task.name.as_str()) || task.name.contains("__")
}

/// `(2,104 bytes)`, or what went wrong.
pub(super) fn result(result: &ToolResult) -> String {
    match result.outcome {
        Outcome::Done => format!("({} bytes)", text::thousands(result.content.len() as u64)),
        Outcome::Failed => format!("failed: {}", excerpt(&result.content, EXCERPT)),
    }
}

/// The same of a tool whose output was seen already: only how it ended.
pub(super) fn ending(given: &ToolResult) -> String {
    match (given.outcome, given.content.lines().next_back()) {
        (Outcome::Failed, Some(last)) => format!("failed: {}", excerpt(last, EXCERPT)),
        _ => result(given),
    }
}

/// At most so many characters, on one line.
pub(super) fn excerpt(words: &str, most: usize) -> String {
    let words = text::plain(words.trim());
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Why a reply ended, if not because it was done. Limits are told by the turn.
pub(super) fn stopped(stop: &Stop) -> Option<String> {
    let usual =
        [StopKind::EndTurn, StopKind::ToolUse, StopKind::MaxTokens, StopKind::ContextFull, StopKind::Unknown];
    if usual.contains(&stop.kind) {
        return None;
    }
    let detail =
        stop.detail.as_ref().map_or_else(String::new, |detail| format!(": {}", excerpt(detail, EXCERPT)));
    Some(format!("warning: the model stopped ({}){detail}", text::plain(&stop.literal)))
}

/// `3 requests · 6.2k in (81 % cached) · 0.4k out · $0.0120`.
pub(crate) fn spent(spent: &Spent) -> String {
    let usage = &spent.usage;
    let input = usage.input + usage.cache_read + usage.cache_write;
    let s = if spent.requests == 1 { "" } else { "s" };
    let about = if spent.estimated { "~" } else { "" };
    let mut line = format!("{} request{s}", spent.requests);
    if usage.total() == 0 {
        // Nothing came back that says what it took.
        return line;
    }
    line.push_str(&format!(" · {about}{} in", short(input)));
    if usage.cache_read > 0 {
        line.push_str(&format!(" ({} % cached)", usage.cache_read * 100 / input.max(1)));
    }
    line.push_str(&format!(" · {about}{} out", short(usage.output)));
    if let Some(cost) = usage.cost {
        line.push_str(&format!(" · {cost}"));
    }
    line
}

/// What an edit would change, with two lines around each change. `-` and `+` tell, not the colour.
pub(crate) fn diff(before: &str, after: &str, paint: impl Fn(ChangeTag, &str) -> String) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut out = String::new();
    for (place, group) in diff.grouped_ops(2).iter().enumerate() {
        if place > 0 {
            out.push_str("    …\n");
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = revealed(change.value().trim_end_matches(['\n', '\r']));
            out.push_str(&format!("  {}\n", paint(change.tag(), &format!("{sign} {line}"))));
        }
    }
    out
}

/// What cannot be seen is named: somebody decides by what is shown here.
pub(crate) fn revealed(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        let mut bytes = [0; 4];
        match text::plain_lines(c.encode_utf8(&mut bytes)).is_empty() {
            true => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

fn short(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        _ => format!("{:.1}k", tokens as f64 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use llm::{CallId, Usage};
    use serde_json::json;

    use super::*;

    fn task(name: &str, arguments: &Value) -> Task {
        Task { id: CallId("1".into()), name: name.into(), arguments: arguments.as_object().unwrap().clone() }
    }

    #[test]
    fn a_call_is_told_by_its_most_telling_argument_and_cannot_drive_the_terminal() {
        assert_eq!(
            summary(&task("bash", &json!({"cwd": "x", "command": "cargo\ntest\u{1b}[2J"}))),
            "  bash cargo test[2J"
        );
        assert_eq!(
            summary(&task("read_file", &json!({"path": "a", "offset": 3}))),
            "  read_file a from line 3"
        );
        let long = task("bash", &json!({"command": "ä".repeat(300)}));
        assert_eq!(summary(&long).chars().count(), "  bash ".len() + 101);
    }

    #[test]
    fn a_result_is_its_size_and_a_failure_its_beginning() {
        let told =
            |content: String, outcome| result(&ToolResult { id: CallId("1".into()), content, outcome });
        assert_eq!(told("x".repeat(2104), Outcome::Done), "(2,104 bytes)");
        assert_eq!(told("ö".repeat(300), Outcome::Failed).chars().count(), "failed: ".len() + 201);
    }

    #[test]
    fn what_was_spent_is_one_line() {
        let usage = Usage { input: 1000, cache_read: 3000, output: 5, ..Usage::default() };
        let line = spent(&Spent { requests: 1, usage, ..Spent::default() });
        assert_eq!(line, "1 request · 4.0k in (75 % cached) · 5 out");
        assert_eq!(spent(&Spent { requests: 2, ..Spent::default() }), "2 requests");
    }

    #[test]
    fn a_diff_names_what_cannot_be_seen() {
        let shown = diff("", "if a\u{202e} { // \u{1b}[2J\u{200b}\r\n", |_, line| line.to_owned());
        assert_eq!(shown, "  + if a<U+202E> { // <U+001B>[2J<U+200B>\n");
    }

    #[test]
    fn a_diff_shows_what_changes_and_a_little_around_it() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let after = before.replace("b\n", "B\n").replace("j\n", "");
        let shown = diff(before, &after, |_, line| line.to_owned());
        assert_eq!(shown, "    a\n  - b\n  + B\n    c\n    d\n    …\n    h\n    i\n  - j\n");
    }
}
