//! The Unix transport between two real users. Only root can become somebody else: for anybody else these tests fail
//! and say what to do. `transport.rs` checks the same rules with a pretended user.
#![allow(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::Uid;
use wire::Deadline;
use wire::endpoint::SocketPath;
use wire::transport::{AcceptError, ConnectError, ListenError, Listener, Transport, Unix};

const ROOT: Unix = Unix { uid: 0 };
const NOBODY: Unix = Unix { uid: 65534 };

fn long() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// A directory where everybody may put something, like the system's temporary one.
#[track_caller]
fn shared() -> (tempfile::TempDir, SocketPath) {
    testkit::hostile::require_root("be two users at once");
    let directory = tempfile::tempdir().unwrap();
    open_up(directory.path(), 0o1777);
    let path = SocketPath::new(directory.path().join("d.sock")).unwrap();
    (directory, path)
}

fn open_up(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Does `what` on a thread that belongs to nobody: on Linux the user is a property of the thread.
fn as_nobody<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let stranger = scope.spawn(|| {
            let nobody = Uid::from_raw(NOBODY.uid);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            what()
        });
        stranger.join().unwrap()
    })
}

#[test]
fn the_mode_of_the_socket_keeps_strangers_out() {
    let (_directory, path) = shared();
    let _listener = ROOT.listen(&path).unwrap();
    let error = as_nobody(|| std::os::unix::net::UnixStream::connect(path.as_path())).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
}

#[test]
fn a_stranger_who_gets_through_is_turned_away_by_the_peer_check() {
    let (_directory, path) = shared();
    let listener = ROOT.listen(&path).unwrap();
    open_up(path.as_path(), 0o666);
    let _caller = as_nobody(|| std::os::unix::net::UnixStream::connect(path.as_path())).unwrap();
    let error = listener.accept(long()).unwrap_err();
    assert!(matches!(error, AcceptError::ForeignPeer { peer: 65534, uid: 0 }), "{error}");
    assert!(listener.accept(Deadline::after(Duration::ZERO)).unwrap().is_none());
}

#[test]
fn a_stranger_who_took_our_name_is_not_called() {
    let (_directory, path) = shared();
    let _squatter = as_nobody(|| NOBODY.listen(&path)).unwrap();
    let error = ROOT.connect(&path, long()).unwrap_err();
    assert!(matches!(error, ConnectError::Untrusted(_)), "{error}");
    assert!(error.to_string().contains("belongs to user 65534, and we are user 0"), "{error}");
    assert!(matches!(ROOT.remove_stale(&path), Err(ListenError::Untrusted(_))));
    assert!(matches!(ROOT.listen(&path), Err(ListenError::InUse { .. })));
}

#[test]
fn a_stranger_behind_a_file_of_ours_gets_no_byte() {
    let (_directory, path) = shared();
    let listener = as_nobody(|| NOBODY.listen(&path)).unwrap();
    chown(path.as_path(), Some(0), None).unwrap();
    let error = ROOT.connect(&path, long()).unwrap_err();
    assert!(matches!(error, ConnectError::ForeignPeer { peer: 65534, uid: 0, .. }), "{error}");
    drop(listener);
}
