//! What a provider says when it refuses: read from any of the bodies they send, and sorted into the few kinds that
//! callers act on. Pure; the words of providers are clipped, and the key is taken out of them.

use std::fmt;

use kit::text;
use serde_json::Value;

use crate::block::Wire;
use crate::key::Key;
use crate::retry::Wait;

/// Providers repeat whole requests in their complaints.
const WORDS: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub kind: Kind,
    /// None when it came in the middle of a stream.
    pub status: Option<u16>,
    /// The provider's own words, or a description of a body that has none.
    pub message: String,
    /// By which the provider finds the request again.
    pub request_id: Option<String>,
    pub advice: Advice,
}

/// What a caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// No credit, or a spending limit.
    Billing,
    RateLimited,
    Overloaded,
    /// The request is larger than the model or the provider takes.
    ContextTooLong,
    /// No such model or address.
    NotFound,
    /// The provider will not answer this for reasons of policy.
    Refused,
    BadRequest,
    /// The provider is in trouble, and says nothing better.
    Server,
}

/// What the provider says about trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Advice {
    pub wait: Option<Wait>,
    pub again: Option<Again>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    Yes,
    No,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the provider answered {status}: {}", self.message),
            None => write!(f, "the provider broke off: {}", self.message),
        }
    }
}

impl std::error::Error for Complaint {}

/// The headers that matter when an answer is no.
#[derive(Debug, Clone, Default)]
pub(crate) struct Headers {
    pub(crate) request_id: Option<String>,
    pub(crate) location: Option<String>,
    pub(crate) advice: Advice,
}

impl Complaint {
    /// From an HTTP answer that is no success.
    pub(crate) fn from_answer(wire: Wire, status: u16, headers: Headers, body: &[u8]) -> Complaint {
        let said = Said::read(body);
        let mut advice = headers.advice;
        let unexplained = || match (&headers.location, status) {
            (Some(location), 300..=399) => format!("it sends us on to {location}, which we do not follow"),
            _ => described(body),
        };
        let message = said.message.clone().unwrap_or_else(unexplained);
        let kind = kind(Some(status), &said.names, &message);
        // Anthropic names a time when waiting helps; without one it is the month's budget that is gone.
        if wire == Wire::Anthropic && status == 429 && advice.wait.is_none() {
            advice.again.get_or_insert(Again::No);
        }
        if said.passing {
            advice.again.get_or_insert(Again::Yes);
        }
        Complaint { kind, status: Some(status), message, request_id: headers.request_id, advice }
    }

    /// From an error in the middle of a stream, or in the body of a 200.
    pub(crate) fn from_error(error: &Value) -> Complaint {
        let said = Said::of(error);
        let unexplained =
            || if error.is_null() { "it does not say why".to_owned() } else { error.to_string() };
        let message = said.message.unwrap_or_else(unexplained);
        // Many put the status that it would have been into the code.
        let status = said.names.iter().find_map(|name| name.parse().ok());
        let kind = kind(status, &said.names, &message);
        Complaint { kind, status: None, message, request_id: None, advice: Advice::default() }
    }

    /// For people: not too long, and without the key. In this order half a key could be left.
    pub(crate) fn fit_to_be_seen(mut self, key: Option<&Key>) -> Complaint {
        let message = key.map_or(self.message.clone(), |key| key.taken_out_of(&self.message));
        self.message = text::clip(&message, WORDS, "");
        self
    }
}

/// The parts of an error body, whoever wrote it.
#[derive(Default)]
struct Said {
    message: Option<String>,
    /// Types and codes, as text.
    names: Vec<String>,
    /// The trouble is a matter of moments, whatever the status says.
    passing: bool,
}

impl Said {
    fn read(body: &[u8]) -> Said {
        match serde_json::from_slice::<Value>(body) {
            Ok(body) if body.get("error").is_some() => Said::of(&body["error"]),
            // vLLM, and everything built on FastAPI.
            Ok(body) if body.is_object() => Said::of(&body),
            _ => Said::default(),
        }
    }

    fn of(error: &Value) -> Said {
        if let Value::String(message) = error {
            return Said { message: Some(message.clone()), ..Said::default() };
        }
        let field = |name: &str| error.get(name).filter(|value| !value.is_null());
        let message = ["message", "detail", "error"].iter().find_map(|name| field(name)).map(words);
        let metadata = |name: &str| error.pointer(&format!("/metadata/{name}"));
        let names = [field("type"), field("code"), metadata("error_type"), metadata("provider_code")];
        let limit = metadata("limit_source").and_then(Value::as_str);
        Said {
            message,
            names: names.into_iter().flatten().map(words).collect(),
            passing: limit == Some("openrouter_in_flight_budget"),
        }
    }
}

fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn described(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.trim() {
        "" => "an empty body".to_owned(),
        page if page.starts_with('<') => "a web page".to_owned(),
        words => words.to_owned(),
    }
}

/// Names first, since proxies turn every status into another; then what the words give away; then the status.
fn kind(status: Option<u16>, names: &[String], message: &str) -> Kind {
    if let Some(kind) = names.iter().find_map(|name| by_name(name)) {
        return kind;
    }
    match status {
        Some(400 | 422 | 500) | None if says_too_long(message) => Kind::ContextTooLong,
        Some(401 | 403) => Kind::Auth,
        Some(402) => Kind::Billing,
        Some(404) => Kind::NotFound,
        Some(413) => Kind::ContextTooLong,
        Some(429) => Kind::RateLimited,
        Some(503 | 529) => Kind::Overloaded,
        Some(408 | 409 | 500..) => Kind::Server,
        Some(_) => Kind::BadRequest,
        None if names.iter().any(|name| name.starts_with("invalid_request")) => Kind::BadRequest,
        None => Kind::Server,
    }
}

/// Types of Anthropic, codes of OpenAI, error types of OpenRouter and llama.cpp, as far as they say more than a status:
/// with OpenAI almost everything is an `invalid_request_error`.
fn by_name(name: &str) -> Option<Kind> {
    Some(match name {
        "authentication_error" | "permission_error" | "invalid_api_key" | "permission_denied" => Kind::Auth,
        "billing_error" | "insufficient_quota" | "payment_required" => Kind::Billing,
        "rate_limit_error" | "rate_limit_exceeded" => Kind::RateLimited,
        "overloaded_error" | "provider_overloaded" | "provider_unavailable" | "unavailable_error" => {
            Kind::Overloaded
        }
        "request_too_large" | "context_length_exceeded" | "exceed_context_size_error" => Kind::ContextTooLong,
        "not_found_error" | "model_not_found" => Kind::NotFound,
        "content_policy_violation" | "content_filter" | "refusal" => Kind::Refused,
        _ => return None,
    })
}

/// No provider promises its wording, but some have no other way to say it.
fn says_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "prompt is too long",
        "context length",
        "context window",
        "maximum context",
        "context size",
        "too many tokens",
    ]
    .iter()
    .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answered(wire: Wire, status: u16, body: &Value) -> Complaint {
        Complaint::from_answer(wire, status, Headers::default(), body.to_string().as_bytes())
    }

    #[test]
    fn every_kind_of_body_is_understood() {
        let anthropic = |status, kind: &str, words: &str| {
            let body = json!({"type": "error", "error": {"type": kind, "message": words}});
            answered(Wire::Anthropic, status, &body)
        };
        assert_eq!(anthropic(401, "authentication_error", "invalid x-api-key").kind, Kind::Auth);
        assert_eq!(anthropic(529, "overloaded_error", "Overloaded").kind, Kind::Overloaded);
        assert_eq!(anthropic(413, "request_too_large", "…").kind, Kind::ContextTooLong);
        let long =
            anthropic(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
        assert_eq!(long.kind, Kind::ContextTooLong);
        assert_eq!(anthropic(400, "invalid_request_error", "max_tokens: required").kind, Kind::BadRequest);

        let openai = |status, body| answered(Wire::OpenAi, status, &body).kind;
        let quota = json!({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}});
        assert_eq!(openai(429, quota), Kind::Billing);
        let context =
            json!({"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error"}});
        assert_eq!(openai(400, context), Kind::ContextTooLong);
        assert_eq!(openai(503, json!({"error": {"code": 503, "message": "no provider"}})), Kind::Overloaded);
        assert_eq!(openai(404, json!({"error": "model 'x' not found"})), Kind::NotFound);
        assert_eq!(openai(422, json!({"detail": [{"msg": "field required"}]})), Kind::BadRequest);
        let wrong_key = json!({"error": {"message": "Incorrect API key provided: sk-…", "type": "invalid_request_error",
            "param": null, "code": "invalid_api_key"}});
        assert_eq!(openai(401, wrong_key), Kind::Auth);
        let long = json!({"error": {"message": "This model's maximum context length is 128000 tokens.",
            "type": "invalid_request_error", "code": "context_length_exceeded"}});
        assert_eq!(openai(400, long), Kind::ContextTooLong);
        let absent = json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
        assert_eq!(openai(404, absent), Kind::NotFound);
        let metadata = json!({"error": {"code": 403, "message": "flagged",
            "metadata": {"error_type": "content_policy_violation"}}});
        assert_eq!(openai(403, metadata), Kind::Refused);
    }

    #[test]
    fn a_body_without_words_is_described() {
        let said =
            |body: &[u8]| Complaint::from_answer(Wire::OpenAi, 502, Headers::default(), body).to_string();
        assert_eq!(said(b"<html><body>Bad gateway"), "the provider answered 502: a web page");
        assert_eq!(said(b""), "the provider answered 502: an empty body");
        assert_eq!(said(b"upstream died\n"), "the provider answered 502: upstream died");
    }

    #[test]
    fn a_redirect_is_told_with_where_it_leads() {
        let headers = Headers { location: Some("https://b.example/".to_owned()), ..Headers::default() };
        let told = Complaint::from_answer(Wire::OpenAi, 307, headers, b"").message;
        assert_eq!(told, "it sends us on to https://b.example/, which we do not follow");
    }

    #[test]
    fn an_error_in_a_stream_has_the_kind_of_the_status_it_would_have_had() {
        let kind = |error| Complaint::from_error(&error).kind;
        assert_eq!(kind(json!({"type": "overloaded_error", "message": "Overloaded"})), Kind::Overloaded);
        assert_eq!(kind(json!({"code": 429, "message": "slow down"})), Kind::RateLimited);
        assert_eq!(kind(json!({"code": "server_error", "message": "oops"})), Kind::Server);
        assert_eq!(kind(json!("exceeds the available context size")), Kind::ContextTooLong);
        assert_eq!(kind(json!({"type": "invalid_request_error", "message": "no"})), Kind::BadRequest);
        assert_eq!(
            Complaint::from_error(&Value::Null).to_string(),
            "the provider broke off: it does not say why"
        );
    }

    #[test]
    fn what_the_status_hides_decides_whether_to_try_again() {
        let cap =
            answered(Wire::Anthropic, 429, &json!({"error": {"type": "rate_limit_error", "message": "…"}}));
        assert_eq!(cap.advice.again, Some(Again::No));
        let budget = json!({"error": {"code": 402, "message": "…",
            "metadata": {"limit_source": "openrouter_in_flight_budget"}}});
        assert_eq!(answered(Wire::OpenAi, 402, &budget).advice.again, Some(Again::Yes));
    }

    #[test]
    fn a_key_that_the_provider_repeats_is_taken_out() {
        let body = json!({"error": {"message": "Incorrect API key provided: sk-very-secret."}});
        let key = Key::new("sk-very-secret").unwrap();
        let complaint = answered(Wire::OpenAi, 401, &body).fit_to_be_seen(Some(&key));
        assert_eq!(complaint.message, "Incorrect API key provided: [key].");
        for before in WORDS / 2 - 20..WORDS / 2 + 20 {
            let message = format!("{}sk-very-secret{}", "x".repeat(before), "y".repeat(WORDS));
            let complaint = answered(Wire::OpenAi, 401, &json!({"error": {"message": message}}));
            let seen = complaint.fit_to_be_seen(Some(&key)).message;
            assert!(!seen.contains("sk-") && seen.len() < WORDS + 50, "no half of it either: {seen}");
        }
    }
}
