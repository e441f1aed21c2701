//! The JSON files: package.json, deno.json, composer.json.

use serde_json::{Map, Value};

use super::Kind;
use super::project::Project;

pub(super) fn package(project: &mut Project, text: &str) -> Result<(), String> {
    let package = parse(text)?;
    let (kind, command) = runner(project, &package);
    let Some(scripts) = object(&package, "scripts") else { return Ok(()) };
    for (name, script) in scripts {
        // `prebuild` runs by itself before `build`; `//` is how people comment.
        let base = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
        if base.is_some_and(|base| scripts.contains_key(base)) || name.starts_with("//") {
            continue;
        }
        if let Value::String(script) = script {
            project.offer(kind, command, name, script);
        }
    }
    Ok(())
}

/// Who runs the scripts: as the package says, else whose lock file is there.
fn runner(project: &mut Project, package: &Value) -> (Kind, &'static str) {
    const RUNNERS: &[(&str, &[&str], Kind, &str)] = &[
        ("pnpm", &["pnpm-lock.yaml"], Kind::Pnpm, "pnpm run"),
        ("yarn", &["yarn.lock"], Kind::Yarn, "yarn run"),
        ("bun", &["bun.lock", "bun.lockb"], Kind::Bun, "bun run"),
        ("npm", &["package-lock.json", "npm-shrinkwrap.json"], Kind::Npm, "npm run"),
    ];
    let named =
        package.get("packageManager").and_then(Value::as_str).and_then(|named| named.split('@').next());
    let by_name = RUNNERS.iter().find(|(name, ..)| named == Some(*name));
    let found =
        by_name.or_else(|| RUNNERS.iter().find(|(_, locks, ..)| locks.iter().any(|lock| project.has(lock))));
    found.map_or((Kind::Npm, "npm run"), |(_, _, kind, command)| (*kind, command))
}

pub(super) fn deno(project: &mut Project, text: &str) -> Result<(), String> {
    let config = parse(&without_comments(text))?;
    for (name, task) in object(&config, "tasks").into_iter().flatten() {
        let detail = |key| task.get(key).and_then(Value::as_str);
        let description = task.as_str().or_else(|| detail("description")).or_else(|| detail("command"));
        project.offer(Kind::Deno, "deno task", name, description.unwrap_or_default());
    }
    Ok(())
}

pub(super) fn composer(project: &mut Project, text: &str) -> Result<(), String> {
    let config = parse(text)?;
    let descriptions = object(&config, "scripts-descriptions");
    for (name, script) in object(&config, "scripts").into_iter().flatten() {
        // Events of composer itself, not to be called.
        if name.starts_with("pre-") || name.starts_with("post-") {
            continue;
        }
        let description =
            descriptions.and_then(|texts| texts.get(name)).or(Some(script)).and_then(Value::as_str);
        project.offer(Kind::Composer, "composer run", name, description.unwrap_or_default());
    }
    Ok(())
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn object<'v>(value: &'v Value, key: &str) -> Option<&'v Map<String, Value>> {
    value.get(key).and_then(Value::as_object)
}

/// Comments and commas before a closing bracket become blanks, so that messages still name the right column.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut comma = None;
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'"', ..] => {
                comma = None;
                at = string_end(&bytes, at);
                continue;
            }
            [b'/', b'/', ..] => {
                bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end)
            }
            [b'/', b'*', rest @ ..] => {
                rest.windows(2).position(|two| two == b"*/").map_or(bytes.len(), |end| at + 4 + end)
            }
            [byte, ..] => {
                match (byte, comma) {
                    (b'}' | b']', Some(comma)) => bytes[comma] = b' ',
                    (byte, _) if byte.is_ascii_whitespace() => {
                        at += 1;
                        continue;
                    }
                    _ => {}
                }
                comma = (bytes[at] == b',').then_some(at);
                at += 1;
                continue;
            }
            [] => break,
        };
        bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Behind the closing quote of the string that opens at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
