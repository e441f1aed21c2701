//! One run of one plugin, from its environment to words about how it ended. What the words are for is the caller's.

use conversation::tools::Output;
use kit::process::{Cancel, Ended, Job, Keep, Outcome};
use kit::text;
use serde_json::{Map, Value};

use super::{Called, Ground, Plugin, Scene, Streams, environment, handover};

/// How much of what a plugin complained about is shown to the model when it failed: the end says why.
const COMPLAINT: usize = 2_000;

/// A plugin as it is always started: its environment and nothing else said yet.
pub(super) fn job(ground: &Ground, name: &str, path: &std::path::Path) -> Job {
    let also = ground.setting(name).map(|setting| setting.env.as_slice()).unwrap_or_default();
    let env = environment::seen(&ground.env, also, &ground.secrets);
    Job::new(path).cwd(&ground.cwd).envs(env).env("CHIBI_HOME", &ground.home)
}

/// The same in the middle of a conversation.
pub(super) fn job_in(ground: &Ground, plugin: &Plugin, scene: &Scene<'_>) -> Job {
    let job = job(ground, &plugin.name, &plugin.path).env("CHIBI_CONTEXT", scene.context);
    if scene.verbose { job.env("CHIBI_VERBOSE", "1") } else { job }
}

/// One call of a tool.
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) scene: &'a Scene<'a>,
    pub(super) streams: Streams,
}

/// Runs a tool to its end.
pub(super) fn tool(ground: &Ground, plugin: &Plugin, call: &Call<'_>, cancel: &Cancel) -> Called {
    let &Call { tool, arguments, scene, streams } = call;
    let json = serde_json::to_string(arguments).expect("a map with string keys is JSON");
    let timeout = ground.setting(&plugin.name).and_then(|setting| setting.timeout);
    let job = job_in(ground, plugin, scene)
        .env("CHIBI_TOOL_NAME", tool)
        .deadline(timeout.unwrap_or(ground.limits.tool))
        .keep(Keep { head: ground.limits.output, tail: 0, spill: None })
        .cancel(cancel);
    let job = if streams == Streams::Shared { job.attached() } else { job };
    let ran = handover::give(job, plugin.protocol, handover::TOOL, json, &ground.cache())
        .and_then(|(job, _file)| job.run());
    match ran {
        Ok(outcome) => Called { output: told(tool, &outcome), said: outcome.stderr.text() },
        Err(error) => Called {
            output: Output::failed(format!("`{tool}` could not be started: {error}")),
            said: String::new(),
        },
    }
}

/// How a run ended, unless it ended well.
pub(super) fn trouble(outcome: &Outcome) -> Option<String> {
    match outcome.ended {
        Ended::Exited(0) => None,
        Ended::Exited(code) => Some(format!("failed (exit status {code})")),
        Ended::Signalled(signal) => Some(format!("was ended by signal {signal}")),
        Ended::DeadlinePassed => {
            Some(format!("did not end in time and was killed after {} s", seconds(outcome)))
        }
        Ended::Cancelled => Some("was cancelled".to_owned()),
    }
}

fn told(tool: &str, outcome: &Outcome) -> Output {
    let printed = outcome.stdout.text();
    match trouble(outcome) {
        None if printed.is_empty() => Output::done("(no output)"),
        None => Output::done(printed),
        Some(trouble) => {
            let complaint = outcome.stderr.text();
            let parts = [printed.trim_end(), text::tail(complaint.trim_end(), COMPLAINT)];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let colon = if parts.is_empty() { "" } else { ":\n" };
            Output::failed(format!("`{tool}` {trouble}{colon}{}", parts.join("\n")))
        }
    }
}

fn seconds(outcome: &Outcome) -> String {
    format!("{:.1}", outcome.elapsed.as_secs_f64())
}
