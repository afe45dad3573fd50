//! Matrices multiplied.

use roundonce_arith::Profile;
use roundonce_ir::MatrixMultiply;

/// d = a × b + c. Of each product a stands row by row, b column by column, c and d row by row; `scales` are those of a's
/// rows and of b's columns, as many each as one element of d takes.
pub(crate) fn multiply(
    op: &MatrixMultiply,
    profile: &Profile,
    [a, b, c]: [&[u64]; 3],
    scales: [&[u64]; 2],
    d: &mut [u64],
) {
    let (m, n, k, each) = (op.m, op.n, op.dot.k as usize, op.dot.scales());
    for (place, d) in d.iter_mut().enumerate() {
        let (row, column) = (place / n, place / (m * n) * n + place % n);
        let scale = |matrix: usize, line: usize| scales[matrix].get(line * each..(line + 1) * each).unwrap_or(&[]);
        let scales = [scale(0, row), scale(1, column)];
        let (a, b) = (&a[row * k..(row + 1) * k], &b[column * k..(column + 1) * k]);
        *d = op.dot.evaluate(profile, a, b, c[place], scales);
    }
}
