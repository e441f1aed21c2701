//! Blocks and edges of one function, in two views: what may really follow what, and what decides about what.
//!
//! An exception may come from nearly every step. The real view has an edge for each; in the deciding view a
//! guarded body is one question ("did it raise?") asked at its end, or nothing after a call would ever be free of it.

mod build;
mod control;

pub(crate) use build::build;
pub(crate) use control::controllers;

use super::form::StepId;

pub(crate) type BlockId = usize;

#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) blocks: Vec<Block>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) exits: Vec<Exit>,
    pub(crate) causes: Vec<(BlockId, Cause)>,
    /// Heads that nothing can fail at, and still belong to what runs under them.
    pub(crate) headed: Vec<Headed>,
    /// Labels that a `goto` names and nothing carries.
    pub(crate) lost: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) steps: Vec<StepId>,
    pub(crate) role: Role,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Body,
    Branch,
    LoopHeader,
    Handler,
    Finally,
    Deferred,
    /// A question that no source line asks; only in the deciding view.
    Hidden,
}

#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) from: BlockId,
    pub(crate) to: BlockId,
    pub(crate) kind: EdgeKind,
    pub(crate) condition: Option<String>,
    pub(crate) view: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    Unconditional,
    True,
    False,
    Iterate,
    Exhausted,
    BackEdge,
    Break,
    Continue,
    Case,
    Default,
    Fallthrough,
    Exception,
    Finally,
    Defer,
    Goto,
    Retry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Both,
    Real,
    Deciding,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Exit {
    pub(crate) block: BlockId,
    pub(crate) kind: Leaving,
    pub(crate) view: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    Return,
    Raise,
    /// Off the end.
    End,
}

/// The head of a handler or an arm, and what runs only under it: the rest of its own block, and further blocks.
#[derive(Debug)]
pub(crate) struct Headed {
    pub(crate) head: StepId,
    pub(crate) block: BlockId,
    pub(crate) further: std::ops::Range<BlockId>,
}

/// What answers a hidden question.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The steps of these blocks that may raise.
    Raisers(Vec<BlockId>),
    /// Whatever decides that these blocks run.
    Jumps(Vec<BlockId>),
}

impl View {
    pub(crate) fn is_real(self) -> bool {
        self != Self::Deciding
    }

    pub(crate) fn decides(self) -> bool {
        self != Self::Real
    }

    /// What two restrictions leave, if anything.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Both, view) | (view, Self::Both) => Some(view),
            (a, b) if a == b => Some(a),
            _ => None,
        }
    }
}

impl Graph {
    /// Which blocks can run at all.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        let next = self.successors(View::is_real);
        let mut seen = vec![false; self.blocks.len()];
        let mut todo = vec![0];
        while let Some(block) = todo.pop() {
            if !std::mem::replace(&mut seen[block], true) {
                todo.extend(&next[block]);
            }
        }
        seen
    }

    pub(crate) fn successors(&self, wanted: fn(View) -> bool) -> Vec<Vec<BlockId>> {
        let mut next = vec![Vec::new(); self.blocks.len()];
        for edge in self.edges.iter().filter(|edge| wanted(edge.view)) {
            next[edge.from].push(edge.to);
        }
        next
    }
}
