//! Tools of MCP servers, beside those of plugins. A server is a program that the person named; it is started when one of
//! its tools is called for the first time, and dies with us. What it offers is kept from the last time, so that a usual
//! start waits for none. Its troubles are data: nothing here prints.

mod cache;
mod call;
mod connection;
mod offer;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use conversation::tools::{Output, Spec};
use kit::process::Cancel;
use kit::text;
use mcp::Deadline;
use serde_json::{Map, Value};

use crate::hooks::Warning;
use crate::plugins::Ground;
use crate::together;

use cache::{Cache, Said};
use connection::Connection;
use offer::Offer;

/// A server as the person describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// A program on the `PATH`, or a path.
    pub command: String,
    pub args: Vec<String>,
    /// Variables that it may see beyond the usual ones.
    pub env: Vec<String>,
    /// Variables that are set for it.
    pub set: BTreeMap<String, String>,
    /// Instead of the usual limit for a call.
    pub timeout: Option<Duration>,
}

/// The servers of a run. Cheap to clone; they are killed when the last clone is gone.
#[derive(Debug, Clone)]
pub struct Servers {
    ground: Arc<Ground>,
    servers: Arc<[Server]>,
}

#[derive(Debug)]
struct Server {
    name: String,
    setting: Setting,
    offers: Result<Vec<Offer>, Fault>,
    notes: Vec<String>,
    /// Taken while it is being opened, so that two calls share one.
    connection: Mutex<Option<Arc<Connection>>>,
}

/// Why a server has no tools for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Failed(String),
    /// It did not say in time what it offers. It is not asked again before its settings change.
    Hung,
}

/// A server that was looked at closely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// One line, and one for each note.
    pub report: String,
    /// How long it took to say what it offers.
    pub elapsed: Duration,
    /// Why it has no tools for us, if it has none.
    pub fault: Option<Fault>,
}

impl Servers {
    /// Asks servers that are new or set differently what they offer, all at the same time, and no longer than the limit
    /// for schemas; who has not answered by then has no tools, and is not asked again before its settings change. A tool
    /// whose name is `taken` is left out.
    pub fn load(
        ground: impl Into<Arc<Ground>>,
        settings: BTreeMap<String, Setting>,
        taken: impl Fn(&str) -> bool,
    ) -> Servers {
        let ground = ground.into();
        let path = cache::path(&ground);
        let old = Cache::open(&path);
        let settings: Vec<(String, Setting)> = settings.into_iter().collect();
        let found = together::each(&settings, |(name, setting)| match old.get(name, setting) {
            Some(said) => (said.tools(), None),
            None => ask(&ground, setting),
        });
        let mut cache = Cache::empty();
        let servers = settings.into_iter().zip(found).map(|((name, setting), (tools, connection))| {
            if let Some(said) = Said::of(&tools) {
                cache.keep(&name, &setting, said);
            }
            Server::new(name, setting, tools, connection, &taken)
        });
        let servers = servers.collect();
        if cache != old {
            cache.save(&path);
        }
        Servers { ground, servers }
    }

    /// The tools as a model may call them.
    pub fn specs(&self) -> Vec<Spec> {
        self.servers.iter().flat_map(Server::offers).map(Offer::spec).collect()
    }

    pub fn has_tool(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Calls a tool, starting its server if it does not run. Whatever happens is an output that a model can read. Gives up
    /// when the limit for tools has passed or `cancel` is set; the server is then killed, and started anew when it is
    /// needed again.
    pub fn call(&self, name: &str, arguments: &Map<String, Value>, cancel: &Cancel) -> Output {
        match self.find(name) {
            Some((place, offer)) => call::call(self, place, offer, arguments, cancel),
            None => Output::failed(format!("no server has a tool `{name}`")),
        }
    }

    pub fn warnings(&self) -> Vec<Warning> {
        let warnings = self.servers.iter().flat_map(|server| {
            let fault = server.offers.as_ref().err().map(|fault| format!("skipped: {fault}"));
            let whats = fault.into_iter().chain(server.notes.iter().cloned());
            whats.map(|what| Warning { plugin: server.name.clone(), what })
        });
        warnings.collect()
    }

    fn find(&self, tool: &str) -> Option<(usize, &Offer)> {
        let places = self.servers.iter().enumerate();
        places
            .flat_map(|(place, server)| server.offers().map(move |offer| (place, offer)))
            .find(|(_, offer)| offer.name == tool)
    }
}

/// Asks one server anew, whatever is known of it.
pub fn check(ground: &Ground, name: &str, setting: &Setting) -> Checked {
    let started = Instant::now();
    let (tools, _connection) = ask(ground, setting);
    let elapsed = started.elapsed();
    let path = cache::path(ground);
    let mut cache = Cache::open(&path);
    match Said::of(&tools) {
        Some(said) => cache.keep(name, setting, said),
        None => cache.forget(name),
    }
    cache.save(&path);
    let server = Server::new(name.to_owned(), setting.clone(), tools, None, |_| false);
    Checked { report: server.to_string(), elapsed, fault: server.offers.err() }
}

/// Starts a server to hear what it offers. The connection is kept: somebody will call.
fn ask(ground: &Ground, setting: &Setting) -> (Result<Vec<offer::Tool>, Fault>, Option<Connection>) {
    let deadline = Deadline::after(ground.limits.schema);
    match Connection::open(ground, setting, deadline) {
        Ok(connection) => (connection.tools(deadline), Some(connection)),
        Err(fault) => (Err(fault), None),
    }
}

impl Server {
    fn new(
        name: String,
        setting: Setting,
        tools: Result<Vec<offer::Tool>, Fault>,
        connection: Option<Connection>,
        taken: impl Fn(&str) -> bool,
    ) -> Server {
        let (offers, notes) = match tools {
            Ok(tools) => {
                let (offers, notes) = offer::offers(&name, tools, taken);
                (Ok(offers), notes)
            }
            Err(fault) => (Err(fault), Vec::new()),
        };
        Server { name, setting, offers, notes, connection: Mutex::new(connection.map(Arc::new)) }
    }

    fn offers(&self) -> impl Iterator<Item = &Offer> {
        self.offers.iter().flatten()
    }
}

impl fmt::Display for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.servers.iter().try_for_each(|server| write!(f, "{server}"))
    }
}

/// One line, and one for each note.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = text::plain(&self.name);
        match &self.offers {
            Err(fault) => writeln!(f, "{name}: skipped: {}", text::plain(&fault.to_string()))?,
            Ok(offers) if offers.is_empty() => writeln!(f, "{name}: server without tools")?,
            Ok(offers) => {
                let names: Vec<&str> = offers.iter().map(|offer| offer.name.as_str()).collect();
                writeln!(f, "{name}: server, tools {}", names.join(", "))?;
            }
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {}", text::plain(note)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Failed(how) => f.write_str(how),
            Fault::Hung => f.write_str(
                "it did not say in time what it offers; not tried again until its settings change",
            ),
        }
    }
}
