// A small kernel over a grid.

import { fileOf } from "./check";
import { code, h, prose, table, type Child } from "./dom";
import type { Buffer } from "./engine";
import { binary, strip } from "./number";
import { pieces, quoted, remarks, words, type Answer, type Page, type Params, type View } from "./view";
import { heading, type Outcome } from "./why";

interface Ran {
  kernel: string;
  steps: number;
  printed: string;
  fused_lines: number[];
  differences: { parameter: string; words: number; first: number; unfused: string; fused: string }[];
  trace: { line: number; instruction: string; operands: string[]; results: string[] }[];
}

const AXPY = `.version 7.0
.target sm_70
.address_size 64
.visible .entry axpy(.param .u64 out, .param .u64 x, .param .f32 a, .param .f32 b)
{
    .reg .f32 %f<5>;
    .reg .u64 %rd<5>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd0, [out];
    ld.param.u64 %rd1, [x];
    ld.param.f32 %f0, [a];
    ld.param.f32 %f1, [b];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u64 %rd4, %rd0, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f3, %f0, %f2;
    add.f32 %f4, %f3, %f1;
    st.global.f32 [%rd4], %f4;
    ret;
}
`;

/** Elements that are shown of a buffer. */
const SHOWN = 64;

function extent(text: string): number[] {
  const [x = 1, y = 1, z = 1] = text.split(",").map((part) => Number.parseInt(part, 10)).filter((number) => number > 0);
  return [x, y, z];
}

function buffer(it: Buffer): Child {
  const isFloat = ["f16", "bf16", "f32", "f64"].includes(it.type);
  const rows = it.bits.slice(0, SHOWN).map((bits, at) => [
    String(at),
    code(bits),
    isFloat ? strip(it.type, binary(it.type, bits)) : "",
    code(it.values[at] ?? ""),
  ]);
  const shown = it.count > SHOWN ? `, the first ${SHOWN}` : "";
  return table(`${it.name} afterwards: ${it.count} × ${it.type}${shown}`, ["", "bits", isFloat ? "sign, exponent, significand" : "", "value"], rows);
}

interface Explained {
  kernel: string;
  policies: number;
  seen: { saw: string[]; elements: number; outcome: Outcome; as_written: number; explanations: { sentence: string }[] }[];
}

const OUTCOME: Record<Outcome, string> = {
  one: "one policy gives it",
  several: "each part has a policy of its own",
  ambiguous: "several policies give it",
  consistent: "consistent with a policy: it may be an accident",
  none: "no policy gives it",
};

/** Which policies of a compiler or a machine give the buffers that were seen. */
async function explained(request: object, saw: string, page: Page): Promise<Answer> {
  const reply = await page.engine.ask("why_kernel", { ...request, saw: words(saw) });
  const [line] = reply.json;
  if (line === undefined) return { summary: reply.error, content: remarks(reply) };
  const it = JSON.parse(line) as Explained;
  const seen = (seen: Explained["seen"][number]) =>
    h(
      "section",
      { class: "seen" },
      heading(seen.saw.join(", "), seen.outcome, OUTCOME),
      h("ol", {}, ...seen.explanations.map(({ sentence }) => h("li", {}, ...prose(sentence)))),
      h("p", { class: "hint" }, `as written, the kernel gives ${seen.as_written} of ${seen.elements} elements`),
    );
  return {
    summary: it.seen.map(({ saw, outcome }) => `${saw.join(", ")}: ${OUTCOME[outcome]}`).join("; "),
    content: [
      h("p", { class: "meaning" }, "kernel ", code(it.kernel), `, ${it.policies} policies compared`),
      ...remarks(reply),
      ...it.seen.map(seen),
      pieces(reply.lines, "Where it first differs, and what to do"),
    ],
  };
}

async function answer({ text = "", entry = "", args = "", grid = "", block = "", saw = "", contract = "", trace = "" }: Params, page: Page): Promise<Answer> {
  const request = {
    file: fileOf(text), text, args: words(args), grid: extent(grid), ...(entry ? { entry } : {}), ...(block ? { block: extent(block) } : {}),
  };
  if (saw.trim() !== "") return explained(request, saw, page);
  const reply = await page.engine.ask("run", { ...request, contract, ...(trace === "1" ? { trace: 0 } : {}) });
  const [line] = reply.json;
  if (line === undefined) return { summary: reply.error, content: remarks(reply) };
  const ran = JSON.parse(line) as Ran;
  const differences = ran.differences.map((it) => [code(it.parameter), String(it.words), String(it.first), code(it.unfused), code(it.fused)]);
  const step = (it: Ran["trace"][number]) => [String(it.line), code(it.instruction.replaceAll(/\s+/g, " ")), code(it.operands.join(" ")), code(it.results.join(" "))];
  return {
    summary: `${ran.kernel} ran ${ran.steps} instructions`,
    content: [
      h("p", { class: "meaning" }, code(ran.kernel), ` ran ${ran.steps} instructions`),
      ...remarks(reply),
      ran.printed ? h("pre", { class: "printed" }, ran.printed) : undefined,
      differences.length > 0 ? table("Contraction changes", ["buffer", "words", "the first at", "unfused", "fused"], differences) : undefined,
      ...(reply.buffers ?? []).map(buffer),
      ran.trace.length > 0 ? table("The first thread", ["line", "instruction", "operands", "results"], ran.trace.map(step)) : undefined,
    ],
  };
}

export const run: View = {
  id: "run",
  title: "A kernel, run exactly",
  lead: "PTX or SPIR-V text over a small grid, by the interpreter; what an assembler may fuse, fused or not.",
  fields: [
    { name: "text", label: "Module, PTX or SPIR-V text", kind: "text", value: AXPY },
    { name: "args", label: "Arguments", kind: "line", value: "out=zeros:f32:4 x=values:f32:1,0x3f800001,1e30,-3 a=0x3f800001 b=0xbf800002", hint: "values:f32:1,2,3, zeros:f32:N, random:f32:N:SEED, or a number" },
    { name: "saw", label: "Seen afterwards elsewhere", kind: "line", value: "", hint: "a buffer, such as out=values:f32:1,2,3: asks which policy of a compiler gives it; empty: only runs" },
    { name: "grid", label: "Grid", kind: "line", value: "1", span: 2, hint: "x,y,z" },
    { name: "block", label: "Block", kind: "line", value: "4", span: 2, hint: "x,y,z" },
    { name: "entry", label: "Kernel", kind: "line", value: "", span: 3, hint: "where there are several" },
    { name: "contract", label: "mul and add without .rn", kind: "choice", value: "report", options: ["none", "fuse", "report"], span: 3 },
    { name: "trace", label: "Trace", kind: "flag", value: "", span: 2 },
  ],
  examples: [
    ["both ways", {}],
    ["fused", { contract: "fuse" }],
    ["traced", { contract: "none", trace: "1" }],
    ["why these results", { saw: "out=values:f32:0xb4000000,0x28800000,0x7149f2cc,0xc0800001" }],
  ],
  command: ({ text = "", entry = "", args = "", saw = "", grid = "", block = "", contract = "", trace = "" }) =>
    [
      `roundonce ${saw.trim() === "" ? "run" : "why"}`, fileOf(text), ...(entry ? ["--entry", quoted(entry)] : []), `--grid ${grid || 1}`,
      ...(block ? [`--block ${block}`] : []), ...words(args).map((arg) => `--arg ${quoted(arg)}`), ...words(saw).map((one) => `--saw ${quoted(one)}`),
      ...(saw.trim() === "" ? [`--contract ${contract}`, ...(trace === "1" ? ["--trace 0"] : [])] : []),
    ].join(" "),
  answer,
};
