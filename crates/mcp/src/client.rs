//! A client of somebody else's server: finds a common version, lists tools, calls them. Takes any two streams;
//! whose process is behind them, and when it dies, is the caller's business.

mod link;

use std::io::{self, Read, Write};

use serde_json::{Map, Value, json};
use thiserror::Error;
use wire::Deadline;

use crate::message::{Params, RpcError, object};
use crate::version::{self, CAPABILITIES_KEY, CLIENT_KEY, PROTOCOL_KEY, SERVER_KEY, Step};
use crate::{ServerInfo, ToolResult, Version};

use link::{Abandon, Link};

pub use crate::version::Opening;
pub use link::Noise;

/// A server gives its tools in pages of its own size; nobody has thousands.
const PAGES_CAP: usize = 64;

/// Initialize, an older initialize, discover, the initialize that it asks for, and the end.
const STEPS_CAP: usize = 5;

/// Who we say we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    pub name: String,
    pub version: String,
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub schema: Value,
}

/// An open connection. Calls may run from several threads at once. Dropping it closes our sending side, which
/// tells a server on a pipe to end; a socket is the caller's to shut down.
#[derive(Debug)]
pub struct Client {
    link: Link,
    info: ClientInfo,
    version: Version,
    server: ServerInfo,
}

/// Why a request has no result.
#[derive(Debug, Error)]
pub enum CallError {
    #[error("the server closed the connection{}", said(.0))]
    Closed(Noise),
    /// Unless the connection was still to be opened, the server was told that we no longer wait.
    #[error("the server did not answer in time")]
    DeadlinePassed,
    /// The reply may have been another call's, if several were running.
    #[error("the server sent a line longer than {cap} bytes")]
    TooLong { cap: usize },
    #[error("the server refused: {0}")]
    Refused(RpcError),
    #[error("the server's answer makes no sense: {0}")]
    Malformed(String),
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum ConnectError {
    #[error("cannot start a thread for the connection: {0}")]
    Thread(io::Error),
    #[error("the server speaks no version of the protocol that we do, but {0:?}")]
    NoCommonVersion(Vec<String>),
    /// On a new connection it can be reached with [`Opening::Discover`].
    #[error("the server refuses the handshake and hung up")]
    WantsDiscover,
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Client {
    /// Finds a version that both sides speak. Gives up with [`CallError::DeadlinePassed`] when the server has
    /// not answered by then.
    pub fn connect(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        info: ClientInfo,
        opening: Opening,
        deadline: Deadline,
    ) -> Result<Client, ConnectError> {
        let link = Link::start(reader, writer).map_err(ConnectError::Thread)?;
        let mut client =
            Client { link, info, version: Version::NEWEST_HANDSHAKE, server: ServerInfo::default() };
        client.negotiate(opening, deadline)?;
        Ok(client)
    }

    pub fn version(&self) -> Version {
        self.version
    }

    /// Who the server says it is. Not to be trusted, only to be shown.
    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    /// What the server has printed between its messages so far.
    pub fn noise(&self) -> Noise {
        self.link.noise()
    }

    /// All tools, page after page. An entry without a name is left out.
    pub fn list_tools(&self, deadline: Deadline) -> Result<Vec<ToolInfo>, CallError> {
        let (mut tools, mut params) = (Vec::new(), Params::new());
        for _ in 0..PAGES_CAP {
            let page = self.request("tools/list", params.clone(), deadline)?;
            let Some(entries) = page["tools"].as_array() else {
                return Err(CallError::Malformed("no list of tools".to_owned()));
            };
            tools.extend(entries.iter().filter_map(ToolInfo::of));
            match page["nextCursor"].as_str() {
                None => return Ok(tools),
                Some(cursor) => params.insert("cursor".to_owned(), cursor.into()),
            };
        }
        Err(CallError::Malformed(format!("more than {PAGES_CAP} pages of tools")))
    }

    /// Calls a tool. A tool that failed is a result too: see [`ToolResult::is_error`]. Giving up at `deadline`
    /// tells the server to stop and is [`CallError::DeadlinePassed`].
    pub fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        deadline: Deadline,
    ) -> Result<ToolResult, CallError> {
        let params = object([("name", name.into()), ("arguments", arguments.into())]);
        let result = self.request("tools/call", params, deadline)?;
        ToolResult::of(result).ok_or_else(|| CallError::Malformed("no content in a tool's result".to_owned()))
    }

    fn request(&self, method: &str, mut params: Params, deadline: Deadline) -> Result<Value, CallError> {
        if self.version.is_stateless() {
            params.insert("_meta".to_owned(), self.meta(self.version));
        }
        let result = self.link.request(method, params, deadline, Abandon::Tell)?;
        match &result["resultType"] {
            Value::Null => Ok(result),
            Value::String(kind) if kind == "complete" => Ok(result),
            // We declare no capability, so nobody may ask us for input.
            other => Err(CallError::Malformed(format!("a result of type {other}"))),
        }
    }

    fn negotiate(&mut self, opening: Opening, deadline: Deadline) -> Result<(), ConnectError> {
        let (mut step, mut refusal) = (Step::from(opening), None);
        for _ in 0..STEPS_CAP {
            step = match step {
                Step::Initialize(version) => self.initialize(version, &mut refusal, deadline)?,
                Step::Discover => self.discover(&mut refusal, deadline)?,
                Step::Use(version) => {
                    self.version = version;
                    if !version.is_stateless() {
                        self.link.notify("notifications/initialized", Params::new());
                    }
                    return Ok(());
                }
                Step::GiveUp(offered) => return Err(ConnectError::NoCommonVersion(offered)),
            };
        }
        match refusal {
            Some(refusal) => Err(CallError::Refused(refusal).into()),
            None => Err(ConnectError::NoCommonVersion(Vec::new())),
        }
    }

    fn initialize(
        &mut self,
        version: Version,
        refusal: &mut Option<RpcError>,
        deadline: Deadline,
    ) -> Result<Step, CallError> {
        let params = object([
            ("protocolVersion", version.name().into()),
            ("capabilities", json!({})),
            ("clientInfo", self.identity()),
        ]);
        match self.link.request("initialize", params, deadline, Abandon::Silently) {
            Ok(result) => {
                self.server = introduced(&result["serverInfo"], &result);
                Ok(version::after_initialize(Ok(&result)))
            }
            Err(CallError::Refused(error)) => Ok(version::after_initialize(Err(refusal.insert(error)))),
            Err(error) => Err(error),
        }
    }

    fn discover(&mut self, refusal: &mut Option<RpcError>, deadline: Deadline) -> Result<Step, ConnectError> {
        // A server that knows only the handshake may say nothing: half of the time is left for it.
        let half = Deadline::after(deadline.remaining() / 2);
        let params = object([("_meta", self.meta(Version::V2026_07_28))]);
        match self.link.request("server/discover", params, half, Abandon::Silently) {
            Ok(result) => {
                self.server = introduced(&result["_meta"][SERVER_KEY], &result);
                Ok(version::after_discover(Some(Ok(&result))))
            }
            Err(CallError::Refused(error)) => Ok(version::after_discover(Some(Err(&error)))),
            Err(CallError::DeadlinePassed) => Ok(version::after_discover(None)),
            Err(error) => match (error, refusal.take()) {
                // It refused the handshake and is gone: the refusal tells more than the silence after it.
                (CallError::Closed(_), Some(refusal)) if version::offers_stateless(&refusal) => {
                    Err(ConnectError::WantsDiscover)
                }
                (CallError::Closed(_), Some(refusal)) => Err(CallError::Refused(refusal).into()),
                (error, _) => Err(error.into()),
            },
        }
    }

    fn meta(&self, version: Version) -> Value {
        json!({PROTOCOL_KEY: version.name(), CAPABILITIES_KEY: {}, CLIENT_KEY: self.identity()})
    }

    fn identity(&self) -> Value {
        json!({"name": self.info.name, "version": self.info.version})
    }
}

impl ToolInfo {
    fn of(entry: &Value) -> Option<ToolInfo> {
        let text = |key: &str| entry[key].as_str().map(str::to_owned);
        let schema = entry.get("inputSchema").filter(|schema| schema.is_object());
        Some(ToolInfo {
            name: text("name")?,
            title: text("title"),
            description: text("description"),
            schema: schema.cloned().unwrap_or_else(|| json!({"type": "object"})),
        })
    }
}

fn introduced(identity: &Value, result: &Value) -> ServerInfo {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    ServerInfo {
        name: text(&identity["name"]).unwrap_or_default(),
        version: text(&identity["version"]).unwrap_or_default(),
        instructions: text(&result["instructions"]),
    }
}

fn said(noise: &Noise) -> String {
    noise.first.as_ref().map(|line| format!(" after it printed `{line}`")).unwrap_or_default()
}
