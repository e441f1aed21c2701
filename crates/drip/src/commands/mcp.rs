//! `drip mcp`: hands the standard streams to the server.

use std::io;

use kit::{Exit, Failure};

use super::Call;
use crate::serve::{self, Ground};
use crate::settings::Agent;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The client that starts it: claude, codex or gemini
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let mut settings = call.here.settings.clone();
    // A client that we do not know reads as well as any other.
    settings.agent = args.agent.as_deref().and_then(Agent::parse).or(settings.agent);
    let ground = Ground {
        settings,
        places: call.here.places.clone(),
        cwd: call.here.cwd.clone(),
        clock: call.here.clock.clone(),
    };
    let reader = std::mem::replace(&mut call.invocation.stdin, Box::new(io::empty()));
    serve::run(ground, reader, &mut call.invocation.stdout)
}
