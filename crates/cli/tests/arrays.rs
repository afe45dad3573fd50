//! `eval --in`: the bits of `eval -` for every form, in every type of array that the form takes; and refusals.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use roundonce::arith::{Element, Format};
use roundonce::ptx::conversions;
use roundonce::{Instruction, TABLES, conversion};
use roundonce_oracle::generate::SplitMix64;

/// A .npy file as NumPy writes it.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while !(text.len() + 11).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), data].concat()
}

fn roundonce(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_roundonce")).current_dir(folder).args(arguments).output().unwrap()
}

/// What `eval -` prints, without condition codes.
fn lines(text: String) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundonce"));
    let mut child = command.args(["eval", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

/// Uniform bits, magnitudes around one, and the ends of the exponents, a third each.
fn bits(random: &mut SplitMix64, format: Format) -> u64 {
    let exponent = match random.next_bits() % 3 {
        0 => return random.next_bits() & format.mask(),
        1 => format.bias() as u64 + random.next_bits() % 8 - 4,
        _ => [0, 1, format.exp_max() - 1, format.exp_max()][random.next_bits() as usize % 4],
    };
    let rest = random.next_bits() & (format.sign_mask() | format.frac_mask());
    let sparse = if random.next_bits().is_multiple_of(4) { rest & format.sign_mask() } else { rest };
    sparse | exponent << format.frac_bits()
}

/// The types and shapes that `count` values may come in.
fn dresses(format: Format, lanes: u32, count: usize) -> Vec<(String, String)> {
    let width = format.width() / 8;
    let mut names = vec![format!("<u{width}")];
    names.push(if format == Format::BF16 { "|V2".into() } else { format!("<f{width}") });
    if lanes == 1 {
        return names.into_iter().map(|name| (name, format!("({count},)"))).collect();
    }
    let mut all: Vec<_> = names.into_iter().map(|name| (name, format!("({count}, {lanes})"))).collect();
    if [4, 8].contains(&(width * lanes)) {
        all.push((format!("<u{}", width * lanes), format!("({count},)")));
    }
    all
}

/// The data of a file whose header is as `npy` writes it.
fn data(file: &[u8]) -> &[u8] {
    &file[10 + u16::from_le_bytes([file[8], file[9]]) as usize..]
}

#[test]
fn every_form_gives_the_bits_of_a_line_at_a_time() {
    const COUNT: usize = 101;
    let scratch = tempfile::tempdir().unwrap();
    let mut random = SplitMix64(1);
    let mut questions = String::new();
    let mut answers: Vec<(String, PathBuf, Vec<u8>)> = Vec::new();
    for (number, (spelling, instruction)) in spellings().into_iter().enumerate() {
        let operation = &instruction.recipe.operation;
        let lanes = instruction.recipe.components;
        let arity = operation.op.arity();
        let format = |place: usize| operation.operand_format(place);
        let values: Vec<Vec<Vec<u64>>> = (0..arity)
            .map(|place| (0..COUNT).map(|_| (0..lanes).map(|_| bits(&mut random, format(place))).collect()).collect())
            .collect();
        // One of the operands goes with every element now and then: as a value, or as an array of one.
        let uniform = (number % 3 != 0).then_some(number / 3 % arity);
        let hex = |place: usize, index: usize| {
            let digits = format(place).width() as usize / 4;
            let bits = values[place][if uniform == Some(place) { 0 } else { index }].iter().rev();
            format!("0x{}", bits.map(|bits| format!("{bits:0digits$x}")).collect::<String>())
        };
        let bytes = |place: usize, count: usize| -> Vec<u8> {
            let size = format(place).width() as usize / 8;
            values[place][..count].iter().flatten().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect()
        };
        let mut arguments = vec!["eval".to_owned(), spelling.clone(), "--in".to_owned()];
        for place in 0..arity {
            let count = if uniform == Some(place) { 1 } else { COUNT };
            if count == 1 && number % 2 == 0 {
                arguments.push(hex(place, 0));
                continue;
            }
            let dresses = dresses(format(place), lanes, count);
            let (descr, shape) = &dresses[(number + place) % dresses.len()];
            let name = format!("{number}.{place}.npy");
            std::fs::write(scratch.path().join(&name), npy(descr, false, shape, &bytes(place, count))).unwrap();
            arguments.push(name);
        }
        let out = format!("{number}.out.npy");
        arguments.extend(["--out".to_owned(), out.clone(), "--threads".to_owned(), (number % 2 + 1).to_string()]);
        let output = roundonce(scratch.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.is_empty(), "{arguments:?}: {stderr}");
        assert_eq!(stderr.contains("condition codes"), instruction.recipe.condition_codes, "{spelling}: {stderr}");
        for index in 0..COUNT {
            questions.push_str(&spelling);
            (0..arity).for_each(|place| questions.push_str(&format!(" {}", hex(place, index))));
            questions.push('\n');
        }
        let file = std::fs::read(scratch.path().join(&out)).unwrap();
        let width = instruction.recipe.result_width() as usize / 8;
        assert_eq!(data(&file).len(), COUNT * width, "{spelling}");
        let path = scratch.path().join(out);
        answers.extend(data(&file).chunks(width).map(|value| (spelling.clone(), path.clone(), value.to_vec())));
    }
    let expected = lines(questions);
    assert_eq!(expected.len(), answers.len());
    assert!(expected.len() > 400 * COUNT, "only {} values", expected.len());
    for ((spelling, path, value), expected) in answers.into_iter().zip(expected) {
        let hex: String = value.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(format!("0x{hex}"), expected, "{spelling}, {}", path.display());
    }
}

/// Conversions too: packed values as whole integers, or with a last axis of values where a value fills bytes.
#[test]
fn every_conversion_gives_the_bits_of_a_line_at_a_time() {
    const COUNT: usize = 53;
    let scratch = tempfile::tempdir().unwrap();
    let mut random = SplitMix64(3);
    let mut questions = String::new();
    let mut answers = Vec::new();
    let spelled = conversions::FORMS.iter().flat_map(roundonce::Form::spelled).map(|(spelling, _)| spelling);
    let spelled: BTreeSet<String> = spelled.collect();
    assert_eq!(spelled.len(), 117);
    for (number, spelling) in spelled.iter().enumerate() {
        let found = conversion::instruction(spelling, &Default::default()).unwrap();
        let mut arguments = vec!["eval".to_owned(), spelling.clone(), "--in".to_owned()];
        let mut columns = Vec::new();
        for (place, ty) in found.operand_types().into_iter().enumerate() {
            let size = ty.bits as usize / 8;
            let values: Vec<u64> = (0..COUNT).map(|_| random.next_bits() & (u64::MAX >> (64 - ty.bits))).collect();
            // The second goes with every element now and then.
            if place == 1 && number % 2 == 0 {
                arguments.push(format!("0x{:08x}", values[0]));
                columns.push(vec![values[0]; COUNT]);
                continue;
            }
            let bytes: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect();
            let component = match ty.values {
                Some((Element::Float(Format::F32), _)) => Some(("<f4", 1)),
                Some((Element::Float(Format::F16), count)) => Some(("<f2", count)),
                Some((Element::Float(_), count)) => Some(("|V2", count)),
                Some((narrow, count)) if narrow.stride() == 8 => Some(("|u1", count)),
                _ => None,
            };
            let (descr, shape) = match component.filter(|_| number % 3 == 0) {
                Some((descr, 1)) => (descr.to_owned(), format!("({COUNT},)")),
                Some((descr, count)) => (descr.to_owned(), format!("({COUNT}, {count})")),
                None => (format!("{}u{size}", if size == 1 { '|' } else { '<' }), format!("({COUNT},)")),
            };
            let name = format!("{number}.{place}.npy");
            std::fs::write(scratch.path().join(&name), npy(&descr, false, &shape, &bytes)).unwrap();
            arguments.push(name);
            columns.push(values);
        }
        let out = format!("{number}.out.npy");
        arguments.extend(["--out".to_owned(), out.clone()]);
        let output = roundonce(scratch.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
        for index in 0..COUNT {
            questions.push_str(spelling);
            let texts = columns.iter().zip(found.operand_types());
            texts.for_each(|(column, ty)| {
                questions.push_str(&format!(" 0x{:0digits$x}", column[index], digits = ty.bits as usize / 4));
            });
            questions.push('\n');
        }
        let file = std::fs::read(scratch.path().join(&out)).unwrap();
        let width = found.meaning.result_bits() as usize / 8;
        let head = String::from_utf8_lossy(&file[..64]).into_owned();
        assert!(head.contains(&format!("{}u{width}'", if width == 1 { '|' } else { '<' })), "{spelling}: {head}");
        answers.extend(data(&file).chunks(width).map(|value| (spelling.clone(), value.to_vec())));
    }
    let expected = lines(questions);
    assert_eq!(expected.len(), answers.len());
    for ((spelling, value), expected) in answers.into_iter().zip(expected) {
        let hex: String = value.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(format!("0x{hex}"), expected, "{spelling}");
    }
}

#[test]
fn what_does_not_fit_a_conversion_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, file: Vec<u8>| std::fs::write(scratch.path().join(name), file).unwrap();
    write("bytes.npy", npy("|u1", false, "(4,)", &[0; 4]));
    write("pairs.npy", npy("|u1", false, "(4, 2)", &[0; 8]));
    let refused = |arguments: &[&str], status: i32, message: &str| {
        let output = roundonce(scratch.path(), arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(!scratch.path().join("d.npy").exists(), "{arguments:?} left a file");
    };
    let expected = "is 2 × e4m3: expected elements of u2 or u1 with a last axis of 2; found |u1 of shape (4,)";
    refused(&["eval", "cvt.rn.f16x2.e4m3x2", "--in", "bytes.npy", "--out", "d.npy"], 2, expected);
    // An element is a pair: an array of any shape is one of pairs.
    assert!(
        roundonce(scratch.path(), &["eval", "cvt.rn.f16x2.e2m1x2", "--in", "pairs.npy", "--out", "e.npy"])
            .status
            .success()
    );
    refused(&["eval", "cvt.rn.f16x2.e2m1x2", "--in", "pairs.npy", "0x1", "--out", "d.npy"], 2, "takes 1 operands (a)");
    let expected = "operand 1 of `mad.half.type` is s32: expected elements of i4 or u4; found |u1";
    refused(&["eval", "mad.lo.s32", "--in", "bytes.npy", "1", "1", "--out", "d.npy"], 2, expected);
}

/// Every spelling that names its row without a target.
fn spellings() -> Vec<(String, Instruction)> {
    let all = TABLES.into_iter().flatten().flat_map(roundonce::Form::spellings);
    all.filter_map(|(spelling, recipe)| {
        let found = roundonce::instruction(&spelling, &Default::default()).ok()?;
        (found.recipe == recipe).then_some((spelling, found))
    })
    .collect()
}

/// Files of several parts, of shapes that the result keeps, in place of an operand's own file.
#[test]
fn large_arrays_keep_shape_and_type() {
    let scratch = tempfile::tempdir().unwrap();
    let mut random = SplitMix64(2);
    let (rows, columns) = (700, 301);
    let values: Vec<u32> = (0..rows * columns).map(|_| bits(&mut random, Format::F32) as u32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let original = npy("<f4", false, &format!("({rows}, {columns})"), &bytes);
    std::fs::write(scratch.path().join("x.npy"), &original).unwrap();
    // x × 1 + (−0) is x, but for the bits of NaNs.
    let output = roundonce(
        scratch.path(),
        &["eval", "fma.rn.f32", "--in", "x.npy", "1", "-0.0", "--out", "x.npy", "--threads", "2"],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected: Vec<u8> = values
        .iter()
        .flat_map(|&bits| if Format::F32.is_nan(bits.into()) { 0x7fff_ffff } else { bits }.to_le_bytes())
        .collect();
    let file = std::fs::read(scratch.path().join("x.npy")).unwrap();
    assert!(file[..file.len() - bytes.len()] == original[..original.len() - bytes.len()], "the header has changed");
    assert!(data(&file) == expected, "the bits differ");
    let left: Vec<_> = std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["x.npy"], "something was left behind");
}

/// An array is the same in either order of its file, with more axes than two and beside one in the other order too.
#[test]
fn fortran_order() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, file: Vec<u8>| std::fs::write(scratch.path().join(name), file).unwrap();
    let bytes = |order: [u32; 12]| order.map(|element| (element as f32).to_le_bytes()).concat();
    let c: [u32; 12] = core::array::from_fn(|at| at as u32);
    // The element [i, j, k] of (2, 3, 2) is 6i + 2j + k: in Fortran order i runs fastest.
    let fortran = [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
    write("f.npy", npy("<f4", true, "(2, 3, 2)", &bytes(fortran)));
    write("c.npy", npy("<f4", false, "(2, 3, 2)", &bytes(c)));
    write("row.npy", npy("<f4", true, "(12,)", &bytes(c)));
    let expected = bytes(c.map(|element| 101 * element));
    let (f_and_c, row) = (["f.npy", "100", "c.npy"], ["row.npy", "100", "row.npy"]);
    for (operands, shape) in [(f_and_c, "(2, 3, 2)"), (["c.npy", "100", "f.npy"], "(2, 3, 2)"), (row, "(12,)")] {
        let output =
            roundonce(scratch.path(), &[&["eval", "fma.rn.f32", "--out", "d.npy", "--in"][..], &operands[..]].concat());
        assert!(output.status.success(), "{operands:?}: {output:?}");
        let file = std::fs::read(scratch.path().join("d.npy")).unwrap();
        let head = String::from_utf8_lossy(&file[..128]);
        assert!(head.contains("'fortran_order': False") && head.contains(shape), "{operands:?}: {head}");
        assert!(data(&file) == expected, "{operands:?}");
    }
    // A buffer is the file's bytes, and is written back in its order.
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli/run.in/saxpy.ptx");
    let run =
        ["run", kernel, "--block", "12", "--arg", "0=12", "--arg", "1=100", "--arg", "2=f.npy", "--arg", "3=f.npy"];
    let output = roundonce(scratch.path(), &[&run[..], &["--out", "3=d.npy"]].concat());
    assert!(output.status.success(), "{output:?}");
    let file = std::fs::read(scratch.path().join("d.npy")).unwrap();
    let expected = bytes(fortran.map(|element| 101 * element));
    assert!(String::from_utf8_lossy(&file[..128]).contains("'fortran_order': True") && data(&file) == expected);
}

#[test]
fn what_does_not_fit_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, file: Vec<u8>| std::fs::write(scratch.path().join(name), file).unwrap();
    write("a.npy", npy("<f4", false, "(4,)", &[0; 16]));
    write("short.npy", npy("<f4", false, "(3,)", &[0; 12]));
    write("double.npy", npy("<f8", false, "(4,)", &[0; 32]));
    write("signed.npy", npy("<i4", false, "(4,)", &[0; 16]));
    write("big.npy", npy(">f4", false, "(4,)", &[0; 16]));
    write("extended.npy", npy("<f16", false, "(2,)", &[0; 32]));
    write("cut.npy", npy("<f4", false, "(4,)", &[0; 15]));
    write("long.npy", npy("<f4", false, "(4,)", &[0; 17]));
    write("huge.npy", npy("<f4", false, "(4611686018427387904,)", &[0; 16]));
    write("absurd.npy", npy("<f4", false, "(4294967296, 4294967296)", &[0; 16]));
    write("record.npy", npy("|O", false, "(2,)", &[0; 16]));
    write("text.npy", b"1 2 3".to_vec());
    let cases: [(&[&str], &str); 18] = [
        (&["a.npy", "short.npy", "a.npy"], "shapes differ: a.npy has (4,), short.npy has (3,)"),
        (
            &["a.npy", "double.npy", "a.npy"],
            "double.npy: operand 2 of `fma.rnd{.ftz}{.sat}.f32` is f32: expected elements of f4 or u4; found <f8 of shape (4,)",
        ),
        (
            &["signed.npy", "a.npy", "a.npy"],
            "signed.npy: operand 1 of `fma.rnd{.ftz}{.sat}.f32` is f32: expected elements of f4 or u4; found <i4 of shape (4,)",
        ),
        (&["a.npy", "a.npy", "big.npy"], "big.npy: its elements are big-endian (>f4): expected little-endian ones"),
        (
            &["extended.npy", "1", "1"],
            "is f32: expected elements of f4 or u4; found <f16 (long double, of 16 bytes; binary16 is f2) of shape (2,)",
        ),
        (&["cut.npy", "1", "1"], "cut.npy: it is cut short: (4,) elements of <f4 take 16 bytes, 15 are there"),
        (&["long.npy", "1", "1"], "long.npy: it is too long: (4,) elements of <f4 take 16 bytes, 17 are there"),
        (&["huge.npy", "1", "1"], "huge.npy: no file has (4611686018427387904,) elements of <f4"),
        (&["absurd.npy", "1", "1"], "absurd.npy: not a .npy file: no array has the shape (4294967296, 4294967296)"),
        (&["record.npy", "1", "1"], "record.npy: its element type '|O' is not supported"),
        (&["text.npy", "1", "1"], "text.npy: not a .npy file"),
        (&["missing.npy", "1", "1"], "missing.npy: No such file"),
        (&["a.npy", "one", "1"], "operand 2: `one` is not a value"),
        (&["1", "1", "1"], "--in: none of the operands is a .npy file"),
        (&["a.npy", "1"], "takes 3 operands (d, a, b, c), found 2"),
        (&["a.npy", "1", "1", "--threads", "0"], "invalid value '0' for '--threads <N>'"),
        (&["a.npy", "1", "1", "--out", "nowhere/d.npy"], "nowhere/d.npy: No such file"),
        (&["a.npy", "1", "1", "--out", "folder"], "folder: is a directory"),
    ];
    std::fs::create_dir(scratch.path().join("folder")).unwrap();
    for (operands, message) in cases {
        let mut arguments = vec!["eval", "fma.rn.f32", "--in"];
        arguments.extend(operands);
        if !operands.contains(&"--out") {
            arguments.extend(["--out", "d.npy"]);
        }
        let output = roundonce(scratch.path(), &arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(!scratch.path().join("d.npy").exists(), "{arguments:?} left a file");
    }
}

/// The picture has a bar for each distance, a cell for each place, and says how many differ; nothing is written where
/// the name is no picture's.
#[test]
fn plot_draws_every_distance() {
    let folder = tempfile::tempdir().unwrap();
    let one = 0x3f80_0000u32;
    let write = |name: &str, values: [u32; 6]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        std::fs::write(folder.path().join(name), npy("<f4", false, "(6,)", &bytes)).unwrap();
    };
    write("a.npy", [one; 6]);
    // The same twice, one ulp up twice, one down, seven up.
    write("b.npy", [one, one, one + 1, one + 1, one - 1, one + 7]);
    let output = roundonce(folder.path(), &["diff", "a.npy", "b.npy", "--plot", "p.svg"]);
    assert_eq!(output.status.code(), Some(1));
    let svg = std::fs::read_to_string(folder.path().join("p.svg")).unwrap();
    assert!(svg.contains("a.npy and b.npy: 4 of 6 elements differ"), "{svg}");
    let marks = |text: &str| svg.lines().filter(|line| line.starts_with("<rect") && line.contains(text)).count();
    // Bars of -1, +1 and +8; cells of distances 1 and 8 at 2^0, both together three elements and one; 24 steps of the legend.
    assert_eq!(marks("#2E8BD6"), 5 + 24, "{svg}");
    for opacity in ["opacity=\"1\"", "opacity=\"0.575\""] {
        let cells = svg.lines().filter(|line| line.starts_with("<rect") && line.contains(opacity)).count();
        assert!(cells > 0, "{opacity} {svg}");
    }
    let refused = roundonce(folder.path(), &["diff", "a.npy", "b.npy", "--plot", "p.png"]);
    assert_eq!((refused.status.code(), folder.path().join("p.png").exists()), (Some(2), false));
}

/// Hex digits of elements, as `eval` takes a row.
fn row(elements: impl Iterator<Item = u64>, bits: u32) -> String {
    let digits = bits as usize / 4;
    elements.map(|bits| format!("{bits:0digits$x}")).collect()
}

/// `eval MMA --a --b --c`: the bits of `eval -` for every element, each order of b in memory, with and without scales, any
/// number of threads; and `--in` those of rows with rows.
#[test]
fn matrices_as_lines() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
    let mut random = SplitMix64(7);
    let scaled =
        "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32.ue8m0@sm_120a";
    for (spelling, descr, bits, k) in [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32@sm_90", "<f2", 16, 16),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32@sm_80", "<u4", 32, 8),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32@sm_90", "|u1", 8, 32),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64@sm_80", "<f8", 64, 4),
        (scaled, "|u1", 8, 32),
    ] {
        let is_scaled = spelling == scaled;
        let sum = if bits == 64 { 64 } else { 32 };
        let (m, n, size) = (70usize, 5usize, bits as usize / 8);
        let mut take = |count: usize, bits: u32| -> Vec<u64> {
            (0..count).map(|_| random.next_bits() & random.next_bits() & (u64::MAX >> (64 - bits))).collect()
        };
        let (a, b, c) = (take(m * k, bits), take(k * n, bits), take(m * n, sum));
        let (sa, sb) = (take(m, 7), take(n, 7));
        let bytes = |all: &[u64], size: usize| {
            all.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect::<Vec<u8>>()
        };
        let by_columns: Vec<u64> = (0..n * k).map(|at| b[at % k * n + at / k]).collect();
        write("a.npy", npy(descr, false, &format!("({m}, {k})"), &bytes(&a, size)));
        write("b.npy", npy(descr, false, &format!("({k}, {n})"), &bytes(&b, size)));
        write("b-columns.npy", npy(descr, true, &format!("({k}, {n})"), &bytes(&by_columns, size)));
        write("c.npy", npy(&format!("<f{}", sum / 8), false, &format!("({m}, {n})"), &bytes(&c, sum as usize / 8)));
        write("sa.npy", npy("|u1", false, &format!("({m}, 1)"), &bytes(&sa, 1)));
        write("sb.npy", npy("|u1", false, &format!("(1, {n})"), &bytes(&sb, 1)));
        let line = |i: usize, j: usize, b: String, c: u64| {
            let scales = if is_scaled { format!(" sa={:02x} sb={:02x}", sa[i], sb[j]) } else { String::new() };
            let c = row([c].into_iter(), sum);
            format!("{spelling} {} {b} {c}{scales}\n", row(a[i * k..][..k].iter().copied(), bits))
        };
        let column = |j: usize| row((0..k).map(|at| b[at * n + j]), bits);
        let expected = lines((0..m * n).map(|at| line(at / n, at % n, column(at % n), c[at])).collect());
        for (b, threads) in [("b.npy", "1"), ("b-columns.npy", "3")] {
            let mut arguments = vec![
                "eval",
                spelling,
                "--a",
                "a.npy",
                "--b",
                b,
                "--c",
                "c.npy",
                "--out",
                "d.npy",
                "--threads",
                threads,
            ];
            if is_scaled {
                arguments.extend(["--sa", "sa.npy", "--sb", "sb.npy"]);
            }
            let output = roundonce(folder.path(), &arguments);
            assert!(output.status.success(), "{spelling}: {}", String::from_utf8_lossy(&output.stderr));
            let found = std::fs::read(folder.path().join("d.npy")).unwrap();
            let found = &found[found.len() - m * n * sum as usize / 8..];
            let found = found
                .chunks(sum as usize / 8)
                .map(|bytes| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)));
            let found: Vec<String> = found.map(|bits| format!("0x{}", row([bits].into_iter(), sum))).collect();
            assert!(found == expected, "{spelling} {b}");
        }
        if is_scaled {
            continue;
        }
        write("rows.npy", npy(descr, false, &format!("({n}, {k})"), &bytes(&by_columns, size)));
        write("a-rows.npy", npy(descr, false, &format!("({n}, {k})"), &bytes(&a[..n * k], size)));
        write(
            "c-rows.npy",
            npy(&format!("<f{}", sum / 8), false, &format!("({n},)"), &bytes(&c[..n], sum as usize / 8)),
        );
        let output = roundonce(
            folder.path(),
            &["eval", spelling, "--in", "a-rows.npy", "rows.npy", "c-rows.npy", "--out", "d.npy"],
        );
        assert!(output.status.success(), "{spelling}: {}", String::from_utf8_lossy(&output.stderr));
        let expected = lines((0..n).map(|at| line(at, at, column(at), c[at])).collect());
        let found = std::fs::read(folder.path().join("d.npy")).unwrap();
        let found = found[found.len() - n * sum as usize / 8..].chunks(sum as usize / 8);
        let found = found.map(|bytes| bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte)));
        assert_eq!(
            found.map(|bits| format!("0x{}", row([bits].into_iter(), sum))).collect::<Vec<_>>(),
            expected,
            "{spelling}"
        );
    }
}
