//! The integer multiply-add against numbers without a bound.

use num_bigint::BigInt;
use roundonce::integer::{instruction, is_integer};
use roundonce::ptx::integer::{FORMS, NOT_RUN};
use roundonce_oracle::generate::SplitMix64;

fn bit(place: u32) -> BigInt {
    BigInt::from(1) << place
}

/// Bits as a number.
fn number(bits: u64, width: u32, signed: bool) -> BigInt {
    let number = BigInt::from(bits) % bit(width);
    if signed && number >= bit(width - 1) { number - bit(width) } else { number }
}

/// The low `width` bits of a number, from `low` up.
fn field(number: &BigInt, low: u32, width: u32) -> u64 {
    // A shift of a negative number rounds down, as two's complement does.
    let modulus = bit(width);
    let field: BigInt = (((number >> low) % &modulus) + &modulus) % &modulus;
    u64::try_from(field).unwrap()
}

/// What the manual says of a spelling: the result and the carry.
fn judged(spelling: &str, [a, b, c, carry]: [u64; 4]) -> (u64, bool) {
    let words: Vec<&str> = spelling.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let ty = words.iter().rev().find(|word| word[1..].parse::<u32>().is_ok()).unwrap();
    let (signed, bits) = (ty.starts_with('s'), ty[1..].parse::<u32>().unwrap());
    if words[0].starts_with("dp") {
        let signs = [words[words.len() - 2], words[words.len() - 1]].map(|word| word.starts_with('s'));
        let mut sum = number(c, 32, signs[0] || signs[1]);
        let (parts, width, first) = match words[0] {
            "dp4a" => (4, 8, 0),
            _ => (2, 16, if has("hi") { 2 } else { 0 }),
        };
        for part in 0..parts {
            let x = number(a >> (part * width), width, signs[0]);
            sum += x * number(b >> ((first + part) * 8), 8, signs[1]);
        }
        return (field(&sum, 0, 32), false);
    }
    let factor = if words[0] == "mad24" { 24 } else { bits };
    let product = number(a, factor, signed) * number(b, factor, signed);
    if has("wide") {
        return (field(&(product + number(c, 2 * bits, signed)), 0, 2 * bits), false);
    }
    let low = match (words[0], has("hi")) {
        (_, false) => 0,
        ("mad24", true) => 16,
        (_, true) => bits,
    };
    let part = field(&product, low, bits);
    if has("sat") {
        let sum = number(part, bits, true) + number(c, bits, true);
        let clamped = sum.clamp(-bit(bits - 1), bit(bits - 1) - 1);
        return (field(&clamped, 0, bits), false);
    }
    let carry = u64::from(words[0] == "madc" && carry != 0);
    let sum = BigInt::from(part) + BigInt::from(c) + carry;
    (field(&sum, 0, bits), sum >= bit(bits))
}

#[test]
fn every_spelling_agrees_with_unbounded_numbers() {
    let mut random = SplitMix64(7);
    let mut count = 0;
    for (spelling, _) in FORMS.iter().flat_map(|form| form.spelled()) {
        let found = instruction(&spelling, &Default::default()).unwrap();
        assert!(is_integer(&spelling), "{spelling}");
        for _ in 0..3_000 {
            // Any bits, and the edges of every range.
            let mut operand = |bits: u32| {
                let mask = u64::MAX >> (64 - bits);
                let any = random.next_bits();
                let edge = [0, 1, mask, mask >> 1, (mask >> 1) + 1, 0x80_0000, 0xff_ffff][any as usize % 7];
                (if any >> 60 < 6 { edge } else { random.next_bits() }) & mask
            };
            let mut operands: Vec<u64> = found.operands.iter().map(|ty| operand(ty.bits)).collect();
            if let Some(carry) = operands.get_mut(3) {
                *carry &= 1;
            }
            let (bits, carry) = judged(&spelling, core::array::from_fn(|at| operands.get(at).copied().unwrap_or(0)));
            let result = found.eval(&operands);
            assert_eq!(result.bits, bits, "{spelling} {operands:x?}");
            assert_eq!(result.carry, spelling.contains(".cc").then_some(carry), "{spelling} {operands:x?}");
            let explained = found.explain(&spelling, &operands);
            assert!(explained.steps.iter().all(|step| !step.is_empty()), "{spelling} {operands:x?}");
        }
        count += 1;
    }
    assert_eq!(count, 58, "spellings");
}

#[test]
fn what_is_wrong_is_said() {
    let message = |spelling: &str| instruction(spelling, &Default::default()).unwrap_err();
    for form in NOT_RUN {
        for (spelling, _) in form.spelled() {
            assert_eq!(message(&spelling).code, roundonce::NOT_COMPUTED);
        }
    }
    assert_eq!(message("mad.lo.sat.s32").code, "FORM0002");
    assert_eq!(message("dp4a.s32").code, "FORM0002");
    assert_eq!(message("mad.wide.s64").code, "FORM0002");
    assert_eq!(message("dp4a.u32.u32@sm_60").code, "FORM0003");
    let mad = instruction("mad.lo.s16", &Default::default()).unwrap();
    for (texts, code) in [
        (vec!["1", "2"], "FORM0005"),
        (vec!["1", "2", "65536"], "FORM0006"),
        (vec!["1", "2", "-32769"], "FORM0006"),
        (vec!["1", "1.5", "2"], "FORM0006"),
        (vec!["1", "+1", "2"], "FORM0006"),
    ] {
        assert_eq!(mad.read(&texts).unwrap_err().code, code, "{texts:?}");
    }
    assert_eq!(mad.eval(&mad.read(&["-32768", "0x2", "65535"]).unwrap()).bits, 0xffff);
}

/// Every spelling over an array that is cut into parts, against one evaluation at a time.
#[test]
fn arrays_are_the_same_evaluations() {
    use roundonce::arith::Elements;
    use roundonce::array::{Operand, PART, Results, integer_into};
    let count = PART + 5;
    for spelling in ["mad.lo.s16", "mad.hi.u32", "mad.wide.s32", "mad.hi.s64", "madc.lo.cc.u32", "dp4a.s32.u32"] {
        let found = instruction(spelling, &roundonce::Target::default()).expect(spelling);
        let column = |place: u64, bits: u32| {
            let mut elements = Elements::of_width(bits);
            let bytes = (0..count as u64).flat_map(|at| {
                let value = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(place as u32 * 17);
                // The fourth operand is a carry flag.
                let value = if place == 3 { value & 1 } else { value };
                value.to_le_bytes()[..bits as usize / 8].to_vec()
            });
            elements.fill_from_bytes(&bytes.collect::<Vec<u8>>());
            elements
        };
        let columns: Vec<Elements> = (0..).zip(&found.operands).map(|(place, ty)| column(place, ty.bits)).collect();
        let operands: Vec<Operand> = columns.iter().map(Operand::from).collect();
        let mut out = Elements::of_width(found.result.bits);
        out.resize(count);
        integer_into(&found, &operands, Results::from(&mut out)).expect(spelling);
        let rows: Vec<Vec<u64>> = columns.iter().map(|elements| elements.iter().collect()).collect();
        for (at, bits) in out.iter().enumerate() {
            let operands: Vec<u64> = rows.iter().map(|row| row[at]).collect();
            assert_eq!(bits, found.eval(&operands).bits, "{spelling} {at}");
        }
    }
    let madc = instruction("madc.lo.u32", &roundonce::Target::default()).unwrap();
    assert!(madc.read(&["1", "2", "3", "2"]).is_err() && madc.read(&["1", "2", "3", "-1"]).is_err());
    let twos = [2u32; 2];
    let flags = [Operand::U32(&twos), Operand::U32(&twos), Operand::U32(&twos), Operand::U32(&twos)];
    let mut out = [0u32; 2];
    assert_eq!(integer_into(&madc, &flags, Results::U32(&mut out)).unwrap_err().code, "FORM0006");
}
