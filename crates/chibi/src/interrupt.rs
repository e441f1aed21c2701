//! Ctrl-C: the first ends the turn where its history can be used again, the second ends the process.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;

use kit::process::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{self, pipe};

/// From now on these signals set the flag. Without a thread or a pipe they end the process as before.
pub(crate) fn watch(cancel: &Cancel) {
    let Ok((mut heard, told)) = UnixStream::pair() else { return };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let Ok(told) = told.try_clone() else { return };
        if pipe::register(signal, told).is_err() {
            return;
        }
    }
    let cancel = cancel.clone();
    let listen = move || {
        let mut byte = [0];
        while heard.read(&mut byte).is_ok_and(|read| read > 0) {
            if cancel.is_cancelled() {
                // Whoever asks twice does not want to wait.
                let _ = low_level::emulate_default_handler(SIGINT);
            }
            cancel.cancel();
        }
    };
    drop(thread::Builder::new().name("signals".to_owned()).spawn(listen));
}
