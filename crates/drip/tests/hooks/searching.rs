//! Searches by the seed's mechanism, and what is left alone by ours.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::claude::{Claude, Mechanism};

fn asked(claude: &Claude, tool: &str, input: Value) -> Option<String> {
    let payload = claude.call("PreToolUse", tool, input);
    let said = claude.hook(&format!("claude-{}", tool.to_lowercase()), &payload).ok().stdout;
    let answer: Value = serde_json::from_str(&said).unwrap();
    let output = &answer["hookSpecificOutput"];
    output["permissionDecisionReason"].as_str().map(|reason| {
        assert_eq!(output["permissionDecision"], "deny");
        reason.to_owned()
    })
}

fn project() -> Claude {
    let claude = Claude::with(Mechanism::Deny);
    claude.home.write("src/x.rs", "fn needle() {}\n");
    claude.home.write("src/a/y.rs", "fn needle() {}\nlet id_rsa: foo = needle;\n");
    claude.home.write("node_modules/z.rs", "fn needle() {}\n");
    claude
}

/// With a program that finds what ripgrep would find there; what ripgrep itself does is tested where it is.
fn project_with_ripgrep() -> Claude {
    let mut claude = project();
    let rg = claude.home.write(
        "bin/rg",
        r#"#!/bin/sh
case "$*" in
*--files-with-matches*needle*) printf 'src/x.rs\0src/a/y.rs\0node_modules/z.rs\0' ;;
*--count*needle*) printf 'src/x.rs\0001\nsrc/a/y.rs\0002\nnode_modules/z.rs\0001\n' ;;
*--json*id_rsa*) printf '%s\n' '{"type":"match","data":{"path":{"text":"src/a/y.rs"},"lines":{"text":"let id_rsa: foo = needle;\n"},"line_number":2}}' ;;
*--json*) echo 'regex parse error' >&2; exit 2 ;;
*) exit 1 ;;
esac
"#,
    );
    fs::set_permissions(rg, fs::Permissions::from_mode(0o755)).unwrap();
    let path: &'static str = claude.path("bin").to_str().unwrap().to_owned().leak();
    claude.env.push(("PATH", path));
    claude
}

/// Scenario L, item 17.
#[test]
fn a_glob_lists_what_it_means_and_says_what_it_hid() {
    let claude = project();
    let said = asked(&claude, "Glob", json!({"pattern": "src/*.rs"})).unwrap();
    let mut lines = said.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("[DRIP: glob filtered via .dripignore | 1 matches | pattern=src/*.rs | root=")
    );
    assert!(lines.next().unwrap().ends_with("/src/x.rs"));
    let said = asked(&claude, "Glob", json!({"pattern": "**/*.rs", "path": claude.home.path()})).unwrap();
    assert!(
        said.contains(" | 2 matches | ")
            && said.ends_with("(ignored: 0 matching files, 1 directories not searched)")
    );
    let said = asked(&claude, "Glob", json!({"pattern": "node_modules/*.rs"})).unwrap();
    assert!(said.contains("\n(no matches)\n"), "{said}");
    assert_eq!(asked(&claude, "Glob", json!({"pattern": "src/[.rs"})), None);
    assert_eq!(asked(&claude, "Glob", json!({"pattern": 7})), None);
}

/// Scenario N, item 18.
#[test]
fn a_grep_loses_no_hit_but_those_that_are_ignored() {
    let claude = project_with_ripgrep();
    let said = asked(&claude, "Grep", json!({"pattern": "needle"})).unwrap();
    assert!(
        said.starts_with(
            "[DRIP: grep filtered via .dripignore | mode=files_with_matches | pattern=needle]\n"
        )
    );
    assert!(said.contains("src/x.rs") && said.contains("src/a/y.rs") && !said.contains("z.rs"));
    assert!(said.ends_with("(ignored: 1 files with hits)"), "{said}");
    let input = json!({"pattern": "id_rsa", "path": "src/a/y.rs", "output_mode": "content", "-n": true});
    let said = asked(&claude, "Grep", input).unwrap();
    assert!(said.ends_with("]\n2:let id_rsa: foo = needle;"), "{said}");
    let input = json!({"pattern": "needle", "output_mode": "count", "head_limit": 1});
    let said = asked(&claude, "Grep", input).unwrap();
    assert!(said.contains("src/a/y.rs:2") && said.contains("(there is more; `offset` goes on)"), "{said}");
    assert_eq!(asked(&claude, "Grep", json!({"pattern": "(", "output_mode": "content"})), None);
    assert_eq!(asked(&claude, "Grep", json!({"pattern": "needle", "output_mode": "of another kind"})), None);
}

#[test]
fn without_ripgrep_the_client_searches() {
    let mut claude = project();
    claude.env.push(("PATH", "/nowhere"));
    assert_eq!(asked(&claude, "Grep", json!({"pattern": "needle"})), None);
}

#[test]
fn by_default_searches_are_left_alone_and_prove_nothing() {
    let claude = Claude::new();
    claude.home.write("a.txt", crate::claude::lines(100));
    let mut payload =
        claude.call("PostToolUse", "Grep", json!({"pattern": "line", "output_mode": "content"}));
    payload["tool_response"] = json!({
        "mode": "content", "numFiles": 1, "filenames": ["a.txt"], "content": crate::claude::lines(100), "numLines": 100,
    });
    assert_eq!(claude.hook("claude-post-search", &payload).ok().stdout, "");
    claude.end_round();
    claude.read("a.txt", crate::claude::Part::All).is_native();
}
