//! The shape of a kernel: in which order its blocks want to run, and where branches meet again.
//!
//! Every step takes n log n time at most in the kernel's blocks and edges.

use super::Kernel;

/// A kernel's control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    /// The rank of each block: of several parts of a divergent group the one at the lowest rank goes first, so that
    /// the others meet it where their paths join. A loop's blocks rank before what follows the loop.
    pub priority: Vec<usize>,
    /// Where all paths from a block meet again first (its immediate post-dominator); `None` where they do not before
    /// the end.
    pub ipdom: Vec<Option<usize>>,
}

impl Cfg {
    /// Computed once for a kernel. Every target must exist.
    pub fn of(kernel: &Kernel) -> Cfg {
        let count = kernel.blocks.len();
        let successors: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        let predecessors = reversed(&successors);
        // Post-dominators: the graph turned round, with one more node, `count`, that every exit leads to.
        let mut backward = predecessors.clone();
        backward.push((0..count).filter(|&block| successors[block].is_empty()).collect());
        let mut forward = successors.clone();
        for following in &mut forward {
            if following.is_empty() {
                following.push(count);
            }
        }
        forward.push(Vec::new());
        let post = dominators(count, &backward, &forward);
        let meets = (0..count).map(|block| post[block].filter(|&meet| meet != count)).collect::<Vec<_>>();

        let dominator = dominators(0, &successors, &predecessors);
        let depth = loop_depths(&predecessors, &dominator);
        // Depth first, leaving loops first: what is visited last ranks first.
        let order = depth_first(0, count, |block| {
            let mut following = successors[block].clone();
            following.sort_by_key(|&next| (depth[next], meets[block] != Some(next)));
            following
        });
        let mut rank = vec![usize::MAX; count];
        for (place, block) in order.post.into_iter().rev().enumerate() {
            rank[block] = place;
        }
        Cfg { priority: rank, ipdom: meets }
    }

    /// By block, those that lead to it, each once.
    pub fn predecessors(kernel: &Kernel) -> Vec<Vec<usize>> {
        let successors: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        reversed(&successors)
    }
}

/// The edges of a graph turned round, each once.
pub(crate) fn reversed(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, to) in edges.iter().enumerate() {
        for &to in to {
            if reversed[to].last() != Some(&from) {
                reversed[to].push(from);
            }
        }
    }
    reversed
}

/// The nodes that a depth-first search reaches.
pub(crate) struct DepthFirst {
    /// As they were entered, each with the place in this list of the node it was entered from (the first with its own).
    pub(crate) pre: Vec<(usize, usize)>,
    /// As they were left.
    pub(crate) post: Vec<usize>,
}

pub(crate) fn depth_first(start: usize, count: usize, successors: impl Fn(usize) -> Vec<usize>) -> DepthFirst {
    let mut found = DepthFirst { pre: Vec::new(), post: Vec::new() };
    if start >= count {
        return found;
    }
    let mut seen = vec![false; count];
    seen[start] = true;
    found.pre.push((start, 0));
    let mut stack = vec![(0, successors(start).into_iter())];
    while let Some((place, following)) = stack.last_mut() {
        let place = *place;
        match following.find(|&child| !seen[child]) {
            Some(child) => {
                seen[child] = true;
                stack.push((found.pre.len(), successors(child).into_iter()));
                found.pre.push((child, place));
            }
            None => {
                found.post.push(found.pre[place].0);
                stack.pop();
            }
        }
    }
    found
}

/// The immediate dominator of every node that `start` reaches, by Lengauer and Tarjan's algorithm with path
/// compression.
fn dominators(start: usize, successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    const NONE: usize = usize::MAX;
    let order = depth_first(start, successors.len(), |node| successors[node].clone()).pre;
    // From here on nodes are numbered as they were entered.
    let mut number = vec![NONE; successors.len()];
    for (place, &(node, _)) in order.iter().enumerate() {
        number[node] = place;
    }
    let mut forest = Forest {
        ancestor: vec![NONE; order.len()],
        least: (0..order.len()).collect(),
        semidominator: (0..order.len()).collect(),
    };
    let mut dominator = vec![0; order.len()];
    let mut waiting = vec![Vec::new(); order.len()];
    for node in (1..order.len()).rev() {
        let (block, parent) = order[node];
        for before in predecessors[block].iter().map(|&before| number[before]).filter(|&before| before != NONE) {
            let least = forest.least_on_path(before);
            forest.semidominator[node] = forest.semidominator[node].min(forest.semidominator[least]);
        }
        waiting[forest.semidominator[node]].push(node);
        forest.ancestor[node] = parent;
        for below in std::mem::take(&mut waiting[parent]) {
            let least = forest.least_on_path(below);
            let nearer = forest.semidominator[least] < forest.semidominator[below];
            dominator[below] = if nearer { least } else { parent };
        }
    }
    let mut of = vec![None; successors.len()];
    for node in 1..order.len() {
        if dominator[node] != forest.semidominator[node] {
            dominator[node] = dominator[dominator[node]];
        }
        of[order[node].0] = Some(order[dominator[node]].0);
    }
    of
}

/// The part of the depth-first tree that has been looked at.
struct Forest {
    ancestor: Vec<usize>,
    /// The node of the least semidominator on the compressed path up to the ancestor, which does not count.
    least: Vec<usize>,
    semidominator: Vec<usize>,
}

impl Forest {
    /// The node of the least semidominator on the path up to the root of its tree, which does not count.
    fn least_on_path(&mut self, node: usize) -> usize {
        let mut path = Vec::new();
        let mut at = node;
        while self.ancestor.get(at).is_some_and(|&above| self.ancestor.get(above).is_some_and(|&top| top != usize::MAX))
        {
            path.push(at);
            at = self.ancestor[at];
        }
        for &low in path.iter().rev() {
            let above = self.ancestor[low];
            if self.semidominator[self.least[above]] < self.semidominator[self.least[low]] {
                self.least[low] = self.least[above];
            }
            self.ancestor[low] = self.ancestor[above];
        }
        self.least[node]
    }
}

/// Which blocks every path to a block leads through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dominators {
    /// By block, the nearest of them; `None` of the first and of those that nothing leads to.
    immediate: Vec<Option<usize>>,
    /// The dominator tree's nodes as they are entered.
    order: Vec<usize>,
    /// A node dominates those that the tree has below it: entered later, left earlier.
    entered: Vec<usize>,
    left: Vec<usize>,
}

impl Dominators {
    /// Computed once for a kernel. Every target must exist.
    pub fn of(kernel: &Kernel) -> Dominators {
        let successors: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        Dominators::from_immediate(&dominators(0, &successors, &reversed(&successors)))
    }

    fn from_immediate(immediate: &[Option<usize>]) -> Dominators {
        let count = immediate.len();
        let mut below = vec![Vec::new(); count];
        for (node, above) in immediate.iter().enumerate() {
            below[above.unwrap_or(node)].extend(above.map(|_| node));
        }
        let tree = depth_first(0, count, |node| below[node].clone());
        let place = |order: &mut dyn Iterator<Item = usize>| {
            let mut places = vec![usize::MAX; count];
            order.enumerate().for_each(|(place, node)| places[node] = place);
            places
        };
        Dominators {
            entered: place(&mut tree.pre.iter().map(|&(node, _)| node)),
            left: place(&mut tree.post.iter().copied()),
            order: tree.pre.into_iter().map(|(node, _)| node).collect(),
            immediate: immediate.to_vec(),
        }
    }

    /// The nearest block that every path to a block leads through; `None` of the first and of those that nothing leads to.
    pub fn immediate(&self, block: usize) -> Option<usize> {
        self.immediate[block]
    }
    /// Whether some path leads to a block.
    pub fn reaches(&self, block: usize) -> bool {
        self.left[block] != usize::MAX
    }
    /// Whether every path to a block leads through another, or they are the same; of two blocks that are reached.
    pub fn dominates(&self, above: usize, block: usize) -> bool {
        self.entered[above] <= self.entered[block] && self.left[block] <= self.left[above]
    }
}

/// In how many loops each block lies. A loop is the blocks from which a back edge can be reached without its head; those
/// with one head count as one.
fn loop_depths(predecessors: &[Vec<usize>], dominator: &[Option<usize>]) -> Vec<usize> {
    let count = predecessors.len();
    let tree = Dominators::from_immediate(dominator);
    let (left, dominates) = (&tree.left, |above: usize, node: usize| tree.dominates(above, node));

    // Inner loops first; each found loop is one node for those around it.
    let mut is_head = vec![false; count];
    let mut outer: Vec<Option<usize>> = vec![None; count];
    let mut merged: Vec<usize> = (0..count).collect();
    for &head in tree.order.iter().rev() {
        let tails = predecessors[head].iter().copied();
        let mut todo: Vec<usize> = tails.filter(|&tail| left[tail] != usize::MAX && dominates(head, tail)).collect();
        is_head[head] = !todo.is_empty();
        while let Some(node) = todo.pop() {
            let node = outermost(&mut merged, node);
            if node != head {
                merged[node] = head;
                outer[node] = Some(head);
                todo.extend(predecessors[node].iter().filter(|&&before| left[before] != usize::MAX));
            }
        }
    }
    let mut depth = vec![0; count];
    for &node in &tree.order {
        depth[node] = outer[node].map_or(0, |head| depth[head]) + usize::from(is_head[node]);
    }
    depth
}

/// The head of the outermost loop found so far that a node lies in, or itself.
fn outermost(merged: &mut [usize], mut node: usize) -> usize {
    while merged[node] != node {
        merged[node] = merged[merged[node]];
        node = merged[node];
    }
    node
}

#[cfg(test)]
mod tests;
