//! Settings, where they come from, keys, and the first run.

use super::*;

#[test]
fn the_first_run_explains_what_to_write() {
    let chibi = Chibi::bare();
    let output = chibi.run(&["hello"]);
    assert_eq!(output.code, 1);
    let shown = output.transcript();
    for words in ["api_key = ", "model = ", "context_window_limit = ", "warn_threshold_percent = "] {
        assert_eq!(shown.matches(words).count(), 1, "{shown}");
    }
    assert!(shown.contains("error: no model is set up yet\nhint: `chibi --init`"), "{shown}");
    assert!(!chibi.path("contexts").exists(), "nothing is kept of it");
    let said = chibi.told(&["--init"]);
    assert!(said.starts_with("Wrote `") && said.contains("plugins/recurse`"), "{said}");
    let mode = fs::metadata(chibi.path("config.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    chibi.home.write(".chibi/config.toml", "model = 'mine'\n");
    assert!(chibi.told(&["--init"]).contains("was left as it is"));
    assert_eq!(chibi.told(&["-n", "model"]), "mine\n");
    let output = chibi.run(&["hello"]);
    assert!(output.stderr.contains("error: there is no key for "), "{}", output.stderr);
}

#[test]
fn every_value_names_its_layer() {
    let chibi = Chibi::bare();
    chibi.home.write(".chibi/config.toml", "model = 'fast'\nauto_compact = true\n[api]\ntemperature = 0.5\n");
    chibi.home.write(
        ".chibi/models.toml",
        "[models.fast]\nid = 'vendor/quick'\ncontext_window = 9000\n[models.fast.api]\ntemperature = 0.9\nseed = 3\n",
    );
    chibi.told(&["-c", "work"]);
    chibi.home.write(".chibi/contexts/work/local.toml", "auto_compact_threshold = 33\n");
    let shown = |thing: &str| {
        let output = chibi.run(&["-v", "-n", thing]).ok();
        let home = chibi.home.path().display().to_string();
        let layer = output
            .stderr
            .lines()
            .find(|line| line.starts_with(&format!("[{thing}: ")))
            .unwrap_or_default()
            .replace(&home, "~");
        (output.stdout.trim().to_owned(), layer)
    };
    assert_eq!(shown("api.temperature"), ("0.5".into(), "[api.temperature: ~/.chibi/config.toml]".into()));
    assert_eq!(shown("api.seed"), ("3".into(), "[api.seed: ~/.chibi/models.toml]".into()));
    assert_eq!(
        shown("context_window_limit"),
        ("9000".into(), "[context_window_limit: ~/.chibi/models.toml]".into())
    );
    assert_eq!(
        shown("auto_compact_threshold"),
        ("33".into(), "[auto_compact_threshold: ~/.chibi/contexts/work/local.toml]".into())
    );
    assert_eq!(shown("max_tool_rounds"), ("50".into(), "[max_tool_rounds: default]".into()));
    assert_eq!(
        shown("base_url"),
        ("https://openrouter.ai/api/v1/chat/completions".into(), "[base_url: default]".into())
    );
    assert_eq!(shown("api.top_p"), ("(not set)".into(), String::new()));
    assert!(chibi.told(&["-n", "list"]).contains("api.reasoning.effort"));
    let output = chibi.run(&["-n", "api_key"]);
    assert_eq!(output.code, 2, "a key is never shown: {}", output.stdout);
    assert!(chibi.run(&["-n", "usernmae"]).stderr.contains("did you mean `username`?"));
}

#[test]
fn a_name_from_models_toml_is_asked_for_by_its_id() {
    let server = Server::scripted([says("ok"), says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.home.write(
        ".chibi/models.toml",
        "[models.fast]\nid = 'vendor/quick'\n[models.fast.api]\nmax_tokens = 7\n",
    );
    chibi.told(&["--model", "fast", "hi"]);
    chibi.told(&["hi"]);
    let requests = server.finish();
    assert_eq!(
        (&requests[0].json()["model"], &requests[0].json()["max_tokens"]),
        (&json!("vendor/quick"), &json!(7))
    );
    assert_eq!(requests[1].json()["model"], "test-model");
}

#[test]
fn keys_come_from_variables_files_and_commands() {
    let server = Server::scripted([says("ok"), says("ok"), says("ok"), says("ok")]);
    let chibi = Chibi::asking(&server);
    let key = chibi.home.write("key", "sk-file\n");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let ask = |line: &str| {
        chibi.configure(&server, line);
        let mut command = chibi.command(&["hi"]);
        chibi.home.run(command.env("MY_KEY", "sk-variable")).ok()
    };
    ask("api_key_env = 'MY_KEY'");
    ask("api_key_file = '~/key'");
    ask("api_key_command = 'echo sk-command'");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let output = ask("api_key_file = '~/key'");
    assert!(output.stderr.contains("holds a key and is open to other users"), "{}", output.stderr);
    let requests = server.finish();
    let keys: Vec<&str> = requests.iter().map(|request| request.header("authorization").unwrap()).collect();
    assert_eq!(keys, ["Bearer sk-variable", "Bearer sk-file", "Bearer sk-command", "Bearer sk-file"]);
}

#[test]
fn a_server_of_ones_own_needs_no_key_and_another_tools_key_leads_nobody_astray() {
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    let mut command = chibi.command(&["hi"]);
    let output = chibi.home.run(command.env("ANTHROPIC_API_KEY", "sk-ant"));
    assert_eq!(output.ok().stdout, "ok\n");
    let request = server.finish().remove(0);
    assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, None));
}

#[test]
fn openrouter_alone_is_told_a_medium_effort() {
    let server = Server::scripted([says("ok"), says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["hi"]);
    chibi.configure(&server, "provider = 'openrouter'\n[api.reasoning]\nmax_tokens = 100\n");
    chibi.told(&["hi"]);
    let requests = server.finish();
    assert_eq!(requests[0].json().get("reasoning_effort"), None);
    assert!(!String::from_utf8_lossy(&requests[1].body).contains("medium"), "never beside a budget");
}

#[test]
fn mistakes_in_a_file_are_named_and_unknown_keys_only_warned_of() {
    let server = Server::scripted([says("ok")]);
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "usernaem = 'x'");
    let output = chibi.run(&["hi"]).ok();
    assert!(output.stderr.contains("unknown key `usernaem`; did you mean `username`?"), "{}", output.stderr);
    chibi.configure(&server, "auto_compact = 'yes'");
    let output = chibi.run(&["hi"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.contains("`auto_compact` must be true or false"), "{}", output.stderr);
    chibi.home.write(".chibi/config.toml", "api_key = \"sk-secret\nmodel = x");
    let output = chibi.run(&["hi"]);
    assert!(output.stderr.contains("line 1") && !output.stderr.contains("sk-secret"), "{}", output.stderr);
    drop(server);
}

#[test]
fn what_a_context_sets_holds_there_and_nowhere_else() {
    let server = Server::scripted([says("1"), says("2")]);
    let chibi = Chibi::asking(&server);
    chibi.told(&["-c", "work"]);
    chibi.home.write(
        ".chibi/contexts/work/local.toml",
        "model = 'mine'\nreflection_enabled = false\n[storage]\npartition_max_entries = 2\n",
    );
    chibi.told(&["hi"]);
    chibi.told(&["-C", "other", "hi"]);
    let requests = server.finish();
    assert_eq!(requests[0].json()["model"], "mine");
    assert!(!requests[0].json()["tools"].to_string().contains("update_reflection"));
    assert_eq!(requests[1].json()["model"], "test-model");
    assert!(
        chibi.path("contexts/work/transcript/manifest.json").exists(),
        "partitions are closed early there"
    );
    assert!(!chibi.path("contexts/other/transcript/manifest.json").exists());
}

#[test]
fn chibi_home_overrides_everything() {
    let chibi = Chibi::bare();
    let mut command = chibi.command(&["-c", "elsewhere"]);
    chibi.home.run(command.env("CHIBI_HOME", chibi.home.path().join("box"))).ok();
    assert!(chibi.home.path().join("box/contexts/elsewhere").is_dir());
    assert!(!chibi.path("").exists());
}

#[test]
fn nothing_that_we_write_can_be_read_by_others() {
    let letter = json!({"to": "other", "content": "psst"});
    let server = Server::answering(move |request| match request.number {
        0 => said(turn().call("send_message", &letter).call("update_reflection", &json!({"content": "x"}))),
        _ => says("said"),
    });
    let chibi = Chibi::bare();
    chibi.told(&["--init"]);
    chibi.configure(&server, "[storage]\npartition_max_entries = 3\n");
    fs::set_permissions(chibi.path("config.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    let open = |args: &[&str]| {
        let mut command = chibi.home.command("sh");
        command.arg("-c").arg("umask 0; exec \"$@\"").arg("sh").arg(testkit::bin("chibi")).args(args);
        chibi.home.run(&mut command).ok();
    };
    open(&["--debug", "all", "-u", "ada", "-y", "Be kind.", "one"]);
    open(&["two"]);
    open(&["-z"]);
    open(&["-c", "new:aside", "three"]);
    open(&["--search", "said"]);
    let mut folders = vec![chibi.path("")];
    while let Some(folder) = folders.pop() {
        let inside = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let inside: Vec<PathBuf> = inside.filter(|path| !path.starts_with(chibi.path("plugins"))).collect();
        for path in inside {
            let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
            folders.extend(path.is_dir().then_some(path));
        }
    }
    drop(server);
}
