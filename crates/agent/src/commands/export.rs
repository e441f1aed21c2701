//! `agent export`: a conversation in the form of `.entire`, for tools that read that. The only command that writes into a
//! project, and only because somebody said so.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use chibi::context::{ContextError, Reader};
use kit::{Exit, Failure, Form, Invocation};
use serde_json::json;
use store::{Durability, replace};

use crate::entire::{self, Entire};
use crate::keep::{self, Which};
use crate::setup;

pub(super) fn run(
    invocation: &mut Invocation,
    name: Option<&str>,
    into: Option<&Path>,
    form: Form,
) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let home = keep::home(&invocation.env, &places, &invocation.clock);
    let here = invocation.cwd.canonicalize().unwrap_or_else(|_| invocation.cwd.clone());
    let which = name.map_or(Which::Last, Which::Named);
    let name = keep::find(&home, &setup::data(&places), &which, &here)?;
    let failed = |error: ContextError| keep::failure("cannot read the conversation", &error);
    let reader = Reader::open(&home, &name).map_err(failed)?;
    let entries: Vec<_> = reader.entries().map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    let project = keep::project(&reader).map_err(failed)?.unwrap_or_default();
    let entire =
        entire::of(entries, &project).ok_or_else(|| Failure::new(format!("nothing was said in `{name}`")))?;
    let folder = invocation.cwd.join(into.unwrap_or(Path::new(".")));
    let folder = folder.join(".entire/metadata").join(&entire.session);
    write(&folder, &entire)?;
    let text = match form {
        Form::Json => format!("{}\n", json!({"path": folder})),
        Form::Text => format!("{}\n", folder.display()),
    };
    invocation.print(&text).map(|()| Exit::Done)
}

/// For us alone, as all that was said is. Other files there are not touched.
fn write(folder: &Path, entire: &Entire) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot export to `{}`", folder.display())).because(error)
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| failed(&error))?;
    let files =
        [("full.jsonl", &entire.full), ("prompt.txt", &entire.prompt), ("context.md", &entire.context)];
    for (name, text) in files {
        replace(&folder.join(name), text.as_bytes(), Durability::Cached).map_err(|error| failed(&error))?;
    }
    Ok(())
}
