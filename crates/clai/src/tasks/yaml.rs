//! The YAML files: Taskfile, docker compose, pre-commit. Read as an outline of keys, which is all that they are asked
//! for; anchors, merges and values over several lines are passed over.

use super::Kind;
use super::project::Project;

pub(super) fn taskfile(project: &mut Project, text: &str) -> Result<(), String> {
    struct Entry {
        name: String,
        description: String,
        hidden: bool,
    }
    let mut entries: Vec<Entry> = Vec::new();
    outline(text, &mut |path, value| match path {
        ["tasks", name] => entries.push(Entry {
            name: (*name).to_owned(),
            description: String::new(),
            hidden: name.contains(['*', '{'])
                || value.contains("internal: true")
                || value.contains("requires:"),
        }),
        ["tasks", _, key] => {
            let Some(entry) = entries.last_mut() else { return };
            match *key {
                "desc" => value.clone_into(&mut entry.description),
                "summary" if entry.description.is_empty() => value.clone_into(&mut entry.description),
                "internal" => entry.hidden |= value == "true",
                // It fails without variables that only the caller can give.
                "requires" => entry.hidden = true,
                _ => {}
            }
        }
        _ => {}
    });
    for entry in entries.iter().filter(|entry| !entry.hidden) {
        project.offer(Kind::Taskfile, "task", &entry.name, &entry.description);
    }
    Ok(())
}

pub(super) fn compose(project: &mut Project, text: &str) -> Result<(), String> {
    let mut services = Vec::new();
    outline(text, &mut |path, _| {
        if let ["services", name] = path
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
        {
            services.push((*name).to_owned());
        }
    });
    if !services.is_empty() {
        project.offer(Kind::Compose, "docker compose", "up", "start all services");
    }
    for service in &services {
        project.offer_as(Kind::Compose, &format!("up {service}"), "docker compose up", service, "");
        project.offer_as(Kind::Compose, &format!("logs {service}"), "docker compose logs -f", service, "");
    }
    Ok(())
}

pub(super) fn pre_commit(project: &mut Project, text: &str) -> Result<(), String> {
    let mut hooks: Vec<(String, String)> = Vec::new();
    outline(text, &mut |path, value| match path {
        ["repos", "-", "hooks", "-", "id"] => hooks.push((value.to_owned(), String::new())),
        ["repos", "-", "hooks", "-", "name"] => {
            if let Some((_, name)) = hooks.last_mut() {
                value.clone_into(name);
            }
        }
        _ => {}
    });
    if !hooks.is_empty() {
        project.offer(Kind::PreCommit, "pre-commit", "run", "all hooks on what is staged");
    }
    for (id, name) in &hooks {
        project.offer(Kind::PreCommit, "pre-commit run --all-files", id, name);
    }
    Ok(())
}

/// Visits every key with the keys above it (`-` for an item of a list) and the value beside it.
fn outline(text: &str, visit: &mut dyn FnMut(&[&str], &str)) {
    let mut path = Path::default();
    let mut value_at = None;
    for line in text.lines() {
        let content = line.trim_start_matches(' ');
        let mut column = line.len() - content.len();
        let content = content.trim_end();
        // A value that began above goes on as long as lines stand deeper than its key.
        if content.is_empty() || value_at.is_some_and(|key| column > key) {
            continue;
        }
        value_at = None;
        if content.starts_with(['#', '%']) || content == "---" {
            continue;
        }
        if content.starts_with('\t') || content == "..." {
            return;
        }
        let mut rest = content;
        while let Some(item) = rest.strip_prefix('-').filter(|item| item.is_empty() || item.starts_with(' '))
        {
            path.enter(2 * column + 1, "-".to_owned());
            let inner = item.trim_start();
            column += rest.len() - inner.len();
            rest = inner;
        }
        let Some((key, value)) = split_key(rest) else { continue };
        path.enter(2 * column, unquote(key));
        let value = scalar(value);
        value_at = (!value.is_empty()).then_some(column);
        // Nothing that we look for lies deeper.
        if let Some(keys) = path.keys(5) {
            visit(&keys, &unquote(value));
        }
    }
}

/// The keys above a line, each with how deep it stands. Items of a list may stand as far left as the key above them:
/// depth is counted in half columns, and they are half a column deeper.
#[derive(Default)]
struct Path(Vec<(usize, String)>);

impl Path {
    fn enter(&mut self, depth: usize, key: String) {
        while self.0.pop_if(|(last, _)| *last >= depth).is_some() {}
        self.0.push((depth, key));
    }

    fn keys(&self, deepest: usize) -> Option<Vec<&str>> {
        (self.0.len() <= deepest).then(|| self.0.iter().map(|(_, key)| key.as_str()).collect())
    }
}

/// `key: value`, where the key may be quoted.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let start = match text.chars().next()? {
        quote @ ('"' | '\'') => text[1..].find(quote)? + 2,
        '[' | '{' | '?' => return None,
        _ => 0,
    };
    let at = start + text[start..].match_indices(':').find(|(at, _)| ends_key(&text[start + at + 1..]))?.0;
    Some((text[..at].trim_end(), &text[at + 1..]))
}

fn ends_key(after: &str) -> bool {
    after.is_empty() || after.starts_with([' ', '\t'])
}

/// The value without its comment, anchor and tag.
fn scalar(text: &str) -> &str {
    let mut text = text.trim();
    while text.starts_with(['&', '!']) {
        text = text.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start());
    }
    if text.starts_with('#') {
        return "";
    }
    if text.starts_with(['"', '\'']) {
        return text;
    }
    text.split(" #").next().unwrap_or_default().trim_end()
}

fn unquote(text: &str) -> String {
    let inside = |quote: char| {
        let inner = text.strip_prefix(quote)?;
        inner.rfind(quote).map(|end| &inner[..end])
    };
    if let Some(inner) = inside('\'') {
        return inner.replace("''", "'");
    }
    match inside('"') {
        // Escapes other than these do not belong into a name, and are refused with their backslash.
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => text.to_owned(),
    }
}
