//! The bench that the other tests work at: a throw-away home with plugins in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chibi::hooks::{Event, Fired};
use chibi::plugins::{Called, Ground, Limits, Plugins, Scene, Secrets, Setting};
use kit::invocation::Environment;
use kit::process::Cancel;
use llm::Outcome;
use serde_json::{Map, Value};
use testkit::{Home, PATIENCE};

pub(crate) const SCENE: Scene<'_> = Scene { context: "work", verbose: false };

pub(crate) struct Bench {
    pub(crate) home: Home,
    pub(crate) ground: Ground,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let home = Home::new();
        let chibi = home.path().join(".chibi");
        fs::create_dir_all(chibi.join("plugins")).unwrap();
        let ground = Ground {
            cwd: home.path().to_owned(),
            env: Environment::of(home.environment()),
            home: chibi,
            secrets: Secrets::default(),
            // The machine may be busy.
            limits: Limits { schema: PATIENCE, hook: PATIENCE, ..Limits::default() },
            settings: [].into(),
        };
        Bench { home, ground }
    }

    /// With more in the environment.
    pub(crate) fn with_env(variables: &[(&'static str, &str)]) -> Bench {
        let mut bench = Bench::new();
        let more = variables.iter().map(|(name, value)| (*name, value.into()));
        bench.ground.env = Environment::of(bench.home.environment().into_iter().chain(more));
        bench
    }

    /// Puts a program into the folder.
    pub(crate) fn program(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.write(Path::new(".chibi/plugins").join(name), text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A bash plugin: says its schema, and runs `body` otherwise. Every run adds a line to the log.
    pub(crate) fn bash(&self, name: &str, schema: Value, body: &str) -> PathBuf {
        let log = self.ground.home.join("log");
        let log = log.display();
        let text = format!(
            "#!/usr/bin/env bash\necho \"{name} ${{1:-${{CHIBI_HOOK:-call}}}}\" >> {log}\n\
             if [[ ${{1:-}} == --schema ]]; then cat <<'JSON'\n{schema}\nJSON\nexit; fi\n{body}\n"
        );
        self.program(name, text)
    }

    /// Which plugins were run since the last look, and for what.
    pub(crate) fn log(&self) -> Vec<String> {
        let path = self.ground.home.join("log");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    pub(crate) fn load(&self) -> Plugins {
        Plugins::load(self.ground.clone())
    }

    /// `name: what became of it`, for all of the folder.
    pub(crate) fn report(&self) -> String {
        let report = self.load().report().to_string();
        report.replace(&self.home.path().display().to_string(), "[HOME]")
    }

    /// How long plugins may take to say what they bring.
    pub(crate) fn patience(&mut self, ms: u64) {
        self.ground.limits.schema = Duration::from_millis(ms);
    }

    /// How long one plugin may take for a call or a hook. Only for one that hangs: on a busy machine the others may
    /// take any time.
    pub(crate) fn patience_with(&mut self, plugin: &str, ms: u64) {
        let timeout = Some(Duration::from_millis(ms));
        self.ground.settings.insert(plugin.to_owned(), Setting { timeout, ..Setting::default() });
    }
}

/// The schema of one tool, with more keys.
pub(crate) fn schema(name: &str, more: Value) -> Value {
    let mut schema = serde_json::json!({"name": name, "description": "a tool"});
    schema.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    schema
}

pub(crate) fn call(plugins: &Plugins, tool: &str, arguments: Value) -> Called {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    plugins.call(tool, &arguments, &SCENE, &Cancel::default())
}

/// The result of a call that worked.
#[track_caller]
pub(crate) fn done(plugins: &Plugins, tool: &str, arguments: Value) -> String {
    let output = call(plugins, tool, arguments).output;
    assert_eq!(output.outcome, Outcome::Done, "{}", output.content);
    output.content
}

/// What the model is told about a call that did not.
#[track_caller]
pub(crate) fn failed(plugins: &Plugins, tool: &str, arguments: Value) -> String {
    let output = call(plugins, tool, arguments).output;
    assert_eq!(output.outcome, Outcome::Failed, "{}", output.content);
    output.content
}

pub(crate) fn fire(plugins: &Plugins, event: Event<'_>) -> Fired {
    plugins.fire(&event, &SCENE, &Cancel::default())
}

/// A call that is about to be made.
pub(crate) fn pre_tool(plugins: &Plugins) -> Fired {
    fire(plugins, Event::PreTool { tool_name: "rm", arguments: &Map::new() })
}

/// Whether somebody still runs `sleep SECONDS`.
pub(crate) fn sleeps(seconds: &str) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line == wanted.as_bytes())
}
