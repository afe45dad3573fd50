//! Matrices multiplied.

use roundonce_arith::{Element, Elements, MatrixProduct, Pairs, Profile, Vectors};
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
    let elements = |matrix: &[u64], element: Element| {
        let mut all = Elements::of_width(element.stride().max(8));
        matrix.iter().for_each(|bits| all.push(*bits));
        all
    };
    // One matrix without scales: sixteen columns at a time.
    if each == 0 && d.len() == m * n {
        let (a, b) = (elements(a, op.dot.a), elements(b, op.dot.b));
        let [a, b] = [&a, &b].map(|all| Vectors::new(all, k, 1));
        if let Ok(product) = MatrixProduct::new(op.dot, profile, a, b, Pairs::All { columns: n }, k) {
            d.copy_from_slice(c);
            product.rows(0, d);
            return;
        }
    }
    for (place, d) in d.iter_mut().enumerate() {
        let (row, column) = (place / n, place / (m * n) * n + place % n);
        let scale = |matrix: usize, line: usize| scales[matrix].get(line * each..(line + 1) * each).unwrap_or(&[]);
        let scales = [scale(0, row), scale(1, column)];
        let (a, b) = (&a[row * k..(row + 1) * k], &b[column * k..(column + 1) * k]);
        *d = op.dot.evaluate(profile, a, b, c[place], scales);
    }
}
