//! The TOML files: cargo's configuration and manifest, mise, pyproject, tox.

use toml::{Table, Value};

use super::Kind;
use super::project::Project;

pub(super) fn cargo_aliases(project: &mut Project, text: &str) -> Result<(), String> {
    for (name, alias) in entries(&parse(text)?, &["alias"]) {
        project.offer(Kind::Cargo, "cargo", name, &words(alias));
    }
    Ok(())
}

pub(super) fn cargo(project: &mut Project, text: &str) -> Result<(), String> {
    let manifest = parse(text)?;
    let binaries: Vec<&str> = match manifest.get("bin") {
        Some(Value::Array(binaries)) => {
            binaries.iter().filter_map(|binary| binary.get("name").and_then(Value::as_str)).collect()
        }
        _ => Vec::new(),
    };
    for name in ["build", "check", "test"] {
        project.offer(Kind::Cargo, "cargo", name, "");
    }
    match binaries.as_slice() {
        [] | [_] if binaries.len() == 1 || project.has("src/main.rs") => {
            project.offer(Kind::Cargo, "cargo", "run", "");
        }
        several => {
            for name in several {
                project.offer_as(Kind::Cargo, &format!("run {name}"), "cargo run --bin", name, "");
            }
        }
    }
    Ok(())
}

pub(super) fn mise(project: &mut Project, text: &str) -> Result<(), String> {
    for (name, task) in entries(&parse(text)?, &["tasks"]) {
        let detail = |key| task.get(key).and_then(Value::as_str);
        if task.get("hide").and_then(Value::as_bool) == Some(true) {
            continue;
        }
        let description =
            detail("description").or_else(|| detail("run")).map_or_else(|| words(task), str::to_owned);
        project.offer(Kind::Mise, "mise run", name, &description);
    }
    Ok(())
}

pub(super) fn pyproject(project: &mut Project, text: &str) -> Result<(), String> {
    let config = parse(text)?;
    for (name, task) in entries(&config, &["tool", "poe", "tasks"]) {
        let detail = |key| task.get(key).and_then(Value::as_str);
        // Poe's own mark for what only other tasks call.
        if !name.starts_with('_') {
            let description =
                detail("help").or_else(|| detail("cmd")).map_or_else(|| words(task), str::to_owned);
            project.offer(Kind::Poe, "poe", name, &description);
        }
    }
    for (name, script) in entries(&config, &["tool", "poetry", "scripts"]) {
        project.offer(Kind::Poetry, "poetry run", name, &words(script));
    }
    if let Some(config) = config.get("tool").and_then(|tool| tool.get("tox")).and_then(Value::as_table) {
        tox_environments(project, config);
    }
    Ok(())
}

pub(super) fn tox(project: &mut Project, text: &str) -> Result<(), String> {
    tox_environments(project, &parse(text)?);
    Ok(())
}

fn tox_environments(project: &mut Project, config: &Table) {
    for (name, environment) in entries(config, &["env"]) {
        let description = environment.get("description").and_then(Value::as_str);
        project.offer(Kind::Tox, "tox -e", name, description.unwrap_or_default());
    }
    if let Some(Value::Array(names)) = config.get("env_list") {
        for name in names.iter().filter_map(Value::as_str) {
            project.offer(Kind::Tox, "tox -e", name, "");
        }
    }
}

fn parse(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// The entries of the table at `path`; none if there is no such table.
fn entries<'t>(table: &'t Table, path: &[&str]) -> impl Iterator<Item = (&'t String, &'t Value)> {
    let deeper = |table: &'t Table, key: &&str| table.get(*key).and_then(Value::as_table);
    path.iter().try_fold(table, deeper).into_iter().flatten()
}

/// A string, or strings one after the other.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}
