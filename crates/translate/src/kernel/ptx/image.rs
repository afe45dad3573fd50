//! Images and samplers: refused by name.

use roundonce_ir::Op;

use super::body::{Body, Written, none};

impl Body<'_> {
    pub(super) fn image(&mut self, op: &Op) -> Written {
        none(match op {
            Op::ImageLoad { .. } => "a read of an image",
            Op::ImageStore { .. } => "a write of an image",
            Op::ImageAddress { .. } => "the address of a texel",
            Op::ImageSample { .. } => "a sample of an image",
            _ => "a question about an image",
        })
    }
}
