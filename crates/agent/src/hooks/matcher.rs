//! Which tools a group of hooks is for: `Edit|Write`, `mcp__.*`, `Notebook.*`. The part of regular expressions that
//! people write here: alternatives, and `.*` for anything. Pure.

/// Whether one of the names is meant. An empty pattern and `*` mean all.
pub(super) fn matches(pattern: &str, names: &[&str]) -> bool {
    let pattern = pattern.trim();
    if pattern.is_empty() || pattern == "*" {
        return true;
    }
    let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
    let pattern = pattern.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(pattern);
    pattern.split('|').any(|one| names.iter().any(|name| fits(one.trim(), name)))
}

fn fits(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split(".*").collect();
    let [first, between @ .., last] = &parts[..] else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn alternatives_and_wildcards_mean_what_they_look_like() {
        let edit = ["Edit", "edit_file"];
        for pattern in [
            "",
            "*",
            ".*",
            "Edit",
            "Edit|Write",
            "Write | Edit",
            "^(Edit|Write)$",
            "edit_file",
            "Ed.*",
            ".*it",
        ] {
            assert!(matches(pattern, &edit), "{pattern}");
        }
        for pattern in ["edit", "Edi", "Write", "Edit.*x", "|", "Ed.*Ed.*it"] {
            assert!(!matches(pattern, &edit), "{pattern}");
        }
        assert!(matches("mcp__.*__read", &["mcp__files__read"]));
    }
}
