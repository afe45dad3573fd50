//! Every row of matrix multiply-add against exact integers (`dev/oracle`), on random operands. `ROUNDONCE_CASES` is the number
//! of cases a row; `dev/nightly.sh` asks for a million.

#[path = "common/dot_spec.rs"]
mod dot_spec;

use dot_spec::spec;
use roundonce_arith::batch::Level;
use roundonce_arith::{
    AddendCut, Element, Elements, Format, MatrixProduct, Pairs, Profile, ScaleFormat, Vectors, ZeroExponent, ZeroSum,
};
use roundonce_oracle::dot::judge;
use roundonce_oracle::generate::SplitMix64;
use roundonce_ptx::matrix::{MatrixInstruction, ROWS};

/// Random elements. A case has a manner: any bits, exponents near one another, tiny ones, few that are not zero.
struct Random<'r> {
    random: &'r mut SplitMix64,
    manner: u64,
    centre: u64,
}

impl Random<'_> {
    fn next(&mut self, element: Element) -> u64 {
        let bits = self.random.next_bits();
        let (exponent, fraction) = match element {
            Element::Float(Format::TF32) => (8, 23),
            Element::Float(format) => (format.exp_bits(), format.frac_bits()),
            Element::Narrow(format) => (format.fields().exp_bits(), format.fields().frac_bits()),
            Element::PowerOfTwo => unreachable!("a scale is no factor"),
        };
        let all = (1u64 << exponent) - 1;
        let spread = self.random.next_bits();
        let field = match self.manner {
            0 => bits >> fraction & all,
            // Near the centre, as far as the format has such exponents.
            1 | 2 => (self.centre + spread % if self.manner == 1 { 4 } else { 30 }) % all,
            3 => spread % 3 % all,
            _ if spread.is_multiple_of(4) => self.centre % all,
            _ => 0,
        };
        // Few bits make ties and cancellation.
        let mantissa = match spread >> 32 & 3 {
            0 => 0,
            1 => bits & 3,
            _ => bits,
        } & ((1 << fraction) - 1);
        let mantissa = if self.manner > 3 && field == 0 { 0 } else { mantissa };
        (bits >> 63) << (exponent + fraction) | field << fraction | mantissa
    }

    fn scale(&mut self, format: ScaleFormat) -> u64 {
        let bits = self.random.next_bits();
        match (format, self.manner) {
            (ScaleFormat::Ue8m0, 0) => bits & 0xff,
            (ScaleFormat::Ue8m0, _) => 120 + bits % 16,
            (ScaleFormat::Ue4m3, _) => bits & 0x7f,
        }
    }
}

#[test]
fn every_row_as_exact_integers() {
    let cases: u64 = std::env::var("ROUNDONCE_CASES").map_or(2000, |cases| cases.parse().unwrap());
    let mut random = SplitMix64(0x6d6d61);
    for row in ROWS {
        // Every spelling is judged, the row's cases shared out.
        let spellings = row.spellings();
        for text in &spellings {
            let instruction = MatrixInstruction::parse(text).unwrap();
            let dot = instruction.row(row.targets[0].into(), &Profile::NVIDIA).unwrap().dot;
            let spec = spec(&dot);
            for _ in 0..cases.div_ceil(spellings.len() as u64) {
                let (manner, centre) = (random.next_bits() % 5, random.next_bits());
                let mut elements = Random { random: &mut random, manner, centre };
                let mut take = |element| (0..dot.k).map(|_| elements.next(element)).collect::<Vec<u64>>();
                let (a, b) = (take(dot.a), take(dot.b));
                let c = if centre >> 40 & 3 == 0 { 0 } else { elements.next(Element::Float(dot.c)) };
                let scales = [(); 2].map(|()| {
                    let format = dot.scale.map(|scale| scale.format);
                    (0..dot.scales()).filter_map(|_| Some(elements.scale(format?))).collect::<Vec<u64>>()
                });
                let scales = [&scales[0][..], &scales[1][..]];
                let (ours, theirs) =
                    (dot.evaluate(&Profile::NVIDIA, &a, &b, c, scales), judge(&spec, &a, &b, c, scales));
                // Every reading of what is open gives something.
                for dot_zero in [ZeroExponent::Operand, ZeroExponent::Absent] {
                    let (dot_addend, dot_zero_sign) = (AddendCut::ToPrecision, ZeroSum::AllNegative);
                    let other = Profile { dot_zero, dot_addend, dot_zero_sign, ..Profile::NVIDIA };
                    let _ = dot.evaluate(&other, &a, &b, c, scales);
                }
                // No document says which NaN an f64 is.
                let both_nan = dot.d == Format::F64 && [ours, theirs].iter().all(|bits| dot.d.is_nan(*bits));
                assert!(
                    ours == theirs || both_nan,
                    "{text} {a:x?} {b:x?} {c:x} {scales:x?}: {ours:x}, judged {theirs:x}"
                );
            }
        }
    }
}

/// Whole matrices and many dot products at once, on every level, as one element at a time.
#[test]
fn matrices_as_their_elements() {
    let mut random = SplitMix64(0x6d61_7472);
    for row in ROWS.iter().filter(|row| !row.is_scaled) {
        for text in row.spellings() {
            let dot =
                MatrixInstruction::parse(&text).unwrap().row(row.targets[0].into(), &Profile::NVIDIA).unwrap().dot;
            for manner in 0..5 {
                let depth = dot.k as usize * if dot.c == dot.d { 3 } else { 1 };
                let (rows, columns) = (3, 21);
                let mut take = |element: Element, count: usize| {
                    let mut all = Elements::of_width(element.stride().max(8));
                    for _ in 0..count {
                        let centre = 100 + random.next_bits() % 8;
                        // An infinity or a NaN in most matrices would leave nothing for the vectors.
                        let manner = if manner == 0 && !random.next_bits().is_multiple_of(256) { 2 } else { manner };
                        all.push(Random { random: &mut random, manner, centre }.next(element));
                    }
                    all
                };
                let (a, b) = (take(dot.a, columns * depth), take(dot.b, columns * depth));
                let c: Vec<u64> = take(Element::Float(dot.c), rows * columns).iter().collect();
                for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                    for pairs in [Pairs::All { columns }, Pairs::Each] {
                        // Rows of a; b by columns, then by rows.
                        let a = Vectors::new(&a, depth, 1);
                        let b = if pairs == Pairs::Each {
                            Vectors::new(&b, depth, 1)
                        } else {
                            Vectors::new(&b, 1, columns)
                        };
                        let mut sums = c.clone();
                        sums.truncate(if pairs == Pairs::Each { columns } else { rows * columns });
                        let addends = sums.clone();
                        MatrixProduct::new(dot, &Profile::NVIDIA, a, b, pairs, depth)
                            .unwrap()
                            .at(level)
                            .rows(0, &mut sums);
                        for (index, (sum, addend)) in sums.iter().zip(addends).enumerate() {
                            let (row, column) =
                                if pairs == Pairs::Each { (index, index) } else { (index / columns, index % columns) };
                            let mut one = addend;
                            for start in (0..depth).step_by(dot.k as usize) {
                                let take = |vectors: &Vectors<'_>, vector| -> Vec<u64> {
                                    (start..start + dot.k as usize).map(|k| vectors.get(vector, k)).collect()
                                };
                                one =
                                    dot.evaluate(&Profile::NVIDIA, &take(&a, row), &take(&b, column), one, [&[], &[]]);
                            }
                            assert_eq!(*sum, one, "{text} {level:?} {pairs:?} manner {manner}, {row}, {column}");
                        }
                    }
                }
            }
        }
    }
}
