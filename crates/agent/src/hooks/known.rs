//! Our tools in the words of Claude Code, whose hooks know files by `file_path` and edits by `old_string`, and back. Pure.

use std::path::Path;

use serde_json::{Map, Value};

/// A tool of ours that hooks know.
struct Known {
    ours: &'static str,
    theirs: &'static str,
    /// Arguments that have another name there: ours, theirs.
    renamed: &'static [(&'static str, &'static str)],
}

const KNOWN: &[Known] = &[
    Known { ours: "read_file", theirs: "Read", renamed: &[("path", "file_path")] },
    Known {
        ours: "edit_file",
        theirs: "Edit",
        renamed: &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")],
    },
    Known { ours: "bash", theirs: "Bash", renamed: &[] },
    Known { ours: "list_files", theirs: "LS", renamed: &[] },
    Known { ours: "code_search", theirs: "Grep", renamed: &[("file_type", "type")] },
    Known { ours: "task", theirs: "Task", renamed: &[] },
];

/// The name that hooks know; ours if they know none.
pub(crate) fn name(ours: &str) -> &str {
    known(ours).map_or(ours, |known| known.theirs)
}

/// The arguments as hooks know them; a file is told by its whole path.
pub(crate) fn input(ours: &str, arguments: &Map<String, Value>, project: &Path) -> Map<String, Value> {
    let pairs = known(ours).map_or(&[][..], |known| known.renamed);
    renamed(arguments, |key| pairs.iter().find(|(our, _)| *our == key).map(|(_, their)| *their))
        .into_iter()
        .map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("file_path" | "path", Some(path)) => (key, project.join(path).display().to_string().into()),
            _ => (key, value),
        })
        .collect()
}

/// Arguments that a hook gave, in our words.
pub(crate) fn arguments(ours: &str, input: &Map<String, Value>) -> Map<String, Value> {
    let pairs = known(ours).map_or(&[][..], |known| known.renamed);
    renamed(input, |key| pairs.iter().find(|(_, their)| *their == key).map(|(our, _)| *our))
}

fn known(ours: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.ours == ours)
}

fn renamed(from: &Map<String, Value>, other: impl Fn(&str) -> Option<&'static str>) -> Map<String, Value> {
    from.iter().map(|(key, value)| (other(key).unwrap_or(key).to_owned(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_is_told_as_hooks_know_it_and_taken_back() {
        let ours = json!({"path": "src/a.rs", "old_str": "a", "new_str": "b"});
        let ours = ours.as_object().unwrap();
        let theirs = input("edit_file", ours, Path::new("/p"));
        assert_eq!(json!(theirs), json!({"file_path": "/p/src/a.rs", "old_string": "a", "new_string": "b"}));
        let back = arguments("edit_file", &theirs);
        assert_eq!(json!(back), json!({"path": "/p/src/a.rs", "old_str": "a", "new_str": "b"}));
        assert_eq!((name("edit_file"), name("mcp__x__y")), ("Edit", "mcp__x__y"));
    }
}
