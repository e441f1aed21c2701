//! Setting clients up and undoing it, file by file: what is registered, what is refused, and what stays.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: writes the files that it sets up"
)]

#[path = "setup/ground.rs"]
mod ground;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use drip::setup::{Action, Agent, ApplyCause, Edit, Mode, Scope, SetupError, apply, diff, plan};
use ground::{Place, get, put};

const REWRITE: Action = Action::Init(Mode::Rewrite);

/// Every file below a folder with its bytes, sorted.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.push((path.display().to_string(), "/".to_owned()));
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), get(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn claude_gets_the_hooks_that_rewrite_its_results() {
    let place = Place::new();
    place.init(Agent::Claude);
    assert_eq!(get(&place.settings(Agent::Claude)).unwrap(), include_str!("setup/golden/claude.json"));
    assert_eq!(get(&place.ground.project.join("CLAUDE.md")).unwrap(), "@drip.md\n");
    let words = get(&place.ground.project.join("drip.md")).unwrap();
    assert!(
        words.starts_with("<!-- drip:memory -->\n") && words.ends_with("\n<!-- /drip:memory -->\n"),
        "{words}"
    );
    for what in ["[DRIP: …", "`drip read --full PATH`", "`drip refresh PATH`", "None of this is an error"] {
        assert!(words.contains(what), "{what} is not told in:\n{words}");
    }
    // What was shown is not shown again because less of it is asked for, and a shell is another reader.
    for what in ["offset", "--lines"] {
        assert!(!words.contains(what), "{what} is told in:\n{words}");
    }
}

#[test]
fn claude_can_be_given_the_older_hooks_instead_and_back() {
    let place = Place::new();
    place.run(Agent::Claude, Action::Init(Mode::Deny));
    let settings = place.settings(Agent::Claude);
    assert_eq!(get(&settings).unwrap(), include_str!("setup/golden/claude-deny.json"));
    place.init(Agent::Claude);
    let names = |text: &str| {
        let commands = text.split("drip hook ").skip(1);
        let mut names: Vec<_> =
            commands.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names(&get(&settings).unwrap()), names(include_str!("setup/golden/claude.json")));
}

#[test]
fn codex_gets_a_server_and_hooks_in_the_home_whatever_the_scope() {
    let place = Place::new();
    let scoped =
        [Scope::Project, Scope::Global].map(|scope| plan(Agent::Codex, scope, REWRITE, &place.ground));
    let [project, global] = scoped.map(Result::unwrap);
    assert_eq!(project, global);
    place.init(Agent::Codex);
    assert_eq!(get(&place.settings(Agent::Codex)).unwrap(), include_str!("setup/golden/codex.toml"));
    let words = get(&place.ground.home.join(".codex/AGENTS.md")).unwrap();
    assert!(words.starts_with("<!-- drip:agents-instructions -->\n## File reads via DRIP\n"), "{words}");
    assert!(words.ends_with("\n<!-- /drip:agents-instructions -->\n"), "{words}");
}

#[test]
fn codex_is_set_up_where_its_home_is() {
    let mut place = Place::new();
    let elsewhere = place.home.path().join("elsewhere");
    place.ground.codex_home = Some(elsewhere.clone());
    place.init(Agent::Codex);
    assert!(get(&elsewhere.join("config.toml")).is_some());
    assert_eq!(get(&place.settings(Agent::Codex)), None);
}

#[test]
fn gemini_gets_a_server_and_hooks_in_its_own_shape() {
    let place = Place::new();
    place.init(Agent::Gemini);
    assert_eq!(get(&place.settings(Agent::Gemini)).unwrap(), include_str!("setup/golden/gemini.json"));
    let words = get(&place.ground.project.join("GEMINI.md")).unwrap();
    assert!(words.contains("`full: true`") && words.contains("`drip refresh PATH`"), "{words}");
    assert!(!words.contains("offset") && !words.contains("symbol"), "{words}");
}

#[test]
fn the_global_scope_is_the_home() {
    let place = Place::new();
    for (agent, names) in [
        (Agent::Claude, vec![".claude/drip.md", ".claude/CLAUDE.md", ".claude/settings.json"]),
        (Agent::Codex, vec![".codex/AGENTS.md", ".codex/config.toml"]),
        (Agent::Gemini, vec![".gemini/GEMINI.md", ".gemini/settings.json"]),
    ] {
        let edits = plan(agent, Scope::Global, REWRITE, &place.ground).unwrap();
        let paths: Vec<_> = edits.into_iter().map(|edit| edit.path).collect();
        assert_eq!(paths, names.iter().map(|name| place.ground.home.join(name)).collect::<Vec<_>>());
    }
}

#[test]
fn what_was_made_goes_again_and_nothing_else() {
    for agent in Agent::ALL {
        let place = Place::new();
        fs::write(place.ground.project.join("README.md"), "mine\n").unwrap();
        let before = files(place.home.path());
        apply(&place.plan(agent, REWRITE).unwrap()).unwrap();
        assert_ne!(files(place.home.path()), before);
        apply(&place.plan(agent, Action::Uninstall).unwrap()).unwrap();
        assert_eq!(files(place.home.path()), before);
        assert_eq!(place.plan(agent, Action::Uninstall).unwrap(), []);
    }
}

#[test]
fn a_persons_hook_in_our_group_and_text_around_our_words_stay_byte_for_byte() {
    let place = Place::new();
    let (settings, agents) = (place.settings(Agent::Claude), place.ground.home.join(".codex/AGENTS.md"));
    place.init(Agent::Claude);
    let with = get(&settings).unwrap();
    let mine = "{\n            \"type\": \"command\",\n            \"command\": \"mine\"\n          }";
    let ours = "hook claude-post-bash\",\n            \"timeout\": 2\n          }";
    put(&settings, Some(&with.replace(ours, &format!("{ours},\n          {mine}"))));
    place.uninstall(Agent::Claude);
    assert_eq!(
        get(&settings).unwrap(),
        format!(
            "{{\n  \"hooks\": {{\n    \"PostToolUse\": [\n      {{\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          \
             {mine}\n        ]\n      }}\n    ]\n  }}\n}}\n"
        )
    );

    put(&agents, Some("# Mine\n\nbefore"));
    place.init(Agent::Codex);
    let with = get(&agents).unwrap();
    put(&agents, Some(&format!("{}\n\n## Later\nafter", with.replace("before", "earlier"))));
    place.uninstall(Agent::Codex);
    assert_eq!(get(&agents).unwrap(), "# Mine\n\nearlier\n\n## Later\nafter");
}

#[test]
fn a_persons_hook_in_our_group_stays_in_toml_too() {
    let place = Place::new();
    let config = place.settings(Agent::Codex);
    place.init(Agent::Codex);
    let mine = "[[hooks.PostCompact.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    put(&config, Some(&(get(&config).unwrap() + mine)));
    assert_eq!(place.plan(Agent::Codex, REWRITE).unwrap(), []);
    place.uninstall(Agent::Codex);
    let left = get(&config).unwrap();
    assert!(left.ends_with(&format!("[[hooks.PostCompact]]\n{mine}")), "{left}");
    assert_eq!(left.matches("drip hook").count() + left.matches("mcp_servers").count(), 0, "{left}");
}

#[test]
fn a_servers_own_environment_goes_with_the_server() {
    let place = Place::new();
    let config = place.settings(Agent::Codex);
    put(&config, Some("model = 'x'\n"));
    place.init(Agent::Codex);
    let env = "\n[other]\nx = 1\n\n[mcp_servers.drip.env]\nDRIP_DISABLE = '1'\n";
    put(&config, Some(&(get(&config).unwrap() + env)));
    place.init(Agent::Codex);
    assert!(get(&config).unwrap().ends_with(env), "`init` keeps it");
    place.uninstall(Agent::Codex);
    assert_eq!(get(&config).unwrap(), "model = 'x'\n\n[other]\nx = 1\n\n");
}

#[test]
fn commands_of_earlier_versions_are_replaced_where_they_stand_or_go() {
    let place = Place::new();
    let settings = place.settings(Agent::Claude);
    let stale = r#"{
    "hooks": {
        "PreToolUse": [
            {"matcher": "Read", "hooks": [{"type": "command", "command": "/old/drip hook claude"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "/old/drip hook claude-bash"}, {"type": "command", "command": "mine"}]}
        ],
        "PostToolUse": [
            {"matcher": "Edit|Write|MultiEdit|NotebookEdit", "hooks": [{"type": "command", "command": "'/old place/scrimp' drip hook claude-post-edit"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "later"}]}
        ]
    }
}
"#;
    put(&settings, Some(stale));
    place.init(Agent::Claude);
    let now = get(&settings).unwrap();
    assert!(!now.contains("/old"), "{now}");
    let kept = r#"            {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
        ],
        "PostToolUse": [
            {"matcher": "Edit|Write|MultiEdit|NotebookEdit", "hooks": [{"type": "command", "command": "/opt/scrimp/bin/drip hook claude-post-edit"}]},
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "later"}]},"#;
    assert!(now.contains(kept), "{now}");
    assert_eq!(now.matches("/opt/scrimp/bin/drip hook ").count(), 6, "{now}");
    assert_eq!(place.plan(Agent::Claude, REWRITE).unwrap(), []);
}

#[test]
fn the_hook_that_gemini_never_saw_goes() {
    let place = Place::new();
    let settings = place.settings(Agent::Gemini);
    let stale = "{\n  \"hooks\": {\n    \"beforeCompress\": {\n      \"drip\": {\n        \"command\": \"/old/drip hook gemini-compress\"\n      }\n    }\n  },\n  \"theme\": \"x\"\n}\n";
    put(&settings, Some(stale));
    place.uninstall(Agent::Gemini);
    assert_eq!(get(&settings).unwrap(), "{\n  \"theme\": \"x\"\n}\n");
}

#[test]
fn files_that_are_empty_or_hold_an_empty_object_come_back_as_they_were() {
    let place = Place::new();
    for agent in [Agent::Claude, Agent::Gemini] {
        let path = place.settings(agent);
        for text in [
            "",
            "\n",
            " \r\n ",
            "\u{feff}",
            "{}",
            "{}\n",
            "{ }",
            "{\n}\n",
            "{\r\n}",
            "\u{feff}{}\r\n",
            " {\t} ",
            "{\"hooks\":{}}",
            "{\"hooks\": { }}",
            "{\n\t\"hooks\": {\n\t}\n}",
            "// a\n{} // b",
            "{ /* a */ }",
            "{\"hooks\":{\"AfterTool\":[],\"PostToolUse\":[ ]}}",
            "{\"hooks\":{\"PostToolUse\":[\n]}}",
        ] {
            put(&path, Some(text));
            place.init(agent);
            let with = get(&path).unwrap();
            assert_eq!(place.plan(agent, REWRITE).unwrap(), [], "twice is not once: {with}");
            place.uninstall(agent);
            assert_eq!(get(&path).as_deref(), Some(text), "from {with}");
        }
    }
    let path = place.settings(Agent::Codex);
    for text in
        ["", "\n", "# c", "\u{feff}", "\r\n", "hooks = {}", "mcp_servers = { }", "[hooks]", "[mcp_servers]\n"]
    {
        put(&path, Some(text));
        place.init(Agent::Codex);
        let with = get(&path).unwrap();
        place.uninstall(Agent::Codex);
        assert_eq!(get(&path).as_deref(), Some(text), "from {with}");
    }
}

#[test]
fn of_members_with_one_name_the_last_counts_and_ours_go_from_all() {
    let place = Place::new();
    let path = place.settings(Agent::Claude);
    put(&path, Some(r#"{"hooks": {}, "hooks": {"PreCompact": [], "PreCompact": []}}"#));
    place.init(Agent::Claude);
    let with = get(&path).unwrap();
    assert!(with.starts_with(r#"{"hooks": {}, "hooks": {"PreCompact": [], "PreCompact": [{"#), "{with}");
    put(
        &path,
        Some(r#"{"hooks": {"Stop": [{"hooks": [{"command": "drip hook claude"}]}]}, "hooks": {"x": 1}}"#),
    );
    place.uninstall(Agent::Claude);
    assert_eq!(get(&path).unwrap(), r#"{"hooks": {"Stop": []}, "hooks": {"x": 1}}"#);
}

#[test]
fn a_file_of_ours_stays_for_the_comments_that_a_person_put_around() {
    let place = Place::new();
    let path = place.settings(Agent::Claude);
    for before in [None, Some("")] {
        put(&path, before);
        place.init(Agent::Claude);
        put(&path, Some(&format!("// mine\n{}// mine too\n", get(&path).unwrap())));
        place.uninstall(Agent::Claude);
        let left = get(&path).unwrap();
        assert!(left.starts_with("// mine\n{}") && left.ends_with("// mine too\n"), "{left}");
    }
}

/// Nothing may be planned, and the error has to name the file and say what is wrong.
#[track_caller]
fn refused(place: &Place, agent: Agent, path: &Path, what: &str) {
    let before = files(place.home.path());
    let error = place.plan(agent, REWRITE).expect_err("a bad file is refused").to_string();
    assert!(error.contains(&format!("`{}`", path.display())) && error.contains(what), "{error}");
    assert_eq!(files(place.home.path()), before);
}

#[test]
fn a_file_that_cannot_be_edited_is_named_with_its_fault_and_nothing_is_written() {
    let deep = "[".repeat(100_000);
    for (agent, text, what) in [
        (Agent::Claude, "{\"a\": }", "line 1, column 7: "),
        (Agent::Claude, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 2, column 9: expected comma"),
        (Agent::Claude, "{'a': 1}", "line 1, column 2: "),
        (Agent::Claude, "{\"a\": 1", "unterminated object"),
        (Agent::Claude, "{} {}", "more than one json value"),
        (Agent::Claude, "// only this", "comments and no value"),
        (Agent::Claude, "[]", "it holds no object"),
        (Agent::Claude, "3", "it holds no object"),
        (Agent::Claude, "{\"hooks\": []}", "`hooks` is not an object"),
        (Agent::Claude, "{\"hooks\": null}", "`hooks` is not an object"),
        (Agent::Claude, "{\"hooks\": {\"PostToolUse\": {}}}", "`hooks.PostToolUse` is not a list"),
        (Agent::Claude, &deep, "nesting"),
        (Agent::Gemini, "{\"mcpServers\": 1}", "`mcpServers` is not an object"),
        (
            Agent::Gemini,
            "{\"mcpServers\": {\"drip\": {\"command\": \"npx\"}}}",
            "`mcpServers.drip` is there and is not drip's",
        ),
        (Agent::Codex, "a = \n", "line 1, column 5: "),
        (Agent::Codex, "a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        (Agent::Codex, "mcp_servers = 1\n", "`mcp_servers` is not an object"),
        (Agent::Codex, "hooks.PostToolUse = 'x'\n", "`hooks.PostToolUse` is not a list"),
        (
            Agent::Codex,
            "[mcp_servers.drip]\ncommand = 'npx'\nargs = ['drip', 'mcp']\n",
            "is there and is not drip's",
        ),
        (Agent::Codex, &format!("a = {deep}"), "recursion"),
    ] {
        let place = Place::new();
        let path = place.settings(agent);
        put(&path, Some(text));
        refused(&place, agent, &path, what);
    }
}

#[test]
fn what_is_no_text_file_is_refused() {
    let place = Place::new();
    let path = place.settings(Agent::Claude);
    fs::create_dir_all(&path).unwrap();
    refused(&place, Agent::Claude, &path, "not a regular file");
    fs::remove_dir(&path).unwrap();
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    refused(&place, Agent::Claude, &path, "not UTF-8");
    fs::write(&path, vec![b' '; (4 << 20) + 1]).unwrap();
    refused(&place, Agent::Claude, &path, "larger than 4 MiB");
    fs::remove_file(&path).unwrap();
    symlink(&path, &path).unwrap();
    refused(&place, Agent::Claude, &path, "cannot read");
    let words = place.ground.home.join(".codex/AGENTS.md");
    put(&words, Some("<!-- drip:agents-instructions -->\nwhere does it end?\n"));
    refused(&place, Agent::Codex, &words, "is not closed by");
}

#[test]
fn other_peoples_entries_are_none_of_uninstalls_business() {
    let place = Place::new();
    for (agent, text) in [
        (Agent::Claude, "{\"hooks\": 3}"),
        (Agent::Claude, "[]"),
        (
            Agent::Claude,
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"dripper hook claude\"}]}, 1, {\"hooks\": 2}]}}",
        ),
        (Agent::Gemini, "{\"mcpServers\": {\"drip\": {\"command\": \"npx\", \"args\": [\"drip\", 1]}}}"),
        (Agent::Codex, "[mcp_servers.drip]\ncommand = 'npx'\n[mcp_servers.drip.env]\nX = '1'\n"),
    ] {
        put(&place.settings(agent), Some(text));
        assert_eq!(place.plan(agent, Action::Uninstall).unwrap(), [], "{text}");
        put(&place.settings(agent), None);
    }
}

#[test]
fn a_program_that_a_client_could_not_run_is_not_registered() {
    let mut place = Place::new();
    for drip in ["drip", "./drip", "/opt/a\nb/drip"] {
        place.ground.drip = drip.into();
        let error = place.plan(Agent::Claude, REWRITE).unwrap_err();
        assert!(matches!(error, SetupError::Program { .. }), "{error}");
    }
    place.ground.drip = "/opt/my tools/it's/drip".into();
    for agent in Agent::ALL {
        place.init(agent);
        assert_eq!(place.plan(agent, REWRITE).unwrap(), []);
        place.uninstall(agent);
        assert_eq!(get(&place.settings(agent)), None);
    }
}

#[test]
fn a_link_to_settings_elsewhere_stays_a_link_and_modes_stay() {
    let place = Place::new();
    let (path, target) = (place.settings(Agent::Claude), place.home.path().join("dotfiles/claude.json"));
    put(&target, Some("{\n  \"a\": 1\n}\n"));
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink("../../dotfiles/claude.json", &path).unwrap();
    for action in [REWRITE, Action::Uninstall] {
        apply(&place.plan(Agent::Claude, action).unwrap()).unwrap();
        assert!(path.is_symlink() && get(&path) == get(&target));
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    }
    assert_eq!(get(&target).unwrap(), "{\n  \"a\": 1\n}\n");

    fs::remove_file(&target).unwrap();
    apply(&place.plan(Agent::Claude, REWRITE).unwrap()).unwrap();
    assert!(target.is_file());
    apply(&place.plan(Agent::Claude, Action::Uninstall).unwrap()).unwrap();
    assert!(path.is_symlink() && !target.exists(), "what a link led to is gone again, the link is not");
}

#[test]
fn a_new_file_is_as_open_as_its_folder() {
    let place = Place::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::create_dir(place.ground.project.join(".claude")).unwrap();
    fs::set_permissions(place.ground.project.join(".claude"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&place.ground.project, fs::Permissions::from_mode(0o755)).unwrap();
    apply(&place.plan(Agent::Claude, REWRITE).unwrap()).unwrap();
    assert_eq!(mode(&place.settings(Agent::Claude)), 0o600);
    assert_eq!(mode(&place.ground.project.join("CLAUDE.md")), 0o644);
}

#[test]
fn a_file_that_changed_after_the_plan_stops_everything() {
    let place = Place::new();
    let edits = place.plan(Agent::Claude, REWRITE).unwrap();
    put(&place.settings(Agent::Claude), Some("{}"));
    let before = files(place.home.path());
    let error = apply(&edits).unwrap_err();
    assert!(matches!(error.cause, ApplyCause::Changed), "{error}");
    assert_eq!(error.failed, place.settings(Agent::Claude));
    assert_eq!((error.done.len(), error.left.len()), (0, 2));
    assert_eq!(files(place.home.path()), before);
}

#[test]
fn a_failure_half_way_says_what_was_done_and_what_was_not() {
    let place = Place::new();
    let project = &place.ground.project;
    symlink("nowhere/at/all.md", project.join("CLAUDE.md")).unwrap();
    let error = apply(&place.plan(Agent::Claude, REWRITE).unwrap()).unwrap_err();
    assert_eq!(error.done, [project.join("drip.md")]);
    assert_eq!(error.failed, project.join("CLAUDE.md"));
    assert_eq!(error.left, [place.settings(Agent::Claude)]);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot edit `{0}/CLAUDE.md` (done: `{0}/drip.md`) (not done: `{0}/.claude/settings.json`)",
            project.display()
        )
    );
    assert!(project.join("drip.md").exists() && !place.settings(Agent::Claude).exists());
}

#[test]
fn a_difference_shows_what_would_be_made_changed_and_removed() {
    let path = Path::new("/p/CLAUDE.md").to_owned();
    let edit = |before: Option<&str>, after: Option<&str>| {
        diff(&Edit { path: path.clone(), before: before.map(str::to_owned), after: after.map(str::to_owned) })
    };
    assert_eq!(edit(None, Some("a\n")), "--- /dev/null\n+++ b/p/CLAUDE.md\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(edit(Some("a\n"), None), "--- a/p/CLAUDE.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
    assert_eq!(
        edit(Some("a\nb"), Some("a\nb\nc")),
        "--- a/p/CLAUDE.md\n+++ b/p/CLAUDE.md\n@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"
    );
}
