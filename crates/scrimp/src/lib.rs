//! The front door: shows what the tools do, says what works here, adds up what was saved, and is the one place where
//! they become one program. Knows every tool by its row in [`tools::TOOLS`] and by nothing else.
#![forbid(unsafe_code)]

mod cli;
mod doctor;
pub mod reference;
mod savings;
mod serve;
pub mod tools;
mod tour;

use kit::{Exit, Failure, Form, Invocation};

use cli::Request;
use tools::{Alone, TOOLS, Tool};

/// Runs `scrimp`.
pub fn run(invocation: Invocation) -> Exit {
    dispatch(invocation, TOOLS)
}

/// A tool's arguments are its own: they are handed over as they were typed, before anything here looks at them.
fn dispatch(mut invocation: Invocation, tools: &[Tool]) -> Exit {
    let first = invocation.args.first().and_then(|arg| arg.to_str());
    if let Some(tool) = first.and_then(|name| tools.iter().find(|tool| tool.name == name)) {
        let rest = invocation.args.split_off(1);
        return (tool.run)(invocation.into_subcommand(tool.name, rest));
    }
    if let Some(tool) = alone(&invocation, tools) {
        return (tool.run)(invocation.into_subcommand(tool.name, Vec::new()));
    }
    let request = match cli::parse(&invocation, tools) {
        Ok(request) => request,
        Err(error) => return refuse(&mut invocation, &error),
    };
    let form = request.form();
    let result = answer(&mut invocation, &request, tools);
    invocation.conclude(result, form)
}

fn answer(invocation: &mut Invocation, request: &Request, tools: &[Tool]) -> Result<Exit, Failure> {
    match request {
        Request::Welcome => {
            let welcome = cli::welcome(invocation, tools);
            invocation.print(&welcome).map(|()| Exit::Done)
        }
        Request::Tour => tour::run(invocation, tools),
        Request::Doctor(form) => doctor::run(invocation, tools, *form),
        Request::Savings(form) => savings::run(invocation, tools, *form),
        Request::Mcp => serve::run(invocation, tools),
        Request::Completions(shell) => {
            invocation.print(&cli::completions(tools, *shell)).map(|()| Exit::Done)
        }
    }
}

/// The tool that a person gets who typed nothing.
fn alone<'a>(invocation: &Invocation, tools: &'a [Tool]) -> Option<&'a Tool> {
    let person = invocation.terminal.stdin && invocation.terminal.stdout;
    let places = invocation.env.places().ok().filter(|_| person && invocation.args.is_empty())?;
    let is_ready = |tool: &&Tool| match tool.alone {
        Alone::Open { is_ready, .. } => is_ready(&invocation.env, &places),
        Alone::Nothing => false,
    };
    tools.iter().find(is_ready)
}

/// Help and version were asked for and go to standard output; anything else is wrong usage.
fn refuse(invocation: &mut Invocation, error: &clap::Error) -> Exit {
    let result = match error.use_stderr() {
        true => Err(cli::usage(error)),
        false => invocation.print(&cli::help(error, invocation)).map(|()| Exit::Done),
    };
    let json = invocation.args.iter().any(|arg| arg == "--json");
    invocation.conclude(result, if json { Form::Json } else { Form::Text })
}

#[cfg(test)]
mod tests;
