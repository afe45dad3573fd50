//! Every operation of every evaluation that may be a cause is an instruction of some machine: the rows of PTX and SASS
//! decide.

use std::collections::{BTreeMap, HashSet};

use roundonce_arith::{ArithOp, Format, Operation, Profile};
use roundonce_deviate::Deviation;
use roundonce_why::{Allowed, CandidateSet, Options, Typed, parse_expr};

const FORMATS: [Format; 4] = [Format::F16, Format::BF16, Format::F32, Format::F64];

/// What an instruction is apart from the signs of its operands, which are taken from any operand.
fn unsigned(operation: Operation) -> Operation {
    Operation { negate_product: false, negate_addend: false, ..operation }
}

fn rows() -> HashSet<Operation> {
    let forms = roundonce_ptx::forms::FORMS.iter().chain(roundonce_sass::forms::FORMS);
    forms.flat_map(|form| form.spellings()).map(|(_, recipe)| unsigned(recipe.operation)).collect()
}

#[test]
fn every_offered_operation_is_a_row() {
    let rows = rows();
    let mut seen: HashSet<Operation> = HashSet::new();
    for expression in ["a*b", "a+b", "a-b", "fma(a,b,c)", "a*b+c", "a*b-c*d", "a*b+c*d+e", "-(a*b)-fma(c,d,e)"] {
        // Of one format, and of every two.
        for (one, other) in FORMATS.into_iter().flat_map(|one| FORMATS.map(|other| (one, other))) {
            let format = |at: usize| if at < 2 { one } else { other };
            let names: BTreeMap<String, Typed> = ["a", "b", "c", "d", "e"]
                .into_iter()
                .enumerate()
                .map(|(at, name)| (name.to_owned(), Typed { format: format(at), bits: format(at).one() }))
                .collect();
            let expr = parse_expr(expression, &names).unwrap();
            let options = Options { reassociate: true, allow: Allowed::ALL, ..Options::default() };
            // Software rounds subnormals twice, ties away, and keeps finite; the x87 has its own format.
            let is_of_machines = |it: &Deviation| {
                !matches!(
                    it,
                    Deviation::SubnormalsTwice
                        | Deviation::X87(_)
                        | Deviation::Compensated
                        | Deviation::TiesAway(_)
                        | Deviation::StayFinite(_)
                )
            };
            let candidates = CandidateSet::of(&expr, options, &Profile::NVIDIA);
            for offered in candidates.offered().filter(|it| it.deviations.iter().all(is_of_machines)) {
                for step in offered.evaluation.trace(&Profile::NVIDIA).1 {
                    let operation = unsigned(step.operation);
                    seen.insert(operation);
                    // CPUs flush f64, where they are asked to; no GPU does.
                    let is_of_cpus = operation.format == Format::F64 && operation.flush;
                    let found = rows.contains(&Operation { flush: operation.flush && !is_of_cpus, ..operation });
                    assert!(
                        found,
                        "{expression} of {one:?} and {other:?}, {:?}: no row computes {operation:?}",
                        offered.deviations
                    );
                }
            }
        }
    }
    // The modes that there are were asked about.
    let any = |is: fn(&Operation) -> bool| seen.iter().any(is);
    assert!(any(|it| it.fmz) && any(|it| it.saturates()) && any(|it| it.op == ArithOp::TruncatedMulAdd));
    assert!(any(|it| it.flush && it.format == Format::F16) && any(|it| it.flush && it.format == Format::F64));
    assert!(!any(|it| it.saturates() && it.format == Format::BF16));
}
