//! Every setting, declared once: what it is called, what it may be, and what it is if nobody says. Knows no file.

use toml::Value;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Whole,
    Number,
    /// 0 to 100.
    Percent,
    Switch,
    Texts,
    OneOf(&'static [&'static str]),
    /// Looked at where it is used.
    Table,
}

impl Kind {
    /// What the value should have been, if it is something else.
    pub(crate) fn complaint(self, value: &Value) -> Option<String> {
        let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
        let texts = || value.as_array().is_some_and(|list| list.iter().all(Value::is_str));
        let fits = match self {
            Kind::Text => value.is_str(),
            Kind::Whole => value.as_integer().is_some_and(|whole| whole >= 0),
            Kind::Number => number.is_some_and(f64::is_finite),
            Kind::Percent => number.is_some_and(|number| (0.0..=100.0).contains(&number)),
            Kind::Switch => value.is_bool(),
            Kind::Texts => texts(),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Table => true,
        };
        (!fits).then(|| match self {
            Kind::Text => "must be a text".to_owned(),
            Kind::Whole => "must be a whole number".to_owned(),
            Kind::Number => "must be a number".to_owned(),
            Kind::Percent => "must be a number from 0 to 100".to_owned(),
            Kind::Switch => "must be true or false".to_owned(),
            Kind::Texts => "must be a list of texts".to_owned(),
            Kind::OneOf(words) => format!("must be one of {}", words.join(", ")),
            Kind::Table => String::new(),
        })
    }
}

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// As one writes it in a file.
    pub(crate) default: Option<&'static str>,
    pub(crate) about: &'static str,
}

const fn setting(
    path: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    about: &'static str,
) -> Setting {
    Setting { path, kind, default, about }
}

pub(crate) const EFFORTS: &[&str] = &["xhigh", "high", "medium", "low", "minimal", "none"];

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    setting("model", Kind::Text, None, "the model, or a name from models.toml"),
    setting("username", Kind::Text, Some("'user'"), "who speaks"),
    setting("base_url", Kind::Text, None, "the whole address of the provider's interface"),
    setting("provider", Kind::OneOf(&["anthropic", "openrouter", "openai"]), None, "whose interface it is, if its address does not tell"),
    setting("context_window_limit", Kind::Whole, Some("128000"), "how many tokens the model can see"),
    setting("warn_threshold_percent", Kind::Percent, Some("75.0"), "when to warn that the window fills up"),
    setting("auto_compact", Kind::Switch, Some("false"), "whether old messages give way to a summary by themselves"),
    setting("auto_compact_threshold", Kind::Percent, Some("80.0"), "and how full the window is then"),
    setting("rolling_compact_drop_percentage", Kind::Percent, Some("50.0"), "and how much of it goes"),
    setting("max_recursion_depth", Kind::Whole, Some("30"), "how often a model may call itself again"),
    setting("max_tool_rounds", Kind::Whole, Some("50"), "how many rounds of tools one prompt may take"),
    setting("reflection_enabled", Kind::Switch, Some("true"), "whether the model has a memory of its own"),
    setting("reflection_character_limit", Kind::Whole, Some("10000"), "and how long it may be"),
    setting("lock_heartbeat_seconds", Kind::Whole, Some("30"), "how often a running turn says that it is alive"),
    setting("api.prompt_caching", Kind::Switch, Some("true"), "whether the provider is told what to remember"),
    setting("api.temperature", Kind::Number, None, "how freely the model chooses its words"),
    setting("api.max_tokens", Kind::Whole, None, "how long an answer may be"),
    setting("api.top_p", Kind::Number, None, "from how much of the likely words it chooses"),
    setting("api.stop", Kind::Texts, None, "words at which it stops"),
    setting("api.parallel_tool_calls", Kind::Switch, Some("true"), "whether it may ask for several tools at once"),
    setting("api.tool_choice", Kind::Table, None, "auto, none, required, or one tool by name"),
    setting("api.response_format", Kind::Table, None, "text, json_object, or a json_schema"),
    setting("api.frequency_penalty", Kind::Number, None, "how much it avoids words that it used often"),
    setting("api.presence_penalty", Kind::Number, None, "how much it avoids words that it used at all"),
    setting("api.seed", Kind::Whole, None, "a number for answers that can be repeated"),
    setting("api.reasoning.effort", Kind::OneOf(EFFORTS), None, "how much it thinks; medium if the provider is OpenRouter"),
    setting("api.reasoning.max_tokens", Kind::Whole, None, "how long it thinks; wins over effort"),
    setting("api.reasoning.exclude", Kind::Switch, None, "think, but do not tell"),
    setting("api.reasoning.enabled", Kind::Switch, None, "whether it thinks at all"),
    setting("storage.partition_max_entries", Kind::Whole, Some("1000"), "how many entries one file of the transcript holds"),
    setting("storage.partition_max_age_seconds", Kind::Whole, Some("2592000"), "and how old its first may become"),
    setting("storage.partition_max_tokens", Kind::Whole, None, "and how many tokens it holds, if that is a limit"),
    setting("storage.bytes_per_token", Kind::Whole, Some("3"), "how tokens of a file are counted"),
    setting("storage.enable_bloom_filters", Kind::Switch, Some("true"), "whether finished files get a filter for searching"),
];

/// Keys for the provider that are not shown.
pub(crate) const UNSHOWN: &[&str] =
    &["api_key", "api_key_env", "api_key_file", "api_key_command", "auth", "anthropic_version"];

/// Tables whose rows have names of their own, and what a row may say.
#[rustfmt::skip]
pub(crate) const OPEN: &[(&str, &[(&str, Kind)])] = &[
    ("plugins", &[
        ("env", Kind::Texts),
        ("timeout", Kind::Whole),
        ("protocol", Kind::OneOf(&["env", "stdin"])),
        ("cache_schema", Kind::Switch),
    ]),
    ("servers", &[
        ("command", Kind::Text),
        ("args", Kind::Texts),
        ("env", Kind::Texts),
        ("set", Kind::Table),
        ("timeout", Kind::Whole),
    ]),
];

pub(crate) fn by_path(path: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.path == path)
}

impl Setting {
    pub(crate) fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        let table: toml::Table =
            toml::from_str(&format!("x = {text}")).expect("our own defaults are written as TOML");
        table.get("x").cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_what_it_must_be() {
        for setting in SETTINGS {
            if let Some(value) = setting.default_value() {
                assert_eq!(setting.kind.complaint(&value), None, "{}", setting.path);
            }
        }
    }
}
