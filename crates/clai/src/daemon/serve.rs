//! Taking calls: one thread accepts, each caller has one to itself, and the first byte tells the dialect. Above the
//! transport everything is a stream of bytes; this file never knows a path, and what is said is the doors' business.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wire::Deadline;
use wire::clai::Dialect;
use wire::transport::{Connection, Listener};

use super::door;
use super::service::Service;
use super::workers::{Thread, Workers};

/// As many callers at once: every shell keeps one open, and who has more than this many shells loses nothing but the
/// connection that was silent the longest.
const CALLERS: usize = 256;
/// As many of them are served at the same time; who calls then waits in the system's queue, which costs nobody memory.
/// A storm of hooks would be a thread each otherwise, and what hundreds of threads have touched is never given back.
const AT_WORK: usize = 16;
/// … but not for long, so that somebody with a question gets through while others wait for a slow disk.
const QUEUE_PATIENCE: Duration = Duration::from_millis(20);
/// How often to see whether our name is still there when nobody calls. At the end of a login it is taken away with the
/// directory, and who cannot be met would hold the lock for ever.
const LOOK_UP: Duration = Duration::from_secs(3);
/// A caller that has begun to say something has this long to finish it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long callers may take to be heard out when the daemon ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Takes calls until `stopping`, or until it `can_be_met` no more, then hears out who is still there.
pub(super) fn serve<L: Listener>(
    listener: L,
    service: &Arc<Service>,
    stopping: &Arc<AtomicBool>,
    can_be_met: impl Fn() -> bool,
) where
    L::Connection: Connection + 'static,
{
    let (callers, workers) = (Arc::new(Callers::default()), Arc::new(Workers::default()));
    while !stopping.load(Ordering::SeqCst) {
        callers.wait_for_a_turn(QUEUE_PATIENCE);
        match listener.accept(Deadline::after(LOOK_UP)) {
            Ok(Some(connection)) => receive(connection, service, &callers, &workers),
            Ok(None) if !can_be_met() => break,
            Ok(None) => {}
            // A stranger, who is not served; or no more descriptors, which is better in a moment.
            Err(_) => callers.wait_for_change(Duration::from_millis(20)),
        }
    }
    // Who has called before is heard: a hook has long gone and counts on us.
    while let Ok(Some(connection)) = listener.accept(Deadline::after(Duration::ZERO)) {
        receive(connection, service, &callers, &workers);
    }
    drop(listener);
    callers.hear_out(LAST_WORDS);
}

fn receive<C: Connection + 'static>(
    connection: C,
    service: &Arc<Service>,
    callers: &Arc<Callers<C>>,
    workers: &Arc<Workers>,
) {
    let Ok(handle) = connection.try_clone() else { return };
    let id = callers.enter(handle);
    service.connections.store(callers.count(), Ordering::Relaxed);
    let (service, registry) = (Arc::clone(service), Arc::clone(callers));
    let attended = workers.give(Box::new(move || {
        let stream = Stream { connection, callers: Arc::clone(&registry), id };
        let _guard = Leave { callers: registry, id, service: Arc::clone(&service) };
        attend(stream, &service)
    }));
    if attended.is_err() {
        callers.leave(id);
    }
}

/// A caller that breaks off is the caller's business.
fn attend<C: Connection>(stream: Stream<C>, service: &Arc<Service>) -> Thread {
    if stream.connection.set_read_timeout(PATIENCE).is_err() {
        return Thread::AsBefore;
    }
    let mut input = BufReader::with_capacity(16 * 1024, stream);
    let Ok(Some(first)) = first_byte(&mut input) else { return Thread::AsBefore };
    let _ = match Dialect::of(first) {
        Some(Dialect::Ndjson) => door::ndjson::attend(input, service),
        Some(Dialect::Http) => door::http::attend(input, service),
        Some(Dialect::Raw) => {
            let _ = door::raw::attend(input, service);
            // It has given way to others for good.
            return Thread::Changed;
        }
        None => Ok(()),
    };
    Thread::AsBefore
}

/// Waits as long as it takes: a shell may connect long before its first command.
fn first_byte<R: Read>(input: &mut BufReader<R>) -> io::Result<Option<u8>> {
    loop {
        match input.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A caller's stream, which remembers when something whole was last said.
pub(super) struct Stream<C> {
    connection: C,
    callers: Arc<Callers<C>>,
    id: u64,
}

impl<C: Connection> Stream<C> {
    /// A whole message has arrived.
    pub(super) fn heard(&self) {
        self.callers.heard(self.id);
    }

    /// Whether bytes came and no whole message for longer than anybody needs.
    pub(super) fn is_stalled(&self) -> bool {
        self.callers.is_stalled(self.id)
    }

    /// Sends an answer; an error means that nobody listens.
    pub(super) fn say(&self, bytes: &[u8]) -> io::Result<()> {
        say(&self.connection, bytes)
    }

    /// The same for when a reader has taken the stream. Whoever has one counts as heard with every answer.
    pub(super) fn mouth(&self) -> io::Result<Mouth<C>> {
        Ok(Mouth { connection: self.connection.try_clone()? })
    }
}

/// The way back to a caller.
pub(super) struct Mouth<C> {
    connection: C,
}

impl<C: Connection> Mouth<C> {
    pub(super) fn say(&self, bytes: &[u8]) -> io::Result<()> {
        say(&self.connection, bytes)
    }
}

fn say(connection: &impl Connection, bytes: &[u8]) -> io::Result<()> {
    connection.send_within(bytes, Deadline::after(PATIENCE)).map_err(io::Error::other)
}

impl<C: Connection> Read for Stream<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.callers.rests(self.id);
        let count = self.connection.read(buffer)?;
        if count > 0 {
            self.callers.got_bytes(self.id);
        }
        Ok(count)
    }
}

/// Who is on the line.
struct Callers<C> {
    inner: Mutex<Inner<C>>,
    changed: Condvar,
}

struct Inner<C> {
    next: u64,
    all: HashMap<u64, Caller<C>>,
    /// How many of them are being served.
    at_work: usize,
}

struct Caller<C> {
    handle: C,
    /// When it last said something whole, or came.
    heard: Instant,
    /// When the first bytes came of what is not whole yet.
    began: Option<Instant>,
    is_at_work: bool,
}

impl<C> Default for Callers<C> {
    fn default() -> Self {
        Callers {
            inner: Mutex::new(Inner { next: 0, all: HashMap::new(), at_work: 0 }),
            changed: Condvar::new(),
        }
    }
}

impl<C> Callers<C> {
    fn count(&self) -> usize {
        self.lock().all.len()
    }

    fn heard(&self, id: u64) {
        if let Some(caller) = self.lock().all.get_mut(&id) {
            (caller.heard, caller.began) = (Instant::now(), None);
        }
    }

    fn got_bytes(&self, id: u64) {
        let mut inner = self.lock();
        if let Some(caller) = inner.all.get_mut(&id) {
            caller.began.get_or_insert_with(Instant::now);
        }
        inner.works(id);
    }

    /// Nothing more to do for this one until it says something.
    fn rests(&self, id: u64) {
        let was_full = self.lock().rests(id);
        if was_full {
            self.changed.notify_all();
        }
    }

    fn is_stalled(&self, id: u64) -> bool {
        let inner = self.lock();
        let began = inner.all.get(&id).and_then(|caller| caller.began);
        began.is_some_and(|began| began.elapsed() >= PATIENCE)
    }

    fn leave(&self, id: u64) {
        let mut inner = self.lock();
        inner.rests(id);
        inner.all.remove(&id);
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits until fewer than [`AT_WORK`] are being served; gives up after `patience`.
    fn wait_for_a_turn(&self, patience: Duration) {
        let full = |inner: &mut Inner<C>| inner.at_work >= AT_WORK;
        let _ = self.changed.wait_timeout_while(self.lock(), patience, full);
    }

    fn wait_for_change(&self, patience: Duration) {
        let _ = self.changed.wait_timeout(self.lock(), patience);
    }

    fn lock(&self) -> MutexGuard<'_, Inner<C>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Inner<C> {
    fn works(&mut self, id: u64) {
        if let Some(caller) = self.all.get_mut(&id).filter(|caller| !caller.is_at_work) {
            caller.is_at_work = true;
            self.at_work += 1;
        }
    }

    /// Says whether there was no turn for anybody else until now.
    fn rests(&mut self, id: u64) -> bool {
        let was_full = self.at_work >= AT_WORK;
        if let Some(caller) = self.all.get_mut(&id).filter(|caller| caller.is_at_work) {
            caller.is_at_work = false;
            self.at_work -= 1;
        }
        was_full
    }

    fn longest_silent(&self) -> Option<u64> {
        let resting = self.all.iter().filter(|(_, caller)| !caller.is_at_work);
        resting.min_by_key(|(_, caller)| caller.heard).map(|(id, _)| *id)
    }
}

impl<C: Connection> Callers<C> {
    /// Makes room where there is none: who was silent the longest has to call again.
    fn enter(&self, handle: C) -> u64 {
        let mut inner = self.lock();
        if inner.all.len() >= CALLERS
            && let Some(silent) = inner.longest_silent()
            && let Some(caller) = inner.all.remove(&silent)
        {
            let _ = caller.handle.shutdown();
        }
        let id = inner.next;
        inner.next += 1;
        inner.all.insert(id, Caller { handle, heard: Instant::now(), began: None, is_at_work: false });
        inner.works(id);
        id
    }

    /// Ends all connections; what has arrived on them is still read. Gives up on who takes longer than `patience`.
    fn hear_out(&self, patience: Duration) {
        let inner = self.lock();
        for caller in inner.all.values() {
            let _ = caller.handle.shutdown();
        }
        let _ = self.changed.wait_timeout_while(inner, patience, |inner| !inner.all.is_empty());
    }
}

/// Leaves the registry however the thread ends.
struct Leave<C> {
    callers: Arc<Callers<C>>,
    id: u64,
    service: Arc<Service>,
}

impl<C> Drop for Leave<C> {
    fn drop(&mut self) {
        self.callers.leave(self.id);
        self.service.connections.store(self.callers.count(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn callers(count: u64) -> Callers<()> {
        let callers = Callers::default();
        let mut inner = callers.lock();
        for id in 0..count {
            inner
                .all
                .insert(id, Caller { handle: (), heard: Instant::now(), began: None, is_at_work: false });
        }
        drop(inner);
        callers
    }

    #[test]
    fn a_turn_comes_when_one_of_those_at_work_rests() {
        let callers = Arc::new(callers(AT_WORK as u64));
        (0..AT_WORK as u64).for_each(|id| callers.got_bytes(id));
        let began = Instant::now();
        callers.wait_for_a_turn(Duration::from_millis(30));
        assert!(began.elapsed() >= Duration::from_millis(30), "nobody rests");
        let waiting = Arc::clone(&callers);
        let waits = thread::spawn(move || waiting.wait_for_a_turn(Duration::from_secs(60)));
        callers.rests(3);
        waits.join().expect("it does not panic");
        assert!(began.elapsed() < Duration::from_secs(30));
        // Whatever is said twice counts once.
        callers.rests(3);
        callers.leave(3);
        (4..AT_WORK as u64).for_each(|id| callers.leave(id));
        callers.got_bytes(0);
        assert_eq!(callers.lock().at_work, 3);
    }

    #[test]
    fn who_is_being_served_is_not_sent_away_however_long_ago_it_was_heard() {
        let callers = callers(3);
        callers.got_bytes(0);
        callers.heard(1);
        assert_eq!(callers.lock().longest_silent(), Some(2));
        callers.heard(2);
        assert_eq!(callers.lock().longest_silent(), Some(1));
        callers.got_bytes(1);
        callers.got_bytes(2);
        assert_eq!(callers.lock().longest_silent(), None);
    }
}
