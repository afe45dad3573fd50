//! Who dominates whom in a graph of blocks.

/// Immediate dominators, and intervals of the tree's walk so that a question costs nothing.
pub(super) struct Dominators {
    idom: Vec<usize>,
    enter: Vec<u32>,
    leave: Vec<u32>,
}

const NONE: usize = usize::MAX;

impl Dominators {
    /// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
    pub(super) fn of(successors: &[Vec<usize>], root: usize) -> Dominators {
        let count = successors.len();
        let order = postorder(successors, root);
        let mut number = vec![NONE; count];
        for (at, &block) in order.iter().enumerate() {
            number[block] = at;
        }
        let mut predecessors = vec![Vec::new(); count];
        for &block in &order {
            for &next in &successors[block] {
                predecessors[next].push(block);
            }
        }
        let mut idom = vec![NONE; count];
        idom[root] = root;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev().filter(|&&block| block != root) {
                let mut new = NONE;
                for &before in predecessors[block].iter().filter(|&&before| idom[before] != NONE) {
                    new = if new == NONE { before } else { common_dominator(&idom, &number, before, new) };
                }
                if idom[block] != new {
                    idom[block] = new;
                    changed = true;
                }
            }
        }
        let mut children = vec![Vec::new(); count];
        for (block, &parent) in idom.iter().enumerate().filter(|&(block, &parent)| parent != NONE && block != root) {
            children[parent].push(block);
        }
        let (mut enter, mut leave) = (vec![0; count], vec![0; count]);
        let mut clock = 0;
        let mut walk = vec![(root, 0usize)];
        while let Some((block, child)) = walk.pop() {
            if child == 0 {
                clock += 1;
                enter[block] = clock;
            }
            if let Some(&next) = children[block].get(child) {
                walk.push((block, child + 1));
                walk.push((next, 0));
            } else {
                clock += 1;
                leave[block] = clock;
            }
        }
        Dominators { idom, enter, leave }
    }

    /// The nearest block that every way to this one passes; none of the first and of what is not reached.
    pub(super) fn immediate(&self, block: usize) -> Option<usize> {
        self.idom.get(block).copied().filter(|&above| above != NONE && above != block)
    }
    pub(super) fn reachable(&self, block: usize) -> bool {
        self.enter.get(block).is_some_and(|&enter| enter != 0)
    }
    pub(super) fn dominates(&self, above: usize, below: usize) -> bool {
        self.reachable(above) && self.enter[above] <= self.enter[below] && self.leave[below] <= self.leave[above]
    }
}

fn common_dominator(idom: &[usize], number: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        while number[one] < number[other] {
            one = idom[one];
        }
        while number[other] < number[one] {
            other = idom[other];
        }
    }
    one
}

/// Blocks reachable from the root, each after all it leads to. Without recursion: a function may have a million.
pub(super) fn postorder(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    if successors.is_empty() {
        return order;
    }
    seen[root] = true;
    let mut walk = vec![(root, 0usize)];
    while let Some((block, next)) = walk.pop() {
        match successors[block].get(next) {
            Some(&to) => {
                walk.push((block, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    walk.push((to, 0));
                }
            }
            None => order.push(block),
        }
    }
    order
}
