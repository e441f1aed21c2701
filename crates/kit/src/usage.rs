//! How a command line that is declared with clap is understood, explained and refused, the same in every tool.
//! Behind the feature `clap`: what starts at every prompt has no parser.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use clap_complete::Shell;

use crate::{Exit, Failure, Form, Invocation, Page};

/// What was typed, under the name by which the tool was called.
pub fn parse<T: CommandFactory + FromArgMatches>(invocation: &Invocation) -> Result<T, clap::Error> {
    let command = T::command();
    let name = OsString::from(command.get_name());
    let words = [name].into_iter().chain(invocation.args.iter().cloned());
    let matches = command.bin_name(invocation.program.spoken()).try_get_matches_from(words)?;
    T::from_arg_matches(&matches)
}

/// Help and version were asked for and go to standard output; anything else is wrong usage.
pub fn refuse(invocation: &mut Invocation, command: &Command, error: &clap::Error) -> Exit {
    let result = match error.use_stderr() {
        true => Err(failure(invocation, command, error)),
        false => invocation.print(&help(invocation, error)).map(|()| Exit::Done),
    };
    let json = invocation.args.iter().any(|arg| arg == "--json");
    invocation.conclude(result, if json { Form::Json } else { Form::Text })
}

/// Help or version, coloured only for somebody who looks at it and does not mind.
pub fn help(invocation: &Invocation, asked: &clap::Error) -> String {
    let said = asked.render();
    if Page::of(invocation).colour { said.ansi().to_string() } else { said.to_string() }
}

pub fn completions(mut command: Command, shell: Shell) -> String {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// What the parser did not understand, in our words, and what was probably meant.
fn failure(invocation: &Invocation, command: &Command, error: &clap::Error) -> Failure {
    let mut spoken = invocation.program.spoken();
    let mut command = command;
    for word in invocation.args.iter().filter_map(|arg| arg.to_str()).filter(|arg| !arg.starts_with('-')) {
        let Some(below) = command.find_subcommand(word) else { break };
        spoken.push_str(&format!(" {word}"));
        command = below;
    }
    if let ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand = error.kind() {
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        let names: Vec<&str> = below.map(Command::get_name).collect();
        return Failure::usage(format!("`{spoken}` needs a subcommand: {}", names.join(", ")))
            .hint(format!("`{spoken} --help`"));
    }
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.as_str()),
        ContextValue::Strings(words) => words.first().map(String::as_str),
        _ => None,
    });
    refused(&error.render().to_string(), meant, &spoken)
}

/// What the parser said, shortened to what is wrong, with what was probably meant. `spoken` is the command whose help
/// lists what there is.
fn refused(said: &str, meant: Option<&str>, spoken: &str) -> Failure {
    // What is missing or possible stands on the lines below the first, up to an empty one.
    let lines: Vec<&str> = said.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let words = lines.join(" ");
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    Failure::usage(words).hint(match meant {
        Some(word) => format!("did you mean `{word}`? `{spoken} --help` lists what there is"),
        None => format!("`{spoken} --help`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_is_what_is_wrong_and_the_rest_is_left_out() {
        let said =
            "error: unrecognized subcommand 'raed'\n\n  tip: a similar one exists: 'read'\n\nUsage: …\n";
        let failure = refused(said, Some("read"), "drip");
        assert_eq!(
            failure.to_string(),
            "error: unrecognized subcommand 'raed'\nhint: did you mean `read`? `drip --help` lists what there is"
        );
        assert_eq!(failure.exit(), Exit::Usage);
        let said = "error: the following required arguments were not provided:\n  <FILE>\n\nUsage: …\n";
        assert_eq!(
            refused(said, None, "drip read").to_string(),
            "error: the following required arguments were not provided: <FILE>\nhint: `drip read --help`"
        );
        assert_eq!(refused("", None, "x").to_string(), "error: \nhint: `x --help`");
    }
}
