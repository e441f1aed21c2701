//! Which blocks decide whether a block runs: post-dominators of the deciding view (Cooper, Harvey and Kennedy's
//! iteration over a reverse order), then Ferrante's walk up the tree.

use super::{BlockId, Graph, Role, View};

/// For every block, the blocks whose last step decides about it.
pub(crate) fn controllers(graph: &Graph) -> Vec<Vec<BlockId>> {
    let (next, exit) = with_exit(graph);
    let parent = post_dominators(&next, exit);
    let mut deciders = vec![Vec::new(); graph.blocks.len()];
    for (from, targets) in next.iter().enumerate().take(exit) {
        if targets.len() < 2 {
            continue;
        }
        for &to in targets {
            let mut runner = to;
            while runner != exit && runner != parent[from] {
                if deciders[runner].last() != Some(&from) {
                    deciders[runner].push(from);
                }
                runner = parent[runner];
            }
        }
    }
    for list in &mut deciders {
        list.sort_unstable();
        list.dedup();
    }
    deciders
}

/// Successors in the deciding view with one common exit, which every block reaches: a loop without end is given
/// a way out at its header, as if it could be stopped there.
fn with_exit(graph: &Graph) -> (Vec<Vec<BlockId>>, BlockId) {
    let exit = graph.blocks.len();
    let mut next = graph.successors(View::decides);
    next.push(Vec::new());
    for leaving in graph.exits.iter().filter(|leaving| leaving.view.decides()) {
        next[leaving.block].push(exit);
    }
    for targets in next.iter_mut().take(exit) {
        if targets.is_empty() {
            targets.push(exit);
        }
        targets.sort_unstable();
        targets.dedup();
    }
    let mut reaches = vec![false; exit + 1];
    let mut previous = reversed(&next);
    spread(&previous, &mut reaches, exit);
    while let Some(stuck) = (0..exit)
        .filter(|&block| !reaches[block])
        .max_by_key(|&block| (graph.blocks[block].role == Role::LoopHeader, std::cmp::Reverse(block)))
    {
        next[stuck].push(exit);
        previous[exit].push(stuck);
        spread(&previous, &mut reaches, stuck);
    }
    (next, exit)
}

fn spread(previous: &[Vec<BlockId>], reaches: &mut [bool], from: BlockId) {
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut reaches[block], true) {
            todo.extend(&previous[block]);
        }
    }
}

fn post_dominators(next: &[Vec<BlockId>], exit: BlockId) -> Vec<BlockId> {
    let order = backward_order(&reversed(next), exit);
    let mut place = vec![usize::MAX; next.len()];
    for (at, &block) in order.iter().enumerate() {
        place[block] = at;
    }
    let mut parent = vec![usize::MAX; next.len()];
    parent[exit] = exit;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let mut meet = usize::MAX;
            for &to in &next[block] {
                if parent[to] == usize::MAX {
                    continue;
                }
                meet = if meet == usize::MAX { to } else { common(&parent, &place, meet, to) };
            }
            if parent[block] != meet {
                parent[block] = meet;
                changed = true;
            }
        }
    }
    parent
}

fn common(parent: &[BlockId], place: &[usize], mut a: BlockId, mut b: BlockId) -> BlockId {
    while a != b {
        while place[a] > place[b] {
            a = parent[a];
        }
        while place[b] > place[a] {
            b = parent[b];
        }
    }
    a
}

/// Reverse post-order of the reversed graph, from the exit.
fn backward_order(previous: &[Vec<BlockId>], exit: BlockId) -> Vec<BlockId> {
    let mut seen = vec![false; previous.len()];
    let mut order = Vec::with_capacity(previous.len());
    let mut path = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, child)) = path.last_mut() {
        if let Some(&next) = previous[*block].get(*child) {
            *child += 1;
            if !std::mem::replace(&mut seen[next], true) {
                path.push((next, 0));
            }
        } else {
            order.push(*block);
            path.pop();
        }
    }
    order.reverse();
    order
}

fn reversed(next: &[Vec<BlockId>]) -> Vec<Vec<BlockId>> {
    let mut previous = vec![Vec::new(); next.len()];
    for (from, targets) in next.iter().enumerate() {
        for &to in targets {
            previous[to].push(from);
        }
    }
    previous
}
