//! Two machines' matrix multiply-add: an input as small as can be found on which they differ, and how often they do on
//! random data.

use roundonce_arith::{Dot, Element, Format, Profile};
use roundonce_isa::{grouped, hex_bits, shortest_decimal};
use serde::Serialize;

use crate::random;
use crate::text::{COLUMNS, Line, Role, wrap};

/// The operands of one element: a row of a, a column of b, c, and the scales.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DotOperands {
    /// A row of a.
    pub a: Vec<u64>,
    /// A column of b.
    pub b: Vec<u64>,
    /// The addend.
    pub c: u64,
    /// The scales of both.
    pub scales: [Vec<u64>; 2],
}

/// What was found of two machines.
#[derive(Clone, Debug, Serialize)]
pub struct DotComparison {
    /// The instruction.
    pub instruction: String,
    /// The machines.
    pub machines: [String; 2],
    /// Of these, those of which nothing public says what they compute: they are presumed to be as their family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub presumed: Vec<String>,
    /// How each of the two operations is known: the verdict is no surer.
    pub evidence: Vec<DotEvidence>,
    /// Whether both are the same operation, so that no input tells them apart.
    pub same: bool,
    /// An input on which they differ, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<DotWitness>,
    /// How often they differ on each kind of data.
    pub frequencies: Vec<DotFrequency>,
}

/// How it is known what a machine computes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DotEvidence {
    /// The machine.
    pub machine: String,
    /// `hardware`, `assembler`, `model`, `presumed` or `chosen`.
    pub evidence: &'static str,
    /// Where it is known from.
    pub source: String,
}

/// An input on which two machines differ.
#[derive(Clone, Debug, Serialize)]
pub struct DotWitness {
    /// As `eval` reads them: a row of a, a column of b, c, scales.
    pub operands: Vec<String>,
    /// The products and c, those that are not zero.
    pub terms: Vec<String>,
    /// Both results.
    pub results: [String; 2],
    /// Their values.
    pub values: [String; 2],
}

/// How often two machines differ.
#[derive(Clone, Debug, Serialize)]
pub struct DotFrequency {
    /// The data.
    pub data: &'static str,
    /// Inputs on which they differ.
    pub differing: u64,
    /// Inputs.
    pub inputs: u64,
}

/// The kinds of random data.
#[derive(Clone, Copy)]
enum Data {
    /// Evenly in (−1, 1).
    Even,
    /// One sign, exponents spread over sixteen binades.
    Wide,
    /// Any bits.
    Bits,
}

static DATA: [(&str, Data); 3] =
    [("evenly in (-1, 1)", Data::Even), ("magnitudes over 16 binades", Data::Wide), ("any bits", Data::Bits)];

/// A sequence of random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        random::next(&mut self.0)
    }

    fn element(&mut self, element: Element, data: Data) -> u64 {
        let (bits, spread) = (self.next(), self.next());
        // TF32 stands in the upper bits of its register.
        let below = if element == Element::Float(Format::TF32) { 13 } else { 0 };
        let (width, fraction) = (element.width(), element.fraction_bits());
        let exponents = (1u64 << (width - 1 - fraction)) - 1;
        let bias = exponents / 2;
        let field = match data {
            // Each binade below 1 is half as likely as the one above it.
            Data::Even => bias.saturating_sub(1 + u64::from(spread.leading_zeros())),
            Data::Wide => (bias + 4).saturating_sub(spread % 16).clamp(1, exponents - 1),
            Data::Bits => bits >> fraction & exponents,
        };
        let sign = if matches!(data, Data::Wide) { 0 } else { bits >> 63 };
        (sign << (width - 1) | field << fraction | bits & ((1 << fraction) - 1)) << below
    }

    fn input(&mut self, dot: &Dot, data: Data) -> DotOperands {
        let a = (0..dot.k).map(|_| self.element(dot.a, data)).collect();
        let b = (0..dot.k).map(|_| self.element(dot.b, data)).collect();
        let c = self.element(Element::Float(dot.c), data);
        // Scales near 1: 2^(−4 … 3), and of e4m3 as many.
        let scales = [(); 2].map(|()| (0..dot.scales()).map(|_| dot.scale_near_one(self.next() % 8)).collect());
        DotOperands { a, b, c, scales }
    }
}

/// The two operations and what is fixed of them.
struct Pair<'d> {
    dots: [&'d Dot; 2],
    profile: &'d Profile,
}

impl Pair<'_> {
    fn results(&self, input: &DotOperands) -> [u64; 2] {
        let DotOperands { a, b, c, scales } = input;
        self.dots.map(|dot| dot.evaluate(self.profile, a, b, *c, [&scales[0], &scales[1]]))
    }

    fn differ(&self, input: &DotOperands) -> bool {
        let [one, other] = self.results(input);
        one != other && ![one, other].iter().all(|bits| self.dots[0].d.is_nan(*bits))
    }

    /// The input made smaller while the results differ: fewer terms, then shorter significands, then exponents near 0.
    fn shrink(&self, input: &DotOperands) -> DotOperands {
        let mut best = input.clone();
        loop {
            let before = best.clone();
            for index in 0..best.a.len() {
                self.keep(&mut best, |input| (input.a[index], input.b[index]) = (0, 0));
            }
            self.keep(&mut best, |input| input.c = 0);
            let dot = self.dots[0];
            let one = [dot.a, dot.b].map(Element::one);
            for index in 0..best.a.len() {
                if best.a[index] | best.b[index] == 0 {
                    continue;
                }
                self.keep(&mut best, |input| input.b[index] = one[1]);
                self.keep(&mut best, |input| input.a[index] = one[0]);
                for (element, of_a) in [(dot.a, true), (dot.b, false)] {
                    self.shorten(
                        &mut best,
                        element,
                        |input| if of_a { &mut input.a[index] } else { &mut input.b[index] },
                    );
                }
            }
            self.shorten(&mut best, Element::Float(dot.c), |input| &mut input.c);
            if best == before {
                return best;
            }
        }
    }

    /// Clears the sign, and as many of the low bits of a significand as can be.
    fn shorten(&self, best: &mut DotOperands, element: Element, place: impl Fn(&mut DotOperands) -> &mut u64) {
        let below = if element == Element::Float(Format::TF32) { 13 } else { 0 };
        let fraction = element.fraction_bits();
        for bits in (1..=fraction).rev() {
            self.keep(best, |input| *place(input) &= !(((1 << bits) - 1) << below));
        }
        self.keep(best, |input| *place(input) &= !(1 << (element.width() - 1 + below)));
    }

    /// Changes the input if the results differ then, too.
    fn keep(&self, best: &mut DotOperands, change: impl Fn(&mut DotOperands)) {
        let mut other = best.clone();
        change(&mut other);
        if self.differ(&other) {
            *best = other;
        }
    }
}

/// The size that witnesses are chosen by: terms, then set bits.
fn size(input: &DotOperands) -> (usize, u32) {
    let products = input.a.iter().zip(&input.b).filter(|(a, b)| **a | **b != 0).count();
    let bits = input.a.iter().chain(&input.b).chain([&input.c]).map(|bits| bits.count_ones()).sum();
    (products + usize::from(input.c != 0), bits)
}

/// Compares what two machines compute for one instruction, on `tries` inputs of each kind of data.
pub fn compare_dots(
    instruction: &str,
    machines: [String; 2],
    dots: [&Dot; 2],
    profile: &Profile,
    tries: u64,
) -> DotComparison {
    let pair = Pair { dots, profile };
    let mut frequencies = Vec::new();
    let mut smallest: Option<DotOperands> = None;
    if dots[0] != dots[1] {
        for (data, kind) in DATA {
            let mut random = Random(kind as u64 + 1);
            let mut differing = 0;
            let mut shrunk = 0;
            for _ in 0..tries {
                let input = random.input(dots[0], kind);
                if !pair.differ(&input) {
                    continue;
                }
                differing += 1;
                // A few are made smaller; the best of them is shown.
                if shrunk < 20 {
                    shrunk += 1;
                    let small = pair.shrink(&input);
                    if smallest.as_ref().is_none_or(|best| size(&small) < size(best)) {
                        smallest = Some(small);
                    }
                }
            }
            frequencies.push(DotFrequency { data, differing, inputs: tries });
        }
    }
    let witness = smallest.map(|input| witness(&pair, &input));
    let (instruction, same) = (instruction.to_owned(), dots[0] == dots[1]);
    DotComparison { instruction, machines, presumed: Vec::new(), evidence: Vec::new(), same, witness, frequencies }
}

fn witness(pair: &Pair<'_>, input: &DotOperands) -> DotWitness {
    let dot = pair.dots[0];
    let row = |element: Element, all: &[u64]| -> String {
        let digits = element.stride().div_ceil(4) as usize;
        all.iter().map(|bits| format!("{bits:0digits$x}")).collect()
    };
    let mut operands = vec![row(dot.a, &input.a), row(dot.b, &input.b), hex_bits(dot.c.width(), input.c)];
    if dot.scale.is_some() {
        for (name, scales) in ["sa", "sb"].iter().zip(&input.scales) {
            operands.push(format!("{name}={}", scales.iter().map(|bits| format!("{bits:02x}")).collect::<String>()));
        }
    }
    let value = |element: Element, bits| shortest_decimal(Format::F64, element.widened(bits));
    let products = input.a.iter().zip(&input.b).filter(|(a, b)| **a != 0 && **b != 0);
    let mut terms: Vec<String> =
        products.map(|(a, b)| format!("{} × {}", value(dot.a, *a), value(dot.b, *b))).collect();
    if !dot.c.is_zero(input.c) {
        terms.push(value(Element::Float(dot.c), input.c));
    }
    let results = pair.results(input);
    DotWitness {
        operands,
        terms,
        results: results.map(|bits| hex_bits(dot.d.width(), bits)),
        values: results.map(|bits| shortest_decimal(dot.d, bits)),
    }
}

impl DotComparison {
    /// Whether a difference was found.
    pub fn differs(&self) -> bool {
        self.witness.is_some()
    }

    /// The comparison for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let evidence = self.evidence.iter().flat_map(|DotEvidence { machine, evidence, source }| {
            wrap(Role::Faint, &format!("{machine}: {evidence}; {source}"), 2, COLUMNS)
        });
        let presumed = self.presumed.iter().map(|machine| format!("  {machine} is presumed to be as its family"));
        let presumed = presumed.map(|text| Line::of(Role::Faint, text));
        self.verdict().into_iter().chain(evidence).chain(presumed).collect()
    }

    fn verdict(&self) -> Vec<Line> {
        let [one, other] = &self.machines;
        if self.same {
            let text = format!("equal: {one} and {other} compute the same steps");
            return vec![Line::of(Role::Strong, text)];
        }
        let Some(witness) = &self.witness else {
            let tried: u64 = self.frequencies.iter().map(|frequency| frequency.inputs).sum();
            let text =
                format!("no difference found on {} inputs; the steps differ, so that there may be one", grouped(tried));
            return vec![Line::of(Role::Strong, text)];
        };
        let mut lines = vec![Line::of(Role::Strong, format!("different: {} on {one} and {other}", self.instruction))];
        lines.push(Line::of(Role::Label, "  on    ").and(Role::Plain, witness.terms.join(" + ")));
        for index in 0..2 {
            lines.push(
                Line::of(Role::Label, format!("  {:<7} ", self.machines[index]))
                    .and(Role::Strong, format!("{:<10} ", witness.results[index]))
                    .and(Role::Plain, witness.values[index].clone()),
            );
        }
        lines.push(Line::of(Role::Faint, format!("  operands: {}", witness.operands.join(" "))));
        for DotFrequency { data, differing, inputs } in &self.frequencies {
            let percent = *differing as f64 / *inputs as f64 * 100.0;
            let (differing, inputs) = (grouped(*differing), grouped(*inputs));
            lines.push(Line::plain(format!("  {percent:>5.1} % differ, {differing} of {inputs} dot products: {data}")));
        }
        lines
    }
}
