//! What keeps the agent from working here: provider, settings, sandbox, what it keeps. Asks no provider anything.

use kit::doctor::{self, Check};
use kit::places::{Presence, look_private};
use kit::{Exit, Failure, Form, Invocation, Places};
use llm::KeySource;
use llm::provider::Target;

use crate::cli;
use crate::sandbox::Network;
use crate::setup::World;
use crate::tools::{bash, code};
use crate::{config, keep, provider};

pub(super) fn run(invocation: &mut Invocation, form: Form) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let checks = checks(invocation, &places);
    let text = match form {
        Form::Text => doctor::to_text(&checks),
        Form::Json => doctor::to_json(&checks),
    };
    invocation.print(&text)?;
    Ok(doctor::exit(&checks))
}

pub(crate) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let mut checks = vec![asked(invocation, places), settings(places), kept(invocation, places)];
    match World::of(invocation) {
        Ok(world) => checks.extend([sandbox(&world), index(&world)]),
        Err(failure) => checks.push(Check::fail("project", failure.to_string())),
    }
    checks
}

fn asked(invocation: &Invocation, places: &Places) -> Check {
    let spoken = invocation.program.spoken();
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
        KeySource::None if !local => Check::warn("provider", format!("{name}, {model}: no key"))
            .hint(format!("set ANTHROPIC_API_KEY, or `{spoken} config init`")),
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
    let data = places.data.join("scrimp/agent");
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

/// By trying what should be refused.
fn sandbox(world: &World) -> Check {
    let Some(sandbox) = world.sandbox(Network::Closed) else {
        return Check::fail("sandbox", "we do not know our own file").hint("`agent --no-sandbox`");
    };
    let report = sandbox.test(&world.places.home, &bash::environment(&world.env));
    let words = report.to_string().replace('\n', "; ");
    match report.holds() {
        true => Check::ok("sandbox", words),
        false => Check::warn("sandbox", words).hint("`--permission ask` shows every command before it runs"),
    }
}

fn index(world: &World) -> Check {
    match code::Socket::find(world.project.root(), &world.places.temp, world.places.uid) {
        Some(_) => {
            Check::ok("code index", "tldr answers: code_context, code_callers, code_impact are offered")
        }
        None => Check::ok("code index", "no tldr daemon here: the model searches by itself"),
    }
}
