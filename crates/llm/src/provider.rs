//! Who is asked, and how: put together from layers of settings, each value with the layer it came from. Pure: whoever
//! calls has read the files and the environment.

mod layer;
mod url;

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::block::Wire;
use crate::key::{Key, KeySource};
use crate::openai::Dialect;
use crate::request::Request;
use crate::wire::Written;
use crate::{anthropic, openai, price};

pub use layer::{Claim, ConfigFile, KEYS, Layer, VARIABLES};
pub use url::{BaseUrl, Endpoint, Url, UrlError};

/// A provider's name, as one types it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Name {
    Anthropic,
    OpenRouter,
    /// OpenAI, and every server that speaks like it.
    OpenAi,
}

impl Name {
    pub const ALL: [Name; 3] = [Name::Anthropic, Name::OpenRouter, Name::OpenAi];

    pub fn word(self) -> &'static str {
        match self {
            Name::Anthropic => "anthropic",
            Name::OpenRouter => "openrouter",
            Name::OpenAi => "openai",
        }
    }

    pub fn wire(self) -> Wire {
        match self {
            Name::Anthropic => Wire::Anthropic,
            Name::OpenRouter | Name::OpenAi => Wire::OpenAi,
        }
    }

    fn public(self) -> Endpoint {
        let address = match self {
            Name::Anthropic => "https://api.anthropic.com/v1/messages",
            Name::OpenRouter => "https://openrouter.ai/api/v1/chat/completions",
            Name::OpenAi => "https://api.openai.com/v1/chat/completions",
        };
        Endpoint::new(address).expect("our own addresses are addresses")
    }
}

/// Which layer a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    Flag,
    Environment(String),
    File(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Flag => f.write_str("flag"),
            Origin::Environment(name) => write!(f, "environment ({name})"),
            Origin::File(path) => write!(f, "file ({})", path.display()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub origin: Origin,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    Bearer,
    /// Anthropic's older header, which its gateways know too.
    XApiKey,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Http(Endpoint),
    /// A file that plays the model, see [`crate::script`].
    Script(PathBuf),
}

/// Everything that was decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub name: Sourced<Name>,
    pub model: Sourced<String>,
    pub target: Sourced<Target>,
    pub key: Sourced<KeySource>,
    pub auth: Sourced<Auth>,
    pub anthropic_version: Sourced<String>,
    pub warnings: Vec<String>,
}

/// Somebody who can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub wire: Wire,
    pub target: Target,
    pub key: Option<Key>,
    pub auth: Auth,
    pub anthropic_version: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ResolveError {
    #[error("no provider is called `{typed}`")]
    UnknownProvider { typed: String, nearest: Option<&'static str> },
    #[error("{origin}: {cause}")]
    Url { origin: String, cause: UrlError },
    #[error("{origin}: {cause}")]
    Key { origin: String, cause: crate::key::KeyError },
    #[error("`{path}`: {cause}", path = path.display())]
    File { path: PathBuf, cause: String },
    /// Only Anthropic has a model that we know is there.
    #[error("no model is named for {}", .0.word())]
    NoModel(Name),
}

/// Puts the layers together; the first that has a value wins. A layer that speaks of one provider has no say when
/// another was chosen, so that no key goes where it does not belong.
///
/// A key in the environment goes to its provider, or to an address that was typed or stands in the environment too, and to
/// no address of a file. It chooses its provider only if nobody names one in so many words, and if it is the only one
/// there.
pub fn resolve(layers: &[Layer]) -> Result<Resolved, ResolveError> {
    let name = choose(layers);
    let ours: Vec<&Layer> = layers.iter().filter(|layer| layer.concerns(name.value)).collect();
    let model = ours.iter().find_map(|layer| layer.model.clone());
    let model = match (model, name.value) {
        (Some(model), _) => model,
        (None, Name::Anthropic) => by_default(price::DEFAULT_ANTHROPIC_MODEL.to_owned()),
        (None, name) => return Err(ResolveError::NoModel(name)),
    };
    let address = match ours.iter().find_map(|layer| layer.url.clone()) {
        Some(Sourced { value, origin }) => Sourced { value: value.endpoint(name.value), origin },
        None => by_default(name.value.public()),
    };
    let foreign =
        matches!(address.origin, Origin::File(_)) && address.value.host() != name.value.public().host();
    let host = address.value.host().to_owned();
    let target = match model.value.strip_prefix("script:") {
        Some(path) => Sourced { value: Target::Script(PathBuf::from(path)), origin: model.origin.clone() },
        None => Sourced { value: Target::Http(address.value), origin: address.origin },
    };
    // A file asks for no key.
    let key =
        ours.iter().filter(|_| matches!(target.value, Target::Http(_))).find_map(|layer| layer.key.clone());
    let mut key = key.unwrap_or_else(|| by_default(KeySource::None));
    let default_auth = if name.value == Name::Anthropic { Auth::XApiKey } else { Auth::Bearer };
    let mut warnings: Vec<String> = layers.iter().flat_map(|layer| layer.warnings.clone()).collect();
    // Whoever exported a key for a provider did not mean the server that some file names.
    if foreign && let Origin::Environment(variable) = &key.origin {
        warnings.push(format!("{variable} is not sent to {host}: name a key beside its address"));
        key = by_default(KeySource::None);
    }
    warnings.extend(in_the_clear(&target.value, &key.value));
    Ok(Resolved {
        auth: ours.iter().find_map(|layer| layer.auth.clone()).unwrap_or_else(|| by_default(default_auth)),
        anthropic_version: ours
            .iter()
            .find_map(|layer| layer.anthropic_version.clone())
            .unwrap_or_else(|| by_default(anthropic::VERSION.to_owned())),
        name,
        model,
        target,
        key,
        warnings,
    })
}

impl Resolved {
    /// With the key that [`KeySource::obtain`] gave.
    pub fn provider(&self, key: Option<Key>) -> Provider {
        Provider {
            wire: self.name.value.wire(),
            target: self.target.value.clone(),
            key,
            auth: self.auth.value,
            anthropic_version: self.anthropic_version.value.clone(),
        }
    }
}

impl Provider {
    /// The bytes that would be sent, to be logged, measured or compared.
    pub fn body(&self, request: &Request) -> Vec<u8> {
        self.written(request).body
    }

    pub(crate) fn written(&self, request: &Request) -> Written {
        match self.wire {
            Wire::Anthropic => anthropic::write(request, &self.anthropic_version),
            Wire::OpenAi => openai::write(request, self.dialect()),
        }
    }

    fn dialect(&self) -> Dialect {
        let host = match &self.target {
            Target::Http(endpoint) => endpoint.host(),
            Target::Script(_) => "",
        };
        match host {
            "api.openai.com" => Dialect::OpenAi,
            "openrouter.ai" => Dialect::OpenRouter,
            _ => Dialect::Compatible,
        }
    }
}

fn choose(layers: &[Layer]) -> Sourced<Name> {
    let named = layers.iter().any(|layer| matches!(layer.claim, Claim::Named(_)));
    let keys: Vec<&Layer> =
        layers.iter().filter(|layer| matches!(layer.claim, Claim::ByVariable(_))).collect();
    let chosen = layers.iter().find(|layer| match layer.claim {
        Claim::Named(_) | Claim::ByAddress(_) => true,
        Claim::ByVariable(_) => !named && keys.len() == 1,
        Claim::Nobody => false,
    });
    // Several keys and nobody to choose: the first, in our own order.
    match chosen.or(keys.first().copied()) {
        Some(layer) => {
            Sourced { value: layer.claim.name().unwrap_or(Name::Anthropic), origin: layer.origin.clone() }
        }
        None => by_default(Name::Anthropic),
    }
}

fn by_default<T>(value: T) -> Sourced<T> {
    Sourced { value, origin: Origin::Default }
}

fn in_the_clear(target: &Target, key: &KeySource) -> Option<String> {
    match target {
        Target::Http(endpoint)
            if !endpoint.is_https() && !endpoint.is_loopback() && *key != KeySource::None =>
        {
            Some(format!("the key travels to {} without encryption: use https", endpoint.host()))
        }
        _ => None,
    }
}
