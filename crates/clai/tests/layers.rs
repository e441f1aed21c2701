//! What the layers of the daemon may not know.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Another kind of transport is one more implementation, and nothing else has to change for it.
#[test]
fn above_the_transport_there_are_bytes_and_nobody_knows_a_socket() {
    let above = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/daemon"));
    assert!(above.len() > 10, "{above:?}");
    for path in above {
        let code = fs::read_to_string(&path).unwrap();
        for word in ["unix::net", "UnixStream", "SocketPath", "daemon.sock", "transport::Unix"] {
            assert!(!code.contains(word), "{}: {word}", path.display());
        }
    }
}
