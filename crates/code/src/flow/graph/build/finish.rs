//! The end of a function: what was deferred runs, and jumps to labels find them.

use super::{Builder, Frame, Loose, edge};
use crate::flow::graph::{EdgeKind, Exit, Graph, Leaving, Role};

impl Builder<'_> {
    pub(super) fn finish(mut self) -> Graph {
        for end in self.detach() {
            self.leave(end.from, Leaving::End, end.view);
        }
        let deferred = std::mem::take(&mut self.deferred);
        let mut into: Vec<Loose> = Vec::new();
        let exits = std::mem::take(&mut self.exits);
        for (place, it) in deferred.iter().enumerate().rev() {
            into.extend(
                exits
                    .iter()
                    .filter(|(_, known)| *known == place + 1)
                    .map(|(exit, _)| Loose { view: exit.view, ..edge(exit.block, EdgeKind::Defer, "") }),
            );
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
                Some(&to) => self.link(Loose { view, ..edge(from, EdgeKind::Goto, "") }, to),
                None => self.graph.lost.push(label),
            }
        }
        self.graph
    }
}
