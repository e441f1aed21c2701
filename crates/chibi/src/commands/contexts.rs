//! Contexts as a whole: listing, renaming, destroying.

use kit::{Failure, text};
use serde_json::json;

use crate::context::{ContextName, Document, State, Status, Wait};
use crate::run::Run;
use crate::speech;

pub(super) fn list(run: &mut Run) -> Result<(), Failure> {
    let listed = run.home.list()?;
    let mut lines = String::new();
    let mut rows = Vec::new();
    for context in &listed {
        let mark = if context.name == run.current { "* " } else { "  " };
        lines.push_str(&format!("{mark}{}{}\n", context.name.as_str(), suffix(context.status)));
        rows.push(json!({
            "name": context.name.as_str(),
            "current": context.name == run.current,
            "status": word(context.status),
        }));
    }
    if listed.is_empty() {
        lines.push_str("No contexts yet.\n");
    }
    run.out.rows(&lines, &json!(rows));
    Ok(())
}

pub(super) fn list_current(run: &mut Run) -> Result<(), Failure> {
    let name = run.current.clone();
    let (mut status, mut messages, mut summary) = (Status::Free, 0, None);
    if run.home.exists(&name) {
        let reader = run.reader(&name)?;
        status = reader.status()?;
        messages = super::messages(&reader.window()?);
        summary = reader.document(Document::Summary)?;
    }
    let mut lines = format!("Context: {}{}\nMessages: {messages}\n", name.as_str(), suffix(status));
    let first = summary.as_deref().unwrap_or_default().lines().find(|line| !line.trim().is_empty());
    if let Some(first) = first {
        lines.push_str(&format!("Summary: {}\n", text::plain(first)));
    }
    let row = json!({
        "name": name.as_str(), "status": word(status), "messages": messages, "summary": summary,
    });
    run.out.rows(&lines, &row);
    Ok(())
}

pub(super) fn rename(run: &mut Run, old: Option<&str>, new: &str) -> Result<(), Failure> {
    let (old, new) = (run.named(old)?, run.named(Some(new))?);
    let wait = wait(run);
    run.home.rename(&old, &new, wait)?;
    if run.current == old {
        run.current = new.clone();
    }
    run.out.result(&format!("Renamed context `{}` to `{}`.", old.as_str(), new.as_str()));
    Ok(())
}

pub(super) fn destroy(run: &mut Run, name: Option<&str>) -> Result<(), Failure> {
    let name = run.named(name)?;
    if !run.home.exists(&name) {
        run.out.result(&format!("Context '{}' not found", name.as_str()));
        return Ok(());
    }
    if !is_sure(run, &name)? {
        run.out.result("Aborted");
        return Ok(());
    }
    let wait = wait(run);
    run.home.destroy(&name, wait)?;
    if run.current == name {
        let (state, _) = State::load(&run.home)?;
        run.current = state.current_context;
    }
    run.out.result(&format!("Destroyed context `{}`.", name.as_str()));
    Ok(())
}

/// Asks on standard error; whoever cannot be asked has not agreed.
fn is_sure(run: &mut Run, name: &ContextName) -> Result<bool, Failure> {
    if run.ways.yes {
        return Ok(true);
    }
    if !run.terminal.stdin {
        return Ok(false);
    }
    run.out.explain(&format!("Destroy context `{}` and all that was said in it? [y/N] ", name.as_str()));
    let answer = speech::line(run)?.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn wait(run: &Run) -> Wait {
    if run.ways.wait { Wait::Until(crate::run::QUEUE) } else { Wait::No }
}

fn word(status: Status) -> Option<&'static str> {
    match status {
        Status::Free => None,
        Status::Active => Some("active"),
        Status::Stale => Some("stale"),
    }
}

fn suffix(status: Status) -> String {
    word(status).map_or_else(String::new, |word| format!(" [{word}]"))
}
