//! `why`: any expression and any seen value is answered or refused; nothing panics.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use roundonce::Profile;
use roundonce::why::{ObservedValue, Options, answer, parse_expr, parse_typed};

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(5, '|');
    let expression = parts.next().unwrap_or_default();
    let names: BTreeMap<_, _> = ["a", "b", "c"]
        .into_iter()
        .zip(parts.by_ref().take(3))
        .filter_map(|(name, value)| Some((name.to_owned(), parse_typed(value).ok()?.0)))
        .collect();
    // Few sums keep the space small: what is looked for here is a panic, not patience.
    if expression.matches(['+', '-']).count() > 3 {
        return;
    }
    let Ok(expr) = parse_expr(expression, &names) else { return };
    let seen: Vec<ObservedValue> = parts.next().and_then(|text| ObservedValue::parse(text).ok()).into_iter().collect();
    let answer = answer(&expr, &seen, Options { reassociate: true, ..Options::default() }, &Profile::NVIDIA);
    assert!(!answer.lines().is_empty());
});
