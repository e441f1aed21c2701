//! Control flow, data flow and slices of one function, from its syntax tree: lowered to one form for all languages,
//! answered from that form alone. Nothing here knows files, projects or other functions.

mod cut;
mod data;
mod find;
mod form;
mod graph;
mod lower;
mod render;
mod shape;
mod slice;
mod view;
mod words;

use tree_sitter::Node;

use crate::language::Language;
use crate::near;
use crate::parse::Parsed;
use find::Found;
use form::Body;
pub use graph::EdgeKind;
use graph::Graph;
use lower::Unit;
pub use slice::Dependency;
pub use view::{
    BlockKind, ControlFlow, DataFlow, FlowBlock, FlowEdge, RefKind, Reference, Slice, SliceLine, ValueFlow,
};

/// The name of what runs when a file is loaded.
pub const MODULE: &str = "<module>";

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("control and data flow are not offered for {0}")]
    Unsupported(&'static str),
    #[error("no function called {function}{}", near::words(near))]
    NotFound { function: String, near: Vec<String> },
    #[error("say which {function} is meant: {}", candidates.join(", "))]
    Ambiguous { function: String, candidates: Vec<String> },
    #[error("{function} has no body here")]
    NoBody { function: String },
    #[error("line {line} is outside of {function}, which is on lines {} to {}", lines.0, lines.1)]
    Outside { function: String, line: usize, lines: (usize, usize) },
    #[error("nothing runs at line {line} of {function}; the nearest lines are {}", number_words(near))]
    NoStatement { function: String, line: usize, near: Vec<usize> },
    #[error("no variable {var} in {function}{}", near::words(near))]
    NoVariable { function: String, var: String, near: Vec<String> },
}

/// A function that can be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// With all that it is defined in: `Class.method.inner`.
    pub name: String,
    pub line: usize,
}

/// What a slice is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub line: usize,
    pub direction: Direction,
    /// Only what this variable carries; all of the line where it is not given.
    pub var: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// What the line depends on.
    Backward,
    /// What depends on the line.
    Forward,
}

/// Whether `language` can be asked here at all.
pub fn supports(language: Language) -> bool {
    use Language as L;
    matches!(
        language,
        L::Python
            | L::TypeScript
            | L::JavaScript
            | L::Go
            | L::Rust
            | L::Java
            | L::C
            | L::Cpp
            | L::CSharp
            | L::Ruby
            | L::Php
            | L::Lua
            | L::Luau
    )
}

/// The blocks of a function and the ways between them.
pub fn control_flow(file: &Parsed<'_>, function: &str) -> Result<ControlFlow, FlowError> {
    let lowered = Lowered::of(file, function, None)?;
    Ok(view::control_flow(&lowered.name, &lowered.body, &lowered.graph, lowered.notes))
}

/// The control flow of every function of a file, each with the line it starts on.
pub fn control_flows(file: &Parsed<'_>) -> Result<Vec<(Candidate, ControlFlow)>, FlowError> {
    supported(file)?;
    let found = find::functions(file).into_iter().filter(|it| it.has_body);
    let flow = |it: &Found<'_>| {
        let lowered = Lowered::build(file, it.node, Unit::Function, it.name.clone(), (it.line, it.last_line));
        view::control_flow(&lowered.name, &lowered.body, &lowered.graph, lowered.notes)
    };
    Ok(found.map(|it| (candidate(&it), flow(&it))).collect())
}

/// Where the values of a function come from and go to.
pub fn data_flow(file: &Parsed<'_>, function: &str) -> Result<DataFlow, FlowError> {
    let lowered = Lowered::of(file, function, None)?;
    let flows = data::flows(&lowered.body, &lowered.graph);
    Ok(view::data_flow(&lowered.name, &lowered.body, &flows, lowered.notes))
}

/// The lines that a line depends on, or that depend on it. A line of a function inside the one that was asked about
/// depends on what that one does with it, and on what the inner one was made from.
pub fn slice(file: &Parsed<'_>, function: &str, criterion: &Criterion) -> Result<Slice, FlowError> {
    let lowered = Lowered::of(file, function, Some(criterion.line))?;
    let line = criterion.line;
    if line < lowered.lines.0 || line > lowered.lines.1 {
        return Err(FlowError::Outside { function: lowered.name, line, lines: lowered.lines });
    }
    let whole = Criterion { var: None, ..criterion.clone() };
    let inner: Vec<Lowered<'_>> = find::around(file, lowered.node, line)
        .into_iter()
        .map(|node| Lowered::build(file, node, Unit::Function, lowered.name.clone(), lowered.lines))
        .filter(|inner| !slice::steps_at(&inner.body, line).is_empty())
        .collect();
    let mut lines = slice::Lines::new();
    for (depth, unit) in std::iter::once(&lowered).chain(&inner).enumerate() {
        let is_innermost = depth == inner.len();
        slice::makes(&mut lines, line);
        lines.extend(unit.slice(if is_innermost { criterion } else { &whole })?);
    }
    Ok(view::slice(&lowered.name, criterion, file.source, lines, lowered.notes))
}

/// The functions of a file that can be asked about, with the line each starts on.
pub fn functions(file: &Parsed<'_>) -> Vec<Candidate> {
    find::functions(file).iter().filter(|it| it.has_body).map(candidate).collect()
}

struct Lowered<'t> {
    node: Node<'t>,
    name: String,
    lines: (usize, usize),
    body: Body,
    graph: Graph,
    notes: Vec<String>,
}

impl<'t> Lowered<'t> {
    /// The function of that name; where there are several, the one that `line` is in.
    fn of(file: &'t Parsed<'_>, function: &str, line: Option<usize>) -> Result<Self, FlowError> {
        supported(file)?;
        if function == MODULE {
            let last = file.root().end_position().row + 1;
            return Ok(Self::build(file, file.root(), Unit::Module, MODULE.to_owned(), (1, last)));
        }
        let all = find::functions(file);
        let found = choose(&all, function, line)?;
        let lines = (found.line, found.last_line);
        Ok(Self::build(file, found.node, Unit::Function, found.name.clone(), lines))
    }

    fn build(file: &Parsed<'_>, node: Node<'t>, unit: Unit, name: String, lines: (usize, usize)) -> Self {
        let mut body = lower::lower(file, node, unit);
        let graph = graph::build(&body);
        let mut notes = std::mem::take(&mut body.notes);
        notes.extend(
            graph.lost.iter().map(|label| format!("no label {label}: the jump to it is taken to leave")),
        );
        Self { node, name, lines, body, graph, notes }
    }

    /// The lines of its own that a criterion leads to.
    fn slice(&self, criterion: &Criterion) -> Result<slice::Lines, FlowError> {
        let (body, graph, line) = (&self.body, &self.graph, criterion.line);
        let function = || self.name.clone();
        let steps = slice::steps_at(body, line);
        if steps.is_empty() {
            return Err(FlowError::NoStatement { near: around(body, line), function: function(), line });
        }
        let deps = slice::Dependences::of(body, graph);
        let seeds = match &criterion.var {
            None => slice::Seeds { whole: steps, line, ..slice::Seeds::default() },
            Some(var) => {
                if !(0..body.vars.len()).any(|known| slice::is_named(body, known, var)) {
                    let names = body.vars.iter().filter(|it| !it.hidden).map(|it| it.name.as_str());
                    let near = near::near(names, var);
                    return Err(FlowError::NoVariable { function: function(), var: var.clone(), near });
                }
                match criterion.direction {
                    Direction::Backward => slice::seeds_back(body, graph, &deps, &steps, var, line),
                    Direction::Forward => slice::seeds_on(body, &deps, &steps, var, line),
                }
            }
        };
        Ok(match criterion.direction {
            Direction::Backward => deps.backward(body, seeds),
            Direction::Forward => deps.forward(body, seeds),
        })
    }
}

fn supported(file: &Parsed<'_>) -> Result<(), FlowError> {
    if supports(file.language) { Ok(()) } else { Err(FlowError::Unsupported(file.language.table().title)) }
}

/// The one function that `wanted` means; `name:line` picks among several, and so does a line `inside` of one of them.
fn choose<'a, 't>(
    all: &'a [Found<'t>],
    wanted: &str,
    inside: Option<usize>,
) -> Result<&'a Found<'t>, FlowError> {
    let (name, line) =
        match wanted.rsplit_once(':').and_then(|(name, line)| Some((name, line.parse::<usize>().ok()?))) {
            Some((name, line)) => (name, Some(line)),
            None => (wanted, None),
        };
    let is_meant =
        |it: &&Found<'t>| it.answers_to(name) && line.is_none_or(|line| (it.head..=it.line).contains(&line));
    let (mut matching, bodiless): (Vec<_>, Vec<_>) = all.iter().filter(is_meant).partition(|it| it.has_body);
    let narrower: [&dyn Fn(&Found<'t>) -> bool; 4] = [
        &|it| inside.is_some_and(|line| (it.head..=it.last_line).contains(&line)),
        &|it| it.path == name,
        &|it| it.name == name,
        &|it| !it.is_overload,
    ];
    for fits in narrower {
        let fewer: Vec<_> = matching.iter().copied().filter(|it| fits(it)).collect();
        if fewer.len() == 1 {
            matching = fewer;
        }
    }
    match (matching.as_slice(), bodiless.first()) {
        ([only], _) => Ok(only),
        ([], Some(declared)) => Err(FlowError::NoBody { function: declared.name.clone() }),
        ([], None) => {
            let near = near::near(all.iter().map(|it| it.name.as_str()), name);
            Err(FlowError::NotFound { function: wanted.to_owned(), near })
        }
        (several, _) => {
            Err(FlowError::Ambiguous { function: wanted.to_owned(), candidates: told_apart(several) })
        }
    }
}

/// Each in words that mean it alone.
fn told_apart(several: &[&Found<'_>]) -> Vec<String> {
    let has_own = |it: &Found<'_>| several.iter().filter(|other| other.answers_to(&it.path)).count() == 1;
    let words =
        |it: &&Found<'_>| if has_own(it) { it.path.clone() } else { format!("{}:{}", it.name, it.line) };
    several.iter().map(words).collect()
}

fn candidate(found: &Found<'_>) -> Candidate {
    Candidate { name: found.path.clone(), line: found.line }
}

/// The last line before and the first line after that something runs on.
fn around(body: &Body, line: usize) -> Vec<usize> {
    let lines = || body.steps.iter().map(|step| step.lines.0);
    lines().filter(|it| *it < line).max().into_iter().chain(lines().filter(|it| *it > line).min()).collect()
}

fn number_words(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
#[path = "flow/tests.rs"]
mod tests;
