//! `drip doctor`: what keeps drip from working, each finding with the command that mends it. A store that is broken is a
//! finding. Looks and changes nothing, except that opening a corrupt store sets it aside, as any read would.

mod store_state;

use std::path::PathBuf;

use kit::doctor::{self, Check, Health};
use kit::log::Log;
use kit::{Exit, Failure, Form, text};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Call, Here, init, times::ago};
use crate::setup::{self, Agent, Scope};

const LOG: &str = "log";

/// Trouble that is older has probably been dealt with.
const RECENT: i64 = 24 * 3600;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only how many errors and warnings there are
    #[arg(long)]
    quiet: bool,
}

/// Findings about one thing.
struct Section {
    key: &'static str,
    name: &'static str,
    checks: Vec<Check>,
    meta: Value,
}

#[derive(Serialize)]
struct Told<'a> {
    status: &'static str,
    label: &'a str,
    detail: &'a str,
    hint: Option<&'a str>,
}

pub(crate) fn run(call: &mut Call, args: &Args) -> Result<Exit, Failure> {
    let sections = sections(&call.here);
    let checks: Vec<Check> = sections.iter().flat_map(|section| section.checks.clone()).collect();
    let count = |health| checks.iter().filter(|check| check.health == health).count();
    let (errors, warnings) = (count(Health::Fail), count(Health::Warn));
    let text = match (call.form, args.quiet) {
        (Form::Json, _) => format!("{}\n", to_json(&sections, errors, warnings)),
        (Form::Text, true) => format!("{errors} error(s), {warnings} warning(s)\n"),
        (Form::Text, false) => {
            format!("{}\n{errors} error(s), {warnings} warning(s)\n", doctor::to_text(&checks))
        }
    };
    call.invocation.print(&text)?;
    Ok(doctor::exit(&checks))
}

/// The findings for the front door, which reads the logs of all tools itself.
pub(crate) fn checks(here: &Here) -> Vec<Check> {
    let sections = sections(here).into_iter().filter(|section| section.key != LOG);
    sections.flat_map(|section| section.checks).collect()
}

fn sections(here: &Here) -> Vec<Section> {
    let mut sections = vec![binary(here)];
    sections.extend(store_state::sections(here));
    sections.extend(clients(here));
    sections.extend([completions(here), session(here), settings(here), rules(here), log(here)]);
    sections
}

fn to_json(sections: &[Section], errors: usize, warnings: usize) -> Value {
    let told = |section: &Section| {
        let worst = section.checks.iter().map(|check| check.health).max().unwrap_or(Health::Ok);
        let checks: Vec<Told> = section
            .checks
            .iter()
            .map(|check| Told {
                status: status(check.health),
                label: &check.subject,
                detail: &check.finding,
                hint: check.hint.as_deref(),
            })
            .collect();
        json!({"name": section.name, "status": status(worst), "checks": checks, "meta": section.meta})
    };
    let sections: serde_json::Map<String, Value> =
        sections.iter().map(|section| (section.key.to_owned(), told(section))).collect();
    json!({"version": env!("CARGO_PKG_VERSION"), "errors": errors, "warnings": warnings, "sections": sections})
}

fn status(health: Health) -> &'static str {
    match health {
        Health::Ok => "ok",
        Health::Warn => "warning",
        Health::Fail => "error",
    }
}

fn binary(here: &Here) -> Section {
    let version = env!("CARGO_PKG_VERSION");
    let program = &here.program;
    let check = match program.sibling("drip") {
        Ok(path) => Check::ok("program", format!("drip {version}, {}", here.places.tilde(&path))),
        // Reads by hand still work; only a client cannot be told whom to run.
        Err(_) => {
            Check::warn("program", format!("`drip` is not beside `{}`: `init` will refuse", program.spoken()))
                .hint("`cargo xtask install`")
        }
    };
    let meta = json!({"version": version, "path": program.exe});
    Section { key: "binary", name: "Program", checks: vec![check], meta }
}

/// One section for each client and scope.
fn clients(here: &Here) -> Vec<Section> {
    let drip = here.program.sibling("drip").ok().or_else(|| here.program.exe.clone());
    let ground = init::ground(here, drip.unwrap_or_else(|| PathBuf::from("/drip")));
    let spoken = here.program.spoken();
    let section = |finding: &setup::Finding| {
        let (key, name) = match (finding.agent, finding.scope) {
            (Agent::Claude, Scope::Global) => ("hooks_global", "Claude Code, all projects"),
            (Agent::Claude, Scope::Project) => ("hooks_project", "Claude Code, this project"),
            (Agent::Gemini, Scope::Global) => ("gemini_global", "Gemini, all projects"),
            (Agent::Gemini, Scope::Project) => ("gemini_project", "Gemini, this project"),
            (Agent::Codex, _) => ("codex", "Codex"),
        };
        let strays: Vec<String> = finding.strays.iter().map(|stray| format!("{stray:?}")).collect();
        Section { key, name, checks: finding.checks(&spoken), meta: json!({"programs_elsewhere": strays}) }
    };
    setup::findings(&ground).iter().map(section).collect()
}

fn completions(here: &Here) -> Section {
    let shell = here.env.text("SHELL").and_then(|path| path.rsplit('/').next());
    let home = &here.places.home;
    let file = match shell {
        Some("zsh") => Some(home.join(".zsh/completions/_drip")),
        Some("bash") => Some(home.join(".bash_completion.d/drip.bash")),
        Some("fish") => Some(here.places.config.join("fish/completions/drip.fish")),
        _ => None,
    };
    let check = match (shell, &file) {
        (Some(shell), Some(file)) if file.is_file() => {
            Check::ok("completions", format!("{shell}, {}", here.places.tilde(file)))
        }
        (Some(shell), Some(file)) => {
            Check::ok("completions", format!("not installed for {shell}")).hint(format!(
                "`mkdir -p {} && {} completions {shell} > {}`",
                kit::places::shell_word(file.parent().unwrap_or(home).as_os_str()),
                here.program.spoken(),
                kit::places::shell_word(file.as_os_str())
            ))
        }
        _ => Check::ok("completions", "no shell that we have a script for"),
    };
    Section { key: "completions", name: "Completions", checks: vec![check], meta: json!({"shell": shell}) }
}

fn session(here: &Here) -> Section {
    let session = here.caller().session;
    let strategy = session.strategy.word();
    let finding = format!("{} by {strategy}, {}", session.id, session.context);
    let meta = json!({"session_id": session.id.as_str(), "strategy": strategy, "context": session.context});
    Section { key: "session", name: "Session", checks: vec![Check::ok("session", finding)], meta }
}

fn settings(here: &Here) -> Section {
    let told = |warning: &crate::settings::Warning| {
        Check::warn("settings", format!("{} is not followed: {}", warning.variable, warning.why))
            .hint(format!("`unset {}`", warning.variable))
    };
    let mut checks: Vec<Check> = here.settings.warnings.iter().map(told).collect();
    if here.settings.disabled {
        checks.push(Check::warn("settings", "DRIP_DISABLE is set: every read goes through untouched"));
    }
    if checks.is_empty() {
        checks.push(Check::ok("settings", "every variable is understood"));
    }
    Section { key: "settings", name: "Settings", checks, meta: Value::Null }
}

/// Rules that keep no file away although somebody wrote them.
fn rules(here: &Here) -> Section {
    /// A file of other things than rules is told by as many of its lines.
    const MOST: usize = 8;
    let warnings = here.ignored().warnings();
    let mut checks: Vec<Check> =
        warnings.iter().take(MOST).map(|warning| Check::warn("rules", text::plain(warning))).collect();
    match warnings.len() {
        0 => checks.push(Check::ok("rules", "every rule of every .dripignore is followed")),
        count if count > MOST => checks.push(Check::warn("rules", format!("and {} more", count - MOST))),
        _ => {}
    }
    Section { key: "rules", name: "Rules", checks, meta: Value::Null }
}

/// What hooks could not do, and told nobody.
fn log(here: &Here) -> Section {
    let log = Log::of("drip", &here.places);
    let check = match log.last_trouble() {
        Err(error) => Check::warn("log", format!("cannot read {}: {error}", here.places.tilde(log.path()))),
        Ok(None) => Check::ok("log", "no trouble was written down"),
        Ok(Some(record)) => trouble(here, &record),
    };
    Section { key: LOG, name: "Log", checks: vec![check], meta: json!({"path": log.path()}) }
}

fn trouble(here: &Here, record: &str) -> Check {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let word = |key: &str| record[key].as_str().unwrap_or("unknown").to_owned();
    let (now, at) = (here.now(), record["ts"].as_i64().unwrap_or(0) / 1000);
    let finding = format!("{}: {} ({})", word("event"), word("error"), ago(at, now));
    match now - at < RECENT {
        true => Check::warn("log", finding)
            .hint(format!("`tail {}`", here.places.tilde(Log::of("drip", &here.places).path()))),
        false => Check::ok("log", finding),
    }
}
