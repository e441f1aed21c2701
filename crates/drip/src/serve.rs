//! `drip mcp`: the same reads for clients that speak the Model Context Protocol. A connection is a pair of eyes of its own
//! and a new epoch: what another one was shown does not count.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::invocation::Clock;
use kit::{Exit, Failure, Places};
use mcp::{BadArguments, Call, Cancel, LINE_CAP, Server, ServerInfo, Tool, ToolResult, serve};
use serde::Deserialize;
use serde_json::json;

use crate::caller::Caller;
use crate::database::{Database, Options};
use crate::desk::Desk;
use crate::ignored::{self, Ignored};
use crate::lines::Span;
use crate::read::{self, ReadError, Window, Wish};
use crate::render::Answer;
use crate::session::{self, AgentId, Parent};
use crate::settings::Settings;

/// What of a line the protocol needs for itself around an answer.
const ENVELOPE: usize = 4 * 1024;

const INSTRUCTIONS: &str = "Read files with read_file instead of cat or sed: the first read gives the file, a later one \
only what changed since, or one line that nothing did. An answer begins with a line in brackets that says which. Ask with \
`full`, `symbol` or `offset` and `limit` for what an answer left out.";

/// All that a connection needs of the world.
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    pub(crate) places: Places,
    pub(crate) cwd: PathBuf,
    pub(crate) clock: Clock,
}

/// Serves one connection until the client hangs up.
pub(crate) fn run(
    ground: Ground,
    reader: impl std::io::Read + Send + 'static,
    writer: impl std::io::Write,
) -> Result<Exit, Failure> {
    serve(reader, writer, &server(ground))
        .map(|()| Exit::Done)
        .map_err(|error| Failure::new("the connection broke").because(&error))
}

/// The tools with what they stand on, for us and for the front door.
pub(crate) fn server(ground: Ground) -> Server<Connection> {
    let ground = Arc::new(ground);
    let info = ServerInfo {
        name: "drip".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: Some(INSTRUCTIONS.to_owned()),
    };
    Server::new(info, tools(), move || Connection::new(&ground))
}

fn tools() -> Vec<Tool<Connection>> {
    let path = json!({"type": "string", "description": "The file, absolute or from the working directory"});
    vec![
        Tool::new(
            "read_file",
            "Read a file. Again: only what changed since you last read it here, or one line that nothing did.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": path,
                    "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
                    "limit": {"type": "integer", "minimum": 1, "description": "How many lines"},
                    "symbol": {"type": "string", "description": "Only this function, method or type"},
                    "full": {"type": "boolean", "description": "The whole file, whatever you have seen of it"},
                },
                "required": ["file_path"],
                "additionalProperties": false,
            }),
            |connection: &mut Connection, call| connection.read_file(call),
        ),
        Tool::new(
            "read_many",
            "Read several files at once, each as read_file would.",
            json!({
                "type": "object",
                "properties": {"file_paths": {"type": "array", "items": path, "minItems": 1, "maxItems": 64}},
                "required": ["file_paths"],
                "additionalProperties": false,
            }),
            |connection: &mut Connection, call| connection.read_many(call),
        ),
        Tool::new(
            "refresh",
            "Forget what was shown of a file, for example when you no longer have it in view: the next read sends it.",
            json!({
                "type": "object",
                "properties": {"file_path": path},
                "required": ["file_path"],
                "additionalProperties": false,
            }),
            |connection: &mut Connection, call| connection.refresh(call),
        ),
    ]
}

/// One client's eyes.
pub(crate) struct Connection {
    ground: Arc<Ground>,
    caller: Caller,
    /// What the last call was given, until we know that it was not cancelled on its way.
    unconfirmed: Option<(Cancel, Vec<String>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    file_path: String,
    offset: Option<usize>,
    limit: Option<usize>,
    symbol: Option<String>,
    #[serde(default)]
    full: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadMany {
    file_paths: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refresh {
    file_path: String,
}

impl Connection {
    fn new(ground: &Arc<Ground>) -> Connection {
        let settings = &ground.settings;
        let caller = Caller {
            session: session::derive(&settings.session, &ground.cwd, Parent::of_this_process()),
            agent: fresh_eyes(ground.clock.unix_ms()),
            cwd: ground.cwd.clone(),
            client: settings.agent,
            call: None,
        };
        Connection { ground: Arc::clone(ground), caller, unconfirmed: None }
    }

    fn read_file(&mut self, call: &Call) -> Result<ToolResult, BadArguments> {
        let asked: ReadFile = call.parse()?;
        let wish = asked.wish()?;
        self.begin(call);
        Ok(match self.read(&wish, LINE_CAP.0 - ENVELOPE) {
            Ok(answer) => ToolResult::text(answer.text),
            Err(words) => ToolResult::error(words),
        })
    }

    fn read_many(&mut self, call: &Call) -> Result<ToolResult, BadArguments> {
        let asked: ReadMany = call.parse()?;
        if !(1..=64).contains(&asked.file_paths.len()) {
            return Err(BadArguments("file_paths takes 1 to 64 paths".to_owned()));
        }
        self.begin(call);
        let mut room = LINE_CAP.0 - ENVELOPE;
        let mut texts = Vec::new();
        let mut failed = 0;
        for spelled in &asked.file_paths {
            let wish = Wish { window: Window::All, ..Wish::all(spelled) };
            let text = self.read(&wish, room).map(|answer| answer.text).unwrap_or_else(|words| {
                failed += 1;
                format!("{words}\n")
            });
            room = room.saturating_sub(read::escaped(&text));
            texts.push(text);
        }
        let everything = texts.concat();
        Ok(if failed == texts.len() { ToolResult::error(everything) } else { ToolResult::text(everything) })
    }

    fn refresh(&mut self, call: &Call) -> Result<ToolResult, BadArguments> {
        let Refresh { file_path } = call.parse()?;
        self.begin(call);
        let done = self.permitted(&file_path).and_then(|()| {
            let located = read::locate(&file_path, &self.ground.cwd).map_err(|error| failed(&error))?;
            let mut database = self.database().ok_or("DRIP error: the store cannot be used")?;
            database.forget_file(&located.key).map_err(|error| format!("DRIP error: {error}"))
        });
        Ok(match done {
            Ok(_) => {
                ToolResult::text(format!("[DRIP: refreshed | the next read sends all of it | {file_path}]\n"))
            }
            Err(words) => ToolResult::error(words),
        })
    }

    /// What was said before and cancelled on its way was not seen; and without a connection nobody has seen anything.
    fn begin(&mut self, call: &Call) {
        if let Some((cancel, keys)) = self.unconfirmed.take()
            && cancel.is_cancelled()
        {
            let forgotten = self.database().map(|mut database| {
                keys.iter().try_for_each(|key| database.forget_head(&self.caller.eyes(), key))
            });
            if !matches!(forgotten, Some(Ok(()))) {
                self.caller.agent = fresh_eyes(self.ground.clock.unix_ms());
            }
        }
        if call.version.is_stateless() {
            self.caller.agent = fresh_eyes(self.ground.clock.unix_ms());
        }
        self.unconfirmed = Some((call.cancel.clone(), Vec::new()));
    }

    fn read(&mut self, wish: &Wish, room: usize) -> Result<Answer, String> {
        self.permitted(&wish.spelled)?;
        let ground = Arc::clone(&self.ground);
        let wish = &Wish { room, ..wish.clone() };
        if ground.settings.disabled {
            return read::read_raw(&ground.cwd, wish).map_err(|error| failed(&error));
        }
        let ignored = Ignored::load(ignored::Places {
            cwd: &ground.cwd,
            home: Some(&ground.places.home),
            extra: ground.settings.ignore_file.as_deref(),
        });
        let blind = || {
            read::read_blind(&ground.settings, &ignored, &ground.cwd, wish).map_err(|error| failed(&error))
        };
        let Some(mut database) = self.database() else { return blind() };
        if let (Some((_, keys)), Ok(located)) =
            (&mut self.unconfirmed, read::locate(&wish.spelled, &ground.cwd))
        {
            keys.push(located.key);
        }
        let mut desk = Desk { database: &mut database, settings: &ground.settings, caller: &self.caller };
        match desk.read(&ignored, wish) {
            Ok(answer) => answer.map_err(|error| failed(&error)),
            Err(_) => blind(),
        }
    }

    /// A store that cannot be used costs the savings, not the read.
    fn database(&self) -> Option<Database> {
        let Ground { settings, places, clock, .. } = &*self.ground;
        Database::open(&settings.data_dir(places), Options::from(settings), clock.unix_ms()).ok()
    }

    /// Whether a path lies in `DRIP_WORKSPACE_ROOT`; with a root that makes no sense, none does.
    fn permitted(&self, spelled: &str) -> Result<(), String> {
        let Some(root) = &self.ground.settings.workspace_root else { return Ok(()) };
        let resolve = |path: &Path| path.canonicalize().ok();
        match (resolve(&self.ground.cwd.join(spelled)), resolve(root)) {
            (Some(path), Some(root)) if path.starts_with(&root) => Ok(()),
            (Some(_), _) => Err(format!(
                "DRIP refused read: {spelled} is outside DRIP_WORKSPACE_ROOT ({})",
                root.display()
            )),
            (None, _) => Err(format!(
                "DRIP refused read: cannot resolve {spelled} (file missing or outside workspace)"
            )),
        }
    }
}

impl ReadFile {
    fn wish(self) -> Result<Wish, BadArguments> {
        let window = match (self.full, self.symbol, self.offset, self.limit) {
            (false, None, None, None) => Window::All,
            (true, None, None, None) => Window::Full,
            (false, Some(symbol), None, None) => Window::Symbol(symbol),
            (false, None, offset, limit) => {
                let first = offset.unwrap_or(1);
                let last =
                    limit.map_or(usize::MAX - 1, |limit| first.saturating_add(limit).saturating_sub(1));
                Window::Lines(Span::new(first, last).ok_or_else(|| {
                    BadArguments("offset counts from 1, and limit is at least 1".to_owned())
                })?)
            }
            _ => {
                return Err(BadArguments(
                    "full, symbol, and offset with limit exclude each other".to_owned(),
                ));
            }
        };
        Ok(Wish { window, ..Wish::all(&self.file_path) })
    }
}

fn failed(error: &ReadError) -> String {
    format!("DRIP error: {error}")
}

/// Eyes that nobody else has: of this process, this moment, this connection.
fn fresh_eyes(unix_ms: i64) -> AgentId {
    static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
    let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    AgentId::new(&format!("mcp-{}-{unix_ms}-{number}", std::process::id()))
}
