//! An operation on floats as an observer sees it: which operands are numbers, and what the result is without rounding.

use roundonce_arith::{ArithOp, Clamp, ConversionRounding, Element, Format, Operation, PackedConversion};
use roundonce_functions::{Breadth, MinMax, Wider};
use roundonce_ir::{Comparand, Op, Operand, Reg, Scalar};

/// The numbers that an operation reads; of a conversion of several values the registers that hold them.
pub(super) fn numbers(op: &Op) -> Vec<(Operand, Scalar)> {
    let float = |format: Format, operands: &[Operand]| operands.iter().map(|&a| (a, Scalar::Float(format))).collect();
    match *op {
        Op::Float { ref operation, components: 1, ref args, .. } => {
            let operand = |(index, &arg)| (arg, Scalar::Float(operation.operand_format(index)));
            args.iter().enumerate().take(operation.op.arity()).map(operand).collect()
        }
        Op::Sign { format, a, .. } | Op::SquareRoot { format, a, .. } => float(format, &[a]),
        Op::Divide { format, a, b, .. } | Op::Remainder { format, a, b, .. } | Op::MinMax { format, a, b, .. } => {
            float(format, &[a, b])
        }
        Op::Approximate { function, format, a, b, .. } if function.takes_integer() => {
            vec![(a, Scalar::Float(format)), (b, Scalar::Int { bits: 32, signed: true })]
        }
        Op::Approximate { format, a, b, .. } => float(format, &[a, b]),
        Op::CopySign { format, sign, magnitude, .. } => float(format, &[sign, magnitude]),
        Op::Scale { format, a, exponent, .. } => {
            vec![(a, Scalar::Float(format)), (exponent, Scalar::Int { bits: 32, signed: true })]
        }
        Op::Convert { from, to, a, .. } if [from, to].iter().any(|it| matches!(it, Scalar::Float(_))) => {
            vec![(a, from)]
        }
        Op::Compare { of: Comparand::Float { format, .. }, a, b, .. } => float(format, &[a, b]),
        Op::ConvertPacked { ref conversion, ref args, .. } => {
            let of = match conversion.from {
                Element::Float(format) if conversion.has_separate_operands() => Scalar::Float(format),
                _ => Scalar::Int { bits: conversion.operand_bits(), signed: false },
            };
            let values = args[..conversion.operand_count()].iter().map(|&a| (a, of));
            let is_random = conversion.rounding == ConversionRounding::Random;
            values.chain(is_random.then_some((args[4], Scalar::Int { bits: 32, signed: false }))).collect()
        }
        _ => Vec::new(),
    }
}

/// Where an operation leaves a float, and of which format.
pub(super) fn result(op: &Op) -> Option<(Reg, Format)> {
    match *op {
        Op::Float { d, ref operation, components: 1, .. } => Some((d, operation.format)),
        Op::Sign { d, format, .. }
        | Op::SquareRoot { d, format, .. }
        | Op::Divide { d, format, .. }
        | Op::Remainder { d, format, .. }
        | Op::MinMax { d, format, .. }
        | Op::Approximate { d, format, .. }
        | Op::CopySign { d, format, .. }
        | Op::Scale { d, format, .. }
        | Op::Convert { d, to: Scalar::Float(format), .. } => Some((d, format)),
        _ => None,
    }
}

/// How a conversion's result is read where it stands: TF32 is an f32 whose last bits are zeros.
pub(super) fn in_register(to: Element) -> Element {
    if to == Element::Float(Format::TF32) { Element::Float(Format::F32) } else { to }
}

/// The bits of one of the results in a register, the lowest first.
pub(super) fn component(conversion: &PackedConversion, register: u64, index: usize) -> u64 {
    let to = in_register(conversion.to);
    register >> (index as u32 * to.stride()) & (u64::MAX >> (64 - to.width()))
}

/// The sum or the product of an operation of the family, before it is clamped.
fn exactly(operation: &Operation, breadth: Breadth, args: &[Wider]) -> Wider {
    let sign = |negate: bool, number: &Wider| if negate { number.negated() } else { number.clone() };
    let first = sign(operation.negate_product, &args[0]);
    let is_zero = |number: &Wider| number.to_f64() == 0.0;
    let drops = operation.fmz && operation.op != ArithOp::Add && args[..2].iter().any(is_zero);
    match operation.op {
        ArithOp::Add => first.plus(&sign(operation.negate_addend, &args[1])),
        ArithOp::Mul if drops => Wider::of_integer(breadth, 0),
        ArithOp::Mul => first.times(&args[1]),
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd if drops => sign(operation.negate_addend, &args[2]),
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => {
            first.times_plus(&args[1], &sign(operation.negate_addend, &args[2]))
        }
    }
}

/// The exponents of an addition's terms, the largest of them; `None` where nothing is added.
pub(super) fn largest_term(op: &Op, args: &[&Wider]) -> Option<i32> {
    let Op::Float { operation, .. } = op else { return None };
    let exponents = match operation.op {
        ArithOp::Mul => return None,
        ArithOp::Add => [args[0].exponent(), args[1].exponent()],
        ArithOp::MulAdd | ArithOp::TruncatedMulAdd => [args[0].times(args[1]).exponent(), args[2].exponent()],
    };
    exponents.into_iter().flatten().max()
}

fn clamped(clamp: Clamp, breadth: Breadth, number: Wider) -> Wider {
    let below = |limit: &Wider| number.order(limit).is_some_and(core::cmp::Ordering::is_lt);
    let [zero, one] = [0, 1].map(|value| Wider::of_integer(breadth, value));
    match clamp {
        Clamp::None => number,
        Clamp::Unit if number.is_nan() || below(&zero) => zero,
        Clamp::Unit if !below(&one) => one,
        Clamp::Relu if below(&zero) => zero,
        Clamp::Unit | Clamp::Relu => number,
    }
}

/// A value of a packed conversion without rounding: what is too large for `.satfinite` is the largest number there is.
pub(super) fn converted(conversion: &PackedConversion, breadth: Breadth, number: Wider) -> Wider {
    let largest = || match conversion.to {
        Element::Float(format) => Wider::of(breadth, format, format.largest_finite()),
        to => Wider::of(breadth, Format::F64, to.widened(to.largest_finite())),
    };
    let exceeds = |limit: &Wider| number.magnitude().order(limit).is_some_and(core::cmp::Ordering::is_gt);
    let number = match conversion.satfinite.then(largest).filter(exceeds) {
        Some(limit) if number.to_f64().is_sign_negative() => limit.negated(),
        Some(limit) => limit,
        None => number,
    };
    clamped(if conversion.relu { Clamp::Relu } else { Clamp::None }, breadth, number)
}

fn extremum(op: MinMax, [a, b]: [&Wider; 2]) -> Wider {
    let of = |number: &Wider| if op.xorsign_abs { number.magnitude() } else { number.clone() };
    let negative = |number: &Wider| number.to_f64().is_sign_negative();
    let chosen = match of(a).order(&of(b)) {
        Some(order) => of(if order.is_gt() == op.max { a } else { b }),
        None if op.nan || (a.is_nan() && b.is_nan()) => return if a.is_nan() { a.clone() } else { b.clone() },
        None => of(if a.is_nan() { b } else { a }),
    };
    if op.xorsign_abs && negative(a) != negative(b) { chosen.negated() } else { chosen }
}

/// The result without rounding, in the order of [`numbers`]; nothing is flushed.
pub(super) fn without_rounding(op: &Op, breadth: Breadth, args: &[Wider]) -> Option<Wider> {
    let clamp = |saturate| if saturate { Clamp::Unit } else { Clamp::None };
    Some(match *op {
        Op::Float { ref operation, .. } => clamped(operation.clamp, breadth, exactly(operation, breadth, args)),
        Op::Sign { negate: true, .. } => args[0].negated(),
        Op::Sign { negate: false, .. } => args[0].magnitude(),
        Op::SquareRoot { .. } => args[0].root(),
        Op::Divide { .. } => args[0].over(&args[1]),
        Op::Remainder { .. } => args[0].modulo(&args[1]),
        Op::Scale { .. } => args[0].scaled(args[1].to_f64() as i32),
        Op::Approximate { function, saturate, .. } => {
            clamped(clamp(saturate), breadth, args[0].function(function, &args[1]))
        }
        Op::MinMax { format, max, flush, nan, xorsign_abs, .. } => {
            extremum(MinMax { format, max, flush, nan, xorsign_abs }, [&args[0], &args[1]])
        }
        Op::CopySign { .. } => {
            let magnitude = args[1].magnitude();
            if args[0].to_f64().is_sign_negative() { magnitude.negated() } else { magnitude }
        }
        Op::Convert { integral, rounding, saturate, .. } => {
            let number = if integral { args[0].integral(rounding) } else { args[0].clone() };
            clamped(clamp(saturate), breadth, number)
        }
        _ => return None,
    })
}
