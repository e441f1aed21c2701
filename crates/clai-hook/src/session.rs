//! A shell's session: asked of the daemon once, left in a file that the shell reads. Without a daemon there is no
//! file, and the shell makes up an id of its own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use kit::{Invocation, places};
use wire::clai::{CAP, Message, SessionStart, SessionStarted};
use wire::endpoint::{clai_dir, clai_session_file, clai_socket};
use wire::exchange::ask;
use wire::transport::Unix;

use crate::{deadline, ingest};

/// `None` when there is no session from the daemon, for whatever reason.
pub(crate) fn start(invocation: &Invocation) -> Option<()> {
    let env = &invocation.env;
    let places = env.places().ok()?;
    let pid = rustix::process::getppid()?.as_raw_nonzero().get().cast_unsigned();
    let request = Message::SessionStart(SessionStart {
        shell: ingest::shell(env)?,
        pid,
        ts: invocation.clock.unix_ms(),
        host: rustix::system::uname().nodename().to_str().ok().map(str::to_owned),
        user: env.text("USER").map(str::to_owned),
    });
    let unix = Unix { uid: places.uid };
    let reply = ask(&unix, &clai_socket(&places).ok()?, &request, CAP, deadline(env)).ok()?;
    let session: SessionStarted = serde_json::from_str(&reply).ok()?;
    places::private_dir(&clai_dir(&places), places.uid).ok()?;
    leave(&clai_session_file(&places, pid), session.session_id.0.as_bytes()).ok()
}

/// The directory is ours alone, so what stands at the name is of an earlier shell with the same id: it goes.
fn leave(path: &Path, session: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(session)
}
