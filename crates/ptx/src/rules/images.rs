//! Textures and surfaces: what an instruction names one by, and the coordinates that it gives.

use super::operands::Wanted;
use super::places::vector_without_component;
use super::scope::Entity;
use super::{Check, INSTRUCTIONS};
use crate::ast::{Instruction, Operand, OperandKind, Space};
use crate::types::{ScalarKind, Type};
use roundonce_isa::Finding;

/// What a query asks of a sampler, where a texture has none of its own.
static OF_SAMPLERS: &[&str] =
    &[".filter_mode", ".addr_mode_0", ".addr_mode_1", ".addr_mode_2", ".force_unnormalized_coords"];

/// Geometries and how many coordinates are in braces at least, the index in an array among them. There are 1, 2 or 4.
static GEOMETRIES: &[(&str, usize)] = &[
    (".1d", 1),
    (".2d", 2),
    (".a1d", 2),
    (".3d", 4),
    (".a2d", 4),
    (".cube", 4),
    (".acube", 4),
    (".2dms", 4),
    (".a2dms", 4),
];

impl<'a> Check<'_, 'a> {
    /// `[t, {x, y}]`, `[t, s, {x, y}]` with a sampler, and `[t]` of a query.
    pub(super) fn image_place(
        &mut self,
        instruction: &Instruction<'a>,
        operand: &Operand<'a>,
        written: &[&str],
        wanted: &Wanted,
    ) {
        self.declared_in(operand);
        let module = self.module;
        let opcode = instruction.opcode;
        let (is_query, has_sampler) = (matches!(opcode, "txq" | "suq"), matches!(opcode, "tex" | "tld4"));
        let parts = match operand.kind {
            OperandKind::Address(items) => module.operands(items),
            _ => &[],
        };
        let (image, sampler, coordinates) = match parts {
            [image] if is_query => (image, None, None),
            [image, coordinates] if !is_query => (image, None, Some(coordinates)),
            [image, sampler, coordinates] if has_sampler => (image, Some(sampler), Some(coordinates)),
            _ => {
                let help = if is_query { "write `[t]`" } else { "write `[t, {x}]`" };
                return self.refuse("PTX0030", operand, wanted, "what names no texture and no surface", help);
            }
        };
        let is_independent = module.targets().any(|word| word == "texmode_independent");
        let of_sampler = is_independent && written.iter().any(|word| OF_SAMPLERS.contains(word));
        let ty = match opcode {
            "txq" if of_sampler => ".samplerref",
            "tex" | "tld4" | "txq" => ".texref",
            _ => ".surfref",
        };
        self.image(image, ty);
        match sampler {
            Some(sampler) if is_independent => self.image(sampler, ".samplerref"),
            None if has_sampler && is_independent => {
                let message = "a texture without a sampler: expected `[t, s, {x}]` with `texmode_independent`";
                self.report(Finding::error("PTX0030", operand.span.place(), message).rule(INSTRUCTIONS));
            }
            _ => {}
        }
        if let Some(Operand { kind: OperandKind::Vector(items), .. }) = coordinates {
            self.coordinates(operand, module.operands(*items), written, wanted);
        }
    }

    /// A variable of an opaque type, or a register of 64 bits.
    fn image(&mut self, item: &Operand<'a>, ty: &'static str) {
        let entity = item.name().map(|name| (name, self.scopes.find(name)));
        let found = match entity {
            Some((_, Some(Entity::Register { ty: has, lanes: 1 })))
                if Type::of_register(has).is_some_and(|has| has.is_integer() && has.bits == 64) =>
            {
                return;
            }
            Some((_, Some(Entity::Variable(_, _, layout)))) if layout.number() == Some(ty) => return,
            // As PTX 1.4 and older have it.
            Some((_, Some(Entity::Variable(Space::Tex, ..)))) if ty == ".texref" => return,
            // Reported as declared nowhere.
            Some((name, None)) if !super::is_special(name) => return,
            Some((name, Some(Entity::Register { ty, .. }))) => format!("the `{ty}` register `{name}`"),
            Some((name, Some(entity))) => format!("the {} `{name}`", entity.noun()),
            _ => format!("`{}`", item.span.of(self.module.text())),
        };
        let message = format!("{found} in brackets: expected a `{ty}` or a register of 64 bits");
        self.report(Finding::error("PTX0027", item.span.place(), message).rule(INSTRUCTIONS));
    }

    fn coordinates(&mut self, operand: &Operand<'a>, items: &[Operand<'a>], written: &[&str], wanted: &Wanted) {
        let of_geometry = GEOMETRIES.iter().find(|(word, _)| written.contains(word));
        let least = of_geometry.map_or(1, |(_, least)| *least);
        if !matches!(items.len(), 1 | 2 | 4) || items.len() < least {
            let found = format!("{} coordinates", items.len());
            let help = format!("write {least} of them, the last ones are not read where there are fewer dimensions");
            return self.refuse("PTX0030", operand, wanted, &found, &help);
        }
        for item in items {
            let Some(name) = item.name() else { continue };
            let found = match self.scopes.find(name) {
                Some(Entity::Register { lanes: 2.., .. }) => vector_without_component(name).0,
                Some(Entity::Register { ty, .. })
                    if Type::of_register(ty).is_none_or(|ty| ty.bits != 32 || ty.kind == ScalarKind::Pred) =>
                {
                    format!("the `{ty}` register `{name}` as a coordinate")
                }
                _ => continue,
            };
            self.refuse("PTX0027", item, wanted, &found, "coordinates have 32 bits");
        }
    }
}
