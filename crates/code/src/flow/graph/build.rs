//! From the structured form to blocks. Blocks are opened by their first step, so none is empty; until then the
//! edges that will lead to it hang loose.

use std::collections::HashMap;

use super::{Block, BlockId, Cause, Edge, EdgeKind, Exit, Graph, Headed, Leaving, Role, View};
use crate::flow::form::{Body, Jump, Loop, LoopKind, Step, StepId, Stmt, Swallows, Switch, Test, Truth, Try};

pub(crate) fn build(body: &Body) -> Graph {
    let mut builder = Builder { steps: &body.steps, ..Builder::default() };
    builder.list(&body.code);
    builder.finish()
}

#[derive(Default)]
struct Builder<'a> {
    steps: &'a [Step],
    graph: Graph,
    at: Option<BlockId>,
    loose: Vec<Loose>,
    /// The role of the next block to open.
    role: Role,
    frames: Vec<Frame>,
    retries: Vec<BlockId>,
    /// Blocks that pass an exception on, and where it came from.
    passed_on: HashMap<BlockId, Vec<BlockId>>,
    labels: HashMap<&'a str, BlockId>,
    gotos: Vec<(BlockId, View, String)>,
    deferred: Vec<Deferred<'a>>,
    /// How many conditions we are inside of.
    conditions: usize,
    exits: Vec<(Exit, usize)>,
}

/// An edge whose end is not there yet.
#[derive(Debug, Clone)]
struct Loose {
    from: BlockId,
    kind: EdgeKind,
    condition: Option<String>,
    view: View,
}

struct Deferred<'a> {
    body: &'a [Stmt],
    conditional: bool,
}

/// What a jump or an exception meets on its way out.
enum Frame {
    /// A loop, a switch or a labelled block.
    Breakable {
        label: Option<String>,
        bare: Bare,
        breaks: Vec<Loose>,
        continues: Vec<Loose>,
        falls: Vec<Loose>,
    },
    Catch {
        sources: Vec<BlockId>,
        raised: Vec<Loose>,
    },
    Finally {
        sources: Vec<BlockId>,
        pending: Vec<(BlockId, View, Jump)>,
    },
    With {
        sources: Vec<BlockId>,
    },
    /// A function run in place: `return` ends it alone.
    Inline {
        returns: Vec<Loose>,
    },
}

/// Which jumps without a label a frame takes.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Bare {
    BreakAndContinue,
    Break,
    Neither,
}

impl<'a> Builder<'a> {
    fn list(&mut self, list: &'a [Stmt]) {
        for stmt in list {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Step(step) => {
                self.step(*step);
            }
            Stmt::Choice { arms, otherwise } => {
                let mut ends = Vec::new();
                for arm in arms {
                    self.list(&arm.lead);
                    let (yes, no) = self.test(&arm.test, EdgeKind::True, EdgeKind::False, Role::Branch);
                    self.attach(yes);
                    self.conditional(&arm.body);
                    ends.append(&mut self.detach());
                    self.attach(no);
                }
                self.conditional(otherwise);
                ends.append(&mut self.detach());
                self.attach(ends);
            }
            Stmt::Loop(it) => self.repeat(it),
            Stmt::Switch(it) => self.switch(it),
            Stmt::Try(it) => self.guarded(it),
            Stmt::With { head, body, swallows } => self.with(*head, body, *swallows),
            Stmt::Labelled { label, body } => {
                self.frames.push(breakable(Some(label.clone()), Bare::Neither));
                self.list(body);
                let Some(Frame::Breakable { mut breaks, .. }) = self.frames.pop() else { return };
                breaks.append(&mut self.detach());
                self.attach(breaks);
            }
            Stmt::Target(step, label) => {
                self.split();
                let block = self.step(*step);
                self.labels.insert(label, block);
            }
            Stmt::Defer { step, body } => {
                self.step(*step);
                self.deferred.push(Deferred { body, conditional: self.conditions > 0 });
            }
            Stmt::Jump(step, jump) => {
                let from = self.step(*step);
                self.at = None;
                self.jump(from, View::Both, jump);
            }
        }
    }

    fn conditional(&mut self, list: &'a [Stmt]) {
        self.conditions += 1;
        self.list(list);
        self.conditions -= 1;
    }

    fn test(&mut self, test: &Test, yes: EdgeKind, no: EdgeKind, role: Role) -> (Vec<Loose>, Vec<Loose>) {
        let from = self.step(test.step);
        if self.graph.blocks[from].role != Role::LoopHeader {
            self.graph.blocks[from].role = role;
        }
        self.at = None;
        let loose = |kind, not: Truth| {
            let condition = (!test.text.is_empty()).then(|| test.text.clone());
            if test.truth == not { vec![] } else { vec![Loose { from, kind, condition, view: View::Both }] }
        };
        (loose(yes, Truth::Never), loose(no, Truth::Always))
    }

    fn repeat(&mut self, it: &'a Loop) {
        let first = self.header();
        self.frames.push(breakable(it.label.clone(), Bare::BreakAndContinue));
        let (yes, no) = match it.kind {
            LoopKind::Each => (EdgeKind::Iterate, EdgeKind::Exhausted),
            LoopKind::While => (EdgeKind::True, EdgeKind::False),
            LoopKind::Until => (EdgeKind::BackEdge, EdgeKind::False),
        };
        let after = if it.kind == LoopKind::Until {
            self.list(&it.body);
            self.take_continues();
            self.list(&it.lead);
            let (again, after) = self.test(&it.test, yes, no, Role::Branch);
            self.close(again, first);
            after
        } else {
            self.list(&it.lead);
            let (enter, after) = self.test(&it.test, yes, no, Role::LoopHeader);
            self.attach(enter);
            self.conditional(&it.body);
            self.take_continues();
            self.list(&it.update);
            let ends = self.detach();
            self.close(ends, first);
            after
        };
        let Some(Frame::Breakable { mut breaks, .. }) = self.frames.pop() else { return };
        self.attach(after);
        self.conditional(&it.otherwise);
        breaks.append(&mut self.detach());
        self.attach(breaks);
    }

    /// The block that a loop comes back to: a new one, unless the current one is still empty.
    fn header(&mut self) -> BlockId {
        if self.at.is_none_or(|at| !self.graph.blocks[at].steps.is_empty()) {
            self.split();
        }
        let first = self.here();
        self.graph.blocks[first].role = Role::LoopHeader;
        first
    }

    fn take_continues(&mut self) {
        if let Some(Frame::Breakable { continues, .. }) = self.frames.last_mut() {
            let mut ends = std::mem::take(continues);
            ends.append(&mut self.detach());
            self.attach(ends);
        }
    }

    fn close(&mut self, ends: Vec<Loose>, first: BlockId) {
        for end in ends {
            let kind = if end.kind == EdgeKind::Unconditional { EdgeKind::BackEdge } else { end.kind };
            self.link(Loose { kind, ..end }, first);
        }
    }

    fn switch(&mut self, it: &'a Switch) {
        let head = self.step(it.subject);
        self.frames.push(breakable(it.label.clone(), if it.breaks { Bare::Break } else { Bare::Neither }));
        let mut ends = if it.ordered { self.ordered_arms(it) } else { self.picked_arms(it, head) };
        let Some(Frame::Breakable { breaks, .. }) = self.frames.pop() else { return };
        ends.extend(breaks);
        self.attach(ends);
    }

    /// Arms tried in order: a chain of tests. What falls out of an arm goes into the next one's body.
    fn ordered_arms(&mut self, it: &'a Switch) -> Vec<Loose> {
        let mut ends = Vec::new();
        let mut into: Vec<Vec<Loose>> = vec![Vec::new(); it.arms.len() + 1];
        let mut order: Vec<usize> = (0..it.arms.len()).collect();
        order.sort_by_key(|&at| it.arms[at].default);
        for (tried, at) in order.iter().copied().enumerate() {
            let arm = &it.arms[at];
            let test = self.step(arm.test);
            let last = tried + 1 == it.arms.len();
            let mut failed = Vec::new();
            if !arm.default {
                self.graph.blocks[test].role = Role::Branch;
                self.at = None;
                self.attach(vec![edge(test, EdgeKind::Case, &arm.text)]);
                if !(last && it.exhaustive) {
                    failed.push(edge(test, EdgeKind::False, &arm.text));
                }
            }
            if !into[at].is_empty() {
                let mut enter = self.detach();
                enter.append(&mut into[at]);
                self.attach(enter);
            }
            self.conditional(&arm.body);
            if arm.default {
                self.headed(arm.test, test);
            }
            ends.append(&mut self.detach());
            if let Some(Frame::Breakable { falls, .. }) = self.frames.last_mut() {
                into[at + 1].append(falls);
            }
            self.attach(failed);
        }
        ends.append(&mut self.detach());
        ends.extend(into.into_iter().flatten());
        ends
    }

    /// Arms picked by the subject: each may run on into the next.
    fn picked_arms(&mut self, it: &'a Switch, head: BlockId) -> Vec<Loose> {
        self.graph.blocks[head].role = Role::Branch;
        let (mut ends, mut ran_on) = (Vec::new(), Vec::new());
        for arm in &it.arms {
            let kind = if arm.default { EdgeKind::Default } else { EdgeKind::Case };
            self.attach(vec![edge(head, kind, &arm.text)]);
            let test = self.step(arm.test);
            if !ran_on.is_empty() {
                let mut into = self.detach();
                into.append(&mut ran_on);
                self.attach(into);
            }
            self.conditional(&arm.body);
            self.headed(arm.test, test);
            let end = self.detach();
            if arm.falls {
                ran_on.extend(end.into_iter().map(falling));
            } else {
                ends.extend(end);
            }
        }
        ends.extend(ran_on);
        if !it.exhaustive && !it.arms.iter().any(|arm| arm.default) {
            ends.push(edge(head, EdgeKind::Default, ""));
        }
        ends
    }

    fn guarded(&mut self, it: &'a Try) {
        let cleans = !it.finally.is_empty();
        if cleans {
            self.frames.push(Frame::Finally { sources: Vec::new(), pending: Vec::new() });
        }
        self.split();
        let start = self.graph.blocks.len();
        if it.handlers.is_empty() {
            self.list(&it.body);
            self.list(&it.otherwise);
        } else {
            self.frames.push(Frame::Catch { sources: Vec::new(), raised: Vec::new() });
            self.list(&it.body);
            self.handlers(it, start);
        }
        if cleans {
            self.finally(&it.finally, start);
        }
    }

    /// After a guarded body: its handlers, and what goes on without an exception.
    fn handlers(&mut self, it: &'a Try, start: BlockId) {
        let Some(Frame::Catch { sources, raised }) = self.frames.pop() else { return };
        let sources = self.some_source(sources, !raised.is_empty(), start);
        let question = self.hidden();
        let mut onward = Vec::new();
        for end in self.detach() {
            if end.view.decides() {
                self.link(Loose { view: View::Deciding, ..end.clone() }, question);
            }
            if end.view.is_real() {
                onward.push(Loose { view: View::Real, ..end });
            }
        }
        let asked =
            Loose { from: question, kind: EdgeKind::Unconditional, condition: None, view: View::Deciding };
        if onward.is_empty() {
            for &from in &sources {
                self.link(Loose { from, ..asked.clone() }, question);
            }
            self.leave(question, Leaving::End, View::Deciding);
        } else {
            onward.push(asked.clone());
        }
        let mut into: Vec<Loose> = sources.iter().map(|&from| thrown(from, View::Real)).collect();
        into.extend(raised);
        into.push(asked);
        let origins = self.origins(&sources);
        self.graph.causes.push((question, Cause::Raisers(origins.clone())));
        self.retries.push(start);
        let mut ends = Vec::new();
        for (place, handler) in it.handlers.iter().enumerate() {
            self.attach(into);
            self.split();
            self.role = Role::Handler;
            let head = self.step(handler.head);
            self.graph.blocks[head].role = Role::Handler;
            into = Vec::new();
            let last = place + 1 == it.handlers.len();
            if !(last && handler.catches_all) {
                self.at = None;
                let condition = (!handler.text.is_empty()).then(|| handler.text.clone());
                let branch =
                    |kind| Loose { from: head, kind, condition: condition.clone(), view: View::Both };
                self.attach(vec![branch(EdgeKind::True)]);
                if last {
                    self.passed_on.entry(head).or_default().extend(&origins);
                    self.raises(head);
                } else {
                    into = vec![branch(EdgeKind::False)];
                }
            }
            self.conditional(&handler.body);
            self.headed(handler.head, head);
            ends.append(&mut self.detach());
        }
        self.retries.pop();
        self.attach(onward);
        self.list(&it.otherwise);
        ends.append(&mut self.detach());
        self.attach(ends);
    }

    /// A guarded body is always taken to be able to raise: compilers do, and so would a reader.
    fn some_source(&self, mut sources: Vec<BlockId>, raised: bool, start: BlockId) -> Vec<BlockId> {
        sources.dedup();
        if sources.is_empty()
            && !raised
            && self.graph.blocks.get(start).is_some_and(|it| it.role != Role::Hidden)
        {
            sources.push(start);
        }
        sources
    }

    fn finally(&mut self, list: &'a [Stmt], start: BlockId) {
        let Some(Frame::Finally { sources, pending }) = self.frames.pop() else { return };
        let sources = self.some_source(sources, false, start);
        let normal = self.detach();
        let goes_on: Vec<View> = normal.iter().map(|end| end.view).collect();
        let mut into = normal;
        into.extend(pending.iter().map(|(from, view, _)| Loose {
            from: *from,
            kind: EdgeKind::Finally,
            condition: None,
            view: *view,
        }));
        into.extend(sources.iter().map(|&from| thrown(from, View::Real)));
        self.attach(into);
        self.split();
        self.role = Role::Finally;
        self.list(list);
        let ends = self.detach();
        if ends.is_empty() {
            return;
        }
        let mut jumps: Vec<(View, &Jump)> = Vec::new();
        for (_, view, jump) in &pending {
            match jumps.iter_mut().find(|(_, known)| *known == jump) {
                Some((known, _)) if *known == *view => {}
                Some((known, _)) => *known = View::Both,
                None => jumps.push((*view, jump)),
            }
        }
        let ways = usize::from(goes_on.iter().any(|view| view.decides()))
            + jumps.iter().filter(|(view, _)| view.decides()).count();
        let deciding = if ways > 1 {
            let question = self.hidden();
            for end in ends.iter().filter(|end| end.view.decides()) {
                self.link(Loose { view: View::Deciding, ..end.clone() }, question);
            }
            let froms = pending.iter().map(|(from, ..)| *from).collect();
            self.graph.causes.push((question, Cause::Jumps(froms)));
            vec![Loose {
                from: question,
                kind: EdgeKind::Unconditional,
                condition: None,
                view: View::Deciding,
            }]
        } else {
            only(&ends, View::Deciding)
        };
        let both: Vec<Loose> = only(&ends, View::Real).into_iter().chain(deciding).collect();
        for (view, jump) in jumps {
            for end in &both {
                if let Some(view) = end.view.and(view) {
                    self.jump(end.from, view, jump);
                }
            }
        }
        if !sources.is_empty() {
            let origins = self.origins(&sources);
            for end in only(&ends, View::Real) {
                self.passed_on.entry(end.from).or_default().extend(&origins);
                self.raises(end.from);
            }
        }
        let mut onward = Vec::new();
        if goes_on.iter().any(|view| view.is_real()) {
            onward.extend(both.iter().filter(|end| end.view.is_real()).cloned());
        }
        if goes_on.iter().any(|view| view.decides()) {
            onward.extend(both.iter().filter(|end| end.view.decides()).cloned());
        }
        self.attach(onward);
    }

    fn with(&mut self, head: StepId, body: &'a [Stmt], swallows: Swallows) {
        self.step(head);
        if swallows == Swallows::Never {
            return self.list(body);
        }
        self.split();
        self.frames.push(Frame::With { sources: Vec::new() });
        self.list(body);
        let Some(Frame::With { mut sources }) = self.frames.pop() else { return };
        sources.dedup();
        let mut ends = self.detach();
        if ends.is_empty() {
            ends.extend(sources.into_iter().map(|from| thrown(from, View::Both)));
        } else if swallows == Swallows::Expected {
            ends.extend(sources.into_iter().map(|from| thrown(from, View::Real)));
        }
        self.attach(ends);
    }

    fn jump(&mut self, from: BlockId, view: View, jump: &Jump) {
        let loose = |kind| Loose { from, kind, condition: None, view };
        for frame in self.frames.iter_mut().rev() {
            match (frame, jump) {
                (Frame::Finally { pending, .. }, jump) if *jump != Jump::Retry => {
                    return pending.push((from, view, jump.clone()));
                }
                (Frame::Catch { raised, .. }, Jump::Raise) => return raised.push(thrown(from, view)),
                (Frame::With { sources }, Jump::Raise) => sources.push(from),
                (Frame::Inline { returns }, Jump::Return) => {
                    return returns.push(loose(EdgeKind::Unconditional));
                }
                (Frame::Breakable { label, bare, breaks, .. }, Jump::Break(wanted))
                    if takes(label, wanted, *bare != Bare::Neither) =>
                {
                    return breaks.push(loose(EdgeKind::Break));
                }
                (Frame::Breakable { label, bare, continues, .. }, Jump::Continue(wanted))
                    if takes(label, wanted, *bare == Bare::BreakAndContinue) =>
                {
                    return continues.push(loose(EdgeKind::Continue));
                }
                (Frame::Breakable { falls, .. }, Jump::Fall) => {
                    return falls.push(loose(EdgeKind::Fallthrough));
                }
                _ => {}
            }
        }
        match jump {
            Jump::Goto(label) => self.gotos.push((from, view, label.clone())),
            Jump::Retry => {
                if let Some(&start) = self.retries.last() {
                    self.link(loose(EdgeKind::Retry), start);
                }
            }
            Jump::Raise => self.leave(from, Leaving::Raise, view),
            _ => self.leave(from, Leaving::Return, view),
        }
    }

    /// An exception that nobody wrote down may leave this block.
    fn raises(&mut self, from: BlockId) {
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Catch { sources, .. } | Frame::Finally { sources, .. } => return sources.push(from),
                Frame::With { sources } => sources.push(from),
                _ => {}
            }
        }
    }

    /// These blocks, and those that an exception had in truth come from.
    fn origins(&self, sources: &[BlockId]) -> Vec<BlockId> {
        let mut all = sources.to_vec();
        all.extend(sources.iter().filter_map(|it| self.passed_on.get(it)).flatten());
        all.sort_unstable();
        all.dedup();
        all
    }

    fn leave(&mut self, block: BlockId, kind: Leaving, view: View) {
        self.exits.push((Exit { block, kind, view }, self.deferred.len()));
    }

    fn headed(&mut self, head: StepId, block: BlockId) {
        self.graph.headed.push(Headed { head, block, further: block + 1..self.graph.blocks.len() });
    }

    fn finish(mut self) -> Graph {
        for end in self.detach() {
            self.leave(end.from, Leaving::End, end.view);
        }
        let deferred = std::mem::take(&mut self.deferred);
        let mut into: Vec<Loose> = Vec::new();
        let exits = std::mem::take(&mut self.exits);
        for (place, it) in deferred.iter().enumerate().rev() {
            into.extend(exits.iter().filter(|(_, known)| *known == place + 1).map(|(exit, _)| Loose {
                from: exit.block,
                kind: EdgeKind::Defer,
                condition: None,
                view: exit.view,
            }));
            if into.is_empty() {
                continue;
            }
            let skip = if it.conditional { into.clone() } else { Vec::new() };
            self.attach(into);
            self.split();
            self.role = Role::Deferred;
            self.frames.push(Frame::Inline { returns: Vec::new() });
            self.list(it.body);
            into = self.detach();
            if let Some(Frame::Inline { returns }) = self.frames.pop() {
                into.extend(returns);
            }
            into.extend(skip);
        }
        self.graph.exits.extend(exits.iter().filter(|(_, known)| *known == 0).map(|(exit, _)| *exit));
        self.graph.exits.extend(into.iter().map(|end| Exit {
            block: end.from,
            kind: Leaving::Return,
            view: end.view,
        }));
        for (from, view, label) in std::mem::take(&mut self.gotos) {
            match self.labels.get(label.as_str()) {
                Some(&to) => self.link(Loose { from, kind: EdgeKind::Goto, condition: None, view }, to),
                None => self.graph.lost.push(label),
            }
        }
        self.graph
    }

    fn step(&mut self, step: StepId) -> BlockId {
        let block = self.here();
        self.graph.blocks[block].steps.push(step);
        if self.steps[step].may_raise {
            self.raises(block);
        }
        block
    }

    fn here(&mut self) -> BlockId {
        if let Some(at) = self.at {
            return at;
        }
        let block = self.graph.blocks.len();
        self.graph.blocks.push(Block { steps: Vec::new(), role: std::mem::take(&mut self.role) });
        self.at = Some(block);
        for loose in std::mem::take(&mut self.loose) {
            self.link(loose, block);
        }
        block
    }

    fn hidden(&mut self) -> BlockId {
        self.graph.blocks.push(Block { steps: Vec::new(), role: Role::Hidden });
        self.graph.blocks.len() - 1
    }

    /// The next step opens a block of its own.
    fn split(&mut self) {
        let loose = self.detach();
        self.attach(loose);
    }

    fn detach(&mut self) -> Vec<Loose> {
        let mut loose = std::mem::take(&mut self.loose);
        if let Some(from) = self.at.take() {
            loose.push(Loose { from, kind: EdgeKind::Unconditional, condition: None, view: View::Both });
        }
        loose
    }

    fn attach(&mut self, loose: Vec<Loose>) {
        self.at = None;
        self.loose = loose;
    }

    fn link(&mut self, loose: Loose, to: BlockId) {
        let Loose { from, kind, condition, view } = loose;
        self.graph.edges.push(Edge { from, to, kind, condition, view });
    }
}

fn breakable(label: Option<String>, bare: Bare) -> Frame {
    Frame::Breakable { label, bare, breaks: Vec::new(), continues: Vec::new(), falls: Vec::new() }
}

fn takes(label: &Option<String>, wanted: &Option<String>, bare: bool) -> bool {
    if wanted.is_some() { label == wanted } else { bare }
}

fn edge(from: BlockId, kind: EdgeKind, text: &str) -> Loose {
    Loose { from, kind, condition: (!text.is_empty()).then(|| text.to_owned()), view: View::Both }
}

fn thrown(from: BlockId, view: View) -> Loose {
    Loose { from, kind: EdgeKind::Exception, condition: None, view }
}

fn falling(end: Loose) -> Loose {
    let kind = if end.kind == EdgeKind::Unconditional { EdgeKind::Fallthrough } else { end.kind };
    Loose { kind, ..end }
}

fn only(ends: &[Loose], wanted: View) -> Vec<Loose> {
    ends.iter().filter_map(|end| end.view.and(wanted).map(|view| Loose { view, ..end.clone() })).collect()
}
