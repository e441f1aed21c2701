//! Switches and matches: arms tried in order, or picked by the subject.

use super::{Bare, Builder, Frame, Loose, breakable, edge, falling};
use crate::flow::form::Switch;
use crate::flow::graph::{BlockId, EdgeKind, Role};

impl<'a> Builder<'a> {
    pub(super) fn switch(&mut self, it: &'a Switch) {
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
                if !arm.is_closed {
                    self.attach(vec![edge(test, EdgeKind::Case, &arm.text)]);
                }
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
}
