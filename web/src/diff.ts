// Two computations.

import { code, h, table } from "./dom";
import { binary, strip, typeOf } from "./number";
import { pieces, quoted, remarks, type Answer, type Page, type Params, type View } from "./view";

interface Different {
  verdict: "different";
  inputs: { name: string; bits: string; value: string }[];
  /** The results; the names of the two sides stand before them under the same keys. */
  first: string;
  second: string;
  ulps: number | null;
  frequency?: { different: number; of: number; most_ulps: number; data: string };
}

type Comparison = Different | { verdict: "equal" | "unknown" };

async function answer({ a = "", b = "", t = "" }: Params, page: Page): Promise<Answer> {
  const reply = await page.engine.ask("diff", { first: a, second: b, type: t });
  const [line] = reply.json;
  if (line === undefined) return { summary: reply.error, content: remarks(reply) };
  const comparison = JSON.parse(line) as Comparison;
  const verdict = { different: "They differ", equal: "They are equal", unknown: "Not decided" }[comparison.verdict];
  const head = h("p", { class: "verdict" }, verdict);
  const printed = pieces(reply.lines, "The answer");
  if (comparison.verdict !== "different") return { summary: verdict, content: [head, ...remarks(reply), printed] };
  const input = (it: Different["inputs"][number]) => {
    const type = typeOf(t === "bf16" ? t : "", it.bits);
    return [code(it.name), code(it.bits), type ? strip(type, binary(type, it.bits)) : "", code(it.value)];
  };
  const result = (name: string, text: string) => {
    const [bits = "", ...value] = text.split(" ");
    return input({ name, bits, value: value.join(" ") });
  };
  const often = comparison.frequency;
  const share = often ? ((100 * often.different) / often.of).toFixed(1) : "";
  return {
    summary: verdict,
    content: [
      head,
      often ? h("p", { class: "meaning" }, `${share} % differ ${often.data}, by up to ${often.most_ulps.toLocaleString("en")} ulps. The simplest input that shows it:`) : undefined,
      table("Inputs", ["", "bits", "sign, exponent, significand", "value"], comparison.inputs.map(input)),
      table("Results", ["", "bits", "sign, exponent, significand", "value"], [result(a, comparison.first), result(b, comparison.second)]),
      comparison.ulps ? h("p", { class: "lost" }, comparison.ulps === 1 ? "1 ulp apart" : `${comparison.ulps.toLocaleString("en")} ulps apart`) : undefined,
      ...remarks(reply),
      h("details", {}, h("summary", {}, "As the command prints it"), printed),
    ],
  };
}

export const diff: View = {
  id: "diff",
  title: "Are two computations equal?",
  lead: "Two expressions or instructions: equal for all inputs with a proof, or the smallest input that shows otherwise.",
  fields: [
    { name: "a", label: "First", kind: "line", value: "fma(a,b,c)", span: 5, hint: "an expression, or an instruction such as fma.rz.f32" },
    { name: "b", label: "Second", kind: "line", value: "a*b+c", span: 5 },
    { name: "t", label: "Type of names", kind: "choice", value: "f32", options: ["f16", "bf16", "f32", "f64"], span: 2 },
  ],
  examples: [
    ["fused or not", { a: "fma(a,b,c)", b: "a*b+c" }],
    ["a legal rewrite", { a: "a*b+c", b: "c+b*a" }],
    ["distributed", { a: "a*(b+c)", b: "a*b+a*c" }],
    ["flushing", { a: "mul.rn.f32", b: "mul.rn.ftz.f32" }],
    ["FFMA and fma", { a: "FFMA", b: "fma.rn.f32" }],
    ["halves twice", { a: "a*0.5*0.5", b: "a*0.25", t: "f16" }],
  ],
  command: ({ a = "", b = "", t = "" }) => ["roundonce diff", quoted(a), quoted(b), ...(t === "f32" ? [] : ["--type", t])].join(" "),
  answer,
};
