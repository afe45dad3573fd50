//! Statements in order; an instruction by its opcode's row.

use super::{Body, CANNOT_BE_RUN, Entity, Named, Purpose, Result, UNSUPPORTED};
use crate::ast::{Instruction, Operand as Written, Statement};
use crate::opcodes::{self, Lowering, Opcode};
use crate::scopes::labels_by_scope;
use crate::types::{ScalarKind, Type};
use crate::video::lanes;
use roundonce_arith::{Format, Rounding};
use roundonce_ir::{Guard, Op, Operand, Reg, Width, too_large};
use roundonce_isa::{Finding, Recipe};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// More are not collected.
const MOST_FINDINGS: usize = 20;

/// What is known of an instruction by its opcode and modifiers alone.
#[derive(Clone, Debug)]
pub(super) struct Spelled<'a> {
    /// The opcode's row.
    pub(super) row: &'static Opcode,
    /// What it becomes with its types.
    lowering: Lowering,
    /// The types among the modifiers, in order.
    pub(super) types: Vec<Type>,
    /// As written.
    pub(super) spelling: String,
    /// The first modifier that it is not lowered with.
    unknown: Option<&'a str>,
    /// How many operands it takes: at least, at most.
    counts: (usize, usize),
    /// Of the multiply-add family: what it computes, or why nothing.
    pub(super) recipe: Option<core::result::Result<Recipe, String>>,
}

/// An instruction as the families see it.
#[derive(Clone, Debug)]
pub(super) struct Inst<'m, 'a> {
    spelled: Arc<Spelled<'a>>,
    pub(super) modifiers: &'m [&'a str],
    pub(super) operands: &'m [Written<'a>],
}

impl<'a> Deref for Inst<'_, 'a> {
    type Target = Spelled<'a>;
    fn deref(&self) -> &Spelled<'a> {
        &self.spelled
    }
}

impl<'m, 'a> super::Lowering<'m, 'a> {
    /// What all instructions of the module are by their opcodes and modifiers; modules repeat few of them many times.
    pub(super) fn look_at_spellings(&mut self) {
        for statement in self.module.functions().filter_map(|function| function.body.as_ref()).flatten() {
            let Statement::Instruction(instruction) = statement else { continue };
            if let Some(text) = instruction.spelled(self.module)
                && !self.spellings.contains_key(text)
                && let Some(spelled) = self.spelled(instruction)
            {
                self.spellings.insert(text, Arc::new(spelled));
            }
        }
    }

    /// The same of one instruction; nothing where there is no such opcode.
    fn spelled(&self, instruction: &Instruction<'a>) -> Option<Spelled<'a>> {
        let row = opcodes::find(instruction.opcode)?;
        let modifiers = self.module.modifiers(instruction.modifiers);
        let types: Vec<Type> = modifiers.iter().filter_map(|modifier| Type::of(modifier)).collect();
        let (lowering, spelling) = (row.lowering(&types), instruction.spelling(self.module));
        // The modifiers of the multiply-add family are the forms'.
        let by_form = lowering == Lowering::MultiplyAdd;
        Some(Spelled {
            row,
            lowering,
            unknown: row.unknown_modifier(modifiers).filter(|_| !by_form),
            counts: if by_form { (0, usize::MAX) } else { row.operand_count() },
            recipe: by_form.then(|| self.recipe(modifiers, &spelling)),
            types,
            spelling,
        })
    }
}

impl<'m, 'a> Inst<'m, 'a> {
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }
    /// `.rn`, `.rz`, `.rm`, `.rp`, where one is written.
    pub(super) fn rounding(&self) -> Option<Rounding> {
        self.modifiers.iter().find_map(|modifier| match *modifier {
            ".rn" => Some(Rounding::NearestEven),
            ".rz" => Some(Rounding::TowardZero),
            ".rm" => Some(Rounding::Down),
            ".rp" => Some(Rounding::Up),
            _ => None,
        })
    }
}

impl<'m, 'a> Body<'_, 'm, 'a> {
    pub(super) fn statements(&mut self, statements: &'m [Statement<'a>]) -> Result<()> {
        let mut labels = labels_by_scope(statements).into_iter();
        self.labels(statements, labels.next());
        let depth = self.scopes.depth();
        for statement in statements {
            match statement {
                Statement::Open(_) => {
                    self.scopes.enter();
                    self.labels(statements, labels.next());
                }
                Statement::Close(_) => {
                    if self.scopes.depth() > depth {
                        self.scopes.leave();
                    }
                }
                Statement::Label(name) => {
                    if let Some(&Named { entity: Entity::Label(block), .. }) = self.scopes.label_here(name) {
                        self.start(block);
                    }
                }
                Statement::Variables(variables) => match (self.declare(*variables), self.purpose) {
                    (Ok(()), _) | (Err(_), Purpose::Analysis) => {}
                    (Err(finding), Purpose::Run) => return Err(finding),
                },
                Statement::Directive(directive) => {
                    // `.branchtargets A, B` belongs to the label before it: see `labels`.
                    let _ = directive;
                }
                Statement::Instruction(instruction) => {
                    if self.is_too_large() {
                        return Ok(());
                    }
                    let (block, done) = (self.current, self.blocks[self.current].instructions.len());
                    if let Err(finding) = self.instruction(instruction) {
                        if self.current == block {
                            self.blocks[block].instructions.truncate(done);
                        }
                        if self.purpose == Purpose::Analysis {
                            self.opaque(instruction, finding.message);
                        } else if finding.code == UNSUPPORTED {
                            self.unreachable(instruction, finding);
                        } else {
                            // Every finding is reported at once, up to a limit.
                            self.findings.push(finding);
                            if self.findings.len() >= MOST_FINDINGS {
                                return Ok(());
                            }
                        }
                    }
                    self.guard = None;
                }
                Statement::Line(line) => {
                    let file = self.lowering.files.get(&line.file).copied().unwrap_or_default();
                    self.source = format!("{file}:{}:{}", line.line, line.column);
                }
                Statement::Prototype(_) | Statement::Section(_) | Statement::Dwarf(_) => {}
            }
        }
        while self.scopes.depth() > depth {
            self.scopes.leave();
        }
        Ok(())
    }

    /// What cannot be run ends the launch where it is reached.
    fn unreachable(&mut self, instruction: &'m Instruction<'a>, finding: Finding) {
        // The instruction's own, whatever its lowering had made of it.
        self.guard = self.guard_of(instruction).ok().flatten();
        let message = finding.message.trim_end_matches(CANNOT_BE_RUN).to_owned();
        self.emit(Op::Unsupported { message, d: Vec::new(), args: Vec::new() });
        if self.unsupported.len() < MOST_FINDINGS {
            self.unsupported.push(finding);
        }
    }

    /// Names the labels of a scope before its instructions jump to them.
    fn labels(&mut self, statements: &'m [Statement<'a>], places: Option<Vec<usize>>) {
        for place in places.unwrap_or_default() {
            let Statement::Label(name) = statements[place] else { continue };
            let entity = match statements.get(place + 1) {
                Some(Statement::Directive(directive)) if directive.is_target_list() => {
                    Entity::Targets(directive.operands)
                }
                Some(Statement::Prototype(prototype)) => Entity::Prototype(prototype),
                _ => Entity::Label(self.new_block()),
            };
            self.scopes.declare_label(name, Named { entity, element: None });
        }
    }

    /// Whether the kernel, its calls inlined and the targets of its jumps counted, is larger than it may be, which is reported once.
    pub(super) fn is_too_large(&mut self) -> bool {
        let largest = self.lowering.settings.largest_kernel;
        if self.size > largest && !core::mem::replace(&mut self.too_large, true) {
            let (what, help) = too_large(largest);
            self.findings.push(self.unsupported(what).help(help));
        }
        // The kernels' owner says so of all.
        let together = self.lowering.size.load(Ordering::Relaxed).saturating_add(self.size);
        self.too_large |= together > self.lowering.largest_module();
        self.too_large
    }

    fn instruction(&mut self, instruction: &'m Instruction<'a>) -> Result<()> {
        self.set_loc(instruction);
        let known = instruction.spelled(self.module).and_then(|text| self.lowering.spellings.get(text).cloned());
        let Some(spelled) = known.or_else(|| self.lowering.spelled(instruction).map(Arc::new)) else {
            let spelling = instruction.spelling(self.module);
            return Err(self.unsupported(format!("`{spelling}`")).help("there is no such opcode"));
        };
        let modifiers = self.module.modifiers(instruction.modifiers);
        let inst = Inst { spelled, modifiers, operands: self.operands(instruction.operands) };
        self.allowed(&inst)?;
        self.order = inst.memory_order();
        self.guard = None;
        if let Some(Guard { pred, expected }) = self.guard_of(instruction)? {
            self.guard = Some(Guard { pred: self.kept(&inst, pred), expected });
        }
        self.lower(&inst)
    }

    fn guard_of(&mut self, instruction: &'m Instruction<'a>) -> Result<Option<Guard>> {
        let Some(guard) = instruction.guard(self.module) else { return Ok(None) };
        match self.value(guard.predicate, Type::PRED)? {
            Operand::Reg(pred) => Ok(Some(Guard { pred, expected: !guard.negated })),
            Operand::Imm(_) => Err(self.malformed("the guard is a constant")),
        }
    }

    /// What would have to be guessed is refused.
    fn allowed(&self, inst: &Inst<'m, 'a>) -> Result<()> {
        if let Some(modifier) = inst.unknown {
            return Err(self.unsupported(format!("`{}` (`{modifier}`)", inst.spelling)));
        }
        let (least, most) = inst.counts;
        let given = inst.operands.len();
        if !(least..=most).contains(&given) {
            let shape = inst.row.operands;
            return Err(self.malformed(format!("`{}` with {given} operands: expected `{shape}`", inst.spelling)));
        }
        let wide = inst.types.iter().any(|ty| ty.bits > 64);
        if wide
            && !matches!(
                inst.lowering,
                Lowering::Move | Lowering::Load { .. } | Lowering::Store | Lowering::Atomic { .. }
            )
        {
            return Err(self.refuse(inst));
        }
        // PTX 11.1 says that such values take half of their 64 bits, not which, nor what memory then holds.
        if self.lowering.narrows_f64 && inst.types.iter().any(|ty| ty.kind == ScalarKind::Float(Format::F64)) {
            return Err(self.unsupported(format!("`{}` under `.target map_f64_to_f32`", inst.spelling)));
        }
        Ok(())
    }

    /// A guard that the instruction itself may write is copied first: it may be lowered to several operations.
    fn kept(&mut self, inst: &Inst<'m, 'a>, pred: Reg) -> Reg {
        let mut writes = false;
        if let Some(first) = inst.operands.first() {
            let (d, p) = self.pair(first);
            for name in [Some(d), p].into_iter().flatten().filter_map(Written::name) {
                writes |= matches!(self.find(name), Some(Entity::Register(reg, _)) if reg == pred);
            }
        }
        if !writes {
            return pred;
        }
        let copy = self.fresh(Width::Pred);
        self.emit(Op::Move { d: copy, a: Operand::Reg(pred) });
        copy
    }

    fn lower(&mut self, inst: &Inst<'m, 'a>) -> Result<()> {
        match inst.lowering {
            Lowering::MultiplyAdd => self.multiply_add(inst),
            Lowering::Sign { negate } => self.sign(inst, negate),
            Lowering::MinMax { max } => self.min_max(inst, max),
            Lowering::Quotient(function) => self.quotient(inst, function),
            Lowering::Approximate(function) => self.approximate(inst, function),
            Lowering::CopySign => self.copysign(inst),
            Lowering::TestProperty => self.testp(inst),
            Lowering::IntegerSum { subtract, carries } => self.integer_sum(inst, subtract, carries),
            Lowering::IntegerProduct { adds, carries, of_24_bits: false } => self.product(inst, adds, carries),
            Lowering::IntegerProduct { adds, of_24_bits: true, .. } => self.product_of_24_bits(inst, adds),
            Lowering::Integer(op) => self.integer(inst, op),
            Lowering::Logic3 => self.lop3(inst),
            Lowering::SignExtend => self.szext(inst),
            Lowering::DotProduct { of_bytes } => self.dot(inst, of_bytes),
            Lowering::Video(op) => match lanes(inst.row.name) {
                1 => self.video(inst, op),
                lanes => self.video_lanes(inst, op, lanes),
            },
            Lowering::VideoMultiplyAdd => self.video_multiply_add(inst),
            Lowering::CarryLess => self.clmad(inst),
            Lowering::SetPredicate => self.setp(inst),
            Lowering::Set => self.set(inst),
            Lowering::Select => self.selp(inst),
            Lowering::SelectBySign => self.slct(inst),
            Lowering::Move => self.mov(inst),
            Lowering::Convert => self.cvt(inst),
            Lowering::ConvertAddress => self.cvta(inst),
            Lowering::IsSpace => self.isspacep(inst),
            Lowering::AsyncCopy => self.copy(inst),
            Lowering::ArrivalBarrier => self.mbarrier(inst),
            Lowering::MatrixAccess { stores } => self.matrix_access(inst, stores),
            Lowering::Transpose => self.transpose(inst),
            Lowering::MatrixMultiply => self.matrix_multiply(inst),
            Lowering::WarpMatrix => self.wmma(inst),
            Lowering::WarpgroupMatrix => self.wgmma(inst),
            Lowering::MapAddress => self.map_address(inst),
            Lowering::ClusterRank => self.rank(inst),
            // Opaque, and only a hint to the access that takes it.
            Lowering::CreatePolicy => {
                let d = self.exact(self.operand_at(inst, 0)?, Type::B64)?;
                self.emit(Op::Move { d, a: Operand::ZERO });
                Ok(())
            }
            Lowering::Load { is_global } => self.load(inst, is_global),
            Lowering::Store if inst.has(".async") => self.store_async(inst),
            Lowering::Store => self.store(inst),
            Lowering::Atomic { .. } if inst.has(".async") => self.red_async(inst),
            Lowering::Atomic { returns } => self.atomic(inst, returns),
            Lowering::Image(access) => self.image(inst, access),
            Lowering::Barrier => self.barrier(inst),
            Lowering::Fence => {
                if inst.has(".cta") {
                    self.separate();
                }
                // What asynchronous copies do is done at once, as the thread itself would.
                if !inst.has(".proxy") || !inst.has(".async") {
                    self.emit(Op::Fence);
                }
                Ok(())
            }
            Lowering::Shuffle => self.shuffle(inst),
            Lowering::Vote => self.vote(inst),
            Lowering::Match => self.matching(inst),
            Lowering::Reduce => self.redux(inst),
            Lowering::ActiveMask => {
                let d = self.exact(self.operand_at(inst, 0)?, Type::B32)?;
                self.emit(Op::ActiveMask { d });
                Ok(())
            }
            Lowering::Elect => self.elect(inst),
            Lowering::Branch => self.bra(inst),
            Lowering::IndexedBranch => self.brx(inst),
            Lowering::Return => {
                self.ret();
                Ok(())
            }
            Lowering::Exit => {
                self.exit();
                Ok(())
            }
            Lowering::Call => self.call(inst),
            Lowering::Trap => {
                self.emit(Op::trap());
                Ok(())
            }
            Lowering::Allocate => self.alloca(inst),
            Lowering::StackSave => self.stacksave(inst),
            Lowering::StackRestore => self.stackrestore(inst),
            Lowering::Hint => Ok(()),
            // The grids before this one are at their end. Translations have the fence's text.
            Lowering::GridDependency => {
                self.emit(Op::Fence);
                Ok(())
            }
            Lowering::Separator { only_guarded } => {
                if !only_guarded || self.guard.is_some() {
                    self.separate();
                }
                Ok(())
            }
            Lowering::Unsupported(what) => Err(self.refuse(inst).help(what.reason())),
        }
    }

    pub(super) fn operand_at(&self, inst: &Inst<'m, 'a>, index: usize) -> Result<&'m Written<'a>> {
        inst.operands.get(index).ok_or_else(|| {
            let (spelling, given) = (&inst.spelling, inst.operands.len());
            self.malformed(format!("`{spelling}` needs more than {given} operands"))
        })
    }

    /// The operand at a place as a value of a type.
    pub(super) fn value_at(&mut self, inst: &Inst<'m, 'a>, index: usize, ty: Type) -> Result<Operand> {
        let written = self.operand_at(inst, index)?;
        self.value(written, ty)
    }

    /// The first type among the modifiers.
    pub(super) fn type_of(&self, inst: &Inst<'m, 'a>) -> Result<Type> {
        inst.types.first().copied().ok_or_else(|| self.unsupported(format!("`{}`", inst.spelling)))
    }

    /// Whether subnormals are flushed: where it says so, and in single precision always on sm_1x.
    pub(super) fn flushes(&self, inst: &Inst<'m, 'a>, ty: Type) -> bool {
        inst.has(".ftz") || (self.lowering.target.number < 20 && ty.kind == ScalarKind::Float(Format::F32))
    }

    pub(super) fn refuse(&self, inst: &Inst<'m, 'a>) -> Finding {
        self.unsupported(format!("`{}`", inst.spelling))
    }

    /// The parts of a packed value: two halves, or the value itself.
    pub(super) fn unpacked(&mut self, value: Operand, ty: Type) -> Vec<Operand> {
        if ty.components == 1 {
            return vec![value];
        }
        let (whole, half) = (ty.width(), ty.component().width());
        if let Operand::Imm(bits) = value {
            return vec![Operand::Imm(bits & half.mask()), Operand::Imm(bits >> half.bits() & half.mask())];
        }
        (0..ty.components)
            .map(|lane| {
                let d = self.fresh(half);
                self.emit_always(Op::Extract { d, a: value, width: whole, shift: lane * half.bits() });
                Operand::Reg(d)
            })
            .collect()
    }

    /// Computes every component and writes the whole.
    pub(super) fn by_component(
        &mut self,
        d: Reg,
        ty: Type,
        values: &[Operand],
        mut op: impl FnMut(&mut Self, Reg, &[Operand]) -> Result<()>,
    ) -> Result<()> {
        if ty.components == 1 {
            return op(self, d, values);
        }
        let parts: Vec<Vec<Operand>> = values.iter().map(|&value| self.unpacked(value, ty)).collect();
        let guard = self.guard.take();
        let mut results = Vec::new();
        for lane in 0..ty.components as usize {
            let part = self.fresh(ty.component().width());
            let operands: Vec<Operand> = parts.iter().map(|parts| parts[lane]).collect();
            op(self, part, &operands)?;
            results.push(Operand::Reg(part));
        }
        self.guard = guard;
        self.emit(Op::Pack { d, low: results[0], high: results[1] });
        Ok(())
    }
}
