//! The fast path of the fused multiply-add: operands and result are normal, the sum is not zero.
//!
//! Steps 3 to 5 and 9 of the pipeline change nothing there, and the rest needs no unpredictable branch. Everything else
//! goes through the pipeline. The tests compare this path with the judges as they compare the pipeline and the vector
//! kernels.

use crate::round::round_normal;
use crate::wide::{Terms, Wide};
use crate::{Format, Outcome, Rounding};

/// Steps 6 to 8 of a × b + c; `None` for a special case.
#[inline(always)]
pub(crate) fn mul_add<W: Wide>(format: Format, rounding: Rounding, [a, b, c]: [u64; 3]) -> Option<Outcome> {
    let field = |bits: u64| ((bits >> format.frac_bits()) & format.exp_max()) as i64;
    let (ea, eb, ec) = (field(a), field(b), field(c));
    let normal = |field: i64| (field as u64).wrapping_sub(1) < format.exp_max() - 1;
    if !(normal(ea) & normal(eb) & normal(ec)) {
        return None;
    }
    let significand = |bits: u64| (bits & format.frac_mask()) | format.smallest_normal();
    let product_sign = a ^ b;
    // Quanta: of a factor, its field + unit; of the product, ea + eb + 2 × unit; of the addend as long as the product,
    // ec + unit - precision. The common term is left out.
    let unit = (format.min_quantum() - 1) as i64;
    let precision = format.precision() as i64;
    let product_above = ea + eb - ec + (unit + precision);
    let quantum = if product_above >= 0 { ea + eb + (unit + precision) } else { ec };
    let terms = Terms {
        product: W::product(significand(a), significand(b)),
        addend: W::from(significand(c)),
        differ: (product_sign ^ c) & format.sign_mask(),
        product_above,
    };
    let sum = W::sum(format, terms);
    let quantum = quantum + (unit - precision) - i64::from(W::room(format.precision()));
    let sign = (product_sign ^ sum.sign) & format.sign_mask();
    round_normal(format, rounding, sign, quantum, sum)
}
