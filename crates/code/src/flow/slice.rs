//! Slices: what a line depends on, or what depends on it, through values and through decisions.

use std::collections::BTreeMap;

use super::data::{self, Place};
use super::form::{Access, Body, StepId};
use super::graph::{BlockId, Cause, Graph, Role, controllers};

/// One step of a slice: why it is there, and for which step.
#[derive(Debug, Clone)]
pub(crate) struct Reason {
    pub(crate) kind: Dependency,
    /// The variable that carries a value.
    pub(crate) var: Option<String>,
    /// The line on the other side of the dependency.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dependency {
    Criterion,
    Data,
    Control,
}

/// What depends on what, between steps.
pub(crate) struct Dependences {
    data: Vec<(Place, Place)>,
    control: Vec<(StepId, StepId)>,
}

impl Dependences {
    pub(crate) fn of(body: &Body, graph: &Graph) -> Self {
        let data = data::flows(body, graph).into_iter().map(|flow| (flow.from, flow.to)).collect();
        Self { data, control: control(body, graph) }
    }

    pub(crate) fn data(&self) -> &[(Place, Place)] {
        &self.data
    }

    /// Everything that `seeds` depend on, with the reason first found.
    pub(crate) fn backward(&self, body: &Body, seeds: Seeds) -> Lines {
        let mut before: Vec<Vec<(StepId, Option<Place>)>> = vec![Vec::new(); body.steps.len()];
        for (from, to) in &self.data {
            before[to.step].push((from.step, Some(*from)));
        }
        for (from, to) in &self.control {
            before[*to].push((*from, None));
        }
        walk(body, seeds, &before)
    }

    /// Everything that depends on `seeds`.
    pub(crate) fn forward(&self, body: &Body, seeds: Seeds) -> Lines {
        let mut after: Vec<Vec<(StepId, Option<Place>)>> = vec![Vec::new(); body.steps.len()];
        for (from, to) in &self.data {
            after[from.step].push((to.step, Some(*to)));
        }
        for (from, to) in &self.control {
            after[*from].push((*to, None));
        }
        walk(body, seeds, &after)
    }
}

/// Where a slice begins.
#[derive(Default)]
pub(crate) struct Seeds {
    /// The steps of the criterion, all of whose dependences count.
    pub(crate) whole: Vec<StepId>,
    /// Lines shown as the criterion whose steps are not followed.
    pub(crate) shown: Vec<StepId>,
    /// References that one variable of the criterion leads to.
    pub(crate) through: Vec<Place>,
    pub(crate) line: usize,
}

/// The lines of a slice and why each is in it.
pub(crate) type Lines = BTreeMap<usize, Reason>;

/// What was the criterion makes the function that the line is in.
pub(crate) fn makes(lines: &mut Lines, line: usize) {
    for reason in lines.values_mut().filter(|reason| reason.kind == Dependency::Criterion) {
        *reason = Reason { kind: Dependency::Control, var: None, line };
    }
}

fn walk(body: &Body, seeds: Seeds, next: &[Vec<(StepId, Option<Place>)>]) -> Lines {
    let mut lines = Lines::new();
    let criterion = Reason { kind: Dependency::Criterion, var: None, line: seeds.line };
    for &step in seeds.shown.iter().chain(&seeds.whole) {
        add(body, step, None, &criterion, &mut lines);
    }
    let mut seen = vec![false; body.steps.len()];
    let mut todo: std::collections::VecDeque<StepId> = std::collections::VecDeque::new();
    for &step in &seeds.whole {
        if !std::mem::replace(&mut seen[step], true) {
            todo.push_back(step);
        }
    }
    for place in seeds.through {
        let reason = because(body, Some(place), seeds.line);
        add(body, place.step, Some(place), &reason, &mut lines);
        if !std::mem::replace(&mut seen[place.step], true) {
            todo.push_back(place.step);
        }
    }
    while let Some(step) = todo.pop_front() {
        for &(other, place) in &next[step] {
            let reason = because(body, place, body.steps[step].lines.0);
            add(body, other, place, &reason, &mut lines);
            if !std::mem::replace(&mut seen[other], true) {
                todo.push_back(other);
            }
        }
    }
    lines
}

fn because(body: &Body, place: Option<Place>, line: usize) -> Reason {
    let var = place.map(|place| &body.vars[body.steps[place.step].refs[place.at].var]);
    let kind = if place.is_some() { Dependency::Data } else { Dependency::Control };
    Reason { kind, var: var.filter(|var| !var.hidden).map(|var| var.name.clone()), line }
}

fn add(body: &Body, step: StepId, place: Option<Place>, reason: &Reason, lines: &mut Lines) {
    let it = &body.steps[step];
    if step == 0 {
        // Of the header only the line of the parameter in question.
        let line = place.map_or(it.lines.0, |place| it.refs[place.at].line);
        lines.entry(line).or_insert_with(|| reason.clone());
        return;
    }
    for line in it.lines.0..=it.lines.1 {
        lines.entry(line).or_insert_with(|| reason.clone());
    }
}

/// Which step decides about which.
fn control(body: &Body, graph: &Graph) -> Vec<(StepId, StepId)> {
    let deciders = controllers(graph);
    let mut found = Vec::new();
    for (block, it) in graph.blocks.iter().enumerate() {
        let steps = deciding_steps(body, graph, &deciders, block);
        for &to in &it.steps {
            found.extend(steps.iter().map(|&from| (from, to)));
        }
    }
    for it in &graph.headed {
        let own = graph.blocks[it.block].steps.iter().skip_while(|step| **step != it.head).skip(1);
        let further = it.further.clone().flat_map(|block| &graph.blocks[block].steps);
        found.extend(own.chain(further).map(|&to| (it.head, to)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The steps that decide about a block; a hidden question is answered by its causes.
fn deciding_steps(body: &Body, graph: &Graph, deciders: &[Vec<BlockId>], block: BlockId) -> Vec<StepId> {
    let mut steps = Vec::new();
    let mut seen = vec![false; graph.blocks.len()];
    let mut todo = deciders[block].clone();
    while let Some(decider) = todo.pop() {
        if std::mem::replace(&mut seen[decider], true) {
            continue;
        }
        if graph.blocks[decider].role != Role::Hidden {
            steps.extend(graph.blocks[decider].steps.last());
            continue;
        }
        todo.extend(&deciders[decider]);
        for (_, cause) in graph.causes.iter().filter(|(hidden, _)| *hidden == decider) {
            match cause {
                Cause::Raisers(blocks) => steps.extend(
                    blocks
                        .iter()
                        .flat_map(|it| &graph.blocks[*it].steps)
                        .filter(|it| body.steps[**it].may_raise),
                ),
                Cause::Jumps(blocks) => {
                    // A jump that an inner clean-up passed on comes from that one's question.
                    todo.extend(blocks.iter().filter(|it| graph.blocks[**it].role == Role::Hidden));
                    todo.extend(blocks.iter().flat_map(|it| &deciders[*it]));
                }
            }
        }
    }
    steps
}

/// The steps that a reader means by a line: the smallest that hold it.
pub(crate) fn steps_at(body: &Body, line: usize) -> Vec<StepId> {
    for covers in [false, true] {
        let span = |step: &StepId| {
            let it = &body.steps[*step];
            let last = if covers { it.covers.max(it.lines.1) } else { it.lines.1 };
            (it.lines.0 <= line && line <= last).then_some(last - it.lines.0)
        };
        let all = 0..body.steps.len();
        if let Some(smallest) = all.clone().filter_map(|step| span(&step)).min() {
            return all.filter(|step| span(step) == Some(smallest)).collect();
        }
    }
    Vec::new()
}

/// What `var` alone contributes at these steps, looking back.
pub(crate) fn seeds_back(
    body: &Body,
    graph: &Graph,
    deps: &Dependences,
    steps: &[StepId],
    name: &str,
    line: usize,
) -> Seeds {
    let mut seeds = Seeds { line, ..Seeds::default() };
    let vars: Vec<usize> = (0..body.vars.len()).filter(|&var| is_named(body, var, name)).collect();
    for &step in steps {
        let refs = &body.steps[step].refs;
        if refs.iter().any(|it| vars.contains(&it.var) && it.access != Access::Use) {
            seeds.whole.push(step);
            continue;
        }
        seeds.shown.push(step);
        let uses = |place: &Place| place.step == step && vars.contains(&refs[place.at].var);
        let mut through: Vec<Place> =
            deps.data().iter().filter(|(_, to)| uses(to)).map(|(from, _)| *from).collect();
        if !refs.iter().any(|it| vars.contains(&it.var)) {
            through = data::holding_before(body, graph, step, &vars);
        }
        seeds.through.extend(through);
    }
    seeds
}

/// What `var` alone contributes at these steps, looking on.
pub(crate) fn seeds_on(body: &Body, deps: &Dependences, steps: &[StepId], name: &str, line: usize) -> Seeds {
    let mut seeds = Seeds { line, ..Seeds::default() };
    for &step in steps {
        let refs = &body.steps[step].refs;
        let names = |at: usize| is_named(body, refs[at].var, name);
        if (0..refs.len()).any(|at| names(at) && refs[at].access != Access::Use) {
            seeds.shown.push(step);
            let from_here = |from: &Place| from.step == step && names(from.at);
            seeds.through.extend(deps.data().iter().filter(|(from, _)| from_here(from)).map(|(_, to)| *to));
        } else if (0..refs.len()).any(names) {
            seeds.whole.push(step);
        } else {
            seeds.shown.push(step);
        }
    }
    seeds
}

/// `x` names the variable and everything below it; `x.y` only that.
pub(crate) fn is_named(body: &Body, var: usize, name: &str) -> bool {
    let own = &body.vars[var];
    !own.hidden && (own.name == name || own.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}
