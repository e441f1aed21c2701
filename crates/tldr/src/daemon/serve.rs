//! Taking calls: one thread accepts, each caller has one of its own and may ask as often as it likes. Everything that
//! arrives is answered, what cannot be read too. Never knows what a question means.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use wire::Deadline;
use wire::frame::{self, FrameError, LineReader};
use wire::tldr::{DaemonResponse, REQUEST_CAP};
use wire::transport::{Connection, Listener, SendError};

use crate::engine::Answered;
use crate::line::Line;

/// As many callers at once; who comes then waits in the system's queue until one of them goes, or has been silent for
/// [`IN_A_CROWD`].
const CALLERS: usize = 128;
/// How long a caller may be silent while others wait.
const IN_A_CROWD: Duration = Duration::from_secs(1);
/// A caller that says nothing whole for so long has gone, as far as we are concerned. Calling again costs it nothing.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a caller may take to read an answer. One that never reads costs this and nothing more.
const READING: Duration = Duration::from_secs(10);
/// Small pieces are sent together, as many bytes of them as stay in a core's own memory until the kernel has taken them.
const GATHERED: usize = 128 << 10;
/// How often a waiting thread looks whether it is over.
const LOOK: Duration = Duration::from_millis(200);
/// How long answers that are being made may take when the daemon ends.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Grammars and queries walk without recursion; JSON of 128 levels is the deepest that is read.
const STACK: usize = 1 << 20;

/// What a caller says becomes what it is answered.
pub(super) trait Answering: Send + Sync + 'static {
    /// One whole line, without its newline; gives another.
    fn answer(&self, line: &str) -> Line;
}

/// Takes calls until `stopping`, then lets those who were heard have their answer.
pub(super) fn serve<L: Listener>(listener: &L, service: &Arc<impl Answering>, stopping: &Arc<AtomicBool>)
where
    L::Connection: Connection + 'static,
{
    let callers = Arc::new(AtomicUsize::new(0));
    while !stopping.load(Ordering::SeqCst) {
        if callers.load(Ordering::SeqCst) >= CALLERS {
            pause();
            continue;
        }
        match listener.accept(Deadline::after(LOOK)) {
            Ok(Some(connection)) => receive(connection, service, stopping, &callers),
            Ok(None) => {}
            // A stranger, who is not served; or no more descriptors, which is better in a moment.
            Err(_) => pause(),
        }
    }
    let over = Instant::now();
    while callers.load(Ordering::SeqCst) > 0 && over.elapsed() < LAST_WORDS {
        pause();
    }
}

fn receive<C: Connection + 'static>(
    connection: C,
    service: &Arc<impl Answering>,
    stopping: &Arc<AtomicBool>,
    callers: &Arc<AtomicUsize>,
) {
    let (service, stopping) = (Arc::clone(service), Arc::clone(stopping));
    let guard = Guard::new(callers);
    // Without a thread for it the connection is closed, and the caller answers itself.
    let _ = thread::Builder::new().name("caller".to_owned()).stack_size(STACK).spawn(move || {
        // A caller that breaks off is the caller's business.
        let _ = attend(connection, &*service, &stopping, &guard);
    });
}

fn attend<C: Connection>(
    connection: C,
    service: &impl Answering,
    stopping: &AtomicBool,
    guard: &Guard,
) -> io::Result<()> {
    let mouth = connection.try_clone()?;
    connection.set_read_timeout(LOOK)?;
    let mut lines = LineReader::new(connection, REQUEST_CAP);
    let mut heard = Instant::now();
    loop {
        let answer = match lines.next_line_by(Deadline::after(LOOK)) {
            Ok(Some(frame::Line::Whole(line))) => answer(service, &line),
            // Half a question at the end of a stream is one by somebody who left the newline out.
            Ok(Some(frame::Line::Torn(line))) => answer(service, &line),
            Ok(None) => return Ok(()),
            Err(FrameError::DeadlinePassed) => {
                let patience = if guard.is_crowded() { IN_A_CROWD } else { SILENCE };
                match heard.elapsed() >= patience || stopping.load(Ordering::SeqCst) {
                    true => return Ok(()),
                    false => continue,
                }
            }
            Err(FrameError::Io(error)) => return Err(error),
            Err(error) => refusal(&error.to_string()),
        };
        say(&mouth, &answer).map_err(io::Error::other)?;
        heard = Instant::now();
    }
}

/// Sends a line with its newline. Gives up after [`READING`] with an error.
fn say(mouth: &impl Connection, line: &Line) -> Result<(), SendError> {
    let deadline = Deadline::after(READING);
    let mut gathered = Vec::with_capacity(line.len().min(GATHERED) + 1);
    for piece in line.pieces().chain(["\n"]) {
        if gathered.len() + piece.len() > GATHERED {
            mouth.send_within(&gathered, deadline)?;
            gathered.clear();
        }
        match piece.len() > GATHERED {
            true => mouth.send_within(piece.as_bytes(), deadline)?,
            false => gathered.extend_from_slice(piece.as_bytes()),
        }
    }
    mouth.send_within(&gathered, deadline)
}

/// A fault of ours is an answer too, and nobody else's trouble.
fn answer(service: &impl Answering, line: &str) -> Line {
    catch_unwind(AssertUnwindSafe(|| service.answer(line)))
        .unwrap_or_else(|_| Answered::of(&DaemonResponse::error("this question broke the daemon")).line)
}

fn refusal(why: &str) -> Line {
    Answered::of(&DaemonResponse::error(format!("invalid IPC message: {why}"))).line
}

/// One caller, counted until its thread ends, however it ends.
struct Guard(Arc<AtomicUsize>);

impl Guard {
    fn new(callers: &Arc<AtomicUsize>) -> Guard {
        callers.fetch_add(1, Ordering::SeqCst);
        Guard(Arc::clone(callers))
    }

    fn is_crowded(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= CALLERS
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the poll with a deadline")]
fn pause() {
    thread::sleep(Duration::from_millis(5));
}

#[cfg(test)]
mod tests {
    use kit::places::Places;
    use testkit::{Home, PATIENCE};
    use wire::endpoint::ProjectHash;
    use wire::exchange::ask;
    use wire::token::Token;
    use wire::transport::{Guarded, Transport, Unix};

    use super::*;

    struct Echo;

    impl Answering for Echo {
        fn answer(&self, line: &str) -> Line {
            line.to_owned().into()
        }
    }

    /// As on a system whose sockets do not say who calls.
    #[test]
    fn behind_a_secret_the_same_is_served_to_who_knows_it_and_nothing_to_others() {
        let home = Home::new();
        let env = kit::invocation::Environment::of(home.environment());
        let places: Places = env.places().unwrap();
        let endpoint = ProjectHash::of(home.path()).socket(&places.temp).unwrap();
        let [right, wrong] =
            [1, 2].map(|byte| Guarded { inner: Unix { uid: places.uid }, token: Token::new([byte; 32]) });
        let listener = right.listen(&endpoint).unwrap();
        let stopping = Arc::new(AtomicBool::new(false));
        let served = thread::spawn({
            let stopping = Arc::clone(&stopping);
            move || serve(&listener, &Arc::new(Echo), &stopping)
        });
        let said = |transport: &Guarded<Unix>| {
            ask(transport, &endpoint, &"hello", REQUEST_CAP, Deadline::after(PATIENCE))
        };
        assert_eq!(said(&right).unwrap(), "\"hello\"");
        assert!(said(&wrong).is_err());
        let bare = ask(
            &Unix { uid: places.uid },
            &endpoint,
            &"x".repeat(99),
            REQUEST_CAP,
            Deadline::after(PATIENCE),
        );
        assert!(bare.is_err(), "{bare:?}");
        assert_eq!(said(&right).unwrap(), "\"hello\"");
        stopping.store(true, Ordering::SeqCst);
        served.join().unwrap();
    }
}
