//! Instructions outside the multiply-add family: their operands, by the places of a signature.

use super::addresses::name_in_sum;
use super::names::{self, is_special};
use super::operands::{Immediate, Sum, Wanted};
use super::scope::Entity;
use super::signature::BySignature;
use super::{Check, INSTRUCTIONS};
use crate::ast::{Instruction, Operand, OperandKind, Unary};
use crate::literal::{LARGEST_ALIGNMENT, alignment, evaluate};
use crate::opcodes::space_name;
use crate::signatures::{Place, PlaceKind, Typed, holders};
use crate::types::{ScalarKind, Type};
use crate::video::{Selector, lanes};
use roundonce_isa::Finding;

/// Sources as messages name them.
static SOURCES: [&str; 6] = ["a", "b", "c", "e", "f", "g"];

/// The type of twice the bits.
fn widened(ty: &str) -> &str {
    match ty {
        ".u16" => ".u32",
        ".s16" => ".s32",
        ".u32" => ".u64",
        ".s32" => ".s64",
        _ => ty,
    }
}

/// Of bits.
fn untyped(bits: u32) -> &'static str {
    match bits {
        8 => ".b8",
        16 => ".b16",
        32 => ".b32",
        _ => ".b64",
    }
}

/// The constants that stand for a value of a type.
fn constants(ty: &str) -> Immediate {
    match Type::of(ty) {
        _ if matches!(ty, "n" | "c" | "g") => Immediate::Integer,
        _ if ty == "e" => Immediate::Byte,
        _ if ty == "i" => Immediate::Barrier,
        _ if ty == "t" => Immediate::Threads,
        _ if ty == "u" => Immediate::SomeThreads,
        Some(Type { components: 2.., .. }) | None => Immediate::None,
        Some(Type { kind: ScalarKind::Bits, bits: 32, .. }) => Immediate::IntegerOrSingle,
        Some(Type { kind: ScalarKind::Bits, bits: 64, .. }) => Immediate::IntegerOrDouble,
        Some(Type { kind: ScalarKind::Float(_), bits: 16, .. }) => Immediate::None,
        Some(Type { kind: ScalarKind::Float(_), .. }) => Immediate::Floating,
        Some(_) => Immediate::Integer,
    }
}

/// What is found of a vector of mixed types, and a help.
pub(super) const MIXED: (&str, &str) = (
    "registers of several types in braces",
    "the registers of a vector are of one width, and of one kind where they are not of bits",
);
/// A special register of several numbers where one is wanted: what was found, and help.
pub(super) fn vector_without_component(name: &str) -> (String, String) {
    (format!("the vector `{name}`"), format!("name a component: `{name}.x`"))
}

impl<'a> Check<'_, 'a> {
    /// The operands of an instruction whose modifiers and number of operands are a signature's.
    pub(super) fn by_places(&mut self, instruction: &Instruction<'a>, spelled: &BySignature<'a>) {
        let BySignature { row, types, written, takes_sums } = spelled;
        let count = written.iter().find_map(|word| word.strip_prefix(".v")?.parse().ok());
        let space = written.iter().find_map(|word| space_name(word));
        let mut sources = SOURCES.into_iter();
        let operands = self.module.operands(instruction.operands);
        for (operand, place) in operands.iter().zip(row.places(written)) {
            let ty = match place.ty {
                Typed::Written(index) => types.get(index).copied().unwrap_or_default(),
                Typed::Widened if written.contains(&".wide") => types.first().copied().map_or("", widened),
                Typed::Widened => types.first().copied().unwrap_or_default(),
                Typed::Bits => types.first().and_then(|ty| Type::of(ty)).map_or("", |ty| untyped(ty.bits)),
                Typed::Fixed(ty) => ty,
            };
            let ty = match place.kind {
                PlaceKind::Policy => ".u64",
                PlaceKind::Fraction => ".f32",
                _ => ty,
            };
            let is_result = place.kind == PlaceKind::Result;
            let name = if is_result { "d" } else { sources.next().unwrap_or("g") };
            let immediate = if is_result { Immediate::None } else { constants(ty) };
            let sum = match (place.ty, Type::of(ty)) {
                _ if !takes_sums || place.selects => Sum::Never,
                (Typed::Written(_) | Typed::Widened, Some(ty)) => Sum::Of(ty),
                _ => Sum::Alone,
            };
            let wanted = Wanted::plain(name, holders(ty, place.relaxed), immediate, INSTRUCTIONS).with_sum(sum);
            let count = count.filter(|_| place.vector);
            // Braces around one value are as good as none where there may be several: `ld.b32 {%r1}, [%rd1]`.
            let operand = match operand.kind {
                OperandKind::Vector(items) if items.len == 1 && count.is_none() && (place.vector || place.packs) => {
                    self.module.operands(items).first().unwrap_or(operand)
                }
                _ => operand,
            };
            let plain;
            let operand = if place.selects || place.negates {
                let Some(found) = self.without_selector(operand, place, lanes(instruction.opcode), &wanted) else {
                    continue;
                };
                plain = found;
                &plain
            } else {
                operand
            };
            match place.kind {
                PlaceKind::Result => self.result_place(operand, place, &wanted, ty, count),
                PlaceKind::Source | PlaceKind::Policy => {
                    self.source_place(operand, (place, space), &wanted, ty, count);
                }
                PlaceKind::Fraction => {
                    self.source_place(operand, (place, space), &wanted, ty, count);
                    // As numbers of f32 have the order of their bits.
                    self.constant_in(
                        operand,
                        name,
                        ".f32",
                        |bits| (1..=0x3f80_0000).contains(&bits),
                        "above 0 and at most 1",
                    );
                }
                PlaceKind::Address => {
                    let wide = space.is_none_or(|space| space == ".global");
                    self.address_place(operand, &wanted, space, (wide, place.symbols));
                    self.parameter_place(instruction, operand);
                }
                PlaceKind::AddressIn(space) => self.address_place(operand, &wanted, Some(space), (false, false)),
                PlaceKind::Constant => {
                    let wanted = Wanted::plain(name, &[], Immediate::Integer, INSTRUCTIONS);
                    self.constant_place(operand, &wanted);
                }
                PlaceKind::Number { least, most, step } => {
                    self.constant_place(operand, &Wanted::plain(name, &[], Immediate::Integer, INSTRUCTIONS));
                    let fits = |bits| (u64::from(least)..=most.into()).contains(&bits) && bits % u64::from(step) == 0;
                    let expected = match least == most {
                        true => least.to_string(),
                        false => format!("a multiple of {step} from {least} to {most}"),
                    };
                    self.constant_in(operand, name, ".u64", fits, &expected);
                }
                PlaceKind::Alignment => self.alignment_place(operand, name),
                PlaceKind::Label => self.label_place(operand, &wanted),
                PlaceKind::Image => {
                    let wanted = Wanted::plain(name, holders(".b32", false), Immediate::None, INSTRUCTIONS);
                    self.image_place(instruction, operand, written, &wanted);
                }
                PlaceKind::Any => self.declared_in(operand),
            }
        }
    }

    /// An operand without its minus and its selector, where it may have them.
    fn without_selector(
        &mut self,
        operand: &Operand<'a>,
        place: &Place,
        lanes: u32,
        wanted: &Wanted,
    ) -> Option<Operand<'a>> {
        let operand = match operand.kind {
            OperandKind::Unary(Unary::Minus, inner) if place.negates => {
                let inner = self.module.operand(inner);
                let is_register = matches!(inner.kind, OperandKind::Name(_) | OperandKind::Selected(..));
                if is_register { inner } else { operand }
            }
            _ => operand,
        };
        let OperandKind::Selected(name, text) = operand.kind else { return Some(*operand) };
        let is_result = place.kind == PlaceKind::Result;
        if place.selects && Selector::of(text).is_some_and(|selector| selector.fits(lanes, is_result)) {
            return Some(Operand { kind: OperandKind::Name(name), ..*operand });
        }
        self.declared_in(operand);
        let help = match lanes {
            1 => "one byte or half-word: `.b0` to `.b3`, `.h0`, `.h1`",
            2 => "half-words of both sources, `.h10`; of the result those to write",
            _ => "bytes of both sources, `.b3210`; of the result those to write",
        };
        self.refuse(
            if is_result { "PTX0029" } else { "PTX0030" },
            operand,
            wanted,
            &format!("the selector `{text}`"),
            help,
        );
        None
    }

    fn result_place(&mut self, operand: &Operand<'a>, place: &Place, wanted: &Wanted, ty: &str, count: Option<usize>) {
        let module = self.module;
        match operand.kind {
            OperandKind::Discard if place.discards && !place.second.1 => {}
            OperandKind::Pair(items) if place.second.0 => {
                let [first, second] = module.operands(items) else { return };
                if count.is_some() {
                    self.parts(first, place, wanted, ty, count, true);
                } else if !(place.discards && first.kind == OperandKind::Discard) {
                    self.destination(first, wanted);
                }
                if second.kind != OperandKind::Discard {
                    self.destination(
                        second,
                        &Wanted::plain("p", holders(".pred", false), Immediate::None, INSTRUCTIONS),
                    );
                }
            }
            _ if place.second.1 => {
                self.refuse("PTX0029", operand, wanted, "no predicate", "write the results as `d|p`");
            }
            _ if count.is_some() || self.is_packed(operand, place, ty) => {
                self.parts(operand, place, wanted, ty, count, true);
            }
            _ => self.destination(operand, wanted),
        }
    }

    /// With the state space that is written.
    fn source_place(
        &mut self,
        operand: &Operand<'a>,
        (place, space): (&Place, Option<&str>),
        wanted: &Wanted,
        ty: &str,
        count: Option<usize>,
    ) {
        let module = self.module;
        if count.is_some() || self.is_packed(operand, place, ty) {
            return self.parts(operand, place, wanted, ty, count, false);
        }
        match operand.kind {
            OperandKind::Unary(Unary::Not, inner) if matches!(ty, ".pred" | "c") => {
                self.source(module.operand(inner), wanted)
            }
            OperandKind::Name(name) | OperandKind::Component(name, _)
                if place.special && is_special(name) && self.scopes.find(name).is_none() =>
            {
                self.special(name, operand.span);
                if matches!(operand.kind, OperandKind::Name(_)) && names::special_lanes(name) > 1 {
                    let (found, help) = vector_without_component(name);
                    return self.refuse("PTX0030", operand, wanted, &found, &help);
                }
                if let OperandKind::Component(_, component) = operand.kind
                    && names::special_lanes(name) == 1
                {
                    let found = format!("`{}` of `{name}`, one number", component.text());
                    return self.refuse("PTX0030", operand, wanted, &found, "`%tid` and its like have components");
                }
                let widths = names::special_widths(name);
                let widest = widths.last().copied().unwrap_or_default();
                let holds = Type::of(ty).is_some_and(|ty| match ty.kind {
                    ScalarKind::Pred => widest == 1,
                    _ if !ty.is_integer() || widest == 1 => false,
                    // A conversion reads the low bits.
                    _ if place.relaxed => ty.bits <= widest,
                    _ if place.packs => widths.contains(&ty.bits),
                    _ => ty.bits == widest,
                });
                if !holds {
                    let widths: Vec<String> = widths.iter().map(u32::to_string).collect();
                    let help = match widest {
                        1 => "it is a predicate".to_owned(),
                        _ => format!("`mov` reads {} bits of it, braces and `cvt` {widest}", widths.join(" or ")),
                    };
                    self.refuse("PTX0030", operand, wanted, &format!("the special register `{name}`"), &help);
                }
            }
            _ if place.symbols && self.is_symbol(operand) => self.symbol(operand, space, wanted, ty),
            OperandKind::Name(name)
                if matches!(place.ty, Typed::Fixed(_)) && self.scopes.find(name) == Some(Entity::Function) =>
            {
                self.refuse("PTX0030", operand, wanted, &format!("the function `{name}`"), "");
            }
            _ => self.source(operand, wanted),
        }
    }

    /// Whether an operand is several, where they make one value of bits.
    fn is_packed(&self, operand: &Operand<'a>, place: &Place, ty: &str) -> bool {
        place.packs
            && Type::of(ty).is_some_and(Type::is_untyped)
            && match operand.kind {
                OperandKind::Vector(_) => true,
                OperandKind::Name(name) => matches!(self.scopes.find(name), Some(Entity::Register { lanes: 2.., .. })),
                _ => false,
            }
    }

    /// Parts in braces, or a vector register: `count` of the type, or as many as share its bits.
    fn parts(
        &mut self,
        operand: &Operand<'a>,
        place: &Place,
        wanted: &Wanted,
        ty: &str,
        count: Option<usize>,
        is_result: bool,
    ) {
        let module = self.module;
        let items = match operand.kind {
            OperandKind::Vector(items) => module.operands(items),
            OperandKind::Name(name) => {
                let lanes = match self.scopes.find(name) {
                    Some(Entity::Register { lanes, .. }) => usize::from(lanes),
                    None if is_special(name) => {
                        self.special(name, operand.span);
                        let holds = |ty: Type| ty.is_integer() && names::special_widths(name).contains(&ty.bits);
                        if !place.special || !Type::of(ty).is_some_and(holds) {
                            let found = format!("the special register `{name}`");
                            let help = "`mov.v4` reads 16 or 32 bits of each";
                            return self.refuse("PTX0030", operand, wanted, &found, help);
                        }
                        names::special_lanes(name)
                    }
                    _ => 1,
                };
                // Of a vector register only the number of its components is looked at.
                if count.is_some_and(|count| count != lanes) {
                    let message = format!("`{name}`, {lanes} of them, for {} values", count.unwrap_or(1));
                    self.refuse("PTX0030", operand, wanted, &message, "put as many registers in braces as `.v` says");
                }
                return;
            }
            _ => return self.shape(operand, wanted, if is_result { "PTX0029" } else { "PTX0030" }),
        };
        let bits = Type::of(ty).map_or(0, |ty| ty.bits);
        let is_count = count.map_or(matches!(items.len(), 2 | 4), |count| count == items.len());
        if !is_count {
            let found = format!("{} values in braces", items.len());
            return self.refuse(
                "PTX0030",
                operand,
                wanted,
                &found,
                "put as many registers in braces as there are values",
            );
        }
        let part = if count.is_some() { ty } else { untyped(bits / items.len() as u32) };
        let part_bits = Type::of(part).map_or(0, |ty| ty.bits);
        let immediate = if is_result { Immediate::None } else { constants(part) };
        let wanted = Wanted::plain(wanted.name, holders(part, place.relaxed), immediate, INSTRUCTIONS);
        if is_result && items.iter().all(|item| item.kind == OperandKind::Discard) {
            let help = "name a register for one part at least, from which the others have their type";
            return self.refuse("PTX0030", operand, &wanted, "only `_` in braces", help);
        }
        if self.is_mixed(items) {
            return self.refuse("PTX0027", operand, &wanted, MIXED.0, MIXED.1);
        }
        // A part is a value of its own: neither parts nor an address, and maybe a special register of its width.
        let value = Place { packs: false, symbols: false, relaxed: false, special: true, ..*place };
        for item in items {
            match (is_result, item.kind) {
                _ if part_bits <= 32 && self.is_predicate_among_bits(item, items) => {
                    let message = "a predicate in braces: expected a register of bits; the assembler says nothing";
                    self.report(Finding::note("PTX0027", item.span.place(), message).rule(INSTRUCTIONS));
                }
                (_, OperandKind::Binary(..)) if name_in_sum(module, item).is_some() => {
                    self.refuse("PTX0030", item, &wanted, "a sum in braces", "move it into a register first");
                }
                (_, OperandKind::Name(name)) if self.scopes.find(name) == Some(Entity::Function) => {
                    self.refuse("PTX0030", item, &wanted, &format!("the function `{name}` in braces"), "");
                }
                (false, OperandKind::Name(name))
                    if place.packs && self.variable_as(name).is_some_and(|ty| wanted.takes(ty)) =>
                {
                    let message =
                        "a variable in braces: expected a register of its address; the assembler says nothing";
                    self.report(Finding::note("PTX0030", item.span.place(), message).rule(INSTRUCTIONS));
                }
                (true, OperandKind::Discard) => {}
                (true, _) => self.destination(item, &wanted),
                (false, _) => self.source_place(item, (&value, None), &wanted, part, None),
            }
        }
    }

    /// The type of a variable that is one number: in braces ptxas takes it for a register of that type.
    fn variable_as(&self, name: &str) -> Option<&'a str> {
        match self.scopes.find(name) {
            Some(Entity::Variable(_, _, layout)) => layout.number(),
            _ => None,
        }
    }

    /// Whether an item is a predicate beside a `.b32` register.
    fn is_predicate_among_bits(&self, item: &Operand<'a>, items: &[Operand<'a>]) -> bool {
        let is = |item: &Operand<'a>, ty: &str| match item.name().map(|name| (name, self.scopes.find(name))) {
            Some((_, Some(Entity::Register { ty: is, lanes: 1 }))) => is == ty,
            Some((name, None)) => ty == ".pred" && is_special(name) && names::special_widths(name) == [1],
            _ => false,
        };
        is(item, ".pred") && items.iter().any(|item| is(item, ".b32"))
    }

    /// Whether registers in braces are of several widths, or of several kinds other than bits: the assembler compares each
    /// with the next.
    pub(super) fn is_mixed(&self, items: &[Operand<'a>]) -> bool {
        let types = || {
            items.iter().filter_map(Operand::name).filter_map(|name| match self.scopes.find(name) {
                Some(Entity::Register { ty, lanes: 1 }) => Type::of_register(ty),
                _ => self.variable_as(name).and_then(Type::of_register),
            })
        };
        // A predicate is refused for what it is.
        let differ = |one: Type, other: Type| {
            let is_bits = one.kind == ScalarKind::Bits || other.kind == ScalarKind::Bits;
            let is_one_kind = one.is_integer() && other.is_integer() || one.kind == other.kind;
            let is_pred = one.kind == ScalarKind::Pred || other.kind == ScalarKind::Pred;
            !is_pred && (one.bits != other.bits || !(is_bits || is_one_kind))
        };
        types().zip(types().skip(1)).any(|(one, other)| differ(one, other))
    }

    pub(super) fn constant_place(&mut self, operand: &Operand<'a>, wanted: &Wanted) {
        match operand.kind {
            OperandKind::Name(name) if name != "WARP_SZ" => {
                self.declared_in(operand);
                let found = format!("`{name}`, no constant");
                let expected = Wanted::plain(wanted.name, &[], Immediate::Integer, INSTRUCTIONS);
                self.refuse("PTX0027", operand, &expected, &found, "write an integer");
            }
            _ => self.source(operand, wanted),
        }
    }

    /// Reports a constant, of a type, whose bits are none of those expected.
    fn constant_in(&mut self, operand: &Operand<'a>, name: &str, ty: &str, fits: impl Fn(u64) -> bool, expected: &str) {
        let bits = evaluate(self.module, operand).ok().and_then(|constant| constant.bits_as(ty));
        if bits.is_some_and(|bits| !fits(bits)) {
            let message = format!("operand `{name}` is out of range: expected {expected}");
            self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
        }
    }

    fn alignment_place(&mut self, operand: &Operand<'a>, name: &'static str) {
        let wanted = Wanted::plain(name, &[], Immediate::Integer, INSTRUCTIONS);
        self.constant_place(operand, &wanted);
        let is_integer = evaluate(self.module, operand).is_ok_and(|constant| constant.bits_as(".u64").is_some());
        if is_integer && alignment(self.module, operand).is_none() {
            let message = format!("operand `{name}` is no power of two up to {LARGEST_ALIGNMENT}");
            self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
        }
    }

    fn label_place(&mut self, operand: &Operand<'a>, wanted: &Wanted) {
        match operand.name().map(|name| (name, self.scopes.find(name))) {
            Some((_, Some(Entity::Label))) => {}
            Some((name, None)) => self.undeclared(name, operand.span),
            _ => self.refuse("PTX0030", operand, wanted, "no label", "name a label of this function"),
        }
    }
}
