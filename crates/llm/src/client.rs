//! Asks a provider. Knows how a request is sent and an answer fetched, and nothing of what is asked.

mod http;
mod line;
mod stream;

use std::io::Read;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::Cancel;
use ureq::Agent;

use crate::block::Wire;
use crate::decode::Decoder;
use crate::error::{Error, within_the_answer};
use crate::event::{Event, Note};
use crate::provider::{Endpoint, Provider, Target};
use crate::proxy::Proxies;
use crate::request::Request;
use crate::script::Script;
use crate::wire::Written;

pub use stream::{Reply, Stream};

use http::Connections;
use line::Line;

/// How many pieces of an answer may wait to be heard: a slow listener slows the provider down, and costs no memory.
const WAITING: usize = 16;

/// The surroundings of a client, read before.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    pub proxies: Proxies,
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR`: certificates to trust in place of the system's.
    pub certificates: Option<Certificates>,
    pub timeouts: Timeouts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificates {
    pub file: Option<PathBuf>,
    pub folder: Option<PathBuf>,
}

/// There is no limit for a whole answer: a model may take its time as long as it is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For finding the host, reaching it and agreeing on keys.
    pub connect: Duration,
    /// The longest silence, before the answer and within it.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        // A local server may read a long prompt for minutes before its first word.
        Timeouts { connect: Duration::from_secs(30), idle: Duration::from_secs(300) }
    }
}

impl Setup {
    pub fn from_environment(env: &Environment) -> Setup {
        let path = |name| env.text(name).map(PathBuf::from);
        let certificates = Certificates { file: path("SSL_CERT_FILE"), folder: path("SSL_CERT_DIR") };
        let named = certificates.file.is_some() || certificates.folder.is_some();
        Setup {
            proxies: Proxies::from_environment(env),
            certificates: named.then_some(certificates),
            timeouts: Timeouts::default(),
        }
    }
}

/// Cheap to clone; clones share connections, and a script's place.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    provider: Provider,
    connections: Connections,
    script: Mutex<Option<Script>>,
}

impl Client {
    /// Does nothing yet: no file is read and no connection made before the first request.
    pub fn new(provider: Provider, setup: Setup) -> Client {
        Client(Arc::new(Inner { provider, connections: Connections::new(setup), script: Mutex::default() }))
    }

    /// Sends the request and gives what comes of it. Returns at once: the work is done on a thread of its own.
    ///
    /// When `cancel` is set, or the stream dropped, the connection is shut down, whatever it is waiting for; the stream
    /// then ends with [`Error::Cancelled`].
    pub fn start(&self, request: &Request, cancel: &Cancel) -> Stream {
        let (sender, receiver) = sync_channel(WAITING);
        let line = Arc::new(Line::default());
        let stream = Stream::new(receiver, Arc::clone(&line), cancel.clone());
        if cancel.is_cancelled() {
            return stream;
        }
        let work = Work {
            inner: Arc::clone(&self.0),
            written: self.0.provider.written(request),
            model: request.model.clone(),
            turn: request.messages.len(),
            line,
            sender,
        };
        let started = thread::Builder::new().name("llm".to_owned()).spawn(move || work.run());
        // Without a thread there is no sender, and the stream ends by itself.
        drop(started);
        stream
    }
}

impl Inner {
    /// Nothing that a provider says back may show the key.
    fn discreet(&self, error: Error) -> Error {
        match (error, &self.provider.key) {
            (Error::Provider(complaint), key) => {
                Error::Provider(Box::new(complaint.fit_to_be_seen(key.as_ref())))
            }
            (Error::Malformed(what), Some(key)) => Error::Malformed(key.taken_out_of(&what)),
            (error, _) => error,
        }
    }

    /// What is odd about an answer may be quoted from it. Its words are the model's, and stay as they are.
    fn discreet_notes(&self, events: &mut [Event]) {
        let Some(key) = &self.provider.key else { return };
        for event in events {
            if let Event::Note(Note::BadFrame(what) | Note::UnknownStop(what)) = event {
                *what = key.taken_out_of(what);
            }
        }
    }
}

/// One request on its way.
struct Work {
    inner: Arc<Inner>,
    written: Written,
    model: String,
    turn: usize,
    line: Arc<Line>,
    sender: SyncSender<Result<Vec<Event>, Error>>,
}

impl Work {
    fn run(mut self) {
        let ignored = mem::take(&mut self.written.ignored);
        if !ignored.is_empty() {
            let _ = self.sender.send(Ok(vec![Event::Note(Note::Ignored(ignored))]));
        }
        let done = match &self.inner.provider.target {
            Target::Http(endpoint) => self.ask(endpoint),
            Target::Script(path) => self.play(path),
        };
        if let Err(error) = done {
            // If nobody listens any more, nobody has to be told.
            let _ = self.sender.send(Err(self.inner.discreet(error)));
        }
    }

    fn ask(&self, endpoint: &Endpoint) -> Result<(), Error> {
        let connections = &self.inner.connections;
        let agent = connections.agent(endpoint)?;
        self.line.open(&agent)?;
        let heard = self.hear(&agent, endpoint);
        if self.line.close() {
            connections.keep(agent);
        }
        heard
    }

    fn hear(&self, agent: &Agent, endpoint: &Endpoint) -> Result<(), Error> {
        let idle = self.inner.connections.idle();
        let mut answer = http::post(agent, &self.inner.provider, endpoint, &self.written.body, idle)?;
        let decoder = self.decoder(self.inner.provider.wire);
        let tell = |events| self.tell(events);
        stream::pump(&mut answer, decoder, tell, |error| within_the_answer(error, endpoint.host(), idle))?;
        // The end of the body, so that the connection can be used again. Whatever comes instead changes nothing.
        let _ = answer.read(&mut [0]);
        Ok(())
    }

    fn play(&self, path: &Path) -> Result<(), Error> {
        let turn = {
            let mut script = self.inner.script.lock().unwrap_or_else(PoisonError::into_inner);
            let script = match script.as_mut() {
                Some(script) => script,
                None => script.insert(Script::read(path)?),
            };
            script.next(self.turn)?
        };
        let decoder = self.decoder(turn.wire);
        stream::pump(&mut turn.bytes.as_slice(), decoder, |events| self.tell(events), |_| Error::Dropped)
    }

    /// Fails if nobody listens any more.
    fn tell(&self, mut events: Vec<Event>) -> Result<(), Error> {
        self.inner.discreet_notes(&mut events);
        match events.is_empty() {
            true => Ok(()),
            false => self.sender.send(Ok(events)).map_err(|_| Error::Cancelled),
        }
    }

    fn decoder(&self, wire: Wire) -> Decoder {
        Decoder::new(wire, &self.model, self.turn)
    }
}
