// Why two numbers differ.

import { code, h, prose, table, type Child } from "./dom";
import { address, quoted, remarks, words, type Answer, type Page, type Params, type View } from "./view";

interface Evaluation {
  sentence: string;
  bits: string;
  value: string;
  steps: { name: string; operation: string; bits: string; value: string; inexact: boolean }[];
  code: Record<string, string>;
}

interface Seen {
  saw: string;
  outcome: "one" | "several" | "ambiguous" | "consistent" | "none";
  nearby?: { explained: number; values: number };
  explanations: Evaluation[];
}

interface Why {
  expression: string;
  type: string;
  evaluations: number;
  seen: Seen[];
  cause?: string[];
  advice?: { about: string; toolchain: string; text: string; source: string }[];
}

interface Case {
  name: string;
  source: string;
  expression: string;
  cause: string;
  command: string;
}

const OUTCOME: Record<Seen["outcome"], string> = {
  one: "one evaluation gives it",
  several: "each part has an evaluation of its own",
  ambiguous: "several evaluations give it",
  consistent: "consistent with an evaluation: it may be an accident",
  none: "no evaluation gives it",
};

function evaluation(it: Evaluation): HTMLElement {
  const step = (step: Evaluation["steps"][number]) => [
    code(step.name),
    code(step.operation),
    code(step.bits),
    code(step.value),
    step.inexact ? h("span", { class: "lost" }, "rounded") : h("span", { class: "faint" }, "exact"),
  ];
  const source = it.code["cuda"] ?? it.code["ptx"];
  return h(
    "li",
    {},
    h("p", {}, ...prose(it.sentence)),
    table("Its steps", ["", "operation", "bits", "value", ""], it.steps.map(step)),
    source ? h("p", { class: "hint" }, "to write it: ", code(source)) : undefined,
  );
}

function seen(it: Seen): HTMLElement {
  const all = it.explanations.map(evaluation);
  const rest = all.slice(3);
  return h(
    "section",
    { class: "seen" },
    h("h2", {}, "saw ", code(it.saw), " ", h("span", { class: it.outcome === "none" ? "lost" : "aside" }, OUTCOME[it.outcome])),
    h("ol", {}, ...all.slice(0, 3)),
    rest.length > 0 ? h("details", {}, h("summary", {}, `${rest.length} more`), h("ol", { start: 4 }, ...rest)) : undefined,
  );
}

function params(command: string): Params {
  const [, e = "", rest = ""] = /^roundonce why '([^']*)' (.*)$/.exec(command) ?? [];
  const saw = [...rest.matchAll(/--saw (\S+)/g)].map((match) => match[1]);
  return { e, n: rest.replaceAll(/--saw \S+/g, "").trim(), s: saw.join(" ") };
}

/** The published cases, as links. */
async function published(page: Page): Promise<Child> {
  const reply = await page.engine.ask("cases", {});
  const one = (line: string) => {
    const it = JSON.parse(line) as Case;
    return [h("a", { href: address("why", params(it.command)) }, it.name), code(it.expression), it.cause, it.source];
  };
  return table("Published cases", ["case", "expression", "cause", "where"], reply.json.map(one));
}

async function answer({ e = "", n = "", s = "", as = "", re = "" }: Params, page: Page): Promise<Answer> {
  const request = { expression: e, inputs: words(n), saw: words(s), reassociate: re === "1", ...(as ? { as } : {}) };
  const reply = await page.engine.ask("why", request);
  const cases = await published(page);
  if (reply.json.length === 0) return { summary: reply.error, content: [...remarks(reply), cases] };
  const answers = reply.json.map((line) => JSON.parse(line) as Why);
  const sentences = answers.flatMap((it) => it.cause ?? []);
  const advice = answers[0]?.advice ?? [];
  return {
    summary: sentences.join(" "),
    content: [
      h("p", { class: "meaning" }, code(answers[0]?.expression ?? e), ` in ${answers[0]?.type ?? ""}, ${answers[0]?.evaluations ?? 0} evaluations compared`),
      sentences.length > 0 ? h("div", { class: "cause" }, ...sentences.map((sentence) => h("p", {}, ...prose(sentence)))) : undefined,
      ...remarks(reply),
      ...answers.flatMap((it) => it.seen.map(seen)),
      advice.length > 0
        ? h("details", {}, h("summary", {}, "Which options decide it"), table("Options", ["toolchain", "about", "what to write", "source"], advice.map((it) => [it.toolchain, it.about, code(it.text), it.source])))
        : undefined,
      cases,
    ],
  };
}

export const why: View = {
  id: "why",
  title: "Why two numbers differ",
  lead: "Every evaluation that a compiler or a machine may use is compared with what was seen: fused or not, other roundings, flushed, wider, reordered.",
  fields: [
    { name: "e", label: "Expression", kind: "line", value: "a*x+b*x", span: 6, hint: "+ - * ( ), fma(a,b,c), names, 1.5f" },
    { name: "n", label: "Values", kind: "line", value: "a=1e20f b=-1e20f x=1e10f", span: 6, hint: "name=value, blanks between; a type as in 0x3c00:f16" },
    { name: "s", label: "Seen", kind: "line", value: "4.993411122843311e+21 0", span: 6, hint: "values, blanks between" },
    { name: "as", label: "Types of literals as in", kind: "choice", value: "", options: ["", "c", "cuda", "numpy", "torch", "jax", "julia", "glsl", "wgsl"], span: 3 },
    { name: "re", label: "Sums in any order", kind: "flag", value: "", span: 3 },
  ],
  examples: [],
  command: ({ e = "", n = "", s = "", as = "", re = "" }) =>
    [
      "roundonce why", quoted(e), ...words(n).map(quoted), ...words(s).map((saw) => `--saw ${quoted(saw)}`),
      ...(as ? ["--as", as] : []), ...(re === "1" ? ["--reassociate"] : []),
    ].join(" "),
  answer,
};
