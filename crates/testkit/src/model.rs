//! A scripted model: a real HTTP server on the loopback whose every byte a test decides, and which remembers
//! every request. It knows the shapes of two wires and nothing of those who speak them.
//!
//! ```no_run
//! use testkit::model::{Server, Wire, turn};
//!
//! let server = Server::scripted([
//!     Wire::Anthropic.failure(529, "overloaded_error", "Overloaded").header("retry-after", "0"),
//!     turn().say("Let me look.").call("read_file", &serde_json::json!({"path": "a"})).stream(Wire::Anthropic),
//!     turn().say("It is empty.").stream(Wire::Anthropic).drop_at("is "),
//! ]);
//! // … run the program against server.url() …
//! assert_eq!(server.finish().len(), 3);
//! ```

pub mod anthropic;
mod delivery;
mod http;
pub mod openai;
mod reply;
mod turn;

use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::json;

pub use http::Request;
pub use reply::{At, Cut, Event, LineEnd, Reply};
pub use turn::{Turn, Wire, turn};

use delivery::End;

/// The server. Going out of scope it is finished, see [`Server::finish`].
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers the requests with these replies in the order of their arrival. A further request is answered
    /// with a 500 that says so, and fails the test in the end.
    pub fn scripted(replies: impl IntoIterator<Item = Reply>) -> Server {
        Server::start(Script::Queue(Mutex::new(replies.into_iter().collect())))
    }

    /// Answers every request as the closure decides. It may block: other connections go on.
    pub fn answering(decide: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::start(Script::Closure(Box::new(decide)))
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().log.clone()
    }

    /// Stops, and gives the log. Panics if replies were left over, if the script ran out, or if somebody sent
    /// what is not HTTP.
    #[track_caller]
    pub fn finish(mut self) -> Vec<Request> {
        self.settle();
        self.requests()
    }

    fn start(script: Script) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared { script, state: Mutex::default() });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Server { address, shared, accepting: Some(accepting) }
    }

    /// Closes every connection and waits for their threads; a second call does nothing.
    fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        self.shared.state().closing = true;
        // Wakes the accepting thread, which may be blocked.
        let _ = TcpStream::connect(self.address);
        let _ = accepting.join();
    }

    /// A test that is failing already has its own complaint.
    #[track_caller]
    fn settle(&mut self) {
        self.stop();
        let trouble = self.trouble();
        let fine = trouble.is_empty() || thread::panicking();
        assert!(fine, "the scripted model has complaints:\n{}", trouble.join("\n"));
    }

    /// What there is to complain about, once.
    fn trouble(&self) -> Vec<String> {
        let mut trouble = std::mem::take(&mut self.shared.state().trouble);
        if let Script::Queue(queue) = &self.shared.script {
            let left = std::mem::take(&mut *lock(queue)).len();
            if left > 0 {
                trouble.push(format!("{left} replies were left over"));
            }
        }
        trouble
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.settle();
    }
}

enum Script {
    Queue(Mutex<VecDeque<Reply>>),
    Closure(Box<dyn Fn(&Request) -> Reply + Send + Sync>),
}

struct Shared {
    script: Script,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log: Vec<Request>,
    trouble: Vec<String>,
    ids: Ids,
    open: HashMap<usize, Arc<TcpStream>>,
    closing: bool,
}

/// Ids that are unique within a server and the same in every run: `msg_1`, `toolu_1`, `toolu_2`.
#[derive(Debug, Default)]
pub(crate) struct Ids(HashMap<&'static str, u64>);

impl Ids {
    pub(crate) fn next(&mut self, prefix: &'static str) -> String {
        let last = self.0.entry(prefix).or_default();
        *last += 1;
        format!("{prefix}{last}")
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn closing(&self) -> bool {
        self.state().closing
    }

    /// Logs the request and finds its reply.
    fn answer(&self, mut request: Request) -> (usize, Reply) {
        let name = format!("{} {}", request.method, request.path);
        let (number, queued) = {
            let mut state = self.state();
            request.number = state.log.len();
            state.log.push(request.clone());
            // Taken while the log is locked: the order of replies is the order of the log.
            let queued = if let Script::Queue(queue) = &self.script { lock(queue).pop_front() } else { None };
            (request.number, queued)
        };
        let reply = match (&self.script, queued) {
            (_, Some(reply)) => Ok(reply),
            (Script::Queue(_), None) => {
                Err(format!("the script ran out before request {} ({name})", number + 1))
            }
            (Script::Closure(decide), None) => catch_unwind(AssertUnwindSafe(|| decide(&request)))
                .map_err(|_| format!("the closure panicked at request {} ({name})", number + 1)),
        };
        (number, reply.unwrap_or_else(|problem| self.complain(problem)))
    }

    fn complain(&self, problem: String) -> Reply {
        let reply = Reply::json(500, &json!({"error": {"type": "scripted_model", "message": problem}}));
        self.state().trouble.push(problem);
        reply
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut serving = Vec::new();
    for connection in 0.. {
        let Ok((stream, _)) = listener.accept() else { continue };
        let stream = Arc::new(stream);
        {
            let mut state = shared.state();
            if state.closing {
                // Keep-alive connections would wait for another request for ever.
                state.open.values().for_each(|open| drop(open.shutdown(Shutdown::Both)));
                break;
            }
            state.open.insert(connection, Arc::clone(&stream));
        }
        let shared = Arc::clone(shared);
        serving.push(thread::spawn(move || {
            serve(&shared, &stream, connection);
            // The last handle is ours, so that dropping it closes the connection, or resets it if so told.
            shared.state().open.remove(&connection);
        }));
    }
    serving.into_iter().for_each(|thread| drop(thread.join()));
}

fn serve(shared: &Shared, stream: &TcpStream, connection: usize) {
    stream.set_nodelay(true).expect("a TCP socket sends at once when told");
    let mut input = BufReader::new(stream);
    loop {
        let mut request = match http::read(&mut input, stream) {
            Ok(Some(request)) => request,
            // The client went away, between requests or in the middle of one.
            Ok(None) | Err(http::Broken::Off) => return,
            Err(http::Broken::Malformed(problem)) => {
                let _ = shared.complain(format!("connection {connection} sent no HTTP: {problem}"));
                let _ = (&*stream).write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
                return;
            }
        };
        request.connection = connection;
        let last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let (number, reply) = shared.answer(request);
        let shipment = reply.pack(&mut shared.state().ids);
        let shipment = shipment.unwrap_or_else(|problem| {
            let complaint = shared.complain(format!("reply {}: {problem}", number + 1));
            complaint.pack(&mut Ids::default()).expect("a complaint has no marks to look for")
        });
        match shipment.deliver(stream, &|| shared.closing()) {
            End::Complete if !last => {}
            End::ClientGone => {
                shared.state().log[number].closed_early = true;
                return;
            }
            End::Complete | End::Closed => return,
        }
    }
}
