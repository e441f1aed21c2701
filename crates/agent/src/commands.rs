//! What a person types behind `agent`: finds the command, and says how it ended.

mod config;
pub(crate) mod contexts;
pub(crate) mod doctor;
mod export;
pub(crate) mod talk;

use kit::{Exit, Failure, Form, Invocation, usage};

use crate::cli::{self, Command, Typed};
use crate::sandbox;

/// Runs `agent`.
pub fn run(mut invocation: Invocation) -> Exit {
    // Ourselves, on the way to become a command behind the wall.
    if invocation.args.first().is_some_and(|first| first == sandbox::COMMAND) {
        let why = sandbox::enter(&invocation.args[1..]);
        return invocation.conclude(Err(Failure::new(why)), Form::Text);
    }
    let typed = match usage::parse::<Typed>(&invocation) {
        Ok(typed) => typed,
        Err(error) => return usage::refuse(&mut invocation, &cli::command(), &error),
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
            invocation.print(&usage::completions(cli::command(), *shell)).map(|()| Exit::Done)
        }
    }
}
