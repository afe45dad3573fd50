//! Shapes that must be read: `vectors/edge/ptx/shapes`, and what a broken text says.

use roundonce_isa::{Finding, Location, line_column};
use roundonce_ptx::ast::{Item, OperandKind, Space, Statement};
use roundonce_ptx::{parse, print};

const MODERN: &str = include_str!("../../../vectors/edge/ptx/shapes/modern.ptx");
const BEFORE_2_0: &str = include_str!("../../../vectors/edge/ptx/shapes/before_2_0.ptx");

#[test]
fn every_shape_is_read_and_printed_back() {
    for text in [MODERN, BEFORE_2_0] {
        let parsed = parse(text);
        assert_eq!(parsed.findings, []);
        let printed = print(&parsed.module);
        let again = parse(&printed);
        assert_eq!(again.findings, [], "{printed}");
        assert!(again.module == parsed.module, "{printed}");
    }
}

/// Equal means equal: one changed character anywhere in the code is another module, or none.
#[test]
fn what_differs_is_not_equal() {
    let whole = parse(MODERN).module;
    for (from, to) in [
        ("fma.rn.ftz.sat", "fma.rz.ftz.sat"),
        ("0fBF800000", "0fBF800001"),
        ("[%rd2+-16]", "[%rd2+16]"),
        ("@!%p2", "@%p2"),
        ("$L__BB0_3:", "$L__BB0_4:"),
        (".maxnreg 64", ".maxnreg 32"),
        ("-1.5e-3", "1.5e-3"),
        ("{{}}", "{}"),
        ("inlined_at 1 10 5", "inlined_at 1 10 6"),
        ("generic(message)+8", "generic(message)+9"),
        (".ptr .global .align 16", ".ptr .global .align 8"),
        ("tile[16][17]", "tile[16][18]"),
        (", %h;", ";"),
        ("24\n.b8 2", "24\n.b8 3"),
    ] {
        let text = MODERN.replacen(from, to, 1);
        assert_ne!(text, MODERN, "{from}");
        let changed = parse(&text);
        assert!(changed.module != whole, "{from} and {to} read the same");
        let again = print(&changed.module);
        assert!(parse(&again).module == changed.module, "{to}");
    }
}

#[test]
fn the_tree_says_what_the_text_says() {
    let parsed = parse(MODERN);
    let module = &parsed.module;
    assert_eq!(
        (module.version().map(|v| (v.0, v.1)), module.target()),
        (Some((8, 6)), Some("sm_100a".parse().unwrap()))
    );
    assert_eq!(module.targets().collect::<Vec<_>>(), ["sm_100a", "debug", "texmode_independent"]);
    assert_eq!(module.address_size(), 64);
    let entry = module.functions().find(|function| function.is_entry).expect("the kernel");
    let parameters: Vec<&str> = module.variables(entry.parameters).iter().map(|parameter| parameter.ty).collect();
    assert_eq!(parameters, [".u64", ".u64", ".b8", ".f32"]);
    let bank = parse(".version 1.5\n.target sm_10\n.extern .const[2] .b8 x[];").module;
    let Item::Variables(list) = &bank.items[2] else { panic!("a variable") };
    assert_eq!(bank.variables(*list)[0].space, Space::Const(Some(2)));
    let instructions: Vec<_> = entry
        .body
        .iter()
        .flatten()
        .filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
        .collect();
    let guarded = instructions.iter().find(|instruction| instruction.guard(module).is_some()).expect("a guard");
    let guard = guarded.guard(module).expect("a guard");
    assert_eq!((guard.predicate.name(), guard.negated), (Some("%p1"), false));
    assert_eq!(guarded.span.of(MODERN), "@%p1 bra $L__BB0_2");
    let call = instructions.iter().find(|instruction| instruction.opcode == "call").expect("a call");
    assert!(matches!(module.operands(call.operands)[0].kind, OperandKind::List(_)));
    assert_eq!(call.spelling(module), "call.uni");
    let name = module.operands(guarded.operands)[0].name().expect("a label");
    assert_eq!(module.span_of(name).expect("of this text").of(MODERN), "$L__BB0_2");
    assert!(module.span_of("elsewhere").is_none());
}

fn reported(text: &str, finding: &Finding) -> String {
    let Location::Span { start, .. } = finding.location else { return finding.to_string() };
    let (line, column) = line_column(text, start);
    format!("{line}:{column} {} {}", finding.code, finding.message)
}

/// Each text, and everything that it says.
#[test]
fn errors_name_the_place_what_was_found_and_what_was_expected() {
    let kernel = |body: &str| format!(".version 8.0\n.target sm_90\n.entry k ()\n{{\n{body}\n}}\n");
    let cases: [(String, &[&str]); 14] = [
        (kernel("fma.rn.f32 f0, f1, , f3;"), &["5:20 PTX0001 found `,`, expected an operand"]),
        (kernel("ret"), &["6:1 PTX0001 found `}`, expected an operand or `;`"]),
        (
            kernel("mov.u32 a b;\nmov.u32 c d;\nret;\n.reg f32 x;"),
            &[
                "5:11 PTX0001 found `b`, expected `,` or `;`",
                "6:11 PTX0001 found `d`, expected `,` or `;`",
                "8:6 PTX0001 found `f32`, expected a type like `.f32`",
            ],
        ),
        (
            kernel("fma.rn. f32 a, b, c, d;"),
            &["5:7 PTX0001 found `.` with nothing right behind it, expected an operand"],
        ),
        (
            kernel("/* never"),
            &[
                "5:1 PTX0002 this comment has no end: expected `*/`",
                "4:1 PTX0004 this `{` is never closed: expected `}` before the end",
            ],
        ),
        (kernel(".pragma \"x;"), &["5:9 PTX0002 this string has no end: expected `\"`"]),
        (".version 8\n.target sm_90".to_owned(), &["1:10 PTX0001 found `8`, expected a version like `8.6`"]),
        (kernel("@!!p ret;"), &["5:3 PTX0001 found `!`, expected a predicate register"]),
        (kernel("mov.u32 a, é;"), &["5:12 PTX0001 found `é`, expected an operand"]),
        (kernel("L: M: ret; ;"), &["5:12 PTX0001 found `;`, expected an instruction, a label, a declaration or `}`"]),
        (
            ".version 8.0\n.target sm_90\nret;\n.entry k () { ret; ret }".to_owned(),
            &[
                "3:1 PTX0001 found `ret`, expected a directive like `.version`, `.global` or `.entry`",
                "4:24 PTX0001 found `}`, expected an operand or `;`",
            ],
        ),
        (kernel(".reg .f32 f<x>;"), &["5:13 PTX0001 found `x`, expected a number of registers"]),
        (kernel("ld.global.f32 f, [a-4];"), &["5:20 PTX0001 found `-`, expected `,` or `]`"]),
        (
            ".version 8.0\n.target sm_90\n.entry k (.param .u32 n { ret; }\n.func f () { ret }".to_owned(),
            &["3:25 PTX0001 found `{`, expected `,` or `)`", "4:18 PTX0001 found `}`, expected an operand or `;`"],
        ),
    ];
    for (text, expected) in cases {
        let found: Vec<String> = parse(&text).findings.iter().map(|finding| reported(&text, finding)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// However deep brackets nest, the answer is a finding.
#[test]
fn nesting_has_a_limit() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("~(", ")"), ("1?", ":2"), ("(.s64)", "")] {
        let text = format!(
            ".version 8.0\n.target sm_90\n.entry k() {{ mov.u32 a, {}1{}; }}",
            open.repeat(100_000),
            close.repeat(100_000)
        );
        let findings = parse(&text).findings;
        assert!(findings.iter().any(|finding| finding.code == "PTX0003"), "{open}: {:?}", findings.first());
    }
    let blocks =
        format!(".version 8.0\n.target sm_90\n.entry k() {{ {}{} }}", "{".repeat(100_000), "}".repeat(100_000));
    assert_eq!(parse(&blocks).findings, [], "blocks lie flat and nest without a limit");
}

/// A chain of operators is a tree as deep as the chain is long: it ends too. Each expression counts for itself.
#[test]
fn chains_have_a_limit() {
    let codes = |value: &str| {
        let text = format!(".version 8.0\n.target sm_90\n.global .u32 a[2] = {{ {value}, {value} }};");
        parse(&text).findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    for link in ["+1", "<<1", "-1", "*(1+1)"] {
        let chain = |operators: usize| "1".to_owned() + &link.repeat(operators);
        assert_eq!(codes(&chain(256)), [""; 0], "{link}");
        assert!(codes(&chain(25_000)).contains(&"PTX0003"), "{link}");
        let groups = format!("{}1{}", "(".repeat(30), format!("){}", link.repeat(500)).repeat(30));
        assert!(codes(&groups).contains(&"PTX0003"), "{link} between brackets");
    }
}

/// A text that is no PTX at all is not answered with a finding a token.
#[test]
fn findings_are_bounded() {
    let text = "x ".repeat(100_000) + &"; y".repeat(100_000);
    let findings = parse(&text).findings;
    assert_eq!(findings.len(), 100);
    assert!(findings[99].help.ends_with("reading stops here, at syntax error 100"), "{}", findings[99].help);
}
