//! Tools run by hand: `-p` with words, `-P` with JSON. No hook is asked, since no model asked for it.

use conversation::tools::Output;
use kit::{Failure, text};
use llm::Outcome;
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::desk::Desk;
use crate::failure;
use crate::plugins::Scene;
use crate::run::Run;
use crate::tools::BuiltIn;

pub(super) fn plugin(run: &mut Run, name: &str, words: &[String]) -> Result<(), Failure> {
    let arguments = Map::from_iter([("args".to_owned(), json!(words))]);
    let output = theirs(run, name, &arguments)?.ok_or_else(|| missing(run, name, Only::Plugins))?;
    told(run, name, &output)
}

pub(super) fn call(run: &mut Run, name: &str, words: &[String]) -> Result<(), Failure> {
    let joined = words.join(" ");
    let arguments = match joined.trim() {
        "" => Map::new(),
        json => serde_json::from_str(json).map_err(|error| {
            Failure::usage("the arguments are no JSON object")
                .because(&error)
                .hint("`-P TOOL '{\"key\": \"value\"}'`")
        })?,
    };
    let output = match BuiltIn::named(name) {
        Some(tool) => own(run, tool, &arguments)?,
        None => theirs(run, name, &arguments)?.ok_or_else(|| missing(run, name, Only::None))?,
    };
    told(run, name, &output)
}

fn own(run: &mut Run, tool: BuiltIn, arguments: &Map<String, Value>) -> Result<Output, Failure> {
    let name = run.current.clone();
    let reflection = Config::of(&run.layers(&name)?).reflection;
    let mut context = run.open(&name)?;
    Ok(tool.run(arguments, reflection, &mut Desk { run, context: &mut context }))
}

fn theirs(run: &mut Run, name: &str, arguments: &Map<String, Value>) -> Result<Option<Output>, Failure> {
    run.heed_interrupts();
    run.warn_of_tools();
    let Some(plugins) = run.plugins().filter(|plugins| plugins.has_tool(name)).cloned() else {
        let layers = run.layers(&run.current.clone())?;
        let servers = run.servers(&layers);
        run.warn_of_tools();
        return Ok(servers.has_tool(name).then(|| servers.call(name, arguments, &run.cancel)));
    };
    let context = run.current.clone();
    let scene = Scene { context: context.as_str(), verbose: run.ways.verbose };
    let called = plugins.call(name, arguments, &scene, &run.cancel);
    run.out.aside(&called.said);
    Ok(Some(called.output))
}

fn told(run: &mut Run, name: &str, output: &Output) -> Result<(), Failure> {
    match output.outcome {
        _ if run.cancel.is_cancelled() => Err(failure::interrupted()),
        Outcome::Done => {
            run.out.result(&output.content);
            Ok(())
        }
        Outcome::Failed => {
            Err(Failure::new(format!("`{}` failed: {}", text::head(name, 80), output.content)))
        }
    }
}

/// Which tools were meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    Plugins,
    None,
}

fn missing(run: &Run, name: &str, only: Only) -> Failure {
    let theirs = run.plugins().map(crate::plugins::Plugins::specs).unwrap_or_default();
    let own = BuiltIn::ALL.iter().filter(|_| only == Only::None).map(|tool| tool.name());
    let known: Vec<&str> = theirs.iter().map(|spec| spec.name.as_str()).chain(own).collect();
    let failure = Failure::new(format!("there is no tool `{}`", text::head(name, 80)));
    match text::nearest(name, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("`{} --list-plugins`", run.spoken())),
    }
}
