//! The products, sums and multiply-adds of machine code, of any target: what an assembler made of a kernel.

use roundonce_arith::{ArithOp, Format};
use roundonce_isa::Finding;

use crate::instruction::{Operand, RZ, Value};
use crate::line_table::{Lines, PtxLines, line_at, ptx_lines};
use crate::{Cubin, Generation, decode_for, modern};

/// Where an operand of machine code comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CompiledSource {
    /// One of the kernel's operations, by its number.
    Operation(usize),
    /// An approximation of a reciprocal, a root, a power.
    Approximation,
    /// Anything else, or not known.
    #[default]
    Other,
}

/// A product, a sum or a multiply-add of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompiledOperation {
    /// Where it is, in bytes from the kernel's start.
    pub address: u64,
    /// What it computes: a multiply-add by one is a sum, and one that adds zero is a product.
    pub op: ArithOp,
    /// Of the result.
    pub format: Format,
    /// The line of the PTX that it comes from, where the cubin says.
    pub line: Option<u32>,
    /// Of each of its two factors and its addend, the last instruction before it that may write the register.
    pub sources: [CompiledSource; 3],
}

/// A kernel's machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledKernel {
    /// Its name.
    pub name: String,
    /// In order of addresses.
    pub operations: Vec<CompiledOperation>,
}

/// The machine code of a cubin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledModule {
    /// The number of the target: 90 of sm_90.
    pub target: u32,
    /// The PTX that it was made of, line by line, where the cubin has it.
    pub ptx: Vec<String>,
    /// Its kernels, in the file's order.
    pub kernels: Vec<CompiledKernel>,
}

impl CompiledModule {
    /// Reads a cubin.
    ///
    /// # Errors
    /// If it is no cubin, of a target that is not known, or damaged.
    pub fn parse(bytes: &[u8]) -> Result<CompiledModule, Finding> {
        let PtxLines { kernels: mut lines, text } = ptx_lines(bytes)?;
        let mut of = |name: &str| lines.remove(name).unwrap_or_default();
        let (target, kernels) = match modern::Cubin::target_of(bytes) {
            Some(target) => {
                let cubin = modern::Cubin::parse(bytes)?;
                let kernel = |kernel: modern::Kernel| CompiledKernel::modern(&kernel, target, &of(&kernel.name));
                (target.number(), cubin.kernels.into_iter().map(kernel).collect())
            }
            None => {
                let cubin = Cubin::parse(bytes)?;
                let (target, generation) = (cubin.target, cubin.generation());
                let kernel = |kernel: crate::Kernel| CompiledKernel::maxwell(&kernel, generation, &of(&kernel.name));
                (target, cubin.kernels.into_iter().map(kernel).collect())
            }
        };
        Ok(CompiledModule { target, ptx: text, kernels })
    }
}

/// One and minus zero of a format, in every component of an immediate's 32 bits.
fn constants(format: Format) -> (u32, u32) {
    let (one, zero) = (format.one() as u32, format.sign_mask() as u32);
    match format.width() {
        16 => (one << 16 | one, zero << 16 | zero),
        // The upper half of an f64.
        64 => ((format.one() >> 32) as u32, (format.sign_mask() >> 32) as u32),
        _ => (one, zero),
    }
}

/// What is computed, if it is a multiply-add or less: `factors` and `addend` of a multiply-add are immediates' bits
/// where they are immediates; `adds_zero` if the addend is the zero register.
fn reduced(op: ArithOp, format: Format, factors: [Option<u32>; 2], addend: Option<u32>, adds_zero: bool) -> ArithOp {
    let (one, minus_zero) = constants(format);
    match op {
        ArithOp::MulAdd if factors.contains(&Some(one)) => ArithOp::Add,
        ArithOp::MulAdd if adds_zero || addend == Some(minus_zero) => ArithOp::Mul,
        op => op,
    }
}

/// The operations of a kernel, one instruction after the other.
struct Reader<'a> {
    lines: &'a Lines,
    operations: Vec<CompiledOperation>,
    /// What wrote each register last.
    written: [CompiledSource; 256],
}

/// What an instruction computes and of what.
struct Computed {
    op: ArithOp,
    format: Format,
    destination: u8,
    /// The registers of the factors and of the addend.
    registers: [Option<u8>; 3],
}

impl Computed {
    /// The register whose value it hands on: a sum with the zero register, or a multiply-add of it.
    fn copied(&self) -> Option<u8> {
        let [a, b, c] = self.registers;
        let other = match self.op {
            ArithOp::MulAdd if a == Some(RZ) || b == Some(RZ) => c,
            ArithOp::Add if c == Some(RZ) => a,
            ArithOp::Add if a == Some(RZ) => c,
            _ => None,
        };
        other.filter(|number| *number != RZ)
    }
}

/// What an instruction outside of the family writes: the first register, how many, and what they are.
type Written = (u8, u8, CompiledSource);

impl<'a> Reader<'a> {
    fn new(lines: &'a Lines) -> Reader<'a> {
        Reader { lines, operations: Vec::new(), written: [CompiledSource::Other; 256] }
    }

    fn instruction(&mut self, address: u64, computed: Option<Computed>, written: impl FnOnce() -> Option<Written>) {
        let Some(computed) = computed else {
            if let Some((first, count, by)) = written() {
                self.write(first, count, by);
            }
            return;
        };
        let source = |register: Option<u8>| match register {
            Some(number) if number != RZ => self.written[usize::from(number)],
            _ => CompiledSource::Other,
        };
        let (copied, sources) =
            (computed.copied().map(|register| source(Some(register))), computed.registers.map(source));
        let Computed { op, format, destination, .. } = computed;
        if format == Format::F64 {
            self.write(destination, 2, CompiledSource::Other);
        }
        if let Some(copied) = copied {
            self.written[usize::from(destination)] = copied;
            return;
        }
        let line = line_at(self.lines, address);
        self.written[usize::from(destination)] = CompiledSource::Operation(self.operations.len());
        self.operations.push(CompiledOperation { address, op, format, line, sources });
    }

    fn write(&mut self, first: u8, count: u8, by: CompiledSource) {
        if first != RZ {
            self.written[usize::from(first)..].iter_mut().take(count.into()).for_each(|written| *written = by);
        }
    }
}

fn result_of(mnemonic: &str) -> CompiledSource {
    if mnemonic == "MUFU" { CompiledSource::Approximation } else { CompiledSource::Other }
}

/// What a word of sm_70 and later writes that is none of the family's.
fn modern_writes(word: u128, target: modern::Target) -> Option<Written> {
    let generation = target.generation();
    let (first, count) = modern::registers_written(word, generation)?;
    Some((first, count, result_of(modern::mnemonic(word, generation).unwrap_or_default())))
}

/// The same of Maxwell and Pascal, whose instructions name what they write first.
fn maxwell_writes(word: u64, instruction: Option<&crate::Instruction>) -> Option<Written> {
    let Some(instruction) = instruction else { return Some((word as u8, 1, CompiledSource::Other)) };
    let Some(Operand { value: Value::Register(first), .. }) = instruction.operands().first().copied() else {
        return None;
    };
    let count = match (instruction.modifier("size"), instruction.mnemonic()) {
        (Some(".64"), _) => 2,
        (Some(".128"), _) => 4,
        (_, "F2F" | "I2F" | "F2I" | "I2I") => 2,
        (_, name) if name.starts_with('T') => 4,
        _ => 1,
    };
    Some((first, count, result_of(instruction.mnemonic())))
}

impl CompiledKernel {
    fn modern(kernel: &modern::Kernel, target: modern::Target, lines: &Lines) -> CompiledKernel {
        let mut reader = Reader::new(lines);
        for (index, word) in kernel.words.iter().enumerate() {
            let computed = modern::decode(*word, target).ok().map(|instruction| modern_operation(&instruction));
            reader.instruction(16 * index as u64, computed, || modern_writes(*word, target));
        }
        CompiledKernel { name: kernel.name.clone(), operations: reader.operations }
    }

    fn maxwell(kernel: &crate::Kernel, generation: Generation, lines: &Lines) -> CompiledKernel {
        let mut reader = Reader::new(lines);
        for (index, word) in kernel.words.iter().enumerate().filter(|(index, _)| index % 4 != 0) {
            let instruction = decode_for(*word, generation).ok();
            let computed = instruction.as_ref().and_then(maxwell_operation);
            reader.instruction(8 * index as u64, computed, || maxwell_writes(*word, instruction.as_ref()));
        }
        CompiledKernel { name: kernel.name.clone(), operations: reader.operations }
    }

    /// Whether the cubin says where its instructions come from.
    pub fn has_lines(&self) -> bool {
        self.operations.iter().any(|operation| operation.line.is_some())
    }
}

fn modern_operation(instruction: &modern::Instruction) -> Computed {
    let opcode = instruction.opcode();
    let operand = |role| instruction.operands().find(|operand| operand.role == role);
    let [a, b, c] = [modern::Role::A, modern::Role::B, modern::Role::C].map(operand);
    let op = match (&b, &c) {
        (Some(_), Some(_)) => ArithOp::MulAdd,
        (Some(_), None) => ArithOp::Mul,
        _ => ArithOp::Add,
    };
    let format = match opcode.number {
        modern::Number::F32 | modern::Number::LowHalf => Format::F32,
        modern::Number::F64 => Format::F64,
        modern::Number::Half if instruction.modifier(".type") == Some(".BF16_V2") => Format::BF16,
        modern::Number::Half => Format::F16,
    };
    let immediate = |operand: &Option<modern::Operand>| match operand.as_ref()?.value {
        modern::Value::Immediate(bits) => Some(bits),
        _ => None,
    };
    let register = |operand: &Option<modern::Operand>| match operand.as_ref()?.value {
        modern::Value::Register(number) => Some(number),
        _ => None,
    };
    let adds_zero = c.as_ref().is_some_and(|c| c.value == modern::Value::Register(RZ));
    let destination = match instruction.destination() {
        modern::Value::Register(number) => number,
        _ => RZ,
    };
    Computed {
        op: reduced(op, format, [immediate(&a), immediate(&b)], immediate(&c), adds_zero),
        format,
        destination,
        registers: [register(&a), register(&b), register(&c)],
    }
}

/// The operations of Maxwell and Pascal, the 32-bit immediate forms aside.
static MAXWELL: [(&str, ArithOp, Format); 9] = [
    ("FFMA", ArithOp::MulAdd, Format::F32),
    ("FMUL", ArithOp::Mul, Format::F32),
    ("FADD", ArithOp::Add, Format::F32),
    ("DFMA", ArithOp::MulAdd, Format::F64),
    ("DMUL", ArithOp::Mul, Format::F64),
    ("DADD", ArithOp::Add, Format::F64),
    ("HFMA2", ArithOp::MulAdd, Format::F16),
    ("HMUL2", ArithOp::Mul, Format::F16),
    ("HADD2", ArithOp::Add, Format::F16),
];

fn maxwell_operation(instruction: &crate::Instruction) -> Option<Computed> {
    let mnemonic = instruction.mnemonic();
    let mnemonic = mnemonic.trim_end_matches("_32I").trim_end_matches("32I");
    let &(_, op, format) = MAXWELL.iter().find(|(name, ..)| *name == mnemonic)?;
    // A conversion to f32 is written as a sum with zero.
    if instruction.modifier("merge") == Some(".F32") {
        return None;
    }
    let operands = instruction.operands();
    let is_half = |operand: &Operand| matches!(operand.value, Value::Half(_));
    // The two halves of an immediate are one source, named by the first.
    let low = operands.iter().rposition(is_half);
    let mut sources = operands.iter().enumerate().skip(1).filter(|(place, _)| Some(*place) != low).map(|(_, one)| *one);
    let [a, b, c] = [sources.next(), sources.next(), sources.next()];
    let (b, c) = if op == ArithOp::Add { (None, b) } else { (b, c) };
    let low = low.and_then(|place| operands.get(place)).map(|operand| operand.value);
    let immediate = |operand: Option<Operand>| match (operand?.value, low) {
        (Value::Immediate(bits), _) => Some(bits),
        (Value::Wide(bits), _) => Some((bits >> 32) as u32),
        (Value::Half(high), Some(Value::Half(low))) => Some(u32::from(high) << 16 | u32::from(low)),
        _ => None,
    };
    let register = |operand: Option<Operand>| match operand?.value {
        Value::Register(number) => Some(number),
        _ => None,
    };
    let adds_zero = c.is_some_and(|c| c.value == Value::Register(RZ));
    Some(Computed {
        op: reduced(op, format, [immediate(a), immediate(b)], immediate(c), adds_zero),
        format,
        destination: instruction.destination(),
        registers: [register(a), register(b), register(c)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Maxwell's text is, and the registers of its factors and its addend.
    fn operation(text: &str) -> Option<(ArithOp, Format, [Option<u8>; 3])> {
        let instruction = crate::decode(crate::asm_line(text).unwrap()).unwrap();
        maxwell_operation(&instruction).map(|found| (found.op, found.format, found.registers))
    }

    #[test]
    fn maxwell_operations() {
        use ArithOp::{Add, Mul, MulAdd};
        let three = [Some(1), Some(2), Some(3)];
        assert_eq!(operation("FFMA R0, R1, R2, R3"), Some((MulAdd, Format::F32, three)));
        assert_eq!(operation("FADD R0, |R1|, R2"), Some((Add, Format::F32, [Some(1), None, Some(2)])));
        assert_eq!(operation("FMUL32I R0, R1, 1.5"), Some((Mul, Format::F32, [Some(1), None, None])));
        assert_eq!(operation("DFMA R0, R1, R2, R3"), Some((MulAdd, Format::F64, three)));
        assert_eq!(operation("DFMA R0, R1, 1, R3"), Some((Add, Format::F64, [Some(1), None, Some(3)])));
        assert_eq!(operation("DMUL R0, R1, R2"), Some((Mul, Format::F64, [Some(1), Some(2), None])));
        assert_eq!(operation("DADD R0, R1, -R2"), Some((Add, Format::F64, [Some(1), None, Some(2)])));
        assert_eq!(operation("HFMA2 R0, R1, R2, R3.H0_H0"), Some((MulAdd, Format::F16, three)));
        assert_eq!(operation("HFMA2 R0, R1, R2, -RZ"), Some((Mul, Format::F16, [Some(1), Some(2), Some(RZ)])));
        assert_eq!(operation("HFMA2 R0, R1, 1, 1, R3"), Some((Add, Format::F16, [Some(1), None, Some(3)])));
        assert_eq!(operation("HFMA2 R0, R1, 1, 2, R3"), Some((MulAdd, Format::F16, [Some(1), None, Some(3)])));
        assert_eq!(operation("HADD2_32I R0, R1, 1, 1"), Some((Add, Format::F16, [Some(1), None, None])));
        assert_eq!(operation("HADD2.F32 R0, -RZ, R1.H0_H0"), None);
        assert_eq!(operation("IADD R0, R1, R2"), None);
    }
}
