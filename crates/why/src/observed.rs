//! A value that was observed: bits, or a decimal that is right to the digits given.

use roundonce_arith::{Format, Rounding};
use roundonce_isa::{convert, exact_decimal, parse_number};

use roundonce_deviate::{EvalModel, Typed};

use crate::expr::parse_typed;
use crate::literals::{is_integer, is_untyped};
use crate::search::{Explanation, place, ulps};
use crate::whole::whole;

/// An observed value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedValue {
    /// As given.
    pub text: String,
    value: Matcher,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Matcher {
    /// These bits. Any NaN is as good as another where the text said `nan`.
    Bits(Typed),
    /// A decimal without a type.
    Decimal(Decimal),
}

/// How a result is the value that was seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Agreement {
    /// It is the number of its type that was seen.
    Named,
    /// It is another one, which so many digits do not tell from what was seen.
    Rounded,
}

/// Digits without leading zeros, the power of ten of the first, the sign.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl ObservedValue {
    /// Reads an observed value: typed (`0x3f800000`, `0x7a6b:f16`, `1.5f`) or a plain decimal, which every value matches that
    /// rounds to its digits; of results, one that its digits name comes before others. `-0` is only −0; `0` is a zero of either sign.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn parse(text: &str) -> Result<ObservedValue, String> {
        let value = match Decimal::parse(text) {
            Some(decimal) => Matcher::Decimal(decimal),
            None => Matcher::Bits(parse_typed(text)?.0),
        };
        Ok(ObservedValue { text: text.to_owned(), value })
    }

    /// The same of a result of this type: where that has 16 bits, four hex digits are its.
    ///
    /// # Errors
    /// As [`parse`](ObservedValue::parse).
    pub fn parse_of(format: Format, text: &str) -> Result<ObservedValue, String> {
        let has_four_digits = text.len() == 6 && text.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("0x"));
        match format.name() {
            Some(name) if format.width() == 16 && has_four_digits => ObservedValue::parse(&format!("{text}:{name}")),
            _ => ObservedValue::parse(text),
        }
    }

    /// The same as the one number of a format that lies nearest, where it is a decimal.
    pub(crate) fn nearest(&self, format: Format) -> Option<ObservedValue> {
        let Matcher::Decimal(_) = self.value else { return None };
        Some(ObservedValue { text: self.text.clone(), value: Matcher::Bits(self.typed(format)?) })
    }

    /// Whether it is a zero without a type, and a negative one.
    pub(crate) fn zero(&self) -> Option<bool> {
        match &self.value {
            Matcher::Decimal(decimal) if decimal.digits.is_empty() => Some(decimal.negative),
            _ => None,
        }
    }

    /// How a result of an operation that is so evaluated is this value, if it may be observed as it.
    pub(crate) fn agreement(&self, result: Typed, model: &EvalModel) -> Option<Agreement> {
        match &self.value {
            Matcher::Bits(observed) => {
                let stored = convert(result.format, observed.format, Rounding::NearestEven, result.bits).0;
                let any_nan = self.text.trim_start_matches(['-', '+']).starts_with("nan");
                let is_it = model.accepts(observed.format, stored, observed.bits);
                (is_it || any_nan && observed.format.is_nan(stored)).then_some(Agreement::Named)
            }
            Matcher::Decimal(observed) => {
                let other_zero = result.bits ^ result.format.sign_mask();
                observed.agreement(result.format, result.bits).or_else(|| {
                    let is_zero = model.accepts(result.format, result.bits, other_zero);
                    is_zero.then(|| observed.agreement(result.format, other_zero)).flatten()
                })
            }
        }
    }

    /// Whether a result is the value, or is printed so.
    pub(crate) fn prints_as(&self, result: Typed) -> bool {
        match &self.value {
            Matcher::Bits(observed) => *observed == result,
            Matcher::Decimal(observed) => observed.agreement(result.format, result.bits).is_some(),
        }
    }

    /// Whether it has this type.
    pub(crate) fn is_typed(&self, format: Format) -> bool {
        matches!(&self.value, Matcher::Bits(observed) if observed.format == format) && !is_untyped(&self.text)
    }

    /// How many digits were seen of the result of an evaluation that gives it, where they name another number.
    pub(crate) fn digits_of(&self, it: &Explanation) -> Option<usize> {
        let Matcher::Decimal(decimal) = &self.value else { return None };
        let agreement = self.agreement(it.result, &it.evaluation.model());
        (agreement == Some(Agreement::Rounded)).then_some(decimal.digits.len())
    }

    /// Whether it is a whole number without a type that a result is cut to.
    pub(crate) fn is_cut_from(&self, result: Typed) -> bool {
        // An integer is never -0.
        let seen =
            (is_integer(&self.text) && self.zero() != Some(true)).then(|| self.text.parse::<i128>().ok()).flatten();
        seen.is_some() && seen == whole(result) && self.typed(result.format) != Some(result)
    }

    /// The number observed: of its own type, or the nearest of a format to the decimal.
    pub(crate) fn typed(&self, format: Format) -> Option<Typed> {
        match &self.value {
            Matcher::Bits(observed) => Some(*observed),
            Matcher::Decimal(_) => Some(Typed { format, bits: parse_number(format, &self.text)?.bits }),
        }
    }

    /// The type that it was given, where that is another than the result's.
    pub(crate) fn stored_as(&self, format: Format) -> Option<&'static str> {
        let own = self.typed(format)?.format;
        (own != format && !is_untyped(&self.text)).then(|| own.name()).flatten()
    }

    /// What might have been observed in its stead by results of a format.
    pub(crate) fn scale(&self, format: Format) -> Scale {
        match &self.value {
            Matcher::Bits(observed) => Scale { format: observed.format, center: Some(observed.bits), width: 1 },
            Matcher::Decimal(observed) => {
                Scale { format, center: self.bits(format), width: observed.values_between(format).max(1) }
            }
        }
    }

    /// The bits observed, or the nearest bits of the type to the decimal.
    pub fn bits(&self, format: Format) -> Option<u64> {
        self.typed(format).filter(|typed| typed.format == format).map(|typed| typed.bits)
    }
}

/// The values that may be observed: the numbers of a format, or decimals of so many digits where these are coarser.
pub(crate) struct Scale {
    format: Format,
    /// The observed number.
    center: Option<u64>,
    /// Numbers of the format from one observable value to the next.
    width: u64,
}

impl Scale {
    /// How far a result is from the observed value, in values that may be observed; `None` of a NaN.
    pub(crate) fn distance(&self, result: Typed) -> Option<i64> {
        let Scale { format, center: Some(center), width } = *self else { return None };
        let bits = convert(result.format, format, Rounding::NearestEven, result.bits).0;
        if format.is_nan(bits) || format.is_nan(center) {
            return None;
        }
        let (apart, width) = (place(format, bits) - place(format, center), i128::from(width));
        i64::try_from((2 * apart + width * apart.signum()) / (2 * width)).ok()
    }
}

impl Decimal {
    /// How many numbers of a format there are from one decimal of so many digits to the next.
    fn values_between(&self, format: Format) -> u64 {
        let Some(digits) = num_bigint::BigUint::parse_bytes(self.digits.as_bytes(), 10) else { return 0 };
        let unit = self.exponent.saturating_sub(self.digits.len() as i64 - 1);
        let number = |digits: num_bigint::BigUint| parse_number(format, &format!("{digits}e{unit}"));
        let (below, above) = (number(&digits - 1u32), number(digits + 1u32));
        below.zip(above).and_then(|(below, above)| ulps(format, below.bits, above.bits)).unwrap_or(0) / 2
    }

    /// `None` if the text is anything but an unsuffixed decimal.
    fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (digits, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_start_matches('0');
        let leading = (all.len() - significant.len()) as i64;
        let exponent = exponent.saturating_add(whole.len() as i64 - 1 - leading);
        Some(Decimal { negative, digits: significant.to_owned(), exponent })
    }

    fn agreement(&self, format: Format, bits: u64) -> Option<Agreement> {
        if format.is_nan(bits) || format.is_infinite(bits) {
            return None;
        }
        if self.digits.is_empty() {
            let is_it = format.is_zero(bits) && (!self.negative || format.is_negative(bits));
            return is_it.then_some(Agreement::Named);
        }
        let exact = Decimal::parse(&exact_decimal(format, bits))?;
        // Rounded to as many digits as were given. The exact decimal has at most 767 significant ones.
        let rounds_to = |digits: usize| exact.clone().rounded(digits.min(800)).same(self);
        let reads_so = self.reads_as(format, bits);
        let is_it = rounds_to(self.digits.len()) || self.is_filled() && rounds_to(self.trimmed().len()) && reads_so;
        is_it.then_some(if reads_so { Agreement::Named } else { Agreement::Rounded })
    }

    /// Whether zeros may fill the place between the last digit and the point: NumPy and Rust print the fewest digits that
    /// tell a number from all others, and then such zeros.
    fn is_filled(&self) -> bool {
        self.exponent >= self.trimmed().len() as i64
    }

    /// Whether it is rounded to a number of a format.
    fn reads_as(&self, format: Format, bits: u64) -> bool {
        let sign = if self.negative { "-" } else { "" };
        let unit = self.exponent.saturating_sub(self.digits.len() as i64 - 1);
        parse_number(format, &format!("{sign}{}e{unit}", self.digits)).is_some_and(|number| number.bits == bits)
    }

    /// The digits without zeros at the end.
    fn trimmed(&self) -> &str {
        self.digits.trim_end_matches('0')
    }

    /// Rounded to a number of digits, ties to even as every printing library does.
    fn rounded(mut self, count: usize) -> Decimal {
        if self.digits.len() <= count {
            return self;
        }
        let rest = self.digits.split_off(count);
        let odd = self.digits.bytes().last().is_some_and(|digit| digit % 2 == 1);
        let half = format!("5{}", "0".repeat(rest.len() - 1));
        if rest > half || (rest == half && odd) {
            let kept = std::mem::take(&mut self.digits);
            let incremented =
                (num_bigint::BigUint::parse_bytes(kept.as_bytes(), 10).unwrap_or_default() + 1u32).to_string();
            self.exponent += (incremented.len() - kept.len()) as i64;
            self.digits = incremented;
        }
        self
    }

    fn same(&self, other: &Decimal) -> bool {
        self.negative == other.negative && self.exponent == other.exponent && self.trimmed() == other.trimmed()
    }
}
