//! The answers as they are given: typed, sorted, with one JSON form. Nothing is decided here.

use std::collections::BTreeSet;

use serde::Serialize;

use super::data::{Flow, Place};
use super::form::{Access, Body};
use super::graph::{EdgeKind, Graph, Leaving, Role, View};
use super::slice::{Dependency, Lines};
use super::{Criterion, Direction};
use crate::query::Cut;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ControlFlow {
    pub function: String,
    pub blocks: Vec<FlowBlock>,
    pub edges: Vec<FlowEdge>,
    pub entry_block: usize,
    pub exit_blocks: Vec<usize>,
    pub cyclomatic_complexity: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlowBlock {
    pub id: usize,
    #[serde(rename = "type")]
    pub kind: BlockKind,
    /// First and last line.
    pub lines: [usize; 2],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    Entry,
    Body,
    Branch,
    LoopHeader,
    Handler,
    Finally,
    Deferred,
    Return,
    Raise,
    Exit,
    Unreachable,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FlowEdge {
    pub from: usize,
    pub to: usize,
    #[serde(rename = "type")]
    pub kind: EdgeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataFlow {
    pub function: String,
    pub refs: Vec<Reference>,
    pub edges: Vec<ValueFlow>,
    pub variables: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Reference {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: RefKind,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RefKind {
    Use,
    Definition,
    /// The old value goes into the new one, or stays in part.
    Update,
}

/// A definition and a use that may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueFlow {
    pub var: String,
    pub def_line: usize,
    pub use_line: usize,
    pub def: Reference,
    #[serde(rename = "use")]
    pub used: Reference,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Slice {
    pub function: String,
    pub criterion: usize,
    pub direction: Direction,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub var: Option<String>,
    pub lines: Vec<usize>,
    pub count: usize,
    pub slice_lines: Vec<SliceLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SliceLine {
    pub line: usize,
    pub content: String,
    pub dependency: Dependency,
    /// The variable that carries the value, for a dependency on data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub var: Option<String>,
    /// The line on the other side of the dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

pub(super) fn control_flow(name: &str, body: &Body, graph: &Graph, notes: Vec<String>) -> ControlFlow {
    let reachable = graph.reachable();
    let mut order: Vec<usize> =
        (0..graph.blocks.len()).filter(|&id| !graph.blocks[id].steps.is_empty()).collect();
    let lines = |id: usize| {
        let steps = || graph.blocks[id].steps.iter().map(|&step| body.steps[step].lines);
        [steps().map(|it| it.0).min().unwrap_or(0), steps().map(|it| it.1).max().unwrap_or(0)]
    };
    order.sort_by_cached_key(|&id| (id != 0, lines(id), id));
    let mut shown = vec![usize::MAX; graph.blocks.len()];
    for (number, &id) in order.iter().enumerate() {
        shown[id] = number;
    }
    let mut leaving = vec![Vec::new(); graph.blocks.len()];
    for exit in graph.exits.iter().filter(|exit| exit.view.is_real()) {
        leaving[exit.block].push(exit.kind);
    }
    let blocks: Vec<FlowBlock> = order
        .iter()
        .map(|&id| {
            let mut calls: Vec<String> = Vec::new();
            for call in graph.blocks[id].steps.iter().flat_map(|&step| &body.steps[step].calls) {
                if !calls.contains(call) {
                    calls.push(call.clone());
                }
            }
            FlowBlock {
                id: shown[id],
                kind: kind(graph, &leaving[id], id, reachable[id]),
                lines: lines(id),
                calls,
            }
        })
        .collect();
    let real = || graph.edges.iter().filter(|edge| edge.view != View::Deciding);
    let edges: BTreeSet<FlowEdge> = real()
        .map(|edge| FlowEdge {
            from: shown[edge.from],
            to: shown[edge.to],
            kind: edge.kind,
            condition: edge.condition.clone(),
        })
        .collect();
    let mut goes_on = vec![false; graph.blocks.len()];
    real().for_each(|edge| goes_on[edge.from] = true);
    graph.exits.iter().filter(|exit| exit.view.is_real()).for_each(|exit| goes_on[exit.block] = false);
    let ends = order.iter().filter(|&&id| reachable[id] && !goes_on[id]);
    let mut exit_blocks: Vec<usize> = ends.map(|&id| shown[id]).collect();
    exit_blocks.sort_unstable();
    ControlFlow {
        function: name.to_owned(),
        cut: Cut { total: blocks.len(), ..Cut::default() },
        blocks,
        edges: edges.into_iter().collect(),
        entry_block: shown.first().copied().unwrap_or(0),
        exit_blocks,
        cyclomatic_complexity: body.decisions + 1,
        notes,
    }
}

fn kind(graph: &Graph, leaving: &[Leaving], id: usize, reachable: bool) -> BlockKind {
    let leaves = |kind| leaving.contains(&kind);
    match graph.blocks[id].role {
        _ if !reachable => BlockKind::Unreachable,
        Role::Branch => BlockKind::Branch,
        Role::LoopHeader => BlockKind::LoopHeader,
        Role::Handler => BlockKind::Handler,
        Role::Finally => BlockKind::Finally,
        Role::Deferred => BlockKind::Deferred,
        _ if leaves(Leaving::Return) => BlockKind::Return,
        _ if leaves(Leaving::Raise) => BlockKind::Raise,
        _ if id == 0 => BlockKind::Entry,
        _ if leaves(Leaving::End) => BlockKind::Exit,
        _ => BlockKind::Body,
    }
}

pub(super) fn data_flow(name: &str, body: &Body, flows: &[Flow], notes: Vec<String>) -> DataFlow {
    let given: BTreeSet<usize> = body
        .steps
        .iter()
        .flat_map(|step| &step.refs)
        .filter(|it| it.access != Access::Use)
        .map(|it| it.var)
        .collect();
    let show = |place: Place| {
        let it = &body.steps[place.step].refs[place.at];
        let kind = match it.access {
            Access::Use => RefKind::Use,
            Access::Define => RefKind::Definition,
            Access::Redefine | Access::Update => RefKind::Update,
        };
        let var = &body.vars[it.var];
        // A name that nothing here gives a value, written like a type or a constant, is no variable of this function.
        let foreign = var.name.starts_with(char::is_uppercase) && !given.contains(&it.var);
        (!var.hidden && !foreign).then(|| Reference {
            name: var.name.clone(),
            kind,
            line: it.line,
            column: it.column,
        })
    };
    let places = || {
        body.steps
            .iter()
            .enumerate()
            .flat_map(|(step, it)| (0..it.refs.len()).map(move |at| Place { step, at }))
    };
    let by_place = |it: &Reference| (it.line, it.column, it.kind, it.name.clone());
    let mut refs: Vec<Reference> = places().filter_map(show).collect();
    refs.sort_by_key(by_place);
    refs.dedup();
    let variables: BTreeSet<String> = refs.iter().map(|it| it.name.clone()).collect();
    let mut edges: Vec<ValueFlow> = flows
        .iter()
        .filter_map(|flow| {
            let (def, used) = (show(flow.from)?, show(flow.to)?);
            Some(ValueFlow { var: def.name.clone(), def_line: def.line, use_line: used.line, def, used })
        })
        .collect();
    edges.sort_by_key(|it| (by_place(&it.def), by_place(&it.used)));
    edges.dedup();
    let cut = Cut { total: variables.len(), ..Cut::default() };
    DataFlow {
        function: name.to_owned(),
        refs,
        edges,
        variables: variables.into_iter().collect(),
        notes,
        cut,
    }
}

pub(super) fn slice(
    name: &str,
    criterion: &Criterion,
    source: &[u8],
    lines: Lines,
    notes: Vec<String>,
) -> Slice {
    let texts: Vec<&[u8]> = source.split(|byte| *byte == b'\n').collect();
    let content = |line: usize| {
        let bytes = texts.get(line - 1).copied().unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_end().to_owned()
    };
    let slice_lines: Vec<SliceLine> = lines
        .into_iter()
        .map(|(line, reason)| SliceLine {
            line,
            content: content(line),
            dependency: reason.kind,
            var: reason.var,
            of: (reason.kind != Dependency::Criterion).then_some(reason.line),
        })
        .collect();
    Slice {
        function: name.to_owned(),
        criterion: criterion.line,
        direction: criterion.direction,
        var: criterion.var.clone(),
        lines: slice_lines.iter().map(|it| it.line).collect(),
        count: slice_lines.len(),
        cut: Cut { total: slice_lines.len(), ..Cut::default() },
        slice_lines,
        notes,
    }
}
