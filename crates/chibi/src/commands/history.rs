//! What was said in a context: shown, put away, kept.

use kit::Failure;
use serde_json::json;

use crate::context::{Compaction, Context, ContextName, Document, Entry, EntryId, EntryKind, Speaker};
use crate::hooks::Event;
use crate::log::{self, Detail};
use crate::run::Run;

/// What stands for a summary when no model was asked.
const UNSUMMARISED: &str = "The conversation was put away without a summary.";

/// Only of the current context plugins are told.
pub(super) fn archive(run: &mut Run, name: Option<&str>) -> Result<(), Failure> {
    let told = name.is_none();
    let name = existing(run, name)?;
    let mut context = run.open(&name)?;
    let message_count = super::messages(context.window());
    let summary = document(&context, Document::Summary)?;
    if told {
        let event = Event::PreClear { context_name: name.as_str(), message_count, summary: &summary };
        if let Some(blocked) = run.fire(&event, &name).forbidden() {
            return Err(Failure::new(format!("the context was not archived: {}", blocked.message)));
        }
    }
    let archived = context.archive()?;
    if told {
        run.fire(&Event::PostClear { context_name: name.as_str() }, &name);
    }
    run.out.result(&match archived {
        true => format!("Context '{}' archived (history saved to transcript)", name.as_str()),
        false => format!("Context '{}' is already empty", name.as_str()),
    });
    Ok(())
}

/// `-Z`: the window is emptied and the model not asked.
pub(super) fn compact(run: &mut Run, name: &str) -> Result<(), Failure> {
    let name = existing(run, Some(name))?;
    let mut context = run.open(&name)?;
    let count = super::messages(context.window());
    if count <= 2 {
        run.out.result(&format!("Context '{}' has too little to compact", name.as_str()));
        return Ok(());
    }
    let before = document(&context, Document::Summary)?;
    let summary = if before.trim().is_empty() { UNSUMMARISED.to_owned() } else { before };
    let compaction = Compaction { keep: Vec::new(), summary };
    context.compact(&compaction)?;
    run.out.result(&format!("Context '{}' compacted: {count} messages put away", name.as_str()));
    Ok(())
}

pub(super) fn undo(run: &mut Run) -> Result<(), Failure> {
    let name = existing(run, None)?;
    let mut context = run.open(&name)?;
    let receipt = context.undo_compaction()?;
    run.out.result(&format!("Undone: {} entries are back in the window.", receipt.replaced.entries));
    Ok(())
}

pub(super) fn log(run: &mut Run, name: Option<&str>, count: i64) -> Result<(), Failure> {
    let name = run.named(name)?;
    if name == run.current && !run.home.exists(&name) {
        return Ok(());
    }
    let mut window = run.reader(&name)?.window()?;
    if run.out.is_json() {
        log::chosen(&window, count).iter().for_each(|entry| run.out.entry_line(entry));
        return Ok(());
    }
    let detail = if run.ways.verbose { Detail::Full } else { Detail::Short };
    window.retain(|entry| log::is_shown(entry, detail));
    let shown = log::shown(log::chosen(&window, count), detail);
    if !shown.is_empty() {
        run.out.result(&shown);
    }
    Ok(())
}

pub(super) fn last(run: &mut Run) -> Result<(), Failure> {
    let name = run.current.clone();
    let nothing = || Failure::new("nothing was answered yet").hint("`chibi hello` begins");
    if !run.home.exists(&name) {
        return Err(nothing());
    }
    let is_answer = |entry: &Entry| entry.kind == EntryKind::Message && entry.speaker() == Speaker::Assistant;
    let reader = run.reader(&name)?;
    let mut latest = reader.latest();
    let answer = latest.find(|entry| entry.as_ref().map_or(true, is_answer)).ok_or_else(nothing)?;
    let answer = answer?;
    match run.out.is_json() {
        true => run.out.entry_line(&answer),
        false => {
            run.out.speak(&answer.content);
            run.out.pause();
        }
    }
    Ok(())
}

pub(super) fn pin(run: &mut Run, id: &str) -> Result<(), Failure> {
    let mut context = current(run)?;
    let prompt = context.pin(&EntryId(id.to_owned()))?;
    run.out.result(&format!("Pinned the exchange of {prompt}."));
    Ok(())
}

pub(super) fn unpin(run: &mut Run, id: &str) -> Result<(), Failure> {
    let mut context = current(run)?;
    let prompt = context.unpin(&EntryId(id.to_owned()))?;
    run.out.result(&format!("The exchange of {prompt} is no longer pinned."));
    Ok(())
}

pub(super) fn pins(run: &mut Run) -> Result<(), Failure> {
    let name = run.current.clone();
    let window = if run.home.exists(&name) { run.reader(&name)?.window()? } else { Vec::new() };
    let pinned = crate::context::pins(&window);
    let said = |id: &EntryId| window.iter().find(|entry| entry.id == *id).map_or("", |entry| &entry.content);
    let mut lines: String = pinned
        .iter()
        .map(|id| format!("{id}  {}\n", kit::text::head(&kit::text::plain(said(id)), 80)))
        .collect();
    if pinned.is_empty() {
        lines.push_str("Nothing is pinned.\n");
    }
    run.out.rows(&lines, &json!(pinned));
    Ok(())
}

fn current(run: &mut Run) -> Result<Context, Failure> {
    let name = existing(run, None)?;
    run.open(&name)
}

/// A context that is there; the current one may not be yet.
fn existing(run: &Run, name: Option<&str>) -> Result<ContextName, Failure> {
    let given = name.is_some();
    let name = run.named(name)?;
    match given {
        true => run.reader(&name).map(|_| name),
        false => Ok(name),
    }
}

fn document(context: &Context, document: Document) -> Result<String, Failure> {
    let text = context.reader().document(document)?;
    Ok(text.unwrap_or_default())
}
