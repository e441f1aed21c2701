//! `clai suggest`: what will probably be run next.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kit::page::Column;
use kit::{Exit, Failure};
use wire::clai::raw::write_suggestions;
use wire::clai::{SuggestResponse, Suggestion};

use super::{Call, Page, alone};
use crate::cli::Shell;
use crate::daemon::{AskFailure, Explained, Request, Suggest, Why};

/// A key was pressed and somebody waits.
const KEY_PATIENCE: Duration = Duration::from_millis(500);

/// More on a line nobody reads; `clai why` has all of them.
const REASONS: usize = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is typed so far: every suggestion begins with it [env: CLAI_PREFIX]
    #[arg(long, value_name = "TEXT")]
    prefix: Option<OsString>,
    /// At most so many
    #[arg(short = 'n', long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    limit: u8,
    /// As if you were in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print what the script of a shell reads: command, NUL, reasons, NUL, …
    #[arg(long, value_name = "SHELL")]
    shell: Option<Shell>,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let question = question(call, args);
    if args.shell.is_some() {
        return for_shell(call, &question);
    }
    let why = explained(call, &question)?;
    let response = response(&why);
    call.show(&response, |page| to_text(page, &response))
}

/// The question of somebody who is here now.
pub(super) fn here(call: &Call<'_>, limit: usize) -> Suggest {
    Suggest {
        session_id: call.session(),
        cwd: call.cwd(),
        repo_key: None,
        limit,
        prefix: String::new(),
        passed: Vec::new(),
    }
}

/// What the daemon says, which is started where none runs. Where none can be had, what the history says by itself.
pub(super) fn explained(call: &mut Call<'_>, question: &Suggest) -> Result<Why, Failure> {
    let request = Request::Why(question.clone());
    let trouble = match call.ask(&request) {
        Ok(why) => return Ok(why),
        Err(AskFailure::Refused(failure)) => return Err(failure),
        Err(AskFailure::Unanswered(failure)) => failure,
        Err(AskFailure::Absent) => match call.start_daemon() {
            Ok(_) => return call.ask(&request).map_err(Failure::from),
            Err(failure) => failure,
        },
    };
    let why = alone::why(call, question).map_err(|_| trouble.clone())?;
    let words = trouble.to_string();
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    for line in format!("note: answered from the history alone: {words}").lines() {
        call.say(line);
    }
    Ok(why)
}

fn question(call: &Call<'_>, args: &Args) -> Suggest {
    let variable = call.invocation.env.get("CLAI_PREFIX");
    let prefix = args.prefix.as_deref().or(variable).unwrap_or_default();
    let cwd = args.cwd.as_ref().map(|cwd| call.invocation.cwd.join(cwd).to_string_lossy().into_owned());
    Suggest {
        cwd: cwd.unwrap_or_else(|| call.cwd()),
        prefix: prefix.to_string_lossy().into_owned(),
        ..here(call, usize::from(args.limit))
    }
}

/// Nothing is started and nobody waited for: the script of the shell has asked for a daemon when it was loaded.
fn for_shell(call: &mut Call<'_>, question: &Suggest) -> Result<Exit, Failure> {
    let asked = call.ask_for::<SuggestResponse>(&Request::Suggest(question.clone()), KEY_PATIENCE);
    let response = match asked {
        Ok(response) => response,
        Err(_) => response(&alone::why(call, question)?),
    };
    write_suggestions(&mut call.invocation.stdout, &response).map_err(|error| Failure::output(&error))?;
    call.invocation.print("").map(|()| Exit::Done)
}

fn response(why: &Why) -> SuggestResponse {
    let suggestion = |it: &Explained| Suggestion {
        cmd: it.cmd.clone(),
        cmd_norm: it.cmd_norm.clone(),
        score: it.score,
        reasons: it.reasons.clone(),
        confidence: it.confidence,
    };
    SuggestResponse {
        suggestions: why.suggestions.iter().map(suggestion).collect(),
        context: why.context.clone(),
    }
}

fn to_text(page: &Page, response: &SuggestResponse) -> String {
    if response.suggestions.is_empty() {
        return format!(
            "nothing to suggest yet\n{}",
            page.next("import bash", "start with the history you have")
        );
    }
    let rows: Vec<[String; 4]> = response
        .suggestions
        .iter()
        .enumerate()
        .map(|(index, it)| {
            let mut reasons: Vec<&str> = Vec::new();
            for reason in it.reasons.iter().map(|reason| super::why::reason(reason)) {
                if !reasons.contains(&reason) && reasons.len() < REASONS {
                    reasons.push(reason);
                }
            }
            [
                (index + 1).to_string(),
                it.cmd.clone(),
                format!("{:.2} sure", it.confidence),
                reasons.join(", "),
            ]
        })
        .collect();
    let columns = [Column::Dim, Column::Left, Column::DimRight, Column::Dim];
    let next = page.next("why", "what the score is made of");
    format!("{}{next}", page.aligned(columns, &rows))
}
