//! The revisions of the protocol, and which one two peers settle on. Pure; knows no stream.
//!
//! Up to 2025-11-25 a connection opens with `initialize`. From 2026-07-28 there is no handshake: each request
//! says in its `_meta` what it speaks, and `server/discover` tells what a server can.

use serde_json::{Value, json};

use crate::message::{Params, RpcError};

/// A revision we speak, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Version {
    pub(crate) const NEWEST_HANDSHAKE: Version = Version::V2025_11_25;

    const TABLE: [(Version, &str); 5] = [
        (Version::V2024_11_05, "2024-11-05"),
        (Version::V2025_03_26, "2025-03-26"),
        (Version::V2025_06_18, "2025-06-18"),
        (Version::V2025_11_25, "2025-11-25"),
        (Version::V2026_07_28, "2026-07-28"),
    ];

    pub fn of(name: &str) -> Option<Version> {
        Self::TABLE.iter().find(|(_, known)| *known == name).map(|(version, _)| *version)
    }

    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Whether each request stands for itself. Then a connection is not a conversation: a client may send the
    /// requests of many over one.
    pub fn is_stateless(self) -> bool {
        self > Self::NEWEST_HANDSHAKE
    }

    /// All names, the newest first.
    pub(crate) fn names() -> Vec<&'static str> {
        Self::TABLE.iter().rev().map(|(_, name)| *name).collect()
    }
}

pub(crate) const PROTOCOL_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// What a server answers a handshake that asks for `requested`: the same if it can, else its newest.
pub(crate) fn answer_handshake(requested: &str) -> Version {
    Version::of(requested).filter(|version| !version.is_stateless()).unwrap_or(Version::NEWEST_HANDSHAKE)
}

/// The version a request names for itself; `None` if it relies on an earlier handshake.
pub(crate) fn inline(params: &Params) -> Result<Option<Version>, RpcError> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let Some(requested) = meta.and_then(|meta| meta.get(PROTOCOL_KEY)) else {
        return Ok(None);
    };
    let requested = requested.as_str().ok_or_else(|| missing(PROTOCOL_KEY))?;
    let version = Version::of(requested).ok_or_else(|| RpcError {
        data: Some(json!({"supported": Version::names(), "requested": requested})),
        ..RpcError::new(RpcError::UNSUPPORTED_VERSION, "unsupported protocol version")
    })?;
    match meta.and_then(|meta| meta.get(CAPABILITIES_KEY)) {
        Some(Value::Object(_)) => Ok(Some(version)),
        _ => Err(missing(CAPABILITIES_KEY)),
    }
}

pub(crate) fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format!("_meta is missing {key}, or it is malformed"))
}

/// How a client opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Opening {
    /// `initialize` first, and `server/discover` if that is refused. Every server up to 2025-11-25 expects
    /// it, and some close the connection on anything else.
    #[default]
    Handshake,
    /// `server/discover` first, and `initialize` if that is refused or not answered.
    Discover,
}

/// One thing a client does on its way to a common version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Initialize(Version),
    Discover,
    Use(Version),
    /// Nothing in common; these the server offered.
    GiveUp(Vec<String>),
}

impl From<Opening> for Step {
    fn from(opening: Opening) -> Step {
        match opening {
            Opening::Handshake => Step::Initialize(Version::NEWEST_HANDSHAKE),
            Opening::Discover => Step::Discover,
        }
    }
}

/// What to do after the server answered `initialize`.
pub(crate) fn after_initialize(answer: Result<&Value, &RpcError>) -> Step {
    match answer {
        Ok(result) => match result["protocolVersion"].as_str() {
            Some(name) => Version::of(name).map_or_else(|| Step::GiveUp(vec![name.to_owned()]), Step::Use),
            None => Step::GiveUp(Vec::new()),
        },
        // Old servers refuse a version they do not know instead of naming their own; it is in the error.
        Err(error) => match newest(&offered(error), |version| !version.is_stateless()) {
            Some(version) => Step::Initialize(version),
            None => Step::Discover,
        },
    }
}

/// What to do after the server answered `server/discover`, or did not (`None`).
pub(crate) fn after_discover(answer: Option<Result<&Value, &RpcError>>) -> Step {
    let offered = match answer {
        Some(Ok(result)) => names(&result["supportedVersions"]),
        Some(Err(error)) if error.code == RpcError::UNSUPPORTED_VERSION => offered(error),
        // Any other refusal, and silence, is how servers that know only the handshake meet this request.
        Some(Err(_)) | None => return Step::Initialize(Version::NEWEST_HANDSHAKE),
    };
    match newest(&offered, |_| true) {
        Some(version) if version.is_stateless() => Step::Use(version),
        Some(version) => Step::Initialize(version),
        None => Step::GiveUp(offered),
    }
}

/// Whether a refusal of the handshake names a version that has none.
pub(crate) fn offers_stateless(refusal: &RpcError) -> bool {
    newest(&offered(refusal), Version::is_stateless).is_some()
}

/// The versions that a refusal names.
fn offered(error: &RpcError) -> Vec<String> {
    error.data.as_ref().map(|data| names(&data["supported"])).unwrap_or_default()
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn newest(offered: &[String], wanted: impl Fn(Version) -> bool) -> Option<Version> {
    offered.iter().filter_map(|name| Version::of(name)).filter(|version| wanted(*version)).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (index, (version, name)) in Version::TABLE.iter().enumerate() {
            assert_eq!(*version as usize, index);
            assert_eq!((Version::of(name), version.name()), (Some(*version), *name));
        }
        assert_eq!(Version::names()[0], "2026-07-28");
    }

    #[test]
    fn a_handshake_is_answered_with_what_was_asked_or_the_newest_that_has_one() {
        for (asked, answered) in [
            ("2024-11-05", Version::V2024_11_05),
            ("2025-11-25", Version::V2025_11_25),
            ("2026-07-28", Version::V2025_11_25),
            ("1999-01-01", Version::V2025_11_25),
        ] {
            assert_eq!(answer_handshake(asked), answered, "{asked}");
        }
    }

    #[test]
    fn a_client_walks_to_a_common_version_or_says_what_was_offered() {
        let refusal = |code, supported: &[&str]| RpcError {
            data: Some(json!({"supported": supported})),
            ..RpcError::new(code, "no")
        };
        let old = json!({"protocolVersion": "2024-11-05"});
        assert_eq!(after_initialize(Ok(&old)), Step::Use(Version::V2024_11_05));
        let unknown = json!({"protocolVersion": "2031-01-01"});
        assert_eq!(after_initialize(Ok(&unknown)), Step::GiveUp(vec!["2031-01-01".into()]));
        assert_eq!(after_initialize(Ok(&json!([]))), Step::GiveUp(vec![]));
        let pinned = refusal(-32602, &["2024-11-05"]);
        assert_eq!(after_initialize(Err(&pinned)), Step::Initialize(Version::V2024_11_05));
        let modern = refusal(RpcError::UNSUPPORTED_VERSION, &["2026-07-28"]);
        assert_eq!(after_initialize(Err(&modern)), Step::Discover);
        assert_eq!(after_initialize(Err(&RpcError::unknown_method())), Step::Discover);

        let both = json!({"supportedVersions": ["2026-07-28", "2025-11-25", 7]});
        assert_eq!(after_discover(Some(Ok(&both))), Step::Use(Version::V2026_07_28));
        let foreign = json!({"supportedVersions": ["2031-01-01"]});
        assert_eq!(after_discover(Some(Ok(&foreign))), Step::GiveUp(vec!["2031-01-01".into()]));
        let legacy = refusal(RpcError::UNSUPPORTED_VERSION, &["2025-06-18"]);
        assert_eq!(after_discover(Some(Err(&legacy))), Step::Initialize(Version::V2025_06_18));
        let plain = Step::Initialize(Version::NEWEST_HANDSHAKE);
        assert_eq!(after_discover(Some(Err(&RpcError::unknown_method()))), plain);
        assert_eq!(after_discover(None), plain);
    }
}
