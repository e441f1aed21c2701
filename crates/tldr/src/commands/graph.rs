//! `tldr graph`: a page that shows who calls whom.

use std::collections::BTreeMap;

use kit::{Exit, Failure, Invocation};
use serde_json::{Map, Value};
use store::{Durability, replace};
use wire::tldr::{DaemonCommand, DaemonResponse, Request};

use super::waiting;
use crate::cli::GraphArgs;
use crate::door::Door;
use crate::graph;
use crate::index::Lifetime;
use crate::root::Root;

pub(super) fn run(invocation: &mut Invocation, args: &GraphArgs) -> Result<Exit, Failure> {
    let root = Root::find(&invocation.cwd.join(&args.project))?;
    let path = args.path.as_ref().map(|path| invocation.cwd.join(path));
    let name = root.path().file_name().map_or("/".into(), |name| name.to_string_lossy().into_owned());
    let place = path.clone().unwrap_or_else(|| root.path().to_owned());
    let door = Door::new(root, invocation.places()?, invocation.env.clone(), Lifetime::OneLook);
    let calls = waiting(invocation, &door, || data(&door, DaemonCommand::Calls { path: path.clone() }))?;
    let arch = data(&door, DaemonCommand::Arch { path })?;
    let structure = data(&door, DaemonCommand::Structure { path: place })?;
    let page = graph::page(&name, &graph::edges(&calls), &arch, &lines(&structure));
    match &args.html {
        None => invocation.print(&page).map(|()| Exit::Done),
        Some(file) => {
            let file = invocation.cwd.join(file);
            replace(&file, page.as_bytes(), Durability::Cached).map_err(|error| {
                Failure::new(format!("cannot write `{}`", file.display())).because(&error)
            })?;
            invocation.print(&format!("{}\n", file.display())).map(|()| Exit::Done)
        }
    }
}

fn data(door: &Door, command: DaemonCommand) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(&door.ask(&Request::new(command))?) {
        Ok(DaemonResponse::Answer(answer)) => Ok(answer.data),
        Ok(DaemonResponse::Error(refusal)) => Err(Failure::new(refusal.message)),
        _ => Err(Failure::new("the daemon gave no answer").hint("`tldr daemon stop`")),
    }
}

/// Where each function of an answer to `structure` begins.
fn lines(structure: &Map<String, Value>) -> BTreeMap<(String, String), u64> {
    let files = structure.get("files").and_then(Value::as_array).into_iter().flatten();
    let found = files.flat_map(|file| {
        let path = file["path"].as_str().unwrap_or_default();
        let definitions = file["definitions"].as_array().into_iter().flatten();
        definitions.filter_map(move |one| {
            Some(((path.to_owned(), one["name"].as_str()?.to_owned()), one["line"].as_u64()?))
        })
    });
    found.collect()
}
