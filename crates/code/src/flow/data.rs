//! Reaching definitions: which value a read may see. A definition is followed forward, block by block, until on every
//! way something overwrites it.

use super::form::{Access, Body, Ref, StepId, VarId};
use super::graph::{BlockId, EdgeKind, Graph, View};

/// A read and a definition it may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Flow {
    pub(crate) from: Place,
    pub(crate) to: Place,
}

/// A reference: its step and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) step: StepId,
    pub(crate) at: usize,
}

/// Every pair of a definition and a use that it reaches.
pub(crate) fn flows(body: &Body, graph: &Graph) -> Vec<Flow> {
    let reach = Reach::new(body, graph);
    let mut found = Vec::new();
    for block in 0..graph.blocks.len() {
        for (index, event) in reach.events[block].iter().enumerate() {
            let Event::Ref(place, it) = event else { continue };
            if it.access != Access::Use {
                reach.follow(block, index, *place, it.var, &mut found);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The definitions of `var` that hold just before `step` runs.
pub(crate) fn holding_before(body: &Body, graph: &Graph, step: StepId, vars: &[VarId]) -> Vec<Place> {
    let probes: Vec<Ref> =
        vars.iter().map(|&var| Ref { var, access: Access::Use, line: 0, column: 0 }).collect();
    let mut reach = Reach::new(body, graph);
    let place = |at| Place { step, at: usize::MAX - at };
    for events in &mut reach.events {
        let first = events.iter().position(|event| matches!(event, Event::Start(it) if *it == step));
        if let Some(first) = first {
            for (at, probe) in probes.iter().enumerate() {
                events.insert(first, Event::Ref(place(at), *probe));
            }
        }
    }
    let mut found = Vec::new();
    for (block, events) in reach.events.iter().enumerate() {
        for (index, event) in events.iter().enumerate() {
            if let Event::Ref(at, it) = event
                && it.access != Access::Use
            {
                reach.follow(block, index, *at, it.var, &mut found);
            }
        }
    }
    let mut places: Vec<Place> = found
        .into_iter()
        .filter(|flow| flow.to.at > usize::MAX - probes.len() - 1 && flow.to.step == step)
        .map(|flow| flow.from)
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

enum Event {
    Start(StepId),
    Ref(Place, Ref),
    /// An exception may leave here.
    Raise,
}

struct Reach<'a> {
    body: &'a Body,
    events: Vec<Vec<Event>>,
    next: Vec<Vec<BlockId>>,
    thrown: Vec<Vec<BlockId>>,
    /// For each block, which roots it mentions: a definition of another passes through untouched.
    mentions: Vec<Vec<VarId>>,
    roots: Vec<VarId>,
    relatives: Vec<Vec<VarId>>,
}

impl<'a> Reach<'a> {
    fn new(body: &'a Body, graph: &Graph) -> Self {
        let roots: Vec<VarId> = (0..body.vars.len()).map(|var| root(body, var)).collect();
        let mut relatives = vec![Vec::new(); body.vars.len()];
        let used: std::collections::BTreeSet<VarId> = body
            .steps
            .iter()
            .flat_map(|step| &step.refs)
            .filter(|it| it.access == Access::Use)
            .map(|it| it.var)
            .collect();
        for var in used {
            relatives[roots[var]].push(var);
        }
        let (mut next, mut thrown) =
            (vec![Vec::new(); graph.blocks.len()], vec![Vec::new(); graph.blocks.len()]);
        for edge in graph.edges.iter().filter(|edge| edge.view != View::Deciding) {
            let list = if edge.kind == EdgeKind::Exception { &mut thrown } else { &mut next };
            list[edge.from].push(edge.to);
        }
        let events: Vec<Vec<Event>> = graph.blocks.iter().map(|block| events(body, &block.steps)).collect();
        let mentions = events.iter().map(|list| mentioned(list, &roots)).collect();
        Self { body, events, next, thrown, mentions, roots, relatives }
    }

    /// Adds the uses that the definition at `index` of `block` reaches.
    fn follow(&self, block: BlockId, index: usize, from: Place, var: VarId, found: &mut Vec<Flow>) {
        let mut longest: Vec<VarId> =
            self.relatives[self.roots[var]].iter().filter_map(|&used| self.body.longer(var, used)).collect();
        longest.push(var);
        longest.sort_unstable();
        longest.dedup();
        for long in longest {
            let mut seen = vec![false; self.events.len()];
            let mut todo = self.run(block, index + 1, from, var, long, found);
            while let Some(block) = todo.pop() {
                if std::mem::replace(&mut seen[block], true) {
                    continue;
                }
                if self.mentions[block].binary_search(&self.roots[var]).is_ok() {
                    todo.extend(self.run(block, 0, from, var, long, found));
                } else {
                    todo.extend(&self.next[block]);
                    todo.extend(&self.thrown[block]);
                }
            }
        }
    }

    /// Follows through one block from `start`; gives the blocks it goes on to.
    fn run(
        &self,
        block: BlockId,
        start: usize,
        from: Place,
        var: VarId,
        long: VarId,
        found: &mut Vec<Flow>,
    ) -> Vec<BlockId> {
        let mut raised = false;
        let mut onward = Vec::new();
        for event in &self.events[block][start..] {
            match event {
                Event::Start(_) => {}
                Event::Raise => raised = true,
                Event::Ref(to, it) => match it.access {
                    Access::Use => {
                        if self.roots[it.var] == self.roots[var]
                            && self.body.longer(var, it.var) == Some(long)
                        {
                            found.push(Flow { from, to: *to });
                        }
                    }
                    Access::Define | Access::Redefine => {
                        if self.roots[it.var] == self.roots[var] && self.body.is_prefix(it.var, long) {
                            if raised {
                                onward.extend(&self.thrown[block]);
                            }
                            return onward;
                        }
                    }
                    Access::Update => {}
                },
            }
        }
        onward.extend(&self.next[block]);
        // A block that leads to a handler although nothing in it is known to raise passes on what it has at its end.
        if raised || !self.events[block].iter().any(|event| matches!(event, Event::Raise)) {
            onward.extend(&self.thrown[block]);
        }
        onward
    }
}

fn events(body: &Body, steps: &[StepId]) -> Vec<Event> {
    let mut list = Vec::new();
    for &step in steps {
        let it = &body.steps[step];
        list.push(Event::Start(step));
        if it.may_raise {
            list.push(Event::Raise);
        }
        list.extend(it.refs.iter().enumerate().map(|(at, it)| Event::Ref(Place { step, at }, *it)));
        let changes = it.refs.iter().filter(|it| it.access != Access::Use).count();
        let partial = it.refs.iter().any(|it| it.access == Access::Update);
        if it.may_raise && (changes > 1 || partial) {
            // The exception may come after the first of several changes.
            list.push(Event::Raise);
        }
    }
    list
}

fn mentioned(list: &[Event], roots: &[VarId]) -> Vec<VarId> {
    let mut found: Vec<VarId> = list
        .iter()
        .filter_map(|event| if let Event::Ref(_, it) = event { Some(roots[it.var]) } else { None })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn root(body: &Body, var: VarId) -> VarId {
    let mut at = var;
    while let Some(parent) = body.vars[at].parent {
        at = parent;
    }
    at
}
