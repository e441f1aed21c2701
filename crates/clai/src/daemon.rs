//! The per-user daemon: takes commands as they end, remembers them, and says what comes next.
//!
//! It starts in this order: private directories, the lock that makes it the only one, the database with its migrations,
//! the model, the stale socket of a dead one, the socket. It ends on SIGTERM, SIGINT or when asked, and writes what it
//! has heard.

mod background;
mod client;
mod door;
mod ingest;
mod journal;
mod options;
mod projects;
mod request;
mod serve;
mod service;
mod workers;
mod writer;

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kit::invocation::place_failure;
use kit::log::Log;
use kit::places::private_dir;
use kit::{Exit, Failure, Form, Invocation, Places, process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use store::lock::{self, Lock, LockError};
use wire::Deadline;
use wire::endpoint::{self, SocketPath};
use wire::transport::{ListenError, Transport, Unix, UnixListener};

pub use background::{Started, comes_up, ensure};
pub use client::{AskFailure, ask};
pub use request::*;

use crate::config::{self, Loaded};
use crate::database::{Database, DatabaseError, Owner};
use journal::Journal;
use options::{Mode, Options};
use service::{Service, World};
use writer::Writer;

/// The name of the lock beside the database.
pub const LOCK: &str = ".daemon.lock";

/// What the binary `clai-daemon` does.
pub fn run_daemon(mut invocation: Invocation) -> Exit {
    let result = run(&mut invocation);
    invocation.conclude(result, Form::Text)
}

fn run(invocation: &mut Invocation) -> Result<Exit, Failure> {
    let options = Options::parse(&invocation.args)?;
    match options.mode {
        Mode::Help => invocation.print(options::HELP).map(|()| Exit::Done),
        Mode::Version => {
            invocation.print(concat!("clai-daemon ", env!("CARGO_PKG_VERSION"), "\n")).map(|()| Exit::Done)
        }
        Mode::RebuildAggregates => rebuild(invocation, &options),
        Mode::Background => background::start(invocation),
        Mode::Foreground => foreground(invocation, &options),
        Mode::Detached => {
            process::leave_session()
                .map_err(|error| Failure::new("cannot leave the session").because(&error))?;
            let place = Home::find(invocation)?;
            let result = foreground(invocation, &options);
            if let Err(failure) = &result {
                // Nobody sees what it says: who started it reads the log.
                let _ = place.log.record(
                    invocation.clock.unix_ms(),
                    "start_failed",
                    &[("error", &failure.to_string())],
                );
            }
            result
        }
    }
}

/// Where everything of one user's daemon is.
pub(crate) struct Home {
    places: Places,
    database_dir: PathBuf,
    socket: SocketPath,
    log: Log,
}

impl Home {
    pub(crate) fn find(invocation: &Invocation) -> Result<Home, Failure> {
        Home::of(&invocation.env, invocation.places()?)
    }

    fn of(env: &kit::invocation::Environment, places: Places) -> Result<Home, Failure> {
        let database_dir = config::database_dir(env, &places)?;
        let socket = endpoint::clai_socket(&places)
            .map_err(|error| Failure::new("cannot listen").because(&error).hint(error.hint()))?;
        let log = Log::of("clai-daemon", &places);
        Ok(Home { places, database_dir, socket, log })
    }

    fn transport(&self) -> Unix {
        Unix { uid: self.places.uid }
    }

    /// Makes the directories, or finds them to be ours alone.
    fn furnish(&self) -> Result<(), Failure> {
        for directory in [&self.database_dir, &endpoint::clai_dir(&self.places)] {
            private_dir(directory, self.places.uid)
                .map_err(|error| place_failure("cannot use a directory", &error))?;
        }
        Ok(())
    }

    fn lock(&self) -> Result<Lock, Failure> {
        lock::try_acquire(&self.database_dir.join(LOCK), "clai-daemon").map_err(|error| lock_failure(&error))
    }

    fn open(
        &self,
        invocation: &Invocation,
        config: &config::Config,
    ) -> Result<(Database, Vec<String>), Failure> {
        let now = invocation.clock.unix_ms();
        let (database, notes) =
            Database::open(&self.database_dir, config.synchronous, owner(&invocation.env), now)
                .map_err(|error| database_failure("cannot open the history", &error))?;
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        for note in &notes {
            let _ = self.log.record(now, "opened", &[("note", note)]);
        }
        Ok((database, notes))
    }
}

fn foreground(invocation: &mut Invocation, options: &Options) -> Result<Exit, Failure> {
    let home = Home::find(invocation)?;
    let Loaded { config, warnings, .. } = options.load(&home.places, &invocation.env)?;
    home.furnish()?;
    let lock = home.lock()?;
    let (mut database, notes) = home.open(invocation, &config)?;
    for note in warnings.iter().chain(&notes) {
        let _ = writeln!(invocation.stderr, "note: {}", kit::text::plain(note));
    }
    let now = invocation.clock.unix_ms();
    if writer::is_plausible(&database, config.retention_days, now) {
        writer::purge(&mut database, config.retention_days, now, &home.log);
    }
    let journal = Arc::new(Journal::default());
    let stopping = Stopping::new(&home);
    let world = world(invocation, options, &home, &stopping);
    let service = Service::start(&database, Arc::clone(&journal), config, world)
        .map_err(|error| database_failure("cannot read the history", &error))?;
    let service = Arc::new(service);
    // Before anybody can meet us: who is met must be able to end well.
    stopping.on_signals().map_err(|error| Failure::new("cannot wait for signals").because(&error))?;
    let listener = listen(&home)?;
    let writer = Writer::new(database, &service, invocation.clock.clone(), home.log.clone());
    let writer = thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || writer.run())
        .map_err(|error| Failure::new("cannot start the writer").because(&error))?;
    let _ = home.log.record(now, "started", &[("learned", &service.status().learned.to_string())]);
    serve::serve(listener, &service, &stopping.flag, || home.socket.as_path().exists());
    journal.close();
    let ended = writer.join();
    let _ = home.log.record(invocation.clock.unix_ms(), "stopped", &[]);
    drop(lock);
    ended.map(|()| Exit::Done).map_err(|_| Failure::new("the writer broke off"))
}

fn listen(home: &Home) -> Result<UnixListener, Failure> {
    let failed = |error: &ListenError| Failure::new("cannot listen").because(error);
    let transport = home.transport();
    transport.remove_stale(&home.socket).map_err(|error| match &error {
        ListenError::InUse { .. } => failed(&error).exit_with(Exit::Locked),
        error => failed(error),
    })?;
    transport.listen(&home.socket).map_err(|error| failed(&error))
}

fn world(invocation: &Invocation, options: &Options, home: &Home, stopping: &Stopping) -> World {
    let (options, places, env) = (options.clone(), home.places.clone(), invocation.env.clone());
    let stopping = stopping.clone();
    World {
        clock: invocation.clock.clone(),
        env: env.clone(),
        home: home.places.home.clone(),
        database_dir: home.database_dir.clone(),
        runtime: endpoint::clai_dir(&home.places),
        reload: Box::new(move || options.load(&places, &env)),
        stop: Box::new(move || stopping.stop()),
    }
}

/// The wish to end, and how the one who waits for calls hears of it.
#[derive(Clone)]
struct Stopping {
    flag: Arc<AtomicBool>,
    transport: Unix,
    socket: SocketPath,
}

impl Stopping {
    fn new(home: &Home) -> Stopping {
        Stopping { flag: Arc::default(), transport: home.transport(), socket: home.socket.clone() }
    }

    /// Knocks at our own door: whoever waits there for calls looks up.
    fn stop(&self) {
        self.flag.store(true, Ordering::SeqCst);
        let _ = self.transport.connect(&self.socket, Deadline::after(Duration::from_secs(1)));
    }

    /// A signal writes a byte into a pipe, and a thread of its own reads it: no tick, no work in a handler.
    fn on_signals(&self) -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT] {
            pipe::register(signal, writer.try_clone()?)?;
        }
        let stopping = self.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if io::Read::read(&mut reader, &mut [0]).is_ok() {
                stopping.stop();
            }
        })?;
        Ok(())
    }
}

/// Counts anew: by a running daemon if there is one, else here.
fn rebuild(invocation: &mut Invocation, options: &Options) -> Result<Exit, Failure> {
    /// A million commands take some seconds.
    const PATIENCE: Duration = Duration::from_secs(600);
    let home = Home::find(invocation)?;
    match client::ask_at::<Done>(&home, &Request::RebuildAggregates, PATIENCE) {
        Ok(_) => {}
        Err(AskFailure::Absent) => {
            let Loaded { config, .. } = options.load(&home.places, &invocation.env)?;
            home.furnish()?;
            let _lock = home.lock()?;
            let (mut database, _) = home.open(invocation, &config)?;
            database
                .rebuild_aggregates()
                .map_err(|error| database_failure("cannot rebuild the aggregates", &error))?;
        }
        Err(other) => return Err(other.into()),
    }
    invocation.print("rebuilt the aggregates from the commands that are kept\n").map(|()| Exit::Done)
}

/// Who sits at this machine, for sessions that do not say.
fn owner(env: &kit::invocation::Environment) -> Owner {
    let user = env.text("USER").or(env.text("LOGNAME")).map(str::to_owned);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.map(|name| name.trim().to_owned()).or_else(|| env.text("HOSTNAME").map(str::to_owned));
    Owner { host: host.filter(|host| !host.is_empty()), user }
}

fn lock_failure(error: &LockError) -> Failure {
    match error {
        LockError::Held { holder, .. } => {
            let who = holder.pid.map_or(String::new(), |pid| format!(" (process {pid})"));
            Failure::new(format!("daemon already running{who}")).hint("`clai status`").exit_with(Exit::Locked)
        }
        error => with_hint(Failure::new("cannot take the lock").because(error), error.hint()),
    }
}

fn database_failure(what: &str, error: &DatabaseError) -> Failure {
    with_hint(Failure::new(what).because(error), error.hint())
}

fn with_hint(failure: Failure, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
