//! From the structured form to blocks. Blocks are opened by their first step, so none is empty; until then the
//! edges that will lead to it hang loose.

mod arms;
mod finish;
mod guard;

use std::collections::HashMap;

use super::{Block, BlockId, Edge, EdgeKind, Exit, Graph, Headed, Leaving, Role, View};
use crate::flow::form::{Body, Jump, Loop, LoopKind, Step, StepId, Stmt, Test, Truth};

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
