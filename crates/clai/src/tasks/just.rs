//! Recipes of a justfile.

use super::Kind;
use super::project::Project;

pub(super) fn parse(project: &mut Project, text: &str) -> Result<(), String> {
    let (mut description, mut is_private) = (String::new(), false);
    let mut in_string = None;
    for line in text.lines() {
        if let Some(mark) = in_string {
            in_string = line.matches(mark).count().is_multiple_of(2).then_some(mark);
            continue;
        }
        // A string over several lines may hold what looks like a recipe.
        in_string = ["'''", "\"\"\""].into_iter().find(|mark| !line.matches(mark).count().is_multiple_of(2));
        if line.starts_with([' ', '\t']) || line.starts_with("#!") {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            description = comment.trim().to_owned();
        } else if line.starts_with('[') {
            is_private |= line.contains("private");
            if let Some(text) = line.split_once("doc(").and_then(|(_, text)| text.split_once(')')) {
                description = text.0.trim_matches(['\'', '"']).to_owned();
            }
        } else {
            if let Some(name) = runnable(line).filter(|name| !is_private && !name.starts_with('_')) {
                project.offer(Kind::Just, "just", name, &description);
            }
            (description, is_private) = (String::new(), false);
        }
    }
    Ok(())
}

/// The name of a recipe that runs without arguments: offering one that needs them would be offering a failure.
fn runnable(line: &str) -> Option<&str> {
    let line = line.strip_prefix('@').unwrap_or(line);
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    let (name, rest) = line.split_at(end);
    let parameters = &rest[..colon(rest)?];
    let is_keyword = matches!(name, "set" | "alias" | "export" | "import" | "mod" | "unexport");
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || is_keyword && !parameters.trim().is_empty() {
        return None;
    }
    let is_optional = |parameter: &str| parameter.contains('=') || parameter.starts_with('*');
    split_outside_quotes(parameters).iter().all(|parameter| is_optional(parameter)).then_some(name)
}

/// Where the colon stands that ends the parameters: not inside quotes or parentheses, and not that of `:=`.
fn colon(text: &str) -> Option<usize> {
    let at = outside_quotes(text).find(|(_, c)| *c == ':')?.0;
    (!text[at + 1..].starts_with('=')).then_some(at)
}

fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in outside_quotes(text) {
        if c.is_whitespace() {
            parts.push(&text[start..at]);
            start = at + c.len_utf8();
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut depth) = (None, 0usize);
    text.char_indices().filter(move |(_, c)| {
        match (quote, c) {
            (Some(open), c) if open == *c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(*c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, _) => return depth == 0,
        }
        false
    })
}
