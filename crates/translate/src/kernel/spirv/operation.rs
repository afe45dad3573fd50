//! The table of operations: who writes what of each.

use roundonce_ir::{BarrierKind, Op, Operand, Special};

use super::super::{fence_beyond_order, is_unaligned_barrier};
use super::body::{Body, Result};
use super::convert::How;
use super::ids::{Id, Ty, Type};
use crate::rules;

/// The scope of a block.
const WORKGROUP: u64 = 2;

impl Body<'_> {
    /// Writes an operation.
    pub(super) fn operation(&mut self, op: &Op) -> Result {
        match op {
            Op::Move { d, a } => {
                let ty = match a {
                    Operand::Reg(reg) => self.shape.types[reg.0 as usize],
                    Operand::Imm(_) => self.shape.types[d.0 as usize],
                };
                let value = self.read_as(*a, ty);
                self.write(*d, value, ty);
            }
            Op::Special { d, special } => {
                let (value, ty) = self.number(*special)?;
                let width = Ty::of(self.kernel.width(*d));
                let value = self.resize(value, ty, width);
                self.write(*d, value, width);
            }
            Op::Float { d, operation, args, .. } => {
                let (value, ty) = self.family(operation, args)?;
                self.write(*d, value, ty);
            }
            Op::Sign { d, negate, format, flush, arithmetic, a } => {
                let (value, ty) = self.sign(*negate, *format, *flush, *arithmetic, *a)?;
                self.write(*d, value, ty);
            }
            Op::Divide { d, format, rounding, flush, a, b } => {
                let (value, ty) = self.quotient(*format, *rounding, *flush, [*a, *b])?;
                self.write(*d, value, ty);
            }
            Op::SquareRoot { d, format, rounding, flush, a } => {
                let (value, ty) = self.root(*format, *rounding, *flush, *a)?;
                self.write(*d, value, ty);
            }
            Op::Approximate { d, function, format, flush, saturate, a, b, name } => {
                let (value, ty) = self.approximate(name, *function, (*format, *flush), *saturate, [*a, *b])?;
                self.write(*d, value, ty);
            }
            Op::MinMax { d, max, format, flush, nan, xorsign_abs, a, b } => {
                let (value, ty) = self.extremum(*max, (*format, *flush), (*nan, *xorsign_abs), [*a, *b])?;
                self.write(*d, value, ty);
            }
            Op::CopySign { d, format, sign, magnitude } => {
                let (value, ty) = self.copy_sign(*format, *sign, *magnitude);
                self.write(*d, value, ty);
            }
            Op::Compare { d, comparison, of, a, b } => {
                let value = self.compare(*comparison, *of, *a, *b)?;
                self.write(*d, value, Ty::Bool);
            }
            Op::Classify { d, class, format, a } => {
                let value = self.classify(*class, *format, *a);
                self.write(*d, value, Ty::Bool);
            }
            Op::Select { d, p, a, b } => {
                let ty = self.shape.types[d.0 as usize];
                let (p, a, b) = (self.read_as(*p, Ty::Bool), self.read_as(*a, ty), self.read_as(*b, ty));
                let value = self.select(ty, p, a, b);
                self.write(*d, value, ty);
            }
            Op::Convert { d, to, from, rounding, integral, flush, saturate, a } => {
                let how = How { rounding: *rounding, integral: *integral, flush: *flush, saturate: *saturate };
                let (value, ty) = self.convert(*to, *from, how, *a)?;
                self.write(*d, value, ty);
            }
            Op::Int { d, op, width, args } => {
                let (value, ty) = self.integer(*op, *width, args)?;
                self.write(*d, value, ty);
            }
            Op::Carry { d, out, subtract, carry, a, b } => {
                let ty = Ty::of(self.kernel.width(*d));
                let (a, b) = (self.read_as(*a, ty), self.read_as(*b, ty));
                let (value, over) = self.carry(*subtract, ty, *carry, a, b);
                self.write(*d, value, ty);
                if let Some(out) = out {
                    self.write(*out, over, Ty::Bool);
                }
            }
            Op::Pack { d, low, high } => {
                let ty = Ty::of(self.kernel.width(*d));
                let half = Ty::int(ty.bits() / 2);
                let (low, high) = (self.read_as(*low, half), self.read_as(*high, half));
                let value = self.joined(ty, low, high);
                self.write(*d, value, ty);
            }
            Op::Extract { d, a, width, shift } => {
                let (whole, part) = (Ty::of(*width), Ty::of(self.kernel.width(*d)));
                let value = self.read_as(*a, whole);
                let value = self.extracted(value, whole, *shift, part);
                self.write(*d, value, part);
            }
            Op::Load { d, space, bytes, signed, address, offset } => {
                self.load(d, *space, *bytes, *signed, *address, *offset)?;
            }
            Op::Store { values, width, space, bytes, address, offset } => {
                self.store(values, *width, *space, *bytes, *address, *offset)?;
            }
            Op::Barrier { .. } if is_unaligned_barrier(self.kernel, self.loc) && self.is_divergent() => {
                return Err(
                    "a barrier where threads of a block may stand apart, which SPIR-V leaves undefined".to_owned()
                );
            }
            Op::Barrier { kind, id: Operand::Imm(0), count: None } if *kind != BarrierKind::Arrive => {
                self.barrier(*kind)?;
            }
            Op::Barrier { .. } => return Err("a barrier other than of all threads and number 0".to_owned()),
            Op::Fence if fence_beyond_order(self.kernel, self.loc).is_some() => {
                return Err("a fence that is about more than the order of memory".to_owned());
            }
            Op::Fence => self.fence(),
            Op::Atomic { .. } => self.atomic(op)?,
            Op::Exit => self.leave("OpReturn"),
            Op::Trap { message, is_asked_for } => {
                if *is_asked_for {
                    self.lose(&rules::TRAP, &format!("`{message}` ends the launch, which no kernel of OpenCL can"));
                }
                self.leave("OpUnreachable");
            }
            Op::Unsupported { message, .. } => return Err(message.clone()),
            Op::Remainder { .. } => return Err("a remainder of floats".to_owned()),
            Op::Scale { .. } => return Err("a product with a power of two".to_owned()),
            Op::ConvertPacked { d, conversion, args } => self.convert_packed(*d, conversion, args)?,
            Op::ImageLoad { .. }
            | Op::ImageStore { .. }
            | Op::ImageAddress { .. }
            | Op::ImageSample { .. }
            | Op::ImageQuery { .. } => return Err("an image".to_owned()),
            Op::WarpBarrier { mask } => self.warp_barrier(*mask)?,
            Op::Shuffle { d, p, mode, a, b, c, mask } => self.shuffle((*d, *p), *mode, [*a, *b, *c], *mask)?,
            Op::Vote { d, mode, a, mask } => self.vote(*d, *mode, *a, *mask)?,
            Op::ActiveMask { d } => self.active_mask(*d)?,
            Op::Elect { d, p, mask } => self.elect(*d, *p, *mask)?,
            Op::Match { d, p, all, width, a, mask } => self.matching((*d, *p), *all, *width, *a, *mask)?,
            Op::Reduce { d, reduction, a, mask } => self.reduce(*d, *reduction, *a, *mask)?,
            Op::MultiplyMatrices { multiply, d, a, b, c, scales } => {
                self.multiply_matrices(multiply, d, [a, b, c], scales.as_ref())?;
            }
            Op::Print { .. } => return Err("`vprintf`".to_owned()),
        }
        Ok(())
    }

    /// All threads of a block wait for each other, and may be asked something.
    fn barrier(&mut self, kind: BarrierKind) -> Result {
        let block = Id::constant(Ty::U32, WORKGROUP);
        let [memory, semantics] = self.at_barrier(WORKGROUP);
        self.effect("OpControlBarrier", &[block, memory, semantics]);
        let (d, ty, value) = match kind {
            BarrierKind::Wait | BarrierKind::Arrive => return Ok(()),
            BarrierKind::Reduce { d, p, all } => {
                let p = self.read_as(p, Ty::Bool);
                (d, Ty::Bool, self.emit(Ty::Bool, if all { "OpGroupAll" } else { "OpGroupAny" }, &[block, p]))
            }
            BarrierKind::Count { d, p } => {
                let p = self.read_as(p, Ty::Bool);
                let one = self.resize(p, Ty::Bool, Ty::U32);
                (d, Ty::U32, self.group_sum(block, one))
            }
        };
        self.needs_opencl_2("a question to a whole block")?;
        self.module.capability("Groups");
        self.write(d, value, ty);
        Ok(())
    }

    /// The thread ends; what follows in the block is reached by no one.
    fn leave(&mut self, opcode: &str) {
        self.effect(opcode, &[]);
        if !self.is_guarded() {
            let label = self.module.label();
            self.label(label);
        }
    }

    /// Some bits of a wider value.
    pub(super) fn extracted(&mut self, value: Id, whole: Ty, shift: u32, part: Ty) -> Id {
        if let Some(known) = value.known() {
            return Id::constant(part, known >> shift);
        }
        if whole.bits() == 2 * part.bits() && shift.is_multiple_of(part.bits()) {
            let both = self.emit(Type::Vector(part, 2), "OpBitcast", &[value]);
            return self.emit_with(part, "OpCompositeExtract", &[both], &(shift / part.bits()).to_string());
        }
        let moved = match shift {
            0 => value,
            _ => self.emit(whole, "OpShiftRightLogical", &[value, Id::constant(whole, shift.into())]),
        };
        self.resize(moved, whole, part)
    }

    /// A number that the launch or the lane gives.
    pub(super) fn number(&mut self, special: Special) -> Result<(Id, Ty)> {
        let axes = |body: &mut Self, name: &'static str, axis: u8| {
            let id = body.special(special, |body| {
                let wide = body.module.address();
                let all = body.built_in(name, Type::Vector(wide, 3));
                let one = body.early(wide, "OpCompositeExtract", &[all], &axis.to_string());
                if wide == Ty::U32 { one } else { body.early(Ty::U32, "OpUConvert", &[one], "") }
            });
            Ok((id, Ty::U32))
        };
        match special {
            Special::Tid(axis) => axes(self, "LocalInvocationId", axis),
            Special::Ntid(axis) => axes(self, "WorkgroupSize", axis),
            Special::Ctaid(axis) => axes(self, "WorkgroupId", axis),
            Special::Nctaid(axis) => axes(self, "NumWorkgroups", axis),
            Special::Address(variable) => {
                let variable = self.variables.get(variable as usize).copied();
                let variable = variable.ok_or("a variable that is not there")?;
                let wide = self.module.address();
                let id = self.special(special, |body| body.early(wide, "OpConvertPtrToU", &[variable], ""));
                Ok((id, wide))
            }
            Special::SharedWindow => Ok((self.window(0)?, Ty::U64)),
            Special::LocalWindow => Ok((self.window(1)?, Ty::U64)),
            Special::Lane | Special::Warp => {
                // A warp is 32 neighbours, counted x first.
                let index = self.place_in_block();
                let id = self.special(special, |body| match special {
                    Special::Lane => body.early(Ty::U32, "OpBitwiseAnd", &[index, Id::constant(Ty::U32, 31)], ""),
                    _ => body.early(Ty::U32, "OpShiftRightLogical", &[index, Id::constant(Ty::U32, 5)], ""),
                });
                Ok((id, Ty::U32))
            }
            Special::MaskEq | Special::MaskLe | Special::MaskLt | Special::MaskGe | Special::MaskGt => {
                let lane = self.number(Special::Lane)?.0;
                let id = self.special(special, |body| {
                    let (start, less) = match special {
                        Special::MaskEq | Special::MaskLt => (1, 1),
                        Special::MaskLe | Special::MaskGt => (2, 1),
                        _ => (u64::MAX, 0),
                    };
                    let moved = body.early(Ty::U32, "OpShiftLeftLogical", &[Id::constant(Ty::U32, start), lane], "");
                    let below =
                        |body: &mut Self| body.early(Ty::U32, "OpISub", &[moved, Id::constant(Ty::U32, less)], "");
                    match special {
                        Special::MaskEq | Special::MaskGe => moved,
                        Special::MaskGt => {
                            let upto = below(body);
                            body.early(Ty::U32, "OpNot", &[upto], "")
                        }
                        _ => below(body),
                    }
                });
                Ok((id, Ty::U32))
            }
            Special::Warps => {
                let size = [0, 1, 2].map(|axis| self.number(Special::Ntid(axis)).map(|(id, _)| id));
                let [x, y, z] = size;
                let (x, y, z) = (x?, y?, z?);
                let id = self.special(special, |body| {
                    let plane = body.early(Ty::U32, "OpIMul", &[x, y], "");
                    let all = body.early(Ty::U32, "OpIMul", &[plane, z], "");
                    let up = body.early(Ty::U32, "OpIAdd", &[all, Id::constant(Ty::U32, 31)], "");
                    body.early(Ty::U32, "OpShiftRightLogical", &[up, Id::constant(Ty::U32, 5)], "")
                });
                Ok((id, Ty::U32))
            }
            Special::TotalShared if !self.kernel.dynamic_shared => {
                Ok((Id::constant(Ty::U32, self.kernel.shared_bytes.into()), Ty::U32))
            }
            Special::DynamicShared if !self.kernel.dynamic_shared => Ok((Id::constant(Ty::U32, 0), Ty::U32)),
            Special::TotalShared | Special::DynamicShared => Err("the size of shared memory".to_owned()),
            Special::Clock => Err("a clock".to_owned()),
            Special::BufferBytes(_) => Err("the size of a buffer".to_owned()),
            Special::ParamWindow => Err("the address of a parameter".to_owned()),
            Special::Placement(_) => Err("a register that says where a block stands beyond its grid".to_owned()),
        }
    }

    /// The thread's number in its block, x first.
    fn place_in_block(&mut self) -> Id {
        let tid = [0, 1, 2].map(|axis| self.number(Special::Tid(axis)).map_or(Id::Undef(Ty::U32), |(id, _)| id));
        let size = [0, 1].map(|axis| self.number(Special::Ntid(axis)).map_or(Id::Undef(Ty::U32), |(id, _)| id));
        // By the place of a special that no program has.
        self.special(Special::Address(u32::MAX), |body| {
            let planes = body.early(Ty::U32, "OpIMul", &[tid[2], size[1]], "");
            let rows = body.early(Ty::U32, "OpIAdd", &[planes, tid[1]], "");
            let before = body.early(Ty::U32, "OpIMul", &[rows, size[0]], "");
            body.early(Ty::U32, "OpIAdd", &[before, tid[0]], "")
        })
    }

    /// A built-in variable's value.
    fn built_in(&mut self, name: &'static str, ty: Type) -> Id {
        let known = self.built_ins.iter().find(|(known, _)| *known == name);
        if let Some(&(_, value)) = known {
            return value;
        }
        let variable = self.module.built_in(name, ty);
        let value = self.early(ty, "OpLoad", &[variable], "Aligned 32");
        self.built_ins.push((name, value));
        self.interface.push(variable);
        value
    }
}
