//! The module around the kernels: what they need is declared when it is first asked for.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use roundonce_arith::{Dot, Rounding};
use roundonce_ir::MatrixMultiply;
use roundonce_spirv::float_literal;

use super::ids::{Class, Id, Ty, Type, push_number, write_constant};

/// What was declared lately, by some of its bits.
#[derive(Clone, Copy)]
struct Lately {
    constants: [Option<(Ty, u64)>; 64],
    types: [Option<Type>; 8],
}

impl Default for Lately {
    fn default() -> Lately {
        Lately { constants: [None; 64], types: [None; 8] }
    }
}

/// Names that are taken from the start: those of types begin so, and constants'.
static TAKEN: [&str; 12] =
    ["void", "bool", "uchar", "ushort", "uint", "ulong", "half", "float", "double", "true", "false", "opencl"];

/// The sections of a module, in their order.
#[derive(Default)]
pub(super) struct Module {
    capabilities: BTreeSet<&'static str>,
    extensions: BTreeSet<&'static str>,
    uses_opencl: bool,
    /// Addresses have 32 bits.
    is_short: bool,
    pub(super) entry_points: String,
    pub(super) modes: String,
    strings: String,
    names: String,
    decorations: String,
    globals: String,
    pub(super) functions: String,
    declared: HashSet<Type>,
    constants: HashSet<(Ty, u64)>,
    /// Constants and types that were asked for lately, so that most questions need no hash.
    lately: Lately,
    others: HashSet<String>,
    /// Names that are taken, and the last number that made another one of each.
    taken: HashMap<String, u32>,
    /// The names of what has one.
    named: Vec<String>,
    files: Vec<String>,
    built_ins: Vec<(&'static str, Id)>,
    /// The last line of the source whose comments have been repeated.
    pub(super) commented: u32,
    /// The functions of matrix multiply-adds.
    pub(super) dots: Vec<(Dot, Id)>,
    pub(super) matrices: Vec<(MatrixMultiply, Id)>,
    /// Fused multiply-adds of f64, by direction.
    pub(super) directed: Vec<(Rounding, Id)>,
    temps: u32,
    labels: u32,
}

impl Module {
    pub(super) fn new(address: Ty) -> Module {
        let taken = TAKEN.iter().map(|&name| (name.to_owned(), 0)).collect();
        let mut module = Module { taken, is_short: address == Ty::U32, ..Module::default() };
        module.capability("Addresses");
        module.capability("Kernel");
        module
    }

    /// The integer that an address is.
    pub(super) const fn address(&self) -> Ty {
        if self.is_short { Ty::U32 } else { Ty::U64 }
    }

    pub(super) fn capability(&mut self, name: &'static str) {
        self.capabilities.insert(name);
    }
    pub(super) fn extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// A result without a name.
    pub(super) fn temp(&mut self) -> Id {
        self.temps += 1;
        Id::Temp(self.temps)
    }
    /// A block.
    pub(super) fn label(&mut self) -> Id {
        self.labels += 1;
        Id::Label(self.labels)
    }
    /// What is called so, or nearly so where that is taken.
    pub(super) fn named(&mut self, name: &str) -> Id {
        let mut id: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        if id.is_empty() || id.starts_with(|c: char| c.is_ascii_digit()) {
            id.insert(0, '_');
        }
        // Types and constants begin with a type's name, labels with `L`.
        let reserved = TAKEN.iter().any(|taken| id.strip_prefix(taken).is_some_and(|rest| rest.starts_with('_')))
            || ["ptr_", "arr_", "struct_", "v2", "v3", "v4", "v8", "undef_", "block_", "fn_", "init_", "file_"]
                .iter()
                .any(|p| id.starts_with(p));
        if reserved {
            id.insert(0, '_');
        }
        if let Some(mut number) = self.taken.get(&id).copied() {
            let plain = id.clone();
            while self.taken.contains_key(&id) {
                number += 1;
                id = format!("{plain}_{number}");
            }
            self.taken.insert(plain, number);
        }
        self.taken.insert(id.clone(), 0);
        self.named.push(id);
        Id::Named(self.named.len() as u32 - 1)
    }
    /// OpName.
    pub(super) fn name(&mut self, id: Id, name: &str) {
        let mut line = std::mem::take(&mut self.names);
        line.push_str("OpName ");
        self.put(&mut line, id);
        quoted(&mut line, name);
        self.names = line;
    }
    /// OpDecorate.
    pub(super) fn decorate(&mut self, id: Id, what: &str) {
        let mut line = std::mem::take(&mut self.decorations);
        line.push_str("OpDecorate ");
        self.put(&mut line, id);
        let _ = writeln!(line, " {what}");
        self.decorations = line;
    }
    /// The id of a file's name, as written.
    pub(super) fn file(&mut self, name: &str) -> String {
        let place = self.files.iter().position(|file| file == name).unwrap_or_else(|| {
            self.files.push(name.to_owned());
            let _ = write!(self.strings, "%file_{} = OpString", self.files.len());
            quoted(&mut self.strings, name);
            self.files.len() - 1
        });
        format!("%file_{}", place + 1)
    }

    /// Writes an id, and declares what it is.
    pub(super) fn put(&mut self, out: &mut String, id: Id) {
        match id {
            Id::Temp(number) => {
                out.push('%');
                push_number(out, number.into());
            }
            Id::Label(number) => {
                out.push_str("%block_");
                push_number(out, number.into());
            }
            Id::Named(place) => {
                out.push('%');
                out.push_str(&self.named[place as usize]);
            }
            Id::Const(ty, bits) => {
                self.constant(ty, bits);
                write_constant(out, ty, bits);
            }
            Id::Undef(ty) => self.undefined(out, Type::Scalar(ty)),
            Id::UndefVector(ty, count) => self.undefined(out, Type::Vector(ty, count)),
            Id::Of(ty) => {
                self.need(ty);
                ty.write(out);
            }
        }
    }

    fn undefined(&mut self, out: &mut String, ty: Type) {
        let mut of = String::new();
        ty.write(&mut of);
        let name = format!("%undef_{}", &of[1..]);
        if self.others.insert(name.clone()) {
            self.need(ty);
            let _ = writeln!(self.globals, "{name} = OpUndef {of}");
        }
        out.push_str(&name);
    }

    /// The instruction set of OpenCL C.
    pub(super) fn opencl(&mut self) {
        self.uses_opencl = true;
    }

    fn constant(&mut self, ty: Ty, bits: u64) {
        let place = &mut self.lately.constants[(bits as usize ^ bits as usize >> 20) & 63];
        if place.replace((ty, bits)) == Some((ty, bits)) || !self.constants.insert((ty, bits)) {
            return;
        }
        self.need(ty.into());
        write_constant(&mut self.globals, ty, bits);
        let _ = match ty {
            Ty::Bool => writeln!(self.globals, " = OpConstant{} %bool", if bits == 1 { "True" } else { "False" }),
            Ty::F16 | Ty::F32 | Ty::F64 => {
                writeln!(self.globals, " = OpConstant %{} {}", ty.name(), float_literal(ty.format(), bits))
            }
            _ => writeln!(self.globals, " = OpConstant %{} {bits}", ty.name()),
        };
    }

    /// Declares a type.
    pub(super) fn need(&mut self, ty: Type) {
        let place = match ty {
            Type::Scalar(ty) => ty as usize & 7,
            Type::Pointer(class, ..) => class as usize & 7,
            _ => 0,
        };
        if self.lately.types[place].replace(ty) == Some(ty) || !self.declared.insert(ty) {
            return;
        }
        let of = match ty {
            Type::Void => None,
            Type::Scalar(ty) => {
                match ty {
                    Ty::U8 => self.capability("Int8"),
                    Ty::U16 => self.capability("Int16"),
                    Ty::U64 => self.capability("Int64"),
                    Ty::F16 => self.capability("Float16"),
                    Ty::F64 => self.capability("Float64"),
                    Ty::Bool | Ty::U32 | Ty::F32 => {}
                }
                None
            }
            Type::Vector(of, _) | Type::Array(of, _) | Type::Pointer(_, of, 1) => Some(Type::Scalar(of)),
            Type::Pointer(_, of, count) => Some(Type::Vector(of, count)),
            Type::PointerToArray(_, of, count) => Some(Type::Array(of, count)),
            Type::Block(words) => Some(Type::Array(Ty::U32, words)),
            Type::PointerToBlock(words) => Some(Type::Block(words)),
        };
        of.into_iter().for_each(|of| self.need(of));
        if let Type::Array(_, count) = ty {
            self.constant(Ty::U32, count.into());
        }
        if let Type::Vector(_, 5..) = ty {
            self.capability("Vector16");
        }
        if let Type::Pointer(Class::Generic, ..) = ty {
            self.capability("GenericPointer");
        }
        let mut line = std::mem::take(&mut self.globals);
        ty.write(&mut line);
        line.push_str(" = ");
        match ty {
            Type::Void => line.push_str("OpTypeVoid"),
            Type::Scalar(Ty::Bool) => line.push_str("OpTypeBool"),
            Type::Scalar(ty) => {
                let _ = match ty.is_float() {
                    true => write!(line, "OpTypeFloat {}", ty.bits()),
                    false => write!(line, "OpTypeInt {} 0", ty.bits()),
                };
            }
            Type::Vector(ty, count) => {
                let _ = write!(line, "OpTypeVector %{} {count}", ty.name());
            }
            Type::Array(ty, count) => {
                let _ = write!(line, "OpTypeArray %{} %uint_{count}", ty.name());
            }
            Type::Block(_) => line.push_str("OpTypeStruct"),
            Type::Pointer(class, ..) | Type::PointerToArray(class, ..) => {
                let _ = write!(line, "OpTypePointer {}", class.name());
            }
            Type::PointerToBlock(_) => line.push_str("OpTypePointer Function"),
        }
        if !matches!(ty, Type::Vector(..) | Type::Array(..))
            && let Some(of) = of
        {
            line.push(' ');
            of.write(&mut line);
        }
        line.push('\n');
        self.globals = line;
    }

    /// The type of a function with such a result and such parameters, as written.
    pub(super) fn function_type(&mut self, result: Type, params: &[Type]) -> String {
        self.need(result);
        let (mut name, mut of) = ("%fn".to_owned(), String::new());
        let mut made = String::new();
        result.write(&mut made);
        for &param in params {
            self.need(param);
            of.push(' ');
            param.write(&mut of);
            let at = name.len();
            param.write(&mut name);
            name.replace_range(at..=at, "_");
        }
        if result != Type::Void {
            let _ = write!(name, "_to_{}", &made[1..]);
        }
        if self.others.insert(name.clone()) {
            let _ = writeln!(self.globals, "{name} = OpTypeFunction {made}{of}");
        }
        name
    }

    /// A variable of the module.
    pub(super) fn variable(&mut self, id: Id, ty: Type, class: Class, initial: Option<&str>) {
        self.need(ty);
        let mut line = String::new();
        self.put(&mut line, id);
        line.push_str(" = OpVariable ");
        ty.write(&mut line);
        let _ = write!(line, " {}", class.name());
        if let Some(initial) = initial {
            let _ = write!(line, " {initial}");
        }
        let _ = writeln!(self.globals, "{line}");
    }

    /// A built-in variable, which kernels share.
    pub(super) fn built_in(&mut self, name: &'static str, ty: Type) -> Id {
        if let Some(&(_, id)) = self.built_ins.iter().find(|(known, _)| *known == name) {
            return id;
        }
        let id = self.named(name);
        self.decorate(id, &format!("BuiltIn {name}"));
        self.decorate(id, "Constant");
        if let Type::Vector(of, count) = ty {
            self.variable(id, Type::Pointer(Class::Input, of, count), Class::Input, None);
        }
        self.built_ins.push((name, id));
        id
    }

    /// A variable that is so many words, the first of them given. Those that are many stand in a struct of arrays: an
    /// instruction has room for 65535 words, and readers have less.
    pub(super) fn words(&mut self, id: Id, (class, ty): (Class, Ty), number: usize, first: &[u64], count: u32) {
        const MOST: usize = 4096;
        let mut chunks: Vec<(u32, &[u64])> = first.chunks(MOST).map(|chunk| (chunk.len() as u32, chunk)).collect();
        let rest = count - first.len() as u32;
        match chunks.last_mut() {
            Some((size, _)) if chunks_fit(*size, rest) => *size += rest,
            _ if rest > 0 || first.is_empty() => chunks.push((rest, &[])),
            _ => {}
        }
        let mut members = Vec::with_capacity(chunks.len());
        for (place, &(size, words)) in chunks.iter().enumerate() {
            let of = Type::Array(ty, size);
            self.need(of);
            let mut line = format!("%init_{number}_{place} = ");
            line.push_str(if words.is_empty() { "OpConstantNull " } else { "OpConstantComposite " });
            of.write(&mut line);
            let zeros = std::iter::repeat_n(&0, if words.is_empty() { 0 } else { size as usize - words.len() });
            for &bits in words.iter().chain(zeros) {
                line.push(' ');
                self.put(&mut line, Id::constant(ty, bits));
            }
            let _ = writeln!(self.globals, "{line}");
            members.push((of, format!("%init_{number}_{place}")));
        }
        if let [(_, initial)] = &members[..] {
            return self.variable(id, Type::PointerToArray(class, ty, count), class, Some(initial));
        }
        let (mut types, mut values) = (String::new(), String::new());
        for (of, value) in &members {
            types.push(' ');
            of.write(&mut types);
            let _ = write!(values, " {value}");
        }
        let mut name = String::new();
        self.put(&mut name, id);
        let class = class.name();
        let _ = writeln!(
            self.globals,
            "%init_{number}_struct = OpTypeStruct{types}\n%init_{number}_ptr = OpTypePointer {class} %init_{number}_struct\n\
             %init_{number} = OpConstantComposite %init_{number}_struct{values}\n\
             {name} = OpVariable %init_{number}_ptr {class} %init_{number}"
        );
    }

    /// The whole text.
    pub(super) fn finish(self, version: impl std::fmt::Display) -> String {
        let mut out = String::with_capacity(self.functions.len() + self.globals.len() + 4096);
        let _ = writeln!(out, "; SPIR-V\n; Version: {version}");
        self.capabilities.iter().for_each(|name| {
            let _ = writeln!(out, "OpCapability {name}");
        });
        self.extensions.iter().for_each(|name| {
            let _ = writeln!(out, "OpExtension \"{name}\"");
        });
        if self.uses_opencl {
            out.push_str("%opencl = OpExtInstImport \"OpenCL.std\"\n");
        }
        let addresses = if self.is_short { "Physical32" } else { "Physical64" };
        let _ = writeln!(out, "OpMemoryModel {addresses} OpenCL");
        for section in
            [self.entry_points, self.modes, self.strings, self.names, self.decorations, self.globals, self.functions]
        {
            out.push_str(&section);
        }
        out
    }
}

/// A string as an operand, and the line's end.
pub(super) fn quoted(out: &mut String, text: &str) {
    out.push_str(" \"");
    for c in text.chars().filter(|&c| c != '\0') {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str("\"\n");
}

/// Whether an array may have so many zeros more.
const fn chunks_fit(size: u32, zeros: u32) -> bool {
    size.saturating_add(zeros) <= 4096
}
