//! Which proxy leads to an endpoint. Pure, from variables that were read before: the HTTP client's own idea of them is
//! not used, since it knows one proxy for everything.

use std::net::IpAddr;

use kit::invocation::Environment;
use kit::places::Variable;

use crate::provider::Endpoint;

/// Each is read in lower case too, and then wins.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "HTTPS_PROXY", meaning: "the proxy for https", default: "ALL_PROXY" },
    Variable { name: "HTTP_PROXY", meaning: "the proxy for http", default: "ALL_PROXY" },
    Variable { name: "ALL_PROXY", meaning: "the proxy for everything else", default: "none" },
    Variable {
        name: "NO_PROXY",
        meaning: "hosts and domains that are reached without one, or `*`; this machine always is",
        default: "none",
    },
];

#[derive(Clone, PartialEq, Eq, Default)]
pub struct Proxies {
    http: Option<String>,
    https: Option<String>,
    /// Hosts that are reached directly, with all below them.
    direct: Vec<String>,
}

impl Proxies {
    pub fn from_environment(env: &Environment) -> Proxies {
        let read =
            |name: &str| env.text(&name.to_ascii_lowercase()).or_else(|| env.text(name)).map(str::to_owned);
        let all = read("ALL_PROXY");
        let direct = read("NO_PROXY").unwrap_or_default();
        let direct =
            direct.split([',', ' ']).map(|host| host.trim().trim_start_matches('*').trim_start_matches('.'));
        let everywhere =
            read("NO_PROXY").is_some_and(|hosts| hosts.split([',', ' ']).any(|host| host == "*"));
        let direct = direct.filter(|host| !host.is_empty()).map(str::to_ascii_lowercase).collect();
        let proxy = |name| if everywhere { None } else { read(name).or_else(|| all.clone()) };
        Proxies { http: proxy("HTTP_PROXY"), https: proxy("HTTPS_PROXY"), direct }
    }

    /// The address of the proxy, or none: then the connection is made directly.
    pub(crate) fn towards(&self, endpoint: &Endpoint) -> Option<&str> {
        let host = endpoint.host().to_ascii_lowercase();
        if endpoint.is_loopback() || self.direct.iter().any(|direct| is_below(&host, direct)) {
            return None;
        }
        if endpoint.is_https() { self.https.as_deref() } else { self.http.as_deref() }
    }
}

/// Proxies may carry a password.
impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (http, https) = (self.http.is_some(), self.https.is_some());
        write!(f, "Proxies {{ http: {http}, https: {https}, direct: {:?} }}", self.direct)
    }
}

fn is_below(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain);
    match above {
        Some("") => true,
        Some(above) => above.ends_with('.') && domain.parse::<IpAddr>().is_err(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn towards(variables: &[(&str, &str)], address: &str) -> Option<String> {
        let proxies = Proxies::from_environment(&Environment::of(variables.iter().copied()));
        proxies.towards(&Endpoint::new(address).unwrap()).map(str::to_owned)
    }

    #[test]
    fn each_scheme_has_its_proxy_and_the_lower_case_wins() {
        let variables = [("HTTPS_PROXY", "a"), ("https_proxy", "b"), ("ALL_PROXY", "c")];
        assert_eq!(towards(&variables, "https://x.org/").as_deref(), Some("b"));
        assert_eq!(towards(&variables, "http://x.org/").as_deref(), Some("c"));
        assert_eq!(towards(&[], "https://x.org/"), None);
    }

    #[test]
    fn named_hosts_and_all_below_them_are_reached_directly() {
        let variables = [("ALL_PROXY", "p"), ("NO_PROXY", "example.com, .corp.net,*.lan,10.0.0.1")];
        for direct in [
            "example.com",
            "api.example.com",
            "corp.net",
            "a.b.corp.net",
            "nas.lan",
            "10.0.0.1",
            "EXAMPLE.com",
        ] {
            assert_eq!(towards(&variables, &format!("https://{direct}/")), None, "{direct}");
        }
        for proxied in ["badexample.com", "example.com.evil.org", "110.0.0.1"] {
            assert_eq!(
                towards(&variables, &format!("https://{proxied}/")).as_deref(),
                Some("p"),
                "{proxied}"
            );
        }
        assert_eq!(towards(&[("ALL_PROXY", "p"), ("NO_PROXY", "*")], "https://x.org/"), None);
    }

    #[test]
    fn this_machine_is_never_reached_through_a_proxy() {
        for local in ["localhost:11434", "127.0.0.1:8080", "[::1]:8080", "model.localhost"] {
            assert_eq!(towards(&[("ALL_PROXY", "p")], &format!("http://{local}/v1")), None, "{local}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let proxies = Proxies::from_environment(&Environment::of([("ALL_PROXY", "http://u:secret@p:1")]));
        assert!(!format!("{proxies:?}").contains("secret"));
    }
}
