//! How far the reading of files has come, for somebody who waits at a terminal. On the error stream only, only after a
//! moment, and gone when the answer is there. Knows no file.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use kit::text::thousands;

/// What is done sooner needs no bar.
const MOMENT: Duration = Duration::from_millis(400);
const EVERY: Duration = Duration::from_millis(100);

/// The characters of the bar.
const WIDTH: usize = 24;

/// How many files were to be read, and how many were.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Progress {
    pub(crate) fn expect(&self, more: usize) {
        self.all.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The line that says it; nothing where nothing is known yet.
    fn line(&self) -> Option<String> {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        if all == 0 {
            return None;
        }
        if done >= all {
            return Some(format!("{} files read, joining calls", thousands(all as u64)));
        }
        let full = done * WIDTH / all;
        let bar = format!("{}{}", "#".repeat(full), ".".repeat(WIDTH - full));
        Some(format!("[{bar}] {} of {} files", thousands(done as u64), thousands(all as u64)))
    }
}

/// Does the work while the terminal shows how far it has come, if there is one.
pub(crate) fn shown<T>(
    terminal: Option<&mut (dyn Write + Send)>,
    progress: &Progress,
    work: impl FnOnce() -> T,
) -> T {
    let Some(stream) = terminal else { return work() };
    let (done, wait) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut patience = MOMENT;
            let mut is_drawn = false;
            while wait.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                patience = EVERY;
                if let Some(line) = progress.line() {
                    is_drawn = true;
                    // Not part of the answer: not being able to draw it changes nothing.
                    let _ = write!(stream, "\r{line}\x1b[K").and_then(|()| stream.flush());
                }
            }
            if is_drawn {
                let _ = write!(stream, "\r\x1b[K").and_then(|()| stream.flush());
            }
        });
        let value = work();
        drop(done);
        value
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use testkit::{PATIENCE, until};

    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_work_shows_how_far_it_has_come_and_leaves_nothing_behind() {
        let (screen, progress) = (Screen::default(), Progress::default());
        let seen = |wanted: &str| until(PATIENCE, || screen.text().contains(wanted));
        let answer = shown(Some(&mut screen.clone()), &progress, || {
            progress.expect(2_000);
            progress.one_more();
            assert!(seen("] 1 of 2,000 files"));
            (1..2_000).for_each(|_| progress.one_more());
            assert!(seen("2,000 files read, joining calls"));
            7
        });
        assert_eq!(answer, 7);
        assert!(screen.text().ends_with("\r\x1b[K"));
    }

    #[test]
    fn the_bar_fills_up() {
        let progress = Progress::default();
        assert_eq!(progress.line(), None);
        progress.expect(4);
        assert_eq!(progress.line().unwrap(), "[........................] 0 of 4 files");
        (0..3).for_each(|_| progress.one_more());
        assert_eq!(progress.line().unwrap(), "[##################......] 3 of 4 files");
    }
}
