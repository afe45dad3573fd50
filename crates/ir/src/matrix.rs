//! Matrix multiply-add of a warp: what is computed, and which lane holds which elements.

use super::{Operand, Width};
use roundonce_arith::Dot;

/// Lanes of a warp.
const WARP: usize = 32;

/// How the elements of a matrix are spread over the registers of a warp.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Of a register.
    pub width: Width,
    /// Bits from one element of a register to the next.
    pub stride: u32,
    /// Elements that a lane holds, from the low bits of its first register on.
    pub elements: usize,
    /// Lane by lane, the place of each of its elements: row by row, of b column by column. An element that several lanes
    /// hold is the last one's; places that no lane holds are zero.
    pub places: Vec<u16>,
}

impl Fragment {
    /// With the place of an element of a lane.
    pub fn new(width: Width, stride: u32, elements: usize, place: impl Fn(usize, usize) -> usize) -> Fragment {
        let place = &place;
        let places = (0..WARP).flat_map(|lane| (0..elements).map(move |element| place(lane, element) as u16));
        Fragment { width, stride, elements, places: places.collect() }
    }

    /// Registers of a lane.
    pub fn registers(&self) -> usize {
        self.elements.div_ceil(self.in_register())
    }

    /// Elements of a register.
    pub fn in_register(&self) -> usize {
        (self.width.bits() / self.stride.max(1)).max(1) as usize
    }

    /// Whether it fits a matrix of so many elements.
    fn fits(&self, elements: usize) -> bool {
        self.elements > 0
            && self.places.len() == WARP * self.elements
            && self.width != Width::Pred
            && (1..=self.width.bits()).contains(&self.stride)
            && self.places.iter().all(|&place| usize::from(place) < elements)
    }
}

/// Which lanes hold the scales of a matrix' rows (of b: columns), neighbouring bytes of one register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScaleFragment {
    /// For each value of the thread selector, the lane of each row.
    pub lanes: Vec<Vec<u8>>,
}

/// The scales of a matrix as operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleOperand {
    /// The register with them, 32 bits.
    pub data: Operand,
    /// The first byte that counts, 16 bits.
    pub byte: Operand,
    /// The thread selector, 16 bits.
    pub thread: Operand,
}

/// d = a × b + c: what a warp computes together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixMultiply {
    /// The instruction's spelling.
    pub name: String,
    /// One element of d.
    pub dot: Dot,
    /// Neighbouring warps that execute it together, each its own rows: 1, or the 4 of a warpgroup.
    pub warps: usize,
    /// Products of matrices that are computed at once, each as large as the others.
    pub count: usize,
    /// Rows of a, c and d.
    pub m: usize,
    /// Columns of b, c and d.
    pub n: usize,
    /// a's elements: of each product, row by row.
    pub a: Fragment,
    /// b's elements: of each product, column by column.
    pub b: Fragment,
    /// c's elements, as d's.
    pub c: Fragment,
    /// d's elements: of each product, row by row.
    pub d: Fragment,
    /// Of a's rows and of b's columns, where there are scales.
    pub scales: Option<[ScaleFragment; 2]>,
}

impl MatrixMultiply {
    /// Elements of a, of b, and of c and d.
    pub fn sizes(&self) -> [usize; 3] {
        let k = self.dot.k as usize;
        [self.count * self.m * k, self.count * self.n * k, self.count * self.m * self.n]
    }

    /// Whether a byte and a thread are selectors of a's scales, or of b's: as many bytes as a line has scales, from a
    /// multiple of them on, and a thread that holds any (PTX ISA, "Block scaling for mma.sync").
    pub fn has_selectors(&self, matrix: usize, byte: u64, thread: u64) -> bool {
        let Some(fragments) = &self.scales else { return false };
        byte < 4 && byte.is_multiple_of(self.dot.scales() as u64) && thread < fragments[matrix].lanes.len() as u64
    }

    /// Whether its parts fit each other.
    pub(super) fn is_known(&self) -> bool {
        let Dot { k, block, group, scale, .. } = self.dot;
        let [a, b, d] = self.sizes();
        let scales = match &self.scales {
            None => scale.is_none(),
            Some([a, b]) => {
                let fits = |fragment: &ScaleFragment, rows: usize| {
                    !fragment.lanes.is_empty()
                        && fragment
                            .lanes
                            .iter()
                            .all(|lanes| lanes.len() == rows && lanes.iter().all(|&lane| usize::from(lane) < WARP))
                };
                self.dot.scales() <= 4 && scale.is_some() && fits(a, self.m) && fits(b, self.n)
            }
        };
        let steps = (1..=64).contains(&block) && k % block == 0 && group > 0 && block % group == 0;
        steps && scales && self.a.fits(a) && self.b.fits(b) && self.c.fits(d) && self.d.fits(d)
    }
}
