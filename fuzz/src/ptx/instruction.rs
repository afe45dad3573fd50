//! One instruction of a module: a spelling from the tables, and operands of its types.

use super::rows::{NOT_WRITTEN, ROWS, Row, TOGETHER, WRITTEN};
use super::{Generator, POOLS, TARGETS, module};
use roundonce::arith::{Element, Format};
use roundonce::kernel::{Choice, Ready, Source};
use roundonce::ptx::{conversions, forms, integer};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// A spelling of one of the product's own rows, and its operands as in [`Row`].
struct Spelled {
    spelling: String,
    operands: String,
}

fn float_type(format: Format, components: u32) -> String {
    let pair = if components == 2 { "x2" } else { "" };
    format!(".{}{pair}", format.name().unwrap_or("f32"))
}

/// Every spelling that the product has as data.
fn spelled() -> &'static [Spelled] {
    static ALL: OnceLock<Vec<Spelled>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for form in forms::FORMS {
            for (spelling, recipe) in form.spellings() {
                let mut operands = format!("={}", float_type(recipe.operation.format, recipe.components));
                for at in 0..recipe.operation.op.arity() {
                    operands += &format!(" {}", float_type(recipe.operation.operand_format(at), recipe.components));
                }
                all.push(Spelled { spelling, operands });
            }
        }
        for (spelling, _) in integer::FORMS.iter().flat_map(|form| form.spelled()) {
            let name = |ty: integer::IntegerType| format!(".{}{}", if ty.signed { "s" } else { "u" }, ty.bits);
            let operands = format!("={}", integer::operand_types(&spelling).map(name).join(" "));
            all.push(Spelled { spelling, operands });
        }
        for form in conversions::FORMS {
            for (spelling, _) in form.spelled() {
                let Some(conversion) = conversions::packed_conversion(&spelling) else { continue };
                let bits = |element| match element {
                    Element::Float(format) => format.width(),
                    Element::Narrow(narrow) if narrow.name() == "e2m1" => 4,
                    Element::Narrow(_) | Element::PowerOfTwo => 8,
                };
                let d = format!("=.b{}", conversion.count * bits(conversion.to));
                let a = match conversion.from {
                    Element::Float(Format::F32) => ".f32".to_owned(),
                    from => format!(".b{}", conversion.count * bits(from)),
                };
                let operands = match form.operands {
                    "d, a" => format!("{d} {a}"),
                    "d, a, b" => format!("{d} {a} {a}"),
                    "d, a, b, rbits" => format!("{d} {a} {a} .b32"),
                    _ => format!("{d} {{{a},{a},{a},{a}}} .b32"),
                };
                all.push(Spelled { spelling, operands });
            }
        }
        all
    })
}

/// That the generator writes every opcode that programs are lowered with, and that its programs are lowered.
///
/// # Panics
/// With the names of those that it lacks, or with why a program is refused.
pub fn check_table() {
    let rows = ROWS.iter().chain(TOGETHER).filter_map(|row| row.spelling.split(' ').next());
    let mut known: BTreeSet<&str> =
        rows.flat_map(|names| names.split('|')).chain(WRITTEN.iter().chain(NOT_WRITTEN).copied()).collect();
    known.extend(spelled().iter().filter_map(|spelled| spelled.spelling.split('.').next()));
    let missing: Vec<&str> = roundonce::ptx::lowered_opcodes().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "rows.rs has no row for {missing:?}");
    // What is around the statements is taken: else no program would be.
    for target in TARGETS {
        let text = module(target, "", ("", 0));
        let refused = Ready::read(Source::Ptx(&text), &Choice::default()).err();
        assert!(refused.is_none(), "{text}\n{refused:?}");
    }
}

/// A spelling's words as one, and the types among them.
fn joined(words: &[&'static str]) -> (String, Vec<&'static str>) {
    let words = words.iter().copied().filter(|word| *word != "-");
    let is_type = |word: &&str| TYPES.contains(word) || [".u16x2", ".s16x2"].contains(word);
    (words.clone().collect(), words.filter(is_type).collect())
}

/// Every spelling of the tables, with its operands and types.
pub(super) fn every() -> Vec<(String, String, Vec<&'static str>)> {
    let mut all: Vec<(String, String, Vec<&str>)> = Vec::new();
    for row in ROWS.iter().chain(TOGETHER) {
        let mut spellings: Vec<Vec<&str>> = vec![vec![]];
        for group in row.spelling.split(' ') {
            let longer = spellings.iter().flat_map(|words| group.split('|').map(|word| [&words[..], &[word]].concat()));
            spellings = longer.collect();
        }
        all.extend(spellings.iter().map(|words| {
            let (spelling, types) = joined(words);
            (spelling, row.operands.to_owned(), types)
        }));
    }
    all.extend(spelled().iter().map(|spelled| (spelled.spelling.clone(), spelled.operands.clone(), vec![])));
    all
}

/// What two machines may do differently: addresses, which lane is meant or together with which, and what
/// ends a launch or takes what is in memory.
fn is_left_open(spelling: &str) -> bool {
    const OPCODES: [&str; 10] = [
        "brkpt",
        "trap",
        "discard",
        "setmaxnreg",
        "createpolicy",
        "activemask",
        "elect",
        "mapa",
        "getctarank",
        "applypriority",
    ];
    OPCODES.contains(&spelling.split('.').next().unwrap_or_default()) || spelling == "isspacep.const"
}

/// What has an error bound for a definition.
fn is_approximate(spelling: &str) -> bool {
    spelling.contains(".approx") || spelling.contains(".full")
}

/// What an assembler may fuse with its neighbours.
fn is_contracted(spelling: &str) -> bool {
    ["add.", "sub.", "mul."].iter().any(|name| spelling.starts_with(name))
        && [".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f32x2", ".f64"].iter().any(|ty| spelling.ends_with(ty))
        && ![".rn", ".rz", ".rm", ".rp"].iter().any(|rounding| spelling.contains(rounding))
}

/// What ptxas makes into something else in a program (docs/run.md, "As an H100 has it"), or where NaNs may come from another operand.
fn is_rewritten(spelling: &str, operands: &[String]) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| spelling.contains(word));
    let is = |names: &[&str]| names.iter().any(|name| spelling.split('.').next() == Some(name));
    let constant =
        |at: usize| operands.get(at).is_some_and(|operand| operand.starts_with(|c: char| c.is_ascii_digit()));
    is(&["fma"]) && has(&[".bf16"]) && has(&[".rz", ".rm", ".rp"])
        || is(&["fma", "mad", "add", "sub", "mul", "max", "min"]) && spelling.ends_with(".f64")
        || is(&["add", "sub"]) && has(&[".sat.s32"])
        || has(&[".oob"])
        || is(&["shl", "shr"]) && spelling.ends_with("16") && constant(2)
        || is(&["neg", "abs"]) && constant(1)
        || is(&["max", "min"]) && operands.get(1) == operands.get(2)
}

/// What loses its guard, or a NaN's bits under one.
fn is_wrong_under_a_guard(spelling: &str) -> bool {
    ["set.", "testp.", "neg.", "abs.", "vadd4.", "vsub4.", "vavrg4.", "vabsdiff4."]
        .iter()
        .any(|name| spelling.starts_with(name))
}

const TYPES: [&str; 19] = [
    ".b8", ".u8", ".s8", ".b16", ".u16", ".s16", ".f16", ".bf16", ".b32", ".u32", ".s32", ".f32", ".f16x2", ".b64",
    ".u64", ".s64", ".f64", ".pred", ".bf16x2",
];

/// The registers that hold a type.
fn prefixes(ty: &str) -> &'static [&'static str] {
    match ty {
        ".pred" => &["%p"],
        ".b8" => &["%b", "%h", "%hu"],
        ".u8" | ".s8" | ".u16" | ".s16" => &["%h", "%hu", "%hs"],
        ".b16" => &["%h", "%hu", "%hs", "%hf"],
        ".f16" => &["%hf", "%h"],
        ".bf16" => &["%h"],
        ".b32" => &["%r", "%ru", "%rs", "%f"],
        ".u32" | ".s32" => &["%r", "%ru", "%rs"],
        ".f32" => &["%f", "%r"],
        ".f16x2" => &["%r", "%hx"],
        ".u16x2" | ".s16x2" | ".bf16x2" => &["%r"],
        ".b64" => &["%d", "%du", "%ds", "%df"],
        ".u64" | ".s64" => &["%d", "%du", "%ds"],
        ".f64" => &["%df", "%d"],
        _ => &["%d"],
    }
}

impl Generator<'_, '_> {
    /// A register of a type, or where it is only read sometimes a constant.
    pub(super) fn typed(&mut self, ty: &str, written: bool) -> String {
        let prefixes = prefixes(ty);
        let prefix = *self.choices.pick(prefixes);
        let bits = POOLS.iter().find(|pool| pool.prefix == prefix).map_or(32, |pool| 8 * pool.bytes as u32);
        let has_constants = !matches!(ty, ".pred" | ".f16" | ".bf16" | ".f16x2" | ".bf16x2" | ".f32x2");
        if written || !has_constants || !self.choices.one_in(5) {
            return self.register(prefix);
        }
        let value = self.choices.bits(bits);
        match ty {
            ".f32" => format!("0f{value:08x}"),
            ".f64" => format!("0d{value:016x}"),
            _ => format!("{value:#x}"),
        }
    }

    /// A place in memory of 16 bytes.
    fn place(&mut self, name: &str) -> String {
        let offset = 16 * self.choices.below(4);
        match name {
            "in" if self.choices.one_in(200) => {
                (*self.choices.pick(&["[%in+1]", "[%in+65536]", "[%base+-16]", "[%own+3]", "[0]"])).to_owned()
            }
            "in" if self.choices.one_in(4) => format!("[%own+{offset}]"),
            "in" => format!("[{}+{}]", self.choices.pick(&["%in", "%in", "%out"]), offset * 4),
            "own" => format!("[%own+{offset}]"),
            "local" if self.choices.one_in(2) => format!("[%loc+{}]", offset.min(32)),
            "local" => format!("[stack+{offset}]"),
            "const" => format!("[table+{}]", offset.min(16)),
            "address" => "%in".to_owned(),
            slot => {
                let slot: usize = slot.trim_start_matches("slot").parse().unwrap_or(0);
                format!("[%slots+{}]", 4 * slot)
            }
        }
    }

    fn operand(&mut self, written: bool, what: &str, types: &[&str]) -> String {
        let constants = what.strip_prefix('#').map(|list| list.split('|').collect::<Vec<_>>());
        if let Some(constants) = constants {
            return (*self.choices.pick(&constants)).to_owned();
        }
        if what.starts_with('%') {
            return what.to_owned();
        }
        if let Some(place) = what.strip_prefix('[') {
            return self.place(place.trim_end_matches(']'));
        }
        if let Some(list) = what.strip_prefix('{') {
            let list = list.trim_end_matches('}').split(',');
            let all: Vec<String> = list.map(|what| self.operand(true, what, types)).collect();
            // What is written twice at once is no instruction.
            let twice = written && (1..all.len()).any(|at| all[..at].contains(&all[at]));
            return if twice { "{_}".to_owned() } else { format!("{{{}}}", all.join(", ")) };
        }
        if let Some((one, other)) = what.split_once('|') {
            let (one, other) = (self.operand(true, one, types), self.operand(true, other, types));
            return if one == other { one } else { format!("{one}|{other}") };
        }
        let wide = |ty: &str| match ty {
            ".u16" => ".u32",
            ".s16" => ".s32",
            ".u32" => ".u64",
            _ => ".s64",
        };
        let ty = match what {
            "1" => types.first().copied().unwrap_or(".b32"),
            "2" => types.get(1).copied().unwrap_or(".b32"),
            "w" => wide(types.first().copied().unwrap_or(".s32")),
            ty => ty,
        };
        self.typed(ty, written)
    }

    /// One of a row's spellings.
    pub(super) fn instruction(&mut self, rows: &'static [Row]) {
        let row = self.choices.pick(rows);
        let words: Vec<&'static str> = row
            .spelling
            .split(' ')
            .map(|group| {
                let group: Vec<&str> = group.split('|').collect();
                *self.choices.pick(&group)
            })
            .collect();
        let (spelling, types) = joined(&words);
        self.write(&spelling, row.operands, &types, true);
    }

    /// One of the product's own rows.
    pub(super) fn form(&mut self) {
        let spelled = self.choices.pick(spelled());
        self.write(&spelled.spelling, &spelled.operands, &[], true);
    }

    /// Writes an instruction, under a guard sometimes where one may be.
    pub(super) fn write(&mut self, spelling: &str, operands: &str, types: &[&str], guarded: bool) {
        if self.portable && (is_left_open(spelling) || guarded && (is_approximate(spelling) || is_contracted(spelling)))
        {
            return;
        }
        let operands: Vec<String> = operands
            .split(' ')
            .filter(|what| !what.is_empty())
            .map(|what| match what.strip_prefix('=') {
                Some(what) => self.operand(true, what, types),
                None => self.operand(false, what, types),
            })
            .collect();
        if self.portable && guarded && is_rewritten(spelling, &operands) {
            return;
        }
        let text = format!("{spelling} {}", operands.join(", "));
        if !self.is_taken(&text) && (self.portable || !self.choices.one_in(200)) {
            return;
        }
        let guarded = guarded && !(self.portable && is_wrong_under_a_guard(spelling));
        let guard = if guarded && self.choices.one_in(4) {
            let (sign, pred) = (*self.choices.pick(&["", "!"]), self.register("%p"));
            // Threads meet where none is left out.
            if TOGETHER.iter().any(|row| spelling.starts_with(row.spelling.split([' ', '|']).next().unwrap_or("-"))) {
                String::new()
            } else {
                format!("@{sign}{pred} ")
            }
        } else {
            String::new()
        };
        // A carry that no instruction before it left is none.
        if self.portable && ["addc", "subc", "madc"].iter().any(|name| spelling.starts_with(name)) {
            self.line("add.cc.u32 %c7, %lin, 0xfffffff0");
        }
        self.line(&format!("{guard}{text}"));
    }

    /// Whether a program with this instruction alone is lowered for the target; asked once for each kind of operands, and where a
    /// program is to be the same whatever came before it, for each text.
    fn is_taken(&self, text: &str) -> bool {
        thread_local! {
            static KNOWN: RefCell<HashMap<String, bool>> = RefCell::default();
        }
        // Registers without their numbers, numbers without their digits.
        let (mut key, mut digits) = (self.target.1.to_owned(), false);
        for (at, c) in text.char_indices() {
            let starts = c.is_ascii_digit() && text[..at].ends_with([' ', '%', '[']);
            digits = (digits || starts) && c.is_ascii_alphanumeric();
            let number =
                c.is_ascii_digit() && text[..at].rfind(['%', ' ']).is_some_and(|from| text[from..].starts_with('%'));
            if self.portable || !number && (!digits || starts) {
                key.push(c);
            }
        }
        KNOWN.with_borrow_mut(|known| {
            *known.entry(key).or_insert_with(|| {
                let text = module(self.target, "", (&format!("\t{text};\n"), 0));
                Ready::read(Source::Ptx(&text), &Choice::default()).is_ok()
            })
        })
    }
}
