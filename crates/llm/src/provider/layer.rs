//! One layer of settings each: what was typed, what the environment says, what stands in a file. Knows the spelling of
//! every source, and nothing of which wins.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kit::invocation::Environment;
use kit::places::Variable;
use kit::text;
use toml::{Table, Value};

use super::{Auth, BaseUrl, Endpoint, Name, Origin, ResolveError, Sourced, Url};
use crate::key::{Key, KeySource, open_to_others};

/// What one source says. Most say little.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub origin: Origin,
    pub claim: Claim,
    pub model: Option<Sourced<String>>,
    pub url: Option<Sourced<Url>>,
    pub key: Option<Sourced<KeySource>>,
    pub auth: Option<Sourced<Auth>>,
    pub anthropic_version: Option<Sourced<String>>,
    pub warnings: Vec<String>,
}

/// Of which provider a layer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Of whichever is chosen.
    Nobody,
    Named(Name),
    /// Its address or its kind of file tells.
    ByAddress(Name),
    /// The environment has a key or an address for it.
    ByVariable(Name),
}

impl Claim {
    pub(super) fn name(self) -> Option<Name> {
        match self {
            Claim::Nobody => None,
            Claim::Named(name) | Claim::ByAddress(name) | Claim::ByVariable(name) => Some(name),
        }
    }
}

/// A file of settings as it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub text: String,
    pub mode: u32,
}

/// Without the text: it may hold a key.
impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigFile")
            .field("path", &self.path)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl ConfigFile {
    /// None if there is no such file.
    pub fn read(path: &Path) -> Result<Option<ConfigFile>, ResolveError> {
        let read = || {
            let found = fs::metadata(path)?;
            // Nobody may ever write to a pipe; of a directory the system itself says what it is.
            if !found.is_file() && !found.is_dir() {
                return Err(io::Error::other("it is not a regular file"));
            }
            Ok((fs::read_to_string(path)?, found.mode()))
        };
        match read() {
            Ok((text, mode)) => Ok(Some(ConfigFile { path: path.to_owned(), text, mode })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ResolveError::File { path: path.to_owned(), cause: error.to_string() }),
        }
    }
}

/// Keys of the table `[provider]` in `$XDG_CONFIG_HOME/scrimp/config.toml`, with what they mean.
pub const KEYS: &[(&str, &str)] = &[
    ("name", "anthropic, openrouter or openai (and every server that speaks like it)"),
    ("model", "the model, or script:FILE"),
    ("api_url", "the base of its address"),
    ("api_key", "the key itself"),
    ("api_key_env", "the variable that holds the key"),
    ("api_key_file", "the file that holds the key"),
    ("api_key_command", "the command that prints the key"),
    ("auth", "how an Anthropic key is sent: x-api-key or bearer"),
    ("anthropic_version", "the version of Anthropic's interface"),
];

/// What is read from the environment.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "ANTHROPIC_API_KEY", meaning: "key for Anthropic", default: "no key is sent" },
    Variable {
        name: "ANTHROPIC_BASE_URL",
        meaning: "where Anthropic's interface is",
        default: "https://api.anthropic.com",
    },
    Variable { name: "OPENROUTER_API_KEY", meaning: "key for OpenRouter", default: "no key is sent" },
    Variable {
        name: "OPENAI_API_KEY",
        meaning: "key for OpenAI or a server like it",
        default: "no key is sent",
    },
    Variable {
        name: "OPENAI_BASE_URL",
        meaning: "where an interface like OpenAI's is",
        default: "https://api.openai.com/v1",
    },
];

const BY_NAME: [(Name, &str, Option<&str>); 3] = [
    (Name::Anthropic, "ANTHROPIC_API_KEY", Some("ANTHROPIC_BASE_URL")),
    (Name::OpenRouter, "OPENROUTER_API_KEY", None),
    (Name::OpenAi, "OPENAI_API_KEY", Some("OPENAI_BASE_URL")),
];

impl Layer {
    pub(super) fn concerns(&self, name: Name) -> bool {
        self.claim.name().is_none_or(|claimed| claimed == name)
    }

    /// What was typed: `--provider`, `--model`, `--api-url`.
    pub fn flags(
        provider: Option<&str>,
        model: Option<&str>,
        api_url: Option<&str>,
    ) -> Result<Layer, ResolveError> {
        let mut layer = Layer::silent(Origin::Flag);
        if let Some(typed) = provider {
            layer.claim = Claim::Named(name(typed)?);
        }
        layer.model = model.map(|model| layer.value(model.to_owned()));
        layer.url = api_url.map(|address| base(address, &Origin::Flag)).transpose()?;
        Ok(layer)
    }

    /// One layer for each provider that the environment knows.
    pub fn environment(env: &Environment) -> Result<Vec<Layer>, ResolveError> {
        let mut layers = Vec::new();
        for (name, key, address) in BY_NAME {
            let variable = |name: &str| Origin::Environment(name.to_owned());
            let mut layer = Layer::silent(variable(key));
            if let Some(value) = env.text(key).filter(|value| !value.trim().is_empty()) {
                layer.key = Some(known(value, &variable(key))?);
            }
            if let Some((address, value)) = address.and_then(|address| Some((address, env.text(address)?))) {
                layer.url = Some(base(value, &variable(address))?);
                layer.origin = if layer.key.is_some() { layer.origin } else { variable(address) };
            }
            if layer.key.is_some() || layer.url.is_some() {
                layer.claim = Claim::ByVariable(name);
                layers.push(layer);
            }
        }
        Ok(layers)
    }

    /// The table `[provider]` of scrimp's own file.
    pub fn scrimp_file(file: &ConfigFile) -> Result<Layer, ResolveError> {
        let table = parsed(file)?;
        let table = table.get("provider").and_then(Value::as_table).cloned().unwrap_or_default();
        let mut layer = Layer::from_table(&table, file)?;
        if let Some(typed) = text_of(&table, "name", file)? {
            layer.claim = Claim::Named(name(typed)?);
        }
        if let Some(address) = text_of(&table, "api_url", file)? {
            layer.url = Some(base(address, &layer.origin)?);
        }
        for unknown in table.keys().filter(|key| !KEYS.iter().any(|(known, _)| known == key)) {
            let meant = text::nearest(unknown, KEYS.iter().map(|(known, _)| *known));
            let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            layer
                .warnings
                .push(format!("`{}`: unknown key `provider.{unknown}`{meant}", file.path.display()));
        }
        Ok(layer)
    }

    /// chibi's `config.toml` or `local.toml`, whose `base_url` is a whole endpoint. Other keys are chibi's.
    pub fn chibi_file(file: &ConfigFile) -> Result<Layer, ResolveError> {
        let table = parsed(file)?;
        let mut layer = Layer::from_table(&table, file)?;
        let wrong = |cause| ResolveError::Url { origin: layer.origin.to_string(), cause };
        let endpoint = text_of(&table, "base_url", file)?.map(Endpoint::new).transpose().map_err(wrong)?;
        layer.claim = match (text_of(&table, "provider", file)?, &endpoint, &layer.key) {
            (Some(typed), _, _) => Claim::Named(name(typed)?),
            (None, Some(endpoint), _) => Claim::ByAddress(endpoint.name()),
            // As its seed has it.
            (None, None, Some(_)) => Claim::ByAddress(Name::OpenRouter),
            (None, None, None) => Claim::Nobody,
        };
        if let Some(endpoint) = endpoint.as_ref().filter(|endpoint| !endpoint.is_usual()) {
            let shown = file.path.display();
            layer.warnings.push(format!(
                "`{shown}`: base_url is the whole address, and `{endpoint}` ends neither in /chat/completions nor in /messages"
            ));
        }
        layer.url = endpoint.map(|endpoint| layer.value(Url::Full(endpoint)));
        Ok(layer)
    }

    /// What both kinds of file spell the same.
    fn from_table(table: &Table, file: &ConfigFile) -> Result<Layer, ResolveError> {
        let mut layer = Layer::silent(Origin::File(file.path.clone()));
        let text = |key| text_of(table, key, file);
        layer.model = text("model")?.map(|model| layer.value(model.to_owned()));
        let wrong = |cause: &str| ResolveError::File { path: file.path.clone(), cause: cause.to_owned() };
        let auth = match text("auth")? {
            None => None,
            Some("bearer") => Some(Auth::Bearer),
            Some("x-api-key") => Some(Auth::XApiKey),
            Some(_) => return Err(wrong("`auth` is `bearer` or `x-api-key`")),
        };
        layer.auth = auth.map(|auth| layer.value(auth));
        layer.anthropic_version = text("anthropic_version")?.map(|version| layer.value(version.to_owned()));
        let named = |key| text(key).map(|value| value.map(str::to_owned));
        let sources = [
            named("api_key_env")?.map(KeySource::Variable),
            named("api_key_file")?.map(|path| KeySource::File(PathBuf::from(path))),
            named("api_key_command")?.map(KeySource::Command),
        ];
        let mut sources: Vec<_> = sources.into_iter().flatten().map(|source| layer.value(source)).collect();
        // An empty one is how chibi's users say that there is none.
        if let Some(value) = text("api_key")?.filter(|value| !value.trim().is_empty()) {
            sources.push(known(value, &layer.origin)?);
            layer.warnings.extend(open_to_others(&file.path, file.mode));
        }
        if sources.len() > 1 {
            return Err(wrong(
                "only one of `api_key`, `api_key_env`, `api_key_file`, `api_key_command` can be set",
            ));
        }
        layer.key = sources.pop();
        Ok(layer)
    }

    fn silent(origin: Origin) -> Layer {
        Layer {
            origin,
            claim: Claim::Nobody,
            model: None,
            url: None,
            key: None,
            auth: None,
            anthropic_version: None,
            warnings: Vec::new(),
        }
    }

    fn value<T>(&self, value: T) -> Sourced<T> {
        Sourced { value, origin: self.origin.clone() }
    }
}

fn name(typed: &str) -> Result<Name, ResolveError> {
    let words = || Name::ALL.map(Name::word);
    Name::ALL.into_iter().find(|name| name.word() == typed).ok_or_else(|| ResolveError::UnknownProvider {
        typed: typed.to_owned(),
        nearest: text::nearest(typed, words()),
    })
}

fn base(address: &str, origin: &Origin) -> Result<Sourced<Url>, ResolveError> {
    let base =
        BaseUrl::new(address).map_err(|cause| ResolveError::Url { origin: origin.to_string(), cause })?;
    Ok(Sourced { value: Url::Base(base), origin: origin.clone() })
}

fn known(key: &str, origin: &Origin) -> Result<Sourced<KeySource>, ResolveError> {
    let key = Key::new(key).map_err(|cause| ResolveError::Key { origin: origin.to_string(), cause })?;
    Ok(Sourced { value: KeySource::Known(key), origin: origin.clone() })
}

fn parsed(file: &ConfigFile) -> Result<Table, ResolveError> {
    // The parser's whole report quotes the line, and the line may hold the key.
    let failed = |error: toml::de::Error| {
        let before = error.span().and_then(|span| file.text.as_bytes().get(..span.start)).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        ResolveError::File { path: file.path.clone(), cause: format!("line {line}: {}", error.message()) }
    };
    toml::from_str(&file.text).map_err(failed)
}

fn text_of<'a>(table: &'a Table, key: &str, file: &ConfigFile) -> Result<Option<&'a str>, ResolveError> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => {
            Err(ResolveError::File { path: file.path.clone(), cause: format!("`{key}` is not a text") })
        }
    }
}
