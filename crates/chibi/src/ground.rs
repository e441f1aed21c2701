//! What plugins stand on in this run: where they are, what they may see, how long they may take. Made of the settings.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use kit::invocation::Environment;
use llm::Key;
use toml::Value;

use crate::config::Layers;
use crate::context::ChibiHome;
use crate::plugins::{Ground, Kept, Limits, Protocol, Secrets, Setting};
use crate::run::Run;
use crate::servers;

pub(crate) fn of(run: &Run, layers: &Layers) -> Ground {
    at(&run.home, &run.cwd, &run.env, layers)
}

pub(crate) fn at(home: &ChibiHome, cwd: &Path, env: &Environment, layers: &Layers) -> Ground {
    Ground {
        home: home.root().to_owned(),
        cwd: cwd.to_owned(),
        env: env.clone(),
        secrets: secrets(layers),
        limits: Limits::default(),
        settings: settings(layers),
    }
}

/// `[servers.NAME]`: `command`, `args`, `env` (names), `set` (values), `timeout` in seconds.
pub(crate) fn servers(layers: &Layers) -> BTreeMap<String, servers::Setting> {
    let rows = layers.open_table("servers").into_iter();
    rows.map(|(name, row)| {
        let set = row.get("set").and_then(Value::as_table).cloned().unwrap_or_default();
        let setting = servers::Setting {
            command: row.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
            args: texts(&row, "args"),
            env: texts(&row, "env"),
            set: set.into_iter().filter_map(|(key, value)| Some((key, value.as_str()?.to_owned()))).collect(),
            timeout: seconds(&row),
        };
        (name, setting)
    })
    .collect()
}

/// No plugin sees a key, wherever it is kept.
fn secrets(layers: &Layers) -> Secrets {
    let mut variables: Vec<String> =
        llm::provider::VARIABLES.iter().map(|variable| variable.name.to_owned()).collect();
    variables.retain(|name| name.ends_with("_API_KEY"));
    variables.extend(layers.texts("api_key_env"));
    let keys = layers.texts("api_key").iter().filter_map(|key| Key::new(key).ok()).collect();
    Secrets { variables, keys }
}

/// `[plugins.NAME]`: `env`, `timeout` in seconds, `protocol`, `cache_schema`.
fn settings(layers: &Layers) -> BTreeMap<String, Setting> {
    let rows = layers.open_table("plugins").into_iter();
    rows.map(|(name, row)| {
        let setting = Setting {
            env: texts(&row, "env"),
            timeout: seconds(&row),
            protocol: match row.get("protocol").and_then(Value::as_str) {
                Some("stdin") => Some(Protocol::Stdin),
                Some("env") => Some(Protocol::Environment),
                _ => None,
            },
            schema: match row.get("cache_schema").and_then(Value::as_bool) {
                Some(false) => Kept::Never,
                _ => Kept::UntilItChanges,
            },
        };
        (name, setting)
    })
    .collect()
}

fn texts(row: &Value, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn seconds(row: &Value) -> Option<Duration> {
    let seconds = row.get("timeout").and_then(Value::as_integer)?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}
