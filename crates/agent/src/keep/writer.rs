//! Writes a new conversation down on a thread of its own, so that the first question to the model does not wait until its
//! context is made. Everything after that waits for the disk: before a tool runs, all that led to it is written.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use chibi::context::{Context, ContextError, ContextName, Entry};
use conversation::Record;

use super::begun;

/// Who writes. Going out of scope it finishes what it was given.
pub(super) struct Writer {
    orders: Option<Sender<Order>>,
    done: Receiver<Result<(), ContextError>>,
    /// Orders that were not answered yet.
    pending: usize,
    thread: Option<JoinHandle<()>>,
}

/// Whether to wait until it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Wait,
    Later,
}

/// What is to be written.
pub(super) enum Order {
    Record {
        record: Record,
        model: String,
    },
    /// What belongs to no history.
    Aside(Vec<Entry>),
}

impl Order {
    pub(super) fn carry_out(self, context: &mut Context) -> Result<(), ContextError> {
        match self {
            Order::Record { record, model } => context.record(&record, "user", &model),
            Order::Aside(entries) => context.append(entries),
        }
    }
}

impl Writer {
    /// `make` is done on the thread; when the first record is written as well, the note about it is forgotten.
    pub(super) fn start(
        make: impl FnOnce() -> Result<Context, ContextError> + Send + 'static,
        notes: &Path,
        name: &ContextName,
    ) -> Result<Writer, ContextError> {
        let (orders, incoming) = channel::<Order>();
        let (answers, done) = channel();
        let (notes, name) = (notes.to_owned(), name.clone());
        let work = move || {
            let mut context = match make() {
                Ok(context) => context,
                // Nothing can be written, and whoever writes hears why, and then that we are gone.
                Err(error) => return drop(answers.send(Err(error))),
            };
            for order in incoming {
                let written = order.carry_out(&mut context);
                if written.is_ok() {
                    begun::forget(&notes, &name);
                }
                if answers.send(written).is_err() {
                    return;
                }
            }
        };
        let spawned = thread::Builder::new().name("keep".to_owned()).spawn(work);
        let thread = spawned.map_err(|source| trouble("write", source))?;
        Ok(Writer { orders: Some(orders), done, pending: 0, thread: Some(thread) })
    }

    /// Gives back what failed, also of what was to be written later.
    pub(super) fn write(&mut self, order: Order, patience: Patience) -> Result<(), ContextError> {
        match self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok()) {
            true => self.pending += 1,
            false => {
                let why: Result<(), ContextError> = self.done.try_iter().collect();
                return why.and(Err(trouble("write", io::ErrorKind::BrokenPipe.into())));
            }
        }
        match patience {
            Patience::Wait => self.settle(),
            Patience::Later => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), ContextError> {
        while self.pending > 0 {
            self.pending -= 1;
            let gone = |_| Err(trouble("write", io::ErrorKind::BrokenPipe.into()));
            self.done.recv().unwrap_or_else(gone)?;
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn trouble(action: &'static str, source: io::Error) -> ContextError {
    ContextError::Io { action, path: "the conversation".into(), source }
}
