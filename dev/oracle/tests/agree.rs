//! The judges against one another: a mistake in one is a mistake in the tests of the product.

use roundonce_oracle::generate::Generator;
use roundonce_oracle::softfloat::{self, Call};
use roundonce_oracle::table::Table;
use roundonce_oracle::{Direction, FlushRule, Layout, NanBits, Shape, Spec, rational};

const SHAPES: [Shape; 4] = [Shape::MulAdd, Shape::Add, Shape::Mul, Shape::TruncatedMulAdd];
const FLUSH: [Option<FlushRule>; 4] =
    [None, Some(FlushRule::Delivered), Some(FlushRule::Rounded), Some(FlushRule::Exact)];

/// Every triple of these formats in these modes.
fn table_and_rational(factors: Layout, to: Layout, shapes: &[Shape]) {
    let table = Table::new(factors, to);
    for &shape in shapes {
        for direction in Direction::ALL {
            for flush in FLUSH {
                for bits in 0..8 {
                    let spec = Spec {
                        factors,
                        flush,
                        saturate: bits & 1 != 0,
                        underflow_before_rounding: bits & 1 != 0,
                        fmz: bits & 2 != 0,
                        negate_a: bits & 4 != 0,
                        negate_c: bits & 2 != 0,
                        ..Spec::new(shape, to, direction)
                    };
                    let (f, t) = (factors.width(), to.width());
                    for operands in 0..1_u64 << (2 * f + t) {
                        let [a, b, c] =
                            [operands >> (f + t), operands >> t & ((1 << f) - 1), operands & ((1 << t) - 1)];
                        let (one, other) = (table.judge(&spec, [a, b, c]), rational::judge(&spec, [a, b, c]));
                        assert_eq!(one, other, "table and rational on {a:#x} {b:#x} {c:#x}, {spec:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn table_and_rational_agree_on_small_formats() {
    for (exp_bits, frac_bits) in [(2, 1), (2, 2), (3, 1)] {
        let layout = Layout { exp_bits, frac_bits };
        table_and_rational(layout, layout, &SHAPES);
    }
}

#[test]
fn table_and_rational_agree_on_narrow_factors() {
    let layout = |exp_bits, frac_bits| Layout { exp_bits, frac_bits };
    table_and_rational(layout(2, 1), layout(3, 2), &SHAPES[..3]);
    table_and_rational(layout(2, 1), layout(2, 2), &SHAPES[..3]);
}

/// Bits, flags and NaNs, both tininess rules.
#[test]
fn rational_and_softfloat_agree() {
    if !softfloat::is_available() {
        return;
    }
    for layout in [Layout::F16, Layout::F32, Layout::F64] {
        for (call, shape, negate_c) in [
            (Call::MulAdd, Shape::MulAdd, false),
            (Call::Add, Shape::Add, false),
            (Call::Sub, Shape::Add, true),
            (Call::Mul, Shape::Mul, false),
        ] {
            for direction in Direction::ALL {
                for before in [false, true] {
                    let spec = Spec {
                        nan: NanBits::FirstOf([0, 1, 2]),
                        negate_c,
                        underflow_before_rounding: before,
                        ..Spec::new(shape, layout, direction)
                    };
                    let mut generator = Generator::new(u64::from(before), layout, layout);
                    for _ in 0..20_000 {
                        let operands = generator.triple();
                        let mut one = rational::judge(&spec, operands);
                        let other = softfloat::judge(call, layout, direction, before, operands);
                        let hidden = call == Call::MulAdd && softfloat::hides_the_addend(layout, operands);
                        if hidden && layout.is_nan(other.bits) {
                            one.bits = other.bits;
                        }
                        assert_eq!(one, other, "rational and SoftFloat on {operands:#x?}, {spec:?}");
                    }
                }
            }
        }
    }
}

/// What a reader can check by hand: the doubles next to one, and the edges of binary16.
#[test]
fn rational_by_hand() {
    let judge = |to, direction, operands| rational::judge(&Spec::new(Shape::MulAdd, to, direction), operands);
    #[rustfmt::skip] // one case a line
    let cases = [
        // (1 + 2^-52)^2 = 1 + 2^-51 + 2^-104
        (Layout::F64, Direction::Nearest, [0x3ff0_0000_0000_0001, 0x3ff0_0000_0000_0001, 0], 0x3ff0_0000_0000_0002, 1),
        (Layout::F64, Direction::Up,      [0x3ff0_0000_0000_0001, 0x3ff0_0000_0000_0001, 0], 0x3ff0_0000_0000_0003, 1),
        // 65504 + 16 is the tie that goes to infinity; 65504 + 15.99 does not reach it.
        (Layout::F16, Direction::Nearest, [0x3c00, 0x7bff, 0x4c00], 0x7c00, 5),
        (Layout::F16, Direction::Nearest, [0x3c00, 0x7bff, 0x4bff], 0x7bff, 1),
        (Layout::F16, Direction::Zero,    [0x3c00, 0x7bff, 0x4c00], 0x7bff, 1),
        // 2^-24 × 1/2 is half of the smallest subnormal.
        (Layout::F16, Direction::Nearest, [0x0001, 0x3800, 0], 0x0000, 3),
        (Layout::F16, Direction::Nearest, [0x0003, 0x3800, 0], 0x0002, 3),
        (Layout::F16, Direction::Up,      [0x0001, 0x3800, 0], 0x0001, 3),
        (Layout::F16, Direction::Down,    [0x3c00, 0x3c00, 0xbc00], 0x8000, 0),
    ];
    for (to, direction, operands, bits, flags) in cases {
        let verdict = judge(to, direction, operands);
        assert_eq!((verdict.bits, verdict.flags), (bits, flags), "{operands:#x?} {direction:?}");
    }
}

#[test]
fn the_generator_repeats_itself() {
    let draw = |seed| {
        let mut generator = Generator::new(seed, Layout::F16, Layout::F32);
        (0..1000).map(|_| generator.triple()).collect::<Vec<_>>()
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}
