//! HTTP and TLS, and nothing else knows them. TLS is set up when the first https address is met, not before.

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ureq::http::{HeaderMap, HeaderValue, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::Setup;
use crate::block::Wire;
use crate::error::{Advice, Again, Complaint, Error, Headers, before_the_answer};
use crate::provider::{Auth, Endpoint, Provider};
use crate::retry::Wait;

/// No explanation is longer.
const COMPLAINT_CAP: u64 = 64 << 10;

/// Agents that serve no request at the moment, each with its open connection.
#[derive(Debug)]
pub(super) struct Connections {
    setup: Setup,
    idle: Mutex<Vec<Agent>>,
    roots: OnceLock<Arc<Vec<Certificate<'static>>>>,
}

impl Connections {
    pub(super) fn new(setup: Setup) -> Connections {
        Connections { setup, idle: Mutex::default(), roots: OnceLock::new() }
    }

    pub(super) fn idle(&self) -> Duration {
        self.setup.timeouts.idle
    }

    /// An agent for one request at a time.
    pub(super) fn agent(&self, endpoint: &Endpoint) -> Result<Agent, Error> {
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        waiting.map_or_else(|| self.new_agent(endpoint), Ok)
    }

    pub(super) fn keep(&self, agent: Agent) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(agent);
    }

    fn new_agent(&self, endpoint: &Endpoint) -> Result<Agent, Error> {
        let timeouts = self.setup.timeouts;
        let mut config = Agent::config_builder()
            // An answer that is no is read like any other, and one that leads elsewhere is not followed: it would be
            // given the key.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // In any case: the client would look into the environment by itself.
            .proxy(self.proxy(endpoint)?)
            .user_agent(concat!("scrimp/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(timeouts.connect))
            .timeout_connect(Some(timeouts.connect))
            .timeout_per_read(Some(timeouts.idle))
            .timeout_per_write(Some(timeouts.idle));
        if endpoint.is_https() {
            config = config.tls_config(self.tls(endpoint)?);
        }
        Ok(config.build().new_agent())
    }

    fn proxy(&self, endpoint: &Endpoint) -> Result<Option<Proxy>, Error> {
        let Some(address) = self.setup.proxies.towards(endpoint) else { return Ok(None) };
        // The address may carry a password, so it is not repeated.
        let wrong = |_| Error::Network {
            host: endpoint.host().to_owned(),
            cause: "the address of the proxy cannot be read".to_owned(),
        };
        Proxy::new(address).map(Some).map_err(wrong)
    }

    fn tls(&self, endpoint: &Endpoint) -> Result<TlsConfig, Error> {
        let roots = self.roots.get_or_init(|| Arc::new(self.trusted()));
        if roots.is_empty() {
            let cause =
                "no certificates to trust were found: name a file of them in SSL_CERT_FILE".to_owned();
            return Err(Error::Tls { host: endpoint.host().to_owned(), cause });
        }
        let crypto = Arc::new(rustls::crypto::ring::default_provider());
        let config = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::clone(roots)));
        Ok(config.unversioned_rustls_crypto_provider(crypto).build())
    }

    /// What the system trusts, since a company's own authority is known only there.
    fn trusted(&self) -> Vec<Certificate<'static>> {
        let found = match &self.setup.certificates {
            Some(named) => rustls_native_certs::load_certs_from_paths(
                path(named.file.as_ref()),
                path(named.folder.as_ref()),
            ),
            None => rustls_native_certs::load_native_certs(),
        };
        found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect()
    }
}

fn path(path: Option<&std::path::PathBuf>) -> Option<&Path> {
    path.map(std::path::PathBuf::as_path)
}

/// Sends the request and gives the body of the answer, if the answer is yes.
pub(super) fn post(
    agent: &Agent,
    provider: &Provider,
    endpoint: &Endpoint,
    body: &[u8],
    idle: Duration,
) -> Result<impl Read + use<>, Error> {
    let mut request = agent.post(endpoint.uri()).header("content-type", "application/json");
    for (name, value) in headers(provider) {
        request = request.header(name, value);
    }
    let response = request.send(body).map_err(|error| before_the_answer(error, endpoint.host(), idle))?;
    let (status, told) = (response.status(), response.headers());
    let packed = word(told, "content-encoding").filter(|coding| coding != "identity");
    match packed {
        _ if !status.is_success() => {}
        None => return Ok(reader(response)),
        Some(coding) => {
            return Err(Error::malformed(format!("it is packed as {coding}, which was not asked for")));
        }
    }
    let told = told_by(told);
    let mut explanation = Vec::new();
    // What could be read of it is better than nothing.
    let _ = reader(response).take(COMPLAINT_CAP).read_to_end(&mut explanation);
    let complaint = Complaint::from_answer(provider.wire, status.as_u16(), told, &explanation);
    Err(Error::Provider(Box::new(complaint)))
}

fn reader(response: Response<Body>) -> impl Read + use<> {
    response.into_body().into_reader()
}

fn headers(provider: &Provider) -> Vec<(&'static str, HeaderValue)> {
    let mut headers = Vec::new();
    if provider.wire == Wire::Anthropic
        && let Ok(version) = HeaderValue::from_str(&provider.anthropic_version)
    {
        headers.push(("anthropic-version", version));
    }
    if let Some(key) = &provider.key {
        let (name, text) = match provider.auth {
            Auth::Bearer => ("authorization", format!("Bearer {}", key.expose())),
            Auth::XApiKey => ("x-api-key", key.expose().to_owned()),
        };
        let mut value = HeaderValue::from_str(&text).expect("a key is printable");
        value.set_sensitive(true);
        headers.push((name, value));
    }
    headers
}

fn told_by(headers: &HeaderMap) -> Headers {
    let word = |name| word(headers, name);
    let wait = Wait::from_headers(word("retry-after-ms").as_deref(), word("retry-after").as_deref());
    let again = match word("x-should-retry").as_deref() {
        Some("true") => Some(Again::Yes),
        Some("false") => Some(Again::No),
        _ => None,
    };
    Headers {
        request_id: word("request-id").or_else(|| word("x-request-id")).or_else(|| word("x-generation-id")),
        location: word("location"),
        advice: Advice { wait, again },
    }
}

fn word(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
