//! What keeps the agent from working here: provider, settings, sandbox, what it keeps. Asks no provider anything.

use std::path::Path;

use kit::doctor::{self, Check};
use kit::invocation::Program;
use kit::places::{Presence, look_private};
use kit::{Exit, Failure, Form, Invocation, Places};
use llm::KeySource;
use llm::provider::Target;

use crate::cli;
use crate::recall::{Clai, Untold};
use crate::sandbox::{Network, Policy};
use crate::tools::bash;
use crate::tools::code::{self, Absent};
use crate::{config, keep, provider, setup};

pub(super) fn run(invocation: &mut Invocation, form: Form) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let checks = checks(&invocation.program, invocation, &places);
    let text = match form {
        Form::Text => doctor::to_text(&checks),
        Form::Json => doctor::to_json(&checks),
    };
    invocation.print(&text)?;
    Ok(doctor::exit(&checks))
}

/// `program` is how we are started, which need not be how the doctor was.
pub(crate) fn checks(program: &Program, invocation: &Invocation, places: &Places) -> Vec<Check> {
    vec![
        asked(program, invocation, places),
        settings(places),
        kept(invocation, places),
        sandbox(program, invocation, places),
        index(&invocation.cwd, places),
        recent(&invocation.cwd, places),
    ]
}

fn asked(program: &Program, invocation: &Invocation, places: &Places) -> Check {
    let spoken = program.spoken();
    let how = format!("set ANTHROPIC_API_KEY, or `{spoken} config init`");
    // Somebody who has not begun has done nothing wrong.
    if !provider::is_configured(&invocation.env, places) {
        return Check::ok("provider", format!("none named yet: {how}"));
    }
    let resolved = match provider::resolved(&cli::Provider::default(), &invocation.env, places) {
        Ok(resolved) => resolved,
        Err(failure) => return Check::fail("provider", failure.to_string().replace("error: ", "")),
    };
    let (name, model) = (resolved.name.value.word(), &resolved.model.value);
    let target = match &resolved.target.value {
        Target::Script(path) => return Check::ok("provider", format!("played from {}", path.display())),
        Target::Http(endpoint) => endpoint,
    };
    let local = target.is_loopback();
    match resolved.key.value {
        KeySource::None if !local => Check::warn("provider", format!("{name}, {model}: no key")).hint(how),
        _ => Check::ok("provider", format!("{name}, {model} at {target}")),
    }
}

fn settings(places: &Places) -> Check {
    let path = config::path(places);
    let shown = places.tilde(&path);
    match config::load(places) {
        Err(failure) => Check::fail("settings", failure.to_string().replace("error: ", "")),
        Ok(config) if !config.warnings.is_empty() => {
            Check::warn("settings", config.warnings.join("; ")).hint(format!("edit {shown}"))
        }
        Ok(_) if !path.exists() => Check::ok("settings", format!("none ({shown}): what is usual holds")),
        Ok(config) => Check::ok(
            "settings",
            format!("{shown}, {} hooks, {} servers", config.hooks.len(), config.servers.len()),
        ),
    }
}

fn kept(invocation: &Invocation, places: &Places) -> Check {
    let home = keep::home(&invocation.env, places, &invocation.clock);
    let data = setup::data(places);
    match look_private(&data, places.uid) {
        Err(error) => {
            let check = Check::fail("kept", error.to_string());
            return error.hint().map_or(check.clone(), |hint| check.hint(hint));
        }
        Ok(Presence::NotYet) => {}
        Ok(Presence::There) => {}
    }
    match keep::list(&home) {
        Ok(listed) => Check::ok(
            "kept",
            format!("{} conversations below {}", listed.len(), places.tilde(&home.contexts())),
        ),
        Err(failure) => Check::fail("kept", failure.to_string().replace("error: ", "")),
    }
}

/// By trying what should be refused: with nothing but the temporary directory open, whatever the project is.
fn sandbox(program: &Program, invocation: &Invocation, places: &Places) -> Check {
    let policy = Policy { write: vec![places.temp.clone()], network: Network::Closed };
    let Some(sandbox) = setup::sandbox(program, policy) else {
        return Check::fail("sandbox", "we do not know our own file").hint("`agent --no-sandbox`");
    };
    if !places.home.is_dir() || places.home.starts_with(&places.temp) {
        return Check::ok("sandbox", "not tried: there is no directory of ours outside of the temporary one");
    }
    let report = sandbox.test(&places.home, &bash::environment(&invocation.env));
    let words = report.to_string().replace('\n', "; ");
    match report.holds() {
        true => Check::ok("sandbox", words),
        false => Check::warn("sandbox", words).hint("`--permission ask` shows every command before it runs"),
    }
}

fn index(cwd: &Path, places: &Places) -> Check {
    let project = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    match code::Socket::find(&project, &places.temp, places.uid) {
        Ok(_) => Check::ok("code index", "tldr answers: code_context, code_callers, code_impact are offered"),
        Err(Absent::Nobody) => Check::ok("code index", "no tldr daemon here: the model searches by itself"),
        Err(Absent::Mute) => Check::warn("code index", "the tldr daemon of this project does not answer")
            .hint("`tldr daemon stop`"),
    }
}

fn recent(cwd: &Path, places: &Places) -> Check {
    const NAME: &str = "recent";
    // Whoever did not consent is not looked at, and broken settings are another check's.
    if !config::load(places).is_ok_and(|config| config.recent_commands) {
        return Check::ok(NAME, "not told: `recent_commands` is off");
    }
    let project = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    match Clai::find(&project, places) {
        Ok(_) => Check::ok(NAME, "clai tells what you ran here"),
        Err(Untold::Nobody) => Check::warn(NAME, "clai's daemon is not running").hint("`clai daemon start`"),
        Err(Untold::Unwilling(why)) => {
            Check::warn(NAME, format!("clai does not tell: {why}")).hint("`clai daemon stop`")
        }
    }
}
