//! Which bytes or half-words of a register a video instruction takes: `.h1`, `.b3210`.

/// Bytes or half-words of a register, or of two: the second's are numbered on from the first's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Selector<'a> {
    /// 8 or 16.
    pub(crate) bits: u32,
    /// Digits, the last one for the lowest lane.
    digits: &'a str,
}

impl<'a> Selector<'a> {
    pub(crate) fn of(text: &'a str) -> Option<Selector<'a>> {
        let (bits, digits) = match text.strip_prefix(".b") {
            Some(digits) => (8, digits),
            None => (16, text.strip_prefix(".h")?),
        };
        let is_right = (1..=4).contains(&digits.len()) && digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
        is_right.then_some(Selector { bits, digits })
    }

    /// The number for each lane, the lowest lane's first.
    pub(crate) fn places(self) -> impl DoubleEndedIterator<Item = u32> {
        self.digits.bytes().rev().map(|digit| u32::from(digit - b'0'))
    }

    /// Whether it may stand at an operand of an instruction of so many lanes.
    pub(crate) fn fits(self, lanes: u32, is_result: bool) -> bool {
        let (all, count) = (32 / self.bits, self.digits.len() as u32);
        let below = |most: u32| self.places().all(|place| place < most);
        match lanes {
            1 => count == 1 && below(all),
            _ if self.bits != 32 / lanes => false,
            // A mask: each lane once, in order.
            _ if is_result => below(all) && self.digits.bytes().rev().is_sorted_by(|low, high| low < high),
            _ => count == lanes && below(2 * all),
        }
    }
}

/// How many numbers of a word an instruction computes with: 1, 2 or 4.
pub(crate) fn lanes(opcode: &str) -> u32 {
    match opcode.as_bytes() {
        [.., b'2'] => 2,
        [.., b'4'] => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_by_lane() {
        let places = |text: &str| Selector::of(text).map(|selector| selector.places().collect::<Vec<_>>());
        assert_eq!(places(".b3210"), Some(vec![0, 1, 2, 3]));
        assert_eq!(places(".h32"), Some(vec![2, 3]));
        for text in [".b", ".b8", ".b01234", ".x", ".h1x", "b0"] {
            assert_eq!(places(text), None, "{text}");
        }
    }

    #[test]
    fn a_selector_fits_an_operand() {
        let fits = |text: &str, lanes, is_result| Selector::of(text).is_some_and(|it| it.fits(lanes, is_result));
        assert!(fits(".b3", 1, true) && fits(".h1", 1, false) && !fits(".h2", 1, false) && !fits(".h10", 1, false));
        assert!(fits(".h10", 2, true) && fits(".h1", 2, true) && !fits(".h01", 2, true) && !fits(".b0", 2, true));
        assert!(fits(".h33", 2, false) && !fits(".h3", 2, false) && !fits(".h41", 2, false));
        assert!(
            fits(".b320", 4, true) && !fits(".b00", 4, true) && fits(".b7777", 4, false) && !fits(".b765", 4, false)
        );
    }
}
