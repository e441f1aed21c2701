//! A look at what this build does, on this machine, with numbers of this very run. Reads the directory it was started in
//! and writes only below a temporary one that it takes away again.

mod ground;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::invocation::place_failure;
use kit::tour::{Stage, Stop, to_text};
use kit::{Exit, Failure, Invocation, places};

use crate::tools::Tool;

/// What the whole tour may take; every stop is given its share and keeps to it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn run(invocation: &mut Invocation, tools: &[Tool]) -> Result<Exit, Failure> {
    let scratch = Scratch::new(invocation)?;
    let stops: Vec<Stop> = ground::STOPS.iter().copied().chain(tools.iter().map(|tool| tool.tour)).collect();
    let (here, env) = (invocation.cwd.clone(), invocation.env.clone());
    let patience = PATIENCE / u32::try_from(stops.len()).unwrap_or(u32::MAX);
    let stage = Stage { here: &here, env: &env, scratch: &scratch.0, patience };
    invocation.print(&headline(tools))?;
    for (index, stop) in stops.iter().enumerate() {
        let sight = stop(&stage)?;
        invocation.print(&to_text(index + 1, &sight))?;
    }
    invocation.print("\nNext:  scrimp doctor     what works on this machine and what does not\n")?;
    Ok(Exit::Done)
}

fn headline(tools: &[Tool]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let subject = match tools {
        [] => "the ground its tools will stand on; the tools themselves are not in this build".to_owned(),
        _ => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            format!("what it does here: {}", names.join(", "))
        }
    };
    format!("scrimp {version} · {subject}\nnothing is installed, nothing leaves this machine\n\n")
}

/// A private directory that goes away with the tour.
struct Scratch(PathBuf);

impl Scratch {
    fn new(invocation: &Invocation) -> Result<Scratch, Failure> {
        let places = invocation.places()?;
        let name = format!("scrimp-tour-{}-{}", std::process::id(), invocation.clock.unix_ms());
        let path = places.temp.join(name);
        if !places.temp.is_dir() {
            let missing = format!("there is no directory `{}` for the tour", places.temp.display());
            return Err(Failure::new(missing).hint("set TMPDIR to a directory that exists, or unset it"));
        }
        let cannot = |error| place_failure("cannot make a place for the tour", &error);
        places::private_dir(&path, places.uid).map_err(cannot)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be taken away lies in the temporary directory and bothers nobody.
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}
