//! Replies, and the statistics in them. On the wire nothing tags a reply: its keys tell which one it is, and this
//! file is the only place that knows the rule. Moments are RFC 3339 text, made by who keeps them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One line from the daemon.
///
/// Read back by its keys: a `status` of `error`; else `salsa_stats` and `uptime`; else nothing but `status`, `message`
/// and `project`; else `dirty_count`; else `hook` and `total_invocations`; else an answer. An answer that had those
/// keys would have the same JSON and come back as the other variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DaemonResponse {
    Status(SimpleStatus),
    FullStatus(Box<FullStatus>),
    Notify(Notified),
    Track(Tracked),
    Answer(Answer),
    Error(Refusal),
}

/// `ok` or `shutting_down`. The reply to `ping` names the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleStatus {
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
}

/// All that the daemon tells about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FullStatus {
    pub status: DaemonStatus,
    /// In seconds.
    pub uptime: f64,
    #[serde(default)]
    pub uptime_human: String,
    pub files: usize,
    pub project: PathBuf,
    pub salsa_stats: SalsaCacheStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedup_stats: Option<DedupStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_stats: Option<SessionStats>,
    pub all_sessions: AllSessionsSummary,
    #[serde(default)]
    pub hook_stats: BTreeMap<String, HookStats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<Embedded>,
}

/// How far the functions of a project are known by what they are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedded {
    pub model: String,
    pub done: usize,
    pub total: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename = "ok")]
pub struct Notified {
    pub dirty_count: usize,
    pub threshold: usize,
    pub reindex_triggered: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename = "ok")]
pub struct Tracked {
    pub hook: String,
    pub total_invocations: u64,
    pub flushed: bool,
}

/// What a command found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename = "ok")]
pub struct Answer {
    /// The state of the files that it holds for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

/// Why a request was not served, with what may help, such as near names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename = "error")]
pub struct Refusal {
    pub message: String,
    #[serde(flatten)]
    pub data: Map<String, Value>,
}

impl DaemonResponse {
    pub fn status(word: &str) -> DaemonResponse {
        DaemonResponse::Status(SimpleStatus { status: word.to_owned(), message: None, project: None })
    }

    pub fn error(message: impl Into<String>) -> DaemonResponse {
        DaemonResponse::Error(Refusal { message: message.into(), data: Map::new() })
    }

    fn from_fields(mut fields: Map<String, Value>) -> serde_json::Result<DaemonResponse> {
        let word = match fields.get("status") {
            Some(Value::String(word)) => word.clone(),
            _ => return Err(serde_json::Error::custom("a reply without a status")),
        };
        let has = |key: &str| fields.contains_key(key);
        let full = has("salsa_stats") && has("uptime");
        let notified = has("dirty_count");
        let tracked = has("hook") && has("total_invocations");
        let simple = fields.keys().all(|key| matches!(key.as_str(), "status" | "message" | "project"));
        match word.as_str() {
            "error" => {
                fields.remove("status");
                serde_json::from_value(fields.into()).map(DaemonResponse::Error)
            }
            _ if full => serde_json::from_value(fields.into()).map(DaemonResponse::FullStatus),
            _ if simple => serde_json::from_value(fields.into()).map(DaemonResponse::Status),
            "ok" if notified => serde_json::from_value(fields.into()).map(DaemonResponse::Notify),
            "ok" if tracked => serde_json::from_value(fields.into()).map(DaemonResponse::Track),
            "ok" => {
                fields.remove("status");
                serde_json::from_value(fields.into()).map(DaemonResponse::Answer)
            }
            _ => Err(serde_json::Error::custom(format!("a reply with the status `{word}`"))),
        }
    }
}

impl<'de> Deserialize<'de> for DaemonResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        DaemonResponse::from_fields(fields).map_err(D::Error::custom)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonStatus {
    Initializing,
    Indexing,
    Ready,
    ShuttingDown,
    Stopped,
}

/// How the memo table did. `hit_rate` is written with two decimals and not read: it follows from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct SalsaCacheStats {
    pub hits: u64,
    pub misses: u64,
    pub invalidations: u64,
    pub recomputations: u64,
}

impl SalsaCacheStats {
    /// In percent; 0 when nothing was asked.
    pub fn hit_rate(&self) -> f64 {
        percent(self.hits as f64, (self.hits + self.misses) as f64).unwrap_or(0.0)
    }
}

impl Serialize for SalsaCacheStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("SalsaCacheStats", 5)?;
        fields.serialize_field("hits", &self.hits)?;
        fields.serialize_field("misses", &self.misses)?;
        fields.serialize_field("hit_rate", &((self.hit_rate() * 100.0).round() / 100.0))?;
        fields.serialize_field("invalidations", &self.invalidations)?;
        fields.serialize_field("recomputations", &self.recomputations)?;
        fields.end()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DedupStats {
    pub unique_hashes: usize,
    pub duplicates_avoided: usize,
    pub bytes_saved: u64,
}

/// What one conversation would have read, and what it read instead, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStats {
    pub session_id: String,
    pub raw_tokens: u64,
    pub tldr_tokens: u64,
    pub requests: u64,
    pub started_at: String,
}

impl SessionStats {
    pub fn record_request(&mut self, raw_tokens: u64, tldr_tokens: u64) {
        self.raw_tokens += raw_tokens;
        self.tldr_tokens += tldr_tokens;
        self.requests += 1;
    }

    /// Negative when the answers were longer than the files.
    pub fn savings_tokens(&self) -> i64 {
        self.raw_tokens as i64 - self.tldr_tokens as i64
    }

    /// In percent; 0 when nothing was asked.
    pub fn savings_percent(&self) -> f64 {
        percent(self.savings_tokens() as f64, self.raw_tokens as f64).unwrap_or(0.0)
    }
}

/// What one hook did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookStats {
    pub hook_name: String,
    pub invocations: u64,
    pub successes: u64,
    pub failures: u64,
    pub metrics: BTreeMap<String, f64>,
    pub started_at: String,
}

impl HookStats {
    /// Counts one call; metrics of the same name are summed.
    pub fn record_invocation(&mut self, success: bool, metrics: &BTreeMap<String, f64>) {
        self.invocations += 1;
        match success {
            true => self.successes += 1,
            false => self.failures += 1,
        }
        for (name, value) in metrics {
            *self.metrics.entry(name.clone()).or_insert(0.0) += value;
        }
    }

    /// In percent; 100 when the hook never ran.
    pub fn success_rate(&self) -> f64 {
        percent(self.successes as f64, self.invocations as f64).unwrap_or(100.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AllSessionsSummary {
    pub active_sessions: usize,
    pub total_raw_tokens: u64,
    pub total_tldr_tokens: u64,
    pub total_requests: u64,
}

/// `None` of nothing.
fn percent(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Reads `line`, and makes sure that writing gives the same JSON again.
    fn read(line: &str) -> DaemonResponse {
        let response: DaemonResponse = serde_json::from_str(line).unwrap();
        let again = serde_json::to_value(&response).unwrap();
        assert_eq!(again, serde_json::from_str::<Value>(line).unwrap());
        response
    }

    #[test]
    fn the_replies_of_the_specification_are_told_apart() {
        assert_eq!(read(r#"{"status": "shutting_down"}"#), DaemonResponse::status("shutting_down"));
        assert!(matches!(read(r#"{"status":"ok","message":"Daemon stopped"}"#), DaemonResponse::Status(_)));
        assert!(matches!(read(r#"{"status":"ok","project":"/p"}"#), DaemonResponse::Status(_)));
        assert_eq!(
            read(r#"{"status":"ok","dirty_count":5,"threshold":20,"reindex_triggered":false}"#),
            DaemonResponse::Notify(Notified { dirty_count: 5, threshold: 20, reindex_triggered: false })
        );
        assert_eq!(
            read(r#"{"status":"ok","hook":"h","total_invocations":7,"flushed":true}"#),
            DaemonResponse::Track(Tracked { hook: "h".into(), total_invocations: 7, flushed: true })
        );
        let warm = r#"{"status":"ok","files":150,"edges":2500,"languages":["python","typescript"],
                       "cache_path":".tldr/cache/call_graph.json"}"#;
        assert!(matches!(read(warm), DaemonResponse::Answer(Answer { as_of: None, .. })));
    }

    #[test]
    fn an_error_is_an_error_whatever_else_it_says() {
        assert_eq!(
            read(r#"{"status":"error","message":"unknown command: fly"}"#),
            DaemonResponse::error("unknown command: fly")
        );
        let near = read(r#"{"status":"error","message":"not found","near":["walk"],"dirty_count":1}"#);
        let DaemonResponse::Error(refusal) = near else { panic!("{near:?}") };
        assert_eq!(refusal.data["near"], json!(["walk"]));
    }

    #[test]
    fn an_answer_keeps_its_data_and_what_it_is_as_of() {
        let line = r#"{"status":"ok","as_of":"b3:12","edges":[{"line":1}],"truncated":true,"next":null}"#;
        let DaemonResponse::Answer(answer) = read(line) else { panic!() };
        assert_eq!(answer.as_of.as_deref(), Some("b3:12"));
        assert_eq!(answer.data.keys().collect::<Vec<_>>(), ["edges", "next", "truncated"]);
        assert!(serde_json::to_string(&answer).unwrap().starts_with(r#"{"status":"ok","as_of":"#));
    }

    #[test]
    fn the_full_status_of_the_specification_is_read() {
        let line = r#"{"status": "ready", "uptime": 3600.5, "uptime_human": "1h 0m 0s", "files": 150,
            "project": "/path/to/project",
            "salsa_stats": {"hits": 1234, "misses": 56, "hit_rate": 95.67, "invalidations": 10, "recomputations": 8},
            "dedup_stats": {"unique_hashes": 500, "duplicates_avoided": 120, "bytes_saved": 1048576},
            "all_sessions": {"active_sessions": 3, "total_raw_tokens": 500000, "total_tldr_tokens": 50000,
                             "total_requests": 200}}"#;
        let response: DaemonResponse = serde_json::from_str(line).unwrap();
        let DaemonResponse::FullStatus(status) = &response else { panic!("{response:?}") };
        assert_eq!((status.status, status.files), (DaemonStatus::Ready, 150));
        // The example leaves the hooks out and rounds 95.6589 up.
        let mut expected: Value = serde_json::from_str(line).unwrap();
        expected["hook_stats"] = json!({});
        expected["salsa_stats"]["hit_rate"] = json!(95.66);
        assert_eq!(serde_json::to_value(&response).unwrap(), expected);
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        for line in ["", "[]", "{}", r#"{"status":1}"#, r#"{"status":"ok","dirty_count":"many"}"#] {
            assert!(serde_json::from_str::<DaemonResponse>(line).is_err(), "{line}");
        }
    }

    #[test]
    fn rates_of_nothing_are_no_division_by_zero() {
        let mut session = SessionStats {
            session_id: "ab12cd34".into(),
            raw_tokens: 0,
            tldr_tokens: 0,
            requests: 0,
            started_at: "2026-02-03T04:05:06Z".into(),
        };
        assert_eq!(session.savings_percent(), 0.0);
        session.record_request(100, 10);
        session.record_request(100, 230);
        assert_eq!((session.requests, session.savings_tokens()), (2, -40));
        assert_eq!(session.savings_percent(), -20.0);
        assert_eq!(SalsaCacheStats::default().hit_rate(), 0.0);

        let mut hook = HookStats {
            hook_name: "h".into(),
            invocations: 0,
            successes: 0,
            failures: 0,
            metrics: BTreeMap::new(),
            started_at: session.started_at,
        };
        assert_eq!(hook.success_rate(), 100.0);
        let found = BTreeMap::from([("errors_found".to_owned(), 2.0)]);
        hook.record_invocation(true, &found);
        hook.record_invocation(false, &found);
        assert_eq!((hook.success_rate(), hook.metrics["errors_found"]), (50.0, 4.0));
    }

    proptest! {
        #[test]
        fn any_reply_comes_back_as_the_same_json(
            status in "ok|error|ready|[a-z]{0,4}",
            keys in prop::collection::btree_map("message|near|edges|hook|files|x{1,3}", "[a-z]{0,3}", 0..5),
        ) {
            let mut fields = json!(keys);
            fields["status"] = json!(status);
            let simple = keys.keys().all(|key| key == "message");
            match serde_json::from_value::<DaemonResponse>(fields.clone()) {
                Ok(response) => prop_assert_eq!(serde_json::to_value(&response).unwrap(), fields),
                Err(_) if status == "error" => prop_assert!(!keys.contains_key("message")),
                Err(_) => prop_assert!(status != "ok" && !simple),
            }
        }
    }
}
