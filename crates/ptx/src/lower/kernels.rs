//! The kernels of a module: each by itself, and how large they may be together.

use super::{Body, CANNOT_BE_RUN, Lowering, Purpose, UNSUPPORTED, parameters};
use crate::ast::{Function, Variable};
use crate::types::Type;
use rayon::prelude::*;
use roundonce_ir::{Cfg, Kernel, Op, largest_module, too_large_together};
use roundonce_isa::Finding;
use std::sync::atomic::Ordering;

/// From so many bytes of text on other threads are worth their start.
const LONG: usize = 1 << 18;

impl<'m, 'a> Lowering<'m, 'a> {
    /// The kernels of functions, on all threads where the module is long.
    pub(super) fn kernels(&self, functions: &[&'m Function<'a>]) -> Vec<Result<Kernel, Vec<Finding>>> {
        let kernels: Vec<_> = if self.module.text().len() < LONG {
            functions.iter().map(|function| self.kernel(function)).collect()
        } else {
            functions.par_iter().map(|function| self.kernel(function)).collect()
        };
        // All of them, whichever was made last.
        if self.are_too_large() {
            functions.iter().map(|function| Err(vec![self.together(function)])).collect()
        } else {
            kernels
        }
    }

    /// The kernel of a function.
    fn kernel(&self, function: &'m Function<'a>) -> Result<Kernel, Vec<Finding>> {
        let mut body = Body::new(self, function, Purpose::Run);
        let result = body.entry(function).and_then(|()| body.routines()).and_then(|()| body.finish_routines());
        self.size.fetch_add(body.size, Ordering::Relaxed);
        if let Err(finding) = result {
            body.findings.push(finding);
        }
        if body.too_large || !body.findings.is_empty() {
            body.findings.append(&mut body.unsupported);
            return Err(body.findings);
        }
        let unsupported = core::mem::take(&mut body.unsupported);
        let mut kernel = body.finish();
        parameters::resolve_addresses(&mut kernel);
        let declared = self.module.variables(function.parameters).iter();
        let scalar = |variable: &Variable<'_>| {
            Type::of(variable.ty).filter(|_| variable.dimensions.len == 0 && variable.lanes <= 1)
        };
        parameters::infer_floats(&mut kernel, &declared.map(scalar).collect::<Vec<_>>());
        if !unsupported.is_empty() && reached_by_all(&kernel) { Err(unsupported) } else { Ok(kernel) }
    }

    /// Whether the kernels that are made are too large together.
    pub(super) fn are_too_large(&self) -> bool {
        self.size.load(Ordering::Relaxed) > self.largest_module()
    }
    /// That a kernel is one of too many.
    pub(super) fn together(&self, function: &Function<'a>) -> Finding {
        let (what, help) = too_large_together(self.largest_module());
        let place = self.module.span_of(function.name).unwrap_or_default().place();
        Finding::error(UNSUPPORTED, place, format!("{what}{CANNOT_BE_RUN}")).help(help)
    }
    pub(super) fn largest_module(&self) -> usize {
        largest_module(self.settings.largest_kernel, self.module.text().len())
    }
}

/// Whether every thread that ends reaches an [`Op::Unsupported`].
fn reached_by_all(kernel: &Kernel) -> bool {
    let cfg = Cfg::of(kernel);
    let certain = core::iter::successors(Some(0), |&block: &usize| cfg.ipdom[block]);
    certain
        .flat_map(|block| &kernel.blocks[block].instructions)
        .any(|step| step.guard.is_none() && matches!(step.op, Op::Unsupported { .. }))
}
