//! `eval mma… --a A.npy --b B.npy`: whole matrices by the steps of one instruction; `--in` many dot products.

use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use roundonce::Profile;
use roundonce::arith::{Element, Elements, Format, Pairs, Vectors};
use roundonce::matrix::{Matrix, Scales};
use roundonce_vectors::npy;

use crate::argument::Argument;
use crate::array::Array;
use crate::{Ended, Failure, Status, files, threads};
use std::num::NonZeroUsize;

/// The matrices of a matrix multiply-add.
#[derive(Args)]
pub(crate) struct Matrices {
    /// Of a matrix multiply-add (mma.sync…): the matrix a, a .npy file of M × K elements. K may be several times the
    /// instruction's: its result is the addend of the next. bf16 as <u2 or <V2, TF32 as <f4, eight bits and fewer as |u1
    #[arg(long = "a", value_name = "FILE", requires = "b")]
    a: Option<PathBuf>,
    /// The matrix b, K × N elements
    #[arg(long = "b", value_name = "FILE", requires_all = ["a", "out"])]
    b: Option<PathBuf>,
    /// The matrix c, M × N elements (default: zeros)
    #[arg(long = "c", value_name = "FILE", requires = "a")]
    c: Option<PathBuf>,
    /// The scales of a, |u1, a row for each of a's and a column for each block of products
    #[arg(long = "sa", value_name = "FILE", requires_all = ["a", "sb"])]
    sa: Option<PathBuf>,
    /// The scales of b, a row for each block of products and a column for each of b's
    #[arg(long = "sb", value_name = "FILE", requires_all = ["a", "sa"])]
    sb: Option<PathBuf>,
}

impl Matrices {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        self.a.is_some()
    }
}

/// A matrix of two axes, or vectors of one, with the distance of neighbours along each.
struct Read {
    elements: Elements,
    shape: Vec<u64>,
    strides: [usize; 2],
}

/// NumPy's types for the elements of a matrix.
fn types(element: Element) -> &'static [&'static str] {
    match element {
        Element::Float(Format::F16) => &["f2", "u2"],
        Element::Float(Format::BF16) => &["u2", "V2"],
        Element::Float(Format::F64) => &["f8", "u8"],
        // TF32 has the registers of f32.
        Element::Float(_) => &["f4", "u4"],
        Element::Narrow(_) | Element::PowerOfTwo => &["u1", "V1"],
    }
}

/// Reads a .npy file of such elements, of so many axes.
fn read(path: &Path, types: &[&str], axes: usize) -> Result<Read, Failure> {
    let fault = |problem: String| Failure::Input(format!("{}: {problem}", path.display()));
    let array = Array::read(path)?;
    let header = &array.header;
    if !types.contains(&header.element()) || header.shape.len() != axes {
        let (found, remark, shape) = (&header.dtype, header.remark(), npy::tuple(&header.shape));
        let axes = if axes == 1 { "one axis".to_owned() } else { format!("{axes} axes") };
        return Err(fault(format!(
            "expected elements of {} and {axes}, found {found}{remark} of shape {shape}",
            types.join(" or ")
        )));
    }
    let width = array.bytes.len() / header.shape.iter().product::<u64>().max(1) as usize * 8;
    let mut elements = Elements::of_width(width as u32);
    elements.fill_from_bytes(&array.bytes);
    let last = |axis: usize| header.shape.get(axis).map_or(1, |count| *count as usize);
    Ok(Read { elements, shape: header.shape.clone(), strides: [last(1), 1] })
}

/// Whole matrices.
pub(crate) fn whole(
    matrix: &Matrix,
    profile: &Profile,
    files: &Matrices,
    out: &Path,
    threads: Option<NonZeroUsize>,
) -> Ended {
    let (Some(a_path), Some(b_path)) = (&files.a, &files.b) else {
        return Err(Failure::Input("--a and --b go together".to_owned()));
    };
    let dot = &matrix.row.dot;
    let (a, b) = (read(a_path, types(dot.a), 2)?, read(b_path, types(dot.b), 2)?);
    let ([m, depth], [inner, n]) = ([a.shape[0], a.shape[1]], [b.shape[0], b.shape[1]]);
    if depth != inner {
        let shapes = [&a, &b].map(|array| npy::tuple(&array.shape));
        return Err(Failure::Input(format!("a has the shape {}, b {}: K differs", shapes[0], shapes[1])));
    }
    let mut sums = addends(files.c.as_deref(), dot.c, &[m, n])?;
    let scales = match (&files.sa, &files.sb) {
        (Some(sa), Some(sb)) => Some([read(sa, &["u1"], 2)?, read(sb, &["u1"], 2)?]),
        _ => None,
    };
    let scales = scales.as_ref().map(|[sa, sb]| Scales {
        a: Vectors::new(&sa.elements, sa.strides[0], sa.strides[1]),
        b: Vectors::new(&sb.elements, sb.strides[1], sb.strides[0]),
        shapes: [sa, sb].map(|scales| [scales.shape[0] as usize, scales.shape[1] as usize]),
    });
    let a = Vectors::new(&a.elements, a.strides[0], a.strides[1]);
    let b = Vectors::new(&b.elements, b.strides[1], b.strides[0]);
    let columns = n as usize;
    let product = matrix.product(profile, [a, b], Pairs::All { columns }, [m as usize, depth as usize], scales)?;
    let pool = threads::pool(threads, m.div_ceil(64))?;
    pool.install(|| {
        sums.par_chunks_mut((columns * 64).max(1)).enumerate().for_each(|(part, sums)| product.rows(part * 64, sums));
    });
    write(out, dot.d, &[m, n], &sums)
}

/// Many dot products: rows of a, rows of b, a value of c each.
pub(crate) fn each(
    matrix: &Matrix,
    profile: &Profile,
    inputs: &[Argument],
    out: &Path,
    threads: Option<NonZeroUsize>,
) -> Ended {
    let [a, b, c] = inputs else {
        let found = inputs.len();
        return Err(Failure::Input(format!("--in takes rows of a, rows of b and values of c, found {found} operands")));
    };
    let dot = &matrix.row.dot;
    if let Some(other) = inputs.iter().find(|input| !input.is_array()) {
        return Err(Failure::Input(format!("--in: `{}` is no .npy file", other.text()?)));
    }
    let (a, b) = (read(a.path(), types(dot.a), 2)?, read(b.path(), types(dot.b), 2)?);
    if a.shape != b.shape {
        let shapes = [&a, &b].map(|array| npy::tuple(&array.shape));
        return Err(Failure::Input(format!("shapes differ: a has {}, b {}", shapes[0], shapes[1])));
    }
    let [count, depth] = [a.shape[0], a.shape[1]];
    let mut sums = addends(Some(c.path()), dot.c, &[count])?;
    let [a, b] = [&a, &b].map(|array| Vectors::new(&array.elements, array.strides[0], array.strides[1]));
    let product = matrix.product(profile, [a, b], Pairs::Each, [count as usize, depth as usize], None)?;
    let pool = threads::pool(threads, count.div_ceil(4096))?;
    pool.install(|| {
        sums.par_chunks_mut(4096).enumerate().for_each(|(part, sums)| product.rows(part * 4096, sums));
    });
    write(out, dot.d, &[count], &sums)
}

/// The addends, row by row.
fn addends(path: Option<&Path>, format: Format, shape: &[u64]) -> Result<Vec<u64>, Failure> {
    let count = shape.iter().try_fold(1, |count: u64, axis| count.checked_mul(*axis));
    let Some(path) = path else {
        let large = || Failure::Input(format!("no memory for {} results", npy::tuple(shape)));
        let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(large)?;
        let mut zeros = Vec::new();
        zeros.try_reserve_exact(count).map_err(|_| large())?;
        zeros.resize(count, 0);
        return Ok(zeros);
    };
    let c = read(path, types(Element::Float(format)), shape.len())?;
    if c.shape != shape {
        let (found, expected) = (npy::tuple(&c.shape), npy::tuple(shape));
        return Err(Failure::Input(format!("{}: c has the shape {found}, expected {expected}", path.display())));
    }
    let columns = shape.get(1).map_or(1, |columns| *columns as usize);
    let place = |index: usize| index / columns * c.strides[0] + index % columns * c.strides[1];
    Ok((0..c.elements.len()).map(|index| c.elements.get(place(index))).collect())
}

fn write(path: &Path, format: Format, shape: &[u64], sums: &[u64]) -> Ended {
    let size = format.width() as usize / 8;
    let mut bytes = npy::Header::bytes(&format!("<f{size}"), shape);
    for sum in sums {
        bytes.extend_from_slice(&sum.to_le_bytes()[..size]);
    }
    files::write(path, &bytes)?;
    Ok(Status::Done)
}
