//! How data reaches a plugin: in a variable as the protocol has it, in a private file if the system would not take a
//! variable that long, or on standard input. Knows nothing of what the data means.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::process::Job;
use rustix::process::{Pid, test_kill_process};

use super::Protocol;

/// The most that is put into a variable. Linux takes 128 KiB with the name.
const VARIABLE: usize = 100_000;

const PREFIX: &str = "handover-";

static FILES: AtomicU64 = AtomicU64::new(0);

/// The two variables of one kind of data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) plain: &'static str,
    pub(super) file: &'static str,
}

pub(super) const TOOL: Names = Names { plain: "CHIBI_TOOL_ARGS", file: "CHIBI_TOOL_ARGS_FILE" };
pub(super) const HOOK: Names = Names { plain: "CHIBI_HOOK_DATA", file: "CHIBI_HOOK_DATA_FILE" };

/// A file that only we can read, gone when this is.
#[derive(Debug)]
pub(super) struct PrivateFile(PathBuf);

impl Drop for PrivateFile {
    fn drop(&mut self) {
        // The plugin may have taken it away already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Gives `json` to the job. The file, if there is one, must live as long as the job runs.
pub(super) fn give(
    job: Job,
    protocol: Protocol,
    names: Names,
    json: String,
    folder: &Path,
) -> io::Result<(Job, Option<PrivateFile>)> {
    match protocol {
        Protocol::Stdin => Ok((job.stdin(json.into_bytes()), None)),
        Protocol::Environment if json.len() <= VARIABLE => Ok((job.env(names.plain, json), None)),
        Protocol::Environment => {
            let file = write(folder, json.as_bytes())?;
            Ok((job.env(names.file, &file.0), Some(file)))
        }
    }
}

/// Makes a directory that others cannot look into, if it is not there.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write(folder: &Path, bytes: &[u8]) -> io::Result<PrivateFile> {
    private_folder(folder)?;
    sweep(folder);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{PREFIX}{}-{number}.json", process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let private = PrivateFile(path);
    file.write_all(bytes)?;
    Ok(private)
}

/// Removes what a killed process left behind.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        if owner.and_then(Pid::from_raw).is_some_and(|owner| test_kill_process(owner).is_err()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
