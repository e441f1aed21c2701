//! Our stop of the tour: the repository that it is shown in, mapped on the spot.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use code::query::counted;
use kit::Failure;
use kit::tour::{Sight, Stage};
use serde_json::{Map, Value};
use wire::tldr::{DaemonCommand, DaemonResponse, Request};

use crate::engine::Engine;
use crate::graph::{Edge, edges};
use crate::index::Lifetime;
use crate::root::Root;
use crate::settings::Settings;

/// Callers that are named; the rest is counted.
const NAMED: usize = 3;

pub fn stop(stage: &Stage<'_>) -> Result<Sight, Failure> {
    let began = Instant::now();
    let root = Root::find(stage.here)?;
    let engine = Engine::open(root, &Settings::default(), stage.env.clone(), Lifetime::OneLook);
    let calls = answer(&engine, DaemonCommand::Calls { path: None });
    let structure = answer(&engine, DaemonCommand::Structure { path: stage.here.to_owned() });
    let files = list(&structure, "files");
    let functions: usize = files.iter().map(|file| file["definitions"].as_array().map_or(0, Vec::len)).sum();
    let edges = edges(&calls);
    if edges.is_empty() {
        let lines = vec![
            "no calls between functions were found here".to_owned(),
            "in a repository, this shows who calls whom without opening a file".to_owned(),
        ];
        return Ok(Sight { title: "Code".into(), lines });
    }
    let mut lines = vec![format!(
        "{}, {}, {} indexed in {:.1} s",
        counted(files.len(), "file"),
        counted(functions, "definition"),
        counted(edges.len(), "call"),
        began.elapsed().as_secs_f64()
    )];
    lines.extend(who_calls(&edges));
    Ok(Sight { title: "Code".into(), lines })
}

fn answer(engine: &Engine, command: DaemonCommand) -> Map<String, Value> {
    match serde_json::from_str(&String::from(engine.answer(&Request::new(command)).line)) {
        Ok(DaemonResponse::Answer(answer)) => answer.data,
        _ => Map::new(),
    }
}

fn list<'a>(answer: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    answer.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A function by its file and its name.
type Function<'a> = (&'a str, &'a str);
/// Who calls it, and where first.
type Callers<'a> = BTreeMap<Function<'a>, u64>;

/// The question that a person would ask first, about a function that several others in several files call.
fn who_calls(edges: &[Edge]) -> Option<String> {
    /// The busiest are those that everybody knows.
    const BUSY: usize = 8;
    let mut called: BTreeMap<Function, Callers> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| edge.kind == "call" && edge.confidence == "high") {
        let callers = called.entry((&edge.to_file, &edge.to_func)).or_default();
        callers.entry((&edge.from_file, &edge.from_func)).or_insert(edge.line);
    }
    let files = |callers: &Callers| callers.keys().map(|(file, _)| *file).collect::<BTreeSet<_>>().len();
    let fitting = called.iter().filter(|(_, callers)| callers.len() <= BUSY);
    let ((_, function), callers) = fitting.max_by_key(|(_, callers)| (files(callers), callers.len()))?;
    let named =
        callers.iter().take(NAMED).map(|((file, function), line)| format!("{function} ({file}:{line})"));
    let named: Vec<String> = named.collect();
    let more = callers.len() - named.len();
    let rest = if more > 0 { format!(" · {more} more") } else { String::new() };
    Some(format!("who calls `{function}`?   {}{rest}", named.join(" · ")))
}
