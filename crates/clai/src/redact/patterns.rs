//! Secrets known by their look, wherever they stand. A table; what a provider's token looks like is said here only.
//!
//! Each pattern begins at a boundary and has a shape of its own, so that paths, hashes and identifiers do not match. Where a
//! pattern has a group, the group is the secret.

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::names::{self, URL};
use super::{Kind, Secret};

pub(super) fn find(line: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    // Whether any matches is known sooner than which ones do, and for most lines none does.
    if !PREFILTER.is_match(line) {
        return found;
    }
    for index in PREFILTER.matches(line) {
        let pattern = &PATTERNS[index];
        let regex = COMPILED[index].get_or_init(|| compile(pattern));
        for captures in regex.captures_iter(line) {
            let name = captures.name("name").map_or("", |name| name.as_str());
            let Some(secret) = captures.name("secret").or_else(|| captures.get(0)) else { continue };
            if (pattern.accepts)(name, secret.as_str()) {
                let kind = if name.is_empty() { Kind(pattern.kind) } else { names::kind_of(name) };
                found.push(Secret { span: secret.range(), kind });
            }
        }
    }
    found
}

struct Pattern {
    kind: &'static str,
    regex: &'static str,
    /// What a regular expression cannot say, given the `name` and the secret.
    accepts: fn(&str, &str) -> bool,
}

static PREFILTER: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(PATTERNS.iter().map(|pattern| pattern.regex)).expect("every pattern of the table compiles")
});

static COMPILED: [OnceLock<Regex>; PATTERNS.len()] = [const { OnceLock::new() }; PATTERNS.len()];

fn compile(pattern: &Pattern) -> Regex {
    Regex::new(pattern.regex).expect("the prefilter holds the same pattern")
}

const fn token(kind: &'static str, regex: &'static str) -> Pattern {
    Pattern { kind, regex, accepts: |_, _| true }
}

const fn checked(kind: &'static str, regex: &'static str, accepts: fn(&str, &str) -> bool) -> Pattern {
    Pattern { kind, regex, accepts }
}

const PATTERNS: [Pattern; 60] = [
    token("github", r"(?-u:\b)gh[pousr1]_[A-Za-z0-9]{36}[A-Za-z0-9]*"),
    token("github", r"(?-u:\b)github_pat_[A-Za-z0-9_]{22}[A-Za-z0-9_]*"),
    token("github", r"(?-u:\b)v1\.[0-9a-f]{40}(?-u:\b)"),
    token(
        "gitlab",
        r"(?-u:\b)gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20}[A-Za-z0-9_.-]*",
    ),
    token("aws", r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)"),
    token("slack", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10}[A-Za-z0-9-]*"),
    token("slack", r"(?-u:\b)xapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]+"),
    token(
        "slack",
        r"https://hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20}[A-Za-z0-9/_+-]*)",
    ),
    token("stripe", r"(?-u:\b)[rs]k_(?:test|live|prod)_[A-Za-z0-9]{10}[A-Za-z0-9]*"),
    token("stripe", r"(?-u:\b)whsec_[A-Za-z0-9+/=]{24}[A-Za-z0-9+/=]*"),
    token("google", r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    token("google", r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*"),
    token("google", r"(?-u:\b)GOCSPX-[A-Za-z0-9_-]{28}"),
    token("anthropic", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*"),
    token("openrouter", r"(?-u:\b)sk-or-v1-[0-9a-f]{32}[0-9a-f]*"),
    token("openai", r"(?-u:\b)sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*"),
    token("openai", r"(?-u:\b)sk-[A-Za-z0-9]{32}[A-Za-z0-9]*"),
    token("huggingface", r"(?-u:\b)hf_[A-Za-z0-9]{30}[A-Za-z0-9]*"),
    token("groq", r"(?-u:\b)gsk_[A-Za-z0-9]{40}[A-Za-z0-9]*"),
    token("replicate", r"(?-u:\b)r8_[A-Za-z0-9]{37}"),
    token("perplexity", r"(?-u:\b)pplx-[A-Za-z0-9]{40}[A-Za-z0-9]*"),
    token("xai", r"(?-u:\b)xai-[A-Za-z0-9]{60}[A-Za-z0-9]*"),
    token("npm", r"(?-u:\b)npm_[A-Za-z0-9]{36}"),
    token("pypi", r"(?-u:\b)pypi-[A-Za-z0-9_-]{50}[A-Za-z0-9_-]*"),
    token("rubygems", r"(?-u:\b)rubygems_[0-9a-f]{48}"),
    token("crates", r"(?-u:\b)cio[A-Za-z0-9]{32}(?-u:\b)"),
    token("docker", r"(?-u:\b)dckr_(?:pat|oat)_[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*"),
    token("netlify", r"(?-u:\b)nf[pcoub]_[A-Za-z0-9]{36}[A-Za-z0-9]*"),
    token("pulumi", r"(?-u:\b)pul-[0-9a-f]{40}"),
    token("digitalocean", r"(?-u:\b)do[opr]_v1_[0-9a-f]{64}"),
    token("sendgrid", r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    token("twilio", r"(?-u:\b)SK[0-9a-f]{32}(?-u:\b)"),
    token("mailgun", r"(?-u:\b)key-[0-9a-f]{32}(?-u:\b)"),
    token("shopify", r"(?-u:\b)shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    token("square", r"(?-u:\b)sq0(?:atp|csp)-[A-Za-z0-9_-]{22}[A-Za-z0-9_-]*"),
    token("telegram", r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    token(
        "discord",
        r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]+/[A-Za-z0-9_-]{60}[A-Za-z0-9_-]*)",
    ),
    token("discord", r"(?-u:\b)[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}[A-Za-z0-9_-]*"),
    token("databricks", r"(?-u:\b)dapi[0-9a-f]{32}"),
    token("doppler", r"(?-u:\b)dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40}[A-Za-z0-9._-]*"),
    token("linear", r"(?-u:\b)lin_api_[A-Za-z0-9]{32}[A-Za-z0-9]*"),
    token("notion", r"(?-u:\b)(?:secret|ntn)_[A-Za-z0-9]{40}[A-Za-z0-9]*"),
    token("figma", r"(?-u:\b)figd_[A-Za-z0-9_-]{40}"),
    token("postman", r"(?-u:\b)PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    token("terraform", r"(?-u:\b)[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60}[A-Za-z0-9_-]*"),
    token("vault", r"(?-u:\b)hv[sbr]\.[A-Za-z0-9_-]{24}[A-Za-z0-9_-]*"),
    token("grafana", r"(?-u:\b)gl(?:sa|c)_[A-Za-z0-9+/=_]{32}[A-Za-z0-9+/=_]*"),
    token("newrelic", r"(?-u:\b)NRAK-[A-Z0-9]{27}"),
    token("sentry", r"(?-u:\b)sntry[su]_[A-Za-z0-9+/=_-]{40}[A-Za-z0-9+/=_-]*"),
    token("supabase", r"(?-u:\b)sbp_[0-9a-f]{40}"),
    token("planetscale", r"(?-u:\b)pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32}[A-Za-z0-9_.=-]*"),
    token("tailscale", r"(?-u:\b)tskey-[a-z]+-[A-Za-z0-9]{10}[A-Za-z0-9-]*"),
    token("atlassian", r"(?-u:\b)ATATT3[A-Za-z0-9_=-]{50}[A-Za-z0-9_=-]*"),
    token("age", r"(?-u:\b)AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    token(
        "jwt",
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8}[A-Za-z0-9_-]*\.eyJ[A-Za-z0-9_-]{8}[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*",
    ),
    token(
        "pem",
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    checked(URL.0, r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:'"?#<>]*:(?P<secret>[^\s/'"?#<>]+)@"#, |_, secret| {
        names::is_value("", secret)
    }),
    checked(URL.0, r#"https?://(?P<secret>[^\s/@:'"?#<>]{20}[^\s/@:'"?#<>]*)@"#, |_, secret| {
        names::is_value("", secret) && secret.bytes().any(|byte| byte.is_ascii_digit())
    }),
    // Within an argument: a query, a form, a connection string.
    checked(
        "key",
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|passwd|password|passphrase|secret|token|key|pwd|sig))=(?P<secret>[^\s"'&;|<>,)}\\]+)"#,
        |name, secret| {
            let signed = name.eq_ignore_ascii_case("sig") && secret.len() > 20;
            (names::is_secret_name(name) || signed) && names::is_value("", secret)
        },
    ),
    checked(
        "key",
        r#"(?i)["'](?P<name>[a-z0-9_.-]*(?:pass|passwd|password|passphrase|secret|token|key|pwd))\\?["']\s*:\s*\\?["'](?P<secret>[^"'\\]+)"#,
        |name, secret| names::is_secret_name(name) && names::is_value("", secret),
    ),
];
