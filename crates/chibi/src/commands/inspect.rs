//! What the model is told and what holds here: system prompt, memory, todos, goals, settings.

use kit::{Failure, text};
use llm::provider::Target;

use crate::config::{self, Config, Layers, SETTINGS, Setting};
use crate::context::{ContextName, Document, Prompt, Reader};
use crate::prompt::Parts;
use crate::provider;
use crate::run::Run;
use crate::tools::Reflection;

const THINGS: [&str; 4] = ["system_prompt", "reflection", "todos", "goals"];

const UNSET: &str = "(not set)";

pub(super) fn show(run: &mut Run, context: Option<&str>, thing: &str) -> Result<(), Failure> {
    let given = context.is_some();
    let name = run.named(context)?;
    if given {
        run.reader(&name)?;
    }
    let shown = match thing {
        "list" => Some(list()),
        "system_prompt" | "prompt" => system_prompt(run, &name)?,
        "reflection" => run.home.prompt(Prompt::Reflection)?,
        "todos" => document(run, &name, Document::Todos)?,
        "goals" => document(run, &name, Document::Goals)?,
        path => match SETTINGS.iter().find(|setting| setting.path == path) {
            Some(found) => setting(run, &name, found)?,
            None => return Err(unknown(path)),
        },
    };
    let shown = shown.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| UNSET.to_owned());
    run.out.result(&shown);
    Ok(())
}

/// `-y`: the text of a file, or the words themselves.
pub(super) fn set(run: &mut Run, context: Option<&str>, prompt: &str) -> Result<(), Failure> {
    let given = context.is_some();
    let name = run.named(context)?;
    if given {
        run.reader(&name)?;
    }
    let path = run.cwd.join(prompt);
    let words = match path.is_file() {
        true => std::fs::read_to_string(&path)
            .map_err(|error| Failure::new(format!("cannot read `{prompt}`")).because(&error))?,
        false => prompt.to_owned(),
    };
    let mut held = run.open(&name)?;
    held.set_document(Document::SystemPrompt, &words)?;
    run.out.result(&format!("System prompt of context '{}' set ({} bytes)", name.as_str(), words.len()));
    Ok(())
}

/// What the files say of what the model is told.
pub(crate) fn parts(run: &Run, reader: &Reader, config: &Config) -> Result<Parts, Failure> {
    let text = |document| reader.document(document).map(Option::unwrap_or_default).map_err(Failure::from);
    let own = text(Document::SystemPrompt)?;
    let shared = || run.home.prompt(Prompt::Chibi).map(Option::unwrap_or_default).map_err(Failure::from);
    Ok(Parts {
        prompt: if own.trim().is_empty() { shared()? } else { own },
        username: config.username.clone(),
        summary: text(Document::Summary)?,
        goals: text(Document::Goals)?,
        todos: text(Document::Todos)?,
        reflection: match config.reflection {
            Reflection::UpTo { .. } => run.home.prompt(Prompt::Reflection)?.unwrap_or_default(),
            Reflection::Off => String::new(),
        },
        ..Parts::default()
    })
}

fn system_prompt(run: &Run, name: &ContextName) -> Result<Option<String>, Failure> {
    if !run.home.exists(name) {
        return run.home.prompt(Prompt::Chibi).map_err(Failure::from);
    }
    let config = Config::of(&run.layers(name)?);
    Ok(Some(parts(run, &run.reader(name)?, &config)?.whole()))
}

fn document(run: &Run, name: &ContextName, document: Document) -> Result<Option<String>, Failure> {
    match run.home.exists(name) {
        true => run.reader(name)?.document(document).map_err(Failure::from),
        false => Ok(None),
    }
}

fn setting(run: &mut Run, name: &ContextName, setting: &Setting) -> Result<Option<String>, Failure> {
    let layers = run.layers(name)?;
    let mut found = config::shown(&layers, setting).map(|(value, layer)| (value, layer.to_string()));
    if setting.path == "base_url" && found.is_none() {
        found = address(run, &layers);
    }
    if let Some((_, layer)) = &found {
        run.out.diagnostic(&format!("{}: {layer}", setting.path));
    }
    Ok(found.map(|(value, _)| value))
}

/// Where requests go if no file says so.
fn address(run: &Run, layers: &Layers) -> Option<(String, String)> {
    let resolved = provider::resolve(layers, &run.asked, &run.env, &run.places).ok()?;
    match resolved.target.value {
        Target::Http(endpoint) => Some((endpoint.to_string(), resolved.target.origin.to_string())),
        Target::Script(_) => None,
    }
}

fn list() -> String {
    let width = SETTINGS.iter().map(|setting| setting.path.len()).max().unwrap_or(0);
    let mut lines: String = THINGS.iter().map(|thing| format!("{thing}\n")).collect();
    for setting in SETTINGS {
        lines.push_str(&format!("{:<width$}  {}\n", setting.path, setting.about));
    }
    lines
}

fn unknown(thing: &str) -> Failure {
    let known = THINGS.into_iter().chain(SETTINGS.iter().map(|setting| setting.path));
    let failure = Failure::usage(format!("there is nothing called `{}` to look at", text::head(thing, 80)));
    match text::nearest(thing, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`? `-n list` names all")),
        None => failure.hint("`-n list` names all"),
    }
}
