//! `clai dismiss`: a line is not offered until it was run again.

use kit::{Exit, Failure, text};

use super::{Call, PATIENCE, suggest, why};
use crate::daemon::{Done, Request};
use crate::database::Feedback;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number of a suggestion, or a whole line
    #[arg(value_name = "N|LINE")]
    which: String,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let line = match args.which.parse::<usize>() {
        Err(_) => args.which.clone(),
        Ok(number) => {
            let question = suggest::here(call, number.clamp(1, 20));
            let mut why = suggest::explained(call, &question)?;
            let index = why::find(&why, &args.which).ok_or_else(|| {
                Failure::new(format!("there are {} suggestions now", why.suggestions.len()))
                    .hint("`clai suggest`")
            })?;
            why.suggestions.swap_remove(index).cmd
        }
    };
    let request = Request::Feedback { line: line.clone(), action: Feedback::Dismissed };
    call.ask_started::<Done>(&request, PATIENCE)?;
    let answer = serde_json::json!({"dismissed": line});
    call.show(&answer, |_| format!("not offered until you run it again: {}\n", text::plain(&line)))
}
