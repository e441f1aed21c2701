//! `tldr model`: encoders to find functions by their meaning.

use kit::{Exit, Failure, Invocation};
use serde_json::json;

use super::{message, show};
use crate::cli::{AddArgs, FormatArg, Model, RemoveArgs};
use crate::model;

pub(super) fn run(invocation: &mut Invocation, args: &Model) -> Result<Exit, Failure> {
    match args {
        Model::Add(args) => add(invocation, args),
        Model::List(format) => list(invocation, format),
        Model::Remove(args) => remove(invocation, args),
    }
}

fn add(invocation: &mut Invocation, args: &AddArgs) -> Result<Exit, Failure> {
    let from = invocation.cwd.join(&args.from);
    let (added, dimensions) = model::add(&invocation.places()?, &from, args.name.as_deref())?;
    let name = &added.name;
    let answer = json!({"status": "ok", "name": name, "dimensions": dimensions});
    show(invocation, args.format.format, &answer, || {
        format!(
            "Added {name} ({dimensions} dimensions)\nA daemon learns the functions of its project in the background once it \
             is started anew; `tldr daemon status` says how far it is\n"
        )
    })
}

fn list(invocation: &mut Invocation, format: &FormatArg) -> Result<Exit, Failure> {
    let names: Vec<String> = model::list(&invocation.places()?).into_iter().map(|model| model.name).collect();
    if names.is_empty() {
        return message(invocation, format.format, "No model was added: `semantic` goes by words");
    }
    show(invocation, format.format, &json!({"models": names}), || names.join("\n") + "\n")
}

fn remove(invocation: &mut Invocation, args: &RemoveArgs) -> Result<Exit, Failure> {
    model::remove(&invocation.places()?, &args.name)?;
    let words = format!("Removed {}", args.name);
    show(invocation, args.format.format, &json!({"status": "ok", "message": words}), || format!("{words}\n"))
}
