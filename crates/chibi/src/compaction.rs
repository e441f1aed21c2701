//! Making room: a summary in the place of old exchanges. The model is asked which may go and what is to be remembered of
//! them; whether its answers can be used is decided in [`conversation::compact`].

use conversation::compact::{self, Staged, Unusable};
use conversation::{ExchangeId, History};
use kit::{Exit, Failure};
use llm::{Cache, Message, Options, Request};

use crate::ask::ask;
use crate::context::{Context, Document, Prompt};
use crate::failure;
use crate::hooks::{Blocked, Event};
use crate::run::Run;
use crate::turn::{Stage, account};

/// How much of a text the model sees when it chooses what may go.
const EXCERPT: usize = 500;

/// An exchange or two are no conversation yet.
const FEWEST: usize = 2;

/// What is summed up at once is at most this part of a window: the estimate may be wrong by as much, and the summary so
/// far, our question and the answer want room too.
const PORTION: usize = 2;

const CHOOSE: &str = "You keep a long conversation short. You are given its exchanges as a JSON list. Answer with a JSON \
array of the ids that may be archived, and nothing else. Keep what is needed for the goals and todos, and what is \
recent.";

const MERGE: &str = "You keep the summary of a long conversation. You are given the summary so far and what is archived \
now. Write the new summary: facts, decisions, names, open questions. No preface.";

const SUMMARISE: &str = "Sum up the conversation so that somebody can go on with it: facts, decisions, names, open \
questions. No preface.";

const CONTINUE: &str =
    "What we said so far was summed up; you have the summary. Say in a sentence where we stand.";

/// Before a request that is too long: the staged compaction, or none if there is nothing to gain. Nothing has changed yet.
pub(crate) fn rolling(
    run: &mut Run,
    context: &Context,
    stage: &Stage,
    history: &History,
) -> Result<Option<Staged>, Failure> {
    let free = compact::oldest(history, 100.0).len();
    // What would be left cannot get much smaller, and the next turn would only do it again.
    if free < FEWEST {
        return Ok(None);
    }
    let name = context.name().clone();
    let count = history.exchanges().len();
    let event = Event::PreRollingCompact {
        context_name: name.as_str(),
        message_count: messages(context),
        non_system_count: messages(context),
        summary: history.summary(),
    };
    if let Some(blocked) = run.fire(&event, &name).forbidden() {
        return Err(forbidden(run, &blocked));
    }
    let wanted = ((count as f64 * stage.config.drop_percent / 100.0).round() as usize).max(1);
    let goals = document(context, Document::Goals)?;
    let todos = document(context, Document::Todos)?;
    let listing = format!(
        "Archive about {wanted} of these {free} exchanges.\n\nGoals:\n{goals}\n\nTodos:\n{todos}\n\nSummary so far:\n{}\n\n\
         Exchanges:\n{}",
        history.summary(),
        compact::listing(history, EXCERPT)
    );
    let chosen = match question(run, context, stage, CHOOSE, listing) {
        Ok(answer) => compact::chosen(history, &answer),
        Err(failure) => {
            run.out.diagnostic(&failure::words(&failure).0);
            Vec::new()
        }
    };
    let chosen = if chosen.is_empty() { compact::oldest(history, stage.config.drop_percent) } else { chosen };
    let summary = remembered(run, context, stage, MERGE, (history, &chosen))?;
    let staged = compact::stage(history, chosen, &summary);
    staged.map(Some).map_err(|error| unusable(&error))
}

/// `-z`: all of it but what is pinned. Says what came of it.
pub(crate) fn full(
    run: &mut Run,
    context: &mut Context,
    stage: &Stage,
    history: &mut History,
) -> Result<String, Failure> {
    let name = context.name().clone();
    let free = compact::oldest(history, 100.0);
    if free.len() < FEWEST {
        return Ok(match free.len() {
            0 => "There is nothing to compact.".to_owned(),
            _ => "One exchange is too little to compact.".to_owned(),
        });
    }
    let before = messages(context);
    let summary = history.summary().to_owned();
    let event = Event::PreCompact { context_name: name.as_str(), message_count: before, summary: &summary };
    if let Some(blocked) = run.fire(&event, &name).forbidden() {
        return Err(forbidden(run, &blocked));
    }
    let instructions = prompt_file(run, Prompt::Compaction, SUMMARISE)?;
    let summary = remembered(run, context, stage, &instructions, (history, &free))?;
    let staged = compact::stage(history, free, &summary).map_err(|error| unusable(&error))?;
    let gone = staged.archived().len();
    let (_, record) = history.compact(staged).map_err(|refused| uncompacted(&refused))?;
    context.record(&record, &stage.config.username, &stage.reached.model)?;
    let event = Event::PostCompact {
        context_name: name.as_str(),
        message_count: messages(context),
        summary: &summary,
    };
    run.fire(&event, &name);
    Ok(format!("Compacted {gone} exchanges into a summary of {} bytes.", summary.trim().len()))
}

/// What the model is asked to say first after a whole compaction.
pub(crate) fn continuation(run: &Run) -> Result<String, Failure> {
    prompt_file(run, Prompt::Continuation, CONTINUE)
}

/// How many messages are in the window.
pub(crate) fn messages(context: &Context) -> usize {
    crate::commands::messages(context.window())
}

/// What the model remembers of these exchanges: all at once if it can read them at once, else part by part, each with the
/// summary of those before it.
fn remembered(
    run: &mut Run,
    context: &Context,
    stage: &Stage,
    instructions: &str,
    (history, ids): (&History, &[ExchangeId]),
) -> Result<String, Failure> {
    let window = usize::try_from(stage.config.window).unwrap_or(usize::MAX).saturating_mul(4);
    let mut summary = history.summary().to_owned();
    let portions = compact::portions(history, ids, window / PORTION);
    if portions.len() > 1 {
        let count = portions.len();
        run.out.warn(&format!("too long to be read at once: the model is asked {count} times for a summary"));
    }
    for portion in portions {
        let told = compact::resumed(&summary, &portion);
        let told = format!("Please summarize this conversation:\n\n{told}");
        summary = question(run, context, stage, instructions, told)?;
        if summary.trim().is_empty() {
            return Err(unusable(&Unusable::Empty));
        }
    }
    Ok(summary)
}

fn question(
    run: &mut Run,
    context: &Context,
    stage: &Stage,
    system: &str,
    user: String,
) -> Result<String, Failure> {
    // Neither tools nor a form of the answer: it is read by us.
    let options = Options { format: None, tool_choice: None, stop: Vec::new(), ..stage.options() };
    let request = Request {
        model: stage.reached.model.clone(),
        system: system.to_owned(),
        messages: vec![Message::User(user)],
        cache: Cache::Off,
        options,
        ..Request::default()
    };
    stage.log_request(run, context, &request);
    let clock = run.home.clock().clone();
    let reply = ask(&stage.reached.client, &request, &run.cancel, || clock.unix_ms());
    let reply = reply.map_err(|error| failure::of_model(&error))?;
    if let Some(usage) = &reply.done.usage {
        account(run, context.name(), &stage.reached.model, usage);
    }
    compact::answer(&reply).map_err(|error| unusable(&error))
}

fn forbidden(run: &Run, blocked: &Blocked) -> Failure {
    match run.cancel.is_cancelled() {
        true => failure::interrupted(),
        false => Failure::new(format!("the conversation was not compacted: {}", blocked.message)),
    }
}

/// The model's fault: nothing has changed, and it may be asked again.
fn unusable(error: &Unusable) -> Failure {
    let failure = uncompacted(error).exit_with(Exit::Provider);
    match error {
        Unusable::Unfinished(_) => failure.hint("raise `api.max_tokens`; nothing was lost"),
        _ => failure.hint("some models give no summary: `--model NAME` asks another; nothing was lost"),
    }
}

fn uncompacted(error: &dyn std::error::Error) -> Failure {
    Failure::new("the conversation was not compacted").because(error)
}

fn document(context: &Context, document: Document) -> Result<String, Failure> {
    let text = context.reader().document(document)?;
    Ok(text.unwrap_or_default())
}

fn prompt_file(run: &Run, prompt: Prompt, usual: &str) -> Result<String, Failure> {
    let text = run.home.prompt(prompt)?;
    Ok(text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| usual.to_owned()))
}
