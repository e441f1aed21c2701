//! What holds for this run, put together from its layers. Knows the settings' meaning for a turn, and no context.

mod layers;
mod settings;

use std::time::Duration;

use llm::{Effort, Format, Options, Reasoning, ToolChoice};
use serde_json::json;
use toml::Value;

use crate::context::{Filters, Policy};
use crate::tools::Reflection;

pub(crate) use layers::{Layer, Layers, SettingsError};
pub(crate) use settings::{SETTINGS, Setting};

use settings::by_path;

/// The settings as a turn uses them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    pub(crate) username: String,
    /// Tokens.
    pub(crate) window: u64,
    pub(crate) warn_percent: f64,
    pub(crate) auto_compact: bool,
    pub(crate) auto_compact_percent: f64,
    pub(crate) drop_percent: f64,
    pub(crate) max_recursion_depth: u64,
    pub(crate) max_tool_rounds: u32,
    pub(crate) reflection: Reflection,
    pub(crate) prompt_caching: bool,
    pub(crate) options: Options,
}

impl Config {
    pub(crate) fn of(layers: &Layers) -> Config {
        let read = Read(layers);
        Config {
            username: read.text("username").unwrap_or_else(|| "user".to_owned()),
            window: read.whole("context_window_limit").unwrap_or_default(),
            warn_percent: read.number("warn_threshold_percent").unwrap_or_default(),
            auto_compact: read.switch("auto_compact"),
            auto_compact_percent: read.number("auto_compact_threshold").unwrap_or_default(),
            drop_percent: read.number("rolling_compact_drop_percentage").unwrap_or_default(),
            max_recursion_depth: read.whole("max_recursion_depth").unwrap_or_default(),
            max_tool_rounds: read.small("max_tool_rounds").unwrap_or_default(),
            reflection: read.reflection(),
            prompt_caching: read.switch("api.prompt_caching"),
            options: read.options(),
        }
    }
}

/// When files of the transcript are closed.
pub(crate) fn policy(layers: &Layers) -> Policy {
    let read = Read(layers);
    let usual = Policy::default();
    Policy {
        max_entries: read.whole("storage.partition_max_entries").unwrap_or(usual.max_entries),
        max_age_seconds: read.whole("storage.partition_max_age_seconds").unwrap_or(usual.max_age_seconds),
        max_tokens: read.whole("storage.partition_max_tokens"),
        filters: match read.switch("storage.enable_bloom_filters") {
            true => Filters::Consult,
            false => Filters::Ignore,
        },
    }
}

/// How often a running turn says that it is alive.
pub(crate) fn heartbeat(layers: &Layers) -> Duration {
    let seconds = Read(layers).whole("lock_heartbeat_seconds").unwrap_or_default();
    Duration::from_secs(seconds.max(1))
}

/// A value as it is shown; none if nothing says one.
pub(crate) fn shown(layers: &Layers, setting: &Setting) -> Option<(String, Layer)> {
    let (value, layer) = layers.get(setting)?;
    let text = match value {
        Value::String(text) => text,
        Value::Float(number) => number.to_string(),
        other => json!(other).to_string(),
    };
    Some((text, layer))
}

/// Reads settings that were checked to be of their kind.
struct Read<'a>(&'a Layers);

impl Read<'_> {
    fn value(&self, path: &str) -> Option<Value> {
        let setting = by_path(path).expect("only declared settings are read");
        self.0.get(setting).map(|(value, _)| value)
    }

    fn text(&self, path: &str) -> Option<String> {
        self.value(path)?.as_str().map(str::to_owned)
    }

    fn whole(&self, path: &str) -> Option<u64> {
        self.value(path)?.as_integer().and_then(|whole| u64::try_from(whole).ok())
    }

    fn small(&self, path: &str) -> Option<u32> {
        self.whole(path).map(|whole| u32::try_from(whole).unwrap_or(u32::MAX))
    }

    fn number(&self, path: &str) -> Option<f64> {
        let value = self.value(path)?;
        value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
    }

    fn maybe(&self, path: &str) -> Option<bool> {
        self.value(path)?.as_bool()
    }

    fn switch(&self, path: &str) -> bool {
        self.maybe(path).unwrap_or_default()
    }

    fn reflection(&self) -> Reflection {
        let limit = self.whole("reflection_character_limit").unwrap_or_default();
        match self.switch("reflection_enabled") {
            true => Reflection::UpTo { characters: usize::try_from(limit).unwrap_or(usize::MAX) },
            false => Reflection::Off,
        }
    }

    fn options(&self) -> Options {
        let stop = self.value("api.stop").as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        Options {
            max_tokens: self.small("api.max_tokens"),
            temperature: self.number("api.temperature"),
            top_p: self.number("api.top_p"),
            frequency_penalty: self.number("api.frequency_penalty"),
            presence_penalty: self.number("api.presence_penalty"),
            seed: self.whole("api.seed"),
            stop: stop.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            tool_choice: self.value("api.tool_choice").as_ref().and_then(tool_choice),
            parallel_tool_calls: self.maybe("api.parallel_tool_calls"),
            reasoning: self.reasoning(),
            format: self.value("api.response_format").as_ref().and_then(format),
        }
    }

    fn reasoning(&self) -> Option<Reasoning> {
        let word = self.text("api.reasoning.effort");
        let effort = word.and_then(|word| Effort::ALL.into_iter().find(|effort| effort.word() == word));
        let reasoning = Reasoning {
            effort,
            max_tokens: self.small("api.reasoning.max_tokens"),
            exclude: self.maybe("api.reasoning.exclude"),
            enabled: self.maybe("api.reasoning.enabled"),
        };
        (reasoning != Reasoning::default()).then_some(reasoning)
    }
}

/// `"auto"`, or `{type = "function", function = {name = "x"}}`.
fn tool_choice(value: &Value) -> Option<ToolChoice> {
    match value.as_str() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("none") => Some(ToolChoice::None),
        Some("required") => Some(ToolChoice::Required),
        _ => Some(ToolChoice::Named(value.get("function")?.get("name")?.as_str()?.to_owned())),
    }
}

/// `{type = "json_schema", json_schema = {name = "x", schema = {…}}}`.
fn format(value: &Value) -> Option<Format> {
    match value.get("type")?.as_str()? {
        "text" => Some(Format::Text),
        "json_object" => Some(Format::Json),
        "json_schema" => {
            let inner = json!(value.get("json_schema")?);
            Some(Format::Schema {
                name: inner.get("name").and_then(|name| name.as_str()).unwrap_or("answer").to_owned(),
                schema: inner.get("schema").cloned().unwrap_or_default(),
                strict: inner.get("strict").and_then(serde_json::Value::as_bool),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests lay out files as a person would")]
mod tests {
    use std::fs;

    use super::*;

    /// Layers of these three files.
    fn layers(
        local: &str,
        config: &str,
        models: &str,
        flags: &[(&str, &str)],
    ) -> Result<Layers, SettingsError> {
        let home = testkit::Home::new();
        let path = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let flags: Vec<(&str, String)> = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let local = path("local.toml", local);
        Layers::read(&path("config.toml", config), &path("models.toml", models), Some(&local), &flags)
    }

    fn told(layers: &Layers, path: &str) -> Option<(String, String)> {
        let (value, layer) = shown(layers, by_path(path).unwrap())?;
        let layer = match layer {
            Layer::Flag => "flag",
            Layer::Local(_) => "local",
            Layer::Config(_) => "config",
            Layer::Models(_) => "models",
            Layer::Default => "default",
        };
        Some((value, layer.to_owned()))
    }

    #[test]
    fn the_order_is_the_same_for_every_key() {
        let models = "[models.big]\ncontext_window = 9000\n[models.big.api]\ntemperature = 0.9\ntop_p = 0.8\n\
                      seed = 4\n";
        let config = "model = 'big'\n[api]\ntemperature = 0.5\ntop_p = 0.4\n";
        let all = layers("[api]\ntemperature = 1\n", config, models, &[]).unwrap();
        let is = |path, value: &str, layer: &str| {
            assert_eq!(told(&all, path), Some((value.to_owned(), layer.to_owned())), "{path}");
        };
        is("api.temperature", "1", "local");
        is("api.top_p", "0.4", "config");
        is("api.seed", "4", "models");
        is("context_window_limit", "9000", "models");
        is("auto_compact_threshold", "80", "default");
        is("model", "big", "config");
        assert_eq!(told(&all, "api.max_tokens"), None);
        let local = layers("context_window_limit = 100", config, models, &[("model", "small")]).unwrap();
        assert_eq!(told(&local, "context_window_limit").unwrap(), ("100".into(), "local".into()));
        assert_eq!(told(&local, "model").unwrap(), ("small".into(), "flag".into()));
        assert_eq!(told(&local, "api.seed"), None, "that is another model's");
    }

    #[test]
    fn every_setting_of_a_context_counts() {
        let local = "reflection_enabled = false\nmax_recursion_depth = 2\nwarn_threshold_percent = 10\n\
                     rolling_compact_drop_percentage = 25\n";
        let config = Config::of(&layers(local, "", "", &[]).unwrap());
        assert_eq!((config.reflection, config.max_recursion_depth), (Reflection::Off, 2));
        assert!((config.warn_percent - 10.0).abs() < 1e-9 && (config.drop_percent - 25.0).abs() < 1e-9);
    }

    #[test]
    fn a_name_from_models_toml_stands_for_its_id() {
        let models = "[models.fast]\nid = 'vendor/quick-1'\n[models.'vendor/quick-1']\ncontext_window = 7\n";
        let all = layers("", "model = 'fast'", models, &[]).unwrap();
        assert_eq!(all.model_id("fast"), "vendor/quick-1");
        assert_eq!(all.model_id("other"), "other");
        assert_eq!(told(&all, "context_window_limit").unwrap().0, "7", "what is said of the id holds too");
    }

    #[test]
    fn what_cannot_be_used_is_named_without_quoting_the_file() {
        let wrong = |config: &str| layers("", config, "", &[]).unwrap_err().to_string();
        assert!(wrong("auto_compact = 3").ends_with("config.toml`: `auto_compact` must be true or false"));
        assert!(wrong("warn_threshold_percent = 101").ends_with("must be a number from 0 to 100"));
        let broken = wrong("x = 1\napi_key = sk-secret\n");
        assert!(broken.contains("line 2") && !broken.contains("secret"), "{broken}");
        assert!(wrong("[api.reasoning]\neffort = 'much'").contains("xhigh, high, medium"));
    }

    #[test]
    fn an_unknown_key_is_named_with_what_was_meant() {
        let all =
            layers("", "usernaem = 'x'\n[plugins.a]\nenv = []\n[api]\nzzzzzzzzz = 1\n", "", &[]).unwrap();
        let said = all.unknown();
        assert!(said.iter().any(|line| line.ends_with("unknown key `usernaem`; did you mean `username`?")));
        assert!(said.iter().any(|line| line.ends_with("unknown key `api.zzzzzzzzz`")), "{said:?}");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn rows_of_plugins_and_servers_are_looked_at_like_everything_else() {
        let wrong = |config: &str| layers("", config, "", &[]).unwrap_err().to_string();
        let protocol = wrong("[plugins.'a.py']\nprotocol = 'environment'\n");
        assert!(
            protocol.ends_with("config.toml`: `plugins.a.py.protocol` must be one of env, stdin"),
            "{protocol}"
        );
        assert!(wrong("[plugins.a]\nenv = 'TOKEN'\n").ends_with("`plugins.a.env` must be a list of texts"));
        assert!(wrong("[servers.s]\ntimeout = -1\n").ends_with("`servers.s.timeout` must be a whole number"));
        let odd = "[plugins.a]\nenvs = []\n[servers.s]\ncommand = 'x'\nset = {A = 'b'}\nport = 3\n";
        let said = layers("", odd, "", &[]).unwrap().unknown();
        assert!(said[0].ends_with("unknown key `plugins.a.envs`; did you mean `env`?"), "{said:?}");
        assert!(said[1].ends_with("unknown key `servers.s.port`"), "{said:?}");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn structured_answers_and_tools_are_chosen_as_in_the_file() {
        let config = Config::of(
            &layers(
                "",
                "[api]\ntool_choice = {type = 'function', function = {name = 'x'}}\n\
                 response_format = {type = 'json_schema', json_schema = {name = 'n', schema = {type = 'object'}}}\n\
                 [api.reasoning]\neffort = 'low'\nmax_tokens = 5\n",
                "",
                &[],
            )
            .unwrap(),
        );
        assert_eq!(config.options.tool_choice, Some(ToolChoice::Named("x".into())));
        let schema = json!({"type": "object"});
        assert_eq!(config.options.format, Some(Format::Schema { name: "n".into(), schema, strict: None }));
        assert_eq!(config.options.reasoning.unwrap().max_tokens, Some(5));
    }
}
