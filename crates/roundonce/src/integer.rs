//! The integer multiply-add: its spellings evaluated and explained.
//!
//! What an instruction computes is its lowering: a kernel of that one instruction is lowered as any other, and its
//! operations are computed by the functions that the engine uses.

mod steps;

use std::fmt::Write;

use roundonce_isa::{Finding, Form, Table, split_spelling};
pub use roundonce_ptx::integer::IntegerType;
use roundonce_ptx::integer::{FORMS, NOT_RUN, operand_types};
use roundonce_why::{Line, Role, wrap};
use serde::Serialize;

use crate::bits::{NotBits, parse_bits};
use crate::{NOT_COMPUTED, Target, fault};
use steps::Steps;

static TABLE: Table<()> = Table::new(&[FORMS, NOT_RUN]);

/// An integer multiply-add, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Integer {
    /// The row.
    pub form: &'static Form<()>,
    /// The operands: a, b, c, and of `madc` the carry flag.
    pub operands: Vec<IntegerType>,
    /// The result.
    pub result: IntegerType,
    /// Whether the carry flag is written.
    pub writes_carry: bool,
    steps: Steps,
}

/// What an integer multiply-add gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntegerResult {
    /// The result.
    pub bits: u64,
    /// The carry flag, where it is written.
    pub carry: Option<bool>,
}

const FLAG: IntegerType = IntegerType { bits: 32, signed: false };
static NAMES: [&str; 4] = ["a", "b", "c", "carry"];
/// The place of the carry flag among them.
pub(crate) const CARRY: usize = 3;

/// Whether a spelling is of the integer multiply-add, right or wrong: `mad` shares its mnemonic with floats.
pub fn is_integer(spelling: &str) -> bool {
    let (mnemonic, modifiers) = split_spelling(spelling);
    let of_integers = |word: &&str| {
        matches!(*word, ".lo" | ".hi" | ".wide") || word.starts_with(".u") || word.starts_with(".s") && *word != ".sat"
    };
    FORMS.iter().any(|form| form.mnemonic == mnemonic) && (mnemonic != "mad" || modifiers.iter().any(of_integers))
}

/// The instruction that a spelling names.
///
/// ```
/// let mad = roundonce::integer::instruction("mad.hi.s32", &Default::default())?;
/// assert_eq!(mad.eval(&[0xffff_ffff, 2, 5]).bits, 4);
/// # Ok::<(), roundonce::Finding>(())
/// ```
///
/// # Errors
/// A finding that says what is wrong with the spelling, or what lacks it, and the rule.
pub fn instruction(spelling: &str, target: &Target) -> Result<Integer, Finding> {
    let (name, sm) = crate::spelled_target(spelling, target)?;
    let (form, _) = TABLE.find(name, sm, target.ptx)?;
    let refused = |message: String| fault(NOT_COMPUTED, message).rule(form.source).help(form.note);
    if NOT_RUN.contains(form) {
        return Err(refused(format!("`{name}` is not computed")));
    }
    let [result, a, b, c] = operand_types(name);
    let mut operands = vec![a, b, c];
    if form.mnemonic == "madc" {
        operands.push(FLAG);
    }
    let writes_carry = split_spelling(name).1.contains(&".cc");
    let steps = steps(name, result, &operands, writes_carry).map_err(refused)?;
    Ok(Integer { form, operands, result, writes_carry, steps })
}

/// What a kernel of one instruction computes: its operands are parameters, its result and the carry flag are stored.
fn steps(name: &str, result: IntegerType, operands: &[IntegerType], writes_carry: bool) -> Result<Steps, String> {
    let mut text = ".version 9.5\n.target sm_121\n.address_size 64\n.entry k (.param .u64 out".to_owned();
    for (name, ty) in NAMES.iter().zip(operands) {
        let _ = write!(text, ", .param .b{} p{name}", ty.bits);
    }
    let _ = write!(text, ") {{\n.reg .b64 %o; .reg .b32 %t; .reg .b{} %d;\nld.param.u64 %o, [out];\n", result.bits);
    for (name, ty) in NAMES.iter().zip(operands) {
        let bits = ty.bits;
        let _ = writeln!(text, ".reg .b{bits} %{name}; ld.param.b{bits} %{name}, [p{name}];");
    }
    if operands.len() > 3 {
        text.push_str("add.cc.u32 %t, %carry, 0xffffffff;\n");
    }
    let _ = writeln!(text, "{name} %d, %a, %b, %c;\nst.global.b{} [%o], %d;", result.bits);
    if writes_carry {
        text.push_str("addc.u32 %t, 0, 0;\nst.global.b32 [%o+8], %t;\n");
    }
    text.push_str("ret;\n}\n");
    let parsed = roundonce_ptx::parse(&text);
    let program = match parsed.findings.first() {
        Some(finding) => return Err(finding.message.clone()),
        None => roundonce_ptx::lower(&parsed.module, None),
    };
    let program = program.map_err(|findings| findings.into_iter().map(|f| f.message).collect::<Vec<_>>().join("; "))?;
    Steps::of(program.kernels.first().ok_or("no kernel")?)
        .map_err(|problem| format!("`{name}` is not computed: {problem}"))
}

impl Integer {
    /// Reads the operand at a place, from 0: hex bits, or a decimal in the range of its bits, with a sign or without.
    ///
    /// # Errors
    /// A finding if it is none, or does not fit.
    pub fn operand(&self, index: usize, text: &str) -> Result<u64, Finding> {
        let bits = self.operands[index].bits;
        let problem = match parse_bits(text, bits) {
            Ok(value) if index == CARRY && value > 1 => format!("the carry flag is 0 or 1, found `{text}`"),
            Ok(value) => return Ok(value),
            Err(NotBits::TooWide) => format!("`{text}` does not fit {bits} bits"),
            Err(NotBits::NoInteger) => format!("`{text}` is no integer: expected one like 42, -7 or 0x2a"),
        };
        Err(fault("FORM0006", format!("operand {}: {problem}", index + 1)))
    }

    /// Whether as many operands were found as the instruction takes.
    ///
    /// # Errors
    /// A finding that says how many it takes.
    pub fn check_arity(&self, found: usize) -> Result<(), Finding> {
        let wanted = self.operands.len();
        if found == wanted {
            return Ok(());
        }
        let (syntax, names) = (self.form.syntax(), NAMES[..wanted].join(", "));
        let message = format!("`{syntax}` takes {wanted} operands ({names}), found {found}");
        Err(fault("FORM0005", message).rule(self.form.source))
    }

    /// Reads all operands.
    ///
    /// # Errors
    /// A finding about their number or the first one that is no integer.
    pub fn read<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<u64>, Finding> {
        self.check_arity(texts.len())?;
        texts.iter().enumerate().map(|(index, text)| self.operand(index, text.as_ref())).collect()
    }

    /// The GPU's bits.
    ///
    /// # Panics
    /// If there are not as many operands as the instruction takes: [`read`](Integer::read) sees to it.
    pub fn eval(&self, operands: &[u64]) -> IntegerResult {
        assert_eq!(operands.len(), self.operands.len(), "{} takes other operands", self.form.mnemonic);
        self.steps.eval(operands)
    }

    /// The exact product and sum beside the result.
    ///
    /// # Panics
    /// As [`eval`](Integer::eval).
    pub fn explain(&self, spelling: &str, operands: &[u64]) -> IntegerExplained {
        let result = self.eval(operands);
        let texts = self.operands.iter().zip(operands).zip(NAMES);
        IntegerExplained {
            instruction: spelling.to_owned(),
            meaning: self.meaning(spelling),
            source: self.form.source,
            note: self.form.note,
            operands: texts.map(|((ty, bits), name)| Number::of(name, *ty, *bits)).collect(),
            steps: self.explained_steps(spelling, operands, result),
            result: Number::of("d", self.result, result.bits),
            carry: result.carry,
        }
    }

    /// What it computes, in words.
    pub fn meaning(&self, spelling: &str) -> String {
        let words = split_spelling(spelling).1;
        let has = |word: &str| words.contains(&word);
        let bits = self.operands[0].bits;
        let mut text = match self.form.mnemonic {
            "dp4a" => "d = a0 × b0 + a1 × b1 + a2 × b2 + a3 × b3 + c, of bytes".to_owned(),
            "dp2a" => format!(
                "d = a0 × b{0} + a1 × b{1} + c, of 16 bits and bytes",
                if has(".hi") { 2 } else { 0 },
                if has(".hi") { 3 } else { 1 }
            ),
            "mad24" if has(".hi") => "d = bits 16 to 47 of a × b, of 24 bits, + c".to_owned(),
            "mad24" => "d = bits 0 to 31 of a × b, of 24 bits, + c".to_owned(),
            _ if has(".wide") => "d = a × b + c, the whole product".to_owned(),
            _ if has(".hi") => format!("d = the high {bits} bits of a × b, + c"),
            _ => format!("d = the low {bits} bits of a × b, + c"),
        };
        text.push_str(if self.operands.len() > 3 { " + carry" } else { "" });
        text.push_str(if has(".sat") { "; clamped to the range" } else { "; the sum wraps" });
        text.push_str(if self.writes_carry { "; its carry is written" } else { "" });
        text
    }

    /// What the result is taken from, where it is one product.
    fn explained_steps(&self, spelling: &str, operands: &[u64], result: IntegerResult) -> Vec<String> {
        let (mnemonic, words) = split_spelling(spelling);
        let (a, b) = (self.operands[0], self.operands[1]);
        let mut steps = Vec::new();
        if mnemonic.starts_with("dp") {
            return steps;
        }
        let factor = |ty: IntegerType, bits: u64| {
            let ty = if mnemonic == "mad24" { IntegerType { bits: 24, ..ty } } else { ty };
            number(ty, bits)
        };
        let (x, y) = (factor(a, operands[0]), factor(b, operands[1]));
        let magnitude = x.unsigned_abs() * y.unsigned_abs();
        let is_negative = (x < 0) != (y < 0) && magnitude != 0;
        let sign = if is_negative { "-" } else { "" };
        let pattern = if is_negative { magnitude.wrapping_neg() } else { magnitude };
        let whole = (if mnemonic == "mad24" { 48 } else { 2 * a.bits }) as usize;
        let mask = u128::MAX >> (128 - whole);
        steps.push(format!("a × b is {sign}{magnitude}, 0x{:0digits$x}", pattern & mask, digits = whole / 4));
        let (low, taken) = match (mnemonic, words.contains(&".hi")) {
            ("mad24", true) => (16, 32),
            ("mad24", false) => (0, 32),
            (_, true) => (a.bits, a.bits),
            (_, false) => (0, if words.contains(&".wide") { 2 * a.bits } else { a.bits }),
        };
        let part = ((pattern & mask) >> low) as u64 & (u64::MAX >> (64 - taken));
        let ty = IntegerType { bits: taken, signed: self.result.signed };
        steps.push(format!("of it 0x{part:0digits$x} is taken, {}", number(ty, part), digits = taken as usize / 4));
        let carry = operands.get(CARRY).map_or(0, |carry| i128::from(*carry != 0));
        let sum = number(ty, part) + number(self.result, operands[2]) + carry;
        steps.push(match number(self.result, result.bits) {
            exact if exact == sum => format!("the sum is exactly {sum}"),
            _ if words.contains(&".sat") => format!("the sum {sum} is clamped"),
            _ => format!("the sum {sum} does not fit {} bits and wraps", self.result.bits),
        });
        steps
    }
}

/// The number that bits are.
fn number(ty: IntegerType, bits: u64) -> i128 {
    let bits = bits & (u64::MAX >> (64 - ty.bits));
    if ty.signed && bits >> (ty.bits - 1) == 1 { i128::from(bits) - (1 << ty.bits) } else { i128::from(bits) }
}

/// An integer, named.
#[derive(Clone, Debug, Serialize)]
pub struct Number {
    /// `a`.
    pub name: &'static str,
    /// `s32`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its bits.
    pub bits: String,
    /// What they are.
    pub value: String,
}

impl Number {
    fn of(name: &'static str, ty: IntegerType, bits: u64) -> Number {
        Number {
            name,
            ty: format!("{}{}", if ty.signed { 's' } else { 'u' }, ty.bits),
            bits: hex(ty, bits),
            value: number(ty, bits).to_string(),
        }
    }
}

/// Bits as `0x` and all digits.
pub fn hex(ty: IntegerType, bits: u64) -> String {
    format!("0x{bits:0digits$x}", digits = ty.bits as usize / 4)
}

/// An explained integer multiply-add.
#[derive(Clone, Debug, Serialize)]
pub struct IntegerExplained {
    /// The instruction as spelled.
    pub instruction: String,
    /// What it computes, in words.
    pub meaning: String,
    /// Document and section.
    pub source: &'static str,
    /// What a reader would not guess.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
    /// As given.
    pub operands: Vec<Number>,
    /// From the exact product to the result.
    pub steps: Vec<String>,
    /// The result.
    pub result: Number,
    /// The carry flag, where it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carry: Option<bool>,
}

impl IntegerExplained {
    /// The explanation for a reader.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::of(Role::Strong, &self.instruction).and(Role::Faint, format!("   {}", self.source))];
        lines.extend(wrap(Role::Plain, &self.meaning, 0, 80));
        lines.extend(wrap(Role::Faint, self.note, 0, 80));
        lines.push(Line::default());
        let row = |number: &Number| {
            Line::of(Role::Label, format!(" {:<5} ", number.name))
                .and(Role::Strong, format!("{:<18} ", number.bits))
                .and(Role::Plain, format!("{} {}", number.ty, number.value))
        };
        lines.extend(self.operands.iter().map(row));
        lines.extend(self.steps.iter().map(|step| Line::of(Role::Plain, format!("   {step}"))));
        lines.push(row(&self.result));
        if let Some(carry) = self.carry {
            lines.push(Line::of(Role::Plain, format!("   the carry flag is {}", u8::from(carry))));
        }
        lines
    }
}
