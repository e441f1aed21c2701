//! A part of an answer, where all of it is too much: whole blocks with the ways that leave them, whole variables with all
//! that happens to them, whole lines. Nothing here computes.

use std::mem::take;

use super::view::{ControlFlow, DataFlow, Slice};
use crate::query::budget::size;
use crate::query::{Answer, Cut};

impl Answer for ControlFlow {
    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn weight(&self, item: usize) -> usize {
        let block = &self.blocks[item];
        let ways = self.edges.iter().filter(|edge| edge.from == block.id).map(|edge| size(edge) + 1);
        let leaves = if self.exit_blocks.contains(&block.id) { size(&block.id) + 1 } else { 0 };
        size(block) + ways.sum::<usize>() + leaves
    }

    fn envelope(&mut self) -> usize {
        let bulk = (take(&mut self.blocks), take(&mut self.edges), take(&mut self.exit_blocks));
        let envelope = size(self);
        (self.blocks, self.edges, self.exit_blocks) = bulk;
        envelope
    }

    fn keep(&mut self, from: usize, count: usize, cut: Cut) {
        self.blocks = self.blocks.drain(from..from + count).collect();
        let kept = |id: usize| self.blocks.binary_search_by_key(&id, |block| block.id).is_ok();
        self.edges.retain(|edge| kept(edge.from));
        self.exit_blocks.retain(|id| kept(*id));
        self.cut = cut;
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Answer for DataFlow {
    fn count(&self) -> usize {
        self.variables.len()
    }

    fn weight(&self, item: usize) -> usize {
        let name = &self.variables[item];
        let refs = self.refs.iter().filter(|it| it.name == *name).map(|it| size(it) + 1);
        let edges = self.edges.iter().filter(|it| it.var == *name).map(|it| size(it) + 1);
        size(name) + refs.sum::<usize>() + edges.sum::<usize>()
    }

    fn envelope(&mut self) -> usize {
        let bulk = (take(&mut self.variables), take(&mut self.refs), take(&mut self.edges));
        let envelope = size(self);
        (self.variables, self.refs, self.edges) = bulk;
        envelope
    }

    fn keep(&mut self, from: usize, count: usize, cut: Cut) {
        self.variables = self.variables.drain(from..from + count).collect();
        self.refs.retain(|it| self.variables.binary_search(&it.name).is_ok());
        self.edges.retain(|it| self.variables.binary_search(&it.var).is_ok());
        self.cut = cut;
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Answer for Slice {
    fn count(&self) -> usize {
        self.slice_lines.len()
    }

    fn weight(&self, item: usize) -> usize {
        size(&self.slice_lines[item]) + size(&self.slice_lines[item].line) + 1
    }

    fn envelope(&mut self) -> usize {
        let bulk = (take(&mut self.slice_lines), take(&mut self.lines));
        let envelope = size(self);
        (self.slice_lines, self.lines) = bulk;
        envelope
    }

    fn keep(&mut self, from: usize, count: usize, cut: Cut) {
        self.slice_lines = self.slice_lines.drain(from..from + count).collect();
        self.lines = self.slice_lines.iter().map(|it| it.line).collect();
        self.count = self.lines.len();
        self.cut = cut;
    }

    fn text(&self) -> String {
        self.to_string()
    }
}
