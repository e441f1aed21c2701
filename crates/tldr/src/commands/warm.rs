//! `tldr warm`: the index and the call graph, made now and kept.

use kit::process::{Job, minimal_environment};
use kit::text::thousands;
use kit::{Exit, Failure, Invocation};
use serde_json::{Value, json};
use wire::tldr::{DaemonCommand, DaemonResponse, Request};

use super::daemon::pass_on;
use super::{show, waiting};
use crate::cli::{Format, WarmArgs};
use crate::door::Door;
use crate::index::Lifetime;
use crate::root::Root;

pub(super) fn run(invocation: &mut Invocation, args: &WarmArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.path))?;
    let format = args.format.format;
    if args.background {
        let (program, words) = invocation.program.again("tldr")?;
        Job::new(&program)
            .args(words)
            .arg("warm")
            .arg(root.path())
            .args(["--lang", &args.lang])
            .envs(minimal_environment(&invocation.env, &[]))
            .detach()
            .map_err(|error| Failure::new(format!("cannot start `{}`", program.display())).because(&error))?;
        let words = "Warming cache in background...";
        return show(invocation, format, &json!({"status": "ok", "message": words}), || format!("{words}\n"));
    }
    let request = Request::new(DaemonCommand::Warm { language: Some(args.lang.clone()) });
    let door = Door::new(root, invocation.places()?, invocation.env.clone(), Lifetime::OneLook);
    let line = waiting(invocation, &door, || door.ask(&request))?;
    match (format, serde_json::from_str(&line)) {
        (Format::Text, Ok(DaemonResponse::Answer(answer))) => {
            let number = |key: &str| thousands(answer.data.get(key).and_then(Value::as_u64).unwrap_or(0));
            let languages: Vec<&str> = answer
                .data
                .get("languages")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let place = answer.data.get("cache_path").and_then(Value::as_str).unwrap_or_default();
            let text = format!(
                "Warming call graph cache...\nIndexed {} files, found {} edges\nLanguages: {}\nCache written to: {place}\n",
                number("files"),
                number("edges"),
                languages.join(", ")
            );
            invocation.print(&text).map(|()| Exit::Done)
        }
        (Format::Text, Ok(DaemonResponse::Error(refusal))) => Err(Failure::new(refusal.message)),
        _ => pass_on(invocation, &line),
    }
}
