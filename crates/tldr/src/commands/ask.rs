//! A question about code: asked where it is answered, and written as it was wanted.

use std::io::Write;

use kit::{Exit, Failure, Invocation};
use serde_json::Value;
use wire::tldr::DaemonResponse;

use super::daemon::pass_on;
use super::waiting;
use crate::cli::{Ask, Format};
use crate::door::{By, Door};
use crate::graph;
use crate::index::Lifetime;
use crate::root::Root;

pub(super) fn run(invocation: &mut Invocation, ask: &Ask) -> Result<Exit, Failure> {
    let how = ask.how();
    let root = Root::find(&invocation.cwd.join(&how.place.project))?;
    let request = ask.request(&invocation.cwd);
    let door = Door::new(root, invocation.places()?, invocation.env.clone(), Lifetime::OneLook);
    let (line, by) = waiting(invocation, &door, || door.ask_and_tell(&request))?;
    if how.verbose {
        let who = match by {
            By::Daemon => "answered by the daemon",
            By::Us => "answered here: no daemon runs for this project",
        };
        // Not part of the answer: not being able to say it changes nothing.
        let _ = writeln!(invocation.stderr, "{who}");
    }
    if how.place.format.format == Format::Json {
        return pass_on(invocation, &line);
    }
    match serde_json::from_str(&line) {
        Ok(DaemonResponse::Error(refusal)) => Err(Failure::new(refusal.message)),
        Ok(DaemonResponse::Answer(answer)) if how.place.format.format == Format::Dot => {
            invocation.print(&graph::dot(&answer.data)).map(|()| Exit::Done)
        }
        Ok(DaemonResponse::Answer(answer)) => {
            let text = answer.data.get("text").and_then(Value::as_str).unwrap_or(&line);
            invocation.print(text).map(|()| Exit::Done)
        }
        _ => pass_on(invocation, &line),
    }
}
