//! What was loaded, what was not, and why.

use kit::Failure;
use serde_json::json;

use crate::ground;
use crate::hooks::{Hook, Role};
use crate::plugins::{Entry, State, check as look};
use crate::run::Run;
use crate::servers;

pub(super) fn list(run: &mut Run) -> Result<(), Failure> {
    let report = run.plugins().map(|plugins| plugins.report().clone()).unwrap_or_default();
    let mut lines = report.to_string();
    let layers = run.layers(&run.current.clone())?;
    let servers = run.servers(&layers).to_string();
    if lines.is_empty() && servers.is_empty() {
        lines = format!("No plugins in `{}`.\n", run.home.plugins().display());
    }
    lines.push_str(&servers);
    let trouble = report.trouble.iter().map(|trouble| json!({"loaded": false, "reason": trouble}));
    let rows: Vec<_> = trouble.chain(report.entries.iter().map(row)).collect();
    run.out.rows(&lines, &json!(rows));
    Ok(())
}

pub(super) fn check(run: &mut Run, name: &str) -> Result<(), Failure> {
    let layers = run.layers(&run.current.clone())?;
    if let Some(setting) = ground::servers(&layers).get(name) {
        let checked = servers::check(&ground::of(run, &layers), name, setting);
        let lines = format!("{}answered in {} ms\n", checked.report, checked.elapsed.as_millis());
        run.out.rows(&lines, &json!({"name": name, "report": checked.report}));
        return Ok(());
    }
    let checked = look(&ground::of(run, &layers), name).ok_or_else(|| {
        Failure::new(format!("there is no plugin `{}`", kit::text::head(name, 80)))
            .hint(format!("`{} --list-plugins`", run.spoken()))
    })?;
    let mut lines = checked.entry.to_string();
    if let Some(path) = &checked.path {
        lines.push_str(&format!("  file: {}\n", path.display()));
    }
    lines.push_str(&format!("  answered in {} ms\n", checked.elapsed.as_millis()));
    if !checked.said.trim().is_empty() {
        lines.push_str(&format!("  said: {}\n", checked.said.trim()));
    }
    run.out.rows(&lines, &row(&checked.entry));
    match checked.entry.state {
        State::Loaded { .. } => Ok(()),
        _ => Err(Failure::new(format!("`{name}` cannot be used"))),
    }
}

fn row(entry: &Entry) -> serde_json::Value {
    match &entry.state {
        State::Skipped(fault) => {
            json!({"name": entry.name, "loaded": false, "reason": fault.to_string(), "notes": entry.notes})
        }
        State::Loaded { tools, hooks, role, .. } => json!({
            "name": entry.name, "loaded": true, "tools": tools, "hooks": names(hooks),
            "guard": *role == Role::Guard, "notes": entry.notes,
        }),
    }
}

fn names(hooks: &[Hook]) -> Vec<&'static str> {
    hooks.iter().map(|hook| hook.name()).collect()
}
