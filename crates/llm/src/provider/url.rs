//! Addresses: the base that people know, and the endpoint that requests go to. Two types, so that none is taken for the
//! other.

use std::fmt;
use std::net::IpAddr;

use thiserror::Error;
use ureq::http::Uri;

use super::Name;
use crate::block::Wire;

/// What stands before the path of an interface: `https://api.anthropic.com`, `http://localhost:11434/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Uri);

/// The whole address that a request is sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Uri);

/// An address in either form, as a layer of settings has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Url {
    Base(BaseUrl),
    Full(Endpoint),
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UrlError {
    #[error("`{0}` is not an address like https://host/path")]
    NotAnAddress(String),
    /// Not repeated here: it would be a key in a log.
    #[error("a name or password in an address is shown to everybody: set a key instead")]
    Credentials,
    #[error("`{whole}` is a whole endpoint; its base is `{base}`")]
    Whole { whole: String, base: String },
    #[error("a base cannot have a query: `{0}`")]
    Query(String),
}

impl BaseUrl {
    pub fn new(text: &str) -> Result<BaseUrl, UrlError> {
        let uri = parse(text)?;
        if uri.query().is_some() {
            return Err(UrlError::Query(text.to_owned()));
        }
        let trimmed = text.trim().trim_end_matches('/');
        for ending in ["/v1/messages", "/chat/completions"] {
            if let Some(base) = trimmed.strip_suffix(ending) {
                return Err(UrlError::Whole { whole: trimmed.to_owned(), base: base.to_owned() });
            }
        }
        Ok(BaseUrl(uri))
    }

    /// Anthropic's base stands before `/v1`, the others' includes it. Both are forgiven the other's habit.
    fn endpoint(&self, wire: Wire) -> Endpoint {
        let base = self.0.to_string();
        let base = base.trim_end_matches('/');
        let versioned = self.0.path().trim_end_matches('/').ends_with("/v1");
        let bare = self.0.path().trim_matches('/').is_empty();
        let whole = match wire {
            Wire::Anthropic if versioned => format!("{base}/messages"),
            Wire::Anthropic => format!("{base}/v1/messages"),
            Wire::OpenAi if bare => format!("{base}/v1/chat/completions"),
            Wire::OpenAi => format!("{base}/chat/completions"),
        };
        Endpoint(whole.parse().expect("an address with a longer path is an address"))
    }
}

impl Endpoint {
    pub fn new(text: &str) -> Result<Endpoint, UrlError> {
        parse(text).map(Endpoint)
    }

    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    /// Whether it never leaves this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        let address = host.parse::<IpAddr>();
        host == "localhost"
            || host.ends_with(".localhost")
            || address.is_ok_and(|address| address.is_loopback())
    }

    /// Whether it looks like one.
    pub(super) fn is_usual(&self) -> bool {
        let path = self.0.path().trim_end_matches('/');
        path.ends_with("/messages") || path.ends_with("/chat/completions")
    }

    /// Whose language is spoken there, as far as the path tells.
    pub(super) fn name(&self) -> Name {
        match self.0.path().trim_end_matches('/') {
            path if path.ends_with("/messages") => Name::Anthropic,
            _ if self.host() == "openrouter.ai" => Name::OpenRouter,
            _ => Name::OpenAi,
        }
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }
}

impl Url {
    pub(super) fn endpoint(self, name: Name) -> Endpoint {
        match self {
            Url::Base(base) => base.endpoint(name.wire()),
            Url::Full(endpoint) => endpoint,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn parse(text: &str) -> Result<Uri, UrlError> {
    let wrong = || UrlError::NotAnAddress(text.to_owned());
    let uri: Uri = text.trim().parse().map_err(|_| wrong())?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(UrlError::Credentials);
    }
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    if known && uri.host().is_some_and(|host| !host.is_empty()) { Ok(uri) } else { Err(wrong()) }
}
