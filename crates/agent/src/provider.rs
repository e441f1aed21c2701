//! Who is asked: the layers of settings read from where they are, and every way in which that can fail said in words.
//! Which layer wins is `llm`'s.

use std::path::PathBuf;

use kit::invocation::Environment;
use kit::{Exit, Failure, Places};
use llm::provider::{Claim, ConfigFile, Layer, ResolveError, Resolved, resolve};
use llm::retry::Wait;
use llm::{Client, Error, Kind, Setup};

use crate::cli;
use crate::config;

/// The provider that these flags, this environment and these files name.
pub(crate) fn resolved(
    typed: &cli::Provider,
    env: &Environment,
    places: &Places,
) -> Result<Resolved, Failure> {
    layers(typed, env, places).and_then(|layers| resolve(&layers)).map_err(|error| unresolved(&error))
}

/// Whether somebody has named a provider, in whatever way. A file that cannot be read counts: it will be complained
/// about.
pub(crate) fn is_configured(env: &Environment, places: &Places) -> bool {
    layers(&cli::Provider::default(), env, places).is_ok_and(|layers| {
        layers
            .iter()
            .any(|layer| layer.claim != Claim::Nobody || layer.model.is_some() || layer.url.is_some())
    })
}

/// Somebody who can be asked, and what should be said about the way the key is kept.
pub(crate) fn client(
    resolved: &Resolved,
    env: &Environment,
    places: &Places,
) -> Result<(Client, Vec<String>), Failure> {
    let obtained = resolved.key.value.obtain(env, &places.home).map_err(|error| {
        Failure::new(format!("cannot get the key that {} names", resolved.key.origin)).because(&error)
    })?;
    let warnings = resolved.warnings.iter().cloned().chain(obtained.warning).collect();
    Ok((Client::new(resolved.provider(obtained.key), Setup::from_environment(env)), warnings))
}

/// Why there is no answer, and what would help.
pub(crate) fn unanswered(error: &Error, spoken: &str) -> Failure {
    let failure = Failure::new("the model did not answer").because(error).exit_with(Exit::Provider);
    let again = error.complaint().and_then(|complaint| complaint.advice.wait);
    let hint = match (error, error.complaint().map(|complaint| complaint.kind)) {
        (_, Some(Kind::Auth)) => {
            format!("set ANTHROPIC_API_KEY, or name the key in the file that `{spoken} config init` writes")
        }
        (_, Some(Kind::Billing)) => "look at the account's credit and spending limit".to_owned(),
        (_, Some(Kind::NotFound)) => format!("`{spoken} config show` says which model is asked, and where"),
        (_, Some(Kind::RateLimited | Kind::Overloaded)) => match again {
            Some(Wait::For(time)) => format!("in {} s: `{spoken} --continue`", time.as_secs()),
            Some(Wait::Until(_)) | None => format!("later: `{spoken} --continue`"),
        },
        (_, Some(Kind::ContextTooLong)) => "`/compact`, or a new conversation".to_owned(),
        (Error::Network { .. } | Error::Tls { .. }, _) => {
            format!("`{spoken} config show` says who is asked, and where")
        }
        (Error::Dropped | Error::Idle(_), _) => format!("`{spoken} --continue` goes on"),
        _ => return failure,
    };
    failure.hint(hint)
}

fn layers(typed: &cli::Provider, env: &Environment, places: &Places) -> Result<Vec<Layer>, ResolveError> {
    let text = |value: &Option<String>| value.clone();
    let (provider, model, url) = (text(&typed.provider), text(&typed.model), text(&typed.api_url));
    let mut layers = vec![Layer::flags(provider.as_deref(), model.as_deref(), url.as_deref())?];
    layers.extend(Layer::environment(env)?);
    if let Some(file) = ConfigFile::read(&config::path(places))? {
        layers.push(Layer::scrimp_file(&file)?);
    }
    let chibi = env.get("CHIBI_HOME").map_or_else(|| places.home.join(".chibi"), PathBuf::from);
    if let Some(file) = ConfigFile::read(&chibi.join("config.toml"))? {
        layers.push(Layer::chibi_file(&file)?);
    }
    Ok(layers)
}

fn unresolved(error: &ResolveError) -> Failure {
    let failure = Failure::usage("cannot tell which provider to ask").because(error);
    match error {
        ResolveError::UnknownProvider { nearest: Some(near), .. } => {
            failure.hint(format!("did you mean `{near}`?"))
        }
        ResolveError::UnknownProvider { .. } => failure.hint("there are anthropic, openrouter and openai"),
        ResolveError::NoModel(_) => failure.hint("name one with `--model`"),
        ResolveError::File { .. } | ResolveError::Url { .. } | ResolveError::Key { .. } => {
            failure.exit_with(Exit::Failed)
        }
    }
}
