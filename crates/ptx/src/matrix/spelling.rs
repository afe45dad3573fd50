//! The spellings.

use super::Refusal;
use super::rows::gates_of;
use roundonce_arith::{Element, Format, NarrowFormat, Rounding, Scale, ScaleFormat};
use roundonce_isa::{Gate, split_modifiers};
use std::fmt;

/// Which instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// `mma.sync`: a warp, registers.
    Mma,
    /// `wmma.mma.sync`: a warp, opaque fragments.
    Wmma,
    /// `wgmma.mma_async`: four warps, b in shared memory.
    Wgmma,
    /// `tcgen05.mma`: tensor memory.
    Tcgen05,
}

impl Family {
    /// As PTX writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Mma => "mma.sync",
            Family::Wmma => "wmma.mma",
            Family::Wgmma => "wgmma.mma_async",
            Family::Tcgen05 => "tcgen05.mma",
        }
    }
}

/// How a matrix stands in memory or in its fragment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// Rows one after the other.
    Row,
    /// Columns one after the other.
    Column,
}

/// A matrix multiply-add as it is spelled: d (m × n) = a (m × k) × b (k × n) + c.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixInstruction {
    /// Which instruction.
    pub family: Family,
    /// Rows of a and d.
    pub m: u32,
    /// Columns of b and d.
    pub n: u32,
    /// Columns of a, rows of b.
    pub k: u32,
    /// The layouts of a and b, where they are spelled.
    pub layouts: [Option<Layout>; 2],
    /// The type of a's elements.
    pub a: Element,
    /// The type of b's elements.
    pub b: Element,
    /// The type of c's elements.
    pub c: Format,
    /// The type of d's elements.
    pub d: Format,
    /// `.kind::NAME`.
    pub kind: Option<&'static str>,
    /// Block scales.
    pub scale: Option<Scale>,
    /// `.rn`, `.rz`, `.rm`, `.rp` of f64; to nearest even where there is none.
    pub rounding: Option<Rounding>,
    /// The lowest target that PTX has the spelling on.
    pub since: u32,
}

/// The values of `.kind::`.
static KINDS: [&str; 7] = ["f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "i8"];

/// The type of an element.
fn element(name: &str) -> Option<Element> {
    let floats = [("tf32", Format::TF32)].into_iter().chain(Format::NAMED);
    let mut floats = floats.map(|(float, format)| (float, Element::Float(format)));
    let narrow = || NarrowFormat::named(name).map(Element::Narrow);
    floats.find(|(float, _)| *float == name).map(|(_, element)| element).or_else(narrow)
}

/// `m16n8k16`.
fn shape(word: &str) -> Option<[u32; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=256).contains(number));
    Some([number(m)?, number(n)?, number(k)?])
}

/// The names of integers and bits that matrices may have.
fn is_integer(word: &str) -> bool {
    matches!(word, "u4" | "s4" | "u8" | "s8" | "s32" | "b1")
}

fn malformed<T>(text: String) -> Result<T, Refusal> {
    Err(Refusal::Malformed(text))
}

impl MatrixInstruction {
    /// Whether a spelling is that of a matrix multiply-add, right or wrong.
    pub fn is_spelling(spelling: &str) -> bool {
        let mut words = spelling.split(['.', ' ']);
        matches!(
            (words.next(), words.next()),
            (Some("mma"), _)
                | (Some("wmma"), Some("mma"))
                | (Some("wgmma"), Some("mma_async"))
                | (Some("tcgen05"), Some("mma"))
        )
    }

    /// Reads a spelling. Of `tcgen05.mma`, whose shape and types stand in a descriptor, they are written behind the
    /// modifiers: `tcgen05.mma.cta_group::1.kind::f16 m64n8k16.f32.f16.f16`. Of `wmma.mma` f16 may be written for a and b, as
    /// other types are.
    ///
    /// # Errors
    /// What is missing, or not understood.
    pub fn parse(spelling: &str) -> Result<MatrixInstruction, Refusal> {
        let spelling = spelling.trim();
        let dotted = spelling.split_whitespace().collect::<Vec<_>>().join(".");
        let start = dotted.find('.').unwrap_or(dotted.len());
        let mut words = split_modifiers(&dotted[start..]).into_iter().map(|word| &word[1..]).peekable();
        let family = match (&dotted[..start], words.peek().copied()) {
            ("mma", _) => Family::Mma,
            ("wmma", Some("mma")) => Family::Wmma,
            ("wgmma", Some("mma_async")) => Family::Wgmma,
            ("tcgen05", Some("mma")) => Family::Tcgen05,
            _ => return malformed(format!("`{spelling}` is no matrix multiply-add")),
        };
        if family != Family::Mma {
            words.next();
        }
        // The factors' type rather than the sum's.
        let of_integers = || words.clone().filter(|word| is_integer(word));
        if let Some(integer) = of_integers().find(|word| *word != "s32").or(of_integers().next()) {
            if family != Family::Tcgen05 {
                gates_of(&dotted).map_err(Refusal::Malformed)?;
            }
            let text = format!("`{spelling}`: matrices of .{integer} are not computed: nothing of them is rounded");
            return Err(Refusal::Unknown(text));
        }
        let mut dimensions = None;
        let mut layouts = [None; 2];
        let mut types: Vec<&str> = Vec::new();
        let (mut kind, mut scale_vector, mut scale_format, mut rounding) = (None, None, None, None);
        let mut is_block_scaled = false;
        // Of tensor memory, what stands before its descriptor's words.
        let mut before = format!("{}.mma", &dotted[..start]);
        for word in words {
            let unknown = || Refusal::Malformed(format!("`.{word}` of `{spelling}` is not understood"));
            if dimensions.is_none() && shape(word).is_none() {
                before = before + "." + word;
            }
            // Behind the shape of a descriptor stand types alone.
            let is_descriptor = family == Family::Tcgen05 && dimensions.is_some();
            if is_descriptor && !matches!(word, "ue8m0" | "ue4m3") && shape(word).is_none() && element(word).is_none() {
                return Err(unknown());
            }
            match word {
                "sync" | "aligned" | "cta_group::1" | "cta_group::2" => {}
                "row" | "col" => {
                    let layout = if word == "row" { Layout::Row } else { Layout::Column };
                    let free = layouts.iter_mut().find(|layout| layout.is_none());
                    *free.ok_or_else(|| Refusal::Malformed(format!("`{spelling}` has more than two layouts")))? =
                        Some(layout);
                }
                "sp" | "sp::ordered_metadata" | "ws" => {
                    let text = format!("`{spelling}`: what .{word} computes is unknown: nothing public was measured");
                    return Err(Refusal::Unknown(text));
                }
                "block_scale" => is_block_scaled = true,
                "scale_vec::1X" => scale_vector = Some(1),
                "scale_vec::2X" | "block32" => scale_vector = Some(2),
                "scale_vec::4X" | "block16" => scale_vector = Some(4),
                "ue8m0" => scale_format = Some(ScaleFormat::Ue8m0),
                "ue4m3" => scale_format = Some(ScaleFormat::Ue4m3),
                "rn" | "rz" | "rm" | "rp" => {
                    rounding = Rounding::ALL.into_iter().find(|rounding| rounding.name() == word)
                }
                _ if word.starts_with("kind::") => {
                    kind = Some(*KINDS.iter().find(|kind| **kind == &word[6..]).ok_or_else(unknown)?);
                }
                _ if shape(word).is_some() && dimensions.is_some() => {
                    return malformed(format!("`{spelling}` has more than one shape"));
                }
                _ if shape(word).is_some() => dimensions = shape(word),
                _ if element(word).is_some() => types.push(word),
                _ => return Err(unknown()),
            }
        }
        let [m, n, k] =
            dimensions.ok_or_else(|| Refusal::Malformed(format!("`{spelling}` has no shape like .m16n8k16")))?;
        let [d, a, b, c] = match (family, &types[..]) {
            (Family::Mma | Family::Wmma, &[d, a, b, c]) => [d, a, b, c],
            // d and c alone: a and b are f16.
            (Family::Wmma, &[d, c]) => [d, "f16", "f16", c],
            (Family::Wgmma | Family::Tcgen05, &[d, a, b]) => [d, a, b, d],
            (Family::Mma | Family::Wmma, _) => {
                return malformed(format!("`{spelling}` needs the types of d, a, b and c"));
            }
            (Family::Wgmma | Family::Tcgen05, _) => {
                return malformed(format!("`{spelling}` needs the types of d, a and b"));
            }
        };
        let sum = |word: &str| match element(word) {
            Some(Element::Float(format @ (Format::F16 | Format::F32 | Format::F64))) => Ok(format),
            _ => malformed(format!("`{spelling}`: c and d are .f16, .f32 or .f64, not .{word}")),
        };
        let factor =
            |word: &str| element(word).ok_or_else(|| Refusal::Malformed(format!("`.{word}` is no type of elements")));
        let mut instruction = MatrixInstruction {
            family,
            m,
            n,
            k,
            layouts,
            a: factor(a)?,
            b: factor(b)?,
            c: sum(c)?,
            d: sum(d)?,
            kind,
            scale: None,
            rounding,
            since: 0,
        };
        instruction.scale = instruction.read_scale(spelling, is_block_scaled, scale_vector, scale_format)?;
        let spelled = match (family, &types[..]) {
            (Family::Tcgen05, _) => before,
            // PTX leaves out what a and b are.
            (Family::Wmma, [d, "f16", "f16", c]) => {
                dotted.replacen(&format!(".{d}.f16.f16.{c}"), &format!(".{d}.{c}"), 1)
            }
            _ => dotted,
        };
        let gates = gates_of(&spelled).map_err(Refusal::Malformed)?;
        instruction.since = gates.iter().map(Gate::first_target).min().unwrap_or(0);
        Ok(instruction)
    }

    /// The block scales that the modifiers ask for, the kind's where they leave them out.
    fn read_scale(
        &self,
        spelling: &str,
        is_block_scaled: bool,
        vector: Option<u32>,
        format: Option<ScaleFormat>,
    ) -> Result<Option<Scale>, Refusal> {
        let is_scaled_kind = matches!(self.kind, Some("mxf8f6f4" | "mxf4" | "mxf4nvf4"));
        if is_scaled_kind != is_block_scaled {
            return malformed(format!(
                "`{spelling}`: .block_scale goes with .kind::mxf8f6f4, ::mxf4 and ::mxf4nvf4, which need it"
            ));
        }
        if !is_scaled_kind {
            return match (vector, format) {
                (None, None) => Ok(None),
                _ => malformed(format!("`{spelling}` has scales without .block_scale")),
            };
        }
        let vector = match (self.kind, vector) {
            (Some("mxf8f6f4"), None | Some(1)) => 1,
            (Some("mxf4"), None | Some(2)) => 2,
            (Some("mxf4nvf4"), Some(vector @ (2 | 4))) => vector,
            _ => {
                return malformed(format!(
                    "`{spelling}`: .scale_vec::1X goes with mxf8f6f4, ::2X with mxf4, ::2X or ::4X with mxf4nvf4"
                ));
            }
        };
        match format {
            Some(ScaleFormat::Ue4m3) if self.kind != Some("mxf4nvf4") || vector != 4 => {
                malformed(format!("`{spelling}`: .ue4m3 goes with .kind::mxf4nvf4.scale_vec::4X alone"))
            }
            Some(format) => Ok(Some(Scale { format, block: self.k / vector })),
            None => malformed(format!("`{spelling}` needs the scales' type, .ue8m0 or .ue4m3")),
        }
    }
}

impl fmt::Display for MatrixInstruction {
    /// The shape and the types: `m16n8k16 f32 = f16 × f16 + f32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatrixInstruction { m, n, k, a, b, c, d, .. } = self;
        let (c, d) = (Element::Float(*c).name(), Element::Float(*d).name());
        write!(f, "m{m}n{n}k{k} {d} = {} × {} + {c}", a.name(), b.name())
    }
}
