//! Images of odd sizes, strange coordinates, and handles that are none: read right or refused, never a panic.

use roundonce_arith::Format;
use roundonce_exec::{Arg, Buffer, FaultKind, Image, Launch, Options, RunError};
use roundonce_ir::*;

/// Runs one thread of `op`, which reads the handles in the first two registers and writes the others given.
fn run(widths: &[Width], args: Vec<Arg>, op: impl Fn(&[Reg]) -> Op) -> Result<(Vec<u64>, Vec<u8>), RunError> {
    let mut kernel = Kernel::new("k");
    for (at, name) in ["image", "sampler", "out"].into_iter().enumerate() {
        let (name, offset) = (name.to_owned(), 8 * at as u32);
        kernel.params.push(Param { name, offset, size: 8, scalar: None, passing: Passing::Any });
    }
    kernel.param_bytes = 24;
    let handles: Vec<Reg> = (0..3).map(|_| kernel.register(Width::B64)).collect();
    let results: Vec<Reg> = widths.iter().map(|&width| kernel.register(width)).collect();
    let mut steps = Vec::new();
    for (at, &d) in handles.iter().enumerate() {
        let (space, address, offset) = (Space::Param, Operand::ZERO, 8 * at as i64);
        steps.push(Op::Load { d: vec![Some(d)], space, bytes: 8, signed: false, address, offset });
    }
    steps.push(op(&[&handles[..2], &results].concat()));
    for (at, (&value, &width)) in results.iter().zip(widths).enumerate() {
        let (space, address, offset) = (Space::Global, handles[2].into(), 8 * at as i64);
        steps.push(Op::Store { values: vec![value.into()], width, space, bytes: width.bits() / 8, address, offset });
    }
    let instructions = steps.into_iter().map(|op| Instruction::new(op, 0)).collect();
    kernel.blocks.push(Block { instructions, terminator: Terminator::Exit, loc: 0 });
    let program = Program::of(kernel);
    let mut args = args;
    args.push(Arg::Buffer(Buffer::zeros(64)));
    let (grid, block, options) = ([1; 3], [1; 3], Options::default());
    let launch = Launch { program: &program, entry: None, grid, block, args, dynamic_shared: 0, options };
    let mut report = launch.run()?;
    let words: Vec<u8> = report.buffers[2].take().unwrap().to_bytes();
    let image = report.buffers[0].take().map(|image| image.to_bytes()).unwrap_or_default();
    Ok((words.chunks(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap())).collect(), image))
}

fn bytes_image(shape: &[u64], count: u8) -> Arg {
    let element = Scalar::Int { bits: 8, signed: false };
    let data = Buffer::from_bytes(&(0..count).map(|byte| byte.wrapping_mul(37)).collect::<Vec<u8>>());
    Arg::Image(Image { shape: shape.to_vec(), element, data, sampler: None })
}

const PLANE: ImageShape = ImageShape { dims: 2, arrayed: false };

/// Rows of seven bytes stand close together: what is read of one, and written to it, lies where the bytes do.
#[test]
fn rows_of_any_length() {
    let all: Vec<u8> = (0..21u8).map(|byte| byte.wrapping_mul(37)).collect();
    for (bytes, x, y) in
        [1u32, 2, 4].into_iter().flat_map(|b| [0, b].map(|x| (b, x))).flat_map(|(b, x)| [(b, x, 1), (b, x, 2)])
    {
        let texel = TexelType::Raw { bits: 8 * bytes };
        let fits = x + bytes <= 7;
        let at = vec![Operand::Imm(x.into()), Operand::Imm(y)];
        let from = 7 * y as usize + x as usize;
        let read = run(&[texel.width()], vec![bytes_image(&[3, 7], 21), Arg::Scalar(0)], |regs| Op::ImageLoad {
            d: vec![Some(regs[2])],
            image: regs[0].into(),
            shape: PLANE,
            at: at.clone(),
            texel,
            outside: Outside::Fault,
        });
        if !fits {
            assert_eq!(read.unwrap_err().kind, FaultKind::Access, "{bytes} bytes at {x}");
            continue;
        }
        let want = all[from..from + bytes as usize].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        assert_eq!(read.unwrap().0[0], want, "{bytes} bytes at ({x}, {y})");
        let (_, written) = run(&[], vec![bytes_image(&[3, 7], 21), Arg::Scalar(0)], |regs| Op::ImageStore {
            values: vec![Operand::Imm(0x1122_3344)],
            image: regs[0].into(),
            shape: PLANE,
            at: at.clone(),
            texel,
            outside: Outside::Fault,
        })
        .unwrap();
        let mut expected = all.clone();
        expected[from..from + bytes as usize].copy_from_slice(&0x1122_3344u32.to_le_bytes()[..bytes as usize]);
        assert_eq!(written, expected, "{bytes} bytes at ({x}, {y})");
    }
}

/// A constant image is the constant wherever it is sampled, or the border's mixture with it.
#[test]
fn strange_coordinates() {
    let specials =
        [0, 0x8000_0000, 1, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff, 0xff7f_ffff, 0x3f7f_ffff, 0x4b80_0001];
    let modes = [AddressMode::Clamp, AddressMode::Repeat, AddressMode::Mirror];
    for (x, y) in specials.into_iter().flat_map(|x| specials.map(|y| (x, y))) {
        for (mode, linear) in modes.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
            for (width, height) in [(1, 1), (3, 2)] {
                let data = Buffer::from_words(vec![0x4048_f5c3; width * height]);
                let (shape, element) = (vec![height as u64, width as u64], Scalar::Float(Format::F32));
                let image = Arg::Image(Image { shape, element, data, sampler: None });
                let normalized = mode != AddressMode::Clamp || linear;
                let sampler = Sampler { linear, normalized, address: [mode; 3], ..Sampler::default() };
                let (words, _) = run(&[Width::B32], vec![image, Arg::Sampler(sampler)], |regs| Op::ImageSample {
                    d: vec![Some(regs[2])],
                    image: regs[0].into(),
                    sampler: regs[1].into(),
                    shape: PLANE,
                    at: vec![Operand::Imm(x), Operand::Imm(y)],
                    texel_offset: [-8, 7, 0],
                    texel: TexelType::Component(Scalar::Float(Format::F32)),
                    gather: None,
                    name: "sample".to_owned(),
                })
                .unwrap();
                assert_eq!(words[0], 0x4048_f5c3, "{x:#x} {y:#x} {sampler:?}");
            }
        }
    }
}

#[test]
fn what_is_no_image() {
    let load = |shape: ImageShape, at: Vec<Operand>| {
        move |regs: &[Reg]| {
            let texel = TexelType::Component(Scalar::Int { bits: 32, signed: false });
            let (d, image, outside) = (vec![Some(regs[2])], regs[0].into(), Outside::Sampler(regs[1].into()));
            Op::ImageLoad { d, image, shape, at: at.clone(), texel, outside }
        }
    };
    let ends = vec![Operand::Imm(9), Operand::Imm(u32::MAX.into())];
    let failed = |args, op: &dyn Fn(&[Reg]) -> Op| {
        let error = run(&[Width::B32], args, op).unwrap_err();
        (error.kind, error.message)
    };
    let plane = load(PLANE, ends.clone());
    for handle in [0, 0x0400_0000, 0x0400_0001, u64::MAX] {
        let (kind, message) = failed(vec![Arg::Scalar(handle), Arg::Scalar(0)], &plane);
        assert_eq!((kind, message.contains("is no")), (FaultKind::Access, true), "{message}");
    }
    let (_, message) = failed(vec![bytes_image(&[3, 7], 21), Arg::Scalar(5)], &plane);
    assert_eq!(message, "0x5 is no sampler");
    // The instruction says what the image is; two that do not agree cannot both be right.
    let (kind, message) = failed(vec![bytes_image(&[3, 7, 3], 63), Arg::Scalar(0)], &plane);
    assert_eq!(kind, FaultKind::Usage);
    assert!(message.contains("expected 1, 2 or 4 components"), "{message}");
    let (_, message) = failed(vec![bytes_image(&[21], 21), Arg::Scalar(0)], &plane);
    assert!(message.contains("expected a 2-D image"), "{message}");
    let (_, message) = failed(vec![bytes_image(&[0, 7], 0), Arg::Scalar(0)], &plane);
    assert!(message.contains("at least one texel"), "{message}");
    let (_, message) = failed(vec![bytes_image(&[u64::MAX, 7], 7), Arg::Scalar(0)], &plane);
    assert!(message.contains("at least one texel"), "{message}");
    let (_, message) = failed(vec![bytes_image(&[2, 7], 7), Arg::Scalar(0)], &plane);
    assert!(message.contains("7 bytes are no image"), "{message}");
    // The texel at the edge.
    let (words, _) =
        run(&[Width::B32], vec![bytes_image(&[3, 7], 21), Arg::Sampler(Sampler::default())], plane).unwrap();
    assert_eq!(words[0], 6 * 37);
}
