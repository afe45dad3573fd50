//! [`softfloat::judge`] over arrays as a C library, for tests in other languages:
//! `cargo build --release -p roundonce-oracle --example softfloat`.
#![allow(unsafe_code)]

use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::{Direction, Layout};

/// `count` results into `z`: of formats of `width` bits, 16, 32 or 64; `call` and `direction` are numbered as in the
/// `enum`s of the oracle, and tininess is detected before rounding.
///
/// # Safety
/// `a`, `b`, `c` and `z` must point to `count` numbers each; `z` must not overlap the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundonce_softfloat_many(
    width: u8,
    call: u8,
    direction: u8,
    count: usize,
    a: *const u64,
    b: *const u64,
    c: *const u64,
    z: *mut u64,
) {
    let layout = [Layout::F16, Layout::F32, Layout::F64].into_iter().find(|layout| layout.width() == width.into());
    let call = [Call::MulAdd, Call::Add, Call::Sub, Call::Mul].get(usize::from(call));
    let direction = Direction::ALL.get(usize::from(direction));
    // A panic ends the process: it does not unwind into C.
    let (layout, call, direction) = (layout.expect("a width"), call.expect("a call"), direction.expect("a direction"));
    // SAFETY: the caller's word.
    let (columns, z) = unsafe {
        ([a, b, c].map(|column| std::slice::from_raw_parts(column, count)), std::slice::from_raw_parts_mut(z, count))
    };
    for (at, result) in z.iter_mut().enumerate() {
        let operands = columns.map(|column| column[at]);
        *result = softfloat::judge(*call, layout, *direction, true, operands).bits;
    }
}
