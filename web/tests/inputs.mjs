// More than 500 questions, the same in every run: each as the command's arguments and as the request that the page makes.

import { readFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** SplitMix64. */
function generator(seed) {
  let state = BigInt(seed);
  const mask = (1n << 64n) - 1n;
  return () => {
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
  };
}

const next = generator(23);
const below = (count) => Number(next() % BigInt(count));
const pick = (list) => list[below(list.length)];
const hex = (digits) => "0x" + (next() & ((1n << BigInt(4 * digits)) - 1n)).toString(16).padStart(digits, "0");

const SPECIAL = {
  4: ["0x0000", "0x8000", "0x0001", "0x7c00", "0x7e00", "0x3c00", "0x3c01", "0xbc00", "0x7bff"],
  8: ["0x00000000", "0x80000000", "0x00000001", "0x007fffff", "0x00800000", "0x3f800000", "0x3f800001", "0xbf800002", "0x7f7fffff", "0x7f800000", "0xff800000", "0x7fc00000", "0x7f800001"],
  16: ["0x0000000000000000", "0x0000000000000001", "0x3ff0000000000000", "0x3ff0000000000001", "0x7fefffffffffffff", "0x7ff0000000000000", "0x7ff8000000000000"],
};
/** Random bits, mostly near 1 so that exponents meet, and special ones. */
function operand(digits) {
  if (below(4) === 0 && SPECIAL[digits]) return pick(SPECIAL[digits]);
  if (below(2) === 0) {
    const near = { 4: "3c", 8: "3f8", 16: "3ff" }[digits];
    if (near) return `0x${pick(["", ""])}${near}${hex(digits - near.length).slice(2)}`;
  }
  return hex(digits);
}

/** Instructions: the spelling, hex digits of an operand, operands. */
const INSTRUCTIONS = [
  ["fma.rn.f32", 8, 3], ["fma.rz.f32", 8, 3], ["fma.rm.ftz.f32", 8, 3], ["fma.rp.sat.f32", 8, 3], ["fma.rn.ftz.sat.f32", 8, 3],
  ["add.rn.f32", 8, 2], ["add.rz.ftz.f32", 8, 2], ["sub.rn.f32", 8, 2], ["mul.rn.f32", 8, 2], ["mul.rn.ftz.f32", 8, 2],
  ["mad.rn.f32@sm_20", 8, 3], ["mad.f32@sm_13", 8, 3], ["fma.rn.f64", 16, 3], ["fma.rp.f64", 16, 3], ["add.rn.f64", 16, 2], ["mul.rz.f64", 16, 2],
  ["fma.rn.f16", 4, 3], ["fma.rn.relu.f16", 4, 3], ["fma.rn.f16x2", 8, 3], ["fma.rn.bf16", 4, 3], ["fma.rn.bf16x2", 8, 3], ["fma.rn.f32x2", 16, 3],
  ["FFMA", 8, 3], ["FFMA.FTZ.RZ", 8, 3], ["FFMA.FMZ.SAT", 8, 3], ["FFMA.RM.CC", 8, 3], ["FADD", 8, 2], ["FMUL.FTZ", 8, 2], ["DFMA", 16, 3],
  ["OpFmaKHR.f32", 8, 3], ["OpFmaKHR.f16+rtz", 4, 3], ["OpFmaKHR.f64", 16, 3], ["OpFmaKHR.v2f16", 8, 3], ["OpFmaKHR.f32+rtz+ftz", 8, 3],
  ["mad.lo.s32", 8, 3], ["mad.hi.u32", 8, 3], ["mul.wide.u16", 4, 2],
  ["cvt.rn.satfinite.e4m3x2.f32", 8, 2], ["cvt.rn.f16x2.e5m2x2", 4, 1],
  // Wrong ones: the same words about what is wrong.
  ["fma.f32", 8, 3], ["fma.rn.f33", 8, 3], ["fma.rn.f32", 8, 2], ["sin.approx.f32", 8, 1], ["FFMA.QQ", 8, 3],
];

function instruction(verb) {
  const [spelling, digits, count] = pick(INSTRUCTIONS);
  const operands = Array.from({ length: count }, () => operand(digits));
  if (below(6) === 0 && count > 0) operands[0] = pick(["0.1", "1e10", "inf", "nan", "0x1.8p0", "12x"]);
  return { verb: verb === "eval" ? "evaluate" : verb, args: [verb, spelling, ...operands], request: { instruction: spelling, operands } };
}

function bits() {
  const random = () => `${pick(["", "-"])}${Number(next() % 100000n) / 1000}e${below(60) - 30}`;
  const value = pick([
    () => operand(8), () => operand(16), () => `${operand(4)}:f16`, () => `${operand(4)}:bf16`, () => `${random()}f`, random,
    () => `${below(1000) / 8}h`, () => `${below(1000)}b`, () => `${below(448)}:e4m3`, () => `${below(6)}:e2m1`, () => pick(["inf", "nan", "xyz", "1e400", ""]),
  ])();
  return { verb: "bits", args: ["bits", value], request: { value } };
}

const EXPRESSIONS = [
  ["a*x+b*x", ["a", "b", "x"]], ["a*b+c", ["a", "b", "c"]], ["fma(a,b,c)", ["a", "b", "c"]], ["a*b-c*d", ["a", "b", "c", "d"]],
  ["a+b+c+d", ["a", "b", "c", "d"]], ["a*a-b*b", ["a", "b"]], ["(a+b)*c", ["a", "b", "c"]], ["a*b+", ["a", "b"]],
];

function why() {
  const [expression, names] = pick(EXPRESSIONS);
  const value = () => pick([() => operand(8), () => `${below(2000) / 64}f`, () => `${below(100) / 10}`])();
  const inputs = names.map((name) => `${name}=${value()}`);
  const saw = Array.from({ length: 1 + below(2) }, () => pick(["0", "1", operand(8), `${below(1000) / 100}`]));
  const args = ["why", expression, ...inputs, ...saw.flatMap((one) => ["--saw", one])];
  const request = { expression, inputs, saw };
  if (below(4) === 0) {
    request.as = pick(["numpy", "torch", "cuda", "julia"]);
    args.push("--as", request.as);
  }
  if (below(4) === 0) {
    request.reassociate = true;
    args.push("--reassociate");
  }
  return { verb: "why", args, request };
}

/** Arrays written as lists, and what may have been seen of them. */
function whyArrays(index) {
  const [expression, names] = [["a*b+c", ["a", "b", "c"]], ["a*x+y", ["a", "x", "y"]], ["sum(x)", ["x"]], ["a @ b", ["a", "b"]], ["sum(a*b)", ["a", "b"]]][index % 5];
  const one = () => pick([() => operand(8), () => `${below(2000) / 64}`])();
  const list = (count) => `[${Array.from({ length: count }, one).join(", ")}]:f32`;
  const count = index % 7 === 6 ? 3 : 4;
  const inputs = names.map((name, at) => `${name}=${list(at === 0 ? count : 4)}`);
  if (expression === "a*x+y") {
    // Fused, or all but the last.
    inputs.splice(0, 3, "a=1.1f", "x=[1.3, 2.7, 3.1, 4.9]:f32", "y=[-1.4, -3, -3.4, -5.4]:f32");
    const saw = [`[0x3cf5c291, 0xbcf5c251, 0x3c23d683, ${pick(["0xbc23d683", "0xbc23d600"])}]`];
    return { verb: "why", args: ["why", expression, ...inputs, "--saw", saw[0]], request: { expression, inputs, saw } };
  }
  const isOne = expression !== "a*b+c";
  const saw = Array.from({ length: 1 + (index % 2) }, () => (isOne ? operand(8) : list(4)));
  return { verb: "why", args: ["why", expression, ...inputs, ...saw.flatMap((one) => ["--saw", one])], request: { expression, inputs, saw } };
}

/** Pairs that are decided soon. */
const PAIRS = [
  ["fma(a,b,c)", "a*b+c", "f32"], ["fma(a,b,c)", "a*b+c", "f16"], ["a*b+c", "c+b*a", "f64"], ["a+b", "b+a", "bf16"], ["a*(b+c)", "a*b+a*c", "f32"],
  ["(a+b)+c", "a+(b+c)", "f64"], ["fma.rn.f32", "fma.rz.f32", "f32"], ["fma.rn.f32", "mad.rn.f32", "f32"], ["FFMA", "fma.rn.f32", "f32"],
  ["FFMA.FTZ", "fma.rn.f32", "f32"], ["mul.rn.f32", "mul.rn.ftz.f32", "f32"], ["a*0.5*0.5", "a*0.25", "f16"], ["a-b", "-(b-a)", "f16"], ["a*b+", "a", "f32"],
  ["fma.rn.f32", "a*b", "f32"], ["fma.rn.f32", "fma.rn.f64", "f32"], ["a", "a+0", "bf16"],
];

function diff(index) {
  const [first, second, type] = PAIRS[index % PAIRS.length];
  const request = { first, second, type, tries: 100000 };
  const args = ["diff", first, second, "--type", type, "--tries", "100000"];
  if (index >= PAIRS.length) {
    request.nan_bits = true;
    args.push("--nan-bits");
  }
  return { verb: "diff", args, request };
}

/** Modules of the command's own tests, whole and damaged. */
const MODULES = [
  "tests/cli/check.in/legacy.ptx", "tests/cli/check.in/good.ptx", "tests/cli/check.in/texture.ptx", "tests/cli/check.in/unrounded.ptx",
  "tests/cli/check.in/outside.ptx", "tests/cli/check.in/open.spvasm", "tests/cli/run.in/two.ptx", "tests/cli/run-spirv.in/scale.spvasm",
  "tests/cli/diff-kernels.in/axpy.ptx", "tests/cli/diff-kernels.in/horner.ptx",
].map((file) => ({ extension: path.extname(file), text: readFileSync(path.join(ROOT, file), "utf8") }));

function check(index) {
  const { extension, text } = pick(MODULES);
  const lines = text.split("\n");
  const damage = below(4);
  if (damage === 1) lines.splice(below(lines.length), 1);
  if (damage === 2) lines.splice(below(lines.length), 0, pick(["    fma.rn.rz.f32 %f0, %f1, %f2, %f3;", "}", "%x = OpFmaKHR %float %x %x", "// ünïcödé 𝟙", ".reg .f99 %q;"]));
  if (damage === 3) lines[below(lines.length)] += pick([" ,", " é", " .sat", " 0x"]);
  const file = `m${index}${extension}`;
  const determinacy = below(2) === 0;
  const damaged = lines.join("\n");
  return { verb: "check", file, text: damaged, args: ["check", file, ...(determinacy ? ["--determinacy"] : [])], request: { file, text: damaged, determinacy } };
}

const KERNEL = readFileSync(path.join(ROOT, "tests/cli/run.in/two.ptx"), "utf8");

function run(index) {
  const file = `r${index}.ptx`;
  const given = ["out=zeros:f32:1", `a=${operand(8)}`, `b=${operand(8)}`, `c=${operand(8)}`].slice(0, below(8) === 0 ? 3 : 4);
  const contract = pick(["none", "fuse", "report"]);
  const args = ["run", file, "--entry", "first", "--contract", contract, ...given.flatMap((one) => ["--arg", one])];
  return { verb: "run", file, text: KERNEL, args, request: { file, text: KERNEL, entry: "first", contract, args: given } };
}

/** What a kernel left elsewhere: fused, as written, or neither. */
function whyKernel(index) {
  const file = `w${index}.ptx`;
  const given = ["out=zeros:f32:1", "a=0x3f800001", `b=${index % 3 === 2 ? operand(8) : "0x3f800001"}`, "c=0xbf800002"];
  const saw = [`out=values:f32:${["0x28800000", "0x00000000", operand(8)][index % 3]}`, ...(index === 5 ? ["a=values:f32:1"] : [])];
  const args = ["why", file, "--entry", "first", ...given.flatMap((one) => ["--arg", one]), ...saw.flatMap((one) => ["--saw", one])];
  return { verb: "why_kernel", file, text: KERNEL, args, request: { file, text: KERNEL, entry: "first", args: given, saw } };
}

function forms() {
  const pattern = pick(["fma", "SASS", "ffma", "e4m3", "sm_100", "mma", "nothing-of-the-kind", "spir-v", ".bf16"]);
  return { verb: "forms", args: ["forms", pattern], request: { pattern } };
}

const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index));

export const INPUTS = [
  ...repeat(110, () => instruction("eval")),
  ...repeat(110, () => instruction("explain")),
  ...repeat(80, bits),
  ...repeat(80, why),
  ...repeat(20, whyArrays),
  ...repeat(2 * PAIRS.length, diff),
  ...repeat(50, check),
  ...repeat(26, run),
  ...repeat(8, whyKernel),
  ...repeat(9, forms),
  { verb: "cases", args: ["why", "--list"], request: {} },
];
