//! Samples of every operation of the program form: what tells them apart, in all its values.

use roundonce::arith::{ArithOp, Clamp, Format, Operation, Rounding};
use roundonce::ir::{
    AtomicKind, Class, Comparand, Comparison, Function, IntOp, Op, Operand, PermuteMode, Reg, Scalar, Signedness, Width,
};

const ROUNDINGS: [Rounding; 4] = [Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up];
const FORMATS: [Format; 4] = [Format::F16, Format::BF16, Format::F32, Format::F64];
const WIDTHS: [Width; 3] = [Width::B16, Width::B32, Width::B64];
const SIGNS: [Signedness; 2] = [Signedness::Unsigned, Signedness::Signed];

/// An operation of its destinations and of what it takes as its operand of a width and number.
pub(crate) type Make = dyn Fn(&[Reg], &dyn Fn(Width, usize) -> Operand) -> Op;

/// An operation with its name for messages, the widths of its results, and how it is made.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) results: Vec<Width>,
    pub(crate) make: Box<Make>,
}

pub(crate) fn sample(
    name: impl Into<String>,
    results: &[Width],
    make: impl Fn(&[Reg], &dyn Fn(Width, usize) -> Operand) -> Op + 'static,
) -> Sample {
    Sample { name: name.into(), results: results.to_vec(), make: Box::new(make) }
}

pub(crate) fn holding(format: Format, components: u32) -> Width {
    Width::holding(format.width() * components)
}

pub(crate) fn floats() -> Vec<Sample> {
    let mut all = Vec::new();
    let mut push = |operation: Operation, components: u32| {
        let result = holding(operation.format, components);
        all.push(sample(format!("float {operation:?} x{components}"), &[result], move |d, operand| {
            let mut args = [Operand::ZERO; 3];
            for (index, arg) in args.iter_mut().enumerate().take(operation.op.arity()) {
                *arg = operand(holding(operation.operand_format(index), components), index);
            }
            Op::Float { d: d[0], operation, components, contractible: true, args }
        }));
    };
    for op in [ArithOp::MulAdd, ArithOp::Add, ArithOp::Mul] {
        for (format, rounding) in FORMATS.into_iter().flat_map(|format| ROUNDINGS.map(|rounding| (format, rounding))) {
            for flags in 0..32u32 {
                for clamp in [Clamp::None, Clamp::Unit, Clamp::Relu] {
                    let bit = |place: u32| flags >> place & 1 == 1;
                    let mut operation = Operation { clamp, ..Operation::new(op, format, rounding) };
                    (operation.flush, operation.fmz) = (bit(0), bit(1));
                    (operation.negate_product, operation.negate_addend) = (bit(2), bit(3));
                    let components = 1 + u32::from(bit(4));
                    if format.width() * components <= 64 {
                        push(operation, components);
                    }
                }
            }
            if format == Format::F32 {
                for source in [Format::F16, Format::BF16] {
                    push(Operation { source_format: source, ..Operation::new(op, format, rounding) }, 1);
                }
            }
        }
    }
    all
}

pub(crate) fn other_floats() -> Vec<Sample> {
    let mut all = Vec::new();
    for format in FORMATS {
        let width = holding(format, 1);
        for flush in [false, true] {
            for (negate, arithmetic) in [(false, false), (false, true), (true, false), (true, true)] {
                let name = format!("sign {format:?} {flush} {negate} {arithmetic}");
                all.push(sample(name, &[width], move |d, operand| Op::Sign {
                    d: d[0],
                    negate,
                    format,
                    flush,
                    arithmetic,
                    a: operand(width, 0),
                }));
            }
            for rounding in ROUNDINGS {
                let name = format!("{format:?} {rounding:?} {flush}");
                all.push(sample(format!("divide {name}"), &[width], move |d, operand| Op::Divide {
                    d: d[0],
                    format,
                    rounding,
                    flush,
                    a: operand(width, 0),
                    b: operand(width, 1),
                }));
                all.push(sample(format!("reciprocal {name}"), &[width], move |d, operand| Op::Divide {
                    d: d[0],
                    format,
                    rounding,
                    flush,
                    a: Operand::Imm(format.one()),
                    b: operand(width, 1),
                }));
                all.push(sample(format!("root {name}"), &[width], move |d, operand| Op::SquareRoot {
                    d: d[0],
                    format,
                    rounding,
                    flush,
                    a: operand(width, 0),
                }));
                all.push(sample(format!("scale {name}"), &[width], move |d, operand| Op::Scale {
                    d: d[0],
                    format,
                    rounding,
                    flush,
                    a: operand(width, 0),
                    exponent: operand(Width::B32, 1),
                }));
            }
            for flags in 0..8u32 {
                let [max, nan, xorsign_abs] = [0, 1, 2].map(|place| flags >> place & 1 == 1);
                all.push(sample(format!("extremum {format:?} {flush} {flags}"), &[width], move |d, operand| {
                    let (a, b) = (operand(width, 0), operand(width, 1));
                    Op::MinMax { d: d[0], max, format, flush, nan, xorsign_abs, a, b }
                }));
            }
            for comparison in comparisons() {
                let of = Comparand::Float { format, flush };
                all.push(sample(format!("compare {comparison:?} {of:?}"), &[Width::Pred], move |d, operand| {
                    Op::Compare { d: d[0], comparison, of, a: operand(width, 0), b: operand(width, 1) }
                }));
            }
            for function in [Function::Exp2, Function::Log2, Function::Sin, Function::Tanh, Function::Divide] {
                for saturate in [false, true] {
                    let name = format!("approximate {function:?} {format:?} {flush} {saturate}");
                    all.push(sample(name.clone(), &[width], move |d, operand| Op::Approximate {
                        d: d[0],
                        function,
                        format,
                        flush,
                        saturate,
                        a: operand(width, 0),
                        b: operand(width, 1),
                        name: name.clone(),
                    }));
                }
            }
        }
        all.push(sample(format!("remainder {format:?}"), &[width], move |d, operand| Op::Remainder {
            d: d[0],
            format,
            a: operand(width, 0),
            b: operand(width, 1),
        }));
        all.push(sample(format!("copysign {format:?}"), &[width], move |d, operand| Op::CopySign {
            d: d[0],
            format,
            sign: operand(width, 0),
            magnitude: operand(width, 1),
        }));
        let classes =
            [Class::Finite, Class::Infinite, Class::Number, Class::NotANumber, Class::Normal, Class::Subnormal];
        for class in classes {
            all.push(sample(format!("class {class:?} {format:?}"), &[Width::Pred], move |d, operand| Op::Classify {
                d: d[0],
                class,
                format,
                a: operand(width, 0),
            }));
        }
    }
    all
}

pub(crate) fn comparisons() -> [Comparison; 14] {
    use Comparison::{Eq, Equ, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Nan, Ne, Neu, Num};
    [Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan]
}

pub(crate) fn conversions() -> Vec<Sample> {
    let integers =
        [8, 16, 32, 64].into_iter().flat_map(|bits| [false, true].map(|signed| Scalar::Int { bits, signed }));
    let scalars: Vec<Scalar> = integers.chain(FORMATS.map(Scalar::Float)).collect();
    let mut all = Vec::new();
    for (&to, &from) in scalars.iter().flat_map(|to| scalars.iter().map(move |from| (to, from))) {
        for rounding in ROUNDINGS {
            for flags in 0..8u32 {
                let [integral, flush, saturate] = [0, 1, 2].map(|place| flags >> place & 1 == 1);
                let to_float = matches!(to, Scalar::Float(_));
                if (integral && !(to_float && matches!(from, Scalar::Float(_)))) || (to_float && saturate && flush) {
                    continue;
                }
                let name = format!("convert {to:?} from {from:?} {rounding:?} {integral} {flush} {saturate}");
                all.push(sample(name, &[to.width()], move |d, operand| {
                    let a = operand(from.width(), 0);
                    Op::Convert { d: d[0], to, from, rounding, integral, flush, saturate, a }
                }));
            }
        }
    }
    all
}

pub(crate) fn integers() -> Vec<Sample> {
    let mut ops = vec![
        IntOp::Add,
        IntOp::Sub,
        IntOp::Mul,
        IntOp::MulAdd,
        IntOp::AddSat,
        IntOp::SubSat,
        IntOp::Abs,
        IntOp::Neg,
        IntOp::And,
        IntOp::Or,
        IntOp::Xor,
        IntOp::Not,
        IntOp::IsZero,
        IntOp::Shl,
        IntOp::LeadingZeros,
        IntOp::PopCount,
        IntOp::Reverse,
        IntOp::FieldInsert,
        IntOp::Permute,
        IntOp::FindNth,
        IntOp::Logic3(0xca),
        IntOp::Logic3(0x17),
    ];
    for sign in SIGNS {
        ops.extend([IntOp::MulHigh(sign), IntOp::MulWide(sign), IntOp::MulAddWide(sign), IntOp::Div(sign)]);
        ops.extend([IntOp::Rem(sign), IntOp::Min(sign), IntOp::Max(sign), IntOp::AbsDiff(sign), IntOp::Shr(sign)]);
        ops.extend([IntOp::FieldExtract(sign)]);
        for flag in [false, true] {
            ops.push(IntOp::FindHighest { sign, shift: flag });
            ops.extend(SIGNS.map(|b| IntOp::DotProduct2 { a: sign, b, high: flag }));
        }
        ops.extend(SIGNS.map(|b| IntOp::DotProduct4(sign, b)));
    }
    for flag in [false, true] {
        ops.push(IntOp::Mask { clamp: flag });
        ops.extend([false, true].map(|left| IntOp::Funnel { left, clamp: flag }));
    }
    let modes =
        [PermuteMode::F4e, PermuteMode::B4e, PermuteMode::Rc8, PermuteMode::Ecl, PermuteMode::Ecr, PermuteMode::Rc16];
    ops.extend(modes.map(IntOp::PermuteMode));
    let mut all = Vec::new();
    let widths = [Width::Pred].into_iter().chain(WIDTHS);
    for (op, width) in widths.flat_map(|width| ops.iter().map(move |op| (*op, width))) {
        if !op.takes(width) {
            continue;
        }
        let name = format!("integer {op:?} {width:?}");
        all.push(sample(name, &[op.result_width(width)], move |d, operand| {
            let (widths, count) = op.operand_widths(width);
            let mut args = [Operand::ZERO; 4];
            for (index, arg) in args.iter_mut().enumerate().take(count) {
                *arg = operand(widths[index], index);
            }
            Op::Int { d: d[0], op, width, args }
        }));
    }
    for width in WIDTHS {
        for of in [Comparand::Unsigned(width), Comparand::Signed(width)] {
            for comparison in comparisons() {
                all.push(sample(format!("compare {comparison:?} {of:?}"), &[Width::Pred], move |d, operand| {
                    Op::Compare { d: d[0], comparison, of, a: operand(width, 0), b: operand(width, 1) }
                }));
            }
        }
    }
    all
}

pub(crate) fn moves() -> Vec<Sample> {
    let mut all = Vec::new();
    for width in [Width::Pred].into_iter().chain(WIDTHS) {
        all.push(sample(format!("move {width:?}"), &[width], move |d, operand| Op::Move {
            d: d[0],
            a: operand(width, 0),
        }));
        all.push(sample(format!("select {width:?}"), &[width], move |d, operand| Op::Select {
            d: d[0],
            p: operand(Width::Pred, 2),
            a: operand(width, 0),
            b: operand(width, 1),
        }));
    }
    for (width, half) in [(Width::B32, Width::B16), (Width::B64, Width::B32)] {
        all.push(sample(format!("pack {width:?}"), &[width], move |d, operand| Op::Pack {
            d: d[0],
            low: operand(half, 0),
            high: operand(half, 1),
        }));
        for flags in 0..8u32 {
            let [subtract, carries, sets] = [0, 1, 2].map(|place| flags >> place & 1 == 1);
            let results = if sets { vec![width, Width::Pred] } else { vec![width] };
            all.push(sample(format!("carry {width:?} {flags}"), &results, move |d, operand| Op::Carry {
                d: d[0],
                out: sets.then(|| d[1]),
                subtract,
                carry: if carries { operand(Width::Pred, 2) } else { Operand::ZERO },
                a: operand(width, 0),
                b: operand(width, 1),
            }));
        }
    }
    for (width, result) in [(Width::B32, Width::B16), (Width::B64, Width::B16), (Width::B64, Width::B32)] {
        for shift in (0..=width.bits() - result.bits()).step_by(8) {
            all.push(sample(format!("extract {width:?} {result:?} {shift}"), &[result], move |d, operand| {
                Op::Extract { d: d[0], a: operand(width, 0), width, shift }
            }));
        }
    }
    all
}

/// Atomic operations on the place of the second result, where an operand stands.
pub(crate) fn atomics() -> Vec<(String, AtomicKind, Width)> {
    let mut all = Vec::new();
    for width in WIDTHS {
        for sign in SIGNS {
            for op in [IntOp::Add, IntOp::And, IntOp::Or, IntOp::Xor, IntOp::Min(sign), IntOp::Max(sign)] {
                all.push((format!("atomic {op:?} {width:?}"), AtomicKind::Int(op), width));
            }
        }
        for kind in [AtomicKind::Exchange, AtomicKind::CompareAndSwap, AtomicKind::Increment, AtomicKind::Decrement] {
            all.push((format!("atomic {kind:?} {width:?}"), kind, width));
        }
    }
    all.push(("atomic arrive".to_owned(), AtomicKind::Arrive, Width::B64));
    for (format, lanes) in FORMATS.into_iter().flat_map(|format| [1, 2].map(|lanes| (format, lanes))) {
        if format.width() * lanes > 64 {
            continue;
        }
        let width = holding(format, lanes);
        for flush in [false, true] {
            let operation = Operation { flush, ..Operation::new(ArithOp::Add, format, Rounding::NearestEven) };
            all.push((format!("atomic sum {format:?} {lanes} {flush}"), AtomicKind::Float { operation, lanes }, width));
        }
        for max in [false, true] {
            let kind = AtomicKind::FloatMinMax { max, format, lanes };
            all.push((format!("atomic {kind:?}"), kind, width));
        }
    }
    all
}
