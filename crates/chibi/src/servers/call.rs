//! One call of a server's tool, which ends when its time is over or the person wants it to.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use conversation::tools::Output;
use kit::process::Cancel;
use mcp::Deadline;
use mcp::client::CallError;
use mcp::{Content, ToolResult};
use serde_json::{Map, Value};

use crate::plugins::Ground;

use super::cache::{self, Cache, Said};
use super::connection::Connection;
use super::offer::Offer;
use super::{Fault, Server, Servers};

/// How often somebody who waits looks whether the call was cancelled.
const TICK: Duration = Duration::from_millis(10);

pub(super) fn call(
    servers: &Servers,
    place: usize,
    offer: &Offer,
    arguments: &Map<String, Value>,
    cancel: &Cancel,
) -> Output {
    let (done, result) = mpsc::channel();
    let work = {
        let (servers, tool, arguments) = (servers.clone(), offer.tool.name.clone(), arguments.clone());
        let cancel = cancel.clone();
        move || {
            let server = &servers.servers[place];
            // Nobody may wait any more.
            let _ = done.send(server.work(&servers.ground, &tool, arguments, &cancel));
        }
    };
    let name = &offer.name;
    if let Err(error) = thread::Builder::new().name("server-call".to_owned()).spawn(work) {
        return Output::failed(format!("`{name}` was not called: {error}"));
    }
    loop {
        match result.recv_timeout(TICK) {
            Ok(Ok(result)) => return output(name, &result),
            Ok(Err(why)) => return Output::failed(format!("`{name}` failed: {why}")),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                servers.servers[place].hang_up();
                return Output::failed(format!("`{name}` was cancelled"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Output::failed(format!("`{name}` failed: the call was lost"));
            }
        }
    }
}

impl Server {
    fn work(
        &self,
        ground: &Ground,
        tool: &str,
        arguments: Map<String, Value>,
        cancel: &Cancel,
    ) -> Result<ToolResult, String> {
        let connection = self.connected(ground).map_err(|fault| match fault {
            Fault::Hung => "its server did not start in time".to_owned(),
            Fault::Failed(how) => how,
        })?;
        if cancel.is_cancelled() {
            return Err("it was cancelled".to_owned());
        }
        let deadline = Deadline::after(self.setting.timeout.unwrap_or(ground.limits.tool));
        connection.call(tool, arguments, deadline).map_err(|error| {
            let words = connection.words(&error);
            // A refusal is an answer. After anything else the next call is better off with a new server.
            if !matches!(error, CallError::Refused(_)) {
                connection.hang_up();
            }
            words
        })
    }

    /// The server that runs, or a new one.
    fn connected(&self, ground: &Ground) -> Result<Arc<Connection>, Fault> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = slot.as_ref().filter(|connection| connection.is_alive()) {
            return Ok(connection.clone());
        }
        let deadline = Deadline::after(ground.limits.schema);
        let connection = Arc::new(Connection::open(ground, &self.setting, deadline)?);
        *slot = Some(connection.clone());
        self.refresh(ground, &connection, deadline);
        Ok(connection)
    }

    /// What the server offers today is what the next conversation starts with.
    fn refresh(&self, ground: &Ground, connection: &Connection, deadline: Deadline) {
        let path = cache::path(ground);
        let mut cache = Cache::open(&path);
        let today = connection.tools(deadline).ok().map(Said::Tools);
        if let Some(today) = today.filter(|today| cache.get(&self.name, &self.setting) != Some(today)) {
            cache.keep(&self.name, &self.setting, today);
            cache.save(&path);
        }
    }

    /// Ends the server, unless somebody is just starting it: whoever does looks whether it is still wanted.
    fn hang_up(&self) {
        let slot = match self.connection.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if let Some(connection) = slot.as_ref() {
            connection.hang_up();
        }
    }
}

fn output(name: &str, result: &ToolResult) -> Output {
    let pieces = result.content.iter().map(|piece| match piece {
        Content::Text(text) => text.clone(),
        Content::Other(value) => {
            format!("[{} that cannot be shown here]", value["type"].as_str().unwrap_or("something"))
        }
    });
    let mut text = pieces.collect::<Vec<_>>().join("\n");
    if let Some(structured) = result.structured.as_ref().filter(|_| text.is_empty()) {
        text = structured.to_string();
    }
    match (result.is_error, text.is_empty()) {
        (true, true) => Output::failed(format!("`{name}` failed and does not say why")),
        (true, false) => Output::failed(text),
        (false, true) => Output::done("(no output)"),
        (false, false) => Output::done(text),
    }
}
