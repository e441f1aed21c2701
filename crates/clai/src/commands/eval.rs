//! `clai eval`: an engine behind an evaluator's pipe.

use std::io::{BufReader, Read, Write};

use kit::{Exit, Failure};

use super::Call;
use crate::eval::run_eval;
use crate::rank::Scorer;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to weigh, in place of what the configuration says
    #[arg(long, value_name = "NAME", value_parser = ["seed", "blend"])]
    scorer: Option<String>,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let scorer = match args.scorer.as_deref().and_then(Scorer::named) {
        Some(scorer) => scorer,
        None => call.config()?.scorer,
    };
    let input: &mut (dyn Read + Send) = &mut *call.invocation.stdin;
    let output: &mut (dyn Write + Send) = &mut *call.invocation.stdout;
    let tally = run_eval(BufReader::new(input), output, scorer).map_err(|error| Failure::output(&error))?;
    if tally.malformed > 0 {
        call.say(&format!("note: {} lines were not understood and passed over", tally.malformed));
    }
    Ok(Exit::Done)
}
