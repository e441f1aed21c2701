//! Our tools in the words of Claude Code, whose hooks know files by `file_path` and edits by `old_string`, and back. Pure.

use std::path::Path;

use serde_json::{Map, Value};

/// Our name, theirs, and arguments that have another name there.
const NAMES: &[(&str, &str, &[(&str, &str)])] = &[
    ("read_file", "Read", &[("path", "file_path")]),
    ("edit_file", "Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
    ("bash", "Bash", &[]),
    ("list_files", "LS", &[]),
    ("code_search", "Grep", &[("file_type", "type")]),
    ("task", "Task", &[]),
];

/// The name that hooks know; ours if they know none.
pub(crate) fn name(ours: &str) -> &str {
    row(ours).map_or(ours, |(_, theirs, _)| theirs)
}

/// The arguments as hooks know them; a file is told by its whole path.
pub(crate) fn input(ours: &str, arguments: &Map<String, Value>, project: &Path) -> Map<String, Value> {
    renamed(arguments, |key| pair(ours, |(our, _)| *our == key).map(|(_, their)| *their))
        .into_iter()
        .map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("file_path" | "path", Some(path)) => (key, project.join(path).display().to_string().into()),
            _ => (key, value),
        })
        .collect()
}

/// Arguments that a hook gave, in our words.
pub(crate) fn arguments(ours: &str, input: &Map<String, Value>) -> Map<String, Value> {
    renamed(input, |key| pair(ours, |(_, their)| *their == key).map(|(our, _)| *our))
}

fn row(ours: &str) -> Option<&'static (&'static str, &'static str, &'static [(&'static str, &'static str)])> {
    NAMES.iter().find(|(name, _, _)| *name == ours)
}

fn pair(
    ours: &str,
    wanted: impl Fn(&&(&'static str, &'static str)) -> bool,
) -> Option<&'static (&'static str, &'static str)> {
    row(ours).and_then(|(_, _, pairs)| pairs.iter().find(wanted))
}

fn renamed(from: &Map<String, Value>, other: impl Fn(&str) -> Option<&'static str>) -> Map<String, Value> {
    from.iter().map(|(key, value)| (other(key).unwrap_or(key).to_owned(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn an_edit_is_told_as_hooks_know_it_and_taken_back() {
        let ours = object(json!({"path": "src/a.rs", "old_str": "a", "new_str": "b"}));
        let theirs = input("edit_file", &ours, Path::new("/p"));
        assert_eq!(json!(theirs), json!({"file_path": "/p/src/a.rs", "old_string": "a", "new_string": "b"}));
        let back = arguments("edit_file", &theirs);
        assert_eq!(json!(back), json!({"path": "/p/src/a.rs", "old_str": "a", "new_str": "b"}));
        assert_eq!((name("edit_file"), name("mcp__x__y")), ("Edit", "mcp__x__y"));
    }
}
