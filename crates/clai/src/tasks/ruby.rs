//! Tasks of a Rakefile, with the namespaces they are in.

use super::Kind;
use super::project::Project;

/// Deeper than this nobody nests, except to cost us time.
const DEEPEST: usize = 32;

pub(super) fn rake(project: &mut Project, text: &str) -> Result<(), String> {
    // Where a namespace begins, and its name; it ends with an `end` of the same depth.
    let mut spaces: Vec<(usize, &str)> = Vec::new();
    let mut description = "";
    for line in text.lines() {
        let content = line.trim_start();
        let column = line.len() - content.len();
        let (word, rest) = content.split_once([' ', '(']).unwrap_or((content.trim_end(), ""));
        match word {
            "end" => while spaces.pop_if(|(start, _)| *start >= column).is_some() {},
            "desc" => description = string(rest).unwrap_or_default(),
            "namespace" if spaces.len() < DEEPEST => spaces.extend(name(rest).map(|name| (column, name))),
            "task" | "multitask" => {
                if let Some(name) = name(rest) {
                    let full: String =
                        spaces.iter().flat_map(|(_, space)| [space, ":"]).chain([name]).collect();
                    project.offer(Kind::Rake, "rake", &full, description);
                }
                description = "";
            }
            _ => {}
        }
    }
    Ok(())
}

/// `:name`, `"name"`, or `name:` with what it depends on.
fn name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(name) = string(text) {
        return Some(name);
    }
    let symbol = text.strip_prefix(':');
    let text = symbol.unwrap_or(text);
    let end =
        text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '?' && c != '!').unwrap_or(text.len());
    let is_named = end > 0 && (symbol.is_some() || text[end..].starts_with(':'));
    is_named.then_some(&text[..end])
}

/// The string that `text` begins with, if nothing in it has to be evaluated.
fn string(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..]
        .split_once(quote)
        .map(|(inner, _)| inner)
        .filter(|inner| !inner.contains("#{") && !inner.contains('\\'))
}
