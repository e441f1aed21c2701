//! Test environments of tox and sessions of nox.

use super::Kind;
use super::project::Project;

pub(super) fn tox(project: &mut Project, text: &str) -> Result<(), String> {
    let mut environments: Vec<(String, String)> = Vec::new();
    let mut listed = Vec::new();
    let (mut section, mut key) = ("", "");
    for line in text.lines() {
        let content = line.split(" #").next().unwrap_or_default().trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        let mut value = content;
        if let Some(header) = content.strip_prefix('[').and_then(|header| header.strip_suffix(']')) {
            (section, key) = (header.trim(), "");
            if let Some(name) = section.strip_prefix("testenv:") {
                environments.push((name.to_owned(), String::new()));
            }
            continue;
        } else if !line.starts_with([' ', '\t'])
            && let Some((name, rest)) = content.split_once('=')
        {
            (key, value) = (name.trim(), rest.trim());
        }
        match (section, key) {
            ("tox", "envlist" | "env_list") => listed.extend(value.split([',', ' ']).map(str::to_owned)),
            (section, "description") if section.starts_with("testenv:") => {
                let text = environments.last_mut().map(|(_, text)| text);
                text.into_iter().filter(|text| text.is_empty()).for_each(|text| value.clone_into(text));
            }
            _ => {}
        }
    }
    environments.extend(listed.into_iter().map(|name| (name, String::new())));
    for (name, description) in &environments {
        // `py{310,311}` stands for several.
        if !name.contains(['{', '}']) {
            project.offer(Kind::Tox, "tox -e", name, description);
        }
    }
    Ok(())
}

pub(super) fn nox(project: &mut Project, text: &str) -> Result<(), String> {
    let mut decorator: Option<String> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("@nox.session") || line.starts_with("@session") {
            decorator = Some(line.to_owned());
        } else if let Some(function) = line.strip_prefix("def ").or_else(|| line.strip_prefix("async def ")) {
            let Some(decorator) = decorator.take() else { continue };
            let name = decorator.split_once("name=").and_then(|(_, rest)| literal(rest));
            let name = name.unwrap_or_else(|| function.split('(').next().unwrap_or_default().trim());
            let doc = lines.peek().map_or("", |line| line.trim());
            let doc = doc.strip_prefix("\"\"\"").or_else(|| doc.strip_prefix("'''")).unwrap_or_default();
            project.offer(Kind::Nox, "nox -s", name, doc.trim_end_matches(['"', '\'']));
        } else if let Some(decorator) = &mut decorator {
            // Its arguments may go on over several lines.
            decorator.push_str(line.trim());
        }
    }
    Ok(())
}

/// The string that `text` begins with.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(inner, _)| inner).filter(|inner| !inner.contains('\\'))
}
