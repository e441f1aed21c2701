//! What a person types behind `agent`: finds the command, and says how it ended.

mod config;
pub(crate) mod contexts;
pub(crate) mod doctor;
mod export;
pub(crate) mod talk;

use kit::{Exit, Failure, Form, Invocation};

use crate::cli::{self, Command, Typed};
use crate::sandbox;

/// Runs `agent`.
pub fn run(mut invocation: Invocation) -> Exit {
    // Ourselves, on the way to become a command behind the wall.
    if invocation.args.first().is_some_and(|first| first == sandbox::COMMAND) {
        let why = sandbox::enter(&invocation.args[1..]);
        return invocation.conclude(Err(Failure::new(why)), Form::Text);
    }
    let typed = match cli::parse(&invocation) {
        Ok(typed) => typed,
        Err(error) => return refuse(&mut invocation, &error),
    };
    let form = typed.form();
    let result = dispatch(&mut invocation, &typed, form);
    invocation.conclude(result, form)
}

fn dispatch(invocation: &mut Invocation, typed: &Typed, form: Form) -> Result<Exit, Failure> {
    match &typed.command {
        None => talk::run(invocation, &typed.talk),
        Some(Command::Contexts { .. }) => contexts::run(invocation, form),
        Some(Command::Export { name, into, .. }) => {
            export::run(invocation, name.as_deref(), into.as_deref(), form)
        }
        Some(Command::Config { action }) => config::run(invocation, *action),
        Some(Command::Doctor { .. }) => doctor::run(invocation, form),
        Some(Command::Completions { shell }) => {
            invocation.print(&cli::completions(*shell)).map(|()| Exit::Done)
        }
    }
}

/// Help and version were asked for and go to standard output; anything else is wrong usage.
fn refuse(invocation: &mut Invocation, error: &clap::Error) -> Exit {
    let result = match error.use_stderr() {
        true => Err(cli::usage(error, invocation)),
        false => invocation.print(&cli::help(error, invocation)).map(|()| Exit::Done),
    };
    let json = invocation.args.iter().any(|arg| arg == "--json");
    invocation.conclude(result, if json { Form::Json } else { Form::Text })
}
