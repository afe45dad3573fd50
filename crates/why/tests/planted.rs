//! Hidden uniform policies: an independent judge computes expressions as compilers and machines do, and `why` has to
//! list that policy first, or tied with what gives the same bits. What it computed, moved a little, is found seldom.

mod machines;

use machines::{Asked, Policy};
use roundonce_arith::Profile;
use roundonce_why::{Answer, ObservedValue, Options, Outcome, Plausibility, answer};

/// Whether an answer lists a policy first or among those that stand beside the first.
fn lists(answer: &Answer, policy: Policy) -> bool {
    let kind = match policy {
        Policy::AsWritten => "[]",
        Policy::Contracted => "\"fuse",
        Policy::WideEach => "wide-each-operation",
        Policy::WideWhole => "wide-whole",
        Policy::Flush => "\"flush\"",
    };
    let seen = &answer.seen[0];
    // What is superfluous beside a simpler one of the same bits is not listed.
    let simplest = seen.explanations.first().is_some_and(|first| first.deviations.is_empty());
    simplest || seen.explanations.iter().any(|it| serde_json::to_string(&it.deviations).unwrap().contains(kind))
}

#[test]
fn hidden_uniform_policies_are_found() {
    let (mut asked, mut found) = (0, 0);
    for question in machines::asked(41, 12) {
        let saw = question.typed(question.result);
        let seen = [ObservedValue::parse(&saw).unwrap()];
        let answer = answer(&question.expr(), &seen, Options::default(), &Profile::NVIDIA);
        let Asked { machine, expression, values, .. } = &question;
        let context = format!("{:?} of {expression}, {values:x?}: {saw}", machine.policy);
        let first = answer.seen[0].explanations.first();
        let first = first.unwrap_or_else(|| panic!("{context}: no explanation"));
        assert_ne!(answer.seen[0].outcome, Outcome::None, "{context}");
        assert_eq!(first.plausibility, Plausibility::Uniform, "{context}");
        assert_eq!(first.deviations.is_empty(), question.result == question.plain, "{context}");
        asked += 1;
        found += usize::from(lists(&answer, machine.policy));
    }
    assert!(asked > 1000, "{asked} asked");
    assert!(found * 100 >= asked * 98, "{found} of {asked} are listed first or tied");
}

/// What a machine computed, moved by one ulp or two: an explanation is an accident, and no more are found than the answers'
/// own chances say.
#[test]
fn what_is_moved_is_explained_no_more_often_than_its_chance_says() {
    let (mut asked, mut found, mut explained, mut chances) = (0, 0, 0, 0.0);
    for (question, moved_by) in machines::asked(43, 6).into_iter().zip([1, -1, 2, -2].into_iter().cycle()) {
        let moved = question.result.wrapping_add_signed(moved_by);
        let seen = [ObservedValue::parse(&question.typed(moved)).unwrap()];
        let answer = answer(&question.expr(), &seen, Options::default(), &Profile::NVIDIA);
        asked += 1;
        let seen = &answer.seen[0];
        found += usize::from(seen.outcome != Outcome::None);
        explained += usize::from(matches!(seen.outcome, Outcome::One | Outcome::Ambiguous));
        chances += seen.chance;
    }
    assert!(asked >= 600, "{asked} asked");
    assert!(found as f64 <= chances, "{found} of {asked} found, {chances:.1} expected");
    assert!(explained * 16 <= asked, "{explained} of {asked} are said to be explained");
    assert!(found * 20 > asked, "{found} of {asked} found: the expressions are too simple to tell");
}
