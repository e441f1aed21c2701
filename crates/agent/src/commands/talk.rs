//! `agent` with a prompt, with a pipe, or with a person: one turn, or as many as they like.

use std::io::Read;

use kit::{Exit, Failure, Form, Invocation};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::cli::Talk;
use crate::interrupt::Interrupt;
use crate::permission::Mode;
use crate::sandbox::Network;
use crate::session::Session;
use crate::setup::{self, World};
use crate::voice::Manner;
use crate::{prompt, repl};

/// More than this is no prompt: it would not fit any window.
const PIPED: u64 = 64 << 20;

pub(super) fn run(invocation: &mut Invocation, talk: &Talk) -> Result<Exit, Failure> {
    let piped = if invocation.terminal.stdin { String::new() } else { piped(invocation)? };
    let prompt = prompt::combined(&talk.prompt.join(" "), &piped);
    let interactive = prompt.is_none() && invocation.terminal.stdin && invocation.terminal.stdout;
    let resumed = talk.go_on || talk.resume.is_some();
    if prompt.is_none() && !interactive && !resumed {
        return match invocation.terminal.stdin {
            true => {
                Err(Failure::usage("there is no prompt")
                    .hint(format!("`{} \"…\"`", invocation.program.spoken())))
            }
            // Nothing was piped in: nothing to do.
            false => Ok(Exit::Done),
        };
    }
    if interactive && talk.json {
        return Err(Failure::usage("`--json` is for programs: it needs a prompt, or something piped in"));
    }
    // A command is not given our keys, and shall not read them from our memory either. Who may do everything still can.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let world = World::of(invocation)?;
    let manner = match (talk.json, invocation.terminal.stdout) {
        (true, _) => Manner::Json,
        (false, true) => Manner::Screen(world.page.clone()),
        (false, false) => Manner::Plain,
    };
    let interrupt =
        Interrupt::listening().map_err(|error| Failure::new("cannot listen for Ctrl-C").because(&error))?;
    let mut session = setup::session(&world, talk, manner, interrupt, invocation)?;
    let done = converse(&mut session, &world, prompt, interactive);
    let form = if talk.json { Form::Json } else { Form::Text };
    Ok(session.desk.voice.conclude(done, form))
}

fn converse(
    session: &mut Session,
    world: &World,
    prompt: Option<String>,
    interactive: bool,
) -> Result<Exit, Failure> {
    session.desk.began(if session.history.exchanges().is_empty() { "startup" } else { "resume" });
    if interactive {
        let banner = banner(session, world);
        return repl::run(session, &banner, &world.data().join("typed.jsonl"));
    }
    match prompt {
        Some(prompt) => session.prompt(prompt)?,
        None => session.resume()?,
    }
    Ok(Exit::Done)
}

/// `scrimp agent · claude-… · ~/src/app · ask · sandbox: writes only here, no network`.
fn banner(session: &Session, world: &World) -> String {
    let sandbox = match &session.desk.gate.workshop.sandbox {
        None => "no sandbox",
        Some(sandbox) => match (sandbox.holds_files(), sandbox.policy().network) {
            (true, Network::Closed) => "sandbox: writes only here, no network",
            (true, Network::Open) => "sandbox: writes only here",
            (false, Network::Closed) => "sandbox: no network; this kernel cannot hold files",
            (false, Network::Open) => "no sandbox: this kernel cannot hold files",
        },
    };
    let mode = match session.desk.gate.mode() {
        Mode::Ask => "asks before it changes anything",
        Mode::Edits => "edits without asking",
        Mode::All => "asks nothing",
        Mode::ReadOnly => "reads only",
    };
    let project = world.places.tilde(world.project.root());
    let model = kit::text::plain(&session.desk.asks.model);
    let dot = match world.page.glyphs {
        kit::page::Glyphs::Unicode => " · ",
        kit::page::Glyphs::Ascii => " - ",
    };
    let mut lines = vec![String::from("agent")];
    for part in [model.as_str(), &project, mode, sandbox] {
        let line = lines.last_mut().expect("there is a first line");
        let wide = line.chars().count() + dot.chars().count() + part.chars().count();
        if world.page.width.is_none_or(|width| wide <= width) {
            line.push_str(&format!("{dot}{part}"));
        } else {
            lines.push(format!("  {part}"));
        }
    }
    lines.push("/help says what can be typed; Ctrl-C interrupts".to_owned());
    lines.iter().map(|line| format!("{}\n", world.page.dim(line))).collect()
}

/// All of it is one prompt; bytes that are no UTF-8 are shown as such.
fn piped(invocation: &mut Invocation) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = (&mut invocation.stdin).take(PIPED + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new("cannot read what is piped in").because(&error))?;
    if bytes.len() as u64 > PIPED {
        return Err(Failure::usage("what is piped in is larger than 64 MB"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
