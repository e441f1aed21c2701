//! `clai forget`: commands that should never have been kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use kit::{Exit, Failure};
use wire::clai::CAP;

use super::times::Since;
use super::{Call, counted};
use crate::daemon::{Forget, Forgot, Request};

/// Forgetting copies the database: a million commands take some seconds.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(crate) struct Args {
    /// Every line that contains this; with `*` or `?` in it, every line that it describes as a whole; `-` asks for
    /// it, so that it stands in no command line
    #[arg(group = "what", value_name = "PATTERN")]
    pattern: Option<String>,
    /// The last so many commands
    #[arg(long, group = "what", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    /// Everything since then: 30m, 2h, or @ and seconds since 1970
    #[arg(long, group = "what", value_name = "TIME", value_parser = Since::parse)]
    since: Option<Since>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Only say how many
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let pattern = match args.pattern.as_deref() {
        Some("-") => Some(answer(call, "forget lines with: ")?),
        other => other.map(str::to_owned),
    };
    if pattern.as_deref() == Some("") {
        return Err(Failure::usage("an empty pattern describes nothing").hint("`clai forget --since 1h`"));
    }
    let forget = |dry_run| {
        Request::Forget(Forget {
            pattern: pattern.clone(),
            last: args.last,
            since: args.since.map(|since| since.unix_ms(call.now())),
            dry_run,
        })
    };
    let (look, act) = (forget(true), forget(false));
    let found: Forgot = call.ask_started(&look, PATIENCE)?;
    if args.dry_run || found.commands == 0 {
        call.show(&found, |_| match found.commands {
            0 => "no such command is kept: there is nothing to forget\n".to_owned(),
            count => format!("{} would be forgotten\n", counted(count, "command")),
        })?;
        return Ok(if found.commands == 0 { Exit::Failed } else { Exit::Done });
    }
    if !args.yes && !confirmed(call, found.commands)? {
        return call.show(&Forgot { commands: 0, dry_run: false }, |_| "nothing was forgotten\n".to_owned());
    }
    let forgot: Forgot = call.ask_started(&act, PATIENCE)?;
    call.show(&forgot, |_| {
        let words = counted(forgot.commands, "command");
        format!("forgot {words}: no byte is left in clai's files; your shell's own history is another file\n")
    })
}

/// Asks the person at the terminal. Where nobody can be asked, nothing is done.
fn confirmed(call: &mut Call<'_>, count: u64) -> Result<bool, Failure> {
    if !call.invocation.terminal.stdin {
        return Err(Failure::usage(format!(
            "{} would be forgotten, and nobody is here to say yes",
            counted(count, "command")
        ))
        .hint("add `--yes`"));
    }
    let answer = answer(call, &format!("forget {}? [y/N] ", counted(count, "command")))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}

/// A line of standard input; whoever sits at a terminal is asked for it.
fn answer(call: &mut Call<'_>, question: &str) -> Result<String, Failure> {
    let Call { invocation, .. } = call;
    if invocation.terminal.stdin {
        let asked = write!(invocation.stderr, "{question}").and_then(|()| invocation.stderr.flush());
        asked.map_err(|error| Failure::output(&error))?;
    }
    let mut answer = String::new();
    let input: &mut (dyn Read + Send) = &mut *invocation.stdin;
    BufReader::new(input.take(CAP.0 as u64))
        .read_line(&mut answer)
        .map_err(|error| Failure::new("cannot read the answer").because(&error))?;
    Ok(answer.trim_end_matches('\n').to_owned())
}
