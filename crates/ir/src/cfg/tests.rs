//! The analyses against their definitions, on random graphs.

use super::{Cfg, Dominators, dominators, loop_depths, reversed};
use crate::random::Random;

/// The nodes that a start reaches when one is taken out.
fn reached(start: usize, edges: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut todo = vec![start];
    while let Some(node) = todo.pop() {
        if Some(node) != without && !std::mem::replace(&mut seen[node], true) {
            todo.extend(&edges[node]);
        }
    }
    seen
}

/// `dominates[a][b]`: every way from the start to `b`, which it reaches, leads through `a`.
fn dominance(start: usize, edges: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let all = reached(start, edges, None);
    let of = |above: usize| {
        let around = reached(start, edges, Some(above));
        (0..edges.len()).map(|node| all[above] && all[node] && !around[node]).collect()
    };
    (0..edges.len()).map(of).collect()
}

/// The nearest of the others that dominate a node.
fn immediate(dominates: &[Vec<bool>], node: usize) -> Option<usize> {
    let above: Vec<usize> = (0..dominates.len()).filter(|&above| above != node && dominates[above][node]).collect();
    above.iter().copied().find(|&nearest| above.iter().all(|&other| dominates[other][nearest]))
}

#[test]
fn of_random_graphs() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut loops, mut nested) = (0, 0);
    for _ in 0..20_000 {
        let kernel = random.kernel();
        let edges: Vec<Vec<usize>> = kernel.blocks.iter().map(|block| block.terminator.successors()).collect();
        let (count, back) = (edges.len(), reversed(&edges));

        let dominates = dominance(0, &edges);
        let found = dominators(0, &edges, &back);
        assert_eq!(found, (0..count).map(|node| immediate(&dominates, node)).collect::<Vec<_>>(), "{edges:?}");

        let tree = Dominators::of(&kernel);
        let reaches = reached(0, &edges, None);
        for node in 0..count {
            assert_eq!((tree.immediate(node), tree.reaches(node)), (found[node], reaches[node]), "{edges:?}");
            for above in (0..count).filter(|&above| reaches[above] && reaches[node]) {
                let expected = above == node || dominates[above][node];
                assert_eq!(tree.dominates(above, node), expected, "{above} over {node} of {edges:?}");
            }
        }

        // A loop: its head, and what leads to a tail without the head.
        let depth = loop_depths(&back, &found);
        let all = reached(0, &edges, None);
        for node in (0..count).filter(|&node| all[node]) {
            let contains = |head: usize| {
                let mut tails = back[head].iter().filter(|&&tail| dominates[head][tail]);
                let into = |tail: usize| node == tail && node != head || reached(tail, &back, Some(head))[node];
                let mut tails_into = tails.clone().filter(|&&tail| into(tail));
                tails.next().is_some() && (node == head || tails_into.next().is_some())
            };
            let expected = (0..count).filter(|&head| all[head] && contains(head)).count();
            assert_eq!(depth[node], expected, "node {node} of {edges:?}");
            loops += usize::from(expected == 1);
            nested += usize::from(expected > 1);
        }

        let mut ends = back.clone();
        ends.push((0..count).filter(|&node| edges[node].is_empty()).collect());
        let after = dominance(count, &ends);
        let expected: Vec<_> = (0..count).map(|node| immediate(&after, node).filter(|&meet| meet != count)).collect();
        let cfg = Cfg::of(&kernel);
        assert_eq!(cfg.ipdom, expected, "{edges:?}");
        // A rank each for what is reached.
        let mut ranks: Vec<usize> = (0..count).filter(|&node| all[node]).map(|node| cfg.priority[node]).collect();
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..all.iter().filter(|&&is| is).count()), "{edges:?}");
    }
    assert!(loops > 1000 && nested > 1000, "{loops} {nested}");
}
