// One instruction, step by step.

import { code, h, prose, table, type Child } from "./dom";
import { binary, cells, strip, typeOf } from "./number";
import { pieces, quoted, remarks, words, type Answer, type FieldSpec, type Page, type Params, type View } from "./view";

interface Number {
  bits: string;
  value: string;
  hexadecimal: string;
}

interface Component {
  operands: (Number & { name: string; type: string; class: string })[];
  steps: string[];
  result: Number;
  flags: string[];
  codes?: string;
  neighbours: (Number & { what: string; ulps: number | null })[];
}

interface Explained {
  instruction: string;
  meaning: string;
  source: string;
  note?: string;
  components?: Component[];
  counterparts?: { language: string; spelling: string; differs: string[]; gives?: string }[];
}

function distance(ulps: number | null, same: boolean): string {
  if (same || ulps === 0) return "the same";
  if (ulps === null) return "a NaN on one side";
  if (ulps === 1) return "1 ulp away";
  return ulps < 1e6 ? `${ulps} ulps away` : `2^${Math.floor(Math.log2(ulps))} ulps away`;
}

/** An SVG that the engine drew: its texts are the engine's own, no part of a question. */
function picture(svg: string): HTMLElement | undefined {
  if (svg === "") return undefined;
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  // It grows with the page, and scrolls where there is less room than its letters need.
  if (drawn instanceof SVGElement) drawn.style.minWidth = `${drawn.getAttribute("width") ?? 0}px`;
  return h("div", { class: "scroll picture", tabindex: 0, role: "group", "aria-label": "The terms aligned bit by bit" }, document.importNode(drawn, true));
}

/** One step is a sentence, several are a list. */
function steps(all: string[]): Child {
  const [only = "", ...rest] = all;
  return rest.length === 0 ? h("p", { class: "meaning" }, ...prose(only)) : h("ol", { class: "steps" }, ...all.map((step) => h("li", {}, ...prose(step))));
}

function component(it: Component, spelling: string, svg: string, index: number, count: number): Child[] {
  const type = typeOf(spelling, it.result.bits);
  const digits = type === undefined ? undefined : binary(type, it.result.bits);
  const operand = (operand: Component["operands"][number]) => [
    code(operand.name),
    code(operand.bits),
    strip(operand.type, binary(operand.type, operand.bits)),
    code(operand.value),
    operand.class,
  ];
  const neighbour = (it_: Component["neighbours"][number]) => {
    const same = it_.bits === it.result.bits;
    const text = distance(it_.ulps, same);
    return [code(it_.what), code(it_.bits), code(it_.value), same ? h("span", { class: "faint" }, text) : h("span", { class: "lost" }, text)];
  };
  const flags = it.flags.length > 0 ? h("span", { class: "lost" }, it.flags.join(", ")) : h("span", { class: "faint" }, "exact");
  return [
    count > 1 ? h("h2", {}, `Component ${index}`) : undefined,
    h(
      "div",
      { class: "hero" },
      h("p", { class: "result" }, code(it.result.bits), h("span", { class: "value" }, it.result.value), h("span", { class: "aside" }, code(it.result.hexadecimal), " ", flags, it.codes === undefined ? undefined : [" ", code(it.codes)])),
      type !== undefined && digits !== undefined ? cells(type, digits) : undefined,
    ),
    picture(svg),
    steps(it.steps),
    h("div", { class: "pair" },
      table("Operands", ["", "bits", "sign, exponent, significand", "value", ""], it.operands.map(operand)),
      table("What the neighbours would give", ["", "bits", "value", ""], it.neighbours.map(neighbour))),
  ];
}

async function answer({ i = "", o = "", target = "" }: Params, page: Page): Promise<Answer> {
  const reply = await page.engine.ask("explain", { instruction: i, operands: words(o), ...(target ? { target } : {}) });
  const [line] = reply.json;
  if (line === undefined) return { summary: reply.error, content: remarks(reply) };
  const explained = JSON.parse(line) as Explained;
  const head = h("p", { class: "meaning" }, explained.meaning, " ", h("cite", {}, explained.source));
  if (!explained.components) return { summary: explained.meaning, content: [head, ...remarks(reply), pieces(reply.lines, "The steps")] };
  const all = explained.components;
  // What a shader's modes do not declare is the implementation's.
  const same = (language: string) =>
    language === "SPIR-V" ? "the same bits, as far as modes decide them" : "the same bits for all operands";
  const relation = (language: string, differs: string[], gives?: string) =>
    differs.length === 0 ? same(language) : [`differs in ${differs.join(", ")}`, gives ? ["; here ", code(gives)] : undefined];
  const counterparts = (explained.counterparts ?? []).map((it) => [it.language, code(it.spelling), h("span", {}, relation(it.language, it.differs, it.gives))]);
  return {
    summary: all.map((it) => `${it.result.bits}, ${it.result.value}`).join("; "),
    content: [
      head,
      ...remarks(reply),
      ...all.flatMap((it, index) => component(it, i, reply.pictures?.[index] ?? "", index, all.length)),
      explained.note ? h("p", { class: "hint" }, ...prose(explained.note)) : undefined,
      counterparts.length > 0 ? table("In the other languages", ["language", "spelling", ""], counterparts) : undefined,
    ],
  };
}

/** Offers every spelling. */
function prepare(form: HTMLFormElement, page: Page): void {
  const input = form.elements.namedItem("i");
  if (!(input instanceof HTMLInputElement)) return;
  const offer = async () => {
    const reply = await page.engine.ask("forms", { pattern: "" });
    const spellings = reply.json.flatMap((line) => (JSON.parse(line) as { spellings: string[] }).spellings);
    form.append(h("datalist", { id: "spellings" }, ...spellings.map((value) => h("option", { value }))));
    input.setAttribute("list", "spellings");
  };
  input.addEventListener("focus", () => void offer().catch(() => undefined), { once: true });
}

const FIELDS: FieldSpec[] = [
  { name: "i", label: "Instruction", kind: "line", value: "fma.rn.f32", span: 4, hint: "PTX, SASS or SPIR-V" },
  { name: "o", label: "Operands", kind: "line", value: "0x3f800003 0x3f800001 0x33800000", span: 6, hint: "hex bits, decimals, 0x1.8p0, inf, nan" },
  { name: "target", label: "Target", kind: "line", value: "", span: 2, hint: "such as sm_90" },
];

export const explain: View = {
  id: "explain",
  title: "One instruction, step by step",
  lead: "The exact product and sum, where they are cut, and what was lost. Point at a bit to read what it is.",
  fields: FIELDS,
  examples: [
    ["rounded once", { i: "fma.rn.f32", o: "0x3f800001 0x3f800001 0xbf800002" }],
    ["a tie", { i: "add.rn.f32", o: "1 0x33800000" }],
    ["toward zero", { i: "fma.rz.f32", o: "0x3f800003 0x3f800001 0x33800000" }],
    ["flushed", { i: "mul.rn.ftz.f32", o: "0x00800000 0.5" }],
    ["FFMA.FMZ.SAT", { i: "FFMA.FMZ.SAT", o: "inf 0 0.5" }],
    ["f16x2", { i: "fma.rn.f16x2", o: "0x3c013c00 0x3c013c00 0xbc000001" }],
    ["sm_1x mad", { i: "mad.f32@sm_13", o: "0x3f800003 0x3f800001 -1" }],
    ["f64", { i: "fma.rn.f64", o: "0.1 10 -1" }],
  ],
  command: ({ i = "", o = "", target = "" }) =>
    ["roundonce explain", quoted(i), ...words(o).map(quoted), ...(target ? ["--target", quoted(target)] : [])].join(" "),
  answer,
  prepare,
};
