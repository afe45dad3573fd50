//! Atomic operations: PTX's own, or a loop around a compare-and-swap where it has none with the same bits.

use roundonce_arith::{Format, Operation};
use roundonce_ir::{AtomicKind, IntOp, Op, Operand, Reg, Signedness, Space, Width, arrival};

use super::body::{Body, Refusal, Written, none};
use super::memory::space_word;
use super::needs::since;
use super::ordering::Ordering;
use super::special_float::Extremum;
use super::text::{Arg, bits_type};

/// An atomic operation's places.
#[derive(Clone, Copy)]
struct Place {
    d: Option<Reg>,
    space: Space,
    base: Arg<'static>,
    offset: i64,
    width: Width,
}

impl Body<'_> {
    pub(super) fn atomic(&mut self, op: &Op) -> Written {
        let Op::Atomic { d, kind, space, bytes, address, offset, b, c, high } = op else { return Ok(()) };
        if high.is_some() {
            return self.atomic_of_16_bytes(op);
        }
        let (base, offset) = self.address(*space, *address, *offset)?;
        let width = Width::holding(bytes * 8);
        let place = Place { d: *d, space: *space, base, offset, width };
        let value = self.int(*b, width);
        if op.is_atomic_store() {
            let Ordering { semantics, scope, .. } = self.ordering;
            let at = Arg::Address(&place.base, place.offset);
            self.ins(&["st", semantics, scope, space_word(*space), bits_type(width)], &[at, value]);
            return Ok(());
        }
        match *kind {
            AtomicKind::Int(op) => self.atomic_integer(place, op, value),
            AtomicKind::Increment | AtomicKind::Decrement if width == Width::B32 => {
                let word = if *kind == AtomicKind::Increment { ".inc.u32" } else { ".dec.u32" };
                self.write_atomic(place, word, value);
                Ok(())
            }
            AtomicKind::Increment | AtomicKind::Decrement => none("a counter that is not of 32 bits"),
            AtomicKind::Exchange if width != Width::B16 => {
                // One that returns nothing is a store: `red` has no exchange.
                self.write_atomic(place, if width == Width::B64 { ".exch.b64" } else { ".exch.b32" }, value);
                Ok(())
            }
            AtomicKind::Exchange => self.swapping(place, |_, _| Ok(value)),
            AtomicKind::CompareAndSwap => {
                if width == Width::B16 {
                    self.using(since(6, 3, 70), &["atom.cas.b16"])?;
                }
                let c = self.int(*c, width);
                let d = match place.d {
                    Some(d) => d.into(),
                    None => self.temporary(width),
                };
                let (value, c) = match width {
                    Width::B16 => (self.in_register(value, width), self.in_register(c, width)),
                    _ => (value, c),
                };
                let at = Arg::Address(&place.base, place.offset);
                self.ins(
                    &[
                        "atom",
                        self.ordering.semantics,
                        self.ordering.scope,
                        space_word(*space),
                        ".cas",
                        bits_type(width),
                    ],
                    &[d, at, value, c],
                );
                Ok(())
            }
            AtomicKind::Float { operation, lanes } => self.atomic_sum(place, &operation, lanes, value),
            AtomicKind::FloatMinMax { max, format, lanes } => {
                let value = self.in_register(value, width);
                let how = Extremum { max, format, flush: false, nan: false, xorsign_abs: false };
                self.swapping(place, |body, old| match lanes {
                    1 => body.new_extremum(how, [old, value]),
                    _ => {
                        let halves = [body.halves(old, width), body.halves(value, width)];
                        let [low, high] = [0, 1].map(|lane| body.new_extremum(how, [halves[0][lane], halves[1][lane]]));
                        Ok(body.computed(width, &["mov", bits_type(width)], &[Arg::Vector(&[low?, high?])]))
                    }
                })
            }
            AtomicKind::Arrive => self.arrive(place, value),
        }
    }

    fn new_extremum(&mut self, how: Extremum, operands: [Arg<'static>; 2]) -> Result<Arg<'static>, Refusal> {
        let new = self.temporary(Width::holding(how.format.width()));
        self.extremum(new, how, operands)?;
        Ok(new)
    }

    /// `atom`, or `red` where nothing is returned.
    fn write_atomic(&mut self, place: Place, word: &str, value: Arg<'static>) {
        let at = Arg::Address(&place.base, place.offset);
        match place.d {
            Some(d) => self.ins(
                &["atom", self.ordering.semantics, self.ordering.scope, space_word(place.space), word],
                &[d.into(), at, value],
            ),
            None => self.ins(
                &["red", self.ordering.semantics, self.ordering.scope, space_word(place.space), word],
                &[at, value],
            ),
        }
    }

    fn atomic_integer(&mut self, place: Place, op: IntOp, value: Arg<'static>) -> Written {
        let wide = place.width == Width::B64;
        let word = match op {
            _ if place.width == Width::B16 => return self.atomic_of_16_bits(place, op, value),
            IntOp::Add if wide => ".add.u64",
            IntOp::Add => ".add.u32",
            IntOp::And if wide => ".and.b64",
            IntOp::And => ".and.b32",
            IntOp::Or if wide => ".or.b64",
            IntOp::Or => ".or.b32",
            IntOp::Xor if wide => ".xor.b64",
            IntOp::Xor => ".xor.b32",
            IntOp::Min(Signedness::Unsigned) if wide => ".min.u64",
            IntOp::Min(Signedness::Unsigned) => ".min.u32",
            IntOp::Min(Signedness::Signed) if wide => ".min.s64",
            IntOp::Min(Signedness::Signed) => ".min.s32",
            IntOp::Max(Signedness::Unsigned) if wide => ".max.u64",
            IntOp::Max(Signedness::Unsigned) => ".max.u32",
            IntOp::Max(Signedness::Signed) if wide => ".max.s64",
            IntOp::Max(Signedness::Signed) => ".max.s32",
            _ => return none("such an integer operation on memory"),
        };
        self.write_atomic(place, word, value);
        Ok(())
    }

    fn atomic_of_16_bits(&mut self, place: Place, op: IntOp, value: Arg<'static>) -> Written {
        let word = match op {
            IntOp::Add => "add.s16",
            IntOp::And => "and.b16",
            IntOp::Or => "or.b16",
            IntOp::Xor => "xor.b16",
            IntOp::Min(Signedness::Unsigned) => "min.u16",
            IntOp::Min(Signedness::Signed) => "min.s16",
            IntOp::Max(Signedness::Unsigned) => "max.u16",
            IntOp::Max(Signedness::Signed) => "max.s16",
            _ => return none("such an integer operation on memory"),
        };
        self.swapping(place, |body, old| Ok(body.computed(Width::B16, &[word], &[old, value])))
    }

    /// A sum of floats: PTX's own flushes subnormals of f32 in global memory and nothing else.
    fn atomic_sum(&mut self, place: Place, operation: &Operation, lanes: u32, value: Arg<'static>) -> Written {
        let plain = Operation { flush: false, ..*operation };
        let is_sum = plain == Operation::new(operation.op, operation.format, roundonce_arith::Rounding::NearestEven);
        let flushes = operation.flush || place.space == Space::Shared;
        let word = match (operation.format, lanes) {
            _ if !is_sum => None,
            (Format::F32, 1) if flushes => Some((".add.f32", since(2, 0, 20))),
            (Format::F64, 1) if !operation.flush => Some((".add.f64", since(5, 0, 60))),
            (Format::F16, 1) if !operation.flush => Some((".add.noftz.f16", since(6, 3, 70))),
            (Format::F16, 2) if !operation.flush => Some((".add.noftz.f16x2", since(6, 2, 60))),
            (Format::BF16, 1) if !operation.flush => Some((".add.noftz.bf16", since(7, 8, 90))),
            (Format::BF16, 2) if !operation.flush => Some((".add.noftz.bf16x2", since(7, 8, 90))),
            _ => None,
        };
        if let Some((word, gate)) = word.filter(|(_, gate)| self.has(gate)) {
            self.using(gate, &["atom", word])?;
            let value = match (value, operation.format, lanes) {
                (Arg::Int(bits, _), Format::F32, 1) => Arg::F32(bits),
                (Arg::Int(bits, _), Format::F64, 1) => Arg::F64(bits),
                _ => self.in_register(value, place.width),
            };
            self.write_atomic(place, word, value);
            return Ok(());
        }
        // Shared memory is never flushed.
        let operation = if place.space == Space::Shared { plain } else { *operation };
        if place.space == Space::Generic && operation.flush {
            return none("a sum in generic memory that flushes");
        }
        let value = self.in_register(value, place.width);
        self.swapping(place, |body, old| {
            let sum = body.temporary(place.width);
            body.compute(sum, operation, lanes, [old, value, Arg::Sink])?;
            Ok(sum)
        })
    }

    /// The barrier object less the arrivals; a new phase where nothing is pending then.
    fn arrive(&mut self, place: Place, value: Arg<'static>) -> Written {
        const W: Width = Width::B64;
        let int = |bits: u64| Arg::Int(bits, W);
        let value = self.in_register(value, W);
        self.swapping(place, |body, old| {
            let phase = body.computed(W, &["and.b64"], &[old, int(arrival::PHASE)]);
            let less = body.computed(W, &["sub.s64"], &[old, value]);
            let counts = body.computed(W, &["and.b64"], &[less, int(!arrival::PHASE)]);
            let pending = int((arrival::EXPECTED - 1) | (arrival::PHASE - arrival::BYTES));
            let pending = body.computed(W, &["and.b64"], &[counts, pending]);
            let waits = body.computed(Width::Pred, &["setp.ne.s64"], &[pending, int(0)]);
            let goes_on = body.computed(W, &["or.b64"], &[phase, counts]);
            let other = body.computed(W, &["xor.b64"], &[goes_on, int(arrival::PHASE)]);
            let shift = Arg::Int(arrival::EXPECTED.trailing_zeros().into(), Width::B32);
            let expected = body.computed(W, &["shr.u64"], &[counts, shift]);
            let begun = body.computed(W, &["or.b64"], &[other, expected]);
            Ok(body.computed(W, &["selp.b64"], &[goes_on, begun, waits]))
        })
    }

    /// A new value computed from the old one, again until no other thread has written in between.
    fn swapping(
        &mut self,
        place: Place,
        new: impl FnOnce(&mut Self, Arg<'static>) -> Result<Arg<'static>, Refusal>,
    ) -> Written {
        let width = place.width;
        if width == Width::B16 {
            self.using(since(6, 3, 70), &["atom.cas.b16"])?;
        }
        let label = self.new_label();
        let guard = self.guard.take();
        if let Some(mut skipped) = guard {
            skipped.expected = !skipped.expected;
            self.text.push_str("    ");
            self.push_guard(skipped);
            self.line(format_args!("bra $Ldone{label};"));
        }
        let (space, bits) = (space_word(place.space), bits_type(width));
        let at = Arg::Address(&place.base, place.offset);
        let old = self.computed(width, &["ld", space, bits], &[at]);
        let seen = self.temporary(width);
        self.line(format_args!("$Lloop{label}:"));
        self.ins(&["mov", bits], &[seen, old]);
        let new = new(self, seen)?;
        let new = self.in_register(new, width);
        let Ordering { semantics, scope, .. } = self.ordering;
        self.ins(&["atom", semantics, scope, space, ".cas", bits], &[old, at, seen, new]);
        let word = match width {
            Width::B16 => "setp.ne.u16",
            Width::B64 => "setp.ne.u64",
            _ => "setp.ne.u32",
        };
        let again = self.computed(Width::Pred, &[word], &[old, seen]);
        self.text.push_str("    @");
        self.push_arg(&again);
        self.line(format_args!(" bra $Lloop{label};"));
        if let Some(d) = place.d {
            self.ins(&["mov", bits], &[d.into(), old]);
        }
        if guard.is_some() {
            self.line(format_args!("$Ldone{label}:"));
        }
        self.guard = guard;
        Ok(())
    }

    /// `atom.exch.b128`, `atom.cas.b128`: two registers each.
    fn atomic_of_16_bytes(&mut self, op: &Op) -> Written {
        let Op::Atomic { d, kind, space, address, offset, b, c, high: Some(high), .. } = op else { return Ok(()) };
        let is_exchange = *kind == AtomicKind::Exchange;
        let word = if is_exchange { ".exch.b128" } else { ".cas.b128" };
        self.using(since(8, 3, 90), &["atom", self.ordering.semantics, self.ordering.scope, space_word(*space), word])?;
        let (base, offset) = self.address(*space, *address, *offset)?;
        const W: Width = Width::B64;
        let label = self.new_label();
        let mut pair = |name: &str, low: Operand, high: Operand| {
            let halves = [self.register(low, W), self.register(high, W)];
            self.line(format_args!("    .reg .b128 %{name}{label};"));
            self.text.push_str("    mov.b128 %");
            self.text.push_str(name);
            super::text::push_number(&mut self.text, label.into());
            self.text.push_str(", ");
            self.push_arg(&Arg::Vector(&halves));
            self.text.push_str(";\n");
        };
        pair("operand", *b, high.b);
        if !is_exchange {
            pair("new", *c, high.c);
        }
        self.line(format_args!("    .reg .b128 %old{label};"));
        let names = ["old", "operand", "new"].map(|name| format!("%{name}{label}"));
        let at = Arg::Address(&base, offset);
        let all = [Arg::Text(&names[0]), at, Arg::Text(&names[1]), Arg::Text(&names[2])];
        self.ins(
            &["atom", self.ordering.semantics, self.ordering.scope, space_word(*space), word],
            if is_exchange { &all[..3] } else { &all },
        );
        let halves = [*d, high.d].map(|d| d.map_or(Arg::Sink, Arg::Reg));
        if d.is_some() || high.d.is_some() {
            self.ins(&["mov.b128"], &[Arg::Vector(&halves), all[0]]);
        }
        Ok(())
    }
}
