//! A straight-line listing of 128-bit words as a program that engines run.

use roundonce_arith::{Clamp, Format, OperandIndex, Operation, Rounding};
use roundonce_ir::{self as ir, Class, IntOp, Op, Reg, Scalar, Width};
use roundonce_isa::{Finding, LineIndex, Location, Recipe, has_errors};

use super::decode::decode;
use super::disassemble::disasm_word_into;
use super::instruction::{Bank, Instruction, Operand, Value, WidenedHalf};
use super::listing::Listing;
use super::target::Target;
use crate::instruction::RZ;
use crate::lower::{KernelBuilder, Lowered, Name, integer, kernel_lines};
use crate::rules;

/// The program of a listing of the float family; of several kernels, of the one named.
///
/// # Errors
/// Everything that cannot be read, is not of the family, or is not computed: `SASS0040`.
///
/// ```
/// use roundonce_sass::modern::{Target, lower};
/// let text = "FMUL.RZ R0, R1, c[0x0][0x160] ;\nDFMA R2, R2, R4, -|R6| ;";
/// let lowered = lower(text, None, Target::new(90).unwrap()).unwrap();
/// let names = |names: &[roundonce_sass::Name]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
/// assert_eq!(names(&lowered.inputs), "R1 R2 R3 R4 R5 R6 R7 c[0x0][0x160]");
/// assert_eq!(names(&lowered.outputs), "R0 R2 R3");
/// assert!(lowered.program.verify().is_ok());
/// ```
pub fn lower(text: &str, entry: Option<&str>, target: Target) -> Result<Lowered, Vec<Finding>> {
    let (listing, mut findings) = Listing::parse(text, target);
    let (name, lines) = match kernel_lines(&listing.kernels, &listing.lines, entry) {
        Ok(kernel) => kernel,
        Err(message) => {
            findings.push(rules::ENTRY.finding(Location::Whole, message));
            return Err(findings);
        }
    };
    let mut builder = KernelBuilder::default();
    let numbers = LineIndex::new(text);
    for line in lines {
        let (start, end) = line.span;
        let location = Location::Span { start, end };
        match decode(line.word, target) {
            Err(_) => {
                let refused = disasm_word_into(line.word, target, &Default::default(), &mut String::new());
                findings.extend(refused.err().map(|finding| Finding { location, ..finding }));
            }
            Ok(instruction) => {
                let written = text.get(start..end).unwrap_or_default();
                let loc = builder.source_loc(numbers.line_column(start).0 as u32, written);
                if let Err(message) = statement(&mut builder, &instruction, loc) {
                    findings.push(rules::UNMEASURED.finding(location, message));
                }
            }
        }
    }
    if has_errors(&findings) { Err(findings) } else { Ok(builder.finish(&name)) }
}

/// The instructions of one statement, behind its guard.
struct Lowering<'a> {
    builder: &'a mut KernelBuilder,
    guard: Option<ir::Guard>,
    loc: u32,
}

fn statement(builder: &mut KernelBuilder, instruction: &Instruction, loc: u32) -> Result<(), String> {
    let spelling = instruction.spelling();
    if instruction.is_illegal() {
        return Err(format!("`{spelling}` is encoded, but an H200 stops at it: an illegal instruction"));
    }
    let Some(half) = instruction.widened_half() else {
        let recipe = instruction.recipe().ok_or_else(|| format!("no document says what `{spelling}` computes"))?;
        if instruction.opcode().uniform {
            return Err(format!("`{spelling}` is of uniform registers, which are not run"));
        }
        let Some(guard) = builder.guard(instruction.guard()) else { return Ok(()) };
        return Lowering { builder, guard, loc }.arithmetic(instruction, &recipe);
    };
    let Some(guard) = builder.guard(instruction.guard()) else { return Ok(()) };
    Lowering { builder, guard, loc }.widened(instruction, &half)
}

/// The register beside one: the upper half of a pair.
fn pair_of(number: u8) -> Result<u8, String> {
    number.checked_add(1).filter(|other| *other != RZ).ok_or_else(|| format!("R{number} begins no pair"))
}

impl Lowering<'_> {
    fn push(&mut self, op: Op) {
        self.builder.body.push(ir::Instruction { guard: self.guard, ..ir::Instruction::new(op, self.loc) });
    }
    fn push_unguarded(&mut self, op: Op) {
        self.builder.body.push(ir::Instruction::new(op, self.loc));
    }
    fn computed(&mut self, width: Width, op: impl FnOnce(Reg) -> Op) -> ir::Operand {
        let d = self.builder.register(width);
        self.push_unguarded(op(d));
        d.into()
    }

    /// An operand as the operation takes it, and whether it is negated: by the operation, which leaves a NaN alone.
    fn source(
        &mut self,
        instruction: &Instruction,
        operand: Operand,
        recipe: &Recipe,
        index: usize,
    ) -> Result<(ir::Operand, bool), String> {
        let format = recipe.operation.operand_format(index);
        let width = Width::holding(format.width() * recipe.components);
        let suffix = instruction.suffix(operand);
        let unknown =
            || Err(format!("no document says what `{suffix}` is on an operand of {}", instruction.opcode().name));
        let mut value = match width {
            Width::B64 => match suffix.as_str() {
                "" | ".F32x2.HI_LO" => self.pair(operand.value, format)?,
                _ => return unknown(),
            },
            Width::B16 => {
                let shift = match suffix.as_str() {
                    "" => 0,
                    ".H1" => 16,
                    _ => return unknown(),
                };
                let a = self.word(operand.value, 0)?;
                self.computed(width, |d| Op::Extract { d, a, width: Width::B32, shift })
            }
            _ => {
                let whole = self.word(operand.value, 0)?;
                match suffix.as_str() {
                    "" => whole,
                    ".H0_H0" => self.halves(whole, [0, 0], None),
                    ".H1_H1" => self.halves(whole, [16, 16], None),
                    // The upper half of the name is the first: measured on sm_90, without signs.
                    ".H0_NH1" if !operand.absolute && !operand.negate => self.halves(whole, [16, 0], Some(format)),
                    _ => return unknown(),
                }
            }
        };
        if operand.absolute {
            let sign =
                (0..recipe.components).fold(0, |mask, lane| mask | format.sign_mask() << (lane * format.width()));
            let mask = ir::Operand::Imm(!sign & width.mask());
            let magnitude = self.computed(width, |d| integer(IntOp::And, d, width, &[value, mask]));
            // The NaN of an f64 keeps its sign: measured on sm_90. Of other formats a result's NaN has none of an operand's bits.
            value = if format == Format::F64 {
                let p = self.computed(Width::Pred, |d| Op::Classify { d, class: Class::NotANumber, format, a: value });
                self.computed(width, |d| Op::Select { d, p, a: value, b: magnitude })
            } else {
                magnitude
            };
        }
        Ok((value, operand.negate))
    }

    /// An operation of the rows.
    fn arithmetic(&mut self, instruction: &Instruction, recipe: &Recipe) -> Result<(), String> {
        let mut operation = recipe.operation;
        let mut args = [ir::Operand::ZERO; 3];
        for ((index, operand), side) in instruction.operands().enumerate().zip(operation.op.operands()) {
            let (value, negate) = self.source(instruction, operand, recipe, index)?;
            args[index] = value;
            match side {
                OperandIndex::C => operation.negate_addend ^= negate,
                OperandIndex::A | OperandIndex::B => operation.negate_product ^= negate,
            }
        }
        let Some(destination) = instruction.written() else { return Ok(()) };
        let width = Width::holding(recipe.result_width());
        let float =
            |operation| move |d| Op::Float { d, operation, components: recipe.components, contractible: false, args };
        if width == Width::B64 {
            let d = self.builder.register(width);
            self.push_unguarded(float(operation)(d));
            for (shift, number) in [(0, destination), (32, pair_of(destination)?)] {
                let half = self.builder.write(Name::Register(number), self.guard.is_some());
                self.push(Op::Extract { d: half, a: d.into(), width, shift });
            }
            return Ok(());
        }
        // `.RELU` clamps where its predicate is true: measured on sm_90.
        let unclamped = Operation { clamp: Clamp::None, ..operation };
        let predicate = instruction.relu_predicate().map(|predicate| self.builder.guard(predicate).flatten());
        let d = self.builder.write(Name::Register(destination), self.guard.is_some());
        let op = match predicate {
            None => float(operation)(d),
            // `!PT`.
            Some(None) => float(unclamped)(d),
            Some(Some(ir::Guard { pred, expected })) => {
                let [clamped, plain] = [operation, unclamped].map(|operation| self.computed(width, float(operation)));
                let (a, b) = if expected { (clamped, plain) } else { (plain, clamped) };
                Op::Select { d, p: pred.into(), a, b }
            }
        };
        self.push(op);
        Ok(())
    }

    /// `HADD2.F32` of −0 and an f16: the f16 as f32, which is how the assembler writes that conversion. Measured on sm_90: with
    /// `.FTZ` a subnormal f16 is a zero of its sign, though no subnormal as f32.
    fn widened(&mut self, instruction: &Instruction, half: &WidenedHalf) -> Result<(), String> {
        let (format, width, imm) = (Format::F16, Width::B16, ir::Operand::Imm);
        let whole = self.word(half.operand.value, 0)?;
        let mut a = self.computed(width, |d| Op::Extract { d, a: whole, width: Width::B32, shift: half.shift });
        for (is_asked, negate) in [(half.operand.absolute, false), (half.operand.negate, true)] {
            if is_asked {
                a = self.sign(negate, format, a);
            }
        }
        if half.flush {
            let p = self.computed(Width::Pred, |d| Op::Classify { d, class: Class::Subnormal, format, a });
            let zero = self.computed(width, |d| integer(IntOp::And, d, width, &[a, imm(format.sign_mask())]));
            a = self.computed(width, |d| Op::Select { d, p, a: zero, b: a });
        }
        let Some(destination) = instruction.written() else { return Ok(()) };
        let (to, from) = (Scalar::Float(Format::F32), Scalar::Float(format));
        let (rounding, saturate) = (Rounding::NearestEven, half.saturate);
        let d = self.builder.write(Name::Register(destination), self.guard.is_some());
        self.push(Op::Convert { d, to, from, rounding, integral: false, flush: false, saturate, a });
        Ok(())
    }

    /// The sign of a number flipped, or cleared.
    fn sign(&mut self, negate: bool, format: Format, a: ir::Operand) -> ir::Operand {
        let op = |d| Op::Sign { d, negate, format, flush: false, arithmetic: false, a };
        self.computed(Width::holding(format.width()), op)
    }

    /// Two halves of a word, each from a bit on; the sign of the lower one is flipped for a format.
    fn halves(&mut self, whole: ir::Operand, shifts: [u32; 2], negated: Option<Format>) -> ir::Operand {
        let extract = |shift| move |d| Op::Extract { d, a: whole, width: Width::B32, shift };
        let mut low = self.computed(Width::B16, extract(shifts[0]));
        let high = self.computed(Width::B16, extract(shifts[1]));
        if let Some(format) = negated {
            low = self.sign(true, format, low);
        }
        self.computed(Width::B32, |d| Op::Pack { d, low, high })
    }

    /// 64 bits: a register pair, two words of a constant bank, or what an immediate stands for.
    fn pair(&mut self, value: Value, format: Format) -> Result<ir::Operand, String> {
        match value {
            Value::Immediate(bits) if format == Format::F64 => Ok(ir::Operand::Imm(u64::from(bits) << 32)),
            Value::Immediate(bits) => Ok(ir::Operand::Imm(u64::from(bits) << 32 | u64::from(bits))),
            Value::Register(RZ) => Ok(ir::Operand::ZERO),
            value => {
                let (low, high) = (self.word(value, 0)?, self.word(value, 1)?);
                Ok(self.computed(Width::B64, |d| Op::Pack { d, low, high }))
            }
        }
    }

    /// 32 bits: the operand's first word, or its second.
    fn word(&mut self, value: Value, second: u8) -> Result<ir::Operand, String> {
        let name = match value {
            Value::Register(RZ) => return Ok(ir::Operand::ZERO),
            Value::Register(number) if second == 1 => Name::Register(pair_of(number)?),
            Value::Register(number) => Name::Register(number),
            Value::Immediate(bits) => return Ok(ir::Operand::Imm(u64::from(bits))),
            Value::Constant { bank: Bank::Number(bank), offset } => {
                Name::Constant { bank, offset: offset.wrapping_add(4 * u16::from(second)) }
            }
            Value::Constant { bank: Bank::Uniform(_), .. } | Value::Uniform(_) => {
                return Err("uniform registers are not run".to_owned());
            }
        };
        Ok(self.builder.read(name).into())
    }
}
