//! The products, sums and multiply-adds of machine code, of any target: what an assembler made of a kernel.

use roundonce_arith::{ArithOp, Format};
use roundonce_isa::Finding;

use crate::instruction::{RZ, Value};
use crate::line_table::{Lines, PtxLines, line_at, ptx_lines};
use crate::{Cubin, decode, modern};

/// A product, a sum or a multiply-add of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompiledOperation {
    /// Where it is, in bytes from the kernel's start.
    pub address: u64,
    /// What it computes: a multiply-add by one is a sum, and one that adds −0 is a product.
    pub op: ArithOp,
    /// Of the result.
    pub format: Format,
    /// The line of the PTX that it comes from, where the cubin says.
    pub line: Option<u32>,
    /// The register of a multiply-add's addend.
    pub addend: Option<u8>,
}

/// A kernel's machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledKernel {
    /// Its name.
    pub name: String,
    /// In order of addresses.
    pub operations: Vec<CompiledOperation>,
    /// For each instruction its address and the register that it may write.
    writes: Vec<(u64, u8)>,
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
                let kernel = |kernel: crate::Kernel| CompiledKernel::maxwell(&kernel, &of(&kernel.name));
                (cubin.target, cubin.kernels.into_iter().map(kernel).collect())
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
/// where they are immediates; `adds_zero` if the addend is the zero register with a minus.
fn reduced(op: ArithOp, format: Format, factors: [Option<u32>; 2], addend: Option<u32>, adds_zero: bool) -> ArithOp {
    let (one, minus_zero) = constants(format);
    match op {
        ArithOp::MulAdd if factors.contains(&Some(one)) => ArithOp::Add,
        ArithOp::MulAdd if adds_zero || addend == Some(minus_zero) => ArithOp::Mul,
        op => op,
    }
}

impl CompiledKernel {
    fn modern(kernel: &modern::Kernel, target: modern::Target, lines: &Lines) -> CompiledKernel {
        let (mut operations, mut writes) = (Vec::new(), Vec::with_capacity(kernel.words.len()));
        for (index, word) in kernel.words.iter().enumerate() {
            let address = 16 * index as u64;
            writes.push((address, (word >> 16) as u8));
            let Ok(instruction) = modern::decode(*word, target) else { continue };
            let opcode = instruction.opcode();
            let has = |role| opcode.roles.contains(&role);
            let op = match (has(modern::Role::B), has(modern::Role::C)) {
                (true, true) => ArithOp::MulAdd,
                (true, false) => ArithOp::Mul,
                _ => ArithOp::Add,
            };
            let format = match opcode.number {
                modern::Number::F32 | modern::Number::LowHalf => Format::F32,
                modern::Number::F64 => Format::F64,
                modern::Number::Half if instruction.modifier(".type") == Some(".BF16_V2") => Format::BF16,
                modern::Number::Half => Format::F16,
            };
            let operand = |role| instruction.operands().find(|operand| operand.role == role);
            let immediate = |operand: &modern::Operand| match operand.value {
                modern::Value::Immediate(bits) => Some(bits),
                _ => None,
            };
            let factor = |role| operand(role).as_ref().and_then(immediate);
            let addend = operand(modern::Role::C);
            let minus_rz = addend.is_some_and(|addend| addend.negate && addend.value == modern::Value::Register(RZ));
            operations.push(CompiledOperation {
                address,
                op: reduced(
                    op,
                    format,
                    [factor(modern::Role::A), factor(modern::Role::B)],
                    addend.as_ref().and_then(immediate),
                    minus_rz,
                ),
                format,
                line: line_at(lines, address),
                addend: addend.and_then(|addend| match addend.value {
                    modern::Value::Register(number) if number != RZ => Some(number),
                    _ => None,
                }),
            });
        }
        CompiledKernel { name: kernel.name.clone(), operations, writes }
    }

    fn maxwell(kernel: &crate::Kernel, lines: &Lines) -> CompiledKernel {
        let (mut operations, mut writes) = (Vec::new(), Vec::with_capacity(kernel.words.len()));
        for (index, word) in kernel.words.iter().enumerate().filter(|(index, _)| index % 4 != 0) {
            let address = 8 * index as u64;
            writes.push((address, *word as u8));
            let Ok(instruction) = decode(*word) else { continue };
            let Some(recipe) = instruction.recipe() else { continue };
            let value = |place: usize| instruction.operands().get(place).map(|operand| operand.value);
            let immediate = |place: usize| match value(place) {
                Some(Value::Immediate(bits)) => Some(bits),
                _ => None,
            };
            operations.push(CompiledOperation {
                address,
                op: reduced(recipe.operation.op, recipe.operation.format, [immediate(1), immediate(2)], None, false),
                format: recipe.operation.format,
                line: line_at(lines, address),
                addend: match value(3) {
                    Some(Value::Register(number)) if number != RZ => Some(number),
                    _ => None,
                },
            });
        }
        CompiledKernel { name: kernel.name.clone(), operations, writes }
    }

    /// Whether the cubin says where its instructions come from.
    pub fn has_lines(&self) -> bool {
        self.operations.iter().any(|operation| operation.line.is_some())
    }

    /// The operation that a multiply-add's addend comes from: the last instruction before it that may write the register,
    /// if it is one of these.
    pub fn addend_of(&self, operation: &CompiledOperation) -> Option<&CompiledOperation> {
        let register = operation.addend?;
        let before = self.writes.partition_point(|(address, _)| *address < operation.address);
        let (address, _) = self.writes[..before].iter().rev().find(|(_, written)| *written == register)?;
        self.operations.iter().find(|operation| operation.address == *address)
    }
}
