//! One prompt and all that comes of it: turns are run until the model does not ask for another. What happens inside a
//! turn is decided in [`conversation`]; what hooks, tools and files have to do with it, in [`host`].

mod host;
mod stage;

use conversation::drive::{self, Start};
use conversation::turn::{Budget, Finished, Settings};
use conversation::window::{Limits, Relief, Shown};
use conversation::{ExchangeId, History};
use kit::{Exit, Failure, text};

use crate::compaction;
use crate::context::Context;
use crate::failure;
use crate::run::Run;

use host::Host;
pub(crate) use stage::{Stage, account};

/// Room for the answer and for what an estimate misses.
const RESERVE: usize = 4096;

/// Says something to the model in the current context, and shows what it answers.
pub(crate) fn speak(run: &mut Run, prompt: String) -> Result<Exit, Failure> {
    let name = run.current.clone();
    let stage = Stage::set(run, &name)?;
    let mut context = run.open(&name)?;
    run.heed_interrupts();
    context.keep_beating(stage.heartbeat);
    let mut prompt = prompt;
    for depth in 1.. {
        let Some(note) = one(run, &mut context, &stage, prompt)? else { break };
        if depth >= stage.config.max_recursion_depth {
            let limit = stage.config.max_recursion_depth;
            run.out.aside(&format!("[Max recursion depth ({limit}) reached, stopping]"));
            break;
        }
        prompt = format!("[Continuing from previous round]\n\nNote to self: {note}");
    }
    Ok(Exit::Done)
}

/// `-z`: a summary of all that was said, and the model's word that it has it.
pub(crate) fn compact(run: &mut Run) -> Result<(), Failure> {
    let name = run.current.clone();
    let stage = Stage::set(run, &name)?;
    let mut context = run.open(&name)?;
    run.heed_interrupts();
    let mut history = context.history().history;
    let before = history.exchanges().len();
    let said = compaction::full(run, &mut context, &stage, &mut history)?;
    run.out.result(&said);
    if history.exchanges().len() < before {
        let prompt = compaction::continuation(run)?;
        acknowledge(run, &mut context, &stage, prompt)?;
    }
    Ok(())
}

/// One turn. Gives the note of a model that wants to go on by itself.
fn one(
    run: &mut Run,
    context: &mut Context,
    stage: &Stage,
    prompt: String,
) -> Result<Option<String>, Failure> {
    let history = loaded(run, context);
    let mut host = Host::new(run, context, stage)?;
    let Finished { end, spent, .. } = drive(&mut host, stage, history, prompt)?;
    let again = host.again.take();
    if let Err(error) = context.end_turn() {
        // It can be made again from the transcript, so it is no reason to fail.
        run.out.warn(&failure::line("`transcript.md` did not grow", &error));
    }
    run.out.pause();
    run.out.diagnostic(&format!(
        "{} requests, {} tokens in, {} out{}",
        spent.requests,
        text::thousands(spent.usage.input + spent.usage.cache_read + spent.usage.cache_write),
        text::thousands(spent.usage.output),
        if spent.estimated { ", in part estimated" } else { "" }
    ));
    match failure::of_end(&end) {
        Some(failure) => Err(failure),
        None => Ok(again),
    }
}

/// A turn without tools whose answer is kept and not shown.
fn acknowledge(run: &mut Run, context: &mut Context, stage: &Stage, prompt: String) -> Result<(), Failure> {
    let history = loaded(run, context);
    let mut host = Host::new(run, context, stage)?.quiet();
    let end = drive(&mut host, stage, history, prompt)?.end;
    if let Some(failure) = failure::of_end(&end) {
        let (words, _) = failure::words(&failure);
        run.out.warn(&format!("the model did not say where we stand: {words}"));
    }
    Ok(())
}

fn drive(host: &mut Host<'_>, stage: &Stage, history: History, prompt: String) -> Result<Finished, Failure> {
    let start = Start::Prompt { id: ExchangeId(host.run.home.fresh_id().0), text: prompt };
    let settings = settings(stage, host.overhead());
    let cancel = host.run.cancel.clone();
    let done = drive::run(&stage.reached.client, host, history, settings, start, &cancel);
    done.map_err(|unsaved| unsaved.error)
}

/// What the window holds, made valid.
fn loaded(run: &mut Run, context: &Context) -> History {
    let loaded = context.history();
    for repair in &loaded.repairs {
        run.out.diagnostic(&repair.to_string());
    }
    loaded.history
}

fn settings(stage: &Stage, overhead: usize) -> Settings {
    let window = usize::try_from(stage.config.window).unwrap_or(usize::MAX).saturating_mul(4);
    let bytes = window.saturating_sub(overhead).saturating_sub(RESERVE).max(RESERVE);
    Settings {
        tools: stage.specs(),
        limits: Limits { bytes, relief: Relief::Exchanges, summary: Shown::ByCaller },
        budget: Budget { rounds: stage.config.max_tool_rounds, ..Budget::default() },
        continuations: 0,
    }
}
