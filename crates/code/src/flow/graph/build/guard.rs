//! Guarded bodies: handlers, clean-up and resources. An exception leads to them from every block that may raise; what
//! decides is one question after the body.

use super::{Builder, Frame, Loose, edge, only, thrown};
use crate::flow::form::{Jump, StepId, Stmt, Swallows, Try};
use crate::flow::graph::{BlockId, Cause, EdgeKind, Leaving, Role, View};

impl<'a> Builder<'a> {
    pub(super) fn guarded(&mut self, it: &'a Try) {
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
        let origins = self.origins(&sources);
        let (asked, onward) = self.did_it_raise(&sources, origins.clone());
        let mut into: Vec<Loose> = sources.iter().map(|&from| thrown(from, View::Real)).collect();
        into.extend(raised);
        into.push(asked);
        self.retries.push(start);
        let mut ends = Vec::new();
        for (place, handler) in it.handlers.iter().enumerate() {
            self.attach(into);
            self.split();
            let head = self.step(handler.head);
            self.graph.blocks[head].role = Role::Handler;
            into = Vec::new();
            let last = place + 1 == it.handlers.len();
            if !(last && handler.catches_all) {
                self.attach(vec![edge(head, EdgeKind::True, &handler.text)]);
                if last {
                    self.passed_on.entry(head).or_default().extend(&origins);
                    self.raises(head);
                } else {
                    into = vec![edge(head, EdgeKind::False, &handler.text)];
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

    /// The question at the end of a guarded body: the way from it to the handlers, and the ways on.
    fn did_it_raise(&mut self, sources: &[BlockId], origins: Vec<BlockId>) -> (Loose, Vec<Loose>) {
        let question = self.hidden();
        let asked = Loose { view: View::Deciding, ..edge(question, EdgeKind::Unconditional, "") };
        let mut onward = Vec::new();
        for end in self.detach() {
            if end.view.decides() {
                self.link(Loose { view: View::Deciding, ..end.clone() }, question);
            }
            if end.view.is_real() {
                onward.push(Loose { view: View::Real, ..end });
            }
        }
        if onward.is_empty() {
            // Nothing reaches the end: whatever may raise asks on its own.
            for &from in sources {
                self.link(Loose { from, ..asked.clone() }, question);
            }
            self.leave(question, Leaving::End, View::Deciding);
        } else {
            onward.push(asked.clone());
        }
        self.graph.causes.push((question, Cause::Raisers(origins)));
        (asked, onward)
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

    /// Clean-up is there once, and every way into it has its own way on.
    fn finally(&mut self, list: &'a [Stmt], start: BlockId) {
        let Some(Frame::Finally { sources, pending }) = self.frames.pop() else { return };
        let sources = self.some_source(sources, false, start);
        let mut into = self.detach();
        let goes_on: Vec<View> = into.iter().map(|end| end.view).collect();
        into.extend(
            pending.iter().map(|(from, view, _)| Loose { view: *view, ..edge(*from, EdgeKind::Finally, "") }),
        );
        into.extend(sources.iter().map(|&from| thrown(from, View::Real)));
        self.attach(into);
        self.split();
        self.role = Role::Finally;
        self.list(list);
        let ends = self.detach();
        if ends.is_empty() {
            return;
        }
        let jumps = distinct(&pending);
        let ways = usize::from(goes_on.iter().any(|view| view.decides()))
            + jumps.iter().filter(|(view, _)| view.decides()).count();
        let mut both = only(&ends, View::Real);
        both.extend(if ways > 1 { self.which_way(&ends, &pending) } else { only(&ends, View::Deciding) });
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
        both.retain(|end| goes_on.iter().any(|view| view.and(end.view).is_some()));
        self.attach(both);
    }

    /// The question after clean-up that several ways lead into.
    fn which_way(&mut self, ends: &[Loose], pending: &[(BlockId, View, Jump)]) -> Vec<Loose> {
        let question = self.hidden();
        for end in only(ends, View::Deciding) {
            self.link(end, question);
        }
        let jumps = pending.iter().map(|(from, ..)| *from).collect();
        self.graph.causes.push((question, Cause::Jumps(jumps)));
        vec![Loose { view: View::Deciding, ..edge(question, EdgeKind::Unconditional, "") }]
    }

    pub(super) fn with(&mut self, head: StepId, body: &'a [Stmt], swallows: Swallows) {
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
}

/// Each jump once, in every view that it is made in.
fn distinct(pending: &[(BlockId, View, Jump)]) -> Vec<(View, &Jump)> {
    let mut jumps: Vec<(View, &Jump)> = Vec::new();
    for (_, view, jump) in pending {
        match jumps.iter_mut().find(|(_, known)| *known == jump) {
            Some((known, _)) if *known == *view => {}
            Some((known, _)) => *known = View::Both,
            None => jumps.push((*view, jump)),
        }
    }
    jumps
}
