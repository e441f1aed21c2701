//! A server of tools: what each request of the protocol is answered with, in order, on one connection. Never
//! knows what a tool does.

use std::io::{self, Read, Write};

use serde_json::{Value, json};
use thiserror::Error;
use wire::frame;

use crate::message::{Id, Params, Request, RpcError, reply};
use crate::queue::{Job, Queue, Work};
use crate::version::{PROTOCOL_KEY, SERVER_KEY, answer_handshake, inline, missing};
use crate::{Call, Cancel, LINE_CAP, Tool, Version};

/// How long a client may keep what it was told about us. It cannot change while we run; five minutes let a
/// client that keeps it longer than the process notice a newer binary.
const FRESH_MS: u64 = 5 * 60 * 1000;

/// Who a server says it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
    /// For the model: how to use these tools together.
    pub instructions: Option<String>,
}

/// Tools under one name. Serves any number of connections, each with a state of its own.
pub struct Server<S> {
    pub(crate) info: ServerInfo,
    pub(crate) tools: Vec<Tool<S>>,
    pub(crate) fresh_state: Box<dyn Fn() -> S + Send + Sync>,
}

impl<S> Server<S> {
    /// `fresh_state` is called for each connection, and again when a client opens it anew with a second
    /// handshake.
    pub fn new(
        info: ServerInfo,
        tools: Vec<Tool<S>>,
        fresh_state: impl Fn() -> S + Send + Sync + 'static,
    ) -> Server<S> {
        Server { info, tools, fresh_state: Box::new(fresh_state) }
    }
}

/// Why a connection ended other than by the client hanging up.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot start a thread to read requests: {0}")]
    Thread(io::Error),
    #[error("cannot read a request: {0}")]
    Read(io::Error),
    #[error("cannot write a reply: {0}")]
    Write(io::Error),
}

/// Serves one connection until the client hangs up, answering requests one after the other. Everything that
/// was read is answered even if the client has closed its sending side; a client that has closed its receiving
/// side has hung up. The reader is left to a thread that ends when the stream does.
///
/// A reply above [`LINE_CAP`] is not sent: an error that names its size is, so that the client learns why. In a
/// batch that would be longer as a whole, each reply that takes more than its share becomes such an error.
pub fn serve<S>(
    reader: impl Read + Send + 'static,
    mut writer: impl Write,
    server: &Server<S>,
) -> Result<(), ServeError> {
    let queue = Queue::start(reader).map_err(ServeError::Thread)?;
    let mut session = Session { server, state: (server.fresh_state)(), negotiated: None };
    while let Some(work) = queue.next() {
        let reply = match work {
            Err(error) if hung_up(&error) => return Ok(()),
            Err(error) => return Err(ServeError::Read(error)),
            Ok(Work::One(job)) => session.answer(job, &queue),
            Ok(Work::Batch(jobs)) => {
                let replies: Vec<Value> =
                    jobs.into_iter().filter_map(|job| session.answer(job, &queue)).collect();
                (!replies.is_empty()).then_some(Value::Array(replies))
            }
        };
        let Some(reply) = reply else { continue };
        match line(reply).and_then(|line| writer.write_all(&line)).and_then(|()| writer.flush()) {
            Ok(()) => {}
            Err(error) if hung_up(&error) => return Ok(()),
            Err(error) => return Err(ServeError::Write(error)),
        }
    }
    Ok(())
}

/// A reply as its line, or as the line that says that it is too long.
fn line(reply: Value) -> io::Result<Vec<u8>> {
    let whole = frame::to_line(&reply)?;
    if fits(&whole) {
        return Ok(whole);
    }
    let length = whole.len() - 1;
    let shorter = match reply {
        Value::Array(replies) => {
            // Each has a comma, and the whole has brackets.
            let share = (LINE_CAP.0 - 2) / replies.len() - 1;
            replies.into_iter().map(|reply| within(share, reply)).collect::<io::Result<Value>>()?
        }
        reply => too_long(Id::of(&reply["id"]).as_ref(), length),
    };
    let shorter = frame::to_line(&shorter)?;
    // Ids are echoed, and a client may have made them as long as the cap.
    if fits(&shorter) { Ok(shorter) } else { frame::to_line(&too_long(None, length)) }
}

fn fits(line: &[u8]) -> bool {
    line.len() - 1 <= LINE_CAP.0
}

fn within(share: usize, reply: Value) -> io::Result<Value> {
    let length = serde_json::to_vec(&reply)?.len();
    Ok(if length <= share { reply } else { too_long(Id::of(&reply["id"]).as_ref(), length) })
}

fn too_long(id: Option<&Id>, length: usize) -> Value {
    let words = format!("the reply has {length} bytes, and a line takes {}", LINE_CAP.0);
    reply(id, Err(RpcError::internal(words)))
}

fn hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// One connection.
struct Session<'a, S> {
    server: &'a Server<S>,
    state: S,
    /// What the last handshake settled, for requests that do not say.
    negotiated: Option<Version>,
}

impl<S> Session<'_, S> {
    /// `None` for a request that was cancelled before its answer stood: then none may be sent.
    fn answer(&mut self, job: Job, queue: &Queue) -> Option<Value> {
        match job {
            Job::Refuse(id, error) => Some(reply(id.as_ref(), Err(error))),
            Job::Run(Request { id, method, params }, cancel) => {
                let outcome = (!cancel.is_cancelled()).then(|| self.dispatch(&method, params, &cancel));
                queue.done(&id);
                let outcome = outcome.filter(|_| !cancel.is_cancelled())?;
                Some(reply(Some(&id), outcome))
            }
        }
    }

    fn dispatch(&mut self, method: &str, params: Params, cancel: &Cancel) -> Result<Value, RpcError> {
        if method == "initialize" {
            return self.initialize(&params);
        }
        let inline = inline(&params)?;
        let version = inline.or(self.negotiated);
        let opened = || {
            version.ok_or_else(|| {
                RpcError::invalid_params(format!("send initialize first, or {PROTOCOL_KEY} in _meta"))
            })
        };
        match method {
            "ping" if !version.is_some_and(Version::is_stateless) => Ok(json!({})),
            "server/discover" => match inline {
                Some(_) => Ok(self.discover()),
                None => Err(missing(PROTOCOL_KEY)),
            },
            "tools/list" => self.list(&params, opened()?),
            "tools/call" => self.call(params, opened()?, cancel),
            _ => Err(RpcError::unknown_method()),
        }
    }

    fn initialize(&mut self, params: &Params) -> Result<Value, RpcError> {
        let requested = params.get("protocolVersion").and_then(Value::as_str);
        let requested = requested.ok_or_else(|| RpcError::invalid_params("missing protocolVersion"))?;
        let version = answer_handshake(requested);
        if self.negotiated.replace(version).is_some() {
            self.state = (self.server.fresh_state)();
        }
        let mut result = json!({
            "protocolVersion": version.name(),
            "capabilities": {"tools": {}},
            "serverInfo": self.identity(),
        });
        self.instruct(&mut result);
        Ok(result)
    }

    fn discover(&self) -> Value {
        let mut result = json!({"supportedVersions": Version::names(), "capabilities": {"tools": {}}});
        self.instruct(&mut result);
        self.complete(&mut result);
        cacheable(&mut result);
        result
    }

    fn list(&self, params: &Params, version: Version) -> Result<Value, RpcError> {
        // All tools are on the first page, so nobody has a cursor from us.
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcError::invalid_params("unknown cursor"));
        }
        let tools: Vec<Value> = self.server.tools.iter().map(|tool| tool.declared.to_value()).collect();
        let mut result = json!({"tools": tools});
        if version.is_stateless() {
            self.complete(&mut result);
            cacheable(&mut result);
        }
        Ok(result)
    }

    fn call(&mut self, mut params: Params, version: Version, cancel: &Cancel) -> Result<Value, RpcError> {
        let arguments = params.remove("arguments");
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| RpcError::invalid_params("missing tool name"))?;
        let tool = self.server.tools.iter().find(|tool| tool.name() == name);
        let tool = tool.ok_or_else(|| RpcError::invalid_params(format!("unknown tool: {name}")))?;
        let arguments = match arguments {
            None | Some(Value::Null) => Params::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(RpcError::invalid_params("arguments must be an object")),
        };
        let call = Call { arguments, version, cancel: cancel.clone() };
        let result = tool.call(&mut self.state, &call);
        let mut result = result.map_err(|error| RpcError::invalid_params(error.to_string()))?.into_value();
        if version.is_stateless() {
            self.complete(&mut result);
        }
        Ok(result)
    }

    fn identity(&self) -> Value {
        json!({"name": self.server.info.name, "version": self.server.info.version})
    }

    fn instruct(&self, result: &mut Value) {
        if let Some(instructions) = &self.server.info.instructions {
            result["instructions"] = json!(instructions);
        }
    }

    /// What every result says of itself where no handshake did.
    fn complete(&self, result: &mut Value) {
        result["resultType"] = json!("complete");
        result["_meta"] = json!({SERVER_KEY: self.identity()});
    }
}

fn cacheable(result: &mut Value) {
    result["ttlMs"] = json!(FRESH_MS);
    result["cacheScope"] = json!("private");
}
