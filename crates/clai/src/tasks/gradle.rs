//! Tasks that a Gradle build script declares, in Groovy or Kotlin, and those of the plugins everybody has.

use super::Kind;
use super::project::Project;

pub(super) fn parse(project: &mut Project, text: &str) -> Result<(), String> {
    let command = if project.has("gradlew") { "./gradlew" } else { "gradle" };
    let mut declared: Vec<(String, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("//") || line.starts_with('*') {
            continue;
        }
        if let Some(name) = declaration(line) {
            declared.push((name.to_owned(), String::new()));
        }
        if let Some(at) = line.find("description")
            && let Some((_, description)) = declared.last_mut()
            && let Some(text) = literal(line[at + "description".len()..].trim_start_matches([' ', '=', '(']))
        {
            text.clone_into(description);
        }
    }
    for (name, description) in &declared {
        project.offer(Kind::Gradle, command, name, description);
    }
    let plugin = |name: &str| text.lines().any(|line| applies(line.trim(), name));
    if ["java", "java-library", "application", "kotlin", "groovy", "scala"].into_iter().any(plugin) {
        for name in ["build", "test", "check"] {
            project.offer(Kind::Gradle, command, name, "");
        }
    }
    if plugin("application") {
        project.offer(Kind::Gradle, command, "run", "");
    }
    Ok(())
}

/// `task name`, `tasks.register("name")`, `tasks.create('name')`, `val name by tasks.registering`.
fn declaration(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("task ") {
        let rest = rest.trim_start();
        return literal(rest).or_else(|| identifier(rest));
    }
    if let Some((before, _)) =
        line.split_once(" by tasks.registering").or_else(|| line.split_once(" by tasks.creating"))
    {
        return identifier(before.strip_prefix("val ")?.trim_start());
    }
    let (_, rest) = line.split_once("tasks.register").or_else(|| line.split_once("tasks.create"))?;
    // The type of the task, `<Copy>`, is not asked for.
    let rest = if rest.starts_with('<') { rest.split_once('>')?.1 } else { rest };
    literal(rest.strip_prefix(['(', ' '])?)
}

fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then_some(&text[..end])
}

/// The string that `text` begins with, if nothing in it has to be evaluated.
fn literal(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(inner, _)| inner).filter(|inner| !inner.contains(['$', '\\']))
}

/// Whether a line names the plugin in one of the ways there are: `id 'java'`, `id("java")`, `java`, `` `java-library` ``,
/// `apply plugin: 'java'`, `kotlin("jvm")`, `id "org.jetbrains.kotlin.jvm"`.
fn applies(line: &str, plugin: &str) -> bool {
    if line == plugin || line.trim_matches('`') == plugin {
        return true;
    }
    if plugin == "kotlin" {
        return line.starts_with("kotlin(\"") || line.contains("org.jetbrains.kotlin.");
    }
    let names = line.strip_prefix("id").or_else(|| line.strip_prefix("apply plugin:"));
    names.is_some_and(|rest| literal(rest.trim_start_matches([' ', '('])) == Some(plugin))
}
