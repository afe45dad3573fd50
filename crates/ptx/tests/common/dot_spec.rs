//! A matrix multiply-add in the judge's own types.

use roundonce_arith::{Addend, Dot, Element, Format, NarrowFormat, Order, Rounding, ScaleFormat};
use roundonce_oracle::dot::{DotSpec, Kind};
use roundonce_oracle::{Direction, Layout};

fn layout(format: Format) -> Layout {
    Layout { exp_bits: format.exp_bits(), frac_bits: format.frac_bits() }
}

fn kind(element: Element) -> Kind {
    match element {
        Element::Float(Format::TF32) => Kind::Tf32,
        Element::Float(format) => Kind::Ieee(layout(format)),
        Element::Narrow(NarrowFormat::E4M3) => Kind::E4m3,
        Element::Narrow(NarrowFormat::E5M2) => Kind::Ieee(layout(NarrowFormat::E5M2.fields())),
        Element::Narrow(format) => Kind::Finite(layout(format.fields())),
        Element::PowerOfTwo => Kind::Ue8m0,
    }
}

/// The same operation.
pub(crate) fn spec(dot: &Dot) -> DotSpec {
    DotSpec {
        a: kind(dot.a),
        b: kind(dot.b),
        c: layout(dot.c),
        d: layout(dot.d),
        accumulator: layout(dot.accumulator),
        k: dot.k as usize,
        block: dot.block as usize,
        group: dot.group as usize,
        kept: dot.kept.map(|kept| kept as i32),
        halves: dot.order == Order::Halves,
        late_addend: dot.addend == Addend::AfterLastStep,
        direction: match dot.rounding {
            Rounding::NearestEven => Direction::Nearest,
            Rounding::TowardZero => Direction::Zero,
            Rounding::Down => Direction::Down,
            Rounding::Up => Direction::Up,
        },
        fraction: dot.fraction,
        floor: dot.floor,
        scale: dot.scale.map(|scale| {
            let kind = if scale.format == ScaleFormat::Ue8m0 { Kind::Ue8m0 } else { Kind::Ue4m3 };
            (kind, scale.block as usize)
        }),
    }
}
