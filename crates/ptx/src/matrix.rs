//! Matrix multiply-add: `mma.sync`, `wmma.mma`, `wgmma.mma_async`, `tcgen05.mma`. What a spelling names
//! ([`MatrixInstruction`]), and what each generation of tensor cores computes for it ([`MatrixInstruction::row`]).
//!
//! ```
//! use roundonce_isa::SmTarget;
//! use roundonce_ptx::matrix::MatrixInstruction;
//! use roundonce_arith::Profile;
//! let mma = MatrixInstruction::parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").unwrap();
//! let row = mma.row(SmTarget::from(80), &Profile::NVIDIA).unwrap();
//! assert_eq!((row.dot.k, row.dot.block, row.dot.kept), (16, 8, Some(24)));
//! ```

mod accepted;
mod fragment;
mod rows;
mod spelling;
mod table;
mod tensor_memory;

pub(crate) use accepted::{ACCEPTED, AcceptedRow, SHORT};
pub(crate) use fragment::Matrix;
pub use rows::matrix_gates;
pub(crate) use rows::{Class, Misfit, matches, rows_of, why_none};
pub use spelling::{Family, Layout, MatrixInstruction};
pub use table::{Evidence, MatrixRow, Operands, ROWS, Refusal, Shapes, Unit, UnitRow};
pub(crate) use tensor_memory::TENSOR_MEMORY;
