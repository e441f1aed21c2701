//! What does not change while turns follow each other: settings, provider, tools. And the logs of what was sent.

use std::sync::Arc;
use std::time::Duration;

use conversation::tools::{Registry, Spec, Specs};
use kit::{Failure, text};
use llm::provider::Name;
use llm::{Effort, Format, Options, Reasoning, Request, Usage};
use serde_json::{Value, json};
use store::Durability;
use store::journal::Journal;

use crate::config::Config;
use crate::context::{self, Context, ContextName};
use crate::failure;
use crate::plugins::Plugins;
use crate::provider::{self, Reached, Unreached};
use crate::run::Run;
use crate::servers::Servers;
use crate::tools::{self, BuiltIn};

pub(crate) struct Stage {
    pub(crate) config: Config,
    pub(crate) reached: Reached,
    pub(crate) plugins: Option<Plugins>,
    pub(crate) servers: Servers,
    pub(crate) heartbeat: Duration,
    registry: Registry<Handler>,
    format: Option<Format>,
}

/// What runs a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Handler {
    Own(BuiltIn),
    Plugin,
    Server,
}

impl Stage {
    pub(crate) fn set(run: &mut Run, name: &ContextName) -> Result<Stage, Failure> {
        let layers = run.layers(name)?;
        run.warn_of_settings(&layers);
        let reached = match provider::reach(&layers, &run.asked, &run.env, &run.places) {
            Ok(reached) => reached,
            Err(Unreached::Failed(failure)) => return Err(failure),
            Err(Unreached::NotSetUp) => return Err(crate::commands::init::explain(run)),
        };
        for warning in &reached.warnings {
            run.out.warn(warning);
        }
        let config = Config::of(&layers);
        let plugins = run.plugins().cloned();
        let own = tools::specs(config.reflection).into_iter().map(|spec| {
            let tool = BuiltIn::named(&spec.name).expect("our own tools have our own names");
            (spec, Handler::Own(tool))
        });
        let servers = run.servers(&layers);
        run.warn_of_tools();
        let theirs = plugins.iter().flat_map(Plugins::specs).map(|spec| (spec, Handler::Plugin));
        let served = servers.specs().into_iter().map(|spec| (spec, Handler::Server));
        let registry = Registry::new(own.chain(unlike_ours(run, theirs.chain(served))))
            .map_err(|error| Failure::new("cannot offer the tools").because(&error))?;
        let format = run.asked.schema.clone().map(|file| schema(run, &file)).transpose()?;
        let heartbeat = crate::config::heartbeat(&layers);
        Ok(Stage { config, reached, plugins, servers, heartbeat, registry, format })
    }

    pub(crate) fn specs(&self) -> Arc<Specs> {
        Arc::clone(self.registry.specs())
    }

    pub(crate) fn handler(&self, tool: &str) -> Option<Handler> {
        self.registry.handler(tool).copied()
    }

    /// OpenRouter knows for every model what a medium effort is; elsewhere a word too many is an error.
    pub(crate) fn options(&self) -> Options {
        let mut options = self.config.options.clone();
        if options.reasoning.is_none() && self.reached.name == Name::OpenRouter {
            options.reasoning = Some(Reasoning { effort: Some(Effort::Medium), ..Reasoning::default() });
        }
        if self.format.is_some() {
            options.format.clone_from(&self.format);
        }
        options
    }

    /// Writes down what is sent, if that is wanted. It holds no key.
    pub(crate) fn log_request(&self, run: &mut Run, context: &Context, request: &Request) {
        if run.ways.log_requests {
            let body = self.reached.provider.body(request);
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            log(run, context, "requests.jsonl", &json!({"timestamp": context.home().now(), "request": body}));
        }
    }

    pub(crate) fn log_response(&self, run: &mut Run, context: &Context, response: &Value) {
        if run.ways.log_responses {
            let line = json!({"timestamp": context.home().now(), "response": response});
            log(run, context, "response_meta.jsonl", &line);
        }
    }
}

/// Notes what a reply cost. Where the provider does not say, our own table may.
pub(crate) fn account(run: &mut Run, name: &ContextName, model: &str, usage: &Usage) {
    let usage = Usage { cost: usage.cost.or_else(|| llm::price::cost(model, usage)), ..*usage };
    if let Err(error) = context::usage::record(&run.home, name, model, &usage) {
        run.out.warn(&failure::line("what it cost was not written down", &error));
    }
}

/// The first of each name; the others are told about.
fn unlike_ours(run: &mut Run, tools: impl Iterator<Item = (Spec, Handler)>) -> Vec<(Spec, Handler)> {
    let mut kept: Vec<(Spec, Handler)> = Vec::new();
    for (spec, handler) in tools {
        let taken = tools::is_built_in(&spec.name) || kept.iter().any(|(known, _)| known.name == spec.name);
        match taken {
            true => run.out.warn(&format!("there is a tool `{}` already: a plugin's is left out", spec.name)),
            false => kept.push((spec, handler)),
        }
    }
    kept
}

/// A schema from a file, or written out.
fn schema(run: &Run, typed: &str) -> Result<Format, Failure> {
    let path = run.cwd.join(typed);
    let (words, name) = match typed.trim_start().starts_with('{') {
        true => (typed.to_owned(), "answer".to_owned()),
        false => {
            let words = std::fs::read_to_string(&path)
                .map_err(|error| Failure::new(format!("cannot read the schema `{typed}`")).because(&error))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let plain = stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
            (words, text::head(&plain.collect::<String>(), 64).to_owned())
        }
    };
    let schema: Value = serde_json::from_str(&words).map_err(|error| {
        Failure::usage(format!("the schema `{}` is no JSON", text::head(typed, 80))).because(&error)
    })?;
    Ok(Format::Schema { name, schema, strict: None })
}

fn log(run: &mut Run, context: &Context, file: &str, line: &Value) {
    let path = context.reader().folder().join(file);
    let written = Journal::open(&path, Durability::Cached)
        .and_then(|(mut journal, _)| journal.append(line.to_string().as_bytes()));
    if let Err(error) = written {
        run.out.warn(&failure::line("not logged", &error));
    }
}
