//! `drip watch`: hands a folder to the watcher.

use std::path::PathBuf;

use kit::{Exit, Failure};

use super::Call;
use crate::watch::{self, Ground};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; this one if none is given
    path: Option<PathBuf>,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let folder = call.here.cwd.join(args.path.as_deref().unwrap_or(".".as_ref()));
    let cannot = || Failure::new(format!("cannot watch `{}`", folder.display()));
    let root = folder.canonicalize().map_err(|error| cannot().because(&error))?;
    if !root.is_dir() {
        return Err(cannot().because(&std::io::Error::from(std::io::ErrorKind::NotADirectory)));
    }
    let ground = Ground {
        settings: call.here.settings.clone(),
        places: call.here.places.clone(),
        clock: call.here.clock.clone(),
        root,
    };
    watch::run(&ground, &mut call.invocation.stderr)
}
