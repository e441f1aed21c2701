//! Who is asked in this run: chibi's own files first, then the environment, then what all our tools share. Knows nothing
//! of what is asked.

use kit::invocation::Environment;
use kit::{Failure, Places};
use llm::provider::{self, Claim, ConfigFile, Layer, Name, Origin, Resolved, Target};
use llm::{Client, KeySource, Provider, Setup};

use crate::config::Layers;
use crate::failure;
use crate::input::Asked;

/// Somebody who can be asked. No connection is made before the first request.
pub(crate) struct Reached {
    pub(crate) client: Client,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) name: Name,
    pub(crate) warnings: Vec<String>,
}

/// Why nobody can be asked.
pub(crate) enum Unreached {
    /// Nothing was ever set up.
    NotSetUp,
    Failed(Failure),
}

impl From<Failure> for Unreached {
    fn from(failure: Failure) -> Self {
        Unreached::Failed(failure)
    }
}

pub(crate) fn reach(
    layers: &Layers,
    asked: &Asked,
    env: &Environment,
    places: &Places,
) -> Result<Reached, Unreached> {
    let resolved = resolve(layers, asked, env, places).map_err(|error| match (&layers.config, error) {
        (None, provider::ResolveError::NoModel(_)) => Unreached::NotSetUp,
        (_, error) => failure::of_provider(&error).into(),
    })?;
    let obtained = resolved.key.value.obtain(env, &places.home).map_err(|error| {
        Failure::new("no key for the provider").because(&error).hint("`chibi -n model -v` names the file")
    })?;
    if obtained.key.is_none() && wants_key(&resolved) {
        let Target::Http(endpoint) = &resolved.target.value else { return Err(Unreached::NotSetUp) };
        return Err(match layers.config {
            None => Unreached::NotSetUp,
            Some(_) => Failure::new(format!("there is no key for {}", endpoint.host()))
                .hint("set `api_key` (or api_key_env, api_key_file, api_key_command) in config.toml")
                .into(),
        });
    }
    let provider = resolved.provider(obtained.key);
    let mut warnings = resolved.warnings;
    warnings.extend(obtained.warning);
    Ok(Reached {
        client: Client::new(provider.clone(), Setup::from_environment(env)),
        provider,
        model: layers.model_id(&resolved.model.value),
        name: resolved.name.value,
        warnings,
    })
}

pub(crate) fn resolve(
    layers: &Layers,
    asked: &Asked,
    env: &Environment,
    places: &Places,
) -> Result<Resolved, provider::ResolveError> {
    let Asked { provider, model, api_url, .. } = asked;
    let mut all = vec![Layer::flags(provider.as_deref(), model.as_deref(), api_url.as_deref())?];
    // A key for another tool in the environment must not lead a chibi that is set up to somebody else.
    for source in [&layers.local, &layers.config].into_iter().flatten() {
        all.push(Layer::chibi_file(&source.file)?);
    }
    all.extend(Layer::environment(env)?);
    if let Some(file) = ConfigFile::read(&places.config.join("scrimp/config.toml"))? {
        all.push(Layer::scrimp_file(&file)?);
    }
    all.push(usual());
    provider::resolve(&all)
}

/// Where chibi has always gone if nobody says otherwise.
fn usual() -> Layer {
    Layer {
        origin: Origin::Default,
        claim: Claim::ByAddress(Name::OpenRouter),
        model: None,
        url: None,
        key: None,
        auth: None,
        anthropic_version: None,
        warnings: Vec::new(),
    }
}

/// The three that everybody knows answer nobody without one; a server of one's own may.
fn wants_key(resolved: &Resolved) -> bool {
    let public = ["api.anthropic.com", "openrouter.ai", "api.openai.com"];
    resolved.key.value == KeySource::None
        && matches!(&resolved.target.value, Target::Http(endpoint) if public.contains(&endpoint.host()))
}
