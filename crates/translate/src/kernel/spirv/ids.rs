//! Types and ids as they are written.

use std::fmt::Write as _;

use roundonce_arith::Format;
use roundonce_ir::Width;

/// A scalar type. Integers have no sign: an opcode says it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Ty {
    Bool,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Ty {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::U8 => "uchar",
            Ty::U16 => "ushort",
            Ty::U32 => "uint",
            Ty::U64 => "ulong",
            Ty::F16 => "half",
            Ty::F32 => "float",
            Ty::F64 => "double",
        }
    }
    pub(super) const fn bits(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::U8 => 8,
            Ty::U16 | Ty::F16 => 16,
            Ty::U32 | Ty::F32 => 32,
            Ty::U64 | Ty::F64 => 64,
        }
    }
    pub(super) const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
    pub(super) const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }
    /// The integer type of so many bits.
    pub(super) const fn int(bits: u32) -> Ty {
        match bits {
            0 | 1 => Ty::Bool,
            2..=8 => Ty::U8,
            9..=16 => Ty::U16,
            17..=32 => Ty::U32,
            _ => Ty::U64,
        }
    }
    /// A register's type where its bits are no float.
    pub(super) const fn of(width: Width) -> Ty {
        Ty::int(width.bits())
    }
    /// The float type as wide.
    pub(super) const fn float(bits: u32) -> Ty {
        match bits {
            16 => Ty::F16,
            64 => Ty::F64,
            _ => Ty::F32,
        }
    }
    /// A format's type, where SPIR-V's kernels have one.
    pub(super) fn of_format(format: Format) -> Option<Ty> {
        match format {
            Format::F16 => Some(Ty::F16),
            Format::F32 => Some(Ty::F32),
            Format::F64 => Some(Ty::F64),
            _ => None,
        }
    }
    pub(super) const fn format(self) -> Format {
        match self {
            Ty::F16 => Format::F16,
            Ty::F64 => Format::F64,
            _ => Format::F32,
        }
    }
}

/// A storage class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Class {
    Function,
    Workgroup,
    CrossWorkgroup,
    UniformConstant,
    Generic,
    Input,
}

impl Class {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Class::Function => "Function",
            Class::Workgroup => "Workgroup",
            Class::CrossWorkgroup => "CrossWorkgroup",
            Class::UniformConstant => "UniformConstant",
            Class::Generic => "Generic",
            Class::Input => "Input",
        }
    }
}

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Type {
    Void,
    Scalar(Ty),
    Vector(Ty, u8),
    /// To a scalar, or to a vector where the count is more than 1.
    Pointer(Class, Ty, u8),
    /// Of so many.
    Array(Ty, u32),
    PointerToArray(Class, Ty, u32),
    /// A struct of one array of words, as a parameter passed by value.
    Block(u32),
    PointerToBlock(u32),
}

impl From<Ty> for Type {
    fn from(ty: Ty) -> Type {
        Type::Scalar(ty)
    }
}

impl Type {
    pub(super) fn write(self, out: &mut String) {
        let vector = |out: &mut String, ty: Ty, count: u8| {
            if count > 1 {
                let _ = write!(out, "v{count}");
            }
            out.push_str(ty.name());
        };
        out.push('%');
        let _ = match self {
            Type::Void => write!(out, "void"),
            Type::Scalar(ty) => {
                out.push_str(ty.name());
                Ok(())
            }
            Type::Vector(ty, count) => write!(out, "v{count}{}", ty.name()),
            Type::Pointer(class, ty, count) => {
                out.push_str("ptr_");
                out.push_str(class.name());
                out.push('_');
                vector(out, ty, count);
                Ok(())
            }
            Type::Array(ty, count) => write!(out, "arr_{}_{count}", ty.name()),
            Type::PointerToArray(class, ty, count) => {
                write!(out, "ptr_{}_arr_{}_{count}", class.name(), ty.name())
            }
            Type::Block(words) => write!(out, "struct_{words}"),
            Type::PointerToBlock(words) => write!(out, "ptr_Function_struct_{words}"),
        };
    }
}

/// An id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Id {
    /// A result, by number.
    Temp(u32),
    /// A block.
    Label(u32),
    /// A constant.
    Const(Ty, u64),
    /// An undefined value.
    Undef(Ty),
    /// An undefined vector.
    UndefVector(Ty, u8),
    /// What has a name, by its place among them.
    Named(u32),
    /// Another type's name.
    Of(Type),
}

impl Id {
    /// The constant of so many bits.
    pub(super) const fn constant(ty: Ty, bits: u64) -> Id {
        Id::Const(ty, bits & ty.mask())
    }
    /// The bits, of a constant.
    pub(super) const fn known(self) -> Option<u64> {
        match self {
            Id::Const(_, bits) => Some(bits),
            _ => None,
        }
    }
}

/// A number in decimal: most of a module's text is numbers.
pub(super) fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[first..].iter().map(|&digit| char::from(digit)));
}

/// A constant's name.
pub(super) fn write_constant(out: &mut String, ty: Ty, bits: u64) {
    if !ty.is_float() && ty != Ty::Bool {
        out.push('%');
        out.push_str(ty.name());
        out.push('_');
        return push_number(out, bits);
    }
    let _ = match (ty, whole_number(ty, bits)) {
        (Ty::Bool, _) => write!(out, "%{}", bits == 1),
        (Ty::F16 | Ty::F32 | Ty::F64, Some(whole)) => write!(out, "%{}_{whole}", ty.name()),
        (Ty::F16 | Ty::F32 | Ty::F64, None) => {
            write!(out, "%{}_0x{bits:0width$x}", ty.name(), width = ty.bits() as usize / 4)
        }
        _ => write!(out, "%{}_{bits}", ty.name()),
    };
}

/// A float that is a small whole number, so that its name may be one.
fn whole_number(ty: Ty, bits: u64) -> Option<u32> {
    let value = match ty {
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        Ty::F64 => f64::from_bits(bits),
        _ => return (bits == 0).then_some(0),
    };
    let whole = value as u32;
    (f64::from(whole).to_bits() == value.to_bits() && whole < 10_000).then_some(whole)
}
