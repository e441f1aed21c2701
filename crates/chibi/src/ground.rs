//! What plugins stand on in this run: where they are, what they may see, how long they may take. Made of the settings.

use std::collections::BTreeMap;
use std::time::Duration;

use llm::Key;
use toml::Value;

use crate::config::Layers;
use crate::plugins::{Ground, Kept, Limits, Secrets, Setting};
use crate::run::Run;

pub(crate) fn of(run: &Run, layers: &Layers) -> Ground {
    Ground {
        home: run.home.root().to_owned(),
        cwd: run.cwd.clone(),
        env: run.env.clone(),
        secrets: secrets(layers),
        limits: Limits::default(),
        settings: settings(layers),
    }
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

/// `[plugins.NAME]`: `env`, `timeout` in seconds, `cache_schema`.
fn settings(layers: &Layers) -> BTreeMap<String, Setting> {
    let rows = layers.open_table("plugins").into_iter();
    rows.map(|(name, row)| {
        let env = row.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
        let seconds = row.get("timeout").and_then(Value::as_integer).and_then(|time| u64::try_from(time).ok());
        let setting = Setting {
            env: env.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            timeout: seconds.map(Duration::from_secs),
            schema: match row.get("cache_schema").and_then(Value::as_bool) {
                Some(false) => Kept::Never,
                _ => Kept::UntilItChanges,
            },
        };
        (name, setting)
    })
    .collect()
}
